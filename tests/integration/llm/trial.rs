//! Trying every model, as `teamroom doctor` does.

use std::sync::Arc;

use kernel::finding::Grade;
use kernel::llm::settings::ProviderKind;
use kernel::persona::Tier;
use serde_json::json;

use super::{Desk, EagerClock, settings};
use crate::support::model::{Script, ScriptedModel};

#[tokio::test]
async fn each_model_is_tried_once_and_told_with_what_it_can_do() {
    let (works, talks, dead) = (ScriptedModel::start().await, ScriptedModel::start().await, ScriptedModel::start().await);
    works.on(|asked| Script::call(&asked.tools[0], json!({})));
    talks.on(|_| Script::say("I am ready."));
    dead.on(|_| Script::status(401));
    let settings = settings(
        &[("works", ProviderKind::OpenAi, &works), ("talks", ProviderKind::Anthropic, &talks), ("dead", ProviderKind::OpenAi, &dead)],
        &[(Tier::T2, &[("works", "small"), ("talks", "small")]), (Tier::T1, &[("works", "small"), ("dead", "small")])],
    );
    let desk = Desk::new(&settings, Arc::new(EagerClock::default()));
    let found = desk.runner.models.try_each().await;
    let told: Vec<_> = found.iter().map(|finding| (finding.grade, finding.text.as_str())).collect();
    assert_eq!(told[0], (Grade::Ok, "model works/small: answers and calls tools"));
    assert_eq!(told[1], (Grade::Warn, "model talks/small: answers, but did not call the tool that it was asked to call"));
    assert_eq!((told[2].0, told.len()), (Grade::Fail, 3));
    assert!(found[2].remedy.as_ref().is_some_and(|remedy| remedy.contains(".env")), "{:?}", found[2]);
    assert_eq!([works.count(), talks.count(), dead.count()], [1, 1, 1]);
}
