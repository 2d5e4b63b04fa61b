//! A team with standups: its feeds, its clock, and a person.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike as _, Utc};
use chrono_tz::Tz;
use kernel::feeds::condition::Comparison;
use kernel::llm::settings::ProviderKind;
use kernel::persona::Persona;
use kernel::time::{Clock as _, ManualClock, SystemClock};
use reqwest::Method;
use serde_json::{Value as Json, json};
use teamroom::config::Config;
use teamroom::features::meeting::model::{Meeting, MeetingState, Seat, SeatState};
use teamroom::features::schedule::model::JobAction;
use teamroom::features::standup::STANDUP;
use teamroom::features::standup::model::prediction::{EssentialQuestion, Expiry, Prediction, Threshold};
use teamroom::features::standup::model::report::DayReport;
use teamroom::store::Store;
use tokio_util::task::AbortOnDropHandle;

use super::newsstand::Newsstand;
use crate::standup::change;
use crate::support::command::{invoke, press};
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::{go_on, pass};

pub(super) const CHANNEL: &str = "daily-standup";
pub(super) const START: &str = "let's do a new standup kelly";

/// The speakers, in the order of the built-in team.
pub(super) const SPEAKERS: [&str; 6] = ["Echo", "Eliza", "Oracle", "Sentinel", "Vince", "Solus"];

/// The person's name among the participants.
pub(super) const PERSON: &str = "Ann";

/// The step of time between two checks for scheduled jobs.
pub(super) const MOMENT: Duration = Duration::from_millis(200);

pub(super) struct Stage {
    pub(super) team: TestTeam,
    pub(super) feeds: Newsstand,
    pub(super) clock: ManualClock,
    /// The team's database.
    pub(super) store: Store,
    time: AbortOnDropHandle<()>,
}

/// A finished standup.
pub(super) struct Held {
    pub(super) meeting: Meeting,
    pub(super) seats: Vec<Seat>,
    pub(super) report: DayReport,
}

/// The settings of a test's team.
pub(super) struct Setting {
    wanted: Wanted,
    start: DateTime<Utc>,
    person: bool,
    builds: bool,
}

impl Setting {
    pub(super) fn on(backing: Backing) -> Self {
        let start = SystemClock.now();
        let zone = midday(start);
        let wanted = Wanted::on(backing).configure(move |config| {
            change(config, |standup| standup.pause = Duration::ZERO);
            config.work = config.work.join("work");
            // Tests advance time by days; the sandbox dates messages by the machine's clock.
            config.chat.max_age = Duration::from_hours(24 * 365);
            config.schedules.zone = zone;
            // Tests call standups; none are scheduled.
            config.schedules.jobs.retain(|job| job.action == JobAction::named("settle-predictions"));
        });
        Self { wanted, start, person: false, builds: false }
    }

    pub(super) fn with_model(mut self) -> Self {
        self.wanted = self.wanted.model(ProviderKind::OpenAi);
        self
    }

    pub(super) fn configure(mut self, change: impl Fn(&mut Config) + Send + 'static) -> Self {
        self.wanted = self.wanted.configure(change);
        self
    }

    pub(super) fn wanted(mut self, change: impl FnOnce(Wanted) -> Wanted) -> Self {
        self.wanted = change(self.wanted);
        self
    }

    /// Adds the sandbox's person as a participant.
    pub(super) fn with_person(mut self) -> Self {
        self.person = true;
        self
    }

    /// Adds a feed that tells which builds failed.
    pub(super) fn with_builds(mut self) -> Self {
        self.builds = true;
        self
    }

    /// Starts the team after `prepare` has set up its working directory.
    pub(super) async fn open_after(self, prepare: impl FnOnce(&std::path::Path, DateTime<Utc>)) -> Stage {
        let clock = ManualClock::new(self.start);
        let feeds = Newsstand::open(self.start).await;
        let declared = feeds.clone();
        let builds = self.builds;
        let declare = move |personas: &mut Vec<Persona>| {
            declared.declare(personas);
            if builds {
                declared.declare_builds(personas);
            }
        };
        let wanted = self.wanted.clock(clock.clone()).personas(declare).without_app();
        let mut team = wanted.start().await;
        std::fs::create_dir_all(&team.config.work).expect("a working directory");
        prepare(&team.config.work, self.start);
        if self.person {
            let person = &team.sandbox().people()[0];
            change(&mut team.config, |standup| standup.humans = vec![(PERSON.to_owned(), person.id.as_str().into())]);
        }
        let time = go_on(&clock);
        team.start_app().await;
        let store = Store::open_shared(&team.config.database_url, clock.now()).await.expect("the store opens");
        Stage { team, feeds, clock, store, time }
    }

    pub(super) async fn open(self) -> Stage {
        self.open_after(|_, _| ()).await
    }
}

/// A zone in which it is about noon, so that no standup crosses midnight.
pub(crate) fn midday(now: DateTime<Utc>) -> Tz {
    let ahead = i64::from(now.hour()) - 12;
    // The sign in these zone names is reversed: `Etc/GMT+3` is three hours behind.
    let name = if ahead == 0 { "UTC".to_owned() } else { format!("Etc/GMT{ahead:+}") };
    name.parse().expect("a zone for each hour")
}

impl Stage {
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// From now on time only jumps, so that a slow machine causes no time-outs.
    pub(super) fn stop_time(&mut self) {
        self.time.abort();
    }

    pub(super) fn resume_time(&mut self) {
        self.time = go_on(&self.clock);
    }

    /// Advances time.
    pub(super) fn jump(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Advances time a lot.
    pub(super) async fn pass(&self, time: Duration) {
        pass(&self.clock, time).await;
    }

    /// A person calls a standup, which runs to its end.
    pub(super) async fn hold(&self) -> Held {
        let newest = async || self.newest().await.map(|meeting| meeting.id);
        let before = newest().await;
        self.team.say(CHANNEL, START).await;
        // The standup may be over before the next look.
        eventually("a standup was called", || async { newest().await != before }).await;
        self.over().await
    }

    /// Waits for a running standup.
    pub(super) async fn called(&self) -> Meeting {
        let newest = async || {
            self.store.list_meetings(&STANDUP, 1).await.expect("the store answers").pop().filter(|meeting| !meeting.state.is_over())
        };
        eventually("a standup was called", || async { newest().await.is_some() }).await;
        newest().await.or(self.newest().await).expect("a standup")
    }

    pub(super) async fn newest(&self) -> Option<Meeting> {
        self.store.list_meetings(&STANDUP, 1).await.expect("the store answers").pop()
    }

    /// The latest standup once its report is posted.
    pub(super) async fn over(&self) -> Held {
        let meeting = self.ended().await;
        assert_eq!(meeting.state, MeetingState::Done, "{:?}", meeting.reason);
        let seats = self.seats(&meeting).await;
        let stored = self.store.find_report(&meeting.channel.id, meeting.day).await.expect("the store answers");
        let report = stored.expect("a report").report;
        // The files are written shortly after the store.
        let path = self.team.config.data.join(format!("reports/{}.json", report.day));
        let is_written = || {
            let written: Option<DayReport> = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            written.is_some_and(|written| written.revision == report.revision)
        };
        eventually("its file is written", || async { is_written() }).await;
        Held { meeting, seats, report }
    }

    /// The latest standup once it is over, with any result.
    pub(super) async fn ended(&self) -> Meeting {
        eventually("the standup is over", || async { self.newest().await.is_some_and(|meeting| meeting.state.is_over()) }).await;
        self.team.settle().await;
        self.newest().await.expect("a standup")
    }

    pub(super) async fn seats(&self, meeting: &Meeting) -> Vec<Seat> {
        self.store.list_seats(&meeting.id).await.expect("the store answers")
    }

    /// Waits until the turn at this position has started.
    pub(super) async fn speaking(&self, position: u32) {
        eventually("it has the floor", || async {
            match self.newest().await {
                Some(meeting) => {
                    self.seats(&meeting).await.iter().any(|seat| seat.position == position && seat.state == SeatState::Speaking)
                }
                None => false,
            }
        })
        .await;
    }

    /// Waits until the person at this position has reported, and then until no more can be added.
    pub(super) async fn reported(&self, position: u32) {
        eventually("the report is stored", || async {
            let meeting = self.newest().await.expect("a standup");
            self.seats(&meeting).await.iter().any(|seat| seat.position == position && seat.contribution.is_some())
        })
        .await;
        self.jump(Duration::from_secs(20));
    }

    /// The team's messages in the standup channel.
    pub(super) async fn said(&self) -> Vec<Shown> {
        self.team.answers(CHANNEL).await
    }

    /// Waits until the team has posted something with `text`.
    pub(super) async fn hears(&self, text: &str) -> Shown {
        eventually(text, || async { self.said().await.iter().any(|shown| shown.text.contains(text)) }).await;
        self.said().await.into_iter().find(|shown| shown.text.contains(text)).expect("it was said")
    }

    /// The messages in a thread, oldest first. A thread has the id of its message.
    pub(super) async fn thread(&self, message: &Shown) -> Vec<String> {
        let path = format!("/channels/{}/messages?limit=100", message.raw["id"].as_str().expect("an id"));
        let page = self.team.call(Method::GET, &path, None).await;
        let texts = page.as_array().expect("a list").iter().map(|raw| raw["content"].as_str().unwrap_or_default().to_owned());
        let mut texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        texts.reverse();
        texts
    }

    /// The Day Reports in the channel.
    pub(super) async fn cards(&self) -> Vec<Shown> {
        let is_card = |shown: &Shown| shown.raw["embeds"][0]["title"].as_str().is_some_and(|title| title.starts_with("Day Report"));
        self.said().await.into_iter().filter(is_card).collect()
    }

    /// Waits until the latest prediction is settled.
    pub(super) async fn settled(&self) -> Prediction {
        let newest = async || self.store.list_predictions(1).await.expect("the store answers").pop();
        eventually("the call is settled", || async {
            self.jump(MOMENT);
            newest().await.is_some_and(|newest| newest.settled.is_some())
        })
        .await;
        self.team.settle().await;
        newest().await.expect("a prediction")
    }

    /// Uses a command in the standup channel. Returns the answer.
    pub(super) async fn command(&self, name: &str, options: Json) -> String {
        self.answers_to(invoke(&self.team, CHANNEL, name, options)).await
    }

    /// A subcommand such as `/standup wrap` or `/report today`.
    pub(super) async fn subcommand(&self, name: &str, action: &str, options: Json) -> String {
        self.command(name, json!([{"type": 1, "name": action, "options": options}])).await
    }

    /// Clicks a button of a message.
    pub(super) async fn press(&self, message: &Shown, label: &str) -> String {
        self.answers_to(press(&self.team, CHANNEL, message, |button| button["label"] == label)).await
    }

    /// All answers to an action of the person.
    async fn answers_to<T>(&self, act: impl Future<Output = T>) -> String {
        let is_answer = |shown: &Shown| !shown.raw["interaction_metadata"].is_null() && !shown.text.is_empty();
        let answers = async || self.team.history(CHANNEL).await.into_iter().filter(is_answer).collect::<Vec<_>>();
        let before = answers().await.len();
        act.await;
        eventually("the person is answered", || async { answers().await.len() > before }).await;
        // Joins the messages, because a long answer consists of several.
        answers().await[before..].iter().map(|shown| shown.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Held {
    pub(super) fn seat(&self, slug: &str) -> &Seat {
        use teamroom::features::meeting::model::Participant::Persona;
        let found = self.seats.iter().find(|seat| matches!(&seat.who, Persona(persona) if persona.as_str() == slug));
        found.unwrap_or_else(|| panic!("no seat of {slug}"))
    }

    /// Why a participant did not speak.
    pub(super) fn reason(&self, slug: &str) -> &str {
        let seat = self.seat(slug);
        assert_eq!(seat.state, SeatState::Skipped, "{seat:?}");
        seat.reason.as_deref().unwrap_or_default()
    }

    pub(super) fn states(&self) -> Vec<SeatState> {
        self.seats.iter().map(|seat| seat.state).collect()
    }
}

/// The question whether the shop responds within 500 ms in two hours.
pub(super) fn latency_question() -> EssentialQuestion {
    EssentialQuestion {
        text: "Will checkout stay fast?".into(),
        feed: "shop".into(),
        value: "latency".into(),
        comparison: Comparison::AtMost,
        threshold: Threshold::Fixed(500.0),
        expires: Expiry::In(TimeDelta::hours(2)),
        optional: false,
    }
}
