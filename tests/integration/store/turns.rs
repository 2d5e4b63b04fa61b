use kernel::agent::ask::AskState;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::ids::TurnId;
use kernel::jobs::{JobId, JobState};
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{CancelScope, Finished, FollowUp, fail_turn};
use teamroom::store::Store;

use super::opening::tamper;
use super::sample::{answer, ask, at, decided, finish, finished, general, turn};
use super::{Home, on_both};

on_both!(
    a_turn_runs_from_queued_to_answered,
    a_trace_says_whether_a_turn_runs,
    a_turn_of_an_earlier_program_gets_a_job,
    a_cancelled_turn_leaves_nothing_behind,
    a_turn_whose_job_is_given_up_fails_and_so_does_its_ask,
    an_answer_is_stored_with_what_it_leads_to,
    turns_are_cancelled_by_scope,
    a_chain_counts_what_was_said_or_will_be,
);

async fn a_turn_runs_from_queued_to_answered(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus")];
    decided(&store, "m1", &turns).await;

    assert!(finish(&store, &finished(&turns[0])).await.unwrap());
    assert!(!finish(&store, &finished(&turns[0])).await.unwrap(), "it is over already");

    let row = store.find_turn(&turns[0].id).await.unwrap().unwrap();
    assert_eq!(row.turn, Turn { state: TurnState::Answered, ..turns[0].clone() });
    assert_eq!((row.attempts, row.started_at, row.finished_at), (1, Some(at(3)), Some(at(5))));
    assert_eq!((row.reply.as_deref(), row.model.as_deref(), row.prompt_chars), (Some("Solus is."), Some("scripted"), 400));
    assert_eq!(row.usage, finished(&row.turn).usage);
    assert_eq!(store.list_open_turns().await.unwrap(), &turns[1..]);
    assert_eq!(store.find_turn(&TurnId::new("unknown")).await.unwrap(), None);
}

/// The job of a turn has details that the turn's own row lacks.
async fn a_trace_says_whether_a_turn_runs(home: &Home) {
    let store = home.open().await;
    decided(&store, "m1", &[turn("m1", "vince")]).await;
    let stands = async || {
        let row = store.trace(&"m1".into()).await.unwrap().unwrap().turns.remove(0);
        (row.turn.state, row.attempts)
    };
    assert_eq!(stands().await, (TurnState::Queued, 0));
    tamper(home, "UPDATE jobs SET state = 'running', token = 2").await;
    assert_eq!(stands().await, (TurnState::Running, 2));
    store.cancel_turns(CancelScope::All, "Ada said stop", at(3)).await.unwrap();
    assert_eq!(stands().await, (TurnState::Cancelled, 2));
}

async fn a_turn_of_an_earlier_program_gets_a_job(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus")];
    decided(&store, "m1", &turns).await;
    tamper(home, "UPDATE turns SET job = NULL, state = 'running', attempts = 1 WHERE persona = 'vince'").await;
    tamper(home, "DELETE FROM jobs WHERE id = 1").await;
    assert_eq!(store.list_awaited_turns(&general().id, at(9)).await.unwrap(), [turns[1].id.clone()]);

    assert_eq!(store.enqueue_lost_turns(at(9)).await.unwrap(), 1);
    assert_eq!(store.enqueue_lost_turns(at(9)).await.unwrap(), 0);
    assert_eq!(store.list_awaited_turns(&general().id, at(9)).await.unwrap().len(), 2);
    let job = kernel::jobs::find(&store.database(), JobId(3)).await.unwrap().unwrap().job;
    assert_eq!(
        (job.kind.as_str(), job.queue.as_deref(), job.read_payload::<Turn>().unwrap()),
        ("chat.turn", Some("chat:discord:10"), turns[0].clone())
    );
}

async fn a_cancelled_turn_leaves_nothing_behind(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    store.cancel_turns(CancelScope::All, "Ada said stop", at(3)).await.unwrap();

    let post = answer(&turns[0], "too late");
    assert!(!finish(&store, &Finished { outbox: &[post], ..finished(&turns[0]) }).await.unwrap());
    assert_eq!(store.next_pending(&general().id, at(9)).await.unwrap(), None);
    let row = store.find_turn(&turns[0].id).await.unwrap().unwrap();
    assert_eq!((row.turn.state, row.error.as_deref(), row.reply), (TurnState::Cancelled, Some("Ada said stop"), None));
    let job = kernel::jobs::find(&store.database(), JobId(1)).await.unwrap().unwrap();
    assert_eq!((job.state, job.error.as_deref()), (JobState::Cancelled, Some("Ada said stop")));
}

async fn a_turn_whose_job_is_given_up_fails_and_so_does_its_ask(home: &Home) {
    let store = home.open().await;
    let asked = ask("m1");
    store.record_ask(&asked).await.unwrap();
    let turns = [Turn { trigger: Trigger::Ask { ask: asked.id.clone() }, ..turn("m1", "kelly") }];
    decided(&store, "m1", &turns).await;
    let job = kernel::jobs::find(&store.database(), JobId(1)).await.unwrap().unwrap().job;
    let given_up = async || {
        let mut transaction = store.database().db().begin().await.unwrap();
        let turn = fail_turn(&mut transaction, &job, "it crashed three times", at(9)).await.unwrap();
        transaction.commit().await.unwrap();
        turn.map(|turn| turn.id)
    };
    assert_eq!(given_up().await, Some(turns[0].id.clone()));
    assert_eq!(given_up().await, None, "it is over");
    let row = store.find_turn(&turns[0].id).await.unwrap().unwrap();
    assert_eq!((row.turn.state, row.error.as_deref()), (TurnState::Failed, Some("it crashed three times")));
    assert_eq!(store.find_ask(&asked.id).await.unwrap().unwrap().state, AskState::Failed);
}

async fn an_answer_is_stored_with_what_it_leads_to(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;

    let parts = [answer(&turns[0], "first part"), answer(&turns[0], "second part")];
    let decision = Decision::one("solus".into(), Reason::AgentMention);
    let next = [Turn { trigger: Trigger::Agent { from: "vince".into(), turn: turns[0].id.clone() }, ..turn("m1", "solus") }];
    let end = Finished { outbox: &parts, next: Some(FollowUp { decision: &decision, turns: &next }), ..finished(&turns[0]) };
    assert!(finish(&store, &end).await.unwrap());
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.next_pending(&general().id, at(9)).await.unwrap().unwrap().message, parts[0]);
    assert_eq!(store.list_open_turns().await.unwrap(), next);
    assert_eq!(store.list_next_speakers(&turns[0]).await.unwrap(), ["solus".into()]);
    assert_eq!(store.list_next_speakers(&next[0]).await.unwrap(), []);
    assert_eq!(store.find_turn(&turns[0].id).await.unwrap().unwrap().follow_up, Some(decision));
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
    store.cancel_turns(CancelScope::Message(&"m1".into()), "a person spoke", at(3)).await.unwrap();
    assert_eq!(store.count_chain_turns(&"m1".into()).await.unwrap(), 0);
    assert_eq!(store.count_chain_turns(&"m2".into()).await.unwrap(), 0);
}
