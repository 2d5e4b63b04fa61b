use kernel::ids::LedgerId;
use kernel::llm::budget::Budgets;
use kernel::money::{Limit, Money, Purpose, Refused, Reservation};
use kernel::persona::Tier;
use teamroom::features::backlog::model::{Evidence, FilePlace, Finding, Judge, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, Ended, EndedBetween, ItemJudgement, RunEnd};
use teamroom::store::Store;

use super::{
    claim, do_next, done, end, failed, find, for_persona, ids, insert, item, last_event, last_note, needing, no_post, outcome, part_of,
    plan, posts, proof, status, waits,
};
use crate::store::sample::{at, lesson, line};
use crate::store::{Home, on_both};

on_both!(
    a_run_ends_once_with_all_that_follows_from_it,
    what_its_calls_cost_is_added_up,
    an_item_in_review_keeps_what_was_found,
    an_item_that_waits_goes_on_with_the_same_run,
    an_item_given_back_has_lost_nothing,
    an_item_is_released_when_all_that_it_needs_is_done,
    a_failure_fails_all_that_depend_on_it_and_names_the_cause,
    what_is_cancelled_fails_all_that_depend_on_it,
    a_parent_is_judged_when_its_last_part_is_done,
    a_whole_that_is_tried_again_goes_back_to_the_authors_of_its_parts,
    what_only_a_person_can_add_is_no_fault_of_the_author,
    a_done_item_is_reopened_with_what_is_wrong_and_what_builds_on_it_follows,
    a_run_that_uses_a_result_ends_when_that_is_done_again,
    parts_of_something_that_is_over_stay_and_one_that_is_judged_waits,
    a_parent_fails_with_the_last_of_its_parts_if_one_failed,
    a_parent_whose_parts_were_all_cancelled_fails,
    a_parent_that_ends_releases_what_needs_it,
    the_parts_of_what_is_cancelled_are_cancelled,
    two_parts_that_end_at_once_end_their_parent,
    a_failed_post_leaves_no_end,
);

async fn a_run_ends_once_with_all_that_follows_from_it(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    let (memory, post) = (lesson("Measure first."), line("✔ a"));
    let whole = RunEnd {
        job: &claimed.job,
        end: End::Done { outcome: "it is fast\0".into(), evidence: vec![proof()], memories: vec![memory.clone()] },
        artefacts: &[],
        outbox: std::slice::from_ref(&post),
        at: at(20),
    };
    let ended = store.end_run(&whole).await.unwrap().unwrap();
    assert!(store.end_run(&whole).await.unwrap().is_none());
    let stored = find(&store, &made).await;
    assert_eq!(ended.item, stored, "as it stands from now on");
    assert_eq!((stored.status, stored.outcome.as_deref(), &stored.evidence[..]), (WorkStatus::Done, Some("it is fast"), &[proof()][..]));
    assert_eq!((stored.updated_at, last_event(&store, &made).await.at), (at(20), at(20)));
    assert_eq!(store.list_lessons(&"vince".into(), 9).await.unwrap(), [memory]);
    assert_eq!(posts(&store).await, [post.id]);
    assert!(super::list_running(&store).await.is_empty());
}

async fn what_its_calls_cost_is_added_up(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    for cost in [300, 41] {
        let call = Reservation {
            id: LedgerId::generate(),
            at: at(11),
            persona: None,
            purpose: Purpose::Step,
            subject: made.id.as_str().to_owned(),
            allowance: None,
            provider: "scripted".into(),
            model: "m".into(),
            tier: Tier::T1,
            tokens: 10,
            cost: Money(cost),
        };
        store.reserve(&call, &Budgets::default()).await.unwrap();
    }
    end(&store, &claimed.job, End::Later { at: at(0), why: "busy".into() }).await.unwrap();
    assert_eq!(find(&store, &made).await.cost, Money(341));
}

async fn an_item_in_review_keeps_what_was_found(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    end(&store, &claimed.job, End::Review { evidence: vec![proof()], note: "is it good?".into() }).await.unwrap();
    let stored = find(&store, &made).await;
    assert_eq!((stored.status, &stored.evidence[..]), (WorkStatus::InReview, &[proof()][..]));
    assert_eq!(last_event(&store, &made).await.note.as_deref(), Some("is it good?"));
}

async fn an_item_that_waits_goes_on_with_the_same_run(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    for _ in 0..2 {
        let claimed = claim(&store).await;
        let wait = Wait::for_budget(Refused { limit: Limit::Item(made.id.clone()), spent: 2, allowed: 1 }, at(20));
        end(&store, &claimed.job, End::Waits { wait: wait.clone(), evidence: vec![proof()] }).await.unwrap();
        let stored = find(&store, &made).await;
        assert_eq!((stored.status, stored.wait.as_ref(), stored.run), (WorkStatus::Waiting, Some(&wait), 0));
        assert_eq!(stored.evidence, [proof()], "found twice, kept once");
        assert_eq!(last_event(&store, &made).await.note, Some(wait.describe()));
        assert!(store.wake_item(&made.id, None, at(30)).await.unwrap());
    }
    let claimed = claim(&store).await;
    assert_eq!((claimed.item.wait.clone(), claimed.item.run, claimed.item.attempts), (None, 0, 0));
}

async fn an_item_given_back_has_lost_nothing(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    plan(&store, std::slice::from_ref(&made)).await;
    let claimed = claim(&store).await;
    end(&store, &claimed.job, End::Released).await.unwrap();
    let again = claim(&store).await;
    assert_eq!(again.item, WorkItem { updated_at: at(10), ..claimed.item.clone() });
}

async fn an_item_is_released_when_all_that_it_needs_is_done(home: &Home) {
    let store = home.open().await;
    let (left, right) = (item("left", 0), item("right", 1));
    let both = needing("both", &[&left, &right]);
    let unplanned = needing("unplanned", &[&left]);
    plan(&store, &[left.clone(), right.clone(), both.clone()]).await;
    insert(&store, std::slice::from_ref(&unplanned)).await;
    assert_eq!(status(&store, &both).await, WorkStatus::Blocked);
    let ended = do_next(&store).await;
    assert_eq!((ended.item.what.as_str(), ended.released.len()), ("left", 0), "one of two");
    let ended = do_next(&store).await;
    assert_eq!(ended.released, ids(&[&both]));
    assert_eq!(status(&store, &unplanned).await, WorkStatus::New, "the planner comes first");
    assert!(store.plan_item(&unplanned.id, &for_persona("solus"), at(30)).await.unwrap());
    assert_eq!(status(&store, &unplanned).await, WorkStatus::Ready, "what it needs is done already");
    let mut next = [claim(&store).await.item.what.clone(), claim(&store).await.item.what.clone()];
    next.sort_unstable();
    assert_eq!(next, ["both", "unplanned"], "each by its own persona");
}

async fn a_failure_fails_all_that_depend_on_it_and_names_the_cause(home: &Home) {
    let store = home.open().await;
    let (base, free) = (item("measure", 0), item("free", 1));
    let middle = needing("decide", &[&base]);
    let top = needing("deploy", &[&middle, &base, &free]);
    let unplanned = needing("tell", &[&top]);
    plan(&store, &[base.clone(), free.clone(), middle.clone(), top.clone()]).await;
    insert(&store, std::slice::from_ref(&unplanned)).await;
    let claimed = claim(&store).await;
    let ended = end(&store, &claimed.job, failed()).await.unwrap();
    assert_eq!(ended.failed, ids(&[&middle, &top, &unplanned]));
    assert_eq!(outcome(&store, &base).await, (WorkStatus::Failed, "it cannot be done".into()));
    assert_eq!(outcome(&store, &middle).await, (WorkStatus::Failed, "it needs \"measure\", which failed".into()));
    assert_eq!(outcome(&store, &top).await.0, WorkStatus::Failed);
    assert_eq!(outcome(&store, &unplanned).await, (WorkStatus::Failed, "it needs \"deploy\", which failed".into()));
    assert_eq!(last_event(&store, &middle).await.note.unwrap(), "it needs \"measure\", which failed");
    assert_eq!(status(&store, &free).await, WorkStatus::Ready, "what others needed too is left alone");
}

async fn what_is_cancelled_fails_all_that_depend_on_it(home: &Home) {
    let store = home.open().await;
    let base = item("measure", 0);
    let top = needing("deploy", &[&base]);
    plan(&store, &[base.clone(), top.clone()]).await;
    let ended = store.cancel_item(&base.id, "Ada", &[line("cancelled")], at(30)).await.unwrap().unwrap();
    assert_eq!((ended.item.status, ended.failed), (WorkStatus::Cancelled, ids(&[&top])));
    assert_eq!(outcome(&store, &base).await.1, "cancelled by Ada");
    assert_eq!(outcome(&store, &top).await, (WorkStatus::Failed, "it needs \"measure\", which was cancelled".into()));
    assert_eq!(posts(&store).await.len(), 1);
    assert!(store.cancel_item(&base.id, "Ben", &[line("again")], at(31)).await.unwrap().is_none());
    assert!(store.cancel_item(&"unknown".into(), "Ben", &[], at(31)).await.unwrap().is_none());
}

async fn a_parent_is_judged_when_its_last_part_is_done(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let parts = [part_of(&whole, "one"), part_of(&whole, "two"), part_of(&whole, "three")];
    plan(&store, std::slice::from_ref(&whole)).await;
    assert_eq!(status(&store, &whole).await, WorkStatus::Ready);
    plan(&store, &parts).await;
    assert_eq!(status(&store, &whole).await, WorkStatus::Blocked, "it has parts now");
    store.cancel_item(&parts[2].id, "Ada", &[], at(5)).await.unwrap().unwrap();
    assert!(do_next(&store).await.parents.is_empty());
    assert_eq!(do_next(&store).await.parents, ids(&[&whole]));
    assert_eq!(
        status(&store, &whole).await,
        WorkStatus::InReview,
        "its own criteria are judged, and a part that was not needed does no harm"
    );
    assert_eq!(last_note(&store, &whole, WorkStatus::InReview).await, "its parts are done");
    assert_eq!(store.list_parts(&whole.id).await.unwrap().len(), 3);

    // The judgement says what is missing, and another part adds it.
    judge_whole(&store, &whole, false, "1. The figures are there: those of May are missing").await;
    let waiting = find(&store, &whole).await;
    let why = format!(
        "its parts do not give all of it. \"Try again\" sends it back to their authors; what is missing can be added as another part of #{}\n1. The \
         figures are there: those of May are missing",
        whole.short_id()
    );
    assert_eq!((waiting.status, waiting.wait), (WorkStatus::Waiting, Some(Wait::Decision { why })));
    plan(&store, &[part_of(&whole, "May")]).await;
    assert_eq!(status(&store, &whole).await, WorkStatus::Blocked);
    assert_eq!(do_next(&store).await.parents, ids(&[&whole]));
    judge_whole(&store, &whole, true, "all 2 criteria are met").await;
    assert_eq!(outcome(&store, &whole).await, (WorkStatus::Done, "all 2 criteria are met".into()));
}

async fn a_whole_that_is_tried_again_goes_back_to_the_authors_of_its_parts(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let plan_of = part_of(&whole, "plan");
    let text = WorkItem { depends_on: vec![plan_of.id.clone()], ..part_of(&whole, "text") };
    plan(&store, &[whole.clone(), plan_of.clone(), text.clone()]).await;
    do_next(&store).await;
    do_next(&store).await;
    let unmet = |place: Option<&str>| Finding {
        criterion: "It agrees".into(),
        met: false,
        text: "It does not.".into(),
        place: place.map(|file| FilePlace { file: file.to_owned(), line: 3 }),
        needs_person: false,
    };

    // What is missing altogether is for the part that comes last.
    reject_whole(&store, &whole, &[unmet(None)]).await;
    assert!(store.retry_item(&whole.id, "Ada", at(41)).await.unwrap());
    assert_eq!((status(&store, &whole).await, status(&store, &plan_of).await), (WorkStatus::Blocked, WorkStatus::Done));
    let again = find(&store, &text).await;
    assert_eq!((again.status, again.run, again.outcome), (WorkStatus::Ready, 1, None));
    assert_eq!(last_note(&store, &text, WorkStatus::Blocked).await, "the whole was not accepted: 1. It agrees: It does not.");
    let sent_back = store.list_reviews(&text.id).await.unwrap().pop().unwrap();
    assert_eq!(
        (sent_back.accepted, sent_back.run, sent_back.by),
        (false, 0, Judge::Person("Ada".into())),
        "the same result is not judged again"
    );
    assert_eq!(do_next(&store).await.parents, ids(&[&whole]));

    // What is wrong in a file is for its author, and what was built on it follows.
    reject_whole(&store, &whole, &[unmet(Some(&format!("inputs/{}/plan.md", plan_of.short_id())))]).await;
    assert!(store.retry_item(&whole.id, "Ada", at(42)).await.unwrap());
    assert_eq!((status(&store, &plan_of).await, status(&store, &text).await), (WorkStatus::Ready, WorkStatus::Blocked));
    assert_eq!(last_note(&store, &text, WorkStatus::Blocked).await, "what it builds on is done again: plan");
    assert_eq!(do_next(&store).await.released, ids(&[&text]));
    assert_eq!(do_next(&store).await.parents, ids(&[&whole]));
    judge_whole(&store, &whole, true, "it is right now").await;
    assert_eq!(status(&store, &whole).await, WorkStatus::Done);
}

async fn a_done_item_is_reopened_with_what_is_wrong_and_what_builds_on_it_follows(home: &Home) {
    let store = home.open().await;
    let base = item("measure", 0);
    let top = needing("deploy", &[&base]);
    plan(&store, &[base.clone(), top.clone()]).await;
    assert!(!Box::pin(store.reopen_item(&base.id, ("Ada", "Ada says: no"), at(2))).await.unwrap(), "it is not done yet");
    do_next(&store).await;
    do_next(&store).await;
    assert!(Box::pin(store.reopen_item(&base.id, ("Ada", "Ada says: the second run is missing"), at(41))).await.unwrap());
    let again = find(&store, &base).await;
    assert_eq!((again.status, again.run, again.outcome), (WorkStatus::Ready, 1, None));
    assert_eq!(last_note(&store, &base, WorkStatus::Blocked).await, "Ada says: the second run is missing");
    assert_eq!(status(&store, &top).await, WorkStatus::Blocked);
    assert_eq!(do_next(&store).await.released, ids(&[&top]));
    do_next(&store).await;
    assert_eq!((status(&store, &base).await, status(&store, &top).await), (WorkStatus::Done, WorkStatus::Done));
}

async fn a_run_that_uses_a_result_ends_when_that_is_done_again(home: &Home) {
    let store = home.open().await;
    let base = item("measure", 0);
    let top = needing("deploy", &[&base]);
    plan(&store, &[base.clone(), top.clone()]).await;
    do_next(&store).await;
    let claimed = claim(&store).await;
    assert_eq!(claimed.item.id, top.id);
    assert!(Box::pin(store.reopen_item(&base.id, ("Ada", "Ada says: measure twice"), at(41))).await.unwrap());
    assert_eq!((status(&store, &base).await, status(&store, &top).await), (WorkStatus::Ready, WorkStatus::Blocked));
    assert!(end(&store, &claimed.job, done()).await.is_none(), "what it made of the old result counts for nothing");
    assert_eq!(do_next(&store).await.released, ids(&[&top]));
    do_next(&store).await;
    assert_eq!(status(&store, &top).await, WorkStatus::Done);
}

async fn parts_of_something_that_is_over_stay_and_one_that_is_judged_waits(home: &Home) {
    let store = home.open().await;
    let base = item("measure", 0);
    let (judged, over) = (item("judged", 0), item("over", 0));
    let in_judged = WorkItem { depends_on: vec![base.id.clone()], ..part_of(&judged, "one") };
    let in_over = WorkItem { depends_on: vec![base.id.clone()], ..part_of(&over, "two") };
    plan(&store, &[base.clone(), judged.clone(), over.clone(), in_judged.clone(), in_over.clone()]).await;
    for _ in 0..3 {
        do_next(&store).await;
    }
    judge_whole(&store, &over, true, "it is right").await;
    assert!(Box::pin(store.reopen_item(&base.id, ("Ada", "Ada says: measure twice"), at(41))).await.unwrap());
    assert_eq!((status(&store, &in_over).await, status(&store, &over).await), (WorkStatus::Done, WorkStatus::Done));
    assert_eq!((status(&store, &in_judged).await, status(&store, &judged).await), (WorkStatus::Blocked, WorkStatus::Blocked));
    assert!(!Box::pin(store.reopen_item(&in_over.id, ("Ada", "no"), at(42))).await.unwrap(), "its whole is over");
    assert!(Box::pin(store.reopen_item(&over.id, ("Ada", "Ada says: \"two\" is wrong"), at(43))).await.unwrap());
    assert_eq!(
        (status(&store, &in_over).await, status(&store, &over).await),
        (WorkStatus::Blocked, WorkStatus::Blocked),
        "it needs base, too"
    );
}

async fn reject_whole(store: &Store, whole: &WorkItem, findings: &[Finding]) {
    let by = Judge::Person("Ada".into());
    let judgement = ItemJudgement { findings, ..judgement(&by, false, "1. It agrees: It does not.") };
    store.judge_item(&whole.id, &judgement).await.unwrap().expect("it is in review");
}

async fn what_only_a_person_can_add_is_no_fault_of_the_author(home: &Home) {
    let store = home.open().await;
    plan(&store, &[item("letter", 0)]).await;
    let claimed = claim(&store).await;
    end(&store, &claimed.job, End::Review { evidence: vec![proof()], note: "by whom?".into() }).await.unwrap();
    let by = Judge::Person("Ada".into());
    let note = "1 of 2 criteria are met, the rest needs a person\n2. Ann has approved it: not yet (a person is asked for this)";
    let judgement = ItemJudgement { needs_person: true, ..judgement(&by, false, note) };
    let waiting = store.judge_item(&claimed.item.id, &judgement).await.unwrap().expect("it is in review").item;
    assert_eq!((waiting.status, waiting.run, waiting.wait), (WorkStatus::Waiting, 0, Some(Wait::Decision { why: note.into() })));
}

/// A person judges the result of the parts.
async fn judge_whole(store: &Store, whole: &WorkItem, accepted: bool, note: &str) -> Ended {
    let by = Judge::Person("Ada".into());
    store.judge_item(&whole.id, &judgement(&by, accepted, note)).await.unwrap().expect("it is in review")
}

fn judgement<'a>(by: &'a Judge, accepted: bool, note: &'a str) -> ItemJudgement<'a> {
    ItemJudgement {
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
        memories: &[],
        post: &no_post,
        at: at(40),
    }
}

async fn a_parent_fails_with_the_last_of_its_parts_if_one_failed(home: &Home) {
    let store = home.open().await;
    let mission = item("mission", 0);
    let whole = part_of(&mission, "whole");
    let parts = [part_of(&whole, "one"), part_of(&whole, "two")];
    let other = item("other", 9);
    plan(&store, &[mission.clone(), whole.clone(), parts[0].clone(), parts[1].clone(), other.clone()]).await;
    let claimed = claim(&store).await;
    let ended = end(&store, &claimed.job, failed()).await.unwrap();
    assert!(ended.parents.is_empty(), "another part may still bring something");
    let ended = do_next(&store).await;
    assert_eq!(ended.parents, ids(&[&whole, &mission]));
    let told = async |with: &WorkItem| {
        let between = EndedBetween { after: 0, until: i64::MAX, connected_with: Some(with.id.clone()) };
        store.list_ended_with_others(&between).await.unwrap().into_iter().map(|item| item.id).collect::<Vec<_>>()
    };
    assert_eq!(told(&parts[0]).await, ids(&[&whole, &mission]), "not the parts, which were worked on");
    assert!(told(&other).await.is_empty(), "it has nothing to do with them");
    assert_eq!(outcome(&store, &whole).await, (WorkStatus::Failed, format!("its part \"{}\" failed", claimed.item.what)));
    assert_eq!(outcome(&store, &mission).await, (WorkStatus::Failed, "its part \"whole\" failed".into()));
}

async fn a_parent_whose_parts_were_all_cancelled_fails(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let part = part_of(&whole, "one");
    plan(&store, &[whole.clone(), part.clone()]).await;
    let ended = store.cancel_item(&part.id, "Ada", &[], at(5)).await.unwrap().unwrap();
    assert_eq!(ended.parents, ids(&[&whole]));
    assert_eq!(outcome(&store, &whole).await, (WorkStatus::Failed, "its part \"one\" was cancelled".into()));
}

async fn a_parent_that_ends_releases_what_needs_it(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let part = part_of(&whole, "part");
    let after = needing("after", &[&whole]);
    plan(&store, &[whole.clone(), part.clone(), after.clone()]).await;
    let ended = do_next(&store).await;
    assert_eq!((ended.parents, ended.released), (ids(&[&whole]), vec![]), "what needs it waits for the judgement");
    assert_eq!(judge_whole(&store, &whole, true, "it is all there").await.released, ids(&[&after]));
    assert_eq!(claim(&store).await.item.what, "after");
}

async fn the_parts_of_what_is_cancelled_are_cancelled(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let parts = [part_of(&whole, "one"), part_of(&whole, "two")];
    let after = needing("after", &[&parts[0]]);
    plan(&store, &[whole.clone(), parts[0].clone(), parts[1].clone(), after.clone()]).await;
    let running = claim(&store).await;
    let ended = store.cancel_item(&whole.id, "Ada", &[], at(30)).await.unwrap().unwrap();
    assert_eq!(ended.failed.len(), 3);
    for part in &parts {
        assert_eq!(outcome(&store, part).await, (WorkStatus::Cancelled, "it is a part of \"whole\", which was cancelled".into()));
    }
    assert_eq!(outcome(&store, &after).await, (WorkStatus::Failed, "it needs \"one\", which was cancelled".into()));
    assert!(end(&store, &running.job, done()).await.is_none(), "who worked on one finds out");
}

async fn two_parts_that_end_at_once_end_their_parent(home: &Home) {
    let store = home.open().await;
    for round in 0..10 {
        let whole = item("whole", 0);
        let parts = [part_of(&whole, "one"), part_of(&whole, "two")];
        insert(&store, &[whole.clone(), parts[0].clone(), parts[1].clone()]).await;
        for (item, persona) in [(&whole, "kelly"), (&parts[0], "vince"), (&parts[1], "solus")] {
            assert!(store.plan_item(&item.id, &for_persona(persona), at(1)).await.unwrap());
        }
        let (one, two) = (claim(&store).await, claim(&store).await);
        let (one, two) = tokio::join!(end(&store, &one.job, done()), end(&store, &two.job, done()));
        let parents = [one.unwrap().parents, two.unwrap().parents].concat();
        assert_eq!(parents, ids(&[&whole]), "round {round}: the later one, and only that");
        assert_eq!(status(&store, &whole).await, WorkStatus::InReview);
    }
}

async fn a_failed_post_leaves_no_end(home: &Home) {
    let store = home.open().await;
    let made = item("a", 0);
    let after = needing("after", &[&made]);
    plan(&store, &[made.clone(), after.clone()]).await;
    let claimed = claim(&store).await;
    crate::store::opening::tamper(home, "DROP TABLE memories").await;
    let end = End::Done { outcome: "fast".into(), evidence: vec![proof()], memories: vec![lesson("x")] };
    store.end_run(&RunEnd { job: &claimed.job, end, artefacts: &[], outbox: &[line("done")], at: at(20) }).await.unwrap_err();
    assert_eq!((status(&store, &made).await, status(&store, &after).await), (WorkStatus::InProgress, WorkStatus::Blocked));
    assert!(posts(&store).await.is_empty());
    assert!(super::end(&store, &claimed.job, waits(Wait::Model)).await.is_some(), "the job is still held");
}

/// The evidence of an accepted review.
pub(super) fn reviewed_by(judge: &Judge, note: &str, seconds: i64) -> Evidence {
    Evidence::Review { by: judge.clone(), note: note.into(), at: at(seconds) }
}
