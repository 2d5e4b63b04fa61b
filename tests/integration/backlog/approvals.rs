//! Calls that text from outside may have caused: a person approves each one, with its exact arguments, once.

use kernel::tools::approval::ApprovalState;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{Execution, Wait, WorkItem, WorkStatus};

use super::part::{DOCUMENT, MORE, Part, Play, fetch, finish, write};
use super::stage::{Setting, Stage};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    what_a_page_may_have_wished_for_is_done_once_a_person_allows_it,
    another_call_than_the_allowed_one_is_asked_for_anew,
    an_address_that_was_made_up_is_asked_for_and_stays_closed_if_it_is_inside,
    nobody_but_an_operator_allows_a_call,
);

fn adding(what: &str) -> (&'static str, Json) {
    ("backlog_add", json!({"what": what, "how": "By telephone.", "why": "The page says so.", "owner": "Vince", "urgency": "backlog"}))
}

/// Eliza reads a page, makes these calls in turn, and writes a report.
async fn tempted(stage: &Stage, calls: &[(&str, Json)]) -> WorkItem {
    let prices = stage.web.url("prices");
    let tempting = calls.iter().map(|(tool, arguments)| Script::call(tool, arguments.clone()));
    let honest = [write("prices.md", &format!("# Prices\n\nShop A asks $9 ({prices}).{MORE}\n")), finish("prices.md")];
    let replies = std::iter::once(fetch(&prices)).chain(tempting).chain(honest).collect();
    // Added items are research too, for any persona.
    let other = vec![fetch(&prices), write("other.md", DOCUMENT), finish("other.md")];
    Play::of(vec![Part::new("tempting", replies), Part::new("", other)]).perform(&stage.team.model);
    let item = stage.item("Compare the tempting prices", "", Execution::Research);
    stage.put(&[&item]).await;
    item
}

/// Waits until the item asks for approval of this call, shown exactly.
async fn is_asked(stage: &Stage, item: &WorkItem, shown: &str) {
    let waits = |item: &WorkItem| matches!((item.status, &item.wait), (WorkStatus::Waiting, Some(Wait::Approval { .. })));
    stage.until(&item.id, "asking", waits).await;
    stage.hears(shown).await;
}

async fn count(stage: &Stage, what: &str) -> usize {
    stage.list().await.iter().filter(|item| item.what == what).count()
}

async fn what_a_page_may_have_wished_for_is_done_once_a_person_allows_it(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let call = adding("Check the invoice");
    // The same call twice: one approval allows one call.
    let item = tempted(&stage, &[call.clone(), call]).await;
    is_asked(&stage, &item, "Check the invoice").await;
    assert_eq!(count(&stage, "Check the invoice").await, 0, "not before it is allowed");
    let asked = stage.hears("wants to call").await;
    assert!(asked.text.contains("By telephone.") && asked.text.contains("owner: Vince"), "{}", asked.text);
    let answer = stage.press_on(&asked, "Approve").await;
    assert!(answer.contains("allowed the call"), "{answer}");
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((count(&stage, "Check the invoice").await, done.run, done.attempts), (1, 0, 0));
    let refusals = stage.refusals(&item.id).await;
    assert!(refusals.len() == 1 && refusals[0].contains("allowed this call once, and it was made"), "{refusals:?}");
    // Nothing was paid twice: one request per reply.
    assert_eq!(stage.asked_about("tempting").len(), 5);
    stage.shows(&done, &["Approvals", "allowed by"]).await;
}

async fn another_call_than_the_allowed_one_is_asked_for_anew(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let item = tempted(&stage, &[adding("Check the invoice"), adding("Check the passwords")]).await;
    is_asked(&stage, &item, "Check the invoice").await;
    stage.press("Check the invoice", "Approve").await;
    is_asked(&stage, &item, "Check the passwords").await;
    assert_eq!(count(&stage, "Check the passwords").await, 0, "the other call gave no right to this one");
    stage.press("Check the passwords", "Refuse").await;
    stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((count(&stage, "Check the invoice").await, count(&stage, "Check the passwords").await), (1, 0));
    assert!(stage.refusals(&item.id).await[0].contains("a person did not allow this call"));
    let states: Vec<_> = stage.store.list_approvals(&item.id).await.unwrap().into_iter().map(|approval| approval.state).collect();
    assert_eq!(states, [ApprovalState::Allowed, ApprovalState::Refused]);
}

async fn an_address_that_was_made_up_is_asked_for_and_stays_closed_if_it_is_inside(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let item = tempted(&stage, &[("fetch_page", json!({"url": "http://127.0.0.1:9/?stolen=prices"}))]).await;
    is_asked(&stage, &item, "stolen=prices").await;
    stage.press("stolen=prices", "Approve").await;
    stage.comes_to(&item.id, WorkStatus::Done).await;
    let refusals = stage.refusals(&item.id).await;
    assert!(refusals.len() == 1 && refusals[0].contains("is this machine"), "{refusals:?}");
}

async fn nobody_but_an_operator_allows_a_call(backing: Backing) {
    let stage = Setting::on(backing).with_model().configure(|config| config.chat.operators = vec!["somebody-else".into()]).open().await;
    let item = tempted(&stage, &[adding("Check the invoice")]).await;
    is_asked(&stage, &item, "Check the invoice").await;
    let answer = stage.press("Check the invoice", "Approve").await;
    assert!(answer.contains("Only operators can decide that"), "{answer}");
    assert_eq!((stage.read(&item.id).await.status, count(&stage, "Check the invoice").await), (WorkStatus::Waiting, 0));
}
