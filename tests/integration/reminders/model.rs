//! Requests whose time the rules do not read whole: a persona with a model sets the reminder by its tool.

use kernel::llm::settings::ProviderKind;
use serde_json::json;

use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, Wanted, eventually, on_one_store};

on_one_store!(a_sentence_that_the_rules_do_not_read_is_set_by_the_persona);

async fn a_sentence_that_the_rules_do_not_read_is_set_by_the_persona(backing: Backing) {
    let wanted = Wanted::on(backing).sandbox(|options| options.people = vec!["Ann".to_owned()]);
    let team = wanted.model(ProviderKind::OpenAi).start().await;
    let when = "on the last Friday of every month at 9";
    team.model.on(move |asked| match (asked.schema.is_some(), asked.tool_results()) {
        (true, _) => Script::Json(json!({"acts": []})),
        (false, 0) => Script::call("reminder_set", json!({"when": when, "what": "pay the rent"})),
        (false, _) => Script::say("Done."),
    });
    team.say("general", "kelly, remind me to pay the rent on whatever Friday is the last one in a month, early").await;
    eventually("it is answered", || async { !team.answers("general").await.is_empty() }).await;
    let answer = team.answers("general").await.remove(0);
    let lines: Vec<&str> = answer.text.lines().collect();
    assert_eq!((answer.author.as_str(), lines[0]), ("Kelly", "Done."));
    assert!(lines[1].starts_with("-# I'll remind you on the last Friday of every month at 09:00, first on Fri "), "{}", answer.text);
    assert!(lines[1].ends_with(": pay the rent"), "{}", answer.text);
    assert_eq!(count(&team, "SELECT COUNT(*) FROM reminders WHERE what = 'pay the rent' AND state = 'waiting'").await, 1);
    assert_eq!(count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'reminder' AND finished_at IS NULL").await, 1);
}
