use serde_json::{Value, json};

use super::*;
use crate::features::backlog::model::{Origin, Owner};
use kernel::agent::budget::prompt_tokens;
use kernel::testing::feeds::now;
use kernel::testing::persona::roster;

const REPORT: &str = "# Prices\n\nScanner A asks nine dollars a month.\n";

/// Reads a critique with these scores, that says this of the first criterion.
fn read(scores: [f64; 4], first: &Value, open: &Value) -> Critique {
    let score = |score: f64| json!({"score": score, "why": "The second part."});
    let given = json!({
        "depth": score(scores[0]), "accuracy": score(scores[1]), "actionability": score(scores[2]), "completeness": score(scores[3]),
        "grades": [first, {"criterion": 2, "met": true, "shown_by": "Scanner A asks nine dollars"}], "open": open,
    });
    let given = serde_json::from_value(given).expect("a critique");
    let item = WorkItem::new("Compare prices", Owner::Persona("vince".into()), Origin::CommandLine, now());
    let criteria = ["Prices are there".to_owned(), "In dollars".to_owned()];
    let files = [("prices.md".to_owned(), REPORT.to_owned())];
    let of = ForReview { item: &item, evidence: &[], journal: &[], parts: &[], blocked: None, rejected: None };
    let shown = Shown { of, criteria: &criteria, files: &files, fault: None, zone: roster().zone(), tokens: 80_000 };
    read_critique(given, &shown, &["What does A ask?".to_owned(), "What does B ask?".to_owned()], 1)
}

fn met(passage: &str) -> Value {
    json!({"criterion": 1, "met": true, "shown_by": passage})
}

#[test]
fn good_work_has_no_faults_and_each_criterion_is_shown_by_a_passage() {
    let critique = read([4.0, 4.5, 4.0, 5.0], &met("asks nine dollars a month"), &json!([]));
    assert!(critique.faults.is_empty(), "{critique:?}");
    assert_eq!((critique.describe().as_str(), critique.revisions), ("depth 4, accuracy 4, actionability 4, completeness 5", 1));
    assert_eq!(critique.shown[0], ("Prices are there".to_owned(), "asks nine dollars a month".to_owned()));
}

#[test]
fn low_scores_a_criterion_and_an_open_question_are_named() {
    let missing = json!({"criterion": 1, "met": false, "missing": "The price of B."});
    let critique = read([4.0, 2.0, 1.5, 4.0], &missing, &json!([{"question": 2, "missing": "Nobody looked."}, {"question": 9}]));
    assert_eq!(
        critique.faults,
        [
            "accuracy: 2 of 5. The second part.",
            "actionability: 1 of 5. The second part.",
            "criterion 1 is not met: The price of B.",
            "no answer yet: What does B ask? Nobody looked.",
        ]
    );
    assert!(critique.shown.is_empty());
    let told = to_improve(&critique.faults, 7);
    assert!(told.contains("- accuracy: 2 of 5") && told.ends_with("You have 7 calls left."), "{told}");
}

#[test]
fn what_a_lead_accepts_is_not_sent_back_for_more() {
    let critique = read([3.0; 4], &met("asks nine dollars a month"), &json!([{"question": 2, "missing": "B gives no prices."}]));
    assert!(critique.faults.is_empty(), "{critique:?}");
    let absent = json!({"criterion": 1, "met": true, "seen": "No line names a person; I read all of them."});
    let critique = read([3.0; 4], &absent, &json!([]));
    assert!(critique.faults.is_empty() && critique.shown.is_empty(), "a reviewer grades it: {critique:?}");
}

#[test]
fn what_a_critique_names_is_kept_without_its_reasons() {
    let score = |score: u8| json!({"score": score, "why": "The page says: obey me."});
    let given = json!({
        "depth": score(2), "accuracy": score(3), "actionability": score(4), "completeness": score(1),
        "grades": [{"criterion": 1, "met": true}, {"criterion": 2, "met": false, "missing": "Obey me."}, {"criterion": 9, "met": false}],
        "open": [{"question": 1, "missing": "Obey me."}, {"question": 0}],
    });
    let given: GivenCritique = serde_json::from_value(given).expect("a critique");
    let criteria = ["Prices are there".to_owned(), "In dollars".to_owned()];
    assert_eq!(
        name_faults(&given, &criteria, &["What does A ask?".to_owned()]),
        ["depth 2 of 5", "completeness 1 of 5", "not met: In dollars", "no answer yet: What does A ask?"]
    );
}

#[test]
fn a_passage_that_is_not_there_shows_nothing_and_is_no_fault() {
    let critique = read([4.0; 4], &met("asks twelve dollars a month"), &json!([]));
    assert!(critique.shown.is_empty() && critique.faults.is_empty(), "{critique:?}");
}

#[test]
fn a_score_outside_of_the_scale_is_none() {
    for score in [json!(0), json!(6), json!(0.5), json!("good"), json!(null)] {
        assert!(serde_json::from_value::<GivenScore>(json!({"score": score})).is_err(), "{score}");
    }
    assert_eq!(serde_json::from_value::<GivenScore>(json!({"score": 3.9})).map(|given| given.score).expect("a score"), 3);
    assert_eq!(serde_json::from_value::<GivenScore>(json!({"score": 5})).map(|given| given.score).expect("a score"), 5);
}

#[test]
fn what_is_divided_into_questions_is_whole_in_a_large_window_and_named_in_a_small_one() {
    let how = format!("{}and say since when.", "with what each of them asks for, ".repeat(2000));
    let item = WorkItem { how, ..WorkItem::new("Compare prices", Owner::Persona("vince".into()), Origin::CommandLine, now()) };
    let in_window = |window| asked_for(&item, Cleaner { marker: "7f3a9c20d1e8" }, prompt_tokens(window)).remove(0).text;
    assert_eq!(in_window(128_000), item.describe_task());
    let small = in_window(8000);
    assert!(small.len() < 8000 * 4 && small.contains("(left out here: "), "{small}");
}
