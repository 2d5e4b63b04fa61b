//! People steer: a pause over a restart, remarks, more rounds, a stop.

use serde_json::json;
use teamroom::features::meeting::model::MeetingState;
use tokio::sync::watch;

use super::stage::{
    HERE, Play, QUESTION, comes_to, command, comment, create, document, file, hears, is_turn, last, lines, open, speaker_of, thread, turn,
};
use crate::backlog::stage::Setting;
use crate::mission::stage::press_on;
use crate::support::command::give_in;
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};

on_both_stores!(it_is_paused_over_a_restart_and_goes_on);
on_one_store!(
    a_remark_in_the_thread_is_read_by_all_who_speak_after_it,
    what_is_said_to_one_in_the_thread_is_read_by_all_who_speak_after_it,
    a_command_in_a_thread_is_about_its_meeting,
    it_is_stopped_and_written_down,
    more_rounds_are_allowed,
    it_is_cancelled_without_a_document,
);

/// Vince is held in the second round.
fn held() -> (watch::Sender<bool>, Play) {
    let (may, held) = watch::channel(false);
    (may, Play { held: Some(("Vince", 2, held)), ..Play::with_lines(lines) })
}

fn rounds_of(stage: &crate::backlog::stage::Stage) -> Vec<(String, u32)> {
    stage.team.model.requests().iter().filter(|asked| is_turn(asked)).map(speaker_of).collect()
}

async fn a_remark_in_the_thread_is_read_by_all_who_speak_after_it(backing: Backing) {
    let (may, play) = held();
    let stage = open(Setting::on(backing), play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async { rounds_of(&stage).contains(&("Vince".to_owned(), 2)) }).await;
    let thread_id = hears(&stage.team, &stage.store, &meeting.id, "**The question**").await.raw["channel_id"].as_str().unwrap().to_owned();
    let said = json!({"content": "The provider is fixed: it is the one in Zurich."});
    stage.team.call(reqwest::Method::POST, &format!("/channels/{thread_id}/messages"), Some(said)).await;
    hears(&stage.team, &stage.store, &meeting.id, "All who speak next read that.").await;
    let told = command(&stage, "say", &[("text", json!("The budget is 200 francs."))]).await;
    assert!(told.contains("All read it before their next turn: The budget is 200 francs."), "{told}");
    may.send(true).unwrap();
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    for asked in stage.team.model.requests().iter().filter(|asked| is_turn(asked)) {
        let (who, round) = speaker_of(asked);
        let reads =
            asked.prompt().contains("[p1]") && asked.prompt().contains("the one in Zurich") && asked.prompt().contains("200 francs");
        assert_eq!(reads, round > 2 || (round == 2 && who != "Vince"), "{who} in {round}");
    }
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("`p1`") && text.contains("`p2`") && !text.contains("`p3`"), "{text}");
    // Nobody else has answered the remark.
    assert!(!thread(&stage.team, &stage.store, &meeting.id).await.iter().any(|shown| shown.text == "It goes well."));
}

async fn what_is_said_to_one_in_the_thread_is_read_by_all_who_speak_after_it(backing: Backing) {
    let (may, play) = held();
    let stage = open(Setting::on(backing), play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async { rounds_of(&stage).contains(&("Vince".to_owned(), 2)) }).await;
    let said = thread(&stage.team, &stage.store, &meeting.id).await;
    let risk = said.iter().find(|shown| shown.author == "Solus").expect("the turn of Solus");
    let say = async |mut said: serde_json::Value, reply: bool| {
        if reply {
            said["message_reference"] = json!({"message_id": risk.raw["id"], "channel_id": risk.raw["channel_id"]});
        }
        let path = format!("/channels/{}/messages", risk.raw["channel_id"].as_str().unwrap());
        stage.team.call(reqwest::Method::POST, &path, Some(said)).await;
    };
    say(json!({"content": "Vince, the provider takes 40 francs, not 400."}), false).await;
    say(json!({"content": "It was tuned in May by Dora."}), true).await;
    for _ in 0..2 {
        say(json!({"content": "Vince, yes."}), false).await;
    }
    eventually("all are answered as everywhere", || async {
        thread(&stage.team, &stage.store, &meeting.id).await.iter().filter(|shown| shown.text == "It goes well.").count() >= 3
    })
    .await;
    may.send(true).unwrap();
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    // Each message is one remark, also if it says the same as another one.
    for asked in stage.team.model.requests().iter().filter(|asked| is_turn(asked)) {
        let ((who, round), prompt) = (speaker_of(asked), asked.prompt());
        let reads =
            prompt.contains("40 francs, not 400") && prompt.contains("tuned in May by Dora") && prompt.contains("argue from theirs");
        assert_eq!(reads, round > 2 || (round == 2 && who != "Vince"), "{who} in {round}: {prompt}");
    }
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("`p4`") && !text.contains("`p5`"), "{text}");
}

async fn a_command_in_a_thread_is_about_its_meeting(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    create(&stage).await;
    let first = comes_to(&stage.store, MeetingState::Done).await;
    let thread_id = document(&stage.team, &stage.store, &first.id).await.raw["channel_id"].as_str().unwrap().to_owned();
    let again = "Should the queue leave PostgreSQL again?";
    command(&stage, "create", &[("topic", json!(again)), ("team", json!("vince, echo"))]).await;
    eventually("the second meeting is over", || async {
        last(&stage.store).await.is_some_and(|meeting| meeting.id != first.id && meeting.state == MeetingState::Done)
    })
    .await;
    for name in ["export", "status", "stop"] {
        give_in(&stage.team, &thread_id, "board", json!([{"type": 1, "name": name, "options": []}])).await;
    }
    let answers = async || {
        let said = thread(&stage.team, &stage.store, &first.id).await.into_iter();
        said.filter(|shown| shown.raw["interaction_metadata"]["type"] == 2 && !shown.text.is_empty()).collect::<Vec<_>>()
    };
    eventually("the commands are answered", || async { answers().await.len() == 3 }).await;
    let answers = answers().await;
    let exported = answers.iter().find(|shown| shown.raw["attachments"][0].is_object()).expect("a file");
    assert!(file(exported).await.contains(&format!("Question: {QUESTION}")), "{exported:?}");
    assert!(answers.iter().all(|shown| !shown.text.contains(again)), "{answers:#?}");
    assert!(answers.iter().any(|shown| shown.text.contains("is over")), "{answers:#?}");
}

async fn it_is_paused_over_a_restart_and_goes_on(backing: Backing) {
    let (may, play) = held();
    let mut stage = open(Setting::on(backing), play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async { rounds_of(&stage).contains(&("Vince".to_owned(), 2)) }).await;
    let progress = hears(&stage.team, &stage.store, &meeting.id, "Round 2 of 5 · move 2 (Vince, Echo), stay 1 (Solus)").await;
    press_on(&stage, &progress, "Pause").await;
    eventually("it is paused", || async { last(&stage.store).await.is_some_and(|meeting| meeting.paused.is_some()) }).await;
    assert!(command(&stage, "pause", &[]).await.contains("paused already"));
    may.send(true).unwrap();
    // The turn that was in progress is kept.
    hears(&stage.team, &stage.store, &meeting.id, "Our provider tunes it").await;
    stage.team.stop_app().await;
    stage.team.start_app().await;
    assert!(command(&stage, "status", &[]).await.contains(": paused. Round 2 of 5, one after the other."));
    assert!(!rounds_of(&stage).contains(&("Echo".to_owned(), 2)));
    command(&stage, "resume", &[]).await;
    comes_to(&stage.store, MeetingState::Done).await;
    // Nothing was asked twice.
    let mut turns = rounds_of(&stage);
    let all = turns.len();
    turns.sort();
    turns.dedup();
    assert_eq!(turns.len(), all, "{turns:?}");
}

async fn it_is_stopped_and_written_down(backing: Backing) {
    let (_may, play) = held();
    let stage = open(Setting::on(backing), play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async { rounds_of(&stage).contains(&("Vince".to_owned(), 2)) }).await;
    let told = command(&stage, "stop", &[]).await;
    assert!(told.contains("stopped **Should we move the queue to PostgreSQL?**"), "{told}");
    comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("Over after 2 rounds: ") && text.contains(" stopped it."), "{text}");
    // The side that lost is not forgotten, although the model did not name it.
    assert!(text.contains("## Another view\n\nSolus (stay): My answer is stay."), "{text}");
    assert!(command(&stage, "stop", &[]).await.contains("is over"));
}

async fn more_rounds_are_allowed(backing: Backing) {
    let (may, held) = watch::channel(false);
    let facts = [
        "copper pipes leak",
        "violet lamps flicker",
        "granite stairs crumble",
        "ladders rust outside",
        "curtains fade early",
        "hinges squeak loudly",
    ];
    let lines = move |who: &str, round: u32| {
        let text = format!(
            "{} wherever {who} measured {} of them.",
            facts[(round as usize - 1) % facts.len()],
            10 * round + u32::try_from(who.len()).unwrap()
        );
        turn(who, &[comment("detail", &text, None)])
    };
    let stage = open(Setting::on(backing), Play { held: Some(("Vince", 2, held)), ..Play::with_lines(lines) }).await;
    command(&stage, "create", &[("topic", json!("Which house?")), ("team", json!("vince, echo")), ("rounds", json!(2))]).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async { rounds_of(&stage).contains(&("Vince".to_owned(), 2)) }).await;
    let progress = hears(&stage.team, &stage.store, &meeting.id, "Round 2 of 2 ·").await;
    press_on(&stage, &progress, "2 more rounds").await;
    let told = async || {
        stage
            .team
            .answers(HERE)
            .await
            .iter()
            .chain(&thread(&stage.team, &stage.store, &meeting.id).await)
            .any(|shown| shown.text.contains("allowed more rounds: 4 at most"))
    };
    eventually("it is told", || async { told().await }).await;
    may.send(true).unwrap();
    comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("Over after 4 rounds: that was the limit, and not everything was settled."), "{text}");
}

async fn it_is_cancelled_without_a_document(backing: Backing) {
    let (_may, play) = held();
    let stage = open(Setting::on(backing).configure(|config| config.chat.operators = vec!["*".into()]), play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    hears(&stage.team, &stage.store, &meeting.id, "**The question**").await;
    command(&stage, "cancel", &[]).await;
    comes_to(&stage.store, MeetingState::Cancelled).await;
    hears(&stage.team, &stage.store, &meeting.id, "cancelled this board meeting. It leaves no document.").await;
    assert!(command(&stage, "export", &[]).await.contains("has left no document: it is cancelled"));
}
