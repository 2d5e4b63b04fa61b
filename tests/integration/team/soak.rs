//! Random faults for a while: every message is answered once, and the process uses no more resources at the end than at the beginning.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandbox::{Cut, RestFault, Switch};

use super::rooms::{NAMES, open_rooms, wait_for_all, write};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, on_both_stores};
use crate::support::{database, long};

on_both_stores!(
    #[ignore = "long form"]
    among_random_faults_every_message_is_answered_once_and_nothing_grows
);

/// How long there are faults.
fn length() -> Duration {
    Duration::from_secs(long::amount("TEAMROOM_TEST_SOAK", 24, 1200) as u64)
}

/// Pauses between two messages, between two faults, and between two measurements of the process.
const SAY: Duration = Duration::from_millis(250);
const FAULT: Duration = Duration::from_millis(900);
const LOOK: Duration = Duration::from_secs(1);

/// The limit of SQLite's log, with room for what is written meanwhile: 16,000 pages, see `wal_autocheckpoint`.
const LOG_LIMIT_KB: u64 = 72 * 1024;

async fn among_random_faults_every_message_is_answered_once_and_nothing_grows(backing: Backing) {
    let team = open_rooms(backing).await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let team = Arc::new(team);
    let process = TeamProcess::start(&team, &[]).await;
    let (mut random, mut faults) = (long::random(), BTreeMap::new());
    let (started, mut said, mut looks) = (Instant::now(), 0, Vec::new());
    let (mut next_fault, mut next_look) = (FAULT, LOOK);
    while started.elapsed() < length() {
        write(&team, said).await;
        said += 1;
        tokio::time::sleep(SAY).await;
        if started.elapsed() >= next_fault {
            next_fault += FAULT;
            *faults.entry(misbehave(&team, &mut random)).or_insert(0) += 1;
        }
        if started.elapsed() >= next_look {
            next_look += LOOK;
            looks.push(Look::at(&process, &team));
        }
    }
    team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
    let answers = wait_for_all(&team, said).await;
    let expected: BTreeMap<String, usize> = (0..said).map(|number| (format!("answer to m{number}"), 1)).collect();
    assert_eq!(answers, expected);
    println!("{said} messages, each answered once; faults: {faults:?}\n{}", table(&looks));
    expect_level(&looks);
}

/// Sets a random fault for a random account. Returns the kind of fault.
fn misbehave(team: &TestTeam, random: &mut fastrand::Rng) -> &'static str {
    let bot = Some(NAMES[random.usize(..NAMES.len())].to_owned());
    let rest = |with| Switch::Rest { bot: bot.clone(), method: None, path: "/channels".into(), times: 2, with };
    let (kind, switch) = match random.u8(..13) {
        0 => ("reset", Switch::Drop { bot, how: Cut::Reset }),
        1 => ("close 4000", Switch::Drop { bot, how: Cut::Close(4000) }),
        2 => ("close 4009", Switch::Drop { bot, how: Cut::Close(4009) }),
        3 => ("reconnect", Switch::Reconnect { bot }),
        4 => ("invalid session", Switch::InvalidateSession { bot, resumable: false }),
        5 => ("resume refused", Switch::RefuseResume { bot, times: 1 }),
        6 => ("no hello", Switch::WithholdHello { times: 1 }),
        7 => ("frames", Switch::Frames { bot, delay_ms: 50, duplicate: 0.2, reorder: 0.2, reorder_ms: 200 }),
        // Rare, because after 40 rate limits in ten minutes the team posts nothing for the rest of that time.
        8 if random.u8(..5) == 0 => ("429", rest(RestFault::RateLimited { retry_after: 0.3, headers: true, global: false })),
        9 => ("500", rest(RestFault::Status(500))),
        10 => ("502", rest(RestFault::BadGateway)),
        11 => ("reset before", rest(RestFault::ResetBefore)),
        _ => ("reset after", rest(RestFault::ResetAfter)),
    };
    team.sandbox().misbehaviour().set(switch).expect("a switch");
    kind
}

/// The resources that the process uses.
struct Look {
    memory_kb: u64,
    descriptors: u64,
    threads: u64,
    /// SQLite's write-ahead log. Zero on PostgreSQL.
    log_kb: u64,
}

impl Look {
    fn at(process: &TeamProcess, team: &TestTeam) -> Self {
        let folder = format!("/proc/{}", process.id());
        let status = fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
        let number = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        let log = database::file(team).and_then(|file| fs::metadata(format!("{file}-wal")).ok()).map_or(0, |log| log.len());
        Self {
            memory_kb: number("VmRSS:").unwrap_or_default(),
            descriptors: fs::read_dir(format!("{folder}/fd")).map_or(0, |open| open.count() as u64),
            threads: number("Threads:").unwrap_or_default(),
            log_kb: log / 1024,
        }
    }
}

/// The maximum in each third of the time.
fn thirds(looks: &[Look], of: impl Fn(&Look) -> u64) -> Vec<u64> {
    looks.chunks(looks.len().div_ceil(3).max(1)).map(|third| third.iter().map(&of).max().unwrap_or_default()).collect()
}

fn table(looks: &[Look]) -> String {
    let mut table = "the most in each third:".to_owned();
    let mut row = |name: &str, of: fn(&Look) -> u64| {
        write!(table, "\n  {name}: {:?}", thirds(looks, of)).expect("a String takes everything");
    };
    row("memory kB", |look| look.memory_kb);
    row("descriptors", |look| look.descriptors);
    row("threads", |look| look.threads);
    row("write-ahead log kB", |look| look.log_kb);
    table
}

/// Checks that nothing grows: the last third uses little more than the second. The first third still warms up.
fn expect_level(looks: &[Look]) {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let level = |name: &str, of: fn(&Look) -> u64, more: u64| {
        let [_, middle, last] = thirds(looks, of)[..] else { panic!("{name}: three thirds") };
        assert!(last <= middle + middle / 5 + more, "{name} grows: {middle}, then {last}");
    };
    level("memory", |look| look.memory_kb, 4 * 1024);
    level("descriptors", |look| look.descriptors, 12);
    level("threads", |look| look.threads, 4);
    // On a slow disk the log is moved into the file late. From its limit on, each commit moves it.
    let longest = looks.iter().map(|look| look.log_kb).max().unwrap_or_default();
    assert!(longest <= LOG_LIMIT_KB, "the write-ahead log grows: {longest} kB");
}
