//! Slash commands.

use kernel::chat::message::{Author, AuthorKind, Channel, Place};
use kernel::llm::budget::Budgets;
use kernel::llm::settings::{ModelPrice, ProviderKind};
use kernel::money::Money;
use kernel::people::Seen;
use serde_json::{Value, json};
use teamroom::config::Config;
use teamroom::store::Store;

use crate::support::command::{self, is_ephemeral, text};
use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    ask_relays_an_attributed_answer_unless_the_persona_is_paused,
    team_and_status_and_costs_and_help_answer_only_the_caller,
    halt_silences_the_team_until_resume,
    a_stranger_may_read_but_not_change_and_is_told_who_may_by_name,
    an_operator_raises_the_budget_of_the_day,
    the_limit_that_was_reached_is_the_one_that_is_raised,
);

/// Uses a command in a quiet channel. Returns the answer after the deferral.
async fn invoke(team: &TestTeam, name: &str, options: Value) -> Value {
    command::invoke(team, "general", name, options).await
}

async fn ask_relays_an_attributed_answer_unless_the_persona_is_paused(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let options = json!([{"type": 3, "name": "persona", "value": "vince"}, {"type": 3, "name": "question", "value": "what do you think about our costs?"}]);
    let answer = invoke(&team, "ask", options).await;
    assert!(text(&answer).contains("**Vince** answers") && text(&answer).contains("$0"), "{answer}");
    assert!(!is_ephemeral(&answer));
    let persona = |action: &str| json!([{"type": 1, "name": action, "options": [{"type": 3, "name": "persona", "value": "vince"}]}]);
    invoke(&team, "team", persona("pause")).await;
    team.say("ops", "vince, hello").await;
    assert!(team.wait_for_answers("ops", 1).await[0].text.contains("paused"));
    invoke(&team, "team", persona("resume")).await;
    team.say("ops", "vince, hello").await;
    assert_eq!(team.wait_for_answers("ops", 2).await[1].author, "Vince");
}

async fn team_and_status_and_costs_and_help_answer_only_the_caller(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let list = invoke(&team, "team", json!([{"type": 1, "name": "list", "options": []}])).await;
    assert!(text(&list).contains("Sentinel") && is_ephemeral(&list), "{list}");
    let status = invoke(&team, "status", json!([])).await;
    assert!(text(&status).contains("No language model is connected") && is_ephemeral(&status), "{status}");
    let costs = invoke(&team, "costs", json!([])).await;
    assert!(text(&costs).contains("$0") && is_ephemeral(&costs), "{costs}");
    let help = invoke(&team, "help", json!([])).await;
    assert!(text(&help).contains("/ask") && is_ephemeral(&help), "{help}");
}

async fn halt_silences_the_team_until_resume(backing: Backing) {
    let mut team = Wanted::on(backing).start().await;
    invoke(&team, "halt", json!([])).await;
    team.stop_app().await;
    team.start_app().await;
    let before = team.answers("ops").await.len();
    team.say("ops", "kelly, hello").await;
    team.say("ops", "kelly, hello?").await;
    eventually("it is told", || async { team.answers("ops").await.len() > before }).await;
    team.settle().await;
    let told = team.answers("ops").await;
    assert_eq!(told.len(), before + 1, "once an hour: {told:?}");
    assert!(told[before].text.contains("halted"));
    invoke(&team, "resume", json!([])).await;
    team.say("ops", "kelly, hello again").await;
    team.wait_for_answers("ops", before + 2).await;
}

async fn a_stranger_may_read_but_not_change_and_is_told_who_may_by_name(backing: Backing) {
    let listed = |config: &mut Config| config.chat.operators = ["discord:5", "discord:6", "discord:77"].map(str::to_owned).into();
    let team = Wanted::on(backing).configure(listed).start().await;
    let store = Store::open_shared(&team.config.database_url, team.clock.now()).await.expect("the store opens");
    let channel = Channel { id: "discord:1".into(), name: "general".into(), place: Place::Server, private: false, shared: false };
    for (id, name) in [("discord:5", "Ann"), ("discord:6", "Ben *the* Boss")] {
        let author = Author { id: id.into(), name: name.into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() };
        store.database().record_seen(&Seen { author: &author, channel: &channel, at: team.clock.now() }).await.expect("stored");
    }
    let refused = invoke(&team, "halt", json!([])).await;
    assert_eq!(text(&refused), r"Only operators can do that: Ann, Ben \*the\* Boss or 77.");
    assert!(is_ephemeral(&refused), "{refused}");
    team.say("ops", "kelly, hello").await;
    team.wait_for_answers("ops", 1).await;
    assert!(text(&invoke(&team, "status", json!([])).await).contains("Kelly"));
}

/// A team whose model costs something, with these budgets.
async fn priced(backing: Backing, limit: fn(&mut Budgets)) -> TestTeam {
    let configure = move |config: &mut Config| {
        limit(&mut config.budgets);
        config.models.prices.insert("scripted-1".into(), ModelPrice { input: 1.0, cached: 0.1, output: 1.0, minute: 0.0 });
    };
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).configure(configure).start().await;
    team.model.on(|_| Script::say("here"));
    team
}

async fn an_operator_raises_the_budget_of_the_day(backing: Backing) {
    let team = priced(backing, |budgets| budgets.day = Some(Money(1))).await;
    team.say("knowledge", "vince, hello").await;
    assert!(team.wait_for_answers("knowledge", 1).await[0].text.contains("/costs raise"));
    assert_eq!(team.model.count(), 0, "a call was made without money");
    let raised = invoke(&team, "costs", json!([{"type": 10, "name": "raise", "value": 2.5}])).await;
    assert!(text(&raised).contains("$2.50"), "{raised}");
    team.say("knowledge", "vince, hello").await;
    assert_eq!(team.wait_for_answers("knowledge", 2).await[1].text, "here");
    let costs = invoke(&team, "costs", json!([])).await;
    assert!(text(&costs).contains("| Vince ") && text(&costs).contains("scripted-1"), "{costs}");
}

async fn the_limit_that_was_reached_is_the_one_that_is_raised(backing: Backing) {
    let team = priced(backing, |budgets| budgets.persona_day = Some(Money(1))).await;
    team.say("knowledge", "vince, hello").await;
    let refused = team.wait_for_answers("knowledge", 1).await.remove(0).text;
    assert!(refused.starts_with("No answer this time: I have used $0.00 of my") && refused.contains("/costs raise"), "{refused}");
    // Operators are told once, however often it happens.
    team.say("knowledge", "vince, are you there?").await;
    team.wait_for_answers("knowledge", 2).await;
    let told = team.wait_for_answers("ops", 1).await;
    assert!(told[0].text.contains("vince has used $0.00 of its"), "{told:?}");
    let raised = invoke(&team, "costs", json!([{"type": 10, "name": "raise", "value": 2.5}])).await;
    assert!(text(&raised).contains("raised today's budget of Vince by $2.50"), "{raised}");
    team.say("knowledge", "vince, hello again").await;
    assert_eq!(team.wait_for_answers("knowledge", 3).await[2].text, "here");
    assert_eq!(team.wait_for_answers("ops", 1).await.len(), 1);
}
