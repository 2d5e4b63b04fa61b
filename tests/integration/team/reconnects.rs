//! Identities that log in again and again: missed messages are read once for all of them, not once for each.

use std::time::Duration;

use sandbox::{Cut, Exchange, RestFault, Switch};

use crate::support::team::{Backing, TestTeam, Wanted, eventually};

const CHANNELS: [&str; 3] = ["general", "ops", "daily-standup"];

/// The identities that log in while the channels are being read.
const OTHERS: [&str; 5] = ["vince", "eliza", "echo", "oracle", "solus"];

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_is_read_once_for_all_who_reconnect_meanwhile() {
    let wanted = Wanted::on(Backing::Sqlite).sandbox(|options| {
        options.journal = true;
        options.channels = CHANNELS.map(str::to_owned).to_vec();
    });
    let team = wanted.start().await;
    for channel in CHANNELS {
        team.say(channel, "just so that there is something to read").await;
    }
    team.settle().await;
    let per_backfill = {
        let before = reads(&team);
        end_session(&team, "kelly");
        eventually("all channels are read", || async { reads(&team) >= before + CHANNELS.len() }).await;
        rest(&team).await;
        reads(&team) - before
    };
    // How long the slow reading takes. On a busy machine the others may need longer to come back, and then a longer one is tried.
    for slow in [40.0, 160.0, 640.0] {
        let Some(read) = read_while_others_reconnect(&team, slow, per_backfill).await else { continue };
        // At most two backfills: the slow one with its repeated request, and one for all identities that came meanwhile.
        assert!(read <= 2 * per_backfill + 1, "{read} reads, {per_backfill} by one backfill");
        return;
    }
    panic!("the others never came back while the channels were read");
}

/// The number of reads if the others log in while one backfill takes `slow` seconds. None if it was over before them.
async fn read_while_others_reconnect(team: &TestTeam, slow: f64, per_backfill: usize) -> Option<usize> {
    let (before, ready) = (reads(team), logins(team));
    let limit = RestFault::RateLimited { retry_after: slow, headers: true, global: false };
    let limit = Switch::Rest { bot: None, method: Some("GET".into()), path: "/channels".into(), times: 1, with: limit };
    team.sandbox().misbehaviour().set(limit).expect("a switch");
    end_session(team, "kelly");
    eventually("the slow reading has begun", || async { reads(team) > before }).await;
    for slug in OTHERS {
        end_session(team, slug);
        // Longer than the time in which reconnects are collected.
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    eventually("the others are back", || async { logins(team) > ready + OTHERS.len() }).await;
    let was_slow_enough = reads(team) < before + per_backfill;
    eventually("it is read", || async { reads(team) >= before + per_backfill }).await;
    rest(team).await;
    was_slow_enough.then(|| reads(team) - before)
}

/// Closes the connection in a way that needs a new session.
fn end_session(team: &TestTeam, slug: &str) {
    team.sandbox().misbehaviour().set(Switch::Drop { bot: Some(slug.to_owned()), how: Cut::Close(4009) }).expect("a switch");
}

/// Waits until the team reads nothing more.
async fn rest(team: &TestTeam) {
    let mut before = usize::MAX;
    while before != reads(team) {
        before = reads(team);
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }
}

fn logins(team: &TestTeam) -> usize {
    let is_ready = |exchange: &&Exchange| matches!(exchange, Exchange::Frame(frame) if frame.payload["t"] == "READY");
    team.sandbox().journal().iter().filter(is_ready).count()
}

fn reads(team: &TestTeam) -> usize {
    let is_read = |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.method == "GET" && rest.path.ends_with("/messages") && rest.query.contains("after="));
    team.sandbox().journal().iter().filter(is_read).count()
}
