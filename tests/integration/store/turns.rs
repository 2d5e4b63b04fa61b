use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::ids::TurnId;
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{CancelScope, Finished, FollowUp};
use teamroom::store::Store;

use super::sample::{answer, at, decided, finished, general, turn};
use super::{Home, on_both};

on_both!(
    a_turn_runs_from_queued_to_answered,
    a_turn_cut_off_by_a_crash_begins_again,
    a_cancelled_turn_leaves_nothing_behind,
    a_turn_begun_anew_makes_the_earlier_one_void,
    a_turn_may_not_end_in_the_middle,
    an_answer_is_stored_with_what_it_leads_to,
    turns_are_cancelled_by_scope,
    a_chain_counts_what_was_said_or_will_be,
);

async fn a_turn_runs_from_queued_to_answered(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus")];
    decided(&store, "m1", &turns).await;

    let begun = store.begin_turn(&turns[0].id, at(3)).await.unwrap().unwrap();
    assert_eq!(begun, Turn { state: TurnState::Running, attempts: 1, ..turns[0].clone() });
    assert!(store.finish_turn(&finished(&begun)).await.unwrap());
    assert!(!store.finish_turn(&finished(&begun)).await.unwrap(), "it is over already");
    assert_eq!(store.begin_turn(&begun.id, at(6)).await.unwrap(), None);

    let row = store.find_turn(&begun.id).await.unwrap().unwrap();
    assert_eq!(row.turn, Turn { state: TurnState::Answered, ..begun });
    assert_eq!((row.started_at, row.finished_at), (Some(at(3)), Some(at(5))));
    assert_eq!((row.reply.as_deref(), row.model.as_deref(), row.prompt_chars), (Some("Solus is."), Some("scripted"), 400));
    assert_eq!(row.usage, finished(&row.turn).usage);
    assert_eq!(store.list_turns(&"m1".into()).await.unwrap().len(), 2);
    assert_eq!(store.list_open_turns().await.unwrap(), &turns[1..]);
    assert_eq!(store.find_turn(&TurnId::new("unknown")).await.unwrap(), None);
    assert_eq!(store.begin_turn(&TurnId::new("unknown"), at(1)).await.unwrap(), None);
}

async fn a_turn_cut_off_by_a_crash_begins_again(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus")];
    decided(&store, "m1", &turns).await;
    store.begin_turn(&turns[0].id, at(3)).await.unwrap();
    store.close().await;

    let store = home.open().await;
    let open = store.list_open_turns().await.unwrap();
    assert_eq!(
        open.iter().map(|turn| (turn.persona.as_str(), turn.state, turn.attempts)).collect::<Vec<_>>(),
        [("vince", TurnState::Running, 1), ("solus", TurnState::Queued, 0)]
    );
    assert_eq!(store.begin_turn(&turns[0].id, at(9)).await.unwrap().unwrap().attempts, 2);
}

async fn a_cancelled_turn_leaves_nothing_behind(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    let begun = store.begin_turn(&turns[0].id, at(2)).await.unwrap().unwrap();
    store.cancel_turns(CancelScope::All, "Ada said stop", at(3)).await.unwrap();

    let post = answer(&begun, "too late");
    assert!(!store.finish_turn(&Finished { outbox: &[post], ..finished(&begun) }).await.unwrap());
    assert_eq!(store.next_pending(&general().id, at(9)).await.unwrap(), None);
    let row = store.find_turn(&begun.id).await.unwrap().unwrap();
    assert_eq!((row.turn.state, row.error.as_deref(), row.reply), (TurnState::Cancelled, Some("Ada said stop"), None));
}

async fn a_turn_begun_anew_makes_the_earlier_one_void(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    let asleep = store.begin_turn(&turns[0].id, at(2)).await.unwrap().unwrap();
    let awake = store.begin_turn(&turns[0].id, at(60)).await.unwrap().unwrap();
    assert!(!store.finish_turn(&finished(&asleep)).await.unwrap());
    assert!(store.finish_turn(&finished(&awake)).await.unwrap());
}

async fn a_turn_may_not_end_in_the_middle(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    // It never started, so it cannot have answered. But it can be given up.
    assert!(!store.finish_turn(&finished(&turns[0])).await.unwrap());
    assert!(!store.finish_turn(&Finished { state: TurnState::Running, ..finished(&turns[0]) }).await.unwrap());
    let failed = Finished { state: TurnState::Failed, reply: None, error: Some("it crashed three times"), ..finished(&turns[0]) };
    assert!(store.finish_turn(&failed).await.unwrap());
    assert_eq!(store.find_turn(&turns[0].id).await.unwrap().unwrap().error.as_deref(), Some("it crashed three times"));
}

async fn an_answer_is_stored_with_what_it_leads_to(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    let begun = store.begin_turn(&turns[0].id, at(2)).await.unwrap().unwrap();

    let parts = [answer(&begun, "first part"), answer(&begun, "second part")];
    let decision = Decision::one("solus".into(), Reason::AgentMention);
    let next = [Turn { trigger: Trigger::Agent { from: "vince".into(), turn: begun.id.clone() }, ..turn("m1", "solus") }];
    let end = Finished { outbox: &parts, next: Some(FollowUp { decision: &decision, turns: &next }), ..finished(&begun) };
    assert!(store.finish_turn(&end).await.unwrap());
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.next_pending(&general().id, at(9)).await.unwrap().unwrap().message, parts[0]);
    assert_eq!(store.list_open_turns().await.unwrap(), next);
    assert_eq!(store.find_turn(&begun.id).await.unwrap().unwrap().follow_up, Some(decision));
    store.cancel_turns(CancelScope::AgentTalk(&general().id), "a person spoke", at(9)).await.unwrap();
    assert!(store.list_open_turns().await.unwrap().is_empty());
}

async fn turns_are_cancelled_by_scope(home: &Home) {
    let store = home.open().await;
    let elsewhere = Turn { channel: "20".into(), ..turn("m2", "echo") };
    let later = Turn { chain: "m1".into(), ..turn("m3", "oracle") };
    decided(&store, "m1", &[turn("m1", "vince"), turn("m1", "solus")]).await;
    decided(&store, "m2", std::slice::from_ref(&elsewhere)).await;
    decided(&store, "m3", std::slice::from_ref(&later)).await;
    decided(&store, "m4", &[turn("m4", "kelly")]).await;

    let cancel = async |store: &Store, scope: CancelScope<'_>| {
        let mut personas = Vec::new();
        for id in store.cancel_turns(scope, "stop", at(4)).await.unwrap() {
            personas.push(store.find_turn(&id).await.unwrap().unwrap().turn.persona.to_string());
        }
        personas
    };
    assert_eq!(cancel(&store, CancelScope::Message(&"m1".into())).await, ["vince", "solus"]);
    assert_eq!(cancel(&store, CancelScope::Chain(&"m1".into())).await, ["oracle"]);
    assert_eq!(cancel(&store, CancelScope::Channel(&general().id)).await, ["kelly"]);
    assert_eq!(cancel(&store, CancelScope::All).await, ["echo"]);
    assert!(cancel(&store, CancelScope::All).await.is_empty());
}

async fn a_chain_counts_what_was_said_or_will_be(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus"), turn("m1", "echo")];
    decided(&store, "m1", &turns).await;
    assert_eq!(store.count_chain_turns(&"m1".into()).await.unwrap(), 3);
    store.begin_turn(&turns[0].id, at(2)).await.unwrap();
    store.cancel_turns(CancelScope::Message(&"m1".into()), "a person spoke", at(3)).await.unwrap();
    assert_eq!(store.count_chain_turns(&"m1".into()).await.unwrap(), 0);
    assert_eq!(store.count_chain_turns(&"m2".into()).await.unwrap(), 0);
}
