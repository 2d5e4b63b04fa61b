//! An edit while the answer is being made: that answer ends, and the new text gets one (CHAT-6).

use kernel::llm::settings::ProviderKind;
use serde_json::json;
use tokio::sync::watch;

use super::acts::{is_talk, no_claims};
use super::changes::edit;
use super::crashes::{expect_one_answer, quiet};
use crate::support::database::{allow, count, forbid};
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(an_edit_restarts_the_answer_that_is_being_made, killed_after_an_edit, killed_while_an_edit_is_stored);
on_one_store!(
    an_edit_that_names_another_persona_moves_the_answer_there,
    an_edit_between_two_answers_is_read_by_the_second,
    an_edit_during_the_decision_is_answered,
    what_was_done_for_the_earlier_text_is_known,
    an_edit_of_an_answered_message_is_context,
);

/// Hangs until the prompt has the word.
fn until(asked: &Asked, word: &str) -> Script {
    if asked.prompt().contains(word) { Script::say(format!("about {word}")) } else { Script::Hang }
}

async fn turns(team: &TestTeam, state: &str) -> i64 {
    count(team, &format!("SELECT COUNT(*) FROM turns WHERE state = '{state}'")).await
}

async fn an_edit_restarts_the_answer_that_is_being_made(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| until(asked, "June"));
    let message = team.say("general", "vince, is the harbour open in May?").await;
    team.model.wait_for(1).await;
    edit(&team, &message, "vince, is the harbour open in April?").await;
    team.model.wait_for(2).await;
    edit(&team, &message, "vince, is the harbour open in June?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!((answer.author.as_str(), answer.text.as_str()), ("Vince", "about June"));
    team.settle().await;
    assert_eq!((team.answers("general").await.len(), team.model.count()), (1, 3));
    assert_eq!((turns(&team, "cancelled").await, turns(&team, "answered").await), (2, 1));
}

async fn killed_after_an_edit(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    let message = team.say("general", "vince, report one").await;
    team.model.wait_for(1).await;
    edit(&team, &message, "vince, report two").await;
    team.model.wait_for(2).await;
    process.kill();
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to two").await;
}

/// The end of the old answer and the new text are one transaction.
async fn killed_while_an_edit_is_stored(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    let message = team.say("general", "vince, report one").await;
    team.model.wait_for(1).await;
    forbid(&team, "wall", "UPDATE OF decided_at ON inbox", "NEW.decided_at IS NULL AND OLD.decided_at IS NOT NULL").await;
    edit(&team, &message, "vince, report two").await;
    // Gives the process time to reach the wall.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(turns(&team, "cancelled").await, 0, "nothing of it is stored");
    process.kill();
    allow(&team, "wall").await;
    // After the start the message is compared with the platform.
    team.model.on(|asked| until(asked, "two"));
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "about two").await;
}

async fn an_edit_that_names_another_persona_moves_the_answer_there(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| until(asked, "vince,"));
    let message = team.say("general", "is the harbour open in May?").await;
    team.model.wait_for(1).await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM turns WHERE persona = 'kelly'").await, 1);
    edit(&team, &message, "vince, is the harbour open in May?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Vince");
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), 1);
}

async fn an_edit_between_two_answers_is_read_by_the_second(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| if asked.system.contains("You are Vince") { Script::say("It is open.") } else { until(asked, "June") });
    let message = team.say("general", "vince and solus: is the harbour open in May?").await;
    // Solus is being asked, so the team is not idle.
    eventually("Vince has answered", || async { !team.answers("general").await.is_empty() }).await;
    team.model.wait_for(2).await;
    edit(&team, &message, "vince and solus: is the harbour open in June?").await;
    let authors: Vec<String> = team.wait_for_answers("general", 2).await.into_iter().map(|answer| answer.author).collect();
    assert_eq!(authors, ["Vince", "Solus"]);
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), 2);
}

async fn an_edit_during_the_decision_is_answered(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    let (go_on, may) = watch::channel(false);
    let is_routing = |asked: &Asked| asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("wants_an_assistant"));
    team.model.on(move |asked| match is_routing(asked) {
        true if asked.prompt().contains("vince") => Script::status(400),
        true => Script::Json(json!({"wants_an_assistant": true, "why": "It asks for a view."})).when(&may),
        false => until(asked, "vince,"),
    });
    let message = team.say("general", "it would be nice to hear your view on this").await;
    team.model.wait_for(1).await;
    edit(&team, &message, "vince, it would be nice to hear your view on this").await;
    eventually("the edit is stored", || async { count(&team, "SELECT COUNT(*) FROM inbox WHERE edited_at IS NOT NULL").await == 1 }).await;
    go_on.send(true).expect("the model waits");
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Vince");
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), 1);
}

async fn what_was_done_for_the_earlier_text_is_known(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    let when = "on the last Friday of every month at 9";
    team.model.on(move |asked| match asked.tool_results() {
        _ if !is_talk(asked) => no_claims(asked),
        _ if asked.prompt().contains("the rent and the phone") => Script::say("Done."),
        0 => Script::call("reminder_set", json!({"when": when, "what": "pay the rent"})),
        _ => Script::Hang,
    });
    let late = "on whatever Friday is the last one in a month, early";
    let message = team.say("general", &format!("kelly, remind me to pay the rent {late}")).await;
    eventually("it is set", || async { team.model.requests().iter().filter(|asked| is_talk(asked)).count() == 2 }).await;
    edit(&team, &message, &format!("kelly, remind me to pay the rent and the phone {late}")).await;
    team.wait_for_answers("general", 1).await;
    let prompts: Vec<String> = team.model.requests().iter().filter(|asked| is_talk(asked)).map(Asked::prompt).collect();
    let last = prompts.last().expect("the model was asked");
    assert!(last.contains("For its earlier text Kelly has done this already: I'll remind you on the last Friday"), "{last}");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM reminders").await, 1);
}

async fn an_edit_of_an_answered_message_is_context(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("understood"));
    let message = team.say("general", "is the harbour open?").await;
    team.wait_for_answers("general", 1).await;
    edit(&team, &message, "vince, is the harbour open in May?").await;
    team.say("general", "kelly, hello").await;
    let answers = team.wait_for_answers("general", 2).await;
    assert_eq!(answers.iter().map(|answer| answer.author.as_str()).collect::<Vec<_>>(), ["Kelly", "Kelly"]);
    let prompt = team.model.requests().pop().expect("the model was asked").prompt();
    assert!(prompt.contains("vince, is the harbour open in May?"), "{prompt}");
}
