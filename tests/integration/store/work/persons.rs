use kernel::agent::JournalEntry;
use kernel::events::Audience;
use kernel::ids::ApprovalId;
use kernel::tools::approval::{Approval, ApprovalState, Risk, fingerprint};
use teamroom::features::backlog::model::{Claim, Evidence, Execution, Judge, Owner, Product, Urgency, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, Ended, ItemAnswer, ItemEdit, ItemJudgement, Planned};
use teamroom::store::Store;

use super::ends::reviewed_by;
use super::{
    Held, claim, done, end, failed, find, for_persona, insert, item, last_event, needing, outcome, part_of, plan, posts, proof, status,
};
use crate::store::sample::{at, lesson, line};
use crate::store::{Home, on_both};

on_both!(
    what_failed_is_tried_again_from_the_beginning,
    what_would_fail_at_once_is_not_tried_again,
    what_waits_for_others_is_tried_again_after_them,
    an_answer_ends_what_waits_for_it_once,
    what_is_not_needed_is_cancelled,
    what_is_accepted_is_done,
    what_is_rejected_is_tried_again_until_a_person_has_to_decide,
    the_author_does_not_judge,
    a_person_hurries_an_item,
    an_item_edited_while_it_runs_begins_anew,
    an_edit_of_work_that_has_begun_is_told_to_its_run,
    an_edit_of_work_with_drafted_criteria_keeps_the_run_and_tells_it_the_new_ones,
    an_edit_of_the_urgency_or_the_reviewer_alone_disturbs_nobody,
    only_what_waits_is_woken,
    a_call_is_allowed_once_and_for_this_call_only,
    a_decision_on_a_call_of_what_is_over_wakes_nothing,
    items_are_found_by_the_end_of_their_ids,
    what_happens_moves_the_mark,
);

async fn what_failed_is_tried_again_from_the_beginning(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let top = needing("top", &[&base]);
    plan(&store, &[base.clone(), top.clone()]).await;
    assert!(!store.retry_item(&base.id, "Ada", at(5)).await.unwrap(), "it is ready");
    let claimed = claim(&store).await;
    assert!(!store.retry_item(&base.id, "Ada", at(5)).await.unwrap(), "somebody works on it");
    end(&store, &claimed.job, End::Again { why: "no".into(), at: at(0) }).await.unwrap();
    let claimed = claim(&store).await;
    end(&store, &claimed.job, failed()).await.unwrap();
    assert!(store.retry_item(&base.id, "Ada", at(30)).await.unwrap());
    assert!(!store.retry_item(&base.id, "Ben", at(31)).await.unwrap());
    let stored = find(&store, &base).await;
    assert_eq!((stored.status, stored.run, stored.attempts, stored.outcome), (WorkStatus::Ready, 2, 0, None));
    assert!(last_event(&store, &base).await.note.unwrap().contains("Ada"));
    assert_eq!(status(&store, &top).await, WorkStatus::Failed, "others stay failed");

    store.cancel_item(&base.id, "Ada", &[], at(32)).await.unwrap().unwrap();
    assert!(store.retry_item(&base.id, "Ada", at(33)).await.unwrap(), "what was cancelled can be tried too");
    let fresh = item("never planned", 9);
    insert(&store, std::slice::from_ref(&fresh)).await;
    store.cancel_item(&fresh.id, "Ada", &[], at(34)).await.unwrap().unwrap();
    assert!(store.retry_item(&fresh.id, "Ada", at(35)).await.unwrap());
    assert_eq!(status(&store, &fresh).await, WorkStatus::New, "the planner has yet to see it");
    assert!(!store.retry_item(&"unknown".into(), "Ada", at(36)).await.unwrap());
}

async fn what_would_fail_at_once_is_not_tried_again(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let top = needing("top", &[&base]);
    let whole = item("whole", 0);
    let part = part_of(&whole, "part");
    plan(&store, &[base.clone(), top.clone(), whole.clone(), part.clone()]).await;
    for item in [&base, &part] {
        store.cancel_item(&item.id, "Ada", &[], at(5)).await.unwrap().unwrap();
    }
    assert!(!store.retry_item(&top.id, "Ada", at(6)).await.unwrap(), "it needs what was cancelled");
    assert!(!store.retry_item(&whole.id, "Ada", at(6)).await.unwrap(), "its only part was cancelled");
    assert!(store.retry_item(&base.id, "Ada", at(7)).await.unwrap());
    assert!(store.retry_item(&top.id, "Ada", at(7)).await.unwrap());
    assert_eq!(status(&store, &top).await, WorkStatus::Blocked, "as before");
}

async fn what_waits_for_others_is_tried_again_after_them(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let top = needing("top", &[&base]);
    plan(&store, &[base.clone(), top.clone()]).await;
    store.cancel_item(&top.id, "Ada", &[], at(5)).await.unwrap().unwrap();
    assert!(store.retry_item(&top.id, "Ada", at(6)).await.unwrap());
    assert_eq!(status(&store, &top).await, WorkStatus::Blocked);
}

/// An item of Vince that waits for Ada's answer.
async fn asked(store: &Store, what: &str) -> WorkItem {
    let made = item(what, 0);
    plan(store, std::slice::from_ref(&made)).await;
    let claimed = claim(store).await;
    end(store, &claimed.job, End::Waits { wait: Wait::Answer { of: "Ada".into() }, evidence: vec![proof()] }).await.unwrap();
    made
}

async fn an_answer_ends_what_waits_for_it_once(home: &Home) {
    let store = home.open().await;
    let made = asked(&store, "remind Ada").await;
    let (memory, post) = (lesson("Ada answers."), line("✔"));
    let answer =
        ItemAnswer { by: "Ada", done: true, text: "rolled back", memory: Some(&memory), outbox: std::slice::from_ref(&post), at: at(30) };
    let ended = store.answer_item(&made.id, &answer).await.unwrap().unwrap();
    assert_eq!(outcome(&store, &made).await, (WorkStatus::Done, "Ada: rolled back".into()));
    let word = Evidence::Answer { by: "Ada".into(), text: "rolled back".into(), at: at(30) };
    assert_eq!(ended.item.evidence, [proof(), word]);
    assert_eq!((posts(&store).await.len(), store.list_lessons(&"vince".into(), 9).await.unwrap().len()), (1, 1));
    assert!(store.answer_item(&made.id, &answer).await.unwrap().is_none(), "it was pressed twice");
    let other = item("other", 0);
    plan(&store, std::slice::from_ref(&other)).await;
    assert!(store.answer_item(&other.id, &answer).await.unwrap().is_none(), "nobody was asked");
}

async fn what_is_not_needed_is_cancelled(home: &Home) {
    let store = home.open().await;
    let made = asked(&store, "remind Ada").await;
    let answer = ItemAnswer { by: "Ada", done: false, text: "we sold it", memory: None, outbox: &[], at: at(30) };
    store.answer_item(&made.id, &answer).await.unwrap().unwrap();
    assert_eq!(outcome(&store, &made).await, (WorkStatus::Cancelled, "not needed, says Ada: we sold it".into()));
}

/// An item with a result of Vince, in review.
async fn in_review(store: &Store) -> Held {
    let made = item("write it", 0);
    plan(store, std::slice::from_ref(&made)).await;
    let claimed = claim(store).await;
    hand_in(store, &claimed).await;
    claimed
}

async fn hand_in(store: &Store, claimed: &Held) {
    let product = Product { summary: "a page on it".into(), claims: vec![Claim::File { path: "a.md".into() }], ..Product::default() };
    assert!(store.record_product(&claimed.job, &product, at(12)).await.unwrap());
    end(store, &claimed.job, End::Review { evidence: vec![proof()], note: "by whom?".into() }).await.unwrap();
}

async fn judge(store: &Store, item: &WorkItem, by: &Judge, accepted: bool, note: &str) -> Option<Ended> {
    let memory = lesson("Short pages are accepted.");
    let post = |item: &WorkItem| vec![line(item.status.as_str())];
    let judgement = ItemJudgement {
        by,
        job: None,
        accepted,
        needs_person: false,
        note,
        account: None,
        findings: &[],
        scores: None,
        evidence: &[],
        amends: false,
        most_rejections: 3,
        memories: std::slice::from_ref(&memory),
        post: &post,
        at: at(40),
    };
    store.judge_item(&item.id, &judgement).await.unwrap()
}

async fn what_is_accepted_is_done(home: &Home) {
    let store = home.open().await;
    let made = in_review(&store).await.item.clone();
    let solus = Judge::Persona("solus".into());
    let ended = judge(&store, &made, &solus, true, "it is short").await.unwrap();
    assert_eq!(outcome(&store, &made).await, (WorkStatus::Done, "a page on it".into()));
    assert_eq!(ended.item.evidence, [proof(), reviewed_by(&solus, "it is short", 40)]);
    assert_eq!((posts(&store).await.len(), store.list_lessons(&"vince".into(), 9).await.unwrap().len()), (1, 1));
    assert!(judge(&store, &made, &solus, false, "or is it?").await.is_none(), "it is over");
    assert_eq!(trust_and_tension(&store).await, ("0.15".to_owned(), "0.00".to_owned()), "once");
}

/// The trust and tension between Solus, who judges, and Vince.
async fn trust_and_tension(store: &Store) -> (String, String) {
    let known = store.list_relationships(at(40)).await.unwrap();
    let between = known.between(&"vince".into(), &"solus".into()).expect("they have one");
    (format!("{:.2}", between.trust_at(at(40))), format!("{:.2}", between.tension_at(at(40))))
}

/// The text that a person gets about three rejections.
const WHY: &str = "it was rejected 3 times\n1: too long\n2: too long\n3: still too long";

async fn what_is_rejected_is_tried_again_until_a_person_has_to_decide(home: &Home) {
    let store = home.open().await;
    let made = in_review(&store).await.item.clone();
    let (solus, ada) = (Judge::Persona("solus".into()), Judge::Person("Ada".into()));
    for run in 1..3 {
        judge(&store, &made, &solus, false, "too long").await.unwrap();
        let stored = find(&store, &made).await;
        assert_eq!((stored.status, stored.run, stored.evidence.len()), (WorkStatus::Ready, run, 0));
        assert_eq!(last_event(&store, &made).await.note.as_deref(), Some("too long"), "the author is told");
        let claimed = claim(&store).await;
        assert_eq!(claimed.product, None);
        hand_in(&store, &claimed).await;
    }
    judge(&store, &made, &solus, false, "still too long").await.unwrap();
    let stored = find(&store, &made).await;
    assert_eq!(stored.wait, Some(Wait::Decision { why: WHY.into() }));
    assert!(store.list_lessons(&"vince".into(), 9).await.unwrap().is_empty());
    assert!(judge(&store, &made, &ada, false, "no").await.is_none(), "it was rejected often enough");
    judge(&store, &made, &ada, true, "good enough").await.unwrap();
    assert_eq!(outcome(&store, &made).await, (WorkStatus::Done, "a page on it".into()));
    // Each rejection changed the relationship once. The decision of a person does not change it.
    assert_eq!(trust_and_tension(&store).await, ("0.00".to_owned(), "0.39".to_owned()));
}

async fn the_author_does_not_judge(home: &Home) {
    let store = home.open().await;
    let made = in_review(&store).await.item.clone();
    assert!(judge(&store, &made, &Judge::Persona("vince".into()), true, "very good").await.is_none());
    assert_eq!(status(&store, &made).await, WorkStatus::InReview);
}

async fn a_person_hurries_an_item(home: &Home) {
    let store = home.open().await;
    let (slow, other) = (item("slow", 0), item("other", 0));
    plan(&store, std::slice::from_ref(&slow)).await;
    let claimed = claim(&store).await;
    end(&store, &claimed.job, End::Later { at: at(9_999), why: "later".into() }).await.unwrap();
    plan(&store, &[other]).await;
    assert!(store.run_item(&slow.id, "Ann", at(30)).await.unwrap());
    let next = claim(&store).await.item.clone();
    assert_eq!((next.what.as_str(), next.urgency), ("slow", Urgency::Now));
    store.cancel_item(&slow.id, "Ada", &[], at(31)).await.unwrap().unwrap();
    assert!(!store.run_item(&slow.id, "Ann", at(32)).await.unwrap());
    assert!(!store.run_item(&"unknown".into(), "Ann", at(32)).await.unwrap());
}

async fn an_item_edited_while_it_runs_begins_anew(home: &Home) {
    let store = home.open().await;
    let made = item("write it", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    let solus = Owner::Persona("solus".into());
    let edit = ItemEdit {
        what: Some("write it short"),
        how: Some("in a page"),
        why: Some("nobody reads two"),
        owner: Some(&solus),
        criteria: Some(&[]),
        urgency: Some(Urgency::Now),
        due: None,
        ..ItemEdit::default()
    };
    assert!(store.edit_item(&made.id, &edit, "Ada", at(30)).await.unwrap());
    assert!(!store.edit_item(&made.id, &edit, "Ada", at(31)).await.unwrap(), "nothing changes");
    assert!(!store.edit_item(&made.id, &ItemEdit::default(), "Ada", at(31)).await.unwrap());
    assert!(end(&store, &claimed.job, done()).await.is_none(), "it is not what was made");
    let stored = find(&store, &made).await;
    assert_eq!((stored.what.as_str(), stored.how.as_str(), stored.owner.clone()), ("write it short", "in a page", solus));
    assert_eq!((stored.status, stored.run, stored.execution, stored.persona), (WorkStatus::New, 1, None, None));
    assert_eq!(last_event(&store, &made).await.note.as_deref(), Some("changed by Ada"));
    assert!(store.plan_item(&made.id, &for_persona("solus"), at(32)).await.unwrap());
    assert_ne!(claim(&store).await.job.job().id, claimed.job.job().id, "another job");
    store.cancel_item(&made.id, "Ada", &[], at(33)).await.unwrap().unwrap();
    assert!(!store.edit_item(&made.id, &ItemEdit { what: Some("x"), ..ItemEdit::default() }, "Ada", at(34)).await.unwrap(), "it is over");
}

async fn an_edit_of_work_that_has_begun_is_told_to_its_run(home: &Home) {
    let store = home.open().await;
    let made = WorkItem { how: "in a page".into(), criteria: vec!["It has a date".into()], ..item("write it", 0) };
    plan(&store, std::slice::from_ref(&made)).await;
    let held = claim(&store).await;
    let asked = JournalEntry::Asked { system: String::new(), message: "Do the work.".into(), tainted: false, remarks: Vec::new() };
    assert!(store.append_journal(&held.job, &held.item, std::slice::from_ref(&asked), at(20)).await.unwrap());
    let product = Product { summary: "written".into(), claims: vec![Claim::File { path: "a.md".into() }], ..Product::default() };
    assert!(store.record_product(&held.job, &product, at(21)).await.unwrap());

    let edit = ItemEdit { how: Some("in a page\n\nin English"), ..ItemEdit::default() };
    assert!(store.edit_item(&made.id, &edit, "Ada", at(30)).await.unwrap());
    assert!(!store.append_journal(&held.job, &held.item, &[asked], at(31)).await.unwrap(), "its run was stopped");
    let stored = find(&store, &made).await;
    assert_eq!((stored.status, stored.run, stored.persona.as_ref()), (WorkStatus::Ready, 0, held.item.persona.as_ref()));
    assert_eq!(store.find_product(&made.id).await.unwrap(), None, "it is not what is wanted now");
    // A second word, before anybody went on.
    let criteria = ["It has a date".to_owned(), "It has a price".to_owned()];
    assert!(store.edit_item(&made.id, &ItemEdit { criteria: Some(&criteria), ..ItemEdit::default() }, "Bob", at(32)).await.unwrap());
    let told: Vec<String> = store.list_journal(&made.id, 0).await.unwrap().into_iter().filter_map(|(entry, _)| told(entry)).collect();
    assert_eq!(told.len(), 2);
    assert!(
        told[0].contains("was changed while you work on it (by Ada)") && told[0].ends_with("\n\nAdded to the instructions:\nin English"),
        "{told:?}"
    );
    assert!(told[1].contains("(by Bob)") && told[1].ends_with("The criteria are now:\n- It has a date\n- It has a price"), "{told:?}");

    // What waits for something outside of the work waits on, and hears it then.
    let held = claim(&store).await;
    assert_eq!((held.item.run, held.item.status), (0, WorkStatus::InProgress));
    assert!(store.pause_step(&made.id, at(40)).await.unwrap());
    assert!(store.edit_item(&made.id, &ItemEdit { why: Some("nobody reads two"), ..ItemEdit::default() }, "Ada", at(41)).await.unwrap());
    assert_eq!(find(&store, &made).await.wait, Some(Wait::Paused));
    assert_eq!(store.list_journal(&made.id, 0).await.unwrap().len(), 4);
    assert!(store.wake_item(&made.id, None, at(42)).await.unwrap());

    // Another owner starts from the beginning.
    let _held = claim(&store).await;
    let solus = Owner::Persona("solus".into());
    assert!(store.edit_item(&made.id, &ItemEdit { owner: Some(&solus), ..ItemEdit::default() }, "Ada", at(50)).await.unwrap());
    let stored = find(&store, &made).await;
    assert_eq!((stored.status, stored.run, stored.persona), (WorkStatus::New, 1, None));
}

async fn an_edit_of_work_with_drafted_criteria_keeps_the_run_and_tells_it_the_new_ones(home: &Home) {
    let store = home.open().await;
    let made = WorkItem { criteria: Vec::new(), ..item("write three e-mails", 0) };
    insert(&store, std::slice::from_ref(&made)).await;
    let drafted = |criterion: &str| Planned { criteria: vec![criterion.into()], ..for_persona("vince") };
    assert!(store.plan_item(&made.id, &drafted("There are three"), at(10)).await.unwrap());
    let held = claim(&store).await;
    let asked = JournalEntry::Asked { system: String::new(), message: "Do the work.".into(), tainted: false, remarks: Vec::new() };
    assert!(store.append_journal(&held.job, &held.item, &[asked], at(20)).await.unwrap());

    assert!(store.edit_item(&made.id, &ItemEdit { what: Some("write two e-mails"), ..ItemEdit::default() }, "Ada", at(30)).await.unwrap());
    let stored = find(&store, &made).await;
    assert_eq!((stored.status, stored.run, stored.criteria.len()), (WorkStatus::New, 0, 0), "the old criteria are for three");
    assert_eq!(stored.execution, Some(Execution::Research), "it stays the same kind of work");
    // A second word, before the planner came to it.
    assert!(store.edit_item(&made.id, &ItemEdit { how: Some("in English"), ..ItemEdit::default() }, "Ada", at(31)).await.unwrap());

    assert!(store.plan_item(&made.id, &drafted("There are two"), at(32)).await.unwrap());
    let again = claim(&store).await;
    assert_eq!((again.item.run, again.item.criteria.as_slice()), (0, &["There are two".to_owned()][..]));
    let told: Vec<String> = store.list_journal(&made.id, 0).await.unwrap().into_iter().filter_map(|(entry, _)| told(entry)).collect();
    assert!(told[0].ends_with("To be done now: write two e-mails") && told[1].ends_with("in English"), "{told:?}");
    assert_eq!(told[2..], ["The criteria are now:\n- There are two"]);
}

fn told(entry: JournalEntry) -> Option<String> {
    match entry {
        JournalEntry::Told { text } => Some(text),
        _ => None,
    }
}

async fn an_edit_of_the_urgency_or_the_reviewer_alone_disturbs_nobody(home: &Home) {
    let store = home.open().await;
    let made = item("write it", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    let ben = Owner::Person { id: "8".into(), name: "Ben".into() };
    let edit = ItemEdit { urgency: Some(Urgency::Backlog), reviewer: Some(&ben), ..ItemEdit::default() };
    assert!(store.edit_item(&made.id, &edit, "Ada", at(30)).await.unwrap());
    end(&store, &claimed.job, done()).await.unwrap();
    let stored = find(&store, &made).await;
    assert_eq!((stored.urgency, stored.reviewer), (Urgency::Backlog, Some(ben)));
}

async fn only_what_waits_is_woken(home: &Home) {
    let store = home.open().await;
    let made = asked(&store, "remind Ada").await;
    assert!(store.wake_item(&made.id, None, at(30)).await.unwrap());
    assert!(!store.wake_item(&made.id, None, at(30)).await.unwrap(), "it is awake");
    assert!(!store.wake_item(&"unknown".into(), None, at(30)).await.unwrap());
    assert_eq!(status(&store, &made).await, WorkStatus::Ready);
}

fn approval(item: &WorkItem, tool: &str) -> Approval {
    Approval {
        id: ApprovalId::generate(),
        item: item.id.clone(),
        run: item.run,
        tool: tool.into(),
        arguments: serde_json::json!({ "text": "a\0b", "channel": "general" }),
        risk: Risk::ReachOut,
        state: ApprovalState::Asked,
        by: None,
        asked_at: at(11),
        decided_at: None,
    }
}

async fn a_call_is_allowed_once_and_for_this_call_only(home: &Home) {
    let store = home.open().await;
    let made = item("post it", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    let asked = approval(&claimed.item, "post");
    let foreign = Approval { run: 7, ..asked.clone() };
    assert!(!store.ask_approval(&claimed.job, &foreign, &[], at(11)).await.unwrap(), "it is of another run");
    assert!(store.ask_approval(&claimed.job, &asked, &[line("may I?")], at(11)).await.unwrap());
    assert_eq!(find(&store, &made).await.wait, Some(Wait::Approval { approval: asked.id.clone() }));
    assert_eq!((posts(&store).await.len(), store.find_approval(&asked.id).await.unwrap()), (1, Some(asked.clone())));
    let print = fingerprint("post", &asked.arguments);
    assert_eq!(store.find_approval_for(&made.id, 0, &print).await.unwrap(), Some(asked.clone()));
    assert_eq!(store.find_approval_for(&made.id, 1, &print).await.unwrap(), None, "another run asks again");
    assert_eq!(store.find_approval_for(&made.id, 0, &fingerprint("post", &serde_json::json!({}))).await.unwrap(), None);

    let decided = store.decide_approval(&asked.id, true, "Ada", at(30)).await.unwrap().unwrap();
    assert_eq!((decided.state, decided.by.as_deref(), decided.decided_at), (ApprovalState::Allowed, Some("Ada"), Some(at(30))));
    assert!(store.decide_approval(&asked.id, false, "Ben", at(31)).await.unwrap().is_none(), "Ada was first");
    let log = store.list_events_of(asked.item.as_str(), &Audience::Team).await.unwrap();
    let approvals = log.iter().filter(|event| event.topic == "approval");
    let told: Vec<_> = approvals.map(|event| (event.kind.as_str(), event.actor.as_ref().and_then(|who| who.name.as_deref()))).collect();
    assert_eq!(told, [("asked", None), ("allowed", Some("Ada"))]);
    assert!(store.decide_approval(&"unknown".into(), true, "Ben", at(31)).await.unwrap().is_none());
    let claimed = claim(&store).await;
    assert_eq!(claimed.item.run, 0, "the same run goes on");
    let again = Approval { id: ApprovalId::generate(), ..asked.clone() };
    assert!(!store.ask_approval(&claimed.job, &again, &[], at(32)).await.unwrap(), "it was asked before");
    let other = approval(&claimed.item, "delete");
    assert!(store.ask_approval(&claimed.job, &other, &[], at(33)).await.unwrap());
    assert_eq!(store.decide_approval(&other.id, false, "Ada", at(34)).await.unwrap().unwrap().state, ApprovalState::Refused);
    assert_eq!(status(&store, &made).await, WorkStatus::Ready, "it goes on and is told no");
    assert_eq!(store.list_approvals(&made.id).await.unwrap().len(), 2);
}

async fn a_decision_on_a_call_of_what_is_over_wakes_nothing(home: &Home) {
    let store = home.open().await;
    let made = item("post it", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    let asked = approval(&claimed.item, "post");
    assert!(store.ask_approval(&claimed.job, &asked, &[], at(11)).await.unwrap());
    store.cancel_item(&made.id, "Ada", &[], at(20)).await.unwrap().unwrap();
    assert!(store.decide_approval(&asked.id, true, "Ben", at(21)).await.unwrap().is_some());
    assert_eq!(status(&store, &made).await, WorkStatus::Cancelled);
}

async fn items_are_found_by_the_end_of_their_ids(home: &Home) {
    let store = home.open().await;
    let named = |id: &str, seconds| WorkItem { id: id.into(), ..item(id, seconds) };
    insert(&store, &[named("000000aaabcdef", 0), named("000000bbabcdef", 1), named("000000ccabcde_", 2)]).await;
    let found = async |suffix: &str| {
        let items = store.find_items_by_suffix(suffix, 9).await.unwrap();
        items.into_iter().map(|item| item.what).collect::<Vec<_>>()
    };
    assert_eq!(found("abcdef").await, ["000000bbabcdef", "000000aaabcdef"], "two of one end, the newest first");
    assert_eq!(found("AAABCDEF").await, ["000000aaabcdef"]);
    assert_eq!(found("000000aaabcdef").await, ["000000aaabcdef"]);
    for none in ["", "bcdef", "_bcdef", "%abcdef", "x000000aaabcdef", "ééééééé"] {
        assert!(found(none).await.is_empty(), "{none}");
    }
    assert_eq!(store.find_items_by_suffix("abcdef", 1).await.unwrap().len(), 1);
}

async fn what_happens_moves_the_mark(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.backlog_mark().await.unwrap(), 0);
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let mark = store.backlog_mark().await.unwrap();
    let claimed = claim(&store).await;
    let later = store.backlog_mark().await.unwrap();
    assert!(later > mark);
    claimed.die().await;
    assert_eq!(store.backlog_mark().await.unwrap(), later, "the job says that");
    end(&store, &claim(&store).await.job, End::Released).await.unwrap();
    assert!(store.backlog_mark().await.unwrap() > later);
    let events = store.list_events(&made.id).await.unwrap();
    assert_eq!(
        events.iter().map(|event| event.to.as_str()).collect::<Vec<_>>(),
        ["new", "ready", "in_progress", "ready", "in_progress", "ready"]
    );
    assert_eq!(events[0].from, None);
}
