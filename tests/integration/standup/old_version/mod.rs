//! A database of the last version without jobs (migration 7). Its process was killed by `kill -9` in the middle of a turn and a standup, with items
//! in every status. In the dumps, ids of the sandbox are replaced by names in braces.

use std::time::Duration;

use chrono::{DateTime, Utc};
use kernel::ids::WorkItemId;
use kernel::llm::settings::ProviderKind;
use kernel::time::ManualClock;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::backlog::store::ItemFilter;
use teamroom::store::Store;

use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::postgres::database;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};
use crate::support::time::go_on;

on_both_stores!(a_killed_team_of_an_old_version_goes_on);

/// A minute after the kill.
const NOW: &str = "2026-11-24T15:24:00Z";

/// The item that had written `notes.md`, in each of the dumps.
const IN_REVIEW: [&str; 2] = ["01a20e25b87f72509ccab8b8b0a181ce", "01a20e2558d970b9954321b932c4aa28"];

/// The question whose turn was open, and its message in each of the dumps.
const ASKED: &str = "eliza, what is in the library?";
const OPEN: [&str; 2] = ["1574807209324314624", "1574807112955985920"];

fn now() -> DateTime<Utc> {
    NOW.parse().expect("a time")
}

/// The names in braces that dumps have for the sandbox's ids.
fn names(team: &TestTeam) -> Vec<(String, String)> {
    let sandbox = team.sandbox();
    let mut names = vec![("{guild}".to_owned(), sandbox.guild_id())];
    names.extend(sandbox.channels().into_iter().map(|(name, id)| (format!("{{channel:{name}}}"), id)));
    names.extend(sandbox.people().iter().map(|person| (format!("{{person:{}}}", person.name), person.id.clone())));
    names.extend(sandbox.bots().into_iter().map(|bot| (format!("{{bot:{}}}", bot.slug), bot.id)));
    names
}

/// Puts the old database in the place of the team's.
async fn restore(team: &mut TestTeam, backing: Backing) {
    let (mut dump, url) = match backing {
        Backing::Sqlite => {
            let file = team.path("old.db");
            std::fs::write(&file, "").expect("the file is made");
            (include_str!("sqlite.sql").to_owned(), format!("sqlite:{}", file.display()))
        }
        Backing::Postgres => (include_str!("postgres.sql").to_owned(), database().await.expect("a database")),
    };
    for (name, id) in names(team) {
        dump = dump.replace(&name, &id);
    }
    // The message must exist on the platform, because a missing one would count as deleted.
    dump = dump.replace(OPEN[usize::from(backing == Backing::Postgres)], &team.say("general", ASKED).await);
    let dump = AssertSqlSafe(dump);
    match backing {
        Backing::Sqlite => drop(SqliteConnection::connect(&url).await.unwrap().execute(sqlx::raw_sql(dump)).await.unwrap()),
        Backing::Postgres => drop(PgConnection::connect(&url).await.unwrap().execute(sqlx::raw_sql(dump)).await.unwrap()),
    }
    team.config.database_url = url.into();
}

fn answer(asked: &Asked) -> Script {
    let prompt = asked.prompt();
    if is_grading(asked) {
        Script::Json(all_met(asked))
    } else if asked.tools.iter().any(|tool| tool == "finish") {
        match asked.tool_results() {
            0 => Script::call("workspace_write", json!({"path": "prices.md", "text": "# Prices\n\nShop A asks 9 dollars.\n"})),
            _ => Script::call("finish", json!({"summary": "Shop A asks 9 dollars.", "files": ["prices.md"]})),
        }
    } else if prompt.contains("## Your report") {
        Script::say("Nothing to report.")
    } else if asked.schema.is_some() {
        Script::Json(
            json!({"tldr": ["All is well."], "actions": [], "lessons": [], "answer": "yes", "confidence": 0.6, "reason": "So far so good."}),
        )
    } else {
        Script::say("The library has nine folders.")
    }
}

async fn a_killed_team_of_an_old_version_goes_on(backing: Backing) {
    let clock = ManualClock::new(now());
    let wanted = Wanted::on(backing).clock(clock.clone()).model(ProviderKind::OpenAi).without_app();
    let mut team = wanted
        .configure(|config| {
            config.chat.max_age = Duration::from_hours(24 * 365);
        })
        .sandbox(|options| options.people = vec!["You".into(), "Ann".into()])
        .start()
        .await;
    restore(&mut team, backing).await;
    team.model.on(answer);
    let written = team.config.data.join("workspaces").join(IN_REVIEW[usize::from(backing == Backing::Postgres)]);
    std::fs::create_dir_all(&written).unwrap();
    std::fs::write(written.join("notes.md"), "# Notes\n\nThe certificate expires on 3 March. Renew it by 1 March.\n").unwrap();
    let _time = go_on(&clock);
    team.start_app().await;

    let store = Store::open_shared(&team.config.database_url, now()).await.unwrap();
    let item = async |what: &str| {
        let all = store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: 50 }).await.unwrap();
        all.into_iter().find(|item| item.what.starts_with(what)).unwrap_or_else(|| panic!("no item {what}"))
    };
    let is = async |what: &str, status: WorkStatus| item(what).await.status == status;

    eventually("the open turn is answered", async || team.answers("general").await.iter().any(|shown| shown.text.contains("nine folders")))
        .await;
    eventually("the standup ends with a report", async || {
        team.answers("daily-standup")
            .await
            .iter()
            .any(|shown| shown.raw["embeds"][0]["title"].as_str().is_some_and(|title| title.contains("Day Report")))
    })
    .await;
    let spoke = team
        .model
        .requests()
        .iter()
        .filter(|asked| asked.system.contains("You are Echo") && asked.prompt().contains("## Your report"))
        .count();
    assert_eq!(spoke, 0, "Echo had reported before the kill");

    eventually("the result in review is judged", async || is("Write a note about the certificate", WorkStatus::Done).await).await;
    eventually("the item that ran is run again", async || {
        let running = item("Research HANGME prices").await.id;
        let events = store.list_events(&running).await.unwrap();
        events.iter().any(|event| event.from == Some(WorkStatus::InProgress) && event.at >= now())
    })
    .await;
    eventually("what was new is asked", async || !is("Ask Vince for the budget", WorkStatus::New).await).await;
    assert!(is("Ask Eliza for the number of open invoices", WorkStatus::Done).await);
    assert!(is("Ask Oracle for the odds of snow", WorkStatus::Failed).await);
    assert!(is("Write a page nobody wants", WorkStatus::Cancelled).await);
    assert!(is("Remind Solus about the certificate", WorkStatus::Waiting).await);
    let reminder: WorkItemId = item("Remind Solus about the certificate").await.id;
    assert!(store.list_events(&reminder).await.unwrap().len() > 1, "its history is kept");

    team.settle().await;
    let answered = team.answers("general").await.iter().filter(|shown| shown.text.contains("nine folders")).count();
    assert_eq!(answered, 1, "{ASKED}");
}
