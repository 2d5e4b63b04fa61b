//! A team with a person or two, its feeds and pages, and a clock, and what people do to it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kernel::llm::settings::ProviderKind;
use kernel::persona::FeedSpec;
use kernel::time::{Clock as _, ManualClock, SystemClock};
use kernel::tools::settings::ListedHost;
use reqwest::Method;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::schedule::model::JobAction;
use teamroom::store::Store;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::data::{Part, Place, Situation, Step, Words};
use super::model::{self, is_looked_at};
use super::purpose::Purpose;
use crate::backlog::host::{Host, Page};
use crate::board::begin_at_once;
use crate::standup::{change, midday};
use crate::support::command::{invoke, sub_command};
use crate::support::database::count;
use crate::support::model::Asked;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually};
use crate::support::time::{go_on, pass};

const PEOPLE: [&str; 2] = ["Ann", "Bob"];
/// The channel whose files the team knows.
const KNOWLEDGE: &str = "team-knowledge";
/// The pages that personas have as feeds: who, kind, name and settings.
const FEEDS: [(&str, &str, &str); 3] = [("vince", "http_json", "shop"), ("oracle", "http_json", "market"), ("echo", "rss", "news")];

pub(super) struct Stage {
    pub(super) team: TestTeam,
    store: Store,
    clock: ManualClock,
    web: Host,
    /// What the model is asked about now.
    situation: Arc<Mutex<Option<Situation>>>,
    /// Whether the model answers the calls that the situation holds.
    may_go_on: watch::Sender<bool>,
    /// Whether time goes by faster while somebody waits.
    hurries: bool,
    /// The number of requests before the situation.
    before: usize,
    _time: AbortOnDropHandle<()>,
}

fn feed(kind: &str, name: &str, url: &str) -> FeedSpec {
    let settings = match name {
        "shop" => json!({"url": url, "values": {"latency": {"pointer": "/latency", "unit": "ms"}, "orders": "/orders"}}),
        "market" => json!({"url": url, "values": {"price": {"pointer": "/price", "unit": "$"}}}),
        _ => json!({"url": url}),
    };
    let Json::Object(settings) = settings else { unreachable!("settings are an object") };
    FeedSpec { kind: kind.into(), name: name.into(), settings }
}

impl Stage {
    pub(super) async fn open(backing: Backing, part: &Part) -> Self {
        let web = Host::open().await;
        web.lay_out("shop", Page::Json(json!({"latency": 412, "orders": 231}).to_string()));
        web.lay_out("market", Page::Json(json!({"price": 187.25}).to_string()));
        web.lay_out("news", Page::Json("<rss version=\"2.0\"><channel><title>News</title></channel></rss>".into()));
        let clock = ManualClock::new(SystemClock.now());
        // It is about noon there, so that no standup crosses midnight.
        let zone = midday(clock.now());
        let (pages, listed) = (web.clone(), ListedHost::parse(&web.address).unwrap());
        let wanted = Wanted::on(backing)
            .model(ProviderKind::OpenAi)
            .clock(clock.clone())
            .without_app()
            .sandbox(|options| options.people = PEOPLE.map(str::to_owned).to_vec())
            .configure(move |config| {
                config.tools.hosts.push(listed.clone());
                config.chat.max_age = Duration::from_hours(24 * 365);
                config.schedules.jobs.retain(|job| job.action == JobAction::named("settle-predictions"));
                config.work = config.work.join("work");
                config.schedules.zone = zone;
                change(config, |standup| standup.pause = Duration::ZERO);
                begin_at_once(config);
            })
            .personas(move |personas| {
                for (slug, kind, name) in FEEDS {
                    let persona = personas.iter_mut().find(|persona| persona.slug.as_str() == slug).unwrap();
                    persona.feeds.push(feed(kind, name, &pages.url(name)));
                }
            });
        let mut team = wanted.start().await;
        let channel = json!({"name": KNOWLEDGE, "type": 0});
        team.call(Method::POST, &format!("/guilds/{}/channels", team.sandbox().guild_id()), Some(channel)).await;
        std::fs::create_dir_all(&team.config.work).unwrap();
        for (path, text) in &part.files {
            write_file(&team.config.work.join(path), text);
        }
        let situation = Arc::<Mutex<Option<Situation>>>::default();
        let played = Arc::clone(&situation);
        let (may_go_on, goes_on) = watch::channel(false);
        team.model.on(move |asked| {
            let mut situation = played.lock().unwrap_or_else(PoisonError::into_inner);
            let situation = situation.as_mut().expect("a situation is played");
            let script = model::answer(situation, asked);
            if situation.holds == Some(Purpose::of(asked)) { script.when(&goes_on) } else { script }
        });
        let time = go_on(&clock);
        team.start_app().await;
        let store = Store::open_shared(&team.config.database_url, clock.now()).await.unwrap();
        Self { team, store, clock, web, situation, may_go_on, hurries: part.hurries, before: 0, _time: time }
    }

    /// Plays a situation. Returns the prompt that is looked at, and what people were told in answer.
    ///
    /// # Errors
    /// Something that a step waits for has not come.
    pub(super) async fn play(&mut self, situation: &Situation) -> Result<(String, Vec<String>), String> {
        if !situation.with_previous {
            self.finish_previous().await?;
        }
        *self.situation.lock().unwrap_or_else(PoisonError::into_inner) = Some(situation.clone());
        if !situation.with_previous {
            self.may_go_on.send_replace(false);
            self.before = self.team.model.count();
        }
        let before: HashSet<String> = self.answers().await.into_iter().map(|(id, _)| id).collect();
        for step in &situation.steps {
            self.fill_calls().await;
            Box::pin(self.take(step)).await?;
        }
        let find = || self.requests().into_iter().rfind(|asked| is_looked_at(situation, asked));
        self.until(&format!("{:?} is asked", situation.look), async || find().is_some()).await?;
        self.team.settle().await;
        let prompt = model::text_of(&find().expect("it was asked"));
        let told = self.answers().await.into_iter().filter(|(id, _)| !before.contains(id)).map(|(_, text)| text);
        Ok((prompt, told.collect()))
    }

    /// Waits until nobody works any more. A call of the situation before would be held like one of this, and its persona would do nothing else until
    /// the call times out.
    async fn finish_previous(&self) -> Result<(), String> {
        self.may_go_on.send_replace(true);
        let busy = "SELECT COUNT(*) FROM jobs WHERE state = 'running' OR (state = 'ready' AND run_at < '1971-01-01')";
        self.until("what was begun before is over", async || count(&self.team, busy).await == 0).await
    }

    /// Puts addresses and ids of items into what the model calls, as far as there are such items by now.
    async fn fill_calls(&self) {
        let items = self.items().await;
        let mut situation = self.situation.lock().unwrap_or_else(PoisonError::into_inner);
        for call in situation.iter_mut().flat_map(|situation| situation.calls.values_mut()).flatten() {
            call.arguments = serde_json::from_str(&self.fill(&call.arguments.to_string(), &items)).unwrap();
        }
    }

    /// A text with the address of the web for `{web}`, and the id of the newest item with this beginning for `{id: …}`.
    fn fill(&self, text: &str, items: &[WorkItem]) -> String {
        let text = text.replace("{web}", &format!("http://{}", self.web.address));
        let find = |what: &str| items.iter().filter(|item| item.what.starts_with(what)).max_by_key(|item| item.created_at);
        let mut parts = text.split("{id: ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |filled, part| {
            let (what, rest) = part.split_once('}').expect("a closed brace");
            let id = find(what).map_or_else(|| format!("{{id: {what}}}"), |item| item.short_id().to_owned());
            format!("{filled}{id}{rest}")
        })
    }

    /// The requests of this situation.
    fn requests(&self) -> Vec<Asked> {
        self.team.model.requests().split_off(self.before)
    }

    /// What the team has said in its channels, with the ids of the messages.
    async fn answers(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for (name, _) in self.team.sandbox().channels() {
            let newest = self.team.newest(&name).await.into_iter().filter(|shown| shown.is_bot);
            all.extend(newest.map(|shown| (shown.raw["id"].as_str().unwrap_or_default().to_owned(), shown.text)));
        }
        all
    }

    /// Lets time pass until it holds, but only a little while somebody works.
    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) -> Result<(), String> {
        let started = Instant::now();
        while !holds().await {
            if started.elapsed() > patience() {
                let items: Vec<String> =
                    self.items().await.iter().map(|item| format!("{} {:?} {:?}", item.what, item.status, item.wait)).collect();
                let asked: Vec<Purpose> = self.requests().iter().map(Purpose::of).collect();
                let said: Vec<String> = self.answers().await.into_iter().map(|(_, text)| text).collect();
                let last = self.requests().pop().map(|asked| asked.prompt()).filter(|_| super::shows_prompts()).unwrap_or_default();
                return Err(format!(
                    "it never came true: {what}; the model was asked {asked:?}; items: {items:#?}\n{:#?}\n{last}",
                    &said[said.len().saturating_sub(12)..]
                ));
            }
            if self.hurries {
                let running = count(&self.team, "SELECT COUNT(*) FROM jobs WHERE state = 'running'").await;
                self.clock.advance(Duration::from_millis(if running == 0 { 500 } else { 50 }));
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
        Ok(())
    }

    async fn items(&self) -> Vec<WorkItem> {
        self.store.list_items(&ItemFilter { statuses: &WorkStatus::ALL, owner: None, scope: None, limit: 1000 }).await.unwrap()
    }

    async fn take(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Say(words) => self.say(words).await?,
            Step::Edit { of, to } => {
                let message = self.newest("general", of).await?;
                let path = format!("/channels/{}/messages/{}", self.team.channel("general"), message["id"].as_str().unwrap());
                self.team.call(Method::PATCH, &path, Some(json!({"content": to}))).await;
                let known = format!(
                    "SELECT COUNT(*) FROM inbox WHERE id = 'discord:{}' AND edited_at IS NOT NULL",
                    message["id"].as_str().unwrap()
                );
                self.until("the edit is known", async || count(&self.team, &known).await == 1).await?;
            }
            Step::Thread { on, name } => {
                let message = self.newest("general", on).await?;
                let path = format!("/channels/{}/messages/{}/threads", self.team.channel("general"), message["id"].as_str().unwrap());
                self.team.call(Method::POST, &path, Some(json!({"name": name}))).await;
            }
            Step::React { to, emoji } => {
                let (channel, message) = (self.team.channel("general"), self.newest("general", to).await?);
                let path = format!("/channels/{channel}/messages/{}/reactions/{emoji}/@me", message["id"].as_str().unwrap());
                self.team.call_as(1, Method::PUT, &path, None).await;
                let known = format!("SELECT COUNT(*) FROM annotations WHERE message = 'discord:{}'", message["id"].as_str().unwrap());
                self.until("the reaction is known", async || count(&self.team, &known).await == 1).await?;
            }
            Step::Release => {
                self.may_go_on.send_replace(true);
            }
            Step::Press { on, label } => {
                let message = Shown::of(self.newest("general", on).await?);
                crate::support::command::press(&self.team, "general", &message, |button| button["label"] == label.as_str()).await;
                self.team.settle().await;
            }
            Step::Command { name, action, options } => {
                let items = self.items().await;
                let options: Vec<_> = options.iter().map(|(name, value)| (name.as_str(), self.fill(value, &items))).collect();
                let options: Vec<(&str, &str)> = options.iter().map(|(name, value)| (*name, value.as_str())).collect();
                invoke(&self.team, "general", name, sub_command(action, &options)).await;
            }
            Step::Page { path, text } if text.starts_with("<h1>") => self.web.lay_out(path, Page::Html(text.clone())),
            Step::Page { path, text } => self.web.lay_out(path, Page::Json(text.clone())),
            Step::File { path, text } => write_file(&self.team.config.work.join(path), text),
            Step::Pass(minutes) => pass(&self.clock, Duration::from_mins(*minutes)).await,
            Step::Hears(Place { text, r#in }) => {
                self.until(text, async || self.find(r#in, text).await.is_some()).await?;
            }
            Step::Done(what) => self.comes_to(what, WorkStatus::Done).await?,
            Step::Begun(what) => self.comes_to(what, WorkStatus::InProgress).await?,
            Step::Asked(purpose) => {
                self.until("it is asked", async || self.requests().iter().any(|asked| Purpose::of(asked) == *purpose)).await?;
            }
            Step::Over(kind) => {
                let open = format!("SELECT COUNT(*) FROM meetings WHERE kind = '{kind}' AND ended_at IS NULL");
                let any = format!("SELECT COUNT(*) FROM meetings WHERE kind = '{kind}'");
                self.until("the meeting is over", async || count(&self.team, &open).await == 0 && count(&self.team, &any).await > 0)
                    .await?;
                self.team.settle().await;
            }
        }
        Ok(())
    }

    async fn comes_to(&self, what: &str, status: WorkStatus) -> Result<(), String> {
        let is_it = |item: &WorkItem| item.what.to_lowercase().starts_with(&what.to_lowercase()) && item.status == status;
        self.until(&format!("{what} is {status:?}"), async || self.items().await.iter().any(is_it)).await
    }

    async fn say(&self, words: &Words) -> Result<(), String> {
        let person = PEOPLE.iter().position(|name| words.by.as_ref().is_some_and(|by| by == name)).unwrap_or_default();
        let files: Vec<(&str, Vec<u8>)> = words.files.iter().map(|(name, text)| (name.as_str(), text.clone().into_bytes())).collect();
        let text = self.fill(&words.text, &self.items().await);
        let id = if files.is_empty() {
            let mut body = json!({"content": text});
            if let Some(to) = &words.reply {
                body["message_reference"] = json!({"message_id": self.newest(&words.r#in, to).await?["id"]});
            }
            let path = format!("/channels/{}/messages", self.place(&words.r#in).await?);
            self.team.call_as(person, Method::POST, &path, Some(body)).await["id"].as_str().unwrap().to_owned()
        } else {
            let (name, bytes) = files.into_iter().next().unwrap();
            self.team.drop_file_as(person, &words.r#in, name, bytes, &text).await
        };
        let decided = format!("SELECT COUNT(*) FROM inbox WHERE id = 'discord:{id}' AND decided_at IS NOT NULL");
        let known = format!("SELECT COUNT(*) FROM inbox WHERE id = 'discord:{id}'");
        eventually("it is heard", || async { count(&self.team, if words.at_once { &known } else { &decided }).await == 1 }).await;
        if !words.at_once {
            self.team.settle().await;
        }
        Ok(())
    }

    /// The id of a channel, or of the newest thread with these words in its name.
    async fn place(&self, name: &str) -> Result<String, String> {
        self.until(&format!("a thread {name}"), async || self.find_place(name).await.is_some()).await?;
        Ok(self.find_place(name).await.unwrap())
    }

    async fn find_place(&self, name: &str) -> Option<String> {
        if let Some((_, id)) = self.team.sandbox().channels().into_iter().find(|(known, _)| known == name) {
            return Some(id);
        }

        let path = format!("/guilds/{}/threads/active", self.team.sandbox().guild_id());
        let active = self.team.call(Method::GET, &path, None).await;
        let threads = active["threads"].as_array().cloned().unwrap_or_default().into_iter();
        let found = threads.filter(|thread| thread["name"].as_str().is_some_and(|known| known.contains(name)));
        let ids = found.map(|thread| thread["id"].as_str().unwrap().to_owned());
        ids.max_by_key(|id| id.parse::<u64>().unwrap())
    }

    async fn find(&self, place: &str, text: &str) -> Option<Json> {
        let path = format!("/channels/{}/messages?limit=100", self.find_place(place).await?);
        let page = self.team.call(Method::GET, &path, None).await;
        page.as_array().unwrap().iter().find(|raw| raw["content"].as_str().is_some_and(|said| said.contains(text))).cloned()
    }

    async fn newest(&self, place: &str, text: &str) -> Result<Json, String> {
        self.until(text, async || self.find(place, text).await.is_some()).await?;
        Ok(self.find(place, text).await.unwrap())
    }
}

/// As long as all tests, or as many seconds as somebody wants who writes a situation.
fn patience() -> Duration {
    let wanted = std::env::var_os("TEAMROOM_TEST_DAY_SECONDS").and_then(|seconds| seconds.to_str()?.parse().ok());
    wanted.map_or(PATIENCE, Duration::from_secs)
}

fn write_file(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
