//! False claims, each with a true counterpart.

mod products;
mod property;
mod records;

use chrono::TimeDelta;
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::ids::OutboxId;
use teamroom::features::backlog::model::{Claim, Evidence, Execution, WatchTerms, WorkItem};
use teamroom::features::backlog::verifier::Verdict;

use super::stage::{Stage, file, item, now};

fn reasons(verdict: Verdict) -> String {
    match verdict {
        Verdict::Unproven { reasons, .. } => reasons.join("\n"),
        other => panic!("it is not unproven: {other:?}"),
    }
}

fn evidence(verdict: Verdict) -> Vec<Evidence> {
    match verdict {
        Verdict::Proven(evidence) | Verdict::Told(evidence) | Verdict::ForReview { evidence, .. } => evidence,
        other => panic!("it is unproven: {other:?}"),
    }
}

fn watch(rule: Option<SettlingRule>, feed: &str) -> WorkItem {
    item(Execution::Watch(WatchTerms { feed: feed.into(), rule, until: now() + TimeDelta::days(1) }))
}

fn at_most_200() -> SettlingRule {
    SettlingRule { feed: "shop".into(), value: "p95".into(), unit: "ms".into(), comparison: Comparison::AtMost, threshold: 200.0 }
}

#[tokio::test]
async fn what_proves_nothing_of_its_kind_is_refused() {
    let stage = Stage::on_sqlite().await;
    let nothing = "nothing was claimed that can be checked";
    for execution in [Execution::Write, Execution::Build, Execution::Remind { whom: None }] {
        assert!(reasons(stage.verify(&item(execution), &[], &[]).await).contains(nothing));
    }
    let wrong = [
        (Execution::Write, Claim::Message { outbox: OutboxId::generate() }, "a message proves nothing here"),
        (Execution::Remind { whom: None }, file("a.md"), "the file \"a.md\" proves nothing here"),
        (Execution::Build, Claim::Answer { by: "Ann".into(), text: "ok".into(), at: now() }, "an answer of Ann proves nothing here"),
        (Execution::Remind { whom: None }, Claim::Reading { feed: "shop".into(), at: now() }, "data of shop proves nothing here"),
    ];
    for (execution, claim, why) in wrong {
        assert!(reasons(stage.verify(&item(execution), &[claim], &[]).await).contains(why), "{why}");
    }
    let unplanned = WorkItem { execution: None, ..item(Execution::Write) };
    assert!(reasons(stage.verify(&unplanned, &[file("a.md")], &[]).await).contains("it has not been planned"));
}

#[tokio::test]
async fn a_thousand_reasons_are_told_as_twenty() {
    let stage = Stage::on_sqlite().await;
    let claims: Vec<Claim> = (0..1000).map(|number| file(&format!("{number}.md"))).collect();
    let told = reasons(stage.verify(&item(Execution::Write), &claims, &[]).await);
    assert_eq!(told.lines().count(), 21);
    assert!(told.ends_with("and 980 more"), "{told}");
}
