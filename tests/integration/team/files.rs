//! A file belongs to its conversation (CHAT-33): what a model is shown, and what is answered without one.

use std::io::Write as _;
use std::time::Duration;

use kernel::chat::store::FileText;
use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde_json::json;
use teamroom::store::Store;

use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, Wanted, on_one_store};

on_one_store!(
    a_file_is_there_for_the_next_question_and_for_replies_to_its_message,
    without_a_model_a_file_is_there_for_the_next_question_and_for_replies,
    a_file_of_last_week_answers_what_it_is_about_and_nothing_else,
    a_refused_file_is_told_and_no_other_one_answers_for_it,
    a_large_file_is_read_in_part_and_the_answer_says_so,
    documents_are_read_as_text_and_a_damaged_one_is_refused,
    files_without_a_known_ending_are_read_by_their_content,
    a_deleted_file_is_gone,
    a_reply_shows_a_message_from_before_the_team,
    mentions_read_as_names,
    a_thread_shows_the_message_on_which_it_hangs,
);

const PLAN: &str = "# Plan\n\n## Harbour\n\nThe harbour opens in May.\n\n## Ships\n\nThree ships come first.\n";

async fn with_model(backing: Backing) -> TestTeam {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("understood"));
    team
}

async fn offline(backing: Backing) -> TestTeam {
    Wanted::on(backing).start().await
}

/// The prompt of the last question.
fn prompt(team: &TestTeam) -> String {
    team.model.requests().pop().expect("the model was asked").prompt()
}

/// Waits for this many messages of the team. Returns the last one.
async fn answer(team: &TestTeam, count: usize) -> String {
    team.wait_for_answers("general", count).await.pop().expect("an answer").text
}

/// A person replies to a message.
async fn reply(team: &TestTeam, to: &str, text: &str) {
    let path = format!("/channels/{}/messages", team.channel("general"));
    team.call(Method::POST, &path, Some(json!({ "content": text, "message_reference": { "message_id": to } }))).await;
}

/// Stores a file that somebody posted this long ago. The team must not run.
async fn remember_file(team: &TestTeam, name: &str, text: &str, ago: Duration) {
    let now = team.clock.now();
    let store = Store::open(&team.config.database_url, now).await.expect("the store opens");
    let file = FileText {
        id: format!("discord:{name}"),
        message: "discord:7".into(),
        channel: team.channel_id("general"),
        name: name.into(),
        size: text.len() as u64,
        text: Some(text.into()),
        note: None,
        by: "Bob".into(),
        at: now - ago,
    };
    store.record_files(&[file]).await.expect("the file is stored");
    store.close().await;
}

const WEEK: Duration = Duration::from_hours(7 * 24);

async fn a_file_is_there_for_the_next_question_and_for_replies_to_its_message(backing: Backing) {
    let team = with_model(backing).await;
    team.drop_file("general", "notes.md", b"The weather is fine.\n".to_vec(), "here are some notes").await;
    let message = team.drop_file("general", "plan.md", PLAN.into(), "here is our plan").await;
    team.settle().await;
    team.say("general", "vince, summarise it").await;
    assert_eq!(answer(&team, 1).await, "understood");
    let shown = prompt(&team);
    assert!(shown.contains("| file plan.md, whole, from ") && shown.contains("The harbour opens in May."), "{shown}");
    assert!(shown.contains("here is our plan (with plan.md)"), "{shown}");
    reply(&team, &message, "vince, what is missing?").await;
    answer(&team, 2).await;
    let shown = prompt(&team);
    assert!(shown.contains("| file plan.md, whole, from ") && !shown.contains("The weather is fine."), "{shown}");
    assert!(shown.contains("| the message replied to, from person ") && shown.contains("here is our plan (with plan.md)"), "{shown}");
    assert!(shown.contains("- notes.md, from "), "others are named: {shown}");
    reply(&team, &message, "ask solus what he thinks about it").await;
    answer(&team, 3).await;
    let shown = prompt(&team);
    assert!(shown.contains("The harbour opens in May.") && shown.contains("in reply to the message above"), "{shown}");
}

async fn without_a_model_a_file_is_there_for_the_next_question_and_for_replies(backing: Backing) {
    let team = offline(backing).await;
    let notes = team.drop_file("general", "notes.md", b"# Weather\n\nFine.\n".to_vec(), "here are some notes").await;
    team.drop_file("general", "plan.md", PLAN.into(), "here is our plan").await;
    team.settle().await;
    team.say("general", "vince, summarise it").await;
    let said = answer(&team, 1).await;
    assert!(said.starts_with("**plan.md**: 9 lines, 2 sections:"), "{said}");
    team.say("general", "vince, when does the harbour open?").await;
    let said = answer(&team, 2).await;
    assert!(said.contains("opens in May") && said.contains("[plan.md, Harbour, line 5]"), "{said}");
    reply(&team, &notes, "vince, summarise it").await;
    let said = answer(&team, 3).await;
    assert!(said.starts_with("**notes.md**"), "{said}");
}

async fn a_file_of_last_week_answers_what_it_is_about_and_nothing_else(backing: Backing) {
    let launch = "# Launch\n\nThe launch costs 400 dollars. The venue is in Lisbon.\n";
    let mut team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(|_| Script::say("understood"));
    remember_file(&team, "launch.md", launch, WEEK).await;
    team.start_app().await;
    for (count, (question, shown)) in [
        ("vince, what does the server cost today?", false),
        ("vince, summarise it", false),
        ("vince, where is the venue of the launch?", true),
        ("vince, what is in launch.md?", true),
    ]
    .into_iter()
    .enumerate()
    {
        team.say("general", question).await;
        answer(&team, count + 1).await;
        let prompt = prompt(&team);
        assert_eq!(prompt.contains("Lisbon"), shown, "{question}: {prompt}");
    }
}

async fn a_refused_file_is_told_and_no_other_one_answers_for_it(backing: Backing) {
    let team = with_model(backing).await;
    let message = team.drop_file("general", "new.md", (0..=255).cycle().take(4096).collect(), "here is the new one").await;
    team.settle().await;
    let files = [("plan.md", PLAN.into()), ("big.txt", vec![b'a'; 2 << 20])];
    team.drop_files("general", &files, "vince, when does the harbour open?").await;
    let said = answer(&team, 1).await;
    assert_eq!(said, "understood\n-# big.txt is too large: 2 MiB of at most 1 MiB. Please send only the part that matters.");
    let shown = prompt(&team);
    assert!(shown.contains("The harbour opens in May.") && shown.contains(": could not be read. big.txt is too large"), "{shown}");
    reply(&team, &message, "vince, when does the harbour open?").await;
    assert_eq!(answer(&team, 2).await, "understood\n-# new.md is not a text file, so I skipped it.");
    let shown = prompt(&team);
    assert!(!shown.contains("opens in May") && shown.contains("- new.md, from "), "{shown}");
}

async fn a_large_file_is_read_in_part_and_the_answer_says_so(backing: Backing) {
    let large = format!("{}\n\nThe harbour opens in May.\n", "Nothing of that kind here.\n\n".repeat(32_143)).into_bytes();
    let team = with_model(backing).await;
    team.drop_file("general", "plan.md", large, "vince, when does the harbour open?").await;
    assert_eq!(answer(&team, 1).await, "understood\n-# Read 1 of 901 kB of plan.md.");
    let shown = prompt(&team);
    assert!(shown.contains("The harbour opens in May.") && shown.contains(": 1 of 901 kB below"), "{shown}");
    assert!(shown.len() < 30_000, "{} bytes", shown.len());
}

/// A Word document with one paragraph.
fn docx(text: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", zip::write::SimpleFileOptions::default()).expect("a file in memory");
    let xml = format!("<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>");
    writer.write_all(xml.as_bytes()).expect("a file in memory");
    writer.finish().expect("a file in memory").into_inner()
}

/// A PDF with one line.
fn pdf(text: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let objects: Vec<String> = objects.iter().zip(1..).map(|(object, number)| format!("{number} 0 obj\n{object}\nendobj\n")).collect();
    format!("%PDF-1.4\n{}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n", objects.concat()).into_bytes()
}

async fn documents_are_read_as_text_and_a_damaged_one_is_refused(backing: Backing) {
    let team = with_model(backing).await;
    let files = [
        ("plan.pdf", pdf("The harbour opens in May.")),
        ("ships.docx", docx("Three ships come first.")),
        ("broken.pdf", b"%PDF-1.4 and nothing else".to_vec()),
    ];
    team.drop_files("general", &files, "vince, what do they say?").await;
    assert_eq!(answer(&team, 1).await, "understood\n-# I can't read broken.pdf: it is damaged or not what its name says.");
    let shown = prompt(&team);
    for (name, text) in [("plan.pdf", "The harbour opens in May."), ("ships.docx", "Three ships come first.")] {
        assert!(shown.contains(&format!("| file {name}, whole, from ")) && shown.contains(text), "{shown}");
    }
}

async fn files_without_a_known_ending_are_read_by_their_content(backing: Backing) {
    let team = with_model(backing).await;
    let files = [
        ("Dockerfile", b"FROM harbour:27\n".to_vec()),
        ("plan", pdf("The harbour opens in May.")),
        ("ships.bin", docx("Three ships come first.")),
        ("dump", b"\x1F\x8B\x08\0\0".to_vec()),
    ];
    team.drop_files("general", &files, "vince, what do they say?").await;
    assert_eq!(answer(&team, 1).await, "understood\n-# dump is a packed file (gzip), which I can't read. Please send the file in it.");
    let shown = prompt(&team);
    for text in ["FROM harbour:27", "The harbour opens in May.", "Three ships come first."] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

async fn a_deleted_file_is_gone(backing: Backing) {
    let team = with_model(backing).await;
    let message = team.drop_file("general", "plan.md", PLAN.into(), "here is our plan").await;
    team.settle().await;
    team.delete("general", &message).await;
    team.say("general", "vince, when does the harbour open?").await;
    answer(&team, 1).await;
    let shown = prompt(&team);
    assert!(!shown.contains("plan.md") && !shown.contains("our plan") && !shown.contains("May"), "{shown}");
}

async fn a_reply_shows_a_message_from_before_the_team(backing: Backing) {
    let mut team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(|_| Script::say("understood"));
    let old = team.drop_file("general", "old.md", b"Old.\n".to_vec(), "We should move to Lisbon.").await;
    for number in 0..3 {
        team.say("general", &format!("line {number}")).await;
    }
    team.start_app().await;
    reply(&team, &old, "vince, should we?").await;
    answer(&team, 1).await;
    let shown = prompt(&team);
    assert!(shown.contains("We should move to Lisbon. (with old.md, posted before I was here and not read)"), "{shown}");
    assert!(shown.contains("| the message replied to, from person "), "{shown}");
}

async fn mentions_read_as_names(backing: Backing) {
    let team = with_model(backing).await;
    let (person, channel) = (team.sandbox().people()[0].id.clone(), team.channel("ops"));
    team.say("ops", "hello ops").await;
    team.settle().await;
    let name = team.history("ops").await[0].author.clone();
    let before = team.model.count();
    team.say("general", &format!("<@{}> does <@{person}> know <#{channel}>?", team.account("vince"))).await;
    team.model.wait_for(before + 1).await;
    let shown = prompt(&team);
    assert!(shown.contains(&format!("@Vince does @{name} know #ops?")), "{shown}");
    assert!(!shown.contains("<user:") && !shown.contains("<channel:"), "{shown}");
}

async fn a_thread_shows_the_message_on_which_it_hangs(backing: Backing) {
    let team = with_model(backing).await;
    let message = team.drop_file("general", "plan.md", PLAN.into(), "here is our plan").await;
    team.settle().await;
    let path = format!("/channels/{}/messages/{message}/threads", team.channel("general"));
    team.call(Method::POST, &path, Some(json!({ "name": "Plan" }))).await;
    let before = team.model.count();
    team.call(Method::POST, &format!("/channels/{message}/messages"), Some(json!({ "content": "vince, what is missing?" }))).await;
    team.model.wait_for(before + 1).await;
    let shown = prompt(&team);
    assert!(shown.contains("| first message of this thread, from person ") && shown.contains("here is our plan (with plan.md)"), "{shown}");
    assert!(shown.contains("| file plan.md, whole, from "), "{shown}");
}
