//! `teamroom backlog` as a separate process.

use std::process::{Output, Stdio};
use std::time::Duration;

use kernel::time::{Clock as _, SystemClock};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use teamroom::features::backlog::model::{Artefact, ArtefactFacts, Execution, Origin, Owner, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, RunEnd};
use teamroom::store::Store;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::items::claim_item;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    without_a_team_items_are_added_shown_changed_and_ended,
    a_file_is_added_whole_or_not_at_all,
    ten_thousand_items_are_added_at_once,
    what_changes_is_watched_until_nothing_is_left_to_do,
    beside_a_team_it_is_said_who_works,
    files_are_listed_and_saved,
    the_kanban_page_is_named_while_it_is_served,
);

fn command(team: &TestTeam, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.arg("backlog").args(args).current_dir(team.dir.path()).env_clear().kill_on_drop(true);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("DATABASE_URL", team.config.database_url.expose_secret());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn run(team: &TestTeam, args: &[&str]) -> Output {
    command(team, args).output().await.expect("the binary runs")
}

/// The program's output.
async fn say(team: &TestTeam, args: &[&str]) -> String {
    let output = run(team, args).await;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

async fn json_of(team: &TestTeam, args: &[&str]) -> Value {
    serde_json::from_str(&say(team, &[args, &["--json"]].concat()).await).expect("JSON")
}

/// The error output of a failing command.
async fn complain(team: &TestTeam, args: &[&str]) -> String {
    let output = run(team, args).await;
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// The short id of an item in JSON.
fn short(item: &Value) -> String {
    let id = item["id"].as_str().expect("an id");
    id[id.len() - 6..].to_owned()
}

fn write(team: &TestTeam, name: &str, items: &Value) -> String {
    std::fs::write(team.path(name), items.to_string()).expect("the file is written");
    name.to_owned()
}

async fn without_a_team_items_are_added_shown_changed_and_ended(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    assert!(say(&team, &["list"]).await.contains("The backlog is empty"));
    assert_eq!(json_of(&team, &["list"]).await, json!([]));
    let added =
        json_of(&team, &["add", "Check the login", "--owner", "vince", "--urgency", "today", "--criterion", "It is green"]).await["item"]
            .clone();
    let id = short(&added);
    assert_eq!(
        (&added["owner"], &added["status"], &added["origin"]),
        (&json!({"persona": "vince"}), &json!("new"), &json!("command_line"))
    );
    assert!(say(&team, &["list", "--owner", "Vince"]).await.contains(&format!("| {id} | Check the login | Vince | new    | today |")));
    let second = json_of(&team, &["add", "Tell Ann", "--needs", &id]).await["item"].clone();
    assert_eq!(second["depends_on"], json!([added["id"]]));
    let shown = say(&team, &["show", &id]).await;
    assert!(shown.contains("Done when: It is green") && shown.contains("Urgency: today"), "{shown}");
    let sheet = json_of(&team, &["show", &id]).await;
    assert_eq!((&sheet["item"]["id"], &sheet["events"][0]["to"], &sheet["journal"]), (&added["id"], &json!("new"), &json!([])));

    assert!(say(&team, &["edit", &id, "--owner", "eliza", "--urgency", "this-week"]).await.contains("You changed an item"));
    assert_eq!(json_of(&team, &["show", &id]).await["item"]["owner"], json!({"persona": "eliza"}));
    assert!(complain(&team, &["edit", &id, "--what", "…!"]).await.contains("does not say what to do"));
    let next = run(&team, &["run", &id]).await;
    let told = String::from_utf8_lossy(&next.stdout).into_owned();
    assert!(
        next.status.success()
            && told.contains("You moved this to the top")
            && told.contains("No team serves this database: start `teamroom run`"),
        "{told}"
    );
    assert_eq!(json_of(&team, &["run", &id]).await["served"], json!(false));

    let cancelled = json_of(&team, &["cancel", &id]).await;
    assert_eq!((&cancelled["item"]["status"], &cancelled["failed"]), (&json!("cancelled"), &json!([second["id"]])));
    assert!(complain(&team, &["cancel", &id]).await.contains("was cancelled. You can retry it"));
    assert!(complain(&team, &["retry", &short(&second)]).await.contains("would fail again"));
    assert!(say(&team, &["retry", &id]).await.contains("You restarted"));
    assert!(say(&team, &["list", "--status", "failed"]).await.contains("Tell Ann"));
    assert!(complain(&team, &["show", "zzzzzz"]).await.contains("there is no item #zzzzzz"));
    assert!(complain(&team, &["list", "--status", "busy"]).await.contains("\"status\" cannot be \"busy\". Choose open, new"));
    assert!(complain(&team, &["list", "--owner", "Bob"]).await.contains("nobody on the team is called \"Bob\". The team: Echo"));
    assert_eq!(run(&team, &["add"]).await.status.code(), Some(2), "clap explains what is missing");
}

async fn a_file_is_added_whole_or_not_at_all(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    let good = write(
        &team,
        "good.json",
        &json!([
            {"key": "plan", "what": "Plan the move", "owner": "kelly", "kind": "write"},
            {"key": "boxes", "what": "Order boxes", "needs": ["plan"], "parent": "all", "urgency": "this_week"},
            {"key": "all", "what": "Finish the move", "criteria": ["The old room is empty"]},
        ]),
    );
    let added = json_of(&team, &["add", "--file", &good]).await["items"].clone();
    assert_eq!(added[1]["depends_on"], json!([added[0]["id"]]));
    assert_eq!((&added[1]["parent"], &added[0]["execution"]), (&added[2]["id"], &json!("write")));
    assert!(complain(&team, &["add", "--file", &good]).await.contains("says the same as the open item \"Plan the move\""), "not twice");
    let alike = complain(&team, &["add", "plan move"]).await;
    assert!(alike.contains("looks like the open item \"Plan the move\"") && alike.contains("--anyway"), "{alike}");
    let anyway = json_of(&team, &["add", "plan move", "--anyway"]).await["item"].clone();
    assert_eq!((&anyway["what"], &anyway["status"]), (&json!("plan move"), &json!("new")));
    json_of(&team, &["cancel", &short(&anyway)]).await;
    let count = json_of(&team, &["list", "--status", "all"]).await.as_array().map(Vec::len);

    let bad = [
        (json!([{"key": "a", "what": "Check a", "needs": ["b"]}, {"key": "b", "what": "Check b", "needs": ["a"]}]), "wait for each other"),
        (
            json!([{"what": "Check a"}, {"key": "x", "what": "Check b", "owner": "Bob"}]),
            "item 2 (x) nobody on the team is called \"Bob\". The team: Echo",
        ),
        (json!([{"what": "Check a"}, {"what": "?!"}]), "item 2 does not say what to do"),
        (json!([{"what": "Check a"}, {"what": "Check b", "needs": ["nowhere"]}]), "item 2 names \"nowhere\""),
        (json!([{"key": "k", "what": "Check a"}, {"key": "k", "what": "Check b"}]), "the same key as another item"),
        (json!([{"what": "Check a"}, {"what": "Check the a"}]), "item 2 says the same as item 1"),
        (json!([{"what": "Check a"}, {"what": "Check b", "kind": "watch"}]), "but no terms"),
        (json!([{"what": "Check a", "colour": "red"}]), "unknown field `colour`"),
        (json!([{"what": "Check ".repeat(60)}]), "The limit is 160"),
        (json!([]), "no items to add"),
        (json!({"what": "Check a"}), "is no list of items"),
    ];
    for (items, reason) in bad {
        let told = complain(&team, &["add", "--file", &write(&team, "bad.json", &items)]).await;
        assert!(told.contains(reason), "{reason}: {told}");
    }
    assert!(complain(&team, &["add", "--file", "missing.json"]).await.contains("cannot read missing.json"));
    assert_eq!(json_of(&team, &["list", "--status", "all"]).await.as_array().map(Vec::len), count, "nothing of them was added");
}

async fn ten_thousand_items_are_added_at_once(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    let items: Vec<_> = (0..10_000).map(|n| json!({"key": n.to_string(), "what": format!("Check host {n}"), "needs": if n > 0 { vec![(n - 1).to_string()] } else { vec![] }})).collect();
    let file = write(&team, "many.json", &json!(items));
    assert_eq!(say(&team, &["add", "--file", &file]).await, "Added 10000 items.\n");
    let list = say(&team, &["list"]).await;
    assert!(list.contains("10000 new") && list.contains("There are more") && list.lines().count() < 70, "{list}");
}

async fn what_changes_is_watched_until_nothing_is_left_to_do(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    let id = short(&json_of(&team, &["add", "Check the login"]).await["item"]);
    let still = run(&team, &["watch", "--until-idle", "--for", "100ms"]).await;
    assert_eq!(still.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&still.stderr).contains("there is still work to do"));
    assert!(run(&team, &["watch", "--for", "100ms"]).await.status.success());
    assert_eq!(run(&team, &["watch", "--for", "soon"]).await.status.code(), Some(2));

    let mut watching = command(&team, &["watch", "--until-idle", "--json"]).spawn().expect("the binary starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("its output")).lines();
    // `watch` has begun once it prints a new item.
    let mut all = vec![id.clone()];
    while timeout(Duration::from_secs(1), lines.next_line()).await.is_err() {
        let added = json_of(&team, &["add", &format!("Sweep floor {}", all.len()), "--anyway"]).await;
        all.push(short(&added["item"]));
    }
    for id in &all {
        say(&team, &["cancel", id]).await;
    }
    let mut told = Vec::new();
    while let Some(line) = timeout(Duration::from_mins(5), lines.next_line()).await.expect("it ends").expect("its output") {
        told.push(serde_json::from_str::<Value>(&line).expect("a line of JSON"));
    }
    assert!(watching.wait().await.expect("it ran").success());
    let of_the_first: Vec<_> = told.iter().filter(|line| short(&line["item"]) == id).map(|line| (&line["from"], &line["to"])).collect();
    assert_eq!(of_the_first, [(&json!("new"), &json!("cancelled"))]);
}

/// The output is closed, as after `| head`, or its disk is full.
#[tokio::test]
async fn output_that_nobody_takes_ends_a_command_without_a_panic() {
    let team = Wanted::on(Backing::Sqlite).without_app().start().await;
    say(&team, &["add", "Check the login"]).await;
    let mut left = command(&team, &["list"]).spawn().expect("the binary starts");
    drop(left.stdout.take());
    let ended = left.wait_with_output().await.expect("it ends");
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    if let Ok(full) = std::fs::File::options().write(true).open("/dev/full") {
        let refused = command(&team, &["list"]).stdout(full).spawn().expect("the binary starts");
        let ended = refused.wait_with_output().await.expect("it ends");
        assert_eq!(ended.status.code(), Some(1));
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(told.starts_with("teamroom: cannot write the output: "), "{told}");
    }
}

async fn beside_a_team_it_is_said_who_works(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let id = short(&json_of(&team, &["add", "Check the login", "--owner", "vince"]).await["item"]);
    let told = say(&team, &["run", &id]).await;
    assert!(told.contains("The team is running: process") && told.contains("serves this database"), "{told}");
    assert_eq!(json_of(&team, &["run", &id]).await["served"], json!(true));
    eventually("the list shows it", || async { say(&team, &["list"]).await.contains(&id) }).await;
}

async fn files_are_listed_and_saved(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    let now = SystemClock.now();
    let store = Store::open_shared(&team.config.database_url, now).await.unwrap();
    let item = |what: &str| WorkItem {
        status: WorkStatus::Ready,
        persona: Some("vince".into()),
        execution: Some(Execution::Write),
        ..WorkItem::new(what, Owner::Persona("vince".into()), Origin::CommandLine, now)
    };
    let (made, empty) = (item("Write the plan"), item("Write nothing"));
    store.insert_items(std::slice::from_ref(&made), now).await.unwrap();
    let claimed = claim_item(&store, now).await;
    let file = |name: &str, text: &str| Artefact {
        facts: ArtefactFacts { name: name.into(), media_type: "text/markdown".into(), bytes: text.len() as u64, sha256: "ab12".into() },
        content: text.as_bytes().to_vec(),
    };
    let end = End::Done { outcome: "It is planned.".into(), evidence: Vec::new(), memories: Vec::new() };
    let artefacts = [file("docs/plan.md", "# Plan"), file("notes.md", "# Notes")];
    store.end_run(&RunEnd { job: &claimed.job, end, artefacts: &artefacts, outbox: &[], at: now }).await.unwrap().unwrap();
    store.insert_items(std::slice::from_ref(&empty), now).await.unwrap();
    store.close().await;

    let id = made.short_id();
    let listed = say(&team, &["files", id]).await;
    assert!(listed.contains("docs/plan.md (6 bytes)") && listed.contains(&format!("teamroom backlog files {id} --out DIR")), "{listed}");
    assert_eq!(json_of(&team, &["files", id]).await["files"][1]["name"], "notes.md");
    let saved = say(&team, &["files", id, "--out", "out"]).await;
    assert!(saved.contains("Saved out/docs/plan.md"), "{saved}");
    assert_eq!(std::fs::read_to_string(team.path("out/docs/plan.md")).unwrap(), "# Plan");
    std::fs::write(team.path("out/notes.md"), "mine").unwrap();
    let told = complain(&team, &["files", id, "--out", "out"]).await;
    assert!(told.contains("out/notes.md exists already. Choose another folder"), "{told}");
    assert_eq!(std::fs::read_to_string(team.path("out/notes.md")).unwrap(), "mine");
    let told = complain(&team, &["files", empty.short_id()]).await;
    assert!(told.contains("\"Write nothing\"") && told.contains("has no files yet"), "{told}");
    assert!(say(&team, &["show", id]).await.contains("docs/plan.md (6 bytes)"));
    let told = complain(&team, &["add", "Write code", "--repo", "shop"]).await;
    assert!(told.contains("the repository \"shop\", but none is configured"), "{told}");
    std::fs::write(team.path("teamroom.toml"), "[repositories.shop]\npath = \"shop\"\n").unwrap();
    let added = json_of(&team, &["add", "Write code", "--repo", "shop"]).await["item"].clone();
    assert_eq!((&added["repository"], &added["execution"]), (&json!("shop"), &json!("build")));
    let told = complain(&team, &["add", "Write code", "--repo", "shop", "--kind", "write", "--anyway"]).await;
    assert!(told.contains("not of the kind build"), "{told}");
}

async fn the_kanban_page_is_named_while_it_is_served(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    // Another process of the team serves it on a port that no setting names.
    let url = format!("http://{address}/backlog");
    store.record_kanban_page(Some((listener.local_addr().expect("an address"), &url))).await.unwrap();
    let list = async || {
        let output = command(&team, &["list"]).env("TEAMROOM_SERVER_LISTEN", "127.0.0.1:1").output().await.expect("the binary runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let named = format!("Kanban page: http://{address}/backlog");
    let listed = list().await;
    assert!(listed.contains(&named), "{listed}");
    drop(listener);
    let listed = list().await;
    assert!(!listed.contains("Kanban page"), "{listed}");
    store.close().await;
}
