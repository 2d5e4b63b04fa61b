//! `kill -9` around settling a call, by a scheduled job or with a later report, and around the weekly chart.

use std::time::Duration;

use teamroom::features::standup::model::prediction::Prediction;

use super::aftermath::{Aftermath, CALL, CHANNEL, open, set, team};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::git::git;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores};

on_both_stores!(
    killed_around_the_settling_of_a_call,
    killed_around_a_call_that_is_settled_with_a_report,
    killed_before_the_weekly_chart_was_stored,
);

const EVERY_SECOND: &str = "cron = \"* * * * * *\"";

/// The log message about a job whose result could not be stored.
const STANDS: &str = "a try of a job failed";

/// A team after a standup, without a process.
async fn after_a_standup(backing: Backing) -> TestTeam {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    team.say(CHANNEL, CALL).await;
    Aftermath::wait(&team, 1).await;
    process.kill();
    team
}

/// Starts a process, waits until a job is blocked, and kills it.
async fn kill_before(team: &TestTeam, change: &str, when: &str) {
    forbid(team, "wall", change, when).await;
    let log = team.path("team.log");
    let process = TeamProcess::spawn_logging(team, &log);
    eventually("a job stands before the wall", || async { std::fs::read_to_string(&log).is_ok_and(|log| log.contains(STANDS)) }).await;
    process.kill();
    allow(team, "wall").await;
}

/// Waits until no firing is open and everything is posted, and a little longer for duplicates.
async fn all_over(team: &TestTeam) {
    let store = open(team).await;
    let over = async || {
        count(team, "SELECT COUNT(*) FROM firings WHERE state = 'open'").await == 0
            && store.outbox_depth(team.clock.now()).await.unwrap().0 == 0
    };
    eventually("all that fired is done and said", || async { over().await }).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
}

/// Makes the call expire.
async fn expire_call(team: &TestTeam) {
    let call = open(team).await.list_open_predictions().await.unwrap().pop().expect("a call");
    let document = serde_json::to_string(&Prediction { expires_at: call.made_at, ..call }).unwrap().replace('\'', "''");
    execute(team, &format!("UPDATE predictions SET expires_at = made_at, prediction = '{document}'")).await;
}

async fn killed_around_the_settling_of_a_call(backing: Backing) {
    let team = after_a_standup(backing).await;
    set(&team, &format!("[schedules.settle-predictions]\n{EVERY_SECOND}"));
    expire_call(&team).await;
    let settled = async || count(&team, "SELECT COUNT(*) FROM predictions WHERE settled_at IS NOT NULL").await;
    let told = async || team.answers(CHANNEL).await.iter().filter(|shown| shown.text.contains("-# Condition")).count();

    kill_before(&team, "UPDATE ON predictions", "NEW.settled_at IS NOT NULL").await;
    assert_eq!((settled().await, told().await), (0, 0));
    // The call is settled, but the job is still open.
    kill_before(&team, "UPDATE ON firings", "OLD.job = 'settle-predictions'").await;
    assert_eq!(settled().await, 1);
    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team).await;
    assert_eq!((settled().await, told().await), (1, 1));
}

/// A later standup of the day finds the question decided.
async fn killed_around_a_call_that_is_settled_with_a_report(backing: Backing) {
    let team = after_a_standup(backing).await;
    for number in 1..=11 {
        git(team.dir.path(), &["commit", "--quiet", "--allow-empty", "-m", &format!("Go on {number}")]);
    }
    let settled = async || count(&team, "SELECT COUNT(*) FROM predictions WHERE settled_at IS NOT NULL").await;
    let sent = async || team.answers(CHANNEL).await.iter().filter(|shown| shown.text.contains("-# Condition")).count();
    team.say(CHANNEL, CALL).await;
    kill_before(&team, "INSERT ON predictions", "NEW.settled_at IS NOT NULL").await;
    assert_eq!((settled().await, sent().await), (0, 0));
    assert_eq!(open(&team).await.list_reports(100).await.unwrap()[0].report.revision, 1, "the report waits for the verdict");
    // The platform has the verdict, and the store does not know it.
    forbid(&team, "unsent", "UPDATE OF state ON outbox", "NEW.state = 'sent' AND NEW.message LIKE '%-# Condition%'").await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("the verdict is told", || async { sent().await == 1 }).await;
    process.kill();
    allow(&team, "unsent").await;
    let _process = TeamProcess::start(&team, &[]).await;
    let held = Aftermath::wait(&team, 2).await;
    assert_eq!((settled().await, held.count("-# Condition")), (1, 1), "{:#?}", held.texts());
    held.expect_reports_once();
}

async fn killed_before_the_weekly_chart_was_stored(backing: Backing) {
    let team = after_a_standup(backing).await;
    let charts = async || {
        let posts = team.answers(CHANNEL).await;
        posts.iter().filter(|shown| shown.raw["embeds"][0]["title"] == "Health of the standup").count()
    };
    // A chart takes a while to draw, so there must be only a few.
    set(&team, "[schedules.health]\ncron = \"*/5 * * * * *\"");
    kill_before(&team, "UPDATE ON firings", "OLD.job = 'health'").await;
    assert_eq!(charts().await, 0);
    let open = count(&team, "SELECT COUNT(*) FROM firings WHERE job = 'health' AND state = 'open'").await;
    assert!(open > 0, "nothing has fired");
    // Scheduled weekly from now on.
    set(&team, "");
    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team).await;
    let drawn = count(&team, "SELECT COUNT(*) FROM firings WHERE job = 'health' AND state = 'done'").await;
    assert_eq!((charts().await, drawn), (usize::try_from(open).unwrap(), open), "one chart for each firing");
}
