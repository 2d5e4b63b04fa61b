//! A team whose standup is disturbed, and checks that nothing is missing or duplicated afterwards.

use std::process::Command;
use std::time::{Duration, Instant};

use kernel::llm::settings::ProviderKind;
use serde_json::json;
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::meeting::model::{Meeting, MeetingState, Seat, SeatState};
use teamroom::features::standup::STANDUP;
use teamroom::features::standup::model::report::DayReport;
use teamroom::features::standup::store::StoredReport;
use teamroom::store::Store;

use crate::support::model::{Asked, Script};
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, Shown, TestTeam, Wanted};

pub(super) const CHANNEL: &str = "daily-standup";

/// A person's call for a standup.
pub(super) const CALL: &str = "let's do a new standup kelly";

/// The speakers in order. Solus makes the call.
pub(super) const SPEAKERS: [&str; 3] = ["vince", "eliza", "solus"];

/// How often a turn or a closing may be started.
pub(super) const ATTEMPTS: u32 = 3;

/// A team of separate processes, with a repository and a scripted model.
pub(super) async fn team(backing: Backing) -> TestTeam {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(answer);
    make_repository(&team);
    set(&team, "");
    team
}

/// Writes the configuration with `more` appended. Nothing is scheduled unless `more` says so.
pub(super) fn set(team: &TestTeam, more: &str) {
    let schedule = if more.contains("[schedules.standup]") { "" } else { "[schedules.standup]\nenabled = false\n" };
    let order = json!(SPEAKERS);
    std::fs::write(team.path("teamroom.toml"), format!("{schedule}[standup]\norder = {order}\npause = \"0s\"\n{more}\n")).unwrap();
}

/// Waits until the model was asked for the second speaker.
pub(super) async fn second_is_asked(team: &TestTeam) {
    let started = Instant::now();
    while team.model.count() < 2 {
        let asked: Vec<String> = team.model.requests().iter().map(Asked::prompt).collect();
        assert!(started.elapsed() < PATIENCE, "the second speaker's model was never asked, only {asked:#?}");
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

/// The repository of the essential question.
pub(super) fn make_repository(team: &TestTeam) {
    let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    for arguments in [vec!["init", "--quiet"], [&who[..], &["commit", "--quiet", "--allow-empty", "-m", "Begin"]].concat()] {
        let mut git = Command::new("git");
        git.current_dir(team.dir.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR").args(&arguments);
        assert!(git.status().unwrap().success(), "git {arguments:?}");
    }
}

/// The model's answers. Each report is different, so that duplicates are detected.
pub(super) fn answer(asked: &Asked) -> Script {
    let Some(schema) = &asked.schema else {
        let signals = json!([{"subject": "night backups", "direction": "good", "confidence": 0.8, "evidence": null}]);
        return Script::say(format!("{} the backups of the night are whole.\n```signals\n{signals}\n```", heading(asked.number)));
    };
    if schema["properties"]["tldr"].is_null() {
        return Script::Json(json!({"answer": "yes", "confidence": 0.7, "reason": "Commits come daily."}));
    }
    let action = json!({"what": "Restore a backup on another machine", "how": "By the manual.", "why": "Nobody has tried.", "owner": "Vince",
        "urgency": "today"});
    Script::Json(json!({"tldr": ["All is whole."], "actions": [action], "lessons": [{"about": null, "text": "Backups take an hour."}]}))
}

/// The beginning of the report that answers a request.
fn heading(request: usize) -> String {
    format!("Report {request}:")
}

pub(super) async fn open(team: &TestTeam) -> Store {
    Store::open_shared(&team.config.database_url, team.clock.now()).await.unwrap()
}

/// The number of report requests.
pub(super) fn reports_asked(team: &TestTeam) -> usize {
    team.model.requests().iter().filter(|asked| asked.schema.is_none()).count()
}

/// Everything that the standups of a day left in a channel.
pub(super) struct Aftermath {
    /// Oldest first.
    pub(super) meetings: Vec<Meeting>,
    /// The seats of all meetings.
    pub(super) seats: Vec<Seat>,
    pub(super) posts: Vec<Shown>,
    /// The messages in each thread.
    threads: Vec<Vec<String>>,
    reports: Vec<StoredReport>,
    predictions: usize,
    actions: usize,
}

impl Aftermath {
    /// Waits until this many standups are over and everything is posted, and a little longer for duplicates.
    pub(super) async fn wait(team: &TestTeam, meetings: usize) -> Self {
        let store = open(team).await;
        let started = Instant::now();
        loop {
            let held = store.list_meetings(&STANDUP, 100).await.unwrap();
            let over = held.len() >= meetings && held.iter().all(|meeting| meeting.state.is_over());
            if over && store.outbox_depth(team.clock.now()).await.unwrap().0 == 0 {
                break;
            }
            if started.elapsed() > PATIENCE {
                let seats = store.list_seats(&held[0].id).await.unwrap();
                panic!("it does not come to its end: {held:#?} {seats:#?} {:#?}", texts(&team.answers(CHANNEL).await));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(Duration::from_millis(700)).await;
        Self::read(team, &store).await
    }

    async fn read(team: &TestTeam, store: &Store) -> Self {
        let mut meetings = store.list_meetings(&STANDUP, 100).await.unwrap();
        meetings.reverse();
        let mut seats = Vec::new();
        for meeting in &meetings {
            seats.extend(store.list_seats(&meeting.id).await.unwrap());
        }
        let posts = team.answers(CHANNEL).await;
        let mut threads = Vec::new();
        for id in posts.iter().filter_map(|post| post.raw["thread"]["id"].as_str()) {
            let said = team.call(reqwest::Method::GET, &format!("/channels/{id}/messages?limit=100"), None).await;
            let said = said.as_array().unwrap().iter().map(|raw| raw["content"].as_str().unwrap_or_default().to_owned());
            threads.push(said.filter(|text| !text.is_empty()).collect());
        }
        Self {
            meetings,
            seats,
            posts,
            threads,
            reports: store.list_reports(100).await.unwrap(),
            predictions: store.list_predictions(100).await.unwrap().len(),
            actions: store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: 100 }).await.unwrap().len(),
        }
    }

    /// Checks invariants: each step's messages were posted once, and the day has one report, one call and one list of actions.
    pub(super) fn expect_nothing_twice(&self, team: &TestTeam) {
        let done = self.meetings.iter().filter(|meeting| meeting.state == MeetingState::Done).count();
        assert_eq!(self.count("**Standup · "), self.meetings.len(), "kickoffs: {:#?}", self.texts());
        assert_eq!(self.count("My call: "), done, "calls: {:#?}", self.texts());
        assert_eq!(self.count("There is no Day Report this time"), self.meetings.len() - done, "{:#?}", self.texts());
        self.expect_reports_once();
        assert_eq!(self.cards(), done.min(1), "cards: {:#?}", self.texts());
        assert_eq!((self.predictions, self.actions), (done.min(1), done.min(1)), "predictions and actions");
        for thread in &self.threads {
            let mut once = thread.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), thread.len(), "said twice in a thread: {thread:#?}");
        }
        self.expect_files(team, done);
    }

    /// Each persona's stored turn was posted once, from its own account.
    pub(super) fn expect_reports_once(&self) {
        let spoken = self.seats.iter().filter(|seat| seat.state == SeatState::Spoke);
        let stored: Vec<String> = spoken.filter_map(|seat| seat.contribution.as_ref()).map(|said| said.text.clone()).collect();
        let posted: Vec<String> = self.posts.iter().map(|post| post.text.clone()).filter(|text| text.starts_with("Report ")).collect();
        assert_eq!(posted, stored, "reports as they were posted, and as they were stored");
    }

    fn expect_files(&self, team: &TestTeam, done: usize) {
        assert_eq!(self.reports.len(), done.min(1));
        for stored in &self.reports {
            assert_eq!(stored.report.revision as usize, done, "each standup of a day revises its report");
            let file = |extension: &str| team.config.data.join("reports").join(format!("{}.{extension}", stored.report.day));
            let read = || std::fs::read(file("json")).ok().map(|bytes| serde_json::from_slice::<DayReport>(&bytes).unwrap());
            // The file is written shortly after the store.
            let started = Instant::now();
            while read().is_none_or(|written| written.revision != stored.report.revision) && started.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(50));
            }
            assert_eq!(read().as_ref(), Some(&stored.report));
            assert!(std::fs::read_to_string(file("md")).unwrap().contains("All is whole."));
        }
    }

    /// Checks one complete standup with all speakers.
    pub(super) fn expect_one_whole_standup(&self, team: &TestTeam) {
        self.expect_nothing_twice(team);
        let states: Vec<_> = self.meetings.iter().map(|meeting| meeting.state).collect();
        assert_eq!(states, [MeetingState::Done], "{:#?}", self.meetings);
        let states: Vec<_> = self.seats.iter().map(|seat| seat.state).collect();
        assert_eq!(states, [SeatState::Spoke; SPEAKERS.len()], "{:#?}", self.seats);
        let authors = self.posts.iter().filter(|post| post.text.starts_with("Report ")).map(|post| post.author.to_lowercase());
        assert_eq!(authors.collect::<Vec<_>>(), SPEAKERS);
        assert_eq!(self.threads.len(), 2, "one below the page, one below the report: {:#?}", self.texts());
    }

    pub(super) fn count(&self, part: &str) -> usize {
        self.posts.iter().filter(|post| post.text.contains(part)).count()
    }

    pub(super) fn texts(&self) -> Vec<String> {
        texts(&self.posts)
    }

    fn cards(&self) -> usize {
        self.posts.iter().filter(|post| post.raw["embeds"].as_array().is_some_and(|embeds| !embeds.is_empty())).count()
    }
}

fn texts(posts: &[Shown]) -> Vec<String> {
    posts.iter().map(|post| format!("{}: {}", post.author, post.text)).collect()
}
