//! The choice of the reviewer, and invalid verdicts.

use kernel::llm::budget::Budgets;
use kernel::money::Money;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, WorkItem};
use teamroom::features::backlog::review::{Judgement, ReviewDeps, review};
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

    async fn judge(&self, parts: &ReviewDeps) -> anyhow::Result<Option<Judgement>> {
        review(parts, &self.item, &self.evidence, &self.journal, &CancellationToken::new()).await
    }

    async fn judged_by(&self, model: &ScriptedModel) -> Option<Judgement> {
        self.judge(&self.stage.reviewer(Some(model), Budgets::default())).await.unwrap()
    }
}

#[tokio::test]
async fn another_persona_judges_by_what_was_made() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    model.next([Script::Json(json!({"accepted": true, "reasons": ["Both prices are there."]}))]);
    let judged = made.judged_by(&model).await.expect("a verdict");
    // Costs are Vince's expertise, but he is the author.
    assert_eq!(judged, Judgement { by: "sentinel".into(), accepted: true, note: "Both prices are there.".into() });

    let asked = &model.requests()[0];
    let prompt = asked.prompt();
    assert!(asked.system.contains("You are Sentinel"), "{}", asked.system);
    assert!(prompt.contains("Scanner A asks nine dollars") && prompt.contains("beginning of the page https://a.example/x"), "{prompt}");
    assert!(!prompt.contains("believe me"), "the author's own words are no evidence");
    let (_, used) = made.stage.store.spent_on(made.item.id.as_str()).await.unwrap();
    assert!(used.total() > 0, "it stands in the ledger under the item");
}

#[tokio::test]
async fn a_rejection_says_what_to_change_and_nothing_secret() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    let reasons = ["The price of B has\nno page.", &format!("It ends with {SECRET}.")];
    model.next([Script::Json(json!({"accepted": false, "reasons": reasons}))]);
    let judged = made.judged_by(&model).await.expect("a verdict");
    assert!(!judged.accepted);
    assert_eq!(judged.note, "The price of B has no page. It ends with [redacted].");
}

#[tokio::test]
async fn nothing_is_accepted_because_there_was_no_verdict() {
    let made = Made::new().await;
    for scripts in [
        vec![Script::status(400)],
        vec![Script::Garbage],
        vec![Script::Empty],
        vec![Script::say("It is fine, I accept."), Script::say("Really.")],
        vec![Script::Json(json!({"accepted": "yes", "reasons": []})), Script::Json(json!({"accepted": 1}))],
        vec![Script::Json(json!({"accepted": false, "reasons": []}))],
        vec![Script::Truncated("{\"accepted\": true, \"rea".into())],
    ] {
        let model = ScriptedModel::start().await;
        let told = format!("{scripts:?}");
        model.next(scripts);
        assert_eq!(made.judged_by(&model).await, None, "{told}");
        assert!(model.count() > 0, "it was asked");
    }
}

#[tokio::test]
async fn without_a_model_or_money_a_person_judges() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    assert_eq!(made.judge(&made.stage.reviewer(None, Budgets::default())).await.unwrap(), None);
    let broke = Budgets { day: Some(Money(0)), day_tokens: Some(1), ..Budgets::default() };
    assert_eq!(made.judge(&made.stage.reviewer(Some(&model), broke)).await.unwrap(), None);
    assert_eq!(model.count(), 0, "nobody was asked");
}

#[tokio::test]
async fn a_review_that_is_cancelled_decides_nothing() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    let parts = made.stage.reviewer(Some(&model), Budgets::default());
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(review(&parts, &made.item, &made.evidence, &made.journal, &cancel).await.is_err());
}

#[tokio::test]
async fn what_was_changed_after_it_was_verified_is_not_shown_as_verified() {
    let (made, model) = (Made::new().await, ScriptedModel::start().await);
    model.on(|_| Script::Json(json!({"accepted": true, "reasons": []})));
    assert!(made.judged_by(&model).await.is_some(), "the twin");
    made.stage.write(&made.item, "prices.md", b"# Other\n").await;
    assert_eq!(made.judged_by(&model).await, None);
    assert_eq!(model.count(), 1);
}
