//! Members of the server who have never written anything: they are found by their names.

use kernel::llm::settings::ProviderKind;
use serde_json::json;

use super::acts::{is_talk, no_claims, wanted};
use crate::support::command::{invoke, sub_command, text};
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, eventually, on_one_store};

on_one_store!(
    somebody_who_has_never_written_owns_an_item_by_name,
    a_persona_adds_an_item_for_somebody_who_has_never_written,
    somebody_who_has_never_written_is_reminded,
    a_name_that_no_member_has_is_refused,
);

/// Bob is the second person of the server.
async fn count_items_of_bob(team: &TestTeam) -> i64 {
    count(team, &format!("SELECT COUNT(*) FROM work_items WHERE owner LIKE '%{}%'", team.person_id(1))).await
}

async fn somebody_who_has_never_written_owns_an_item_by_name(backing: Backing) {
    let team = wanted(backing).start().await;
    let given = sub_command("add", &[("what", "Ask about the parking lot"), ("owner", "bob"), ("criteria", "We know it")]);
    let answer = invoke(&team, "general", "backlog", given).await;
    assert!(text(&answer).contains("Ask about the parking lot"), "{answer}");
    assert_eq!(count_items_of_bob(&team).await, 1, "{answer}");
}

async fn a_persona_adds_an_item_for_somebody_who_has_never_written(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => Script::call(
            "backlog_add",
            json!({"what": "ask about the parking lot", "how": "", "why": "", "owner": "Bob", "urgency": "this_week"}),
        ),
        (true, _) => Script::say("Bob has it."),
    });
    team.say("general", "kelly, put on the list for Bob: ask about the parking lot").await;
    // Bob is asked, too.
    let is_told = async || team.answers("general").await.iter().any(|answer| answer.text.starts_with("Bob has it.\n-# Added `#"));
    eventually("it is added", || async { is_told().await }).await;
    assert_eq!(count_items_of_bob(&team).await, 1);
}

async fn somebody_who_has_never_written_is_reminded(backing: Backing) {
    let team = wanted(backing).start().await;
    team.say("general", "kelly, remind Bob tomorrow at 9 to pay the hosting bill").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert!(answer.text.contains("pay the hosting bill") && !answer.text.contains("don't know"), "{}", answer.text);
    assert_eq!(count(&team, &format!("SELECT COUNT(*) FROM reminders WHERE whom LIKE '%{}%'", team.person_id(1))).await, 1);
}

async fn a_name_that_no_member_has_is_refused(backing: Backing) {
    let team = wanted(backing).start().await;
    let given = sub_command("add", &[("what", "Ask about the parking lot"), ("owner", "Zaphod & Co"), ("criteria", "We know it")]);
    let answer = invoke(&team, "general", "backlog", given).await;
    assert!(text(&answer).starts_with("Nobody on the team is called"), "{answer}");
}
