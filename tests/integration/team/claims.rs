//! An answer that says that something was done is checked against what was done.

use kernel::llm::settings::ProviderKind;
use serde_json::json;

use super::acts::{certificate, is_talk, wanted};
use crate::support::database::count;
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, TestTeam, eventually, on_one_store};

on_one_store!(
    a_model_that_only_claims_is_sent_back_and_then_corrected,
    a_model_that_does_it_when_sent_back_is_not_corrected,
    an_honest_answer_about_earlier_acts_stays_as_it_is,
    a_promise_that_nothing_can_keep_is_corrected,
    where_the_check_fails_a_line_says_what_is_true,
);

fn is_check(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("acts"))
}

async fn answer_to(team: &TestTeam, text: &str) -> String {
    team.say("general", text).await;
    // Skips a question of the planner about a new item.
    let answers = async || team.answers("general").await.into_iter().filter(|answer| !answer.text.starts_with('❔')).collect::<Vec<_>>();
    eventually("it is answered", || async { !answers().await.is_empty() }).await;
    answers().await.remove(0).text
}

/// The numbers of requests to the persona and of checks.
fn counted(team: &TestTeam) -> (usize, usize) {
    let requests = team.model.requests();
    (requests.iter().filter(|asked| is_talk(asked)).count(), requests.iter().filter(|asked| is_check(asked)).count())
}

async fn a_model_that_only_claims_is_sent_back_and_then_corrected(backing: Backing) {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let team = wanted(backing).model(kind).start().await;
        team.model
            .on(|asked| if is_check(asked) { Script::Json(json!({"acts": ["backlog"]})) } else { Script::say("Added it to the backlog.") });
        let answer = answer_to(&team, "kelly, take care of the certificate").await;
        assert_eq!(answer, "Added it to the backlog.\nCorrection: nothing was added to the backlog.");
        assert_eq!(counted(&team), (2, 2));
        let requests = team.model.requests();
        assert!(
            requests[1].prompt().contains("Added it to the backlog.") && requests[1].prompt().contains("- backlog: that something was")
        );
        assert!(requests[2].last().starts_with("Your answer was not sent."), "{}", requests[2].last());
        assert_eq!(count(&team, "SELECT COUNT(*) FROM work_items").await, 0);
    }
}

async fn a_model_that_does_it_when_sent_back_is_not_corrected(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match () {
        () if is_check(asked) => {
            Script::Json(json!({"acts": if asked.prompt().contains("| the answer>>\nAdded.") { vec!["backlog"] } else { vec![] }}))
        }
        () if !is_talk(asked) => Script::status(400),
        () if asked.tool_results() > 0 => Script::say("It is in the backlog now."),
        () if asked.last().starts_with("Your answer was not sent.") => certificate("renew the certificate"),
        () => Script::say("Added."),
    });
    let answer = answer_to(&team, "kelly, we have to renew the certificate, note it").await;
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "It is in the backlog now."), "{answer}");
    assert!(lines[1].starts_with("-# Added `#"), "{answer}");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM work_items").await, 1);
}

async fn an_honest_answer_about_earlier_acts_stays_as_it_is(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    let honest = "Ann added that on Monday, and I noted it in the report. Shall I add the second one too?";
    team.model.on(move |asked| if is_check(asked) { Script::Json(json!({"acts": []})) } else { Script::say(honest) });
    assert_eq!(answer_to(&team, "kelly, is the certificate in the backlog?").await, honest);
    assert_eq!(counted(&team), (1, 1));
    team.settle().await;
}

async fn a_promise_that_nothing_can_keep_is_corrected(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| {
        if is_check(asked) { Script::Json(json!({"acts": ["reminder"]})) } else { Script::say("Klar, ich erinnere dich morgen.") }
    });
    let answer = answer_to(&team, "kelly, kannst du mich morgen daran erinnern?").await;
    assert_eq!(
        answer,
        "Klar, ich erinnere dich morgen.\nCorrection: no reminder was set. Use `/remind`, or write \"remind me tomorrow at 9 to …\"."
    );
}

async fn where_the_check_fails_a_line_says_what_is_true(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| if is_check(asked) { Script::say("I cannot tell.") } else { Script::say("Noted.") });
    let answer = answer_to(&team, "kelly, the harbour silts up").await;
    assert_eq!(answer, "Noted.\nNothing was added, remembered or scheduled with this answer.");
}
