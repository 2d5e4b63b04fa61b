use kernel::agent::ask::{Ask, AskState};
use kernel::db::sql;
use kernel::ids::AskId;
use teamroom::features::chat::model::decision::{AskRequest, Decision, Reason};
use teamroom::features::chat::store::{AskUpdate, Decided};
use teamroom::store::Store;

use super::sample::{ask, at, general, line, message};
use super::{Home, on_both};

on_both!(
    an_ask_is_known_before_it_is_put,
    an_answer_after_the_deadline_is_late,
    an_ask_is_settled_once,
    an_ask_expires_once_and_has_one_job,
    a_deleted_message_leaves_no_question_and_no_answer,
);

async fn settle(store: &Store, ask: &Ask, state: AskState, answer: Option<&str>) -> bool {
    store.settle_ask(&AskUpdate { ask: &ask.id, state, answer }, &[line(state.as_str())], at(9)).await.unwrap()
}

async fn state(store: &Store, ask: &Ask) -> AskState {
    store.find_ask(&ask.id).await.unwrap().unwrap().state
}

async fn an_ask_is_known_before_it_is_put(home: &Home) {
    let store = home.open().await;
    let asked = ask("m1");
    store.record_ask(&asked).await.unwrap();
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.find_ask(&asked.id).await.unwrap().as_ref(), Some(&asked));
    assert_eq!(store.list_open_asks().await.unwrap(), [asked]);
    assert_eq!(store.find_ask(&AskId::new("unknown")).await.unwrap(), None);
}

async fn an_answer_after_the_deadline_is_late(home: &Home) {
    let store = home.open().await;
    let (slow, slower) = (ask("m1"), ask("m2"));
    store.record_ask(&slow).await.unwrap();
    store.record_ask(&slower).await.unwrap();
    assert!(!settle(&store, &slow, AskState::Late, Some("not yet late")).await);
    assert!(settle(&store, &slow, AskState::Expired, None).await);
    assert!(!settle(&store, &slow, AskState::Expired, None).await, "the channel is told once");
    assert_eq!(store.list_open_asks().await.unwrap().len(), 2, "an answer may still come");

    assert!(!settle(&store, &slow, AskState::Answered, Some("in time")).await, "the deadline has passed");
    assert!(settle(&store, &slow, AskState::Late, Some("better late")).await);
    assert_eq!(state(&store, &slow).await, AskState::Late);
    assert_eq!(store.find_ask(&slow.id).await.unwrap().unwrap().answer.as_deref(), Some("better late"));
    assert!(settle(&store, &slower, AskState::Failed, None).await);
    assert!(store.list_open_asks().await.unwrap().is_empty());
}

async fn an_ask_is_settled_once(home: &Home) {
    let store = home.open().await;
    let asked = ask("m1");
    store.record_ask(&asked).await.unwrap();
    assert!(settle(&store, &asked, AskState::Answered, Some("yes")).await);
    for other in [AskState::Answered, AskState::Expired, AskState::Late, AskState::Failed, AskState::Asked] {
        assert!(!settle(&store, &asked, other, Some("no")).await);
    }
    assert_eq!(store.find_ask(&asked.id).await.unwrap().unwrap().answer.as_deref(), Some("yes"));
    assert_eq!(store.outbox_depth(at(9)).await.unwrap().0, 1, "what was refused posts nothing");
    assert_eq!(store.next_pending(&general().id, at(9)).await.unwrap().unwrap().message.text, "answered");
    assert!(!settle(&store, &ask("m2"), AskState::Failed, None).await, "it was never stored");
}

/// The open jobs of a kind.
async fn count_jobs(store: &Store, kind: &str) -> i64 {
    let (count,): (i64,) =
        sql!(store.db().read(), fetch_one, "SELECT COUNT(*) FROM jobs WHERE kind = $1 AND finished_at IS NULL", kind).unwrap();
    count
}

async fn an_ask_expires_once_and_has_one_job(home: &Home) {
    let store = home.open().await;
    let (slow, quick) = (ask("m1"), ask("m2"));
    store.record_ask(&slow).await.unwrap();
    store.record_ask(&quick).await.unwrap();
    assert_eq!(count_jobs(&store, "ask.late").await, 0);
    assert!(store.expire_ask(&slow.id, at(9)).await.unwrap());
    assert!(!store.expire_ask(&slow.id, at(9)).await.unwrap(), "it has expired already");
    store.enqueue_late_ask(&slow.id, at(9)).await.unwrap();
    assert_eq!((state(&store, &slow).await, count_jobs(&store, "ask.late").await), (AskState::Expired, 1));

    assert!(settle(&store, &quick, AskState::Answered, Some("yes")).await);
    assert!(!store.expire_ask(&quick.id, at(9)).await.unwrap());
    assert!(!store.expire_ask(&AskId::new("unknown"), at(9)).await.unwrap());
    assert_eq!((state(&store, &quick).await, count_jobs(&store, "ask.late").await), (AskState::Answered, 1));
}

async fn a_deleted_message_leaves_no_question_and_no_answer(home: &Home) {
    let store = home.open().await;
    store.claim(&message("m1", "ask vince about zq4711", 0), at(0)).await.unwrap();
    let mut decision = Decision::one("kelly".into(), Reason::Question);
    decision.ask = Some(AskRequest { askee: "vince".into(), question: "what about zq4711?".into() });
    decision.because = Some("it asks about zq4711".into());
    let messages = ["m1".into()];
    let asked = Ask { question: "what about zq4711?".into(), ..ask("m1") };
    let decided = Decided {
        messages: &messages,
        decision: &decision,
        turns: &[],
        asks: std::slice::from_ref(&asked),
        outbox: &[],
        effect: None,
        at: at(1),
    };
    assert!(store.decide(&decided).await.unwrap());
    assert!(settle(&store, &asked, AskState::Answered, Some("zq4711 it is")).await);
    store.record_deletion(&["m1".into()], at(10)).await.unwrap();
    let kept = store.find_ask(&asked.id).await.unwrap().unwrap();
    assert_eq!((kept.question.as_str(), kept.answer, kept.state), ("", None, AskState::Answered));
    let row = store.find_message(&"m1".into()).await.unwrap().unwrap();
    assert!(!serde_json::to_string(&row.decision).unwrap().contains("zq4711"), "{row:?}");
    assert_eq!(row.decision.unwrap().responders, ["kelly".into()]);
}
