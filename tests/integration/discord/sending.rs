//! The team's posts: once, as the right persona, without accidental pings; and reading back.

use std::time::Duration;

use kernel::chat::message::{Attachment, AuthorKind};
use kernel::chat::outbound::{FileContent, OutboundFile};
use kernel::chat::{ChatPlatform, DownloadError, Presence, SendError};
use kernel::time::{Clock, SystemClock};
use sandbox::{Exchange, Switch};

use super::stage::{Setting, Stage, ours, row, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_answers_from_its_own_account_and_pings_only_whom_the_row_names() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    let question = stage.say(&general, "vince?").await;
    stage.events.message().await;
    let person = stage.sandbox.people()[0].id.clone();
    let mut answer = row("vince", &general, &format!("@everyone <@{person}> <@{}> here", stage.bot_id("kelly")));
    answer.reply_to = Some(ours(&question));
    let posted = stage.discord.send(&answer).await.unwrap();
    assert_eq!(stage.sandbox.pings(posted.message.bare()), Some(vec![]));
    answer = row("vince", &general, &format!("<@{person}> look"));
    answer.pings = vec![ours(&person)];
    let second = stage.discord.send(&answer).await.unwrap();
    assert_eq!(stage.sandbox.pings(second.message.bare()), Some(vec![person]));

    let heard = stage.events.message().await;
    assert_eq!((heard.id, heard.author.kind), (posted.message, AuthorKind::Persona("vince".into())));
    assert_eq!(heard.reply_to.unwrap().message.bare(), question);
    assert_eq!(heard.mentions.len(), 2);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_sent_twice_is_one_message() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    let answer = row("echo", &general, "once");
    let first = stage.discord.send(&answer).await.unwrap();
    let second = stage.discord.send(&answer).await.unwrap();
    assert_eq!(first.message, second.message);
    assert_eq!(stage.history(&general).await.len(), 1);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_nonce_window_a_row_is_found_by_reading_back() {
    let stage = Stage::ready().await;
    stage.misbehave(Switch::NonceWindow { millis: 0 });
    let general = stage.channel("general");
    let since = SystemClock.now();
    let answer = row("echo", &general, "once");
    assert_eq!(stage.discord.find_posted(&answer, since).await.unwrap(), None);
    let posted = stage.discord.send(&answer).await.unwrap();
    for n in 0..120 {
        stage.say(&general, &format!("later {n}")).await;
    }
    assert_eq!(stage.discord.find_posted(&answer, since).await.unwrap(), Some(posted));
    assert_eq!(stage.discord.find_posted(&row("vince", &general, "once"), since).await.unwrap(), None);

    // Any persona may have posted for the coordinator. The channel is still read only once: 121 messages are two pages.
    let is_read = |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.method == "GET" && rest.query.contains("after="));
    let reads = || stage.sandbox.journal().iter().filter(is_read).count();
    let before = reads();
    assert_eq!(stage.discord.find_posted(&row("kelly", &general, "never said"), since).await.unwrap(), None);
    assert_eq!(reads() - before, 2);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_discord_would_never_take_is_refused_with_the_reason() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    let refusal = |result: Result<_, SendError>| match result {
        Err(SendError::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let long = stage.discord.send(&row("vince", &general, &"x".repeat(2001))).await;
    assert!(refusal(long).contains("content"));
    refusal(stage.discord.send(&row("vince", &general, "")).await);
    let gone = stage.discord.send(&row("vince", "4242", "anybody?")).await;
    assert!(refusal(gone).contains("Unknown Channel"));
    let sneaky = stage.discord.send(&row("vince", "1/../../users/@me", "x")).await;
    assert!(refusal(sneaky).contains("is not an id of Discord"));
    let elsewhere = stage.discord.send(&row("vince", "slack:C024BE91L", "x")).await;
    assert!(refusal(elsewhere).contains("\"slack:C024BE91L\" is not an id of Discord"));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_out_with_its_message_and_comes_back_within_the_limit() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    let mut answer = row("eliza", &general, "the report");
    answer.files = vec![OutboundFile { name: "report.md".to_owned(), content: FileContent::Text("# Hello\n".repeat(100)) }];
    stage.discord.send(&answer).await.unwrap();
    let heard = stage.events.message().await;
    let file = &heard.attachments[0];
    assert_eq!((file.name.as_str(), file.size), ("report.md", 800));
    let content = stage.discord.download(file, 1000).await.unwrap();
    assert_eq!(content, answer.files[0].content.as_bytes());
    assert_eq!(stage.discord.download(file, 799).await, Err(DownloadError::TooLarge(799)));
    // A wrong announced size is detected during the download.
    let lying = Attachment { size: 1, ..file.clone() };
    assert_eq!(stage.discord.download(&lying, 799).await, Err(DownloadError::TooLarge(799)));
    let foreign = Attachment { url: "http://127.0.0.1:9/attachments/1/2/x".to_owned(), ..file.clone() };
    assert_eq!(stage.discord.download(&foreign, 1000).await, Err(DownloadError::ForeignHost));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_link_is_replaced_by_a_fresh_one() {
    let mut setting = Setting::new();
    setting.sandbox.windows.attachment_url = Duration::from_secs(4);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    let mut answer = row("eliza", &general, "the report");
    answer.files = vec![OutboundFile { name: "report.md".to_owned(), content: FileContent::Text("still there".to_owned()) }];
    stage.discord.send(&answer).await.unwrap();
    let file = stage.events.message().await.attachments.remove(0);
    tokio::time::sleep(Duration::from_millis(4200)).await;
    assert_eq!(stage.discord.download(&file, 1000).await.unwrap(), "still there".as_bytes());
    let gone = Attachment { id: "1".to_owned(), ..file };
    assert!(matches!(stage.discord.download(&gone, 1000).await, Err(DownloadError::Failed(_))));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_after_a_message_is_listed_oldest_first_over_pages() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    let start = stage.say(&general, "start").await;
    let mut said = vec![];
    for n in 0..130 {
        said.push(stage.say(&general, &format!("{n}")).await);
    }
    let listed = stage.discord.list_messages_after(&ours(&general), &ours(&start), 120).await.unwrap();
    assert_eq!(listed.iter().map(|message| message.id.bare().to_owned()).collect::<Vec<_>>(), said[..120]);
    assert_eq!((listed[0].channel.name.as_str(), &listed[0].author.kind), ("general", &AuthorKind::Person));
    let last: &str = &said[129];
    assert_eq!(stage.discord.list_messages_after(&ours(&general), &ours(last), 120).await.unwrap(), vec![]);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_conversation_is_read_by_the_persona_it_is_held_with() {
    let stage = Stage::ready().await;
    let direct = stage.direct("vince").await;
    let first = stage.say(&direct, "one").await;
    stage.say(&direct, "two").await;
    let listed = stage.discord.list_messages_after(&ours(&direct), &ours(&first), 10).await.unwrap();
    assert_eq!(listed.iter().map(|m| (m.text.as_str(), m.seen_by.as_str())).collect::<Vec<_>>(), [("two", "vince")]);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_and_presence_come_from_the_personas_own_account() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    stage.discord.show_typing(&"solus".into(), &ours(&general)).await;
    stage.discord.set_presence(&"solus".into(), Presence::OutOfBudget).await;
    let typed = |exchange: &Exchange| matches!(exchange, Exchange::Rest(rest) if rest.path.ends_with("/typing") && rest.status == 204);
    let solus = stage.bot_id("solus");
    let shown = |exchange: &Exchange| {
        matches!(exchange, Exchange::Frame(frame) if frame.payload["op"] == 3 && frame.user.as_deref() == Some(&solus)
            && frame.payload["d"]["activities"][0]["state"] == "out of budget")
    };
    until(
        || {
            let journal = stage.sandbox.journal();
            journal.iter().any(typed) && journal.iter().any(shown)
        },
        || "typing or presence was not shown".to_owned(),
    )
    .await;
    stage.close().await;
}
