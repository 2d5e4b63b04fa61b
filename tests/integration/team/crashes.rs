//! `kill -9` at each step of a message: exactly one answer is posted, and a stored answer is not paid twice.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use sandbox::{RestFault, Switch};
use serde_json::json;

use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};
use crate::support::{command, database, long};

on_both_stores!(
    killed_before_it_heard_a_message,
    killed_after_the_claim,
    killed_while_the_model_thinks,
    killed_while_an_ask_is_out,
    killed_while_a_command_asks,
    killed_after_an_ask_expired,
    killed_while_a_persona_is_paused,
    killed_after_a_stop,
    killed_with_a_stored_answer,
    killed_after_the_platform_took_the_answer,
    killed_after_everything_was_marked,
    killed_at_random_moments,
    a_turn_that_keeps_killing_the_process_is_given_up,
    others_do_not_wait_for_a_turn_that_rests,
    a_polite_end_lets_the_running_turn_finish,
);

pub(super) async fn quiet(backing: Backing) -> TestTeam {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    set(&team, "");
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    team
}

/// Writes the settings of the processes. On PostgreSQL a dead one is noticed sooner than usual.
pub(super) fn set(team: &TestTeam, settings: &str) {
    let text = format!("[jobs]\nheartbeat = \"300ms\"\nlease = \"1s\"\n{settings}");
    std::fs::write(team.dir.path().join("teamroom.toml"), text).expect("it can be written");
}

/// What the team has said, oldest first.
async fn said(team: &TestTeam) -> Vec<String> {
    team.answers("general").await.into_iter().map(|answer| answer.text).collect()
}

/// Waits for one answer, and checks that it stays the only one.
pub(super) async fn expect_one_answer(team: &TestTeam, text: &str) {
    expect_said(team, &[text]).await;
}

/// Waits for these messages, and checks that there are no more.
pub(super) async fn expect_said(team: &TestTeam, texts: &[&str]) {
    eventually("it was answered", || async { team.answers("general").await.len() >= texts.len() }).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(said(team).await, texts);
}

/// Makes every post by Vince fail in this way.
fn break_posts(team: &TestTeam, with: RestFault) {
    let path = format!("/channels/{}/messages", team.channel("general"));
    let switch = Switch::Rest { bot: Some("vince".into()), method: Some("POST".into()), path, times: u32::MAX, with };
    team.sandbox().misbehaviour().set(switch).expect("a switch");
}

async fn killed_before_it_heard_a_message(backing: Backing) {
    let team = quiet(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    process.freeze();
    team.say("general", "vince, report one").await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to one").await;
}

async fn killed_after_the_claim(backing: Backing) {
    let team = quiet(backing).await;
    // A long wait for further messages keeps the message in the state `claimed`.
    let process = TeamProcess::start(&team, &[("TEAMROOM_CHAT_COALESCE_MS", "10000")]).await;
    team.say("general", "vince, report two").await;
    let is_claimed = || async { database::count(&team, "SELECT COUNT(*) FROM inbox WHERE decided_at IS NULL").await == 1 };
    eventually("it is claimed", is_claimed).await;
    process.kill();
    assert!(team.model.count() == 0);
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to two").await;
}

async fn killed_while_the_model_thinks(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "vince, report three").await;
    eventually("the model was asked", || async { team.model.count() == 1 }).await;
    process.kill();
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to three").await;
    assert_eq!(team.model.count(), 2, "the unfinished call is made again, once");
}

async fn killed_while_an_ask_is_out(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "ask vince what he thinks about the harbour").await;
    eventually("vince was asked", || async { team.model.count() == 1 }).await;
    process.kill();
    team.model.on(|_| Script::say("it silts up"));
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "**Vince** answers:\nit silts up").await;
    assert_eq!(team.model.count(), 2, "the unfinished call is made again, once");
}

async fn killed_while_a_command_asks(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    let question =
        json!([{"type": 3, "name": "persona", "value": "vince"}, {"type": 3, "name": "question", "value": "what of the harbour?"}]);
    command::give(&team, "general", "ask", question).await;
    eventually("vince was asked", || async { team.model.count() == 1 }).await;
    process.kill();
    let thinking = said(&team).await;
    assert_eq!(thinking, [""], "the command was taken before it was carried out");
    team.model.on(|_| Script::say("it silts up"));
    let _process = TeamProcess::start(&team, &[]).await;
    // Only the process that received a command can edit its answer.
    expect_said(&team, &["", "Late, but here it is. **Vince** answers:\nit silts up"]).await;
    assert_eq!(team.model.count(), 2, "the unfinished call is made again, once");
}

async fn killed_after_an_ask_expired(backing: Backing) {
    let team = quiet(backing).await;
    set(&team, "[chat]\nask_timeout = \"1s\"\n");
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "ask vince what he thinks about the harbour").await;
    let expired = "Vince has not answered in 1 s. If an answer still comes, I pass it on.";
    eventually("it expired", || async { said(&team).await == [expired] }).await;
    eventually("vince was asked", || async { team.model.count() == 1 }).await;
    process.kill();
    team.model.on(|_| Script::say("it silts up"));
    let _process = TeamProcess::start(&team, &[]).await;
    expect_said(&team, &[expired, "Late, but here it is. **Vince** answers:\nit silts up"]).await;
    assert_eq!(team.model.count(), 2, "the unfinished call is made again, once");
}

async fn killed_while_a_persona_is_paused(backing: Backing) {
    let team = quiet(backing).await;
    set(&team, "[chat]\noperators = [\"*\"]\n");
    let process = TeamProcess::start(&team, &[]).await;
    let of_vince = |action: &str| command::sub_command(action, &[("persona", "vince")]);
    command::invoke(&team, "ops", "team", of_vince("pause")).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    team.say("general", "vince, report paused").await;
    eventually("it is told", || async { said(&team).await.iter().any(|text| text.contains("paused")) }).await;
    assert_eq!(team.model.count(), 0, "he was asked all the same");
    command::invoke(&team, "ops", "team", of_vince("resume")).await;
    team.say("general", "vince, report back").await;
    eventually("he answers", || async { said(&team).await.iter().any(|text| text == "answer to back") }).await;
    assert_eq!(team.model.count(), 1);
}

async fn killed_after_a_stop(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "vince, report stopped").await;
    eventually("the model was asked", || async { team.model.count() == 1 }).await;
    team.say("general", "stop").await;
    eventually("it was heard", || async { !team.answers("general").await.is_empty() }).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "Stopped. We are quiet here until you speak to one of us again.").await;
    assert_eq!(team.model.count(), 1, "the stopped turn began again");
}

async fn killed_with_a_stored_answer(backing: Backing) {
    let team = quiet(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    break_posts(&team, RestFault::Status(503));
    team.say("general", "vince, report four").await;
    let is_stored = || async { database::count(&team, "SELECT COUNT(*) FROM outbox WHERE message LIKE '%answer to four%'").await == 1 };
    eventually("the answer is stored", is_stored).await;
    process.kill();
    team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to four").await;
    assert_eq!(team.model.count(), 1, "a stored answer was paid for again");
}

async fn killed_after_the_platform_took_the_answer(backing: Backing) {
    let team = quiet(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    break_posts(&team, RestFault::ResetAfter);
    team.say("general", "vince, report five").await;
    eventually("it was answered", || async { !team.answers("general").await.is_empty() }).await;
    process.kill();
    team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to five").await;
    assert_eq!(team.model.count(), 1);
}

async fn killed_after_everything_was_marked(backing: Backing) {
    let team = quiet(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "vince, report six").await;
    expect_one_answer(&team, "answer to six").await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to six").await;
    assert_eq!(team.model.count(), 1);
}

async fn killed_at_random_moments(backing: Backing) {
    let team = quiet(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let rounds = long::amount("TEAMROOM_TEST_CRASHES", 8, 200);
    let mut random = long::random();
    for round in 0..rounds {
        let process = TeamProcess::start(&team, &[]).await;
        team.say("general", &format!("vince, report round{round}")).await;
        tokio::time::sleep(Duration::from_micros(random.u64(0..20_000))).await;
        process.kill();
    }
    let _process = TeamProcess::start(&team, &[]).await;
    // A turn whose process died twice while it ran alone rests for a minute.
    for _ in 0..1200 {
        if team.answers("general").await.len() >= rounds {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut texts: Vec<_> = team.answers("general").await.into_iter().map(|answer| answer.text).collect();
    texts.sort();
    let mut expected: Vec<_> = (0..rounds).map(|round| format!("answer to round{round}")).collect();
    expected.sort();
    assert_eq!(texts, expected);
}

async fn a_turn_that_keeps_killing_the_process_is_given_up(backing: Backing) {
    let team = quiet(backing).await;
    set(&team, "crash_pause = \"0s\"\n");
    team.model.on(|_| Script::Hang);
    for attempt in 1..=3 {
        let process = TeamProcess::start(&team, &[]).await;
        if attempt == 1 {
            team.say("general", "vince, report poison").await;
        }
        eventually("the model was asked", || async { team.model.count() == attempt }).await;
        process.kill_with_one_job(&team).await;
    }
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it was given up", || async { !team.answers("general").await.is_empty() }).await;
    expect_one_answer(&team, "I had to give up on this: it stopped me three times. Please put it another way.").await;
    assert_eq!(team.model.count(), 3);
    let told = "SELECT COUNT(*) FROM turns WHERE state = 'failed' AND error = 'its process died over it 3 times in a row'";
    assert_eq!(database::count(&team, told).await, 1);
}

/// The third try of a turn is ten minutes away here, and the rest of the channel is answered at once.
async fn others_do_not_wait_for_a_turn_that_rests(backing: Backing) {
    let team = quiet(backing).await;
    set(&team, "crash_pause = \"10m\"\n");
    team.model
        .on(|asked| if asked.last_word() == "poison" { Script::Hang } else { Script::say(format!("answer to {}", asked.last_word())) });
    for attempt in 1..=2 {
        let process = TeamProcess::start(&team, &[]).await;
        if attempt == 1 {
            team.say("general", "vince, report poison").await;
        }
        eventually("the model was asked", || async { team.model.count() == attempt }).await;
        process.kill_with_one_job(&team).await;
    }
    team.say("general", "vince, report before").await;
    let _process = TeamProcess::start(&team, &[]).await;
    expect_said(&team, &["answer to before"]).await;
    team.say("general", "vince, report after").await;
    expect_said(&team, &["answer to before", "answer to after"]).await;
    let rests = "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.turn' AND state = 'ready' AND crashes = 2";
    assert_eq!(database::count(&team, rests).await, 1, "the turn still has its third try");
}

async fn a_polite_end_lets_the_running_turn_finish(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|asked| Script::SayAfter(Duration::from_millis(800), format!("answer to {}", asked.last_word())));
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "vince, report seven").await;
    eventually("the model was asked", || async { team.model.count() == 1 }).await;
    assert!(process.terminate(), "it did not end well");
    expect_one_answer(&team, "answer to seven").await;
}
