//! What a request offers: the tools that it is about, the others by name, and a beginning that stays the same.

use std::collections::BTreeSet;

use kernel::llm::settings::ProviderKind;
use serde_json::{Value, json};

use super::acts::{is_talk, no_claims};
use crate::support::model::cost::count;
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(a_tool_that_is_only_named_is_found_or_called_at_once, the_constant_part_of_answers_stays_the_same_and_small,);

const TOOLS: [&str; 14] = [
    "ask_agent",
    "backlog_add",
    "backlog_search",
    "board_create",
    "fetch_page",
    "git_diff",
    "git_log",
    "git_show",
    "memory_forget",
    "memory_save",
    "memory_search",
    "read_document",
    "read_feed",
    "reminder_set",
];

/// A team whose Vince has all tools.
async fn able(backing: Backing) -> TestTeam {
    let all = |personas: &mut Vec<kernel::persona::Persona>| {
        let vince = personas.iter_mut().find(|persona| persona.name == "Vince").unwrap();
        vince.tools = TOOLS.map(str::to_owned).into();
    };
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).personas(all).start().await;
    team.model.on(|asked| if is_talk(asked) { Script::say("Noted.") } else { no_claims(asked) });
    team
}

/// The request for the answer to a message.
async fn ask(team: &TestTeam, said: &str) -> Asked {
    team.say("general", &format!("vince, {said}")).await;
    let find = || team.model.requests().into_iter().find(|asked| is_talk(asked) && asked.messages[0].text.trim().ends_with(said));
    eventually(said, || async { find().is_some() }).await;
    find().unwrap()
}

/// The tools that a request only names.
fn named(asked: &Asked) -> BTreeSet<String> {
    let tools = asked.body["tools"].as_array().into_iter().flatten();
    let find = tools.map(|tool| &tool["function"]).find(|tool| tool["name"] == "find_tool");
    let lines = find.and_then(|tool| tool["description"].as_str()).unwrap_or_default().lines();
    lines.filter_map(|line| Some(line.strip_prefix("- `")?.split_once('`')?.0.to_owned())).collect()
}

async fn a_tool_that_is_only_named_is_found_or_called_at_once(backing: Backing) {
    let team = able(backing).await;
    let search = || Script::call("backlog_search", json!({"words": "scanner"}));
    for (said, calls) in [
        ("how are things", vec![Script::call("find_tool", json!({"words": "work items"})), search()]),
        ("how is life", vec![Script::call("find_tool", json!({"words": "git_log, backlog_search"})), search()]),
        ("how is the mood", vec![search()]),
    ] {
        team.model.on(move |asked| match (is_talk(asked), calls.get(asked.tool_results())) {
            (false, _) => no_claims(asked),
            (true, Some(call)) => call.clone(),
            (true, None) => Script::say("That is all."),
        });
        let before = ask(&team, said).await;
        assert!(!before.tools.contains(&"backlog_search".to_owned()) && named(&before).contains("backlog_search"), "{:?}", before.tools);
        let last = || {
            let of_it = |asked: &Asked| is_talk(asked) && asked.messages[0].text.trim().ends_with(said);
            team.model.requests().into_iter().rev().find(of_it).unwrap()
        };
        eventually("it is called", || async { last().messages.iter().any(|said| said.text.contains("\"backlog_search\"(")) }).await;
        assert!(last().tools.contains(&"backlog_search".to_owned()), "{said}: {:?}", last().tools);
        assert!(!last().last().contains("Not done") && !last().last().contains("no such tool"), "{}", last().last());
    }
}

/// The most tokens of what every answer costs, whatever it is about.
const FIXED: usize = 1900;

async fn the_constant_part_of_answers_stays_the_same_and_small(backing: Backing) {
    let team = able(backing).await;
    let asked = [
        ask(&team, "how are things?").await,
        ask(&team, "where is the key, do you remember?").await,
        ask(&team, "what did we spend this week?").await,
    ];
    let first = |asked: &Asked| {
        let tools = asked.body["tools"].as_array().unwrap().clone();
        let end = tools.iter().position(|tool| tool["function"]["name"] == "find_tool").expect("it is offered");
        Value::Array(tools[..=end].to_vec())
    };
    for request in &asked {
        let offered = request.tools.iter().cloned().chain(named(request)).collect::<BTreeSet<_>>();
        assert!(TOOLS.iter().all(|tool| offered.contains(*tool)), "every tool is offered or named: {offered:?}");
    }
    for other in &asked[1..] {
        assert_eq!(asked[0].system, other.system);
        assert_eq!(first(&asked[0]), first(other), "tools that the words ask for come last");
    }
    let (purpose, [system, tools, ..]) = count(&asked[0]);
    assert_eq!(purpose, "chat");
    assert!(system + tools <= FIXED, "an answer costs {system} tokens of rules and {tools} of tools, and more than {FIXED} are too many");
}
