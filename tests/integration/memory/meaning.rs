//! Memories are found by their meaning, with vectors of an embeddings endpoint, and by their words while that does not answer.

use std::time::Duration;

use kernel::llm::settings::{ModelRef, ProviderKind};
use kernel::money::Money;
use kernel::time::SystemClock;

use super::stage::{HERE, Stage, wanted};
use crate::support::database::{allow, count, forbid};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_while_vectors_are_made);
on_one_store!(
    what_is_said_in_other_words_is_found_and_paid_for_also_after_a_change_of_the_model,
    words_serve_while_the_endpoint_does_not_answer,
    a_used_up_budget_leaves_words,
);

/// The same question in words that the fact does not have.
const OTHER_WORDS: &str = "which weekday do releases go out?";

fn with_embeddings(wanted: Wanted, model: &'static str) -> Wanted {
    wanted.model(ProviderKind::OpenAi).configure(move |config| {
        // The model is only for vectors. Answers are composed without a model.
        config.models.tiers.clear();
        config.models.embeddings = Some(ModelRef { provider: "scripted".into(), model: model.into() });
        config.models.embedding_dimensions = Some(32);
    })
}

async fn stage(backing: Backing, model: &'static str) -> Stage {
    Stage::start_as(with_embeddings(wanted(backing), model)).await
}

async fn wait_for_vectors(stage: &Stage, model: &str) {
    let missing =
        format!("SELECT COUNT(*) FROM memories WHERE meaning_model IS NULL OR meaning_model <> 'scripted/{model}, 32 dimensions'");
    eventually("all have a vector", || async {
        stage.clock.advance(Duration::from_secs(31));
        count(&stage.team, &missing).await == 0
    })
    .await;
}

async fn what_is_said_in_other_words_is_found_and_paid_for_also_after_a_change_of_the_model(backing: Backing) {
    let mut stage = stage(backing, "embed-1").await;
    stage.answer_to("remember: we deploy on Thursdays").await;
    stage.answer_to("remember: herons eat fish").await;
    wait_for_vectors(&stage, "embed-1").await;
    let answer = stage.answer_to(OTHER_WORDS).await;
    assert!(answer.starts_with("Ann taught me on 2 March 2026: we deploy on Thursdays") && !answer.contains("herons"), "{answer}");
    let asked = stage.team.model.embedded();
    assert!(asked.iter().all(|asked| asked.model == "embed-1" && asked.dimensions == Some(32)), "{asked:?}");
    let texts: Vec<&str> = asked.iter().flat_map(|asked| asked.texts.iter().map(String::as_str)).collect();
    assert_eq!(
        texts.iter().filter(|text| **text == "we deploy on Thursdays").count(),
        2,
        "once to compare it with others, and once to keep: {texts:?}"
    );
    let paid =
        count(&stage.team, "SELECT COUNT(*) FROM ledger WHERE purpose = 'memory' AND outcome = 'answered' AND input_tokens > 0").await;
    assert_eq!(usize::try_from(paid).unwrap(), asked.len());
    stage.team.stop_app().await;
    stage.team.config.models.embeddings = Some(ModelRef { provider: "scripted".into(), model: "embed-2".into() });
    stage.team.start_app().await;
    wait_for_vectors(&stage, "embed-2").await;
    assert!(stage.answer_to(OTHER_WORDS).await.contains("Thursdays"));
}

async fn words_serve_while_the_endpoint_does_not_answer(backing: Backing) {
    let stage = stage(backing, "embed-1").await;
    stage.team.model.break_embeddings(true);
    stage.answer_to("remember: we deploy on Thursdays").await;
    assert!(stage.answer_to("when do we deploy?").await.contains("Thursdays"));
    assert!(!stage.answer_to(OTHER_WORDS).await.contains("Thursdays"));
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM memories WHERE meaning_model IS NOT NULL").await, 0);
    stage.team.model.break_embeddings(false);
    // Advances past the pause of the job after a failure, and past that of the endpoint.
    stage.clock.advance(Duration::from_mins(10));
    wait_for_vectors(&stage, "embed-1").await;
    assert!(stage.answer_to(OTHER_WORDS).await.contains("Thursdays"));
}

async fn a_used_up_budget_leaves_words(backing: Backing) {
    let wanted = with_embeddings(wanted(backing), "embed-1").configure(|config| {
        config.budgets.day = Some(Money(0));
        let price = kernel::llm::settings::ModelPrice { input: 1.0, cached: 1.0, output: 0.0, minute: 0.0 };
        config.models.prices.insert("embed-1".into(), price);
    });
    let stage = Stage::start_as(wanted).await;
    stage.answer_to("remember: we deploy on Thursdays").await;
    assert!(stage.answer_to("when do we deploy?").await.contains("Thursdays"));
    stage.clock.advance(Duration::from_mins(6));
    stage.team.settle().await;
    assert!(stage.team.model.embedded().is_empty(), "nothing is asked that may not be paid");
}

async fn killed_while_vectors_are_made(backing: Backing) {
    let team = wanted(backing).clock(SystemClock).without_app().start().await;
    let settings = [("TEAMROOM_MODELS_EMBEDDINGS", "model/embed-1")];
    forbid(&team, "wall", "UPDATE ON memories", "NEW.meaning IS NOT NULL").await;
    let process = TeamProcess::start(&team, &settings).await;
    team.say(HERE, "remember: we deploy on Thursdays").await;
    eventually("it is stored", || async { count(&team, "SELECT COUNT(*) FROM memories").await == 1 }).await;
    process.kill();
    allow(&team, "wall").await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM memories WHERE meaning IS NOT NULL").await, 0);
    let process = TeamProcess::start(&team, &settings).await;
    eventually("it has a vector", || async { count(&team, "SELECT COUNT(*) FROM memories WHERE meaning IS NOT NULL").await == 1 }).await;
    process.kill();
    let _process = TeamProcess::start(&team, &settings).await;
    let before = team.model.embedded().len();
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(team.model.embedded().len(), before, "what has one is not asked for again");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'memory_vectors'").await, 1);
}
