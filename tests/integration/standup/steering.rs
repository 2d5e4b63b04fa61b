//! Commands during a standup.

use std::time::Duration;

use serde_json::json;
use teamroom::features::meeting::model::MeetingState;
use teamroom::features::meeting::model::SeatState::{Quiet, Skipped, Speaking};
use teamroom::features::standup::STANDUP;
use tokio::sync::watch;

use super::cast::Cast;
use super::stage::{CHANNEL, START, Setting, Stage};
use crate::standup::change;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    wrapping_up_passes_over_who_has_not_spoken,
    one_standup_at_a_time_runs_in_a_channel_and_goes_on_without_who_is_skipped,
    a_standup_is_cancelled_without_a_report,
    a_question_is_answered_between_two_reports,
    after_a_stop_a_standup_rests_until_somebody_speaks_to_an_agent,
    a_stop_that_outlasts_a_standup_ends_it_without_a_word,
    a_halted_team_goes_on_after_resume,
    a_standup_ends_when_its_time_is_over,
);

/// Oracle's position in the order.
const ORACLE: u32 = 2;

/// A standup in which two have spoken and the third is slow.
async fn stuck(backing: Backing) -> Stage {
    let stage = Setting::on(backing).with_model().open().await;
    Cast::default().report("Oracle", Script::Hang).perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.speaking(ORACLE).await;
    stage.team.model.wait_for(3).await;
    stage
}

async fn wrapping_up_passes_over_who_has_not_spoken(backing: Backing) {
    let stage = stuck(backing).await;
    stage.team.say(CHANNEL, "wrap up").await;
    let held = stage.over().await;
    assert_eq!(held.states(), [Quiet, Quiet, Skipped, Skipped, Skipped, Skipped]);
    let card = stage.cards().await[0].raw["embeds"][0].to_string();
    for (slug, name) in [("oracle", "Oracle"), ("sentinel", "Sentinel"), ("vince", "Vince"), ("solus", "Solus")] {
        assert_eq!(held.reason(slug), "the meeting was wrapped up");
        assert!(card.contains(&format!("{name} was skipped: the meeting was wrapped up")), "{card}");
    }
    // Wraps up again, this time by command.
    stage.team.say(CHANNEL, START).await;
    stage.speaking(ORACLE).await;
    assert!(stage.subcommand("standup", "wrap", json!([])).await.contains("wrapped up the standup"));
    assert_eq!(stage.over().await.report.revision, 2);
}

async fn one_standup_at_a_time_runs_in_a_channel_and_goes_on_without_who_is_skipped(backing: Backing) {
    let stage = stuck(backing).await;
    stage.team.say(CHANNEL, "start the standup").await;
    assert_eq!(stage.hears("is still running").await.author, "Kelly");
    let refused = stage.subcommand("standup", "start", json!([])).await;
    assert!(refused.contains("is running here") && refused.contains("/standup status"), "{refused}");
    let status = stage.subcommand("standup", "status", json!([])).await;
    assert!(status.contains("Nothing to report: Echo, Eliza") && status.contains("Speaks: Oracle"), "{status}");
    assert!(status.contains("To come: Sentinel, Vince, Solus"), "{status}");
    assert_eq!(stage.store.list_meetings(&STANDUP, 10).await.expect("the store answers").len(), 1);
    let skip = async |who: &str| stage.subcommand("standup", "skip", json!([{"type": 3, "name": "persona", "value": who}])).await;
    assert!(skip("gandalf").await.contains("Nobody called \"gandalf\" takes part"));
    assert!(skip("echo").await.contains("Echo has spoken already"));
    assert!(skip("solus").await.contains("skipped Solus"));
    assert!(skip("oracle").await.contains("skipped Oracle"));
    let held = stage.over().await;
    assert_eq!(held.states(), [Quiet, Quiet, Skipped, Quiet, Quiet, Skipped]);
    assert!(held.reason("oracle").ends_with("skipped it"), "{}", held.reason("oracle"));
    let none = stage.subcommand("standup", "status", json!([])).await;
    assert!(none.contains("No standup is running here"), "{none}");
}

async fn a_standup_is_cancelled_without_a_report(backing: Backing) {
    let stage = stuck(backing).await;
    assert!(stage.subcommand("standup", "cancel", json!([])).await.contains("cancelled"));
    let meeting = stage.ended().await;
    assert_eq!(meeting.state, MeetingState::Cancelled);
    stage.hears("cancelled the standup. There is no report of it.").await;
    let asked = stage.team.model.count();
    stage.jump(Duration::from_mins(5));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((stage.team.model.count(), stage.cards().await.len()), (asked, 0), "nobody speaks any more");
    assert!(stage.subcommand("report", "today", json!([])).await.contains("There is no report for today yet"));
    // The channel is free for another standup.
    Cast::default().perform(&stage.team.model);
    assert_eq!(stage.hold().await.report.revision, 1);
}

async fn a_question_is_answered_between_two_reports(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let (go_on, may) = watch::channel(false);
    Cast::default()
        .report("Oracle", Script::say("Even odds.").when(&may))
        .report("Sentinel", Script::say("Two commits."))
        .talk(Script::SayAfter(Duration::from_millis(2500), "It is $5 a day.".into()))
        .perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.speaking(ORACLE).await;
    let asked = stage.team.say(CHANNEL, "vince, what is our budget?").await;
    let heard = format!("SELECT COUNT(*) FROM inbox WHERE id = 'discord:{asked}' AND complete");
    eventually("the question is heard", || async { count(&stage.team, &heard).await == 1 }).await;
    go_on.send(true).expect("the model waits");
    let held = stage.over().await;
    let said = stage.said().await;
    let at = |text: &str| said.iter().position(|shown| shown.text.contains(text)).unwrap_or_else(|| panic!("{text} in {said:#?}"));
    let answer = at("It is $5 a day.");
    assert_eq!(said[answer].author, "Kelly", "in a standup the coordinator answers");
    assert!(at("Even odds.") < answer && answer < at("Two commits."), "{said:#?}");
    assert!(!held.states().contains(&Skipped), "{:?}", held.seats);
}

async fn after_a_stop_a_standup_rests_until_somebody_speaks_to_an_agent(backing: Backing) {
    let stage = stuck(backing).await;
    stage.team.say(CHANNEL, "stop").await;
    assert_silent(&stage).await;
    Cast::default().perform(&stage.team.model);
    assert_silent(&stage).await;
    stage.team.say(CHANNEL, "kelly, go on please").await;
    let held = stage.over().await;
    assert_eq!(held.states(), [Quiet; 6]);
    assert_eq!(held.seat("oracle").attempts, 1, "the turn that was stopped does not count");
    stage.hears("Here I am.").await;
}

/// Checks that nothing is posted although a minute passes.
async fn assert_silent(stage: &Stage) {
    eventually("it is halted", || async { stage.team.app().is_halted_in(&stage.team.channel_id(CHANNEL)) }).await;
    // Waits for messages that were already on their way.
    tokio::time::sleep(Duration::from_millis(700)).await;
    let unsent = "SELECT COUNT(*) FROM outbox WHERE state = 'pending'";
    eventually("what was on its way is sent", || async { count(&stage.team, unsent).await == 0 }).await;
    let before = (stage.said().await.len(), stage.team.model.count());
    stage.jump(Duration::from_mins(2));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!((stage.said().await.len(), stage.team.model.count()), before, "{:#?}", stage.said().await);
    assert_eq!(stage.seats(&stage.called().await).await[2].state, Speaking, "it stands where it stood");
}

async fn a_stop_that_outlasts_a_standup_ends_it_without_a_word(backing: Backing) {
    let stage = stuck(backing).await;
    stage.team.say(CHANNEL, "stop").await;
    assert_silent(&stage).await;
    let said = stage.said().await.len();
    stage.jump(Duration::from_mins(28));
    let meeting = stage.ended().await;
    assert_eq!(meeting.state, MeetingState::Cancelled);
    assert!(meeting.reason.as_deref().is_some_and(|reason| reason.contains("had paused the team")), "{:?}", meeting.reason);
    assert_eq!(stage.said().await.len(), said);
}

async fn a_halted_team_goes_on_after_resume(backing: Backing) {
    let stage = stuck(backing).await;
    stage.command("halt", json!([])).await;
    assert_silent(&stage).await;
    Cast::default().perform(&stage.team.model);
    stage.command("resume", json!([])).await;
    assert_eq!(stage.over().await.states(), [Quiet; 6]);
}

async fn a_standup_ends_when_its_time_is_over(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| change(config, |standup| standup.turn_timeout = Duration::from_mins(10)))
        .open()
        .await;
    let slow = ["Echo", "Eliza", "Oracle"].into_iter().fold(Cast::default(), |cast, name| cast.report(name, Script::Hang));
    slow.perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    for position in 0..3 {
        stage.speaking(position).await;
        stage.team.model.wait_for(position as usize + 1).await;
        stage.jump(Duration::from_mins(10));
    }
    let held = stage.over().await;
    assert_eq!(held.states(), [Skipped; 6]);
    assert_eq!((held.reason("oracle"), held.reason("sentinel")), ("no answer within 600 s", "the meeting was over time"));
    assert_eq!(stage.cards().await.len(), 1, "there is a report all the same");
}
