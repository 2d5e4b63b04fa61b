//! Tokens, scopes, and the forms of calls and errors.

use serde_json::json;
use slack_sandbox::{Switch, Workspace};

use super::harness::{start, start_with};

#[tokio::test]
async fn tokens_are_checked_as_slack_checks_them() {
    let world = start().await;
    let kelly = world.slack.app("kelly");
    for (token, error) in [("", "not_authed"), ("xoxb-unknown", "invalid_auth"), (kelly.app_token.as_str(), "not_allowed_token_type")] {
        let answer = world.api(token).call("users.list", json!({})).await;
        assert_eq!((answer.status, answer.error()), (200, error));
    }
    let opened = world.kelly().call("apps.connections.open", json!({})).await;
    assert_eq!(opened.error(), "not_allowed_token_type");
    let who = world.kelly().call("auth.test", json!({})).await.ok();
    assert_eq!((&who["user_id"], &who["bot_id"]), (&json!(kelly.user), &json!(kelly.bot)));
    // A token may be an argument too.
    let by_argument = world.api("").call("auth.test", json!({ "token": kelly.bot_token })).await.ok();
    assert_eq!(by_argument["user_id"], who["user_id"]);
}

#[tokio::test]
async fn a_missing_scope_is_named_with_those_that_are_held() {
    let world = start_with(|options| options.apps[0].scopes = vec!["chat:write".to_owned(), "team:read".to_owned()]).await;
    let answer = world.kelly().call("users.info", json!({ "user": world.ann().id() })).await;
    assert_eq!(answer.error(), "missing_scope");
    assert_eq!((&answer.json["needed"], &answer.json["provided"]), (&json!("users:read"), &json!("chat:write,team:read")));
    assert_eq!(answer.header("x-oauth-scopes"), Some("chat:write,team:read"));
    // The scope of a conversation depends on its kind.
    let history = world.kelly().call("conversations.history", json!({ "channel": world.general })).await;
    assert_eq!((history.error(), &history.json["needed"]), ("missing_scope", &json!("channels:history")));
    let list = world.kelly().call("conversations.list", json!({ "types": "im" })).await;
    assert_eq!(list.json["needed"], "im:read");
}

#[tokio::test]
async fn a_scope_can_be_dropped_and_given_back() {
    let world = start().await;
    let dropped = |on| Switch::DropScope { app: "kelly".to_owned(), scope: "team:read".to_owned(), on };
    world.set(dropped(true));
    assert_eq!(world.kelly().call("team.info", json!({})).await.error(), "missing_scope");
    assert!(world.bot("vince").call("team.info", json!({})).await.json["ok"] == true, "another app keeps it");
    world.set(dropped(false));
    assert_eq!(world.kelly().call("team.info", json!({})).await.ok()["team"]["name"], "Teamroom");
}

#[tokio::test]
async fn a_revoked_token_and_a_removed_app_are_told_apart() {
    let world = start().await;
    world.set(Switch::RevokeToken { app: "kelly".to_owned(), on: true });
    let before = world.slack.unacknowledged("kelly");
    world.ann().say(&world.general, "nobody may read this").expect("posted");
    assert_eq!(world.slack.unacknowledged("kelly"), before, "no event is sent without a token");
    assert_eq!(world.kelly().call("auth.test", json!({})).await.error(), "token_revoked");
    world.set(Switch::RevokeToken { app: "kelly".to_owned(), on: false });
    world.kelly().call("auth.test", json!({})).await.ok();
    world.set(Switch::Uninstall { app: "kelly".to_owned() });
    assert_eq!(world.kelly().call("auth.test", json!({})).await.error(), "account_inactive");
    assert!(world.slack.misbehave(Switch::Uninstall { app: "nobody".to_owned() }).is_err());
}

#[tokio::test]
async fn what_is_not_built_is_unknown() {
    let world = start().await;
    let answer = world.kelly().call("search.messages", json!({})).await;
    assert_eq!((answer.error(), &answer.json["req_method"]), ("unknown_method", &json!("search.messages")));
    assert!(Workspace::methods().contains(&"chat.postMessage") && !Workspace::methods().contains(&"files.upload"));
}

#[tokio::test]
async fn bodies_are_read_in_each_form() {
    let world = start().await;
    let kelly = world.kelly();
    let arguments = json!({ "channel": world.general, "text": "hello" });
    kelly.json("chat.postMessage", &arguments).await.ok();
    let bare = kelly.send("chat.postMessage", "application/json", arguments.to_string()).await.expect("an answer").ok();
    assert_eq!((&bare["warning"], &bare["response_metadata"]["warnings"]), (&json!("missing_charset"), &json!(["missing_charset"])));
    let form = "application/x-www-form-urlencoded; charset=utf-8";
    let form = kelly.send("api.test", form, "a=b".to_owned()).await.expect("an answer").ok();
    assert_eq!(form["args"], json!({ "a": "b" }));
    for (content_type, body, error) in [
        ("application/json; charset=utf-8", "{", "invalid_json"),
        ("application/json; charset=utf-8", "[]", "json_not_object"),
        ("text/plain", "x", "invalid_post_type"),
        ("", "x", "missing_post_type"),
    ] {
        let answer = kelly.send("chat.postMessage", content_type, body.to_owned()).await.expect("an answer");
        assert_eq!(answer.error(), error, "{content_type} {body}");
    }
    // The query is a form too.
    let url = format!("{}users.info?user={}", world.slack.api_url(), world.ann().id());
    let got = kelly.http.get(url).bearer_auth(&kelly.token).send().await.expect("an answer").text().await.expect("a text");
    assert!(got.contains(r#""real_name":"Ann""#), "{got}");
    // Methods that only read do not see JSON.
    let unseen = kelly.json("users.info", &json!({ "user": world.ann().id() })).await;
    assert_eq!((unseen.error(), unseen.complaint()), ("invalid_arguments", "[ERROR] missing required field: user"));
}

#[tokio::test]
async fn api_test_answers_without_a_token() {
    let world = start().await;
    world.api("").call("api.test", json!({ "foo": "bar" })).await.ok();
    assert_eq!(world.api("").call("api.test", json!({ "error": "my_error" })).await.error(), "my_error");
}

#[tokio::test]
async fn only_loopback_addresses_are_taken() {
    let options = slack_sandbox::Options { addr: "0.0.0.0:0".parse().expect("an address"), ..slack_sandbox::Options::default() };
    assert!(Workspace::start(options).await.is_err());
}
