//! What the prompt of a turn has besides words: pictures, people's reactions, and titles behind links.

use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde_json::Value;

use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    a_picture_is_shown_to_a_model_that_sees,
    a_picture_is_shown_to_the_next_question_until_it_is_deleted,
    a_picture_that_the_provider_refuses_is_left_out_once_and_for_all,
    a_picture_that_nobody_sees_is_spoken_of_where_it_was_posted,
    a_picture_that_cannot_be_shown_is_named_with_what_to_send_instead,
    a_reaction_is_shown_until_it_is_taken_back,
    a_title_behind_a_link_is_shown_as_text_from_outside,
);

/// The smallest picture.
const PIXEL: [u8; 67] = [
    0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F,
    0x15, 0xC4, 0x89, 0, 0, 0, 0x0A, b'I', b'D', b'A', b'T', 0x78, 0x9C, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0D, 0x0A, 0x2D, 0xB4, 0, 0, 0, 0,
    b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82,
];

async fn with(backing: Backing, kind: ProviderKind) -> TestTeam {
    let team = Wanted::on(backing).model(kind).configure(|config| config.models.vision = vec!["scripted-1".into()]).start().await;
    team.model.on(|_| Script::say("understood"));
    team
}

/// The prompt of the last request, and the pictures in it.
fn pictures(team: &TestTeam) -> (String, Vec<Value>) {
    let asked = team.model.requests().pop().expect("the model was asked");
    let first = asked.body["messages"].as_array().expect("messages").iter().find(|message| message["role"] == "user").expect("one").clone();
    let parts = first["content"].as_array().cloned().unwrap_or_default();
    (asked.prompt(), parts.into_iter().filter(|part| part["type"] != "text").collect())
}

async fn ask(team: &TestTeam, text: &str) -> String {
    let before = team.answers("general").await.len();
    team.say("general", text).await;
    eventually("it is answered", || async { team.answers("general").await.len() > before }).await;
    team.answers("general").await.remove(before).text
}

async fn a_picture_is_shown_to_a_model_that_sees(backing: Backing) {
    let team = with(backing, ProviderKind::Anthropic).await;
    team.drop_files("general", &[("plan.png", PIXEL.to_vec()), ("fake.png", b"no picture".to_vec())], "vince, what is on it?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0).text;
    assert_eq!(answer, "understood\n-# fake.png (10 bytes) is damaged or no picture. Please send it again as JPEG or PNG.");
    let (prompt, shown) = pictures(&team);
    assert!(prompt.contains("- a picture: plan.png, from ") && prompt.contains("shown to you"), "{prompt}");
    assert_eq!(shown.len(), 1, "{shown:?}");
    let source = &shown[0]["source"];
    assert_eq!((source["type"].as_str(), source["media_type"].as_str()), (Some("base64"), Some("image/png")));
    assert!(source["data"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")));
}

async fn a_picture_is_shown_to_the_next_question_until_it_is_deleted(backing: Backing) {
    let mut team = with(backing, ProviderKind::OpenAi).await;
    let message = team.drop_file("general", "plan.png", PIXEL.to_vec(), "the new harbour").await;
    ask(&team, "vince, what do you make of it?").await;
    let shown = pictures(&team).1;
    let url = shown[0]["image_url"]["url"].as_str().expect("an address");
    assert!(shown.len() == 1 && url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{shown:?}");
    // A model without vision is only told about the picture.
    team.stop_app().await;
    team.config.models.vision.clear();
    team.start_app().await;
    assert_eq!(ask(&team, "vince, what is on plan.png?").await, "understood\n-# I can't see pictures yet, so I skipped plan.png.");
    assert!(pictures(&team).1.is_empty());
    assert_eq!(count(&team, "SELECT COUNT(*) FROM files WHERE picture IS NOT NULL").await, 1);
    team.stop_app().await;
    team.config.models.vision = vec!["scripted-1".into()];
    team.start_app().await;
    team.delete("general", &message).await;
    assert_eq!(ask(&team, "vince, what do you make of plan.png?").await, "understood");
    assert!(pictures(&team).1.is_empty());
    assert_eq!(count(&team, "SELECT COUNT(*) FROM files").await, 0);
}

async fn a_picture_that_the_provider_refuses_is_left_out_once_and_for_all(backing: Backing) {
    let team = with(backing, ProviderKind::OpenAi).await;
    team.model.on(|asked| if asked.body.to_string().contains("data:image/") { Script::status(400) } else { Script::say("understood") });
    team.drop_file("general", "plan.png", PIXEL.to_vec(), "vince, what is on it?").await;
    let told = "understood\n-# I answered without plan.png, because the language model refused it (“scripted 400”). Please send it as a smaller JPEG or PNG.";
    assert_eq!(team.wait_for_answers("general", 1).await.remove(0).text, told);
    assert!(pictures(&team).0.contains("(The pictures of this message cannot be shown to you."));
    let asked = team.model.count();
    // A later question is not about the picture, and needs no second request.
    assert_eq!(ask(&team, "vince, when does the ship leave?").await, "understood");
    assert!(pictures(&team).1.is_empty());
    let later = team.model.requests().split_off(asked);
    assert!(later.iter().all(|asked| !asked.body.to_string().contains("data:image/")), "{later:#?}");
    // The same picture is not sent again, and who asks about it is told.
    team.drop_file("general", "again.png", PIXEL.to_vec(), "vince, what is on it?").await;
    let answer = team.wait_for_answers("general", 3).await.remove(2).text;
    assert_eq!(answer, told.replace("plan.png", "again.png"));
    assert!(team.model.requests().split_off(asked).iter().all(|asked| !asked.body.to_string().contains("data:image/")));
}

async fn a_picture_that_nobody_sees_is_spoken_of_where_it_was_posted(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("understood"));
    team.drop_file("general", "harbour.png", PIXEL.to_vec(), "vince, what is on it?").await;
    let told = team.wait_for_answers("general", 1).await.remove(0).text;
    assert_eq!(told, "understood\n-# I can't see pictures yet, so I skipped harbour.png.");
    assert_eq!(ask(&team, "eliza, when does the harbour open?").await, "understood");
}

async fn a_picture_that_cannot_be_shown_is_named_with_what_to_send_instead(backing: Backing) {
    let team = with(backing, ProviderKind::OpenAi).await;
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic".to_vec();
    let cut = PIXEL[..50].to_vec();
    for (number, (name, bytes, told)) in [
        ("photo.heic", heic.clone(), "photo.heic is a HEIC picture (24 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("photo.jpg", heic, "photo.jpg is a HEIC picture (24 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("scan.tiff", b"II*\0rest".to_vec(), "scan.tiff is a TIFF picture (8 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("cut.png", cut, "cut.png (50 bytes) is damaged or no picture. Please send it again as JPEG or PNG."),
    ]
    .into_iter()
    .enumerate()
    {
        team.drop_file("general", name, bytes, "vince, what is on it?").await;
        let answer = team.wait_for_answers("general", number + 1).await.remove(number).text;
        assert_eq!(answer, format!("understood\n-# {told}"));
        assert!(pictures(&team).1.is_empty());
    }
    assert_eq!(count(&team, "SELECT COUNT(*) FROM files WHERE picture IS NOT NULL").await, 0);
}

async fn react(team: &TestTeam, method: Method, message: &str, emoji: &str) {
    let path = format!("/channels/{}/messages/{message}/reactions/{emoji}/@me", team.channel("general"));
    team.call(method, &path, None).await;
}

async fn a_reaction_is_shown_until_it_is_taken_back(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).sandbox(|options| options.people = vec!["Ann".to_owned()]).start().await;
    team.model.on(|_| Script::say("The harbour opens in May."));
    ask(&team, "vince, when does it open?").await;
    let answer = team.answers("general").await.remove(0).raw["id"].as_str().expect("an id").to_owned();
    react(&team, Method::PUT, &answer, "%F0%9F%91%8D").await;
    let stored = |number: i64| {
        let team = &team;
        async move { count(team, "SELECT COUNT(*) FROM annotations WHERE kind = 'reaction'").await == number }
    };
    eventually("the reaction is known", || stored(1)).await;
    ask(&team, "vince, and then?").await;
    let prompt = pictures(&team).0;
    assert!(prompt.contains("The harbour opens in May. (Ann reacted 👍)"), "{prompt}");
    react(&team, Method::DELETE, &answer, "%F0%9F%91%8D").await;
    eventually("it is taken back", || stored(0)).await;
    ask(&team, "vince, and now?").await;
    assert!(!pictures(&team).0.contains("reacted"));
}

async fn a_title_behind_a_link_is_shown_as_text_from_outside(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("understood"));
    let message = team.say("general", "look at https://harbour.example/plan").await;
    team.settle().await;
    let channel = team.channel("general");
    assert!(team.sandbox().unfurl(&channel, &message, "https://harbour.example/plan", "Harbour plan 2027"));
    eventually("the title is known", || async { count(&team, "SELECT COUNT(*) FROM annotations WHERE kind = 'link'").await == 1 }).await;
    ask(&team, "vince, what is that about?").await;
    let prompt = pictures(&team).0;
    assert!(prompt.contains("| titles of links in these messages>>\nhttps://harbour.example/plan: Harbour plan 2027\n<<end "), "{prompt}");
    team.delete("general", &message).await;
    ask(&team, "vince, and now?").await;
    assert!(!pictures(&team).0.contains("Harbour plan"));
}
