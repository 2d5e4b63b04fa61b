//! Buttons of work items: clicked by permitted and other people, twice, late, and for items that are gone.

use kernel::ids::{ApprovalId, WorkItemId};
use kernel::money::{Limit, Money, Refused};
use kernel::tools::approval::{Approval, ApprovalState, Risk};
use serde_json::json;
use teamroom::features::backlog::button::WorkButton;
use teamroom::features::backlog::model::{Evidence, Judge, Origin, Owner, Wait, WorkItem, WorkStatus};

use super::stage::{HERE, has_buttons, item, now, open, person, post, post_about, press, press_posted, read};
use crate::support::command::{is_ephemeral, text};
use crate::support::items::claim_item;
use crate::support::team::{Backing, Wanted, eventually, on_one_store};

on_one_store!(
    a_reminded_person_answers_once_and_the_channel_hears_of_it,
    what_is_not_needed_is_cancelled_and_a_late_button_says_why_it_does_nothing,
    nobody_answers_for_somebody_else_and_only_operators_decide,
    a_review_is_accepted_or_sent_back,
    what_ended_is_tried_again_and_what_is_open_cancelled,
    work_is_cancelled_after_a_question_and_taken_back_by_a_button,
    who_may_not_change_an_item_is_told_who_may,
    a_raised_budget_lets_an_item_go_on_once,
    a_call_is_allowed_once,
);

/// An item of the person, who was reminded.
fn reminded(team: &crate::support::team::TestTeam, owner: Owner) -> WorkItem {
    let wait = Some(Wait::Answer { of: "Ann".to_owned() });
    WorkItem { owner, wait, ..item(team, "Call the bank", WorkStatus::Waiting) }
}

async fn a_reminded_person_answers_once_and_the_channel_hears_of_it(backing: Backing) {
    let mut team = Wanted::on(backing).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    let store = open(&team).await;
    let item = reminded(&team, person(&team));
    let message = post(&team, &store, &item, |voice| voice.remind(&item, chrono_tz::Tz::UTC)).await;
    let done = WorkButton::Done(item.id.clone()).id();
    let answer = press(&team, &message, &done).await;
    assert!(text(&answer).contains("Noted: done") && is_ephemeral(&answer), "{answer}");
    assert!(!has_buttons(&team, &message).await);
    team.settle().await;
    let told: Vec<_> = team.answers(HERE).await.into_iter().filter(|shown| shown.text.starts_with('✔')).collect();
    assert!(told.len() == 1 && told[0].text.contains("Call the bank — answer by"), "{told:#?}");
    let stored = read(&store, &item.id).await;
    assert_eq!(stored.status, WorkStatus::Done);
    assert!(matches!(stored.evidence.as_slice(), [Evidence::Answer { text, .. }] if text == "done"), "{:?}", stored.evidence);

    // A client that still shows the buttons after a restart of the team.
    team.stop_app().await;
    team.start_app().await;
    let again = press_posted(&team, &store, &done).await;
    assert!(text(&again).contains("is already done") && is_ephemeral(&again), "{again}");
    store.close().await;
}

async fn what_is_not_needed_is_cancelled_and_a_late_button_says_why_it_does_nothing(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let store = open(&team).await;
    let item = reminded(&team, person(&team));
    let message = post(&team, &store, &item, |voice| voice.remind(&item, chrono_tz::Tz::UTC)).await;
    press(&team, &message, &WorkButton::NotNeeded(item.id.clone()).id()).await;
    assert_eq!(read(&store, &item.id).await.status, WorkStatus::Cancelled);
    team.settle().await;
    assert!(team.answers(HERE).await.iter().any(|shown| shown.text.contains("says it is not needed")));
    let (gone, nowhere) = ("no longer in the backlog", WorkItemId::from("nowhere"));
    for (button, told) in [
        (WorkButton::Done(item.id.clone()).id(), "was cancelled"),
        (WorkButton::Accept(nowhere.clone()).id(), gone),
        (WorkButton::Done(nowhere.clone()).id(), gone),
        (WorkButton::Raise(nowhere).id(), gone),
        (WorkButton::Allow(ApprovalId::from("nowhere")).id(), gone),
        ("work:burn:x".to_owned(), "This button no longer works"),
    ] {
        let late = press_posted(&team, &store, &button).await;
        assert!(text(&late).contains(told) && is_ephemeral(&late), "{button}: {late}");
    }
    store.close().await;
}

async fn nobody_answers_for_somebody_else_and_only_operators_decide(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    let store = open(&team).await;
    let theirs = reminded(&team, Owner::Person { id: "77".into(), name: "Ann".to_owned() });
    let message = post(&team, &store, &theirs, |voice| voice.remind(&theirs, chrono_tz::Tz::UTC)).await;
    let answer = press(&team, &message, &WorkButton::Done(theirs.id.clone()).id()).await;
    assert!(text(&answer).contains("Only the person who was asked or an operator may answer") && is_ephemeral(&answer), "{answer}");
    assert!(has_buttons(&team, &message).await, "the question stands");
    assert_eq!(read(&store, &theirs.id).await.status, WorkStatus::Waiting);

    // An owner may neither review the item nor raise its budget.
    let item = WorkItem { owner: person(&team), ..item(&team, "Draft the letter", WorkStatus::InReview) };
    let message = post(&team, &store, &item, |voice| voice.ask_review(&item, &[], Vec::new())).await;
    let id = || item.id.clone();
    for button in [
        WorkButton::Accept(id()),
        WorkButton::Reject(id()),
        WorkButton::Raise(id()),
        WorkButton::Allow(ApprovalId::from("a")),
        WorkButton::Refuse(ApprovalId::from("a")),
    ] {
        let answer = press_posted(&team, &store, &button.id()).await;
        assert!(text(&answer).contains("Only operators can decide that") && is_ephemeral(&answer), "{button:?}: {answer}");
    }
    assert!(has_buttons(&team, &message).await, "the question stands");
    assert_eq!(read(&store, &item.id).await.status, WorkStatus::InReview);
    store.close().await;
}

async fn a_review_is_accepted_or_sent_back(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let store = open(&team).await;
    let good = item(&team, "Draft the letter", WorkStatus::InReview);
    let message = post(&team, &store, &good, |voice| voice.ask_review(&good, &[], Vec::new())).await;
    let accepted = press(&team, &message, &WorkButton::Accept(good.id.clone()).id()).await;
    assert!(text(&accepted).contains("Noted: accepted"), "{accepted}");
    let stored = read(&store, &good.id).await;
    assert_eq!(stored.status, WorkStatus::Done);
    assert!(matches!(stored.evidence.as_slice(), [Evidence::Review { by: Judge::Person(_), .. }]), "{:?}", stored.evidence);
    team.settle().await;
    assert!(team.answers(HERE).await.iter().any(|shown| shown.text.starts_with("✔ Vince: Draft the letter — accepted by")));
    let again = press_posted(&team, &store, &WorkButton::Reject(good.id.clone()).id()).await;
    assert!(text(&again).contains("is already done"), "{again}");

    let poor = item(&team, "Sketch the plan", WorkStatus::InReview);
    let message = post(&team, &store, &poor, |voice| voice.ask_review(&poor, &[], Vec::new())).await;
    let rejected = press(&team, &message, &WorkButton::Reject(poor.id.clone()).id()).await;
    assert!(text(&rejected).contains("It will be tried again") && !is_ephemeral(&rejected), "{rejected}");
    let stored = read(&store, &poor.id).await;
    assert_eq!(stored.run, 1);
    assert_ne!(stored.status, WorkStatus::InReview);
    store.close().await;
}

async fn what_ended_is_tried_again_and_what_is_open_cancelled(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let store = open(&team).await;
    let failed = WorkItem { outcome: Some("no page".to_owned()), ..item(&team, "Find the page", WorkStatus::Failed) };
    let message = post(&team, &store, &failed, |voice| voice.announce_failed(&failed)).await;
    let tried = press(&team, &message, &WorkButton::Retry(failed.id.clone()).id()).await;
    assert!(text(&tried).contains("restarted") && !is_ephemeral(&tried), "{tried}");
    assert!(!read(&store, &failed.id).await.status.is_over());

    let why = "it took its worker down 3 times";
    let open_item = WorkItem { wait: Some(Wait::Decision { why: why.to_owned() }), ..item(&team, "Split the file", WorkStatus::Waiting) };
    let message = post(&team, &store, &open_item, |voice| voice.ask_decision(&open_item, why, false)).await;
    let needing = WorkItem { depends_on: vec![open_item.id.clone()], ..item(&team, "Read the parts", WorkStatus::Blocked) };
    store.insert_items(std::slice::from_ref(&needing), now()).await.expect("stored");
    let cancelled = press(&team, &message, &WorkButton::Cancel(open_item.id.clone()).id()).await;
    assert!(text(&cancelled).contains("One item that depends on it failed too"), "{cancelled}");
    assert!(!has_buttons(&team, &message).await);
    assert_eq!(read(&store, &open_item.id).await.status, WorkStatus::Cancelled);
    assert_eq!(read(&store, &needing.id).await.status, WorkStatus::Failed);
    let again = press_posted(&team, &store, &WorkButton::Cancel(open_item.id.clone()).id()).await;
    assert!(text(&again).contains("was cancelled"), "{again}");
    store.close().await;
}

/// The last message of the team with this text.
async fn shown(team: &crate::support::team::TestTeam, text: &str) -> String {
    let find = || async { team.answers(HERE).await.into_iter().rfind(|shown| shown.text.contains(text)) };
    eventually(text, || async { find().await.is_some() }).await;
    find().await.expect("it is there").raw["id"].as_str().expect("an id").to_owned()
}

async fn work_is_cancelled_after_a_question_and_taken_back_by_a_button(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    let store = open(&team).await;
    // Asked for by the person who presses.
    let Owner::Person { id, name } = person(&team) else { panic!("a person") };
    let origin = Origin::Person { id, name, message: None };
    let item = WorkItem { origin, ..item(&team, "Draft the letter", WorkStatus::InReview) };
    let needing = WorkItem { depends_on: vec![item.id.clone()], ..super::stage::item(&team, "Send the letter", WorkStatus::Blocked) };
    let message = post(&team, &store, &item, |voice| voice.ask_review(&item, &[], Vec::new())).await;
    store.insert_items(std::slice::from_ref(&needing), now()).await.expect("stored");
    let asked = press(&team, &message, &WorkButton::Cancel(item.id.clone()).id()).await;
    assert!(text(&asked).contains("please confirm with the button") && is_ephemeral(&asked), "{asked}");
    assert!(has_buttons(&team, &message).await, "the review is still open");
    let question = shown(&team, "There is work in it.").await;
    let kept = press(&team, &question, &WorkButton::Keep(item.id.clone()).id()).await;
    assert!(text(&kept).contains("Kept") && !has_buttons(&team, &question).await, "{kept}");
    assert_eq!(read(&store, &item.id).await.status, WorkStatus::InReview);

    press(&team, &message, &WorkButton::Cancel(item.id.clone()).id()).await;
    let question = shown(&team, "There is work in it.").await;
    let cancelled = press(&team, &question, &WorkButton::CancelNow(item.id.clone()).id()).await;
    assert!(text(&cancelled).contains("`/backlog restore id:"), "{cancelled}");
    assert_eq!(read(&store, &needing.id).await.status, WorkStatus::Failed);
    let announced = shown(&team, "⊘ Cancelled: Draft the letter").await;
    let back = press(&team, &announced, &WorkButton::Restore(item.id.clone()).id()).await;
    assert!(text(&back).contains("One item that depends on it goes on, too.") && !is_ephemeral(&back), "{back}");
    assert_eq!(read(&store, &item.id).await.status, WorkStatus::InReview);
    assert_eq!(read(&store, &needing.id).await.status, WorkStatus::Blocked);
    let again = press_posted(&team, &store, &WorkButton::Restore(item.id.clone()).id()).await;
    assert!(text(&again).contains("there is no cancellation to take back"), "{again}");
    store.close().await;
}

async fn who_may_not_change_an_item_is_told_who_may(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    let store = open(&team).await;
    let origin = Origin::Person { id: "discord:77".into(), name: "Zoe".to_owned(), message: None };
    let whole = WorkItem { origin, ..item(&team, "Open the shop", WorkStatus::Blocked) };
    // A step of what Zoe asked for.
    let part = WorkItem {
        origin: Origin::WorkItem(whole.id.clone()),
        parent: Some(whole.id.clone()),
        ..item(&team, "Draft the letter", WorkStatus::InReview)
    };
    store.insert_items(&[whole.clone(), part.clone()], now()).await.expect("stored");
    for button in [
        WorkButton::Cancel(part.id.clone()),
        WorkButton::CancelNow(part.id.clone()),
        WorkButton::Keep(part.id.clone()),
        WorkButton::Restore(part.id.clone()),
        WorkButton::Retry(whole.id.clone()),
    ] {
        let answer = press_posted(&team, &store, &button.id()).await;
        assert!(text(&answer).contains("Only Zoe or an operator may change") && is_ephemeral(&answer), "{button:?}: {answer}");
    }
    assert_eq!(read(&store, &part.id).await.status, WorkStatus::InReview);
    store.close().await;
}

async fn a_raised_budget_lets_an_item_go_on_once(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let store = open(&team).await;
    let short = |limit| Refused { limit, spent: 1_020_000, allowed: 1_000_000 };
    let held = item(&team, "Compare the prices", WorkStatus::Waiting);
    let refused = short(Limit::Item(held.id.clone()));
    let held = WorkItem { wait: Some(Wait::for_budget(refused.clone(), now())), ..held };
    let message = post(&team, &store, &held, |voice| voice.ask_budget(&held, &refused, None, 1_000_000)).await;
    let raise = WorkButton::Raise(held.id.clone()).id();
    let raised = press(&team, &message, &raise).await;
    assert!(text(&raised).contains("raised the budget by $1.00") && !is_ephemeral(&raised), "{raised}");
    assert!(!has_buttons(&team, &message).await);
    let again = press_posted(&team, &store, &raise).await;
    assert!(is_ephemeral(&again) && !text(&again).contains("raised"), "{again}");

    let refused = Refused { allowed: 5_000_000, ..short(Limit::Day) };
    let wait = Some(Wait::for_budget(refused.clone(), now()));
    let of_the_day = WorkItem { wait, ..item(&team, "Compare the wages", WorkStatus::Waiting) };
    let message = post(&team, &store, &of_the_day, |voice| voice.ask_budget(&of_the_day, &refused, None, 1_000_000)).await;
    let raised = press(&team, &message, &WorkButton::Raise(of_the_day.id.clone()).id()).await;
    assert!(text(&raised).contains("raised today's budget by $1.00"), "{raised}");
    assert_eq!(store.spent_today(now()).await.expect("the store answers").raised, Money(1_000_000));
    store.close().await;
}

async fn a_call_is_allowed_once(backing: Backing) {
    let mut team = Wanted::on(backing).without_app().start().await;
    let store = open(&team).await;
    let asking = item(&team, "Read the page", WorkStatus::Ready);
    store.insert_items(std::slice::from_ref(&asking), now()).await.expect("stored");
    let claimed = claim_item(&store, now()).await;
    let approval = Approval {
        id: ApprovalId::generate(),
        item: asking.id.clone(),
        run: claimed.item.run,
        tool: "fetch_page".to_owned(),
        arguments: json!({"url": "https://example.org/"}),
        risk: Risk::ReachOut,
        state: ApprovalState::Asked,
        by: None,
        asked_at: now(),
        decided_at: None,
    };
    assert!(store.ask_approval(&claimed.job, &approval, &[], now()).await.expect("the store answers"));
    team.start_app().await;
    let message = post_about(&team, &store, |voice| voice.ask_approval(&asking, &approval, "The page is seen by others")).await;
    let allowed = press(&team, &message, &WorkButton::Allow(approval.id.clone()).id()).await;
    assert!(text(&allowed).contains("allowed the call of `fetch_page`") && !is_ephemeral(&allowed), "{allowed}");
    assert!(!has_buttons(&team, &message).await);
    assert_eq!(store.find_approval(&approval.id).await.unwrap().unwrap().state, ApprovalState::Allowed);
    let late = press_posted(&team, &store, &WorkButton::Refuse(approval.id.clone()).id()).await;
    assert!(text(&late).contains("has approved this already") && is_ephemeral(&late), "{late}");
    assert_eq!(store.find_approval(&approval.id).await.unwrap().unwrap().state, ApprovalState::Allowed);
    store.close().await;
}
