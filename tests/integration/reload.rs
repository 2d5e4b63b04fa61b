//! Settings and personas that change while the team runs.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::persona::load::BUILT_IN;
use serde_json::{Value, json};

use crate::support::command::{invoke, text};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    a_changed_persona_and_a_changed_setting_are_taken_over_and_a_bad_file_is_not,
    a_changed_skill_is_taken_over_and_a_bad_one_is_not,
    an_expert_is_taken_over_and_a_bad_one_is_not,
    what_is_said_meanwhile_is_answered_once,
);

async fn start(backing: Backing) -> (TestTeam, TeamProcess) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let process = TeamProcess::start(&team, &[]).await;
    (team, process)
}

fn write_personas(dir: &Path, vince: &str) {
    fs::create_dir_all(dir.join("personas")).unwrap();
    for (name, text) in BUILT_IN {
        let text = if name == "vince.md" { vince } else { text };
        fs::write(dir.join("personas").join(name), text).unwrap();
    }
}

fn vince_with(line: &str) -> String {
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == "vince.md").unwrap();
    format!("{text}\n{line}\n")
}

async fn operators_are_told(team: &TestTeam, part: &str) {
    eventually(&format!("operators are told: {part}"), || async { team.answers("ops").await.iter().any(|told| told.text.contains(part)) })
        .await;
}

/// Asks Vince. Returns the system prompt of his answer.
async fn ask_vince(team: &TestTeam, word: &str) -> String {
    team.say("general", &format!("vince, report {word}")).await;
    eventually("he answers", || async { team.answers("general").await.iter().any(|said| said.text == format!("answer to {word}")) }).await;
    team.model.requests().last().expect("a request").system.clone()
}

async fn a_changed_persona_and_a_changed_setting_are_taken_over_and_a_bad_file_is_not(backing: Backing) {
    let (team, mut process) = start(backing).await;
    let dir = team.dir.path();
    assert!(!ask_vince(&team, "one").await.contains("You collect stamps."));

    write_personas(dir, &vince_with("You collect stamps."));
    operators_are_told(&team, "Reloaded").await;
    assert!(ask_vince(&team, "two").await.contains("You collect stamps."));

    fs::write(dir.join("personas/vince.md"), "no front matter").unwrap();
    operators_are_told(&team, "vince.md").await;
    assert!(ask_vince(&team, "three").await.contains("You collect stamps."), "he is as he was");
    write_personas(dir, &vince_with("You collect coins."));
    eventually("it is taken over", || async { ask_vince(&team, "four").await.contains("You collect coins.") }).await;

    fs::write(dir.join("teamroom.toml"), "team = \"The Menders\"\nteem = 1\n").unwrap();
    operators_are_told(&team, "teamroom.toml:2: teem: unknown key").await;
    fs::write(dir.join("teamroom.toml"), "team = \"The Menders\"\n").unwrap();
    process.hang_up();
    operators_are_told(&team, "Reloaded teamroom.toml").await;
    assert!(ask_vince(&team, "five").await.contains("The Menders"));

    fs::write(dir.join("prices.toml"), "[house-model]\noutput = \"dear\"\n").unwrap();
    operators_are_told(&team, "prices.toml:2: models.prices.house-model.output: \"dear\" is not allowed").await;
    fs::write(dir.join("prices.toml"), "[house-model]\noutput = 4.0\n").unwrap();
    operators_are_told(&team, "Reloaded prices.toml").await;

    let with_avatar = vince_with("You collect coins.").replacen("name: Vince\n", "name: Vince\navatar: vince.png\n", 1);
    fs::write(dir.join("personas/vince.md"), with_avatar).unwrap();
    operators_are_told(&team, "vince.md: line 3: avatar: vince.png cannot be read").await;
    fs::write(dir.join("personas/vince.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    operators_are_told(&team, "Reloaded vince.png").await;

    process.hang_up();
    ask_vince(&team, "six").await;
    assert!(process.is_running());
    assert!(process.terminate(), "it ends in peace");
}

async fn a_changed_skill_is_taken_over_and_a_bad_one_is_not(backing: Backing) {
    let (team, process) = start(backing).await;
    let skills = team.dir.path().join("skills");
    assert!(ask_vince(&team, "one").await.contains("Comparing sources"), "a built-in skill");

    fs::create_dir_all(&skills).unwrap();
    let stamps = |name: &str| format!("---\nname: {name}\nsummary: Look at the edges.\nfor: [vince]\n---\nUse tweezers.\n");
    fs::write(skills.join("stamps.md"), stamps("Old stamps")).unwrap();
    operators_are_told(&team, "Reloaded stamps.md").await;
    let system = ask_vince(&team, "two").await;
    assert!(system.contains("`skill_read` before you work in one: Old stamps.") && !system.contains("Comparing sources"), "{system}");
    assert!(!system.contains("Use tweezers."), "{system}");

    fs::write(skills.join("stamps.md"), stamps("New stamps").replace("for: [vince]", "fur: [vince]")).unwrap();
    operators_are_told(&team, "stamps.md: line 4: ").await;
    assert!(ask_vince(&team, "three").await.contains("Old stamps"), "he is as he was");
    fs::write(skills.join("stamps.md"), stamps("New stamps")).unwrap();
    eventually("it is taken over", || async { ask_vince(&team, "four").await.contains("New stamps") }).await;
    assert!(process.terminate(), "it ends in peace");
}

async fn an_expert_is_taken_over_and_a_bad_one_is_not(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let experts = team.dir.path().join("experts");
    fs::create_dir_all(&experts).unwrap();
    let ada = "---\nname: Ada Byron\nexpertise: [databases]\n---\nYou keep databases.\n";
    fs::write(experts.join("ada.md"), ada).unwrap();
    fs::write(experts.join("bea.md"), ada.replace("Ada Byron", "Vince")).unwrap();
    fs::write(experts.join("vince.md"), ada).unwrap();
    // Only one of these files is valid. The team starts with that expert.
    let log = team.dir.path().join("log.txt");
    let process = TeamProcess::spawn_logging(&team, &log);
    let listed = async || {
        let reply = invoke(&team, "general", "board", json!([{"type": 1, "name": "experts", "options": []}])).await;
        text(&reply).to_owned()
    };
    let told = listed().await;
    assert!(told.contains("Ada Byron") && !told.contains("Vince"), "{told}");
    let said = fs::read_to_string(&log).unwrap();
    assert!(
        said.contains("bea.md: line 2: name: \"Vince\" is already a name of Vince. Choose another one; the other experts are used"),
        "{said}"
    );
    assert!(said.contains("vince.md: \"vince\" is already a name of Vince. Rename the file"), "{said}");

    fs::remove_file(experts.join("vince.md")).unwrap();
    operators_are_told(&team, "bea.md: line 2: name:").await;
    fs::write(experts.join("bea.md"), ada.replace("Ada Byron", "Bea")).unwrap();
    operators_are_told(&team, "Reloaded bea.md").await;
    assert!(listed().await.contains("**Bea** (`bea`): databases"));
    fs::write(experts.join("bea.md"), ada.replace("expertise", "expertize")).unwrap();
    operators_are_told(&team, "bea.md: line 3: ").await;
    assert!(listed().await.contains("**Bea**"), "she is as she was");
    assert!(process.terminate(), "it ends in peace");
}

async fn what_is_said_meanwhile_is_answered_once(backing: Backing) {
    let (team, _process) = start(backing).await;
    let mut expected = Vec::new();
    for number in 0..12 {
        if number % 4 == 2 {
            write_personas(team.dir.path(), &vince_with(&format!("You have {number} stamps.")));
        }
        team.say("general", &format!("vince, report n{number}")).await;
        expected.push(format!("answer to n{number}"));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    eventually("all are answered", || async { team.answers("general").await.len() >= expected.len() }).await;
    let mut answers: Vec<_> = team.answers("general").await.into_iter().map(|answer| answer.text).collect();
    answers.sort_unstable();
    expected.sort_unstable();
    assert_eq!(answers, expected);
}

/// Starts and stops a sandbox without a fixed port. Returns the JSON that it prints, the links of its page, and its log.
fn start_and_stop(dir: &Path) -> (Value, Value, String) {
    let mut sandbox = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .args(["sandbox", "--json"])
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    BufReader::new(sandbox.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let info: Value = serde_json::from_str(&line).expect("JSON");
    let api = info["api"].as_str().expect("an address").trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&api).expect("it listens");
    write!(stream, "GET /sandbox/info HTTP/1.1\r\nHost: {api}\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let body = answer.split("\r\n\r\n").nth(1).expect("a body");
    let links = serde_json::from_str::<Value>(body).expect("JSON")["links"].clone();
    sandbox.kill().expect("it runs");
    let said = sandbox.wait_with_output().expect("it ends").stderr;
    (info, links, String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_sandbox_keeps_its_ports_and_links_to_the_backlog() {
    let dir = tempfile::tempdir().unwrap();
    let (first, links, _) = start_and_stop(dir.path());
    assert_eq!(links, json!([{ "label": "Backlog", "url": first["backlog"] }]));
    let (second, ..) = start_and_stop(dir.path());
    assert_eq!((&first["page"], &first["backlog"]), (&second["page"], &second["backlog"]));

    let at = first["backlog"].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/backlog").to_owned();
    let taken = TcpListener::bind(&at).expect("nobody else has it");
    let (third, _, said) = start_and_stop(dir.path());
    assert_ne!(third["backlog"], first["backlog"]);
    assert!(said.contains("is used by another program, so the backlog gets a new address."), "{said}");
    drop(taken);
    let (fourth, ..) = start_and_stop(dir.path());
    assert_eq!(fourth["backlog"], third["backlog"], "the new one is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_that_is_added_joins_the_sandbox_and_one_that_is_removed_leaves_it() {
    let dir = tempfile::tempdir().unwrap();
    write_personas(dir.path(), &vince_with(""));
    let mut sandbox = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .args(["sandbox", "--json", "--port", "0"])
        .current_dir(dir.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    BufReader::new(sandbox.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let info: Value = serde_json::from_str(&line).expect("one line of JSON");
    let names = async || {
        let url = format!("{}/sandbox/info", info["page"].as_str().unwrap().trim_end_matches('/'));
        let info: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        info["bots"].as_array().unwrap().iter().map(|bot| bot["slug"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let is_ready = async || {
        let url = info["metrics"].as_str().unwrap().replace("/metrics", "/readyz");
        reqwest::get(url).await.is_ok_and(|response| response.status().is_success())
    };
    assert!(!names().await.contains(&"ada".to_owned()));
    fs::write(dir.path().join("personas/ada.md"), "---\nname: Ada\nrole: Librarian\n---\nYou are Ada, who knows where things are.\n")
        .unwrap();
    fs::remove_file(dir.path().join("personas/echo.md")).unwrap();
    eventually("Ada has joined and Echo has left", || async {
        let names = names().await;
        names.contains(&"ada".to_owned()) && !names.contains(&"echo".to_owned()) && is_ready().await
    })
    .await;
    sandbox.kill().unwrap();
    sandbox.wait().unwrap();
}
