use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use kernel::agent::halts::HaltScope;
use kernel::chat::message::Speaker;
use kernel::ids::{LedgerId, WorkItemId};
use kernel::llm::budget::Budgets;
use kernel::llm::store::{ReserveError, Reserved, Spent};
use kernel::money::{CallOutcome, CostGroup, Limit, Money, Purpose, Refused, Reservation, Settlement, TokenUsage};
use kernel::persona::Tier;
use teamroom::features::chat::model::decision::Block;
use teamroom::features::chat::store::Blocked;
use teamroom::store::Store;

use super::sample::{at, general, noon};
use super::{Home, on_both};

on_both!(
    a_halt_survives_a_restart,
    a_notice_is_given_once_in_its_time,
    blocks_are_counted_by_reason,
    a_cooldown_holds_whoever_spoke_first,
    a_call_is_reserved_at_its_worst_and_settled_at_its_real_cost,
    a_crash_leaves_its_reservation_at_the_worst_case,
    each_limit_refuses_by_itself,
    a_raised_budget_lasts_for_its_day,
    a_limit_that_is_used_up_is_noted_once_a_day,
    callers_at_once_never_spend_more_than_the_limit,
    an_item_is_refused_at_its_limit_and_goes_on_when_it_is_raised,
    an_item_counts_all_its_days_and_nobody_elses_calls,
    workers_at_once_never_take_an_item_over_its_limit,
    costs_add_up_by_day_persona_purpose_and_model,
);

async fn a_halt_survives_a_restart(home: &Home) {
    let store = home.open().await;
    let here = HaltScope::Channel(general().id);
    store.halt(&here, "Ada", at(1)).await.unwrap();
    store.halt(&here, "Bob", at(2)).await.unwrap();
    store.halt(&HaltScope::All, "Bob", at(3)).await.unwrap();
    store.close().await;

    let store = home.open().await;
    let halts = store.list_halts().await.unwrap();
    let halts: Vec<_> = halts.iter().map(|halt| (&halt.scope, halt.by.as_str(), halt.at)).collect();
    assert_eq!(halts, [(&here, "Ada", at(1)), (&HaltScope::All, "Bob", at(3))]);
    assert!(store.resume(&here).await.unwrap());
    assert!(!store.resume(&here).await.unwrap());
    assert_eq!(store.list_halts().await.unwrap().len(), 1);
}

async fn a_notice_is_given_once_in_its_time(home: &Home) {
    const HOUR: Duration = Duration::from_hours(1);
    let store = home.open().await;
    let claims = (0..4).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.claim_notice("halted 10", noon(), HOUR).await.unwrap() })
    });
    let mut given = 0;
    for claim in claims.collect::<Vec<_>>() {
        given += u32::from(claim.await.unwrap());
    }
    assert_eq!(given, 1);
    store.close().await;

    let store = home.open().await;
    assert!(!store.claim_notice("halted 10", at(3599), HOUR).await.unwrap());
    assert!(store.claim_notice("halted 20", at(3599), HOUR).await.unwrap());
    assert!(store.claim_notice("halted 10", at(3600), HOUR).await.unwrap());
    assert!(!store.claim_notice("halted 10", at(3601), HOUR).await.unwrap());
}

async fn blocks_are_counted_by_reason(home: &Home) {
    let store = home.open().await;
    let vince = Speaker::Persona("vince".into());
    for block in [Block::Chain, Block::AgentRun, Block::Chain] {
        let blocked = Blocked { channel: &general().id, chain: &"m1".into(), from: &vince, to: &"solus".into(), block, at: at(1) };
        store.record_block(&blocked).await.unwrap();
    }
    assert_eq!(store.count_blocks().await.unwrap(), [(Block::AgentRun, 1), (Block::Chain, 2)]);
}

async fn a_cooldown_holds_whoever_spoke_first(home: &Home) {
    let store = home.open().await;
    let vince = Speaker::Persona("vince".into());
    let bot = Speaker::ForeignBot { id: "7".into(), name: "helper".into() };
    let renamed = Speaker::ForeignBot { id: "7".into(), name: "HELPER".into() };
    store.set_cooldown(&general().id, &vince, &bot, at(60)).await.unwrap();
    assert_eq!(store.find_cooldown(&general().id, &renamed, &vince).await.unwrap(), Some(at(60)));
    store.set_cooldown(&general().id, &bot, &vince, at(90)).await.unwrap();
    assert_eq!(store.find_cooldown(&general().id, &vince, &bot).await.unwrap(), Some(at(90)));
    assert_eq!(store.find_cooldown(&"20".into(), &vince, &bot).await.unwrap(), None);
    assert_eq!(store.find_cooldown(&general().id, &vince, &Speaker::Persona("7".into())).await.unwrap(), None);
}

fn call(persona: Option<&str>, dollars: f64, tokens: u64, when: DateTime<Utc>) -> Reservation {
    Reservation {
        id: LedgerId::generate(),
        at: when,
        persona: persona.map(Into::into),
        purpose: Purpose::Chat,
        subject: "t1".into(),
        allowance: None,
        provider: "openai".into(),
        model: "small".into(),
        tier: Tier::T1,
        tokens,
        cost: Money::from_dollars(dollars),
    }
}

fn real(reservation: &Reservation, dollars: f64) -> Settlement {
    Settlement {
        id: reservation.id.clone(),
        usage: TokenUsage { input: 80, cached: 30, output: 20 },
        cost: Money::from_dollars(dollars),
        latency_ms: 250,
        outcome: CallOutcome::Answered,
    }
}

fn dollars_a_day(dollars: f64) -> Budgets {
    Budgets { day: Some(Money::from_dollars(dollars)), ..unlimited() }
}

fn unlimited() -> Budgets {
    Budgets {
        day: None,
        day_tokens: None,
        persona_day: None,
        persona_day_tokens: None,
        item: None,
        item_tokens: None,
        mission: None,
        mission_tokens: None,
        meeting: None,
    }
}

fn refused(outcome: Result<Reserved, ReserveError>) -> Refused {
    match outcome {
        Err(ReserveError::Refused(refused)) => refused,
        other => panic!("it was not refused but {other:?}"),
    }
}

async fn spent(store: &Store) -> Spent {
    store.spent_today(noon()).await.unwrap()
}

async fn a_call_is_reserved_at_its_worst_and_settled_at_its_real_cost(home: &Home) {
    let store = home.open().await;
    let call = call(Some("vince"), 0.5, 1000, noon());
    let reserved = store.reserve(&call, &dollars_a_day(1.0)).await.unwrap();
    assert!((reserved.day_share - 0.5).abs() < 1e-9);
    assert_eq!(spent(&store).await, Spent { cost: Money(500_000), tokens: 1000, raised: Money::ZERO });

    assert!(store.settle(&real(&call, 0.02)).await.unwrap());
    assert!(!store.settle(&real(&call, 0.02)).await.unwrap());
    assert_eq!(spent(&store).await, Spent { cost: Money(20_000), tokens: 100, raised: Money::ZERO });
    assert!(!store.settle(&real(&self::call(None, 1.0, 1, noon()), 0.1)).await.unwrap(), "it was never reserved");
}

async fn a_crash_leaves_its_reservation_at_the_worst_case(home: &Home) {
    let store = home.open().await;
    store.reserve(&call(None, 0.9, 1000, noon()), &dollars_a_day(1.0)).await.unwrap();
    store.close().await;

    let store = home.open().await;
    let refused = refused(store.reserve(&call(None, 0.2, 10, at(60)), &dollars_a_day(1.0)).await);
    assert_eq!(refused, Refused { limit: Limit::Day, spent: 900_000, allowed: 1_000_000 });
    assert_eq!(refused.to_string(), "the team has used $0.90 of its $1.00 for today");
    // The limit is daily.
    store.reserve(&call(None, 0.2, 10, noon() + TimeDelta::hours(12)), &dollars_a_day(1.0)).await.unwrap();
}

async fn each_limit_refuses_by_itself(home: &Home) {
    let store = home.open().await;
    store.reserve(&call(Some("vince"), 0.4, 400, noon()), &unlimited()).await.unwrap();
    store.reserve(&call(Some("kelly"), 0.4, 400, noon()), &unlimited()).await.unwrap();
    let by = async |persona: &str, budgets: Budgets| refused(store.reserve(&call(Some(persona), 0.3, 300, noon()), &budgets).await).limit;

    let persona_day = Some(Money::from_dollars(0.6));
    assert_eq!(by("vince", dollars_a_day(1.0)).await, Limit::Day);
    assert_eq!(by("vince", Budgets { day_tokens: Some(1000), ..unlimited() }).await, Limit::DayTokens);
    assert_eq!(by("vince", Budgets { persona_day, ..unlimited() }).await, Limit::PersonaDay("vince".into()));
    assert_eq!(by("kelly", Budgets { persona_day_tokens: Some(600), ..unlimited() }).await, Limit::PersonaDayTokens("kelly".into()));

    // Refused calls cost nothing. Other calls, and calls without cost, still go through.
    assert_eq!(spent(&store).await.cost, Money(800_000));
    store.reserve(&call(Some("echo"), 0.3, 300, noon()), &Budgets { persona_day, ..unlimited() }).await.unwrap();
    store.reserve(&call(Some("vince"), 0.0, 300, noon()), &dollars_a_day(0.1)).await.unwrap();
    let half = store.reserve(&call(None, 0.0, 0, noon()), &Budgets { day_tokens: Some(2800), ..unlimited() }).await.unwrap();
    assert!((half.day_share - 0.5).abs() < 1e-9, "tokens count too: {half:?}");
}

async fn a_raised_budget_lasts_for_its_day(home: &Home) {
    let store = home.open().await;
    refused(store.reserve(&call(None, 1.5, 10, noon()), &dollars_a_day(1.0)).await);
    store.raise_limit(&Limit::Day, 1_000_000, "Ada", noon()).await.unwrap();
    store.close().await;

    let store = home.open().await;
    store.reserve(&call(None, 1.5, 10, noon()), &dollars_a_day(1.0)).await.unwrap();
    assert_eq!(spent(&store).await.raised, Money::from_dollars(1.0));
    refused(store.reserve(&call(None, 1.5, 10, noon() + TimeDelta::days(1)), &dollars_a_day(1.0)).await);
}

async fn a_limit_that_is_used_up_is_noted_once_a_day(home: &Home) {
    let store = home.open().await;
    let vince = Limit::PersonaDay("vince".into());
    assert!(store.note_used_up(&vince, at(0)).await.unwrap());
    assert!(!store.note_used_up(&vince, at(1)).await.unwrap());
    assert!(store.note_used_up(&Limit::DayTokens, at(1)).await.unwrap());
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.list_used_up(at(2)).await.unwrap(), [Limit::DayTokens, vince]);
    assert_eq!(store.list_used_up(at(2) + TimeDelta::days(1)).await.unwrap(), []);
}

async fn callers_at_once_never_spend_more_than_the_limit(home: &Home) {
    let store = home.open().await;
    let callers: Vec<_> = (0..20)
        .map(|number| {
            let store = store.clone();
            let persona = if number % 2 == 0 { "vince" } else { "kelly" };
            tokio::spawn(async move { store.reserve(&call(Some(persona), 0.1, 10, noon()), &dollars_a_day(1.0)).await.is_ok() })
        })
        .collect();
    let mut accepted = 0;
    for caller in callers {
        accepted += u32::from(caller.await.unwrap());
    }
    assert_eq!(accepted, 10);
    assert_eq!(spent(&store).await.cost, Money::from_dollars(1.0));
}

/// A call for a work item.
fn step(item: &WorkItemId, dollars: f64, tokens: u64, when: DateTime<Utc>) -> Reservation {
    Reservation { purpose: Purpose::Step, subject: item.to_string(), ..call(Some("vince"), dollars, tokens, when) }
}

fn dollars_an_item(dollars: f64) -> Budgets {
    Budgets { item: Some(Money::from_dollars(dollars)), ..unlimited() }
}

async fn an_item_is_refused_at_its_limit_and_goes_on_when_it_is_raised(home: &Home) {
    let store = home.open().await;
    let item = WorkItemId::generate();
    let first = step(&item, 0.9, 100, noon());
    store.reserve(&first, &dollars_an_item(1.0)).await.unwrap();
    // The last call may cost more than its reservation. The limit is exceeded by that amount at most.
    store.settle(&real(&first, 1.02)).await.unwrap();
    let over = refused(store.reserve(&step(&item, 0.01, 10, at(1)), &dollars_an_item(1.0)).await);
    assert_eq!(over, Refused { limit: Limit::Item(item.clone()), spent: 1_020_000, allowed: 1_000_000 });
    assert_eq!(over.to_string(), "this item has used $1.02 of its $1.00");
    assert_eq!(store.spent_on(item.as_str()).await.unwrap().0, Money(1_020_000), "what was refused is not spent");
    store.reserve(&step(&item, 0.0, 10, at(1)), &dollars_an_item(1.0)).await.unwrap();

    store.raise_limit(&Limit::Item(item.clone()), 500_000, "Ada", at(2)).await.unwrap();
    store.raise_limit(&Limit::Item(item.clone()), 500_000, "Ben\0", at(3)).await.unwrap();
    store.close().await;
    let store = home.open().await;
    store.reserve(&step(&item, 0.98, 10, at(4)), &dollars_an_item(1.0)).await.unwrap();
    assert_eq!(refused(store.reserve(&step(&item, 0.01, 10, at(4)), &dollars_an_item(1.0)).await).allowed, 2_000_000);
}

async fn an_item_counts_all_its_days_and_nobody_elses_calls(home: &Home) {
    let store = home.open().await;
    let (item, other) = (WorkItemId::generate(), WorkItemId::generate());
    store.reserve(&step(&item, 0.6, 600, noon() - TimeDelta::days(1)), &unlimited()).await.unwrap();
    store.reserve(&step(&item, 0.3, 300, noon()), &dollars_an_item(1.0)).await.unwrap();
    store.reserve(&step(&other, 0.9, 900, noon()), &dollars_an_item(1.0)).await.unwrap();
    assert_eq!(refused(store.reserve(&step(&item, 0.2, 200, noon()), &dollars_an_item(1.0)).await).limit, Limit::Item(item.clone()));

    let tokens = Budgets { item_tokens: Some(1000), ..unlimited() };
    let over = refused(store.reserve(&step(&item, 0.0, 200, noon()), &tokens).await);
    assert_eq!(over, Refused { limit: Limit::ItemTokens(item.clone()), spent: 900, allowed: 1000 });
    assert_eq!(over.to_string(), "this item has used 900 of its 1000 tokens");
    // Chat about an item does not count as work on it.
    let talk = Reservation { purpose: Purpose::Chat, ..step(&item, 0.2, 200, noon()) };
    store.reserve(&talk, &Budgets { item: Some(Money::ZERO), ..tokens.clone() }).await.unwrap();
    // The day's limit is reported first, because raising the item's would be useless.
    let both = Budgets { day: Some(Money::from_dollars(1.0)), item: Some(Money::ZERO), ..unlimited() };
    assert_eq!(refused(store.reserve(&step(&item, 0.2, 10, noon()), &both).await).limit, Limit::Day);
}

async fn workers_at_once_never_take_an_item_over_its_limit(home: &Home) {
    let store = home.open().await;
    let items: Vec<_> = (0..3).map(|_| WorkItemId::generate()).collect();
    // Amounts of all sizes, so that the remainder is too small for some and enough for others.
    let calls: Vec<_> = (0..60)
        .map(|number| {
            let (store, item) = (store.clone(), items[number % 3].clone());
            let dollars = [0.05, 0.13, 0.31][number / 3 % 3];
            tokio::spawn(async move { store.reserve(&step(&item, dollars, 10, noon()), &dollars_an_item(1.0)).await.is_ok() })
        })
        .collect();
    let mut accepted = 0;
    for call in calls {
        accepted += u32::from(call.await.unwrap());
    }
    for item in &items {
        let (spent, _) = store.spent_on(item.as_str()).await.unwrap();
        assert!(spent <= Money::from_dollars(1.0), "{spent} of $1.00");
        assert!(spent > Money::from_dollars(0.86), "{spent}: what fits is not refused");
    }
    assert!(accepted < 60);
}

async fn costs_add_up_by_day_persona_purpose_and_model(home: &Home) {
    let store = home.open().await;
    let settled = call(Some("vince"), 0.5, 1000, noon());
    let mut ask = call(Some("kelly"), 0.3, 900, at(60));
    (ask.purpose, ask.model) = (Purpose::Ask, "large".into());
    let old = call(None, 9.0, 9, noon() - TimeDelta::days(1));
    for call in [&settled, &ask, &old] {
        store.reserve(call, &unlimited()).await.unwrap();
    }
    store.settle(&real(&settled, 0.02)).await.unwrap();

    let costs = async |since: DateTime<Utc>, group: CostGroup| {
        let lines = store.costs(since, at(86_400), group).await.unwrap();
        lines.into_iter().map(|line| (line.key, line.calls, line.usage.input, line.usage.output, line.cost.0)).collect::<Vec<_>>()
    };
    let (vince, kelly) = (|key: &str| (key.to_owned(), 1, 80, 20, 20_000), |key: &str| (key.to_owned(), 1, 900, 0, 300_000));
    assert_eq!(costs(noon(), CostGroup::Persona).await, [kelly("kelly"), vince("vince")]);
    assert_eq!(costs(noon(), CostGroup::Purpose).await, [kelly("ask"), vince("chat")]);
    assert_eq!(costs(noon(), CostGroup::Model).await, [kelly("large"), vince("small")]);
    let days = [("2026-11-20".to_owned(), 1, 9, 0, 9_000_000), ("2026-11-21".to_owned(), 2, 980, 20, 320_000)];
    assert_eq!(costs(noon() - TimeDelta::days(2), CostGroup::Day).await, days);
    assert_eq!(costs(noon() - TimeDelta::days(2), CostGroup::Persona).await[0].0, "none");
    assert!(costs(at(3600), CostGroup::Day).await.is_empty());
}
