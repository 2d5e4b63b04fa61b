//! A team with a backlog, a host of pages that the operator listed, time that can be hurried, and a person.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use kernel::ids::WorkItemId;
use kernel::llm::settings::ProviderKind;
use kernel::persona::FeedSpec;
use kernel::time::{Clock as _, ManualClock, SystemClock};
use kernel::tools::CallStatus;
use kernel::tools::settings::ListedHost;
use sandbox::Person;
use serde_json::{Value as Json, json};
use teamroom::config::Config;
use teamroom::features::backlog::model::{Execution, JournalEntry, Origin, Owner, WatchTerms, WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::schedule::model::JobAction;
use teamroom::store::Store;
use tokio_util::task::AbortOnDropHandle;

use super::host::{Host, Page};
use super::part::{is_work, what};
use crate::support::command::{invoke, press, sub_command, text};
use crate::support::model::Asked;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::{go_on, pass};

/// The team's channel, also for news about items.
pub(crate) const HERE: &str = "daily-standup";

/// The step of time between two checks, if nothing is in progress.
const MOMENT: Duration = Duration::from_millis(500);

pub(crate) struct Stage {
    pub(crate) team: TestTeam,
    /// The team's database.
    pub(crate) store: Store,
    pub(crate) clock: ManualClock,
    pub(crate) web: Host,
    _time: AbortOnDropHandle<()>,
}

/// The settings of a test's team.
pub(crate) struct Setting {
    wanted: Wanted,
    with_person: Option<fn(&mut Config, &Person)>,
}

impl Setting {
    pub(crate) fn on(backing: Backing) -> Self {
        let wanted = Wanted::on(backing).configure(|config| {
            // Tests advance time by days; the sandbox dates messages by the machine's clock.
            config.chat.max_age = Duration::from_hours(24 * 365);
            // Tests call standups; none are scheduled.
            config.schedules.jobs.retain(|job| job.action == JobAction::named("settle-predictions"));
        });
        Self { wanted, with_person: None }
    }

    pub(crate) fn with_model(mut self) -> Self {
        self.wanted = self.wanted.model(ProviderKind::OpenAi);
        self
    }

    pub(crate) fn with_people(mut self, names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.wanted = self.wanted.sandbox(move |options| options.people.clone_from(&names));
        self
    }

    /// Changes the settings by the sandbox's person.
    pub(crate) fn with_person(mut self, change: fn(&mut Config, &Person)) -> Self {
        self.with_person = Some(change);
        self
    }

    pub(crate) fn configure(mut self, change: impl Fn(&mut Config) + Send + 'static) -> Self {
        self.wanted = self.wanted.configure(change);
        self
    }

    pub(crate) async fn open(self) -> Stage {
        let web = Host::open().await;
        web.lay_out("prices", Page::Html("<h1>Prices</h1><p>Shop A asks $9 a month.</p>".into()));
        web.lay_out("shop", Page::Json(json!({"latency": 412}).to_string()));
        web.lay_out("market", Page::Json(json!({"price": 187.25}).to_string()));
        let clock = ManualClock::new(SystemClock.now());
        let listed = ListedHost::parse(&web.address).expect("a host");
        let (shop, market) = (web.url("shop"), web.url("market"));
        let wanted = self.wanted.clock(clock.clone()).without_app().configure(move |config| config.tools.hosts.push(listed.clone()));
        // Without feeds, so that prompts contain outside text only if a test adds it.
        let wanted = wanted.personas(move |personas| {
            for persona in personas {
                persona.feeds = match persona.slug.as_str() {
                    "vince" => vec![feed("shop", &shop, "latency")],
                    "oracle" => vec![feed("market", &market, "price")],
                    _ => Vec::new(),
                };
            }
        });
        let mut team = wanted.start().await;
        if let Some(change) = self.with_person {
            let person = team.sandbox().people()[0].clone();
            change(&mut team.config, &person);
        }
        let time = go_on(&clock);
        team.start_app().await;
        let store = Store::open_shared(&team.config.database_url, clock.now()).await.expect("the store opens");
        Stage { team, store, clock, web, _time: time }
    }
}

fn feed(name: &str, url: &str, value: &str) -> FeedSpec {
    let settings = json!({"url": url, "values": {value: format!("/{value}")}});
    let Json::Object(settings) = settings else { unreachable!("settings are an object") };
    FeedSpec { kind: "http_json".into(), name: name.into(), settings }
}

impl Stage {
    /// An item of Eliza, written by a person.
    pub(crate) fn item(&self, what: &str, how: &str, execution: Execution) -> WorkItem {
        let person = &self.team.sandbox().people()[0];
        let origin = Origin::Person { id: self.team.person_id(0), name: person.name.clone(), message: None };
        WorkItem {
            how: how.to_owned(),
            execution: Some(execution),
            channel: Some(self.team.channel_id(HERE)),
            ..WorkItem::new(what, Owner::Persona("eliza".into()), origin, self.clock.now())
        }
    }

    /// An item of Eliza that is done at once: the feed gives data.
    pub(crate) fn glance(&self, what: &str) -> WorkItem {
        let until = self.clock.now() + TimeDelta::days(1);
        self.item(what, "", Execution::Watch(WatchTerms { feed: "shop".into(), rule: None, until }))
    }

    pub(crate) async fn put(&self, items: &[&WorkItem]) {
        let items: Vec<WorkItem> = items.iter().map(|item| (*item).clone()).collect();
        self.store.insert_items(&items, self.clock.now()).await.expect("they are stored");
    }

    pub(crate) async fn read(&self, id: &WorkItemId) -> WorkItem {
        self.store.find_item(id).await.expect("the store answers").expect("it is there")
    }

    pub(crate) async fn list(&self) -> Vec<WorkItem> {
        self.store
            .list_items(&ItemFilter { statuses: &WorkStatus::ALL, owner: None, scope: None, limit: 20_000 })
            .await
            .expect("the store answers")
    }

    /// Waits for the item with this prefix.
    pub(crate) async fn find(&self, what: &str) -> WorkItem {
        let find = async || self.list().await.into_iter().find(|item| item.what.starts_with(what));
        eventually(what, || async { find().await.is_some() }).await;
        find().await.expect("it is there")
    }

    /// Advances time until an item has a status.
    pub(crate) async fn comes_to(&self, id: &WorkItemId, status: WorkStatus) -> WorkItem {
        self.until(id, status.as_str(), |item| item.status == status).await
    }

    /// Advances time until an item meets a condition.
    pub(crate) async fn until(&self, id: &WorkItemId, what: &str, holds: impl Fn(&WorkItem) -> bool) -> WorkItem {
        let started = Instant::now();
        loop {
            let item = self.read(id).await;
            if holds(&item) {
                return item;
            }
            if started.elapsed() > PATIENCE {
                let (events, journal) = (self.store.list_events(id).await, self.journal(id).await);
                panic!("never {what}: {item:#?}\n{events:#?}\n{journal:#?}");
            }
            // Work in progress takes real time, which must not count as elapsed on the manual clock.
            if self.list().await.iter().all(|item| item.status != WorkStatus::InProgress) {
                self.clock.advance(MOMENT);
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// The journal of all runs of an item.
    pub(crate) async fn journal(&self, id: &WorkItemId) -> Vec<JournalEntry> {
        let mut entries = Vec::new();
        for run in self.store.list_runs(id).await.expect("the store answers") {
            let journal = self.store.list_journal(id, run).await.expect("the store answers");
            entries.extend(journal.into_iter().map(|(entry, _)| entry));
        }
        entries
    }

    /// The reasons of refused calls.
    pub(crate) async fn refusals(&self, id: &WorkItemId) -> Vec<String> {
        let refused = |entry| match entry {
            JournalEntry::Returned { status: CallStatus::Refused, text, .. } => Some(text),
            _ => None,
        };
        self.journal(id).await.into_iter().filter_map(refused).collect()
    }

    /// The model requests for an item that contains `word`.
    pub(crate) fn asked_about(&self, word: &str) -> Vec<Asked> {
        self.team.model.requests().into_iter().filter(|asked| is_work(asked) && what(asked).contains(word)).collect()
    }

    /// Waits until the team has posted something with `text`.
    pub(crate) async fn hears(&self, text: &str) -> Shown {
        let said = async || self.team.answers(HERE).await.into_iter().rfind(|shown| shown.text.contains(text));
        eventually(text, || async { said().await.is_some() }).await;
        said().await.expect("it was said")
    }

    /// `/backlog <action>` with texts; the answer.
    pub(crate) async fn backlog(&self, action: &str, options: &[(&str, &str)]) -> String {
        text(&invoke(&self.team, HERE, "backlog", sub_command(action, options)).await).to_owned()
    }

    /// Checks that `/backlog show` contains all of this.
    pub(crate) async fn shows(&self, item: &WorkItem, wanted: &[&str]) {
        let before = self.team.history(HERE).await.len();
        self.backlog("show", &[("id", item.short_id())]).await;
        // A long answer consists of several messages.
        let shown = async || self.team.history(HERE).await[before..].iter().map(|shown| shown.text.clone()).collect::<Vec<_>>().join("\n");
        let holds = async || {
            let shown = shown().await;
            wanted.iter().all(|text| shown.contains(text))
        };
        let started = Instant::now();
        while !holds().await {
            assert!(started.elapsed() < PATIENCE, "{wanted:?} in\n{}", shown().await);
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// Clicks a button of the newest message with `text`. Returns the answer.
    pub(crate) async fn press(&self, text: &str, label: &str) -> String {
        let message = self.hears(text).await;
        self.press_on(&message, label).await
    }

    pub(crate) async fn press_on(&self, message: &Shown, label: &str) -> String {
        let before = self.team.history(HERE).await.len();
        press(&self.team, HERE, message, |button| button["label"] == label).await;
        let answer = async || {
            let history = self.team.history(HERE).await.into_iter().skip(before);
            history.filter(|shown| shown.raw["message_reference"]["message_id"] == message.raw["id"]).find(|shown| !shown.text.is_empty())
        };
        eventually("the press is answered", || async { answer().await.is_some() }).await;
        answer().await.expect("an answer").text
    }

    /// Advances time by days or minutes.
    pub(crate) async fn pass(&self, time: Duration) {
        pass(&self.clock, time).await;
    }

    pub(crate) fn learnings(&self) -> String {
        std::fs::read_to_string(self.team.config.data.join("learnings.md")).unwrap_or_default()
    }
}
