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
    only_what_is_not_true_of_an_answer_is_corrected,
    an_item_keeps_the_promise_to_tell,
    a_call_that_is_only_proposed_costs_no_check,
    what_was_tried_and_failed_is_checked_in_whatever_words,
    a_promise_to_pass_something_on_is_checked_in_any_language,
    what_only_looks_like_the_transcript_is_not_posted,
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
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model
        .on(|asked| if is_check(asked) { Script::Json(json!({"acts": ["backlog"]})) } else { Script::say("Added it to the backlog.") });
    let answer = answer_to(&team, "kelly, take care of the certificate").await;
    assert_eq!(answer, "Added it to the backlog.\nCorrection: nothing was added to the backlog.");
    assert_eq!(counted(&team), (2, 2));
    let requests = team.model.requests();
    assert!(requests[1].prompt().contains("Added it to the backlog.") && requests[1].prompt().contains("- backlog: that something was"));
    assert!(requests[2].last().starts_with("Your answer was not sent."), "{}", requests[2].last());
    assert_eq!(count(&team, "SELECT COUNT(*) FROM work_items").await, 0);
}

async fn what_was_tried_and_failed_is_checked_in_whatever_words(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match asked.tool_results() {
        _ if is_check(asked) => Script::Json(json!({"acts": ["backlog"]})),
        0 => Script::call("backlog_add", json!({"what": "ask the landlord", "how": "", "why": "", "owner": "Zaphod", "urgency": "today"})),
        _ => Script::say("Zaphod has it: the parking lot, this week."),
    });
    let answer = answer_to(&team, "kelly, put on the list for Zaphod: ask the landlord").await;
    assert_eq!(answer, "Zaphod has it: the parking lot, this week.\nCorrection: nothing was added to the backlog.");
}

async fn a_promise_to_pass_something_on_is_checked_in_any_language(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    let handed = "\nCorrection: nothing was passed on.";
    let answers = [
        ("kelly, who can read this?", "I'm sending this to Eliza now.", "handing", handed),
        ("kelly, wer kann das lesen?", "Das geht jetzt an Eliza.", "handing", handed),
        ("kelly, ¿quién puede leerlo?", "Eliza ya lo tiene.", "handing", handed),
        ("kelly, what is new on the web?", "The search is down.", "failing", "\nCorrection: nothing was tried that failed."),
        // True sentences.
        ("kelly, who reads best?", "Eliza reads best.", "", ""),
        ("kelly, is it late?", "Shall I add it to the backlog?", "unasked", ""),
    ];
    for (number, (said, answer, claimed, correction)) in answers.into_iter().enumerate() {
        let check = Script::Json(json!({"acts": if claimed.is_empty() { vec![] } else { vec![claimed] }}));
        team.model.on(move |asked| if is_check(asked) { check.clone() } else { Script::say(answer) });
        team.say("general", said).await;
        let told = team.wait_for_answers("general", number + 1).await.remove(number).text;
        assert_eq!(told, format!("{answer}{correction}"));
    }
    assert!(
        !team.model.requests().iter().any(|asked| is_check(asked) && asked.prompt().contains("Shall I add")),
        "a question costs no check"
    );
}

async fn what_only_looks_like_the_transcript_is_not_posted(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model
        .on(|_| Script::say("Sounds good.\n[person Ann, 14:02] yes, ship it\n[persona Kelly, 14:03] Shipping.\n<<end 7f3a9c20d1e8>>"));
    assert_eq!(answer_to(&team, "kelly, is it fine?").await, "Sounds good.");
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

async fn only_what_is_not_true_of_an_answer_is_corrected(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    let honest = "Ann added that on Monday, and I noted it in the report. Shall I add the second one too?";
    let promise = "Klar, ich erinnere dich morgen.";
    let answers = [
        ("kelly, is the certificate in the backlog?", honest, Script::Json(json!({"acts": []})), ""),
        (
            "kelly, kannst du mich morgen daran erinnern?",
            promise,
            Script::Json(json!({"acts": ["reminder"]})),
            "\nCorrection: no reminder was set. Use `/remind`, or write \"remind me tomorrow at 9 to …\".",
        ),
        // A check that gives no result.
        (
            "kelly, the harbour silts up",
            "Noted.",
            Script::say("I cannot tell."),
            "\nNothing was added, remembered or scheduled with this answer.",
        ),
    ];
    for (number, (said, answer, check, correction)) in answers.into_iter().enumerate() {
        team.model.on(move |asked| if is_check(asked) { check.clone() } else { Script::say(answer) });
        team.say("general", said).await;
        let told = team.wait_for_answers("general", number + 1).await.remove(number).text;
        assert_eq!(told, format!("{answer}{correction}"));
        if number == 0 {
            assert_eq!(counted(&team), (1, 1), "what is true is not sent back");
        }
    }
}

async fn an_item_keeps_the_promise_to_tell(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    let promise = "Noted. You will get a message when p95 is above 400.";
    team.model.on(move |asked| match () {
        () if is_check(asked) => Script::Json(json!({"acts": ["telling", "memory", "backlog"]})),
        () if !is_talk(asked) => Script::status(400),
        () if asked.tool_results() > 0 || asked.prompt().contains("no item") => Script::say(promise),
        () => certificate("Tell me when p95 is above 400"),
    });
    team.say("general", "kelly, tell me when p95 is above 400, as an item").await;
    // The item may ask something before the answer is there.
    let kept = format!("{promise}\n-# Added `#");
    eventually(&kept, || async { team.answers("general").await.iter().any(|answer| answer.text.starts_with(&kept)) }).await;
    assert_eq!(counted(&team), (2, 1), "it is not sent back");
    // Without the item, nothing keeps the promise.
    team.say("general", "kelly, tell me when p95 is above 400, but no item please").await;
    let told = "Correction: nothing will tell you that by itself.";
    eventually(told, || async { team.answers("general").await.iter().any(|answer| answer.text.contains(told)) }).await;
}

async fn a_call_that_is_only_proposed_costs_no_check(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => Script::Json(json!({"acts": ["memory"]})),
        (true, 0) => certificate("Renew the TLS certificate of example.org"),
        (true, _) => Script::say("Noted: once you allow it, it is on the list."),
    });
    let answer = answer_to(&team, "kelly, the certificate ends soon, take care of it").await;
    assert_eq!((answer.as_str(), counted(&team)), ("Noted: once you allow it, it is on the list.", (2, 0)));
}
