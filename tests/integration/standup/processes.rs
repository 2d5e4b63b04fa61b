//! Scheduled standups with several processes, wrong clocks, and a database outage.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use kernel::db::sql;
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock, ManualClock, SystemClock};
use secrecy::ExposeSecret;
use teamroom::app::{App, Setting, start_or_stand_by};
use teamroom::config::Config;
use teamroom::features;
use teamroom::features::meeting::model::{MeetingState, SeatState};
use teamroom::features::schedule::model::{FiringState, Job, MissedRuns, Timetable};
use teamroom::features::standup::STANDUP;
use teamroom::store::Store;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::aftermath::{Aftermath, CALL, CHANNEL, SPEAKERS, answer, make_repository, open, reports_asked, second_is_asked, set, team};
use super::crashes::Wall;
use crate::schedule::{firings, post};
use crate::standup::change;
use crate::support::model::Script;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};
use crate::support::wire::Wire;

on_both_stores!(the_restart_of_a_scheduled_hour_does_not_repeat_the_standup, a_clock_that_jumps_about_a_scheduled_standup_holds_it_once,);

/// A daily standup at this minute.
fn standup_at(at: DateTime<Utc>) -> Job {
    let standup = features::actions().built_in(Tz::UTC).swap_remove(0);
    Job { timetable: Timetable::parse(&cron(at), Tz::UTC).unwrap(), ..standup }
}

fn cron(at: DateTime<Utc>) -> String {
    at.format("%-M %-H * * *").to_string()
}

/// Schedules a standup for five minutes ago, and no process has checked since.
async fn schedule_a_missed_standup(team: &TestTeam) -> Job {
    let now = SystemClock.now();
    let at = now - TimeDelta::minutes(5);
    let channel = team.channel(CHANNEL);
    set(team, &format!("[schedules.standup]\ncron = \"{}\"\nzone = \"UTC\"\nchannel = \"{channel}\"", cron(at)));
    let job = standup_at(at);
    open(team).await.record_considered(&job, now - TimeDelta::minutes(10)).await.unwrap();
    job
}

async fn the_restart_of_a_scheduled_hour_does_not_repeat_the_standup(backing: Backing) {
    let team = team(backing).await;
    let job = schedule_a_missed_standup(&team).await;
    let store = open(&team).await;

    let wall = Wall::raise_before(&team, "INSERT ON firings", "NEW.job = 'standup'").await;
    let log = team.path("team.log");
    let process = TeamProcess::spawn_logging(&team, &log);
    let stands = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("the schedule cannot be looked through"));
    eventually("it stands before the wall", || async { stands() }).await;
    process.kill();
    wall.fall().await;
    assert!(store.list_firings(&job.name, 9).await.unwrap().is_empty() && store.list_meetings(&STANDUP, 9).await.unwrap().is_empty());

    let wall = Wall::raise(&team, "OLD.state = 'called'").await;
    let process = TeamProcess::spawn(&team, &[]);
    wall.reached().await;
    process.kill();
    wall.fall().await;

    for _ in 0..2 {
        let process = TeamProcess::start(&team, &[]).await;
        Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
        let firings = store.list_firings(&job.name, 9).await.unwrap();
        assert_eq!(firings.iter().map(|firing| firing.state).collect::<Vec<_>>(), [FiringState::Done]);
        process.kill();
    }
    assert_eq!(reports_asked(&team), SPEAKERS.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standup_that_one_who_stands_by_fires_is_held_by_the_one_who_serves() {
    if !is_there().await {
        return;
    }
    let team = team(Backing::Postgres).await;
    let _serving = TeamProcess::start(&team, &[]).await;
    // The serving process read its configuration earlier and has no schedule.
    let job = schedule_a_missed_standup(&team).await;
    let _standby = TeamProcess::spawn(&team, &[]);
    let left = Aftermath::wait(&team, 1).await;
    left.expect_one_whole_standup(&team);
    assert_eq!(left.count("scheduled as standup"), 1, "{:#?}", left.texts());
    assert_eq!(open(&team).await.list_firings(&job.name, 9).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_stands_by_takes_over_in_the_middle_of_a_standup() {
    if !is_there().await {
        return;
    }
    let team = team(Backing::Postgres).await;
    team.model.on(|asked| if asked.number == 1 { Script::Hang } else { answer(asked) });
    let serving = TeamProcess::start(&team, &[]).await;
    let _standby = TeamProcess::spawn(&team, &[]);
    team.say(CHANNEL, CALL).await;
    second_is_asked(&team).await;
    serving.kill();
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    assert_eq!(reports_asked(&team), SPEAKERS.len() + 1);
}

/// A machine's clock: its time may be wrong and jump, but durations use another clock.
#[derive(Clone)]
struct Crooked {
    hand: ManualClock,
    off: Arc<Mutex<TimeDelta>>,
}

impl Crooked {
    fn beside(hand: &ManualClock, off: TimeDelta) -> Self {
        Self { hand: hand.clone(), off: Arc::new(Mutex::new(off)) }
    }

    fn jump(&self, by: TimeDelta) {
        *self.off.lock().unwrap() += by;
    }
}

#[async_trait]
impl Clock for Crooked {
    fn now(&self) -> DateTime<Utc> {
        self.hand.now() + *self.off.lock().unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        self.hand.sleep(duration).await;
    }
}

/// Advances time about thirty times as fast as real time. During a standup it is real time, because time limits then measure real work.
fn run(hand: &ManualClock, store: Store) -> AbortOnDropHandle<()> {
    const STEP: Duration = Duration::from_millis(8);
    let hand = hand.clone();
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            let is_idle = store.list_open_meetings().await.is_ok_and(|open| open.is_empty())
                && store.list_open_firings().await.is_ok_and(|open| open.is_empty());
            hand.advance(if is_idle { Duration::from_millis(250) } else { STEP });
            tokio::time::sleep(STEP).await;
        }
    }))
}

/// Waits for a time on a running clock.
async fn until(clock: &Crooked, moment: DateTime<Utc>) {
    eventually("the time comes", || async { clock.now() >= moment }).await;
}

/// The minute after next, so that all processes have started.
fn soon() -> DateTime<Utc> {
    let now = SystemClock.now();
    DateTime::from_timestamp((now.timestamp() / 60 + 2) * 60, 0).unwrap()
}

/// A standup at this minute, and nothing else scheduled.
fn scheduled(at: DateTime<Utc>) -> impl Fn(&mut Config) {
    move |config| {
        change(config, |standup| standup.order = SPEAKERS.map(Into::into).to_vec());
        config.schedules.jobs = vec![standup_at(at)];
    }
}

async fn a_clock_that_jumps_about_a_scheduled_standup_holds_it_once(backing: Backing) {
    let hand = ManualClock::new(SystemClock.now());
    let clock = Crooked::beside(&hand, TimeDelta::zero());
    let at = soon();
    let mut team =
        Wanted::on(backing).model(ProviderKind::OpenAi).clock(clock.clone()).configure(scheduled(at)).without_app().start().await;
    make_repository(&team);
    // The second speaker waits, so that the clock can jump during a turn.
    let (go_on, may) = watch::channel(false);
    team.model.on(move |asked| match (asked.number, answer(asked)) {
        (1, script @ Script::Say(_)) => script.when(&may),
        (_, script) => script,
    });
    team.start_app().await;
    let store = open(&team).await;
    let _running = run(&hand, store.clone());

    // Jumps an hour ahead before the standup's time, so that it starts late, and an hour back during the standup, so that its time comes again.
    until(&clock, at - TimeDelta::seconds(30)).await;
    clock.jump(TimeDelta::hours(1));
    eventually("it is under way", || async { team.model.count() == 2 }).await;
    let jumped_at = hand.now();
    clock.jump(-TimeDelta::hours(1));
    tokio::time::sleep(Duration::from_millis(600)).await;
    go_on.send(true).expect("the model waits");
    let left = Aftermath::wait(&team, 1).await;
    left.expect_one_whole_standup(&team);
    let took = left.meetings[0].ended_at.unwrap() - jumped_at;
    // By the clock of the test, which jumped back by an hour.
    assert!(took < TimeDelta::hours(1), "it waited for the clock: {took}");
    until(&clock, at + TimeDelta::minutes(2)).await;

    // Jumps three days ahead to the evening and back, then an hour back and ahead.
    for jump in
        [TimeDelta::days(3) + TimeDelta::hours(5), -TimeDelta::days(3) - TimeDelta::hours(5), -TimeDelta::hours(1), TimeDelta::hours(1)]
    {
        clock.jump(jump);
        let now = clock.now();
        until(&clock, now + TimeDelta::seconds(90)).await;
    }
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    let firings = store.list_firings(&standup_at(at).name, 9).await.unwrap();
    let held = firings.iter().filter(|firing| firing.state != FiringState::Missed).map(|firing| firing.instant);
    assert_eq!(held.collect::<Vec<_>>(), [at], "{firings:#?}");
    assert!(firings.len() <= 2, "one row at most for what was missed: {firings:#?}");
    team.stop_app().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_with_skewed_clocks_hold_a_scheduled_standup_once_though_one_dies_in_it() {
    if !is_there().await {
        return;
    }
    let hand = ManualClock::new(SystemClock.now());
    let at = soon();
    let team = Wanted::on(Backing::Postgres).model(ProviderKind::OpenAi).configure(scheduled(at)).without_app().start().await;
    make_repository(&team);
    team.model.on(|asked| if asked.number == 1 { Script::Hang } else { answer(asked) });
    let setting = |off| Setting { config: team.config.clone(), roster: team.roster.clone(), clock: Arc::new(Crooked::beside(&hand, off)) };
    // A separate runtime simulates a process that can be killed with its tasks, connections and lock.
    let process = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let serving = process.spawn(App::start(setting(TimeDelta::seconds(30)))).await.unwrap().unwrap();
    serving.ready(Duration::from_mins(1)).await.unwrap();
    let standby = tokio::spawn(start_or_stand_by(setting(-TimeDelta::seconds(30))));
    let _running = run(&hand, open(&team).await);

    second_is_asked(&team).await;
    assert!(hand.now() < at, "the clock that is ahead fires first");
    drop(serving);
    process.shutdown_background();
    let killed_at = hand.now();
    let left = Aftermath::wait(&team, 1).await;
    left.expect_one_whole_standup(&team);
    // The other process's clock reaches the standup's time only now.
    eventually("both clocks are past it", || async { hand.now() > at + TimeDelta::minutes(2) }).await;
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    let store = open(&team).await;
    assert_eq!(store.list_firings(&standup_at(at).name, 9).await.unwrap().len(), 1);
    assert_eq!(reports_asked(&team), SPEAKERS.len() + 1);
    let ended = left.meetings[0].ended_at.unwrap() + TimeDelta::seconds(30);
    assert!(ended - killed_at < TimeDelta::seconds(50), "it waited for a clock that is behind: {}", ended - killed_at);
    standby.await.unwrap().unwrap().expect("it serves").stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standup_goes_on_when_the_database_was_away_for_half_a_minute() {
    const AWAY: Duration = Duration::from_secs(30);
    if !is_there().await {
        return;
    }
    let team = team(Backing::Postgres).await;
    let (go_on, may) = watch::channel(false);
    team.model.on(move |asked| match (asked.number, answer(asked)) {
        // This report is written during the outage.
        (1, script @ Script::Say(_)) => script.when(&may),
        (_, script) => script,
    });
    let wire = Wire::to(&team.config.database_url).await;
    let through = wire.lead(&team.config.database_url);
    let process = TeamProcess::start(&team, &[("DATABASE_URL", through.expose_secret())]).await;
    team.say(CHANNEL, CALL).await;
    second_is_asked(&team).await;
    wire.cut();
    go_on.send(true).expect("the model waits");
    tokio::time::sleep(AWAY).await;
    let store = open(&team).await;
    let meeting = store.list_meetings(&STANDUP, 1).await.unwrap().remove(0);
    let seats = store.list_seats(&meeting.id).await.unwrap();
    assert_eq!((meeting.state, seats[1].state), (MeetingState::Running, SeatState::Speaking), "nothing could be stored");
    wire.mend();
    Aftermath::wait(&team, 1).await.expect_one_whole_standup(&team);
    assert_eq!(reports_asked(&team), SPEAKERS.len(), "what was written meanwhile was kept");
    assert!(process.terminate(), "it served all the time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_stands_by_fires_and_carries_out_and_ends_when_it_is_asked_to() {
    if !is_there().await {
        return;
    }
    let team = Wanted::on(Backing::Postgres).without_app().start().await;
    let serving = Store::open(&team.config.database_url, team.clock.now()).await.unwrap();
    let file = "[schedules.chart]\ncron = \"* * * * * *\"\naction = \"health\"\n";
    std::fs::write(team.path("teamroom.toml"), file).unwrap();
    let standby = TeamProcess::spawn(&team, &[]);
    let job = Job { name: "chart".parse().unwrap(), ..post("chart", "* * * * * *", MissedRuns::Once) };
    // There was no standup, so there is no chart. The firing ends with that reason.
    let ended = async || firings(&serving, &job).await.iter().filter(|row| row.state != FiringState::Open).count();
    eventually("it fires, and carries out what is due", || async { ended().await >= 2 }).await;
    assert!(standby.terminate(), "it did not end well");
    let rows = firings(&serving, &job).await;
    let instants: HashSet<_> = rows.iter().map(|row| row.instant).collect();
    assert_eq!(instants.len(), rows.len());
    let (jobs,): (i64,) =
        sql!(serving.db().read(), fetch_one, "SELECT COUNT(*) FROM jobs WHERE kind = 'schedule.firing' AND state = 'ready'").unwrap();
    let open = rows.iter().filter(|row| row.state == FiringState::Open).count();
    assert_eq!(usize::try_from(jobs).unwrap(), open, "what is left open has its job");
}
