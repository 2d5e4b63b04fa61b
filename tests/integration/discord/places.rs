//! Messages in threads, and edits of earlier messages.

use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::outbound::{Button, ButtonStyle, Card, CardField, FileContent, OutboundFile, OutboundMessage};
use kernel::chat::{ChatPlatform, PlatformEvent, SendError};
use kernel::time::{Clock, SystemClock};
use sandbox::Exchange;
use serde_json::{Value, json};

use super::stage::{Setting, Stage, connect, hurried, ours, row};

/// The smallest picture: one transparent pixel.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

#[tokio::test(flavor = "multi_thread")]
async fn a_role_is_known_by_its_name() {
    let mut stage = stage(&[]).await;
    stage.until_heard("kelly").await;
    let roles = stage.person("GET", &format!("/guilds/{}/roles", stage.sandbox.guild_id()), Value::Null).await;
    let vince = roles.as_array().unwrap().iter().find(|role| role["name"] == "Vince").unwrap()["id"].as_str().unwrap();
    assert_eq!(stage.discord.find_role(&format!("discord:{vince}")).as_deref(), Some("Vince"));
    for unknown in ["discord:7", "slack:7", "Vince"] {
        assert_eq!(stage.discord.find_role(unknown), None);
    }
    stage.close().await;
}

async fn stage(mute: &[&'static str]) -> Stage {
    let mut setting = Setting::new();
    setting.mute = mute.to_vec();
    let mut stage = setting.open().await;
    stage.all_ready().await;
    stage
}

/// The number of requests to open a thread.
fn openings(stage: &Stage) -> usize {
    let asks = |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.method == "POST" && rest.path.ends_with("/threads"));
    stage.sandbox.journal().iter().filter(asks).count()
}

fn with_everything(persona: &str, channel: &str) -> OutboundMessage {
    let field = |name: &str| CardField { name: name.to_owned(), value: "<@7> @everyone".to_owned(), inline: true };
    OutboundMessage {
        files: vec![OutboundFile { name: "chart.png".to_owned(), content: FileContent::Bytes(DOT.to_vec()) }],
        card: Some(Card {
            title: "Day Report".to_owned(),
            text: "All is well.".to_owned(),
            color: 0x002b_8a9e,
            fields: vec![field("Vince"), field("Echo")],
            footer: Some("standup".to_owned()),
            url: Some("https://example.org/report".to_owned()),
            image: Some("chart.png".to_owned()),
        }),
        buttons: (0..6).map(|n| Button { id: format!("rate:{n}"), label: format!("{n}"), style: ButtonStyle::Secondary }).collect(),
        ..row(persona, channel, "the report")
    }
}

async fn heard_in(stage: &mut Stage, channel: &str) -> InboundMessage {
    loop {
        let message = stage.events.message().await;
        if message.channel.id.as_str() == channel {
            return message;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embed_with_a_picture_and_buttons_is_posted_and_pings_nobody() {
    for mute in [&[][..], &["vince"]] {
        let stage = stage(mute).await;
        let general = stage.channel("general");
        let posted = stage.discord.send(&with_everything("vince", &general)).await.unwrap();
        assert_eq!(stage.sandbox.pings(posted.message.bare()), Some(vec![]));
        let shown = stage.history(&general).await.remove(0);
        let embed = &shown["embeds"][0];
        assert_eq!(
            (&embed["title"], &embed["fields"][1]["name"], &embed["footer"]["text"]),
            (&json!("Day Report"), &json!("Echo"), &json!("standup"))
        );
        assert_eq!(shown["attachments"], json!([]), "a picture inside an embed is not listed beside it");
        let picture = reqwest::get(embed["image"]["url"].as_str().unwrap()).await.unwrap();
        assert_eq!(picture.headers()["content-type"], "image/png");
        assert_eq!(picture.bytes().await.unwrap(), DOT);
        let rows = shown["components"].as_array().unwrap();
        assert_eq!((rows.len(), rows[1]["components"][0]["custom_id"].as_str()), (2, Some("rate:5")));
        stage.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_shows_a_picture_is_found_by_reading_back() {
    let stage = stage(&["vince"]).await;
    let general = stage.channel("general");
    let since = SystemClock.now();
    let report = with_everything("vince", &general);
    let posted = stage.discord.send(&report).await.unwrap();
    assert_eq!(stage.discord.find_posted(&report, since).await.unwrap(), Some(posted));
    let mut other = report.clone();
    other.card.as_mut().unwrap().title = "Another".to_owned();
    assert_eq!(stage.discord.find_posted(&other, since).await.unwrap(), None);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_opened_once_by_the_coordinator_and_everybody_speaks_in_it() {
    let mut stage = stage(&["vince"]).await;
    let general = stage.channel("general");
    let start = stage.discord.send(&row("echo", &general, "the report")).await.unwrap();
    let thread = stage.discord.open_thread(&start.channel, &start.message, "Day Report").await.unwrap();
    assert_eq!(thread.as_str(), start.message.as_str());
    assert_eq!(stage.discord.open_thread(&start.channel, &start.message, "Day Report").await.unwrap(), thread);
    assert_eq!(openings(&stage), 1, "a thread that is known is not asked for again");
    for persona in ["echo", "vince"] {
        let posted = stage.discord.send(&row(persona, thread.as_str(), "inside")).await.unwrap();
        assert_eq!(posted.channel, thread);
        let heard = heard_in(&mut stage, thread.as_str()).await;
        let owner = Some(ours(&stage.bot_id("kelly")));
        let starter = Some(start.message.clone());
        let place = Place::Thread { parent: ours(&general), parent_name: "general".to_owned(), owner, starter };
        assert_eq!((heard.channel.name.as_str(), heard.channel.place), ("Day Report", place));
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_a_hidden_thread_is_found_and_written_in() {
    let stage = stage(&["vince"]).await;
    let general = stage.channel("general");
    let start = stage.discord.send(&row("kelly", &general, "the report")).await.unwrap();
    let thread = stage.discord.open_thread(&start.channel, &start.message, "Day Report").await.unwrap();
    let inside = stage.discord.send(&row("vince", thread.as_str(), "inside")).await.unwrap();
    // The gateway does not report archived threads at login.
    stage.person("PATCH", &format!("/channels/{}", thread.bare()), json!({ "archived": true })).await;
    stage.discord.close().await;
    let (again, mut events) = connect(stage.settings.clone(), hurried(), &stage.memory).await;
    let again = again.unwrap();
    events.next(|event| matches!(event, PlatformEvent::Ready { persona, .. } if persona.as_str() == "kelly")).await;
    let revised = again.edit(&row("vince", thread.as_str(), "inside, revised"), &inside.message).await.unwrap();
    assert_eq!((revised.message, revised.channel), (inside.message, thread.clone()));
    stage.person("PATCH", &format!("/channels/{}", thread.bare()), json!({ "archived": true })).await;
    assert_eq!(again.open_thread(&start.channel, &start.message, "Day Report").await.unwrap(), thread);
    again.send(&row("vince", thread.as_str(), "still here")).await.unwrap();
    let said: Vec<_> = stage.history(thread.bare()).await.iter().map(|message| message["content"].clone()).collect();
    assert_eq!(said[..2], [json!("still here"), json!("inside, revised")]);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_thread_opens_on_a_message_that_is_gone() {
    let stage = stage(&[]).await;
    let general = stage.channel("general");
    let start = stage.discord.send(&row("kelly", &general, "the report")).await.unwrap();
    stage.person("DELETE", &format!("/channels/{general}/messages/{}", start.message.bare()), Value::Null).await;
    let refused = stage.discord.open_thread(&start.channel, &start.message, "Day Report").await;
    assert!(matches!(&refused, Err(SendError::Refused(why)) if why.contains("Unknown Message")), "{refused:?}");
    let sneaky = stage.discord.open_thread(&start.channel, &"1/../2".into(), "x").await;
    assert!(matches!(sneaky, Err(SendError::Refused(_))));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_replaces_everything_of_a_message() {
    for mute in [&[][..], &["vince"]] {
        let stage = stage(mute).await;
        let general = stage.channel("general");
        let first = stage.discord.send(&with_everything("vince", &general)).await.unwrap();
        let mut second = with_everything("vince", &general);
        second.text = "the report, revised".to_owned();
        second.files[0].name = "later.png".to_owned();
        second.card.as_mut().unwrap().image = Some("later.png".to_owned());
        let revised = stage.discord.edit(&second, &first.message).await.unwrap();
        assert_eq!((&revised.message, &revised.channel), (&first.message, &first.channel));
        let shown = stage.history(&general).await;
        assert_eq!((shown.len(), &shown[0]["content"]), (1, &json!("the report, revised")));
        assert!(shown[0]["embeds"][0]["image"]["url"].as_str().unwrap().contains("/later.png"));
        assert!(!shown[0]["edited_timestamp"].is_null());

        let bare = stage.discord.edit(&row("vince", &general, "only text"), &first.message).await.unwrap();
        assert_eq!(bare.message, first.message);
        let shown = stage.history(&general).await.remove(0);
        assert_eq!((&shown["embeds"], &shown["components"], &shown["attachments"]), (&json!([]), &json!([]), &json!([])));
        stage.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_is_as_discord_describes_it() {
    let stage = stage(&["vince"]).await;
    let general = stage.channel("general");
    for persona in ["echo", "vince"] {
        let first = stage.discord.send(&with_everything(persona, &general)).await.unwrap();
        let thread = stage.discord.open_thread(&first.channel, &first.message, &"long name ".repeat(20)).await.unwrap();
        let inside = stage.discord.send(&with_everything(persona, thread.as_str())).await.unwrap();
        stage.person("PATCH", &format!("/channels/{}", thread.bare()), json!({ "archived": true })).await;
        for posted in [first, inside] {
            let bare = row(persona, posted.channel.as_str(), "only text");
            for revision in [with_everything(persona, posted.channel.as_str()), bare] {
                stage.discord.edit(&revision, &posted.message).await.unwrap();
            }
        }
    }
    if let Some(checked) = crate::support::requests::check_requests(&stage.sandbox.journal()) {
        assert!(checked >= 16, "only {checked} requests were checked");
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_counts_as_gone() {
    for mute in [&[][..], &["vince"]] {
        let stage = stage(mute).await;
        let general = stage.channel("general");
        let others = stage.discord.send(&row("echo", &general, "Echo's")).await.unwrap();
        let own = stage.discord.send(&row("vince", &general, "Vince's")).await.unwrap();
        stage.person("DELETE", &format!("/channels/{general}/messages/{}", own.message.bare()), Value::Null).await;
        for posted in [own, others] {
            let edited = stage.discord.edit(&row("vince", &general, "changed"), &posted.message).await;
            assert!(matches!(edited, Err(SendError::Gone(_))), "{edited:?}");
        }
        stage.close().await;
    }
}
