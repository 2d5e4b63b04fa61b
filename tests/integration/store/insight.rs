use kernel::chat::message::Speaker;
use kernel::chat::outbound::{DeliveryState, Posted};
use kernel::ids::LedgerId;
use kernel::llm::budget::Budgets;
use kernel::money::{CallOutcome, Money, Purpose, Reservation};
use kernel::persona::Tier;
use teamroom::features::chat::model::decision::Block;
use teamroom::features::chat::store::{ActivityKind, Blocked, CancelScope, Finished, Trace};

use super::sample::{answer, ask, at, decided, finish, finished, general, message, noon, turn};
use super::{Home, on_both};

on_both!(a_trace_tells_everything_about_a_message, activity_counts_what_happened_since, a_summary_looks_the_database_over);

async fn a_trace_tells_everything_about_a_message(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    store.claim(&message("m2", "something else", 5), at(5)).await.unwrap();
    let asked = ask("m1");
    store.record_ask(&asked).await.unwrap();
    let call = Reservation {
        id: LedgerId::generate(),
        at: at(2),
        persona: Some("vince".into()),
        purpose: Purpose::Chat,
        subject: turns[0].id.to_string(),
        allowance: None,
        provider: "openai".into(),
        model: "small".into(),
        tier: Tier::T1,
        tokens: 10,
        cost: Money(5),
    };
    store.reserve(&call, &Budgets::default()).await.unwrap();
    let post = answer(&turns[0], "Solus is.");
    finish(&store, &Finished { outbox: std::slice::from_ref(&post), ..finished(&turns[0]) }).await.unwrap();
    store.record_attempt(&post.id, at(5)).await.unwrap();
    store.record_sent(&post.id, &Posted { channel: post.channel.clone(), message: "p1".into(), at: at(6) }).await.unwrap();
    let vince = Speaker::Persona("vince".into());
    let blocked =
        Blocked { channel: &general().id, chain: &"m1".into(), from: &vince, to: &"solus".into(), block: Block::Chain, at: at(7) };
    store.record_block(&blocked).await.unwrap();

    let trace: Trace = store.trace(&"m1".into()).await.unwrap().unwrap();
    assert_eq!(trace.inbox.iter().map(|row| row.message.id.as_str()).collect::<Vec<_>>(), ["m1"]);
    assert_eq!(trace.turns[0].reply.as_deref(), Some("Solus is."));
    assert_eq!(trace.asks, [asked]);
    assert_eq!((&trace.calls[0].id, trace.calls[0].outcome, trace.calls[0].cost), (&call.id, CallOutcome::Reserved, Money(5)));
    let delivery = &trace.outbox[0];
    assert_eq!((&delivery.message, delivery.state, delivery.attempts), (&post, DeliveryState::Sent, 1));
    assert_eq!(delivery.posted, Some(Posted { channel: post.channel.clone(), message: "p1".into(), at: at(6) }));
    assert_eq!((&trace.blocks[0].from, trace.blocks[0].block), (&vince, Block::Chain));

    assert_eq!(store.trace(&"p1".into()).await.unwrap(), Some(trace), "the team's own post leads to the message that it answers");
    assert_eq!(store.trace(&"unknown".into()).await.unwrap(), None);
    let undecided = store.trace(&"m2".into()).await.unwrap().unwrap();
    assert_eq!((undecided.inbox.len(), undecided.turns.len()), (1, 0));
}

async fn activity_counts_what_happened_since(home: &Home) {
    let store = home.open().await;
    assert!(store.activity(at(-60), at(86_400)).await.unwrap().is_empty());
    decided(&store, "m1", &[turn("m1", "vince"), turn("m1", "solus")]).await;
    decided(&store, "m2", &[turn("m2", "vince")]).await;
    store.cancel_turns(CancelScope::Message(&"m2".into()), "stop", at(3)).await.unwrap();
    store.record_ask(&ask("m1")).await.unwrap();
    let solus = Speaker::Persona("solus".into());
    let blocked =
        Blocked { channel: &general().id, chain: &"m1".into(), from: &solus, to: &"vince".into(), block: Block::PairRate, at: at(7) };
    store.record_block(&blocked).await.unwrap();

    let lines = store.activity(noon(), at(86_400)).await.unwrap();
    let lines: Vec<_> = lines.iter().map(|line| (line.kind, line.subject.as_str(), line.detail.as_str(), line.count)).collect();
    assert_eq!(
        lines,
        [
            (ActivityKind::Asks, "vince", "asked", 1),
            (ActivityKind::Blocks, "vince", "pair_rate", 1),
            (ActivityKind::Messages, "discord:10", "", 2),
            (ActivityKind::Turns, "solus", "queued", 1),
            (ActivityKind::Turns, "vince", "cancelled", 1),
            (ActivityKind::Turns, "vince", "queued", 1),
        ]
    );
    let later: Vec<_> = store.activity(at(5), at(86_400)).await.unwrap().into_iter().map(|line| (line.kind, line.last_at)).collect();
    assert_eq!(later, [(ActivityKind::Blocks, at(7))]);
}

async fn a_summary_looks_the_database_over(home: &Home) {
    let store = home.open().await;
    store.claim(&message("m1", "hello", 0), at(0)).await.unwrap();
    let summary = store.summary().await.unwrap();
    assert!(summary.engine.starts_with("SQLite 3.") || summary.engine.starts_with("PostgreSQL "), "{}", summary.engine);
    assert_eq!(summary.schema, 49);
    assert!(summary.size > 0);
    assert_eq!(summary.place, store.place());
    assert!(summary.tables.contains(&("inbox".into(), 1)) && summary.tables.contains(&("outbox".into(), 0)));
    assert!(summary.damage.is_empty());
}
