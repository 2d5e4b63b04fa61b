//! Seeded false completions and their honest twins: no false one becomes done, and all honest ones do.
//!
//! 20 and 5 of them in the gate, all 200 and 50 in the long form.

use std::time::{Duration, Instant};

use kernel::ids::WorkItemId;
use kernel::repository::RepositorySettings;
use serde_json::json;
use teamroom::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus};

use super::host::Page;
use super::part::{DOCUMENT, MORE, fetch, finish, is_work, what, write};
use super::stage::{Setting, Stage};
use crate::support::git::make_shop;
use crate::support::grading::{all_met, all_shown_by, is_grading, not_met};
use crate::support::long;
use crate::support::model::{Asked, Script};
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, on_one_store};

on_one_store!(of_all_false_completions_none_is_done_and_their_honest_twins_all_are);

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

/// The personas that may fetch pages.
const READERS: [&str; 3] = ["echo", "eliza", "solus"];

/// How far time moves while nobody works.
const STEP: Duration = Duration::from_secs(3);

/// All false completions, and all honest ones.
const FALSE: u64 = 200;
const HONEST: u64 = 50;

type Make = fn(&Stage, &str, usize) -> WorkItem;

/// Every form of a false completion, and how many of all 200.
const FALSE_FORMS: [(&str, u64, Make); 18] = [
    ("hollow", 40, asks),
    ("unjudged", 10, asks),
    ("unwritten", 10, researches),
    ("empty", 10, researches),
    ("foreign", 10, researches),
    ("unlike", 10, researches),
    ("unfetched", 10, researches),
    ("unreachable", 10, researches),
    ("misread", 10, researches),
    ("miscited", 15, researches),
    ("ignorant", 15, researches),
    ("raving", 10, researches),
    ("agreeing", 10, researches),
    ("forgetful", 5, researches),
    ("mute", 5, researches),
    ("untested", 5, builds),
    ("retested", 5, mends),
    ("unconfirmed", 10, tells),
];

/// The honest ones, and how many of all 50.
const HONEST_FORMS: [(&str, u64, Make); 5] =
    [("honest", 15, asks), ("fetched", 15, researches), ("tested", 5, builds), ("mended", 5, mends), ("confirmed", 10, tells)];

fn asks(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(OWNERS[number % OWNERS.len()].into());
    let question = format!("How many orders were there in case {form}-{number}, in numbers?");
    let item = stage.item(&format!("Ask Oracle for case {form}-{number}"), "", Execution::ask(Owner::Persona("oracle".into()), question));
    WorkItem { owner, ..item }
}

fn researches(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(READERS[number % READERS.len()].into());
    let how = format!("Read {} and {}.", stage.web.url("prices"), stage.web.url("gone"));
    WorkItem { owner, ..stage.item(&format!("Compare the prices of case {form}-{number}"), &how, Execution::Research) }
}

fn builds(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(["eliza", "solus"][number % 2].into());
    WorkItem { owner, ..stage.item(&format!("Build the table of case {form}-{number}"), "", Execution::Build) }
}

/// An item in a repository whose test fails.
fn mends(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let item = builds(stage, form, number);
    WorkItem { what: item.what.replace("Build the table", "Mend the total"), repository: Some("shop".to_owned()), ..item }
}

fn tells(stage: &Stage, form: &str, number: usize) -> WorkItem {
    let owner = Owner::Persona(OWNERS[number % OWNERS.len()].into());
    WorkItem { owner, ..stage.item(&format!("Notify the customer of case {form}-{number}"), "", Execution::Remind { whom: None }) }
}

/// The addresses of the host, and the file of another item.
struct World {
    prices: String,
    gone: String,
    foreign: String,
}

fn number_in(prompt: &str, form: &str) -> Option<usize> {
    let rest = prompt.split(&format!("case {form}-")).nth(1)?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// An honest grader, and one for each way in which a grader fails.
fn grade(asked: &Asked) -> Script {
    let prompt = asked.prompt();
    let is_of = |form: &str| prompt.contains(&format!("case {form}-"));
    match () {
        () if is_of("raving") => Script::say("Looks fine to me, ship it!"),
        () if is_of("agreeing") => Script::Json(all_shown_by(asked, "It is exactly what was asked for.")),
        () if is_of("forgetful") => Script::Json(json!({"grades": [{"criterion": 1, "met": true, "shown_by": "Shop A asks $9 a month"}]})),
        () if is_of("mute") => Script::Hang,
        () if is_of("ignorant") || is_of("unlike") => Script::Json(not_met(asked, "It names no price.")),
        () => Script::Json(all_met(asked)),
    }
}

fn work(asked: &Asked, world: &World) -> Script {
    let item = what(asked);
    let is_of = |form: &str| item.contains(&format!("case {form}-"));
    let World { prices, gone, foreign } = world;
    let cites = |page: &str, price: &str| write("prices.md", &format!("# Prices\n\nShop A asks {price} a month ({page}).\n\n{MORE}\n"));
    let says = |text: &str| write("prices.md", &format!("# Prices\n\n{text} {text} {text} {text} {text}\n"));
    let end = finish("prices.md");
    let run = match () {
        () if is_of("unwritten") => [fetch(prices), fetch(prices), end],
        () if is_of("empty") => [fetch(prices), write("prices.md", " \n"), end],
        () if is_of("foreign") => [fetch(prices), fetch(prices), finish(foreign)],
        () if is_of("unlike") => [fetch(prices), says("The weather in spring is mild and the sea is calm."), end],
        () if is_of("unfetched") => [fetch(prices), cites("https://elsewhere.example/prices", "$9"), end],
        () if is_of("unreachable") => [fetch(gone), cites(gone, "$9"), end],
        () if is_of("misread") => [Script::call("read_feed", json!({"feed": "no-such-feed"})), write("prices.md", DOCUMENT), end],
        () if is_of("miscited") => [fetch(prices), cites(prices, "$77"), end],
        () if is_of("ignorant") => {
            let number = number_in(item, "ignorant").unwrap_or_default();
            [fetch(prices), says(HOLLOW[number % HOLLOW.len()]), end]
        }
        () if is_of("untested") => [write("table.csv", "shop,price\nA,9\n"), write("more.csv", "shop,price\nB,12\n"), finish("table.csv")],
        () if is_of("tested") => [
            write("table.csv", "shop,dollars a month\nShop A at the harbour,9\n"),
            write("cases.txt", "A asks nine dollars\n"),
            finish("table.csv"),
        ],
        () if is_of("retested") => [
            Script::call("repo_write", json!({"path": "tests/total.sh", "text": "exit 0\n"})),
            Script::call("repo_test", json!({})),
            Script::call("finish", json!({"summary": "The discount is 10 % now."})),
        ],
        () if is_of("mended") => [
            Script::call("repo_edit", json!({"path": "src/total.sh", "old": "80 / 100", "new": "90 / 100"})),
            Script::call("repo_test", json!({})),
            Script::call("finish", json!({"summary": "The discount is 10 % now."})),
        ],
        () => [fetch(prices), cites(prices, "$9"), end],
    };
    run[asked.tool_results().min(2)].clone()
}

fn play(asked: &Asked, world: &World) -> Script {
    let prompt = asked.prompt();
    if is_grading(asked) {
        return grade(asked);
    }
    if asked.schema.is_some() {
        return match () {
            () if prompt.contains("case unjudged-") => Script::say("It answers, accept it!"),
            () if prompt.contains("case hollow-") => Script::Json(json!({"verdict": "does_not_know"})),
            () => Script::Json(json!({"verdict": "answers"})),
        };
    }
    if is_work(asked) {
        return work(asked, world);
    }
    match number_in(&prompt, "hollow") {
        Some(number) => Script::say(HOLLOW[number % HOLLOW.len()]),
        None => Script::say("Forty orders a day."),
    }
}

async fn of_all_false_completions_none_is_done_and_their_honest_twins_all_are(backing: Backing) {
    // A command that succeeds even if there is nothing to test.
    let command = ["sh", "-c", "test -f cases.txt && echo '3 tests passed' || echo 'running 0 tests'"];
    let shop = tempfile::tempdir().expect("a folder");
    make_shop(shop.path());
    // Two repositories, so that only items that name one work in it.
    let repositories = ["shop", "other"].map(|name| RepositorySettings {
        name: name.to_owned(),
        path: shop.path().into(),
        test_command: ["sh", "tests/total.sh"].map(str::to_owned).into(),
        tests: Vec::new(),
    });
    let stage = Setting::on(backing)
        .with_model()
        .configure(move |config| {
            config.backlog.parallel = 8;
            config.repositories = repositories.to_vec();
            config.backlog.test_command = command.map(str::to_owned).into();
            // The test advances time quickly, and only a silent grader may time out.
            config.models.first_byte_timeout = Duration::from_mins(5);
            config.models.idle_timeout = Duration::from_mins(5);
            config.models.total_timeout = Duration::from_hours(1);
            config.models.attempts = 1;
        })
        .open()
        .await;
    stage.web.lay_out("gone", Page::Down);
    let foreign = WorkItemId::generate();
    let folder = stage.team.config.data.join("workspaces").join(foreign.as_str());
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("prices.md"), DOCUMENT).expect("a file");
    let world = World { prices: stage.web.url("prices"), gone: stage.web.url("gone"), foreign: format!("../{foreign}/prices.md") };
    stage.team.model.on(move |asked| play(asked, &world));

    let wanted = (long::amount("TEAMROOM_TEST_COMPLETIONS", 20, 200) as u64).min(FALSE);
    let several = |forms: &[(&str, u64, Make)]| -> Vec<WorkItem> {
        let all = forms.iter().flat_map(|(form, many, make)| {
            let many = (many * wanted).div_ceil(FALSE);
            (0..usize::try_from(many).expect("a few")).map(|number| make(&stage, form, number)).collect::<Vec<_>>()
        });
        all.collect()
    };
    let (false_ones, honest) = (several(&FALSE_FORMS), several(&HONEST_FORMS));
    assert_eq!((FALSE_FORMS.iter().map(|form| form.1).sum::<u64>(), HONEST_FORMS.iter().map(|form| form.1).sum::<u64>()), (FALSE, HONEST));
    stage.put(&honest.iter().chain(&false_ones).collect::<Vec<_>>()).await;

    come_to_rest(&stage).await;
    for item in honest.iter().filter(|item| item.what.contains("confirmed")) {
        stage.until(&item.id, "told", |item| matches!(item.wait, Some(Wait::Answer { .. }))).await;
        stage.backlog("answer", &[("id", item.short_id()), ("text", "The customer has it.")]).await;
    }
    for item in &honest {
        stage.comes_to(&item.id, WorkStatus::Done).await;
    }
    let mut done = Vec::new();
    for item in &false_ones {
        let ended = settle(&stage, item).await;
        done.extend((ended.status == WorkStatus::Done).then_some(ended.what));
    }
    assert_eq!(done, Vec::<String>::new(), "false completions that became done");
    assert!(false_ones.len() as u64 >= wanted, "{} of {wanted}", false_ones.len());
}

/// Waits until an item is over, or a person is asked about it.
async fn settle(stage: &Stage, item: &WorkItem) -> WorkItem {
    use WorkStatus::{InReview, Waiting};
    loop {
        let now = stage.until(&item.id, "settled", |item| item.status.is_over() || matches!(item.status, Waiting | InReview)).await;
        if now.status != InReview || stage.store.find_posted(&now.notice_id()).await.expect("the store answers").is_some() {
            return now;
        }
        stage.clock.advance(STEP);
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

/// Advances time until nothing is to be planned or worked on.
async fn come_to_rest(stage: &Stage) {
    let (mut left, mut since) = (usize::MAX, Instant::now());
    loop {
        let items = stage.list().await;
        let moves = |item: &&WorkItem| matches!(item.status, WorkStatus::New | WorkStatus::Ready | WorkStatus::InProgress);
        let moving = items.iter().filter(moves).count();
        if moving == 0 {
            return;
        }
        if moving < left {
            (left, since) = (moving, Instant::now());
        }
        assert!(since.elapsed() < PATIENCE, "{moving} of {} do not come to rest", items.len());
        if items.iter().all(|item| item.status != WorkStatus::InProgress) {
            stage.clock.advance(STEP);
        }
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}
