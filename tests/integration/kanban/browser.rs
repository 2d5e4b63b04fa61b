//! The kanban page in headless Chromium (`tests/page/kanban.mjs`).

use axum::Router;
use axum::routing::post;
use kernel::money::Money;
use secrecy::SecretString;
use teamroom::adapters::http::settings::ServerSettings;
use teamroom::features::backlog::model::{Evidence, Judge, Owner, Urgency, Wait, WorkItem, WorkStatus};
use tokio::net::TcpListener;

use super::missions::{mission, step};
use super::stage::{Stage, TOKEN, item, noon};
use crate::support::browser;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_looks_at_the_board() {
    let Some(browser) = browser::find(&["tests/page/kanban.mjs"]).await else { return };
    let stage = Stage::start_in_time(ServerSettings::default()).await;
    stage.insert(&backlog()).await;
    stage.insert(&tea_shop()).await;
    let settings = ServerSettings { token: Some(SecretString::from(TOKEN)), ..ServerSettings::default() };
    let guarded = Stage::start_in_time(settings).await;

    // The script requests one more item through this server.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let arrive = format!("http://{}/", listener.local_addr().expect("an address"));
    let store = stage.store.clone();
    let router = Router::new().route(
        "/",
        post(async move || store.insert_items(&[item("It arrived", WorkStatus::Ready, 0)], noon()).await.expect("it is inserted")),
    );
    let arrivals = tokio::spawn(async move { axum::serve(listener, router).await });

    browser.run("kanban.mjs", &[&stage.url("/backlog"), &guarded.url("/backlog"), TOKEN, &arrive]).await;
    arrivals.abort();
}

/// A mission with steps in every state. The last one joins all of them.
fn tea_shop() -> Vec<WorkItem> {
    let whole = mission("Build the tea shop");
    let mut steps: Vec<WorkItem> = Vec::new();
    for (number, status) in WorkStatus::ALL.into_iter().cycle().take(24).enumerate() {
        let needs: Vec<&WorkItem> =
            if number < 4 { Vec::new() } else { vec![&steps[number - 4], &steps[(number / 4 - 1) * 4 + (number + 1) % 4]] };
        let title = format!("Describe piece {number} of the shop in full, with every case that the roadmap names");
        let wait = (status == WorkStatus::Waiting).then(|| Wait::Answer { of: "Ben".into() });
        steps.push(WorkItem { wait, ..step(&whole, &title, status, &needs) });
    }
    let all: Vec<&WorkItem> = steps.iter().collect();
    let last = step(&whole, "Join all pieces", WorkStatus::Blocked, &all);
    [vec![whole], steps, vec![last]].concat()
}

/// Items in every column, some hard to display.
fn backlog() -> Vec<WorkItem> {
    let needed = item("Measure first", WorkStatus::Done, 300);
    let ben = || Owner::Person { id: "7".into(), name: "Ben".into() };
    vec![
        WorkItem {
            how: "By profiling it under load.".into(),
            why: "Checkout got slow.".into(),
            criteria: vec!["the profile is posted".into()],
            depends_on: vec![needed.id.clone()],
            evidence: vec![
                Evidence::File {
                    path: "profile.md".into(),
                    sha256: "ab".repeat(32),
                    bytes: 2048,
                    form: "Markdown, 3 headings, 410 words".into(),
                },
                Evidence::Review { by: Judge::Person("Ada".into()), note: "Clear and complete.".into(), at: noon() },
            ],
            outcome: Some("Half of the time goes into one query; an index takes it away.".into()),
            cost: Money(123_400),
            ..item("Profile the checkout", WorkStatus::Done, 200)
        },
        needed,
        WorkItem { urgency: Urgency::Now, ..item("Roll back the release", WorkStatus::InProgress, 4) },
        WorkItem { urgency: Urgency::Today, ..item("Compare the three suppliers of cardboard", WorkStatus::Ready, 90) },
        WorkItem { owner: Owner::Persona("echo".into()), ..item("Sketch the landing page", WorkStatus::New, 2) },
        item("Decide on a supplier", WorkStatus::Blocked, 60),
        WorkItem {
            owner: ben(),
            persona: Some("kelly".into()),
            wait: Some(Wait::Answer { of: "Ben".into() }),
            ..item("Ask Ben for last year's figures", WorkStatus::Waiting, 1500)
        },
        item("Write the release notes", WorkStatus::InReview, 30),
        WorkItem {
            wait: Some(Wait::Decision { why: "it was rejected 3 times".into() }),
            ..item("<img src=x onerror=\"globalThis.spoiled = 1\"><script>globalThis.spoiled = 2</script>", WorkStatus::Waiting, 5)
        },
        WorkItem {
            outcome: Some("No source gives the price before 2019.".into()),
            attempts: 3,
            ..item("Find the price of oak since 1990", WorkStatus::Failed, 4000)
        },
        item(&format!("A word that does not break: {}", "x".repeat(120)), WorkStatus::Cancelled, 9000),
    ]
}
