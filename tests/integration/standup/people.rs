//! A person as a participant.

use std::time::Duration;

use serde_json::json;
use teamroom::features::meeting::model::SeatState;

use super::cast::{Cast, Part, find_prompt};
use super::stage::{CHANNEL, PERSON, START, Setting, Stage};
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    the_next_message_of_a_person_who_was_asked_is_the_report,
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
    let held = stage.over().await;
    assert_eq!(held.seats[6].state, SeatState::Spoke);
    let said = held.report.contributions[6].clone();
    assert_eq!((said.name.as_str(), said.text.as_deref()), (PERSON, Some("I fixed the login; the rest waits for Vince.")));
    let conclusion = find_prompt(&stage.team.model, Part::Conclusion, "Kelly").expect("a conclusion");
    assert!(conclusion.contains(&format!("[person {PERSON}] I fixed the login")), "{conclusion}");
    assert!(find_prompt(&stage.team.model, Part::Talk, "Kelly").is_none(), "nobody answers it as a question");
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
