//! A person as a participant.

use std::time::Duration;

use serde_json::json;
use teamroom::features::meeting::model::{MeetingState, SeatState};

use super::cast::{Cast, Part, find_prompt};
use super::checkins::{scheduled, standup_time};
use super::stage::{CHANNEL, PERSON, START, Setting, Stage};
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    the_next_message_of_a_person_who_was_asked_is_the_report,
    what_a_person_adds_before_the_next_turn_is_part_of_the_report,
    a_report_after_the_standup_is_kept_for_the_next_one,
    a_person_who_does_not_answer_is_passed_over,
    a_person_can_be_skipped,
);

/// The person's seat, after the six personas.
const LAST: u32 = 6;

async fn asked(backing: Backing) -> Stage {
    let stage = Setting::on(backing).with_model().with_person().open().await;
    Cast::default().perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.speaking(LAST).await;
    // The time limit for the report starts here.
    stage.hears("your report, please").await;
    stage
}

async fn the_next_message_of_a_person_who_was_asked_is_the_report(backing: Backing) {
    let stage = asked(backing).await;
    let invitation = stage.hears("your report, please").await;
    let person = stage.team.sandbox().people()[0].id.clone();
    assert_eq!((invitation.author.as_str(), &invitation.raw["mentions"][0]["id"]), ("Kelly", &json!(person)), "{invitation:?}");
    assert!(stage.said().await[0].text.contains(&format!("Solus → {PERSON}")));
    stage.team.say(CHANNEL, "I fixed the login; the rest waits for Vince.").await;
    stage.reported(LAST).await;
    let held = stage.over().await;
    assert_eq!(held.seats[6].state, SeatState::Spoke);
    let said = held.report.contributions[6].clone();
    assert_eq!((said.name.as_str(), said.text.as_deref()), (PERSON, Some("I fixed the login; the rest waits for Vince.")));
    let conclusion = find_prompt(&stage.team.model, Part::Conclusion, "Kelly").expect("a conclusion");
    assert!(conclusion.contains(&format!("[person {PERSON}] I fixed the login")), "{conclusion}");
    assert!(find_prompt(&stage.team.model, Part::Talk, "Kelly").is_none(), "nobody answers it as a question");
}

async fn what_a_person_adds_before_the_next_turn_is_part_of_the_report(backing: Backing) {
    let mut stage = asked(backing).await;
    stage.stop_time();
    let parts = ["I fixed the login.", "Today I write the tests.", "The rest waits for Vince."];
    for said in 1..=parts.len() {
        stage.team.say(CHANNEL, parts[said - 1]).await;
        let whole = parts[..said].join("\n");
        eventually("it is part of the report", || async {
            let seats = stage.seats(&stage.newest().await.expect("a standup")).await;
            seats[LAST as usize].contribution.as_ref().is_some_and(|contribution| contribution.text == whole)
        })
        .await;
        // Each message starts the time again.
        stage.jump(Duration::from_secs(15));
    }
    assert_eq!(stage.called().await.state, MeetingState::Running, "more may come");
    stage.team.say(CHANNEL, "kelly, who is next?").await;
    stage.jump(Duration::from_secs(5));
    stage.resume_time();
    let held = stage.over().await;
    assert_eq!(held.report.contributions[6].text, Some(parts.join("\n")), "talk with a persona is no part of it");
    let conclusion = find_prompt(&stage.team.model, Part::Conclusion, "Kelly").expect("a conclusion");
    assert!(conclusion.contains("Today I write the tests. The rest waits for Vince."), "{conclusion}");
}

async fn a_report_after_the_standup_is_kept_for_the_next_one(backing: Backing) {
    let mut stage = scheduled(Setting::on(backing).with_model().with_person()).await;
    stage.resume_time();
    Cast::default().perform(&stage.team.model);
    let pass_over = async || {
        stage.speaking(LAST).await;
        stage.jump(Duration::from_mins(10));
        eventually("nobody waits any longer", || async {
            stage.jump(Duration::from_secs(1));
            stage.newest().await.is_some_and(|newest| newest.state.is_over())
        })
        .await;
        stage.over().await
    };
    stage.team.say(CHANNEL, START).await;
    assert!(pass_over().await.report.people.is_empty());

    let kept = async || count(&stage.team, "SELECT COUNT(*) FROM checkin_replies").await;
    let told = async || stage.said().await.iter().filter(|shown| shown.text.contains("I keep this for the next one")).count();
    for (number, said) in [(1, "I fixed the login."), (2, "Today I write the tests.")] {
        stage.team.say(CHANNEL, said).await;
        eventually("it is kept", || async { kept().await == number }).await;
    }
    stage.team.settle().await;
    assert_eq!(told().await, 1, "told once");
    stage.team.say(CHANNEL, "Is it raining?").await;
    stage.team.settle().await;
    assert_eq!(kept().await, 2, "a question is no report");

    let first = stage.newest().await.expect("a standup").id;
    stage.jump((standup_time(&stage) - stage.now()).to_std().expect("it lies ahead"));
    eventually("the next standup begins", || async { stage.newest().await.is_some_and(|newest| newest.id != first) }).await;
    let held = pass_over().await;
    let people: Vec<_> = held.report.people.iter().map(|said| (said.name.as_str(), said.text.as_str())).collect();
    assert_eq!(people, [(PERSON, "I fixed the login.\nToday I write the tests.")]);
}

async fn a_person_who_does_not_answer_is_passed_over(backing: Backing) {
    let stage = asked(backing).await;
    stage.jump(Duration::from_mins(9));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(stage.seats(&stage.called().await).await[6].state, SeatState::Speaking);
    stage.jump(Duration::from_mins(1));
    let held = stage.over().await;
    assert_eq!(held.seats[6].reason.as_deref(), Some("no report came in time"));
    stage.hears(&format!("{PERSON} is skipped: no report came in time")).await;
}

async fn a_person_can_be_skipped(backing: Backing) {
    let stage = asked(backing).await;
    let answer = stage.subcommand("standup", "skip", json!([{"type": 3, "name": "persona", "value": "@ann"}])).await;
    assert!(answer.contains(&format!("skipped {PERSON}")), "{answer}");
    let held = stage.over().await;
    assert_eq!(held.seats[6].state, SeatState::Skipped);
}
