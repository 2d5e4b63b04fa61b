//! The choice of the reviewer, and invalid verdicts.

use kernel::agent::RunError;
use kernel::llm::budget::Budgets;
use kernel::money::Money;
use serde_json::{Value, json};
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, WorkItem};
use teamroom::features::backlog::review::{ForReview, Found, Judgement, ReviewDeps, review};
use teamroom::features::backlog::verifier::Verdict;
use tokio_util::sync::CancellationToken;

use super::stage::{SECRET, Stage, fetched, file, item};
use crate::support::model::{Script, ScriptedModel};

const REPORT: &str = "# Prices\n\nScanner A asks nine dollars, says https://a.example/x, and scanner B asks four of us.\n";

/// An item that needs a review.
struct Made {
    stage: Stage,
    item: WorkItem,
    evidence: Vec<Evidence>,
    journal: Vec<JournalEntry>,
}

impl Made {
    async fn new() -> Self {
        let stage = Stage::on_sqlite().await;
        let item = WorkItem { what: "Compare costs in the ledger with the repository's tests".into(), ..item(Execution::Research) };
        let journal = vec![fetched("https://a.example/x"), stage.write(&item, "prices.md", REPORT.as_bytes()).await];
        let Verdict::ForReview { evidence, .. } = stage.verify(&item, &[file("prices.md")], &journal).await else {
            panic!("not for review")
        };
        Self { stage, item, evidence, journal }
    }

    fn shown(&self) -> ForReview<'_> {
        ForReview { item: &self.item, evidence: &self.evidence, journal: &self.journal, parts: &[], blocked: None, rejected: None }
    }

    async fn judge(&self, parts: &ReviewDeps) -> anyhow::Result<Option<Judgement>> {
        review(parts, self.shown(), None, &CancellationToken::new()).await
    }

    async fn judged_by(&self, model: &ScriptedModel) -> Option<Judgement> {
        self.judge(&self.stage.reviewer(Some(model), Budgets::default())).await.unwrap()
    }
}

/// A verdict on the three criteria of research, all shown by this passage or not met.
fn verdict(found: [Result<&str, &str>; 3]) -> Script {
    let grade = |(number, found): (usize, Result<&str, &str>)| json!({"criterion": number, "met": found.is_ok(), "shown_by": found.unwrap_or_default(), "missing": found.err().unwrap_or_default()});
    Script::Json(json!({"grades": (1..).zip(found).map(grade).collect::<Vec<_>>()}))
}

const PASSAGE: &str = "Scanner A asks nine dollars";

#[tokio::test]
async fn another_persona_judges_by_what_was_made() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    model.next([verdict([Ok(PASSAGE), Ok("says https://a.example/x"), Ok(PASSAGE)])]);
    let judged = made.judged_by(&model).await.expect("a verdict");
    // Costs are Vince's expertise, but he is the author.
    assert_eq!((judged.by.as_str(), judged.accepted(), judged.note().as_str()), ("sentinel", true, "all 3 criteria are met"));
    assert_eq!(judged.grades[1].found, Found::Met("says https://a.example/x".into()));

    let asked = &model.requests()[0];
    let prompt = asked.prompt();
    assert!(asked.system.contains("You are Sentinel"), "{}", asked.system);
    assert!(prompt.contains("Scanner A asks nine dollars") && prompt.contains("beginning of the page https://a.example/x"), "{prompt}");
    assert!(prompt.contains("2. Every figure names its source"), "an item without criteria is held against those of its kind: {prompt}");
    assert!(!prompt.contains("believe me"), "the author's own words are no evidence");
    let (_, used) = made.stage.store.spent_on(made.item.id.as_str()).await.unwrap();
    assert!(used.total() > 0, "it stands in the ledger under the item");
}

#[tokio::test]
async fn a_rejection_names_what_is_missing_and_nothing_secret() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    model.next([verdict([Ok("whatever"), Err("The price of B has\nno page."), Err(&format!("It ends with {SECRET}."))])]);
    let judged = made.judged_by(&model).await.expect("a verdict");
    assert!(!judged.accepted());
    assert_eq!(
        judged.note(),
        "2 of 3 criteria not met\n2. Every figure names its source: The price of B has no page.\n3. What stays open is said: It ends with \
         [redacted]."
    );
}

#[tokio::test]
async fn a_verdict_that_does_not_count_is_asked_for_once_more_with_the_reason() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    model.next([verdict([Ok("It is fine."); 3]), verdict([Ok(PASSAGE); 3])]);
    assert!(made.judged_by(&model).await.is_some_and(|judged| judged.accepted()));
    let again = model.requests()[1].prompt();
    assert!(again.contains("the passage of criterion 1 is not in the material. Quote it exactly; the passage of criterion 2"), "{again}");
}

#[tokio::test]
async fn the_lines_that_code_counted_show_that_a_limit_is_kept() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    let counted = |number: usize, seen: &str| json!({"criterion": number, "met": true, "shown_by": "", "seen": seen, "missing": ""});
    let grades = ["3 lines", "14 words", "1 heading, 14 words"];
    let grades: Vec<_> = (1..).zip(grades).map(|(number, seen)| counted(number, seen)).collect();
    model.next([Script::Json(json!({ "grades": grades }))]);
    assert!(made.judged_by(&model).await.is_some_and(|judged| judged.accepted()));
    assert!(model.requests()[0].prompt().contains("- the file prices.md: Markdown, 3 lines, 1 heading, 14 words; "));
}

#[tokio::test]
async fn nothing_is_accepted_because_there_was_no_verdict() {
    let made = Made::new().await;
    let grade = |number: usize| json!({"criterion": number, "met": true, "shown_by": PASSAGE, "missing": ""});
    let grades = |grades: Vec<Value>| Script::Json(json!({ "grades": grades }));
    for scripts in [
        vec![Script::status(400)],
        vec![Script::Garbage],
        vec![Script::Empty],
        vec![Script::say("It is fine, I accept."), Script::say("Really.")],
        vec![Script::Json(json!({"grades": "all"})), Script::Json(json!({"accepted": true}))],
        vec![Script::Truncated("{\"grades\": [{\"crit".into())],
        // The reviewer agrees with everything, and shows no evidence.
        vec![verdict([Ok("It is fine."); 3]), verdict([Ok("All is well, believe me."); 3])],
        // One criterion is missing, one is unknown.
        vec![grades(vec![grade(1), grade(2)]), grades((1..=4).map(grade).collect())],
        // The reviewer rejects without a reason.
        vec![verdict([Ok(PASSAGE), Err(" "), Ok(PASSAGE)]); 2],
    ] {
        let model = ScriptedModel::start().await;
        let told = format!("{scripts:?}");
        model.next(scripts);
        assert_eq!(made.judged_by(&model).await, None, "{told}");
        assert!(model.count() > 0, "it was asked");
    }
}

#[tokio::test]
async fn without_a_model_a_person_judges_and_without_money_nobody_does() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    assert_eq!(made.judge(&made.stage.reviewer(None, Budgets::default())).await.unwrap(), None);
    let broke = Budgets { day: Some(Money(0)), day_tokens: Some(1), ..Budgets::default() };
    let refused = made.judge(&made.stage.reviewer(Some(&model), broke)).await.unwrap_err();
    assert!(matches!(refused.downcast_ref(), Some(RunError::OutOfBudget(_))), "{refused:#}");
    assert_eq!(model.count(), 0, "nobody was asked");
}

#[tokio::test]
async fn a_review_that_is_cancelled_decides_nothing() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    let parts = made.stage.reviewer(Some(&model), Budgets::default());
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(review(&parts, made.shown(), None, &cancel).await.is_err());
}

#[tokio::test]
async fn what_was_changed_after_it_was_verified_is_not_shown_as_verified() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    model.on(|_| verdict([Ok(PASSAGE); 3]));
    assert!(made.judged_by(&model).await.is_some(), "the twin");
    made.stage.write(&made.item, "prices.md", b"# Other\n").await;
    assert_eq!(made.judged_by(&model).await, None);
    assert_eq!(model.count(), 1);
}
