//! A row of the database that cannot be read: the team goes on without it, and says which one it is.

use serde_json::json;

use crate::support::command::{self, text};
use crate::support::database::execute;
use crate::support::team::{Backing, Wanted, eventually, on_one_store};

on_one_store!(messages_with_a_decision_of_an_unknown_kind_stop_nothing_and_are_named_in_the_status);

async fn messages_with_a_decision_of_an_unknown_kind_stop_nothing_and_are_named_in_the_status(backing: Backing) {
    let mut team = Wanted::on(backing).start().await;
    team.say("general", "vince, hello").await;
    team.wait_for_answers("general", 1).await;
    team.stop_app().await;
    execute(&team, "UPDATE inbox SET decision = replace(decision, 'reason', 'cause'), message = replace(message, 'text', 'words')").await;
    team.say("general", "vince, are you there again?").await;
    team.start_app().await;
    assert_eq!(team.wait_for_answers("general", 2).await[1].author, "Vince");
    let team = &team;
    let is_named = || async move {
        let status = command::invoke(team, "ops", "status", json!([])).await;
        text(&status).contains("cannot be read: inbox discord:")
    };
    eventually("the row is named", is_named).await;
}
