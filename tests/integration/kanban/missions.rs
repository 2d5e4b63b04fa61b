//! The graph of a mission on the page.

use kernel::db::sql;
use kernel::ids::WorkItemId;
use reqwest::StatusCode;
use serde_json::json;
use teamroom::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkKind, WorkStatus};

use super::stage::{Stage, item, noon};
use crate::support::items::claim_item;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    the_steps_of_a_mission_stand_in_waves_with_their_states_of_now,
    a_card_of_a_step_names_its_mission_and_a_mission_narrows_the_page,
    a_step_that_was_taken_out_of_the_plan_is_not_in_the_graph,
    hostile_titles_of_steps_stay_words_and_long_ones_are_cut,
    forty_steps_are_one_small_page,
);

/// A mission and its steps.
pub(super) fn mission(what: &str) -> WorkItem {
    WorkItem { kind: WorkKind::Mission, owner: Owner::Persona("kelly".into()), ..item(what, WorkStatus::Blocked, 30) }
}

pub(super) fn step(of: &WorkItem, what: &str, status: WorkStatus, needs: &[&WorkItem]) -> WorkItem {
    WorkItem {
        kind: WorkKind::Step,
        parent: Some(of.id.clone()),
        depends_on: needs.iter().map(|need| need.id.clone()).collect(),
        execution: Some(Execution::Write),
        persona: Some("vince".into()),
        ..item(what, status, 20)
    }
}

fn address(mission: &WorkItem) -> String {
    format!("/backlog/missions/{}", mission.id)
}

/// The box of a step.
fn find_box<'a>(page: &'a str, step: &WorkItem) -> &'a str {
    let link = format!("href=\"/backlog/items/{}\"", step.id);
    let rest = page.split("<foreignObject").find(|part| part.contains(&link)).unwrap_or_else(|| panic!("no box of {}: {page}", step.what));
    rest.split("</foreignObject>").next().expect("its end")
}

async fn the_steps_of_a_mission_stand_in_waves_with_their_states_of_now(backing: Backing) {
    let stage = Stage::start(backing).await;
    let whole = mission("Build the tea shop");
    let cart = step(&whole, "Describe the cart", WorkStatus::Ready, &[]);
    let asks = WorkItem { wait: Some(Wait::Answer { of: "Ben".into() }), ..step(&whole, "Describe the payment", WorkStatus::Waiting, &[]) };
    let join = step(&whole, "Join both", WorkStatus::Blocked, &[&cart, &asks]);
    stage.insert(&[whole.clone(), cart.clone(), asks.clone(), join.clone(), item("Sweep the yard", WorkStatus::New, 5)]).await;

    let board = stage.get("/backlog").await;
    assert_eq!(board.matches("<a class=\"graph-link\"").count(), 1, "the card of the mission leads to its graph, and no other one");
    assert!(board.contains(&format!("href=\"{}\"", address(&whole))), "{board}");
    for one in [&whole, &join] {
        let page = stage.get(&format!("/backlog/items/{}", one.id)).await.replace("&#x2f;", "/");
        assert!(page.contains(&format!("href=\"{}\"", address(&whole))), "{page}");
    }
    let cards = stage.json("/backlog.json").await;
    let kinds: Vec<&str> = cards["columns"][0]["cards"].as_array().unwrap().iter().map(|card| card["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "mission").count(), 1, "{kinds:?}");

    let page = stage.get(&address(&whole)).await;
    for words in ["Build the tea shop", "0 of 3 steps done", ">Wave 1<", ">Wave 2<", "Kelly"] {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
    assert!(!page.contains("Wave 3") && !page.contains("Sweep the yard"), "{page}");
    assert_eq!((page.matches("<path class=\"need\"").count(), page.matches("<path class=\"tip\"").count()), (2, 2), "{page}");
    let shown = find_box(&page, &cart);
    assert!(shown.contains("class=\"step ready\"") && shown.contains(">ready<") && shown.contains("Vince"), "{shown}");
    assert!(find_box(&page, &asks).contains("Waits for an answer from Ben"));
    assert!(find_box(&page, &join).contains(">blocked<"));
    let place = |text: &str, name: &str| -> i32 {
        let value = text.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
        value.parse().unwrap()
    };
    assert!(place(find_box(&page, &join), " x") > place(find_box(&page, &cart), " x") + 200, "it stands to the right of what it needs");

    let mark = |page: &str| -> i64 { page.split("data-mark=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap() };
    let claimed = claim_item(&stage.store, noon()).await;
    assert_eq!(claimed.item.id, cart.id);
    let later = stage.get(&address(&whole)).await;
    assert!(mark(&later) > mark(&page), "pages that listen load it again");
    assert!(find_box(&later, &cart).contains("class=\"step in_progress\"") && find_box(&later, &cart).contains(">in progress<"));

    for unknown in [address(&cart), "/backlog/missions/nothing".into(), "/backlog/missions/%00".into()] {
        let response = stage.http.get(stage.url(&unknown)).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{unknown}");
    }
}

async fn a_card_of_a_step_names_its_mission_and_a_mission_narrows_the_page(backing: Backing) {
    let stage = Stage::start(backing).await;
    let (whole, other) = (mission("Build the <tea> shop"), mission("Sell cake"));
    let cart = step(&whole, "Describe the cart", WorkStatus::Ready, &[]);
    let bake = step(&other, "Bake", WorkStatus::Ready, &[]);
    let part = WorkItem { parent: Some(cart.id.clone()), ..item("A part of a step", WorkStatus::Ready, 5) };
    stage.insert(&[whole.clone(), other, cart.clone(), bake, part]).await;
    let page = stage.get("/backlog").await;
    let of = |id: &WorkItemId| format!("Step of <a href=\"/backlog/missions/{id}\">Build the &lt;tea&gt; shop</a>");
    assert_eq!((page.matches("Step of <a").count(), page.matches(&of(&whole.id)).count()), (2, 1), "{page}");

    let narrowed = stage.get(&format!("/backlog?mission={}", whole.id)).await;
    assert!(narrowed.contains(&format!("<option value=\"{}\" selected>Build the &lt;tea&gt; shop</option>", whole.id)), "{narrowed}");
    let board = stage.json(&format!("/backlog.json?mission={}", whole.id)).await;
    let titles: Vec<_> = board["columns"][0]["cards"].as_array().unwrap().iter().map(|card| card["what"].as_str().unwrap()).collect();
    assert_eq!((titles, &board["columns"][0]["count"]), (vec!["Describe the cart", "Build the <tea> shop"], &json!(2)));
    assert_eq!(stage.json("/backlog.json?mission=%00'").await["columns"][0]["count"], 5, "what is no id narrows nothing");
}

async fn a_step_that_was_taken_out_of_the_plan_is_not_in_the_graph(backing: Backing) {
    let stage = Stage::start(backing).await;
    let whole = mission("Build the tea shop");
    let cart = step(&whole, "Describe the cart", WorkStatus::Done, &[]);
    let dropped = step(&whole, "Describe the payment", WorkStatus::Cancelled, &[&cart]);
    let cancelled = step(&whole, "Describe the delivery", WorkStatus::Cancelled, &[&cart]);
    stage.insert(&[whole.clone(), cart.clone(), dropped.clone(), cancelled.clone()]).await;
    let change = json!({
        "by": "Ben", "at": noon(), "why": "Nothing is sold yet.", "added": [], "edited": [],
        "dropped": [{ "item": dropped.id, "title": dropped.what }],
    });
    let plan = json!({
        "given": [], "to_find_out": [], "assumed": [], "criteria": [], "steps": [], "left_out": [], "warnings": [], "made_by": null,
        "changes": [change],
    });
    let mut transaction = stage.store.db().begin().await.unwrap();
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO missions (id, status, title, request, directive, channel, plan, replans, created_at, updated_at)
         VALUES ($1, 'running', 'Tea shop', '', '[]', 'discord:1', $2, 0, $3, $3)",
        whole.id.as_str(),
        plan.to_string(),
        noon()
    )
    .unwrap();
    transaction.commit().await.unwrap();

    let page = stage.get(&address(&whole)).await;
    assert!(page.contains("1 of 2 steps done") && !page.contains(&dropped.what), "{page}");
    assert!(find_box(&page, &cancelled).contains("class=\"step cancelled\""), "{page}");
    assert_eq!(page.matches("<path class=\"need").count(), 1, "{page}");
}

async fn hostile_titles_of_steps_stay_words_and_long_ones_are_cut(backing: Backing) {
    let stage = Stage::start(backing).await;
    let hostile = "\"/></a></foreignObject></svg><script src=//evil.example></script><img src=x onerror=\"alert(1)\">{{ 7 * 7 }}";
    let whole = mission(hostile);
    let first = WorkItem {
        owner: Owner::Person { id: hostile.into(), name: hostile.into() },
        wait: Some(Wait::Decision { why: hostile.into() }),
        ..step(&whole, hostile, WorkStatus::Waiting, &[])
    };
    let long = step(&whole, &"very long ".repeat(100), WorkStatus::Done, &[&first]);
    stage.insert(&[whole.clone(), first.clone(), long.clone()]).await;
    let page = stage.get(&address(&whole)).await;
    assert!(page.contains("&lt;script src=") && !page.contains("<script src=//") && !page.contains("<img"), "{page}");
    assert!(page.contains("{{ 7 * 7 }}"), "{page}");
    assert!(page.split("onerror=").skip(1).all(|rest| rest.starts_with("&quot;")), "no attribute begins: {page}");
    assert_eq!((page.matches("</svg>").count(), page.matches("</foreignObject>").count()), (1 + page.matches("class=\"dot\"").count(), 4));
    assert!(find_box(&page, &long).len() < 1200, "{}", find_box(&page, &long));
}

async fn forty_steps_are_one_small_page(backing: Backing) {
    let stage = Stage::start(backing).await;
    let whole = mission("Build everything");
    let mut steps: Vec<WorkItem> = Vec::new();
    for number in 0..40_usize {
        let needs: Vec<&WorkItem> = match number {
            0..5 => Vec::new(),
            39 => steps.iter().collect(),
            _ => vec![&steps[number - 5], &steps[(number / 5 - 1) * 5 + (number + 1) % 5]],
        };
        let status = WorkStatus::ALL[number % WorkStatus::ALL.len()];
        steps.push(step(&whole, &format!("Describe piece {number}"), status, &needs));
    }
    let all: Vec<WorkItem> = std::iter::once(whole.clone()).chain(steps.iter().cloned()).collect();
    stage.insert(&all).await;
    let page = stage.get(&address(&whole)).await;
    assert!(steps.iter().all(|step| find_box(&page, step).contains(&step.what)));
    assert!(page.contains(">Wave 9<") && page.len() < 100_000, "{} bytes", page.len());
}
