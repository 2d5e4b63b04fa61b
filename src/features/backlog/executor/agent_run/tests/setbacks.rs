use crate::features::backlog::executor::agent_run::tests::*;
use crate::features::backlog::model::{Blocker, Wait};
use kernel::llm::settings::ModelPrice;
use kernel::money::{Limit, Money, Refused};

fn later(outcome: Outcome) -> i64 {
    match outcome {
        Outcome::Later { at, .. } => (at - now()).num_minutes(),
        other => panic!("a delay: {other:?}"),
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_is_asked_later_and_ever_later() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|_| Script::status(503));
    let mut due = Vec::new();
    for _ in 0..5 {
        let at = later(stage.continue_run().await);
        due.push(at);
        stage.wait(now() + TimeDelta::minutes(at) - stage.executor.agents.runner.clock.now());
    }
    assert_eq!(due, [1, 6, 21, 51, 81], "after 1, 5, 15 and then each 30 minutes");
    stage.model.on(|_| Script::say("# It is back\n\nAnd so are we."));
    made(stage.continue_run().await);
    assert_eq!(stage.journal().await.len(), 3, "one prompt, one reply, one file");
}

#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_again_and_not_for_ever() {
    for useless in [Script::Empty, Script::Garbage, Script::Truncated("# Half".into())] {
        let stage = Stage::of(Execution::Write).await;
        stage.model.on(move |_| useless.clone());
        assert_eq!(later(stage.continue_run().await), 1);
        stage.wait(TimeDelta::minutes(21));
        let Outcome::Failed { blocker: Blocker::Outside, why } = stage.continue_run().await else { panic!("this try is given up") };
        assert_eq!(why, "the language model gave no valid answer for 21 minutes");
    }
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_waited_for() {
    let stage = Stage::with(Execution::Write, ProviderKind::OpenAi, |config| {
        config.budgets.day = Some(Money(1));
        config.models.prices = [("small".into(), ModelPrice { input: 1.0, cached: 1.0, output: 1.0, minute: 0.0 })].into();
    })
    .await;
    let refused = Refused { limit: Limit::Day, spent: 0, allowed: 1 };
    let day = Some(now().date_naive());
    assert_eq!(stage.continue_run().await, Outcome::Waits(Wait::Budget { refused, day }));
    assert_eq!(stage.model.count(), 0);
}

#[tokio::test]
async fn a_model_that_refuses_is_for_people_to_look_at() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|_| Script::status(401));
    let why = "main does not accept the team's key. An operator can renew the key and run `teamroom doctor`".to_owned();
    assert_eq!(stage.continue_run().await, Outcome::Waits(Wait::Decision { why }));
}

#[tokio::test]
async fn without_any_model_the_item_waits_for_one() {
    let stage = Stage::with(Execution::Write, ProviderKind::OpenAi, |config| config.models.tiers.clear()).await;
    assert_eq!(stage.continue_run().await, Outcome::Waits(Wait::Model));
}

#[tokio::test]
async fn a_worker_that_lost_its_job_writes_nothing_and_asks_nothing() {
    let stage = Stage::of(Execution::Write).await;
    stage.worker.die(now()).await.expect("its job is taken back");
    assert_eq!(later(stage.continue_run().await), 0);
    assert_eq!((stage.model.count(), stage.journal().await.len()), (0, 0));
}

#[tokio::test]
async fn a_run_that_is_called_off_stops_at_once_and_goes_on_where_it_was() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|_| Script::Hang);
    let stop = async {
        stage.model.wait_for(1).await;
        stage.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(stage.continue_run(), stop);
    assert_eq!(later(outcome), 0);
    assert_eq!(stage.journal().await.len(), 1, "the prompt");
}
