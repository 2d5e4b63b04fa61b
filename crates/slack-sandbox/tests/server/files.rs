//! Uploads, downloads and what is refused.

use serde_json::{Value, json};
use slack_sandbox::{ChannelConfig, PersonConfig, Role};

use super::harness::{Api, World, start, start_with};

/// Asks for an address and sends the bytes there. Returns the file's id.
async fn upload(api: &Api, name: &str, bytes: &str) -> Value {
    let wanted = json!({ "filename": name, "length": bytes.len() });
    let address = api.call("files.getUploadURLExternal", wanted).await.ok();
    let url = address["upload_url"].as_str().expect("an address");
    let sent = api.http.post(url).body(bytes.to_owned()).send().await.expect("an answer");
    assert_eq!(sent.text().await.expect("a text"), format!("OK - {}", bytes.len()));
    address["file_id"].clone()
}

async fn fetch(world: &World, url: &str, token: &str) -> (u16, String) {
    let request = world.kelly().http.get(url);
    let request = if token.is_empty() { request } else { request.bearer_auth(token) };
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a text"))
}

#[tokio::test]
async fn a_file_is_uploaded_shared_and_downloaded_with_the_token() {
    let world = start().await;
    let (kelly, ann) = (world.kelly(), world.ann());
    let id = upload(&kelly, "report.txt", "all is well").await;
    assert_eq!(kelly.call("files.info", json!({ "file": id })).await.error(), "file_not_found", "it is not complete");
    let complete = json!({
        "files": [{ "id": id, "title": "Report" }], "channel_id": world.general, "initial_comment": "See & read",
    });
    let done = kelly.json("files.completeUploadExternal", &complete).await.ok();
    assert_eq!((&done["files"][0]["title"], &done["files"][0]["mimetype"]), (&json!("Report"), &json!("text/plain")));
    let message = ann.messages(&world.general).pop().expect("a message");
    assert_eq!((&message["text"], &message["files"][0]["id"]), (&json!("See &amp; read"), &id));
    let info = kelly.call("files.info", json!({ "file": id })).await.ok()["file"].clone();
    assert_eq!(info["shares"]["public"][&world.general][0]["ts"], message["ts"]);
    assert_eq!(info["channels"], json!([world.general]));

    let url = info["url_private"].as_str().expect("an address");
    assert_eq!(fetch(&world, url, &kelly.token).await, (200, "all is well".to_owned()));
    // Without a token there is a page to sign in, with status 200.
    let (status, page) = fetch(&world, url, "").await;
    assert!(status == 200 && page.contains("<html>"), "{status} {page}");
    assert_eq!(kelly.json("files.completeUploadExternal", &complete).await.error(), "file_not_found", "only once");
    assert_eq!(world.bot("vince").json("files.delete", &json!({ "file": id })).await.error(), "cant_delete_file");
    kelly.json("files.delete", &json!({ "file": id })).await.ok();
    assert_eq!(fetch(&world, url, &kelly.token).await.0, 404);
}

#[tokio::test]
async fn uploads_that_do_not_fit_are_refused() {
    let world = start().await;
    let kelly = world.kelly();
    for (arguments, error) in [
        (json!({ "length": 3 }), "invalid_arguments"),
        (json!({ "filename": "a.txt", "length": 0 }), "file_upload_size_zero"),
        (json!({ "filename": "a.txt", "length": 100 * 1024 * 1024 }), "file_upload_size_restricted"),
    ] {
        assert_eq!(kelly.call("files.getUploadURLExternal", arguments).await.error(), error);
    }
    let address = kelly.call("files.getUploadURLExternal", json!({ "filename": "a.txt", "length": 5 })).await.ok();
    let url = address["upload_url"].as_str().expect("an address");
    assert_eq!(kelly.http.post(url).body("too long for it").send().await.expect("an answer").status(), 400);
    let nothing = json!({ "files": [{ "id": address["file_id"] }] });
    assert_eq!(kelly.json("files.completeUploadExternal", &nothing).await.error(), "file_not_found");
    let id = upload(&kelly, "b.txt", "12345").await;
    let elsewhere = json!({ "files": [{ "id": id }], "channel_id": world.slack.channel("random") });
    assert_eq!(kelly.json("files.completeUploadExternal", &elsewhere).await.error(), "not_in_channel");
    assert_eq!(world.bot("vince").json("files.completeUploadExternal", &nothing).await.error(), "file_not_found");
    // This method accepts only a form.
    let by_json = kelly.json("files.getUploadURLExternal", &json!({ "filename": "a.txt", "length": 5 })).await;
    assert_eq!(by_json.complaint(), "[ERROR] missing required field: filename");
}

#[tokio::test]
async fn a_file_in_a_private_place_is_for_its_members() {
    let world = start().await;
    let direct = world.ann().open_direct(&[&world.slack.app("kelly").user]);
    world.ann().upload(&direct, None, "secret.txt", "psst", "").expect("posted");
    let file = world.ann().messages(&direct)[0]["files"][0].clone();
    let wanted = json!({ "file": file["id"] });
    world.kelly().call("files.info", wanted.clone()).await.ok();
    assert_eq!(world.bot("vince").call("files.info", wanted).await.error(), "file_not_found");
    let url = file["url_private_download"].as_str().expect("an address");
    assert_eq!(fetch(&world, url, &world.kelly().token).await, (200, "psst".to_owned()));
    assert_eq!(fetch(&world, url, &world.bot("vince").token).await.0, 404);
}

#[tokio::test]
async fn a_strangers_file_has_its_details_in_files_info_only() {
    let world = start_with(|options| {
        options.people.push(PersonConfig { role: Role::Stranger, ..PersonConfig::new("Eve") });
        options.channels.push(ChannelConfig { shared: true, ..ChannelConfig::new("partners") });
        options.apps[0].channels.push("partners".to_owned());
    })
    .await;
    let shared = world.slack.channel("partners");
    world.slack.person("Eve").upload(&shared, None, "plan.txt", "x", "look").expect("posted");
    let history = world.kelly().call("conversations.history", json!({ "channel": shared })).await.ok();
    let file = &history["messages"][0]["files"][0];
    assert_eq!((&file["file_access"], file.get("url_private")), (&json!("check_file_info"), None));
    let info = world.kelly().call("files.info", json!({ "file": file["id"] })).await.ok();
    assert!(info["file"]["url_private"].is_string());
}
