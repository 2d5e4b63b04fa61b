//! Seeded false completions and their honest twins: of the first none becomes done, of the second all do.

use serde_json::json;
use teamroom::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus};

use super::host::Page;
use super::part::{DOCUMENT, MORE, fetch, finish, is_work, what, write};
use super::stage::{Setting, Stage};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(of_sixty_false_completions_none_is_done_and_their_twenty_honest_twins_all_are);

/// "I don't know" in ten wordings and three languages.
const HOLLOW: [&str; 10] = [
    "I don't know.",
    "I have no figure for that.",
    "There is no data on this in what I can read, sorry.",
    "You could ask the sales team; they should have it.",
    "I will look into it and come back to you.",
    "Das weiß ich leider nicht.",
    "Dazu liegen mir keine Zahlen vor.",
    "Müsste man nachschauen.",
    "Je ne sais pas.",
    "Aucune information à ce sujet.",
];

/// The personas that ask.
const OWNERS: [&str; 5] = ["echo", "kelly", "sentinel", "solus", "vince"];

/// How many of each form there are: false ones, then honest ones.
const ASKS: (usize, usize) = (30, 8);
const UNJUDGED: usize = 10;
const MISREAD: usize = 5;
const UNREACHABLE: usize = 5;
const RESEARCH: usize = 6;
const TOLD: (usize, usize) = (10, 6);

fn asks(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(OWNERS[number % OWNERS.len()].into());
    let question = format!("How many orders were there in case {form}-{number}, in numbers?");
    let item = stage.item(&format!("Ask Oracle for case {form}-{number}"), "", Execution::ask(Owner::Persona("oracle".into()), question));
    WorkItem { owner, ..item }
}

fn researches(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(["eliza", "solus"][number % 2].into());
    let how = format!("Read {} and {}.", stage.web.url("prices"), stage.web.url("gone"));
    WorkItem { owner, ..stage.item(&format!("Compare the prices of case {form}-{number}"), &how, Execution::Research) }
}

fn tells(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(OWNERS[number % OWNERS.len()].into());
    WorkItem { owner, ..stage.item(&format!("Notify the customer of case {form}-{number}"), "", Execution::Remind { whom: None }) }
}

/// A model whose reviewer agrees with everything.
fn play(asked: &Asked, prices: &str, gone: &str) -> Script {
    let prompt = asked.prompt();
    if let Some(schema) = &asked.schema {
        return match schema.to_string() {
            schema if schema.contains("accepted") => Script::Json(json!({"accepted": true, "reasons": ["It is fine."]})),
            _ if prompt.contains("case unjudged") => Script::say("It answers, accept it!"),
            _ if prompt.contains("case hollow") => Script::Json(json!({"verdict": "does_not_know"})),
            _ => Script::Json(json!({"verdict": "answers"})),
        };
    }
    if is_work(asked) {
        let cites = |page: &str| write("prices.md", &format!("# Prices\n\nShop A asks $9 a month ({page}).{MORE}\n"));
        let run = match what(asked) {
            item if item.contains("misread") => {
                [Script::call("read_feed", json!({"feed": "no-such-feed"})), write("prices.md", DOCUMENT), finish("prices.md")]
            }
            item if item.contains("unreachable") => [fetch(gone), cites(gone), finish("prices.md")],
            _ => [fetch(prices), cites(prices), finish("prices.md")],
        };
        return run[asked.tool_results().min(2)].clone();
    }
    match prompt.split("case hollow-").nth(1) {
        Some(rest) => {
            let number: usize = rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number");
            Script::say(HOLLOW[number % HOLLOW.len()])
        }
        None => Script::say("Forty orders a day."),
    }
}

async fn of_sixty_false_completions_none_is_done_and_their_twenty_honest_twins_all_are(backing: Backing) {
    let stage = Setting::on(backing).with_model().configure(|config| config.backlog.parallel = 8).open().await;
    stage.web.lay_out("gone", Page::Down);
    let (prices, gone) = (stage.web.url("prices"), stage.web.url("gone"));
    stage.team.model.on(move |asked| play(asked, &prices, &gone));
    let several = |many: usize, form: &str, make: fn(&Stage, &str, usize) -> WorkItem| -> Vec<WorkItem> {
        (0..many).map(|number| make(&stage, form, number)).collect()
    };
    let false_ones = [
        several(ASKS.0, "hollow", asks),
        several(UNJUDGED, "unjudged", asks),
        several(MISREAD, "misread", researches),
        several(UNREACHABLE, "unreachable", researches),
        several(TOLD.0, "unconfirmed", tells),
    ]
    .concat();
    let confirmed = several(TOLD.1, "confirmed", tells);
    let honest = [several(ASKS.1, "honest", asks), several(RESEARCH, "fetched", researches), confirmed.clone()].concat();
    assert_eq!((false_ones.len(), honest.len()), (60, 20));
    stage.put(&honest.iter().chain(&false_ones).collect::<Vec<_>>()).await;

    for item in &confirmed {
        stage.until(&item.id, "told", |item| matches!(item.wait, Some(Wait::Answer { .. }))).await;
        stage.backlog("answer", &[("id", item.short_id()), ("text", "The customer has it.")]).await;
    }
    for item in &honest {
        stage.comes_to(&item.id, WorkStatus::Done).await;
    }
    let mut done = Vec::new();
    for item in &false_ones {
        let ended = stage.until(&item.id, "settled", |item| item.status.is_over() || item.status == WorkStatus::Waiting).await;
        done.extend((ended.status == WorkStatus::Done).then_some(ended.what));
    }
    assert_eq!(done, Vec::<String>::new(), "false completions that became done");
}
