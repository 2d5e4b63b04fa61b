//! The commands `teamroom schedule` and `/schedule`.

use std::process::Command;

use secrecy::ExposeSecret;
use serde_json::{Value, json};
use teamroom::features::schedule::model::MissedRuns;

use super::post;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(the_terminal_changes_the_schedule_of_a_team_that_runs, the_chat_changes_the_schedule);

/// The output of `teamroom schedule` beside the team, or its error.
fn terminal(team: &TestTeam, args: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .arg("schedule")
        .args(args)
        .current_dir(team.dir.path())
        .env_clear()
        .env("DATABASE_URL", team.config.database_url.expose_secret())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

async fn the_terminal_changes_the_schedule_of_a_team_that_runs(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let say = |args: &[&str]| terminal(&team, args).unwrap_or_else(|complaint| panic!("{args:?}: {complaint}"));
    let complain = |args: &[&str]| terminal(&team, args).expect_err("a complaint");
    let general = team.channel("general");
    say(&["add", "retro", "0 16 * * 5", "post: Time for the retro.", "--zone", "Europe/Berlin", "--channel", &general, "--deadline", "30"]);
    let next = say(&["next", "retro", "--count", "2"]);
    assert!(next.lines().count() == 2 && next.lines().all(|line| line.starts_with("Fri ") && line.contains(", 16:00 CE")), "{next}");
    assert!(say(&["run", "retro"]).contains("You started the job retro"));
    let posted = team.wait_for_answers("general", 1).await;
    assert_eq!((posted[0].text.as_str(), posted[0].author.as_str()), ("Time for the retro.", "Kelly"));

    say(&["pause", "retro"]);
    let jobs: Value = serde_json::from_str(&say(&["list", "--json"])).unwrap();
    let retro = jobs.as_array().unwrap().iter().find(|job| job["name"] == "retro").unwrap();
    assert_eq!(retro["paused_by"], "the command line");
    assert_eq!((&retro["last"]["state"], &retro["deadline_s"], &retro["origin"]), (&json!("done"), &json!(1800), &json!("command")));
    assert!(say(&["resume", "retro"]).starts_with("You resumed the job retro. Next: Fri"));
    assert_eq!(say(&["remove", "retro"]), "You removed the job retro.");

    assert!(complain(&["pause", "retro"]).contains("there is no job retro"));
    say(&["add", "news", "0 9 * * 1-5", "post: Good morning.", "--channel", &general]);
    let list = say(&["list"]);
    assert!(list.contains("news") && list.contains("Monday to Friday at 09:00, UTC") && !list.contains('`'), "{list}");
    assert!(complain(&["add", "news", "0 9 * * *", "post: x", "--channel", &general]).contains("there is a job news already"));
    assert!(complain(&["add", "x", "0 9 * *", "post: x", "--channel", &general]).contains("fields; give 5"));
    assert!(
        complain(&["add", "x", "0 9 * * *", "post: x", "--zone", "Berlin", "--channel", &general])
            .contains("there is no time zone \"Berlin\"")
    );
    assert!(complain(&["next", "news", "--count", "0"]).contains("\"count\" is a whole number from 1 to 1000"));
}

/// Runs a subcommand of `/schedule`. Returns the answer after the deferral.
async fn schedule(team: &TestTeam, action: &str, options: &[(&str, &str)]) -> Value {
    let guild = team.sandbox().guild_id();
    let find = || async {
        let index = team.call(reqwest::Method::GET, &format!("/guilds/{guild}/application-command-index"), None).await;
        let commands = index["application_commands"].as_array().cloned().unwrap_or_default();
        commands.into_iter().find(|command| command["name"] == "schedule")
    };
    eventually("the command is registered", || async { find().await.is_some() }).await;
    let command = find().await.unwrap();
    let before = team.history("general").await.len();
    let options: Vec<_> = options.iter().map(|(name, value)| json!({"type": 3, "name": name, "value": value})).collect();
    let body = json!({
        "type": 2, "application_id": command["application_id"], "guild_id": guild, "channel_id": team.channel("general"),
        "data": {"id": command["id"], "name": "schedule", "type": 1, "version": command["version"],
                 "options": [{"type": 1, "name": action, "options": options}]},
    });
    team.call(reqwest::Method::POST, "/interactions", Some(body)).await;
    let answered = || async {
        let history = team.history("general").await;
        // The job's own post may come before the answer.
        let answer = |shown: &&Shown| !shown.raw["interaction_metadata"].is_null();
        history.get(before..).and_then(|new| new.iter().rfind(answer).cloned()).filter(|last| !last.text.is_empty())
    };
    eventually("the command is answered", || async { answered().await.is_some() }).await;
    answered().await.unwrap().raw
}

fn is_ephemeral(answer: &Value) -> bool {
    answer["flags"].as_u64().unwrap_or_default() & 64 != 0
}

/// A team with news on weekdays.
fn with_news(backing: Backing) -> Wanted {
    Wanted::on(backing).configure(|config| config.schedules.jobs = vec![post("news", "0 9 * * 1-5", MissedRuns::Skip)])
}

async fn the_chat_changes_the_schedule(backing: Backing) {
    let team = with_news(backing).start().await;
    let list = schedule(&team, "list", &[]).await;
    let text = |answer: &Value| answer["content"].as_str().unwrap().to_owned();
    assert!(text(&list).contains("Monday to Friday at 09:00") && is_ephemeral(&list), "{list}");

    let retro = [("name", "retro"), ("cron", "0 16 * * 5"), ("action", "post: Time for the retro."), ("zone", "Asia/Kathmandu")];
    let added = schedule(&team, "add", &retro).await;
    assert!(text(&added).contains("added the job retro: every Friday at 16:00, Asia/Kathmandu. Next: Fri"), "{added}");
    assert!(!is_ephemeral(&added), "everybody sees what changed");
    let refused = schedule(&team, "add", &retro).await;
    assert!(text(&refused).contains("There is a job retro already") && is_ephemeral(&refused), "{refused}");

    let name = [("name", "retro")];
    let started = schedule(&team, "run", &name).await;
    assert!(text(&started).contains("started the job retro"), "{started}");
    let said = || async { team.answers("general").await.iter().any(|answer| answer.text == "Time for the retro.") };
    eventually("it is posted where the job was added", said).await;
    assert!(text(&schedule(&team, "pause", &name).await).contains("paused the job retro"));
    assert!(text(&schedule(&team, "list", &[]).await).contains("paused by"));
    assert!(text(&schedule(&team, "resume", &name).await).contains("resumed the job retro. Next: Fri"));
    assert!(text(&schedule(&team, "remove", &name).await).contains("removed the job retro"));
    let unknown = schedule(&team, "remove", &name).await;
    assert!(text(&unknown).contains("There is no job retro; there are news") && is_ephemeral(&unknown), "{unknown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_may_read_the_schedule_but_not_change_it() {
    let team = with_news(Backing::Sqlite).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    assert!(schedule(&team, "list", &[]).await["content"].as_str().unwrap().contains("news"));
    let refused = schedule(&team, "pause", &[("name", "news")]).await;
    assert!(refused["content"].as_str().unwrap().contains("operator") && is_ephemeral(&refused), "{refused}");
}
