//! What is said in a meeting, and what its document takes of it.

use serde_json::{Value, json};

use super::discussion::Given;
use super::document::{Written, check};
use super::{Discussion, figures};
use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use kernel::feeds::{FeedItem, FeedReport, Reading, Value as Figure};
use kernel::money::TokenUsage;
use kernel::testing::feeds::now;
use kernel::testing::persona::roster;

/// A turn as the meeting stores it.
fn seat((round, position): (u32, u32), who: &str, given: &Value) -> Seat {
    let given = serde_json::from_value::<Given>(given.clone()).unwrap().tidy().unwrap();
    let contribution = Contribution {
        text: String::new(),
        signals: Vec::new(),
        model: None,
        usage: TokenUsage::default(),
        partial: false,
        problems: Vec::new(),
        details: Some(serde_json::to_value(given).unwrap()),
    };
    let seat = Seat::waiting(&"m".into(), round, position, Participant::Persona(who.into()));
    Seat { state: SeatState::Spoke, contribution: Some(contribution), ..seat }
}

fn said(side: &str, comments: &Value) -> Value {
    json!({"side": side, "position": format!("I say {side}."), "comments": comments})
}

fn discuss(seats: &[Seat]) -> Discussion {
    Discussion::of("Should we answer every mail?", seats, &[])
}

const EXACT: &str = "Yes, answer and within one working day";

fn first_round() -> Vec<Seat> {
    vec![seat((0, 0), "vince", &said("Yes", &json!([]))), seat((0, 1), "echo", &said(EXACT, &json!([])))]
}

fn joining(letter: &str, side: &str) -> String {
    let given: Given = serde_json::from_value(json!({"side": side, "position": "As said.", "joins": letter})).unwrap();
    given.tidy().unwrap().joining(&discuss(&first_round()).sides()).side
}

#[test]
fn a_side_is_joined_by_its_letter_and_not_by_its_words() {
    assert_eq!(joining("A", "Answer within a day"), "Yes");
    assert_eq!(joining(" b ", "Yes"), EXACT);
    assert_eq!(joining("yes", "Absolutely"), "Yes");
    for unknown in ["", "C", "none", "AB"] {
        assert_eq!(joining(unknown, "No"), "No", "{unknown}");
    }
}

#[test]
fn who_has_only_worded_it_otherwise_has_not_changed_sides() {
    let joined = |reason: &str| json!({"side": "Yes", "joins": "a", "position": "As said.", "changed_because": reason});
    for (reason, moved) in [("", false), ("Vince is right about the mails", true)] {
        let second = [seat((1, 0), "vince", &said("Yes", &json!([]))), seat((1, 1), "echo", &joined(reason))];
        let discussion = discuss(&[first_round(), second.to_vec()].concat());
        assert_eq!(discussion.positions[3].has_moved, moved, "{reason}");
        assert!(discussion.is_united());
    }
}

#[test]
fn a_point_answers_several_comments_and_positions_however_they_are_given() {
    for answers in [json!(["1.1.1", "1.2"]), json!("1.1.1, 1.2"), json!(["[1.1.1]", "(1.2)", "9.9.9"])] {
        let first = [
            seat((0, 0), "vince", &said("Yes", &json!([{"kind": "question", "text": "Who reads the mails at weekends?"}]))),
            seat((0, 1), "echo", &said("No", &json!([]))),
        ];
        let second = seat((1, 0), "solus", &said("Yes", &json!([{"kind": "detail", "text": "Nobody does.", "answers": answers}])));
        let open = discuss(&first);
        assert_eq!(open.list_open().len(), 1);
        let discussion = discuss(&[first.to_vec(), vec![second]].concat());
        assert_eq!(discussion.comments[1].answers, ["1.1.1", "1.2"], "{answers}");
        assert!(discussion.list_open().is_empty());
        let echo = Participant::Persona("echo".into());
        assert!(discussion.answers_somebody(&discussion.comments[1], &echo));
    }
    let none = seat((0, 0), "vince", &said("Yes", &json!([{"kind": "detail", "text": "Nobody does.", "answers": null}])));
    assert!(discuss(&[none]).comments[0].answers.is_empty());
}

#[test]
fn what_changed_a_side_is_never_nothing_new() {
    let support = json!([{"kind": "support", "text": "I agree with that."}]);
    let changed = |side: &str| json!({"side": side, "position": "So be it.", "changed_because": "of what 1.1.1 says"});
    let discussion = |side: &str| {
        let first = [seat((0, 0), "vince", &said("Yes", &support)), seat((0, 1), "echo", &said("No", &json!([])))];
        discuss(&[first.to_vec(), vec![seat((1, 1), "echo", &changed(side))]].concat())
    };
    assert!(discussion("Yes").comments[0].is_new());
    assert!(!discussion("No").comments[0].is_new(), "nobody has changed sides");
}

#[test]
fn a_document_rests_on_positions_too_and_asks_no_risks() {
    let comments = json!([
        {"kind": "risk", "text": "Spam filters may swallow half of the mails on Mondays."},
        {"kind": "question", "text": "Who reads the mails at weekends?"},
    ]);
    let discussion = discuss(&[seat((0, 0), "vince", &said("Yes", &comments)), seat((0, 1), "echo", &said("No", &json!([])))]);
    assert_eq!((discussion.list_open().len(), discussion.list_risks().len()), (1, 1));
    let written: Written = serde_json::from_value(json!({
        "title": "Mail", "summary": "Yes.",
        "sections": [
            {"heading": "Against", "text": "Echo says no.", "rests_on": ["[1.2]"]},
            {"heading": "Invented", "text": "It is cheap.", "rests_on": ["3.1"]},
        ],
        "open_questions": [
            "Who reads them at weekends? [1.1.2]", "Do filters swallow mails? [1.1.1]", "May spam filters swallow half of the mails?",
            "What does the provider ask a month?",
        ],
    }))
    .unwrap();
    let text = check(written, &discussion).unwrap();
    assert_eq!((text.sections.len(), text.unfounded), (1, 1));
    assert_eq!(text.sections[0].rests_on, ["1.2"]);
    assert_eq!(text.open_questions, ["Who reads them at weekends?", "What does the provider ask a month?"]);
}

#[test]
fn the_numbers_of_the_question_are_those_that_speak_of_it() {
    let item = |text: &str, values: Vec<Figure>| FeedItem {
        at: None,
        what: "entry".into(),
        by: None,
        text: text.to_owned(),
        reference: "x".to_owned(),
        values,
    };
    let items = vec![item("visitors of the garden", vec![Figure::count("visitors", 9)])];
    let values = vec![Figure::new("latency", 412.0, "ms"), Figure::count("orders", 7)];
    let reading = Reading { source: "shop".to_owned(), as_of: now(), values, items, total: 2, note: None, story: Vec::new() };
    let report = FeedReport { feed: "shop".to_owned(), outcome: Ok(reading) };
    let chosen = |topic: &str| figures::choose(topic, std::slice::from_ref(&report), &roster());
    let latency = chosen("Is the latency of the checkout too high?");
    assert!(latency.len() == 1 && latency[0].contains("412 ms") && latency[0].starts_with("shop, "), "{latency:?}");
    let garden = chosen("How many visitors does the garden of the shop have?");
    assert!(garden[0].contains("visitors of the garden, visitors 9"), "{garden:?}");
    assert!(chosen("Who cooks on Monday?").is_empty());
}
