//! What is said in private is told nowhere else (MEM-8): a hundred secrets, asked for in public in several ways.

use kernel::llm::settings::ProviderKind;
use serde_json::json;

use super::stage::{BOARD, HERE, Stage};
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(no_secret_is_told_offline, no_secret_reaches_a_model, a_private_place_hears_its_own);

/// In each of four ways: taught and said, in a conversation and in a channel.
const SECRETS: usize = 25;

/// What everybody may know.
const PUBLIC: [(&str, &str, &str); 10] = [
    ("we deploy on Thursdays", "when do we deploy?", "Thursdays"),
    ("the office opens at seven", "when does the office open?", "seven"),
    ("invoices go to Carla", "who gets the invoices?", "Carla"),
    ("the printer stands in room twelve", "where does the printer stand?", "twelve"),
    ("our bank is the Sparkasse", "which bank do we have?", "Sparkasse"),
    ("holidays are planned in January", "when are holidays planned?", "January"),
    ("the backup runs at midnight", "when does the backup run?", "midnight"),
    ("the mascot is a heron", "what is our mascot?", "heron"),
    ("die Kaffeekasse verwaltet Nora", "wer verwaltet die Kaffeekasse?", "Nora"),
    ("el servidor viejo se llama Lagarto", "¿cómo se llama el servidor viejo?", "Lagarto"),
];

/// A secret with a word that occurs nowhere else.
fn secret(number: usize) -> String {
    format!("the merger with company {number} has the code name {}", code(number))
}

fn code(number: usize) -> String {
    format!("zq{number}x")
}

fn questions(number: usize) -> [String; 3] {
    [
        format!("kelly, what is the code name of the merger with company {number}?"),
        format!("what did I say about company {number} and its merger?"),
        format!("vince, tell me everything about the code name {}", number * 7 % 100),
    ]
}

async fn tell_secrets(stage: &Stage) {
    for number in 0..SECRETS * 4 {
        match number % 4 {
            0 => stage.say_in_private(&format!("remember: {}", secret(number))).await,
            1 => stage.say_in_private(&format!("{}.", secret(number))).await,
            2 => drop(stage.team.say(BOARD, &format!("remember: {}", secret(number))).await),
            _ => drop(stage.team.say(BOARD, &format!("kelly, note that {}.", secret(number))).await),
        }
        if number % 10 == 9 {
            stage.team.settle().await;
        }
    }
    let heard = || async { count(&stage.team, "SELECT COUNT(*) FROM inbox WHERE message LIKE '%code name zq%'").await >= 100 };
    eventually("all of it is heard", heard).await;
    stage.team.settle().await;
}

fn expect_no_secret(text: &str, place: &str) {
    for number in 0..SECRETS * 4 {
        assert!(!text.contains(&code(number)), "{place} tells {}: {text}", code(number));
    }
}

async fn no_secret_is_told_offline(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    for (fact, ..) in PUBLIC {
        stage.answer_to(&format!("remember: {fact}")).await;
    }
    tell_secrets(&stage).await;
    let stored = count(&stage.team, "SELECT COUNT(*) FROM memories WHERE place IS NOT NULL AND kind = 'fact'").await;
    assert_eq!(usize::try_from(stored).unwrap(), SECRETS * 2, "those that were taught are remembered");
    for number in (0..SECRETS * 4).step_by(7) {
        for question in questions(number) {
            stage.answer_to(&question).await;
        }
    }
    for (_, question, answer) in PUBLIC {
        let told = stage.answer_to(question).await;
        assert!(told.contains("taught me") && told.contains(answer), "{question}: {told}");
    }
    for number in (0..SECRETS * 4).step_by(9) {
        let words = format!("code name of the merger with company {number}");
        expect_no_secret(&stage.command("search", &[("words", &words)]).await, "the search");
    }
    stage.team.settle().await;
    for shown in stage.team.answers(HERE).await {
        expect_no_secret(&shown.text, "an answer");
    }
}

async fn no_secret_reaches_a_model(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    // A persona that notes whatever it is told, and searches before it answers.
    stage.team.model.on(|asked| {
        let prompt = asked.prompt();
        let noted = prompt.rsplit("the merger with company").next().filter(|_| prompt.contains("note that")).unwrap_or_default();
        let about = noted.split(['.', '\n']).next().unwrap_or_default().to_owned();
        match asked.tool_results() {
            0 if !about.is_empty() && asked.tools.iter().any(|tool| tool == "memory_save") => {
                Script::call("memory_save", json!({ "text": format!("the merger with company{about}") }))
            }
            0 if asked.tools.iter().any(|tool| tool == "memory_search") => {
                Script::call("memory_search", json!({ "query": "code name of the merger with the company" }))
            }
            _ => Script::say("I see."),
        }
    });
    for (fact, ..) in PUBLIC {
        stage.answer_to(&format!("remember: {fact}")).await;
    }
    tell_secrets(&stage).await;
    let by_tool =
        count(&stage.team, "SELECT COUNT(*) FROM memories WHERE place IS NOT NULL AND kind <> 'conversation' AND text LIKE '%zq%'").await;
    assert!(usize::try_from(by_tool).unwrap() >= SECRETS * 2, "{by_tool}");
    let before = stage.team.model.requests().len();
    for number in (0..SECRETS * 4).step_by(11) {
        for question in questions(number) {
            stage.answer_to(&question).await;
        }
    }
    stage.team.settle().await;
    let requests = stage.team.model.requests();
    assert!(requests.len() > before + 20);
    for asked in &requests[before..] {
        expect_no_secret(&asked.body.to_string(), "a prompt");
        assert!(asked.prompt().contains("what people taught the team"), "taught facts are in every prompt: {}", asked.prompt());
    }
}

async fn a_private_place_hears_its_own(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    stage.private_answer_to("remember: the ring costs ninety").await;
    stage.answer_in(BOARD, "remember: the board meets in Bern").await;
    assert!(stage.private_answer_to("what does the ring cost?").await.contains("ninety"));
    assert!(!stage.private_answer_to("where does the board meet?").await.contains("Bern"));
    assert!(stage.answer_in(BOARD, "kelly, where does the board meet?").await.text.contains("Bern"));
    assert!(!stage.answer_in(BOARD, "kelly, what does the ring cost?").await.text.contains("ninety"));
    assert!(stage.command_in(BOARD, "search", &[("words", "the board meets")]).await.contains("Bern"));
    assert!(!stage.command("search", &[("words", "the board meets")]).await.contains("Bern"));
    // What is public is told in private too.
    stage.answer_to("remember: we deploy on Thursdays").await;
    assert!(stage.answer_in(BOARD, "kelly, when do we deploy?").await.text.contains("Thursdays"));
    assert!(stage.private_answer_to("when do we deploy?").await.contains("Thursdays"));
    eventually("both are private", || async {
        count(&stage.team, "SELECT COUNT(*) FROM channels WHERE private AND name = 'board'").await == 1
    })
    .await;
}
