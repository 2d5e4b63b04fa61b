//! A team that holds standups: its feeds, its clock, and what a person does and sees.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike as _, Utc};
use chrono_tz::Tz;
use kernel::feeds::condition::Comparison;
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, ManualClock, SystemClock};
use reqwest::Method;
use serde_json::{Value as Json, json};
use teamroom::config::Config;
use teamroom::features::meeting::model::{Meeting, MeetingState, Seat, SeatState};
use teamroom::features::schedule::model::JobAction;
use teamroom::features::standup::model::prediction::{EssentialQuestion, Expiry, Prediction, Threshold};
use teamroom::features::standup::model::report::DayReport;
use teamroom::store::Store;
use tokio_util::task::AbortOnDropHandle;

use super::newsstand::Newsstand;
use crate::support::command::{invoke, press};
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::{go_on, pass};

pub(super) const CHANNEL: &str = "daily-standup";
pub(super) const START: &str = "let's do a new standup kelly";

/// Those who report, in the order of the built-in team.
pub(super) const SPEAKERS: [&str; 6] = ["Echo", "Eliza", "Oracle", "Sentinel", "Vince", "Solus"];

/// What the person is called among those who report.
pub(super) const PERSON: &str = "Ann";

/// By how much time is hurried on between two looks at something that waits for the schedule.
pub(super) const MOMENT: Duration = Duration::from_millis(200);

pub(super) struct Stage {
    pub(super) team: TestTeam,
    pub(super) feeds: Newsstand,
    pub(super) clock: ManualClock,
    /// The team's own, opened beside it.
    pub(super) store: Store,
    time: AbortOnDropHandle<()>,
}

/// A standup that is over.
pub(super) struct Held {
    pub(super) meeting: Meeting,
    pub(super) seats: Vec<Seat>,
    pub(super) report: DayReport,
}

/// How a test wants its stage.
pub(super) struct Setting {
    wanted: Wanted,
    start: DateTime<Utc>,
    person: bool,
}

impl Setting {
    pub(super) fn on(backing: Backing) -> Self {
        let start = SystemClock.now();
        let zone = midday(start);
        let wanted = Wanted::on(backing).configure(move |config| {
            config.standup.pause = Duration::ZERO;
            config.work = config.work.join("work");
            // Tests move time by days; the sandbox dates messages by the machine's clock.
            config.chat.max_age = Duration::from_hours(24 * 365);
            config.schedules.zone = zone;
            // Standups are called by the tests, not by the time of day.
            config.schedules.jobs.retain(|job| job.action == JobAction::named("settle-predictions"));
        });
        Self { wanted, start, person: false }
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

    /// With the person of the sandbox among those who report.
    pub(super) fn with_person(mut self) -> Self {
        self.person = true;
        self
    }

    /// The team, once `prepare` has seen to its working directory.
    pub(super) async fn open_after(self, prepare: impl FnOnce(&std::path::Path, DateTime<Utc>)) -> Stage {
        let clock = ManualClock::new(self.start);
        let feeds = Newsstand::open(self.start).await;
        let declared = feeds.clone();
        let wanted = self.wanted.clock(clock.clone()).personas(move |personas| declared.declare(personas)).without_app();
        let mut team = wanted.start().await;
        std::fs::create_dir_all(&team.config.work).expect("a working directory");
        prepare(&team.config.work, self.start);
        if self.person {
            let person = &team.sandbox().people()[0];
            team.config.standup.humans = vec![(PERSON.to_owned(), person.id.as_str().into())];
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

/// A zone in which it is about noon, so that no standup of a test runs past midnight.
fn midday(now: DateTime<Utc>) -> Tz {
    let ahead = i64::from(now.hour()) - 12;
    // The names of these zones have the sign that nobody expects: `Etc/GMT+3` is three hours behind.
    let name = if ahead == 0 { "UTC".to_owned() } else { format!("Etc/GMT{ahead:+}") };
    name.parse().expect("a zone for each hour")
}

impl Stage {
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// From now on time only jumps, so that nothing but a jump ends a time limit, however slow the machine is.
    pub(super) fn stop_time(&mut self) {
        self.time.abort();
    }

    pub(super) fn resume_time(&mut self) {
        self.time = go_on(&self.clock);
    }

    /// Time jumps.
    pub(super) fn jump(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Time jumps far.
    pub(super) async fn pass(&self, time: Duration) {
        pass(&self.clock, time).await;
    }

    /// A person calls a standup; it runs to its end.
    pub(super) async fn hold(&self) -> Held {
        self.team.say(CHANNEL, START).await;
        self.called().await;
        self.over().await
    }

    /// The standup that is running, as soon as there is one.
    pub(super) async fn called(&self) -> Meeting {
        let newest =
            async || self.store.list_meetings(1).await.expect("the store answers").pop().filter(|meeting| !meeting.state.is_over());
        eventually("a standup was called", || async { newest().await.is_some() }).await;
        newest().await.or(self.newest().await).expect("a standup")
    }

    pub(super) async fn newest(&self) -> Option<Meeting> {
        self.store.list_meetings(1).await.expect("the store answers").pop()
    }

    /// The newest standup when it has come to its report and everything is posted.
    pub(super) async fn over(&self) -> Held {
        let meeting = self.ended().await;
        assert_eq!(meeting.state, MeetingState::Done, "{:?}", meeting.reason);
        let seats = self.seats(&meeting).await;
        let stored = self.store.find_report(&meeting.channel.id, meeting.day).await.expect("the store answers");
        let report = stored.expect("a report").report;
        // Its files are written when it is stored already.
        let path = self.team.config.data.join(format!("reports/{}.json", report.day));
        let is_written = || {
            let written: Option<DayReport> = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            written.is_some_and(|written| written.revision == report.revision)
        };
        eventually("its file is written", || async { is_written() }).await;
        Held { meeting, seats, report }
    }

    /// The newest standup when it is over, whatever came of it.
    pub(super) async fn ended(&self) -> Meeting {
        eventually("the standup is over", || async { self.newest().await.is_some_and(|meeting| meeting.state.is_over()) }).await;
        self.team.settle().await;
        self.newest().await.expect("a standup")
    }

    pub(super) async fn seats(&self, meeting: &Meeting) -> Vec<Seat> {
        self.store.list_seats(&meeting.id).await.expect("the store answers")
    }

    /// Waits until somebody has the floor.
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

    /// What the team said in the channel of standups.
    pub(super) async fn said(&self) -> Vec<Shown> {
        self.team.answers(CHANNEL).await
    }

    /// Waits until the team has said something that holds `text`.
    pub(super) async fn hears(&self, text: &str) -> Shown {
        eventually(text, || async { self.said().await.iter().any(|shown| shown.text.contains(text)) }).await;
        self.said().await.into_iter().find(|shown| shown.text.contains(text)).expect("it was said")
    }

    /// The texts in the thread below a message, oldest first. A thread that was made of a message has its id.
    pub(super) async fn thread(&self, message: &Shown) -> Vec<String> {
        let path = format!("/channels/{}/messages?limit=100", message.raw["id"].as_str().expect("an id"));
        let page = self.team.call(Method::GET, &path, None).await;
        let texts = page.as_array().expect("a list").iter().map(|raw| raw["content"].as_str().unwrap_or_default().to_owned());
        let mut texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        texts.reverse();
        texts
    }

    /// The cards of Day Reports in the channel.
    pub(super) async fn cards(&self) -> Vec<Shown> {
        let is_card = |shown: &Shown| shown.raw["embeds"][0]["title"].as_str().is_some_and(|title| title.starts_with("Day Report"));
        self.said().await.into_iter().filter(is_card).collect()
    }

    /// Waits until the call of the newest standup is settled; the prediction.
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

    /// A person uses a command in the channel of standups; what is answered.
    pub(super) async fn command(&self, name: &str, options: Json) -> String {
        self.answers_to(invoke(&self.team, CHANNEL, name, options)).await
    }

    /// `/standup wrap`, `/report today` and the like.
    pub(super) async fn subcommand(&self, name: &str, action: &str, options: Json) -> String {
        self.command(name, json!([{"type": 1, "name": action, "options": options}])).await
    }

    /// A person presses a button of a message.
    pub(super) async fn press(&self, message: &Shown, label: &str) -> String {
        self.answers_to(press(&self.team, CHANNEL, message, |button| button["label"] == label)).await
    }

    /// All that is answered to what a person does.
    async fn answers_to<T>(&self, act: impl Future<Output = T>) -> String {
        let is_answer = |shown: &Shown| !shown.raw["interaction_metadata"].is_null() && !shown.text.is_empty();
        let answers = async || self.team.history(CHANNEL).await.into_iter().filter(is_answer).collect::<Vec<_>>();
        let before = answers().await.len();
        act.await;
        eventually("the person is answered", || async { answers().await.len() > before }).await;
        // A long answer comes in several messages.
        answers().await[before..].iter().map(|shown| shown.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Held {
    pub(super) fn seat(&self, slug: &str) -> &Seat {
        use teamroom::features::meeting::model::Participant::Persona;
        let found = self.seats.iter().find(|seat| matches!(&seat.who, Persona(persona) if persona.as_str() == slug));
        found.unwrap_or_else(|| panic!("no seat of {slug}"))
    }

    /// Why somebody did not speak.
    pub(super) fn reason(&self, slug: &str) -> &str {
        let seat = self.seat(slug);
        assert_eq!(seat.state, SeatState::Skipped, "{seat:?}");
        seat.reason.as_deref().unwrap_or_default()
    }

    pub(super) fn states(&self) -> Vec<SeatState> {
        self.seats.iter().map(|seat| seat.state).collect()
    }
}

/// Whether the shop answers within 500 ms in two hours: a question that a test can settle.
pub(super) fn latency_question() -> EssentialQuestion {
    EssentialQuestion {
        text: "Will checkout stay fast?".into(),
        feed: "shop".into(),
        value: "latency".into(),
        comparison: Comparison::AtMost,
        threshold: Threshold::Fixed(500.0),
        expires: Expiry::In(TimeDelta::hours(2)),
    }
}
