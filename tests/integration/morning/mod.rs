//! A morning of five people in three channels, a private one and two threads. `morning.jsonl` has each message and who answers it.
//!
//! `--nocapture` prints the conversation as people would read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::database::{count, execute, is_sqlite};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(without_a_model, with_a_model);

const MORNING: &str = include_str!("morning.jsonl");
const PEOPLE: [&str; 5] = ["Ann", "Ben", "Carla", "Deniz", "Eve"];
const PRIVATE: &str = "board";
/// Who sees the private channel.
const BOARD: ([usize; 2], [&str; 2]) = ([0, 1], ["kelly", "vince"]);
/// Permission to see a channel, as Discord numbers it.
const VIEW: &str = "1024";

const PLAN: &str = "# Harbour plan\n\nThe harbour opens in May.\n\nThree ships come first: Heron, Gull and Tern.\n";
const NOTES: &str = "Notes of the tour. Written by Carla.\n";
const PHOTO: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A];

/// One message of a person.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    who: String,
    r#in: String,
    text: String,
    /// The names of those who answer, in order. "stop" is the team's message that it has stopped.
    expect: String,
    /// The names of those who answer if there is a model, where they differ.
    with_model: Option<String>,
    /// Minutes of silence before this message.
    #[serde(default)]
    gap: u64,
    /// The message that this one replies to: "answer" for the team's last message, or the name of a person for theirs.
    reply: Option<String>,
    /// Opens a thread on a message, which is named as in `reply`.
    thread: Option<String>,
    file: Option<String>,
    /// A text that the first answer contains.
    contains: Option<String>,
    /// A text that the first answer contains if there is no model.
    offline: Option<String>,
}

async fn without_a_model(backing: Backing) {
    Morning::play(backing, None).await;
}

async fn with_a_model(backing: Backing) {
    Morning::play(backing, Some(ProviderKind::OpenAi)).await;
}

/// The morning so far.
struct Morning {
    team: TestTeam,
    model: bool,
    /// The channels and threads by name.
    places: BTreeMap<String, String>,
    /// The last message in each place by each person, and by the team as "answer".
    last: BTreeMap<(String, String), String>,
    told: String,
    wrong: Vec<String>,
}

impl Morning {
    async fn play(backing: Backing, model: Option<ProviderKind>) {
        let lines: Vec<Line> = MORNING.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() >= 150);
        let mut morning = Self::begin(backing, model).await;
        for line in &lines {
            morning.hear(line).await;
        }
        println!("{}", morning.told);
        assert!(morning.wrong.is_empty(), "{} of {} are wrong:\n{}", morning.wrong.len(), lines.len(), morning.wrong.join("\n"));
    }

    async fn begin(backing: Backing, model: Option<ProviderKind>) -> Self {
        let mut wanted = Wanted::on(backing).without_app().sandbox(|options| {
            options.people = PEOPLE.map(str::to_owned).to_vec();
            options.channels.push("product".into());
        });
        if let Some(kind) = model {
            wanted = wanted.model(kind);
        }
        let mut team = wanted.start().await;
        team.model.on(talk);
        let hidden = json!({ "id": team.sandbox().guild_id(), "type": 0, "allow": "0", "deny": VIEW });
        let people = BOARD.0.map(|person| team.sandbox().people()[person].id.clone());
        let seers = people.into_iter().chain(BOARD.1.map(|slug| team.account(slug)));
        let overwrites: Vec<Value> =
            std::iter::once(hidden).chain(seers.map(|id| json!({ "id": id, "type": 1, "allow": VIEW, "deny": "0" }))).collect();
        let body = json!({ "name": PRIVATE, "type": 0, "permission_overwrites": overwrites });
        team.call(Method::POST, &format!("/guilds/{}/channels", team.sandbox().guild_id()), Some(body)).await;
        team.start_app().await;
        let places = team.sandbox().channels().into_iter().collect();
        Self { team, model: model.is_some(), places, last: BTreeMap::new(), told: String::new(), wrong: Vec::new() }
    }

    async fn hear(&mut self, line: &Line) {
        if line.gap > 0 {
            self.grow_older(line.gap * 60).await;
            writeln!(self.told, "\n        … {} minutes …", line.gap).unwrap();
        }
        if let Some(on) = &line.thread {
            self.open_thread(&line.r#in, on).await;
        }
        let before = self.posts(&line.r#in).await.len();
        let id = self.say(line).await;
        self.wait_until_answered(&id).await;
        let posts = self.posts(&line.r#in).await.split_off(before);
        let text = if let Some(file) = &line.file { format!("{} [{file}]", line.text) } else { line.text.clone() };
        self.tell(&line.r#in, &line.who, &text);
        let mut answers = Vec::new();
        for post in posts.iter().filter(|post| post["author"]["bot"] == json!(true)) {
            let name = post["author"]["global_name"].as_str().or(post["author"]["username"].as_str()).unwrap().to_owned();
            let text = post["content"].as_str().unwrap().to_owned();
            self.tell(&line.r#in, &format!("  {name}"), &text);
            // Skips a question of the planner about a new item.
            if !text.starts_with('❔') {
                self.last.insert((line.r#in.clone(), "answer".into()), post["id"].as_str().unwrap().to_owned());
                answers.push((name.to_lowercase(), text));
            }
        }
        self.last.insert((line.r#in.clone(), line.who.clone()), id);
        self.compare(line, &answers);
    }

    fn tell(&mut self, place: &str, who: &str, text: &str) {
        let indent = format!("{:14}{:9}", "", "");
        writeln!(self.told, "{:14}{who:9} {}", format!("#{place}"), text.replace('\n', &format!("\n{indent} "))).unwrap();
    }

    fn compare(&mut self, line: &Line, answers: &[(String, String)]) {
        let expected = line.with_model.as_ref().filter(|_| self.model).unwrap_or(&line.expect);
        let got = match answers {
            [] => "nobody".to_owned(),
            [(_, text)] if text.starts_with("Stopped") => "stop".to_owned(),
            _ => answers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" "),
        };
        if &got != expected {
            self.wrong.push(format!("{} in {}: {:?}: {got} instead of {expected}", line.who, line.r#in, line.text));
        }
        let contained = line.contains.iter().chain(line.offline.iter().filter(|_| !self.model));
        for part in contained {
            if !answers.first().is_some_and(|(_, text)| text.contains(part.as_str())) {
                self.wrong.push(format!("{} in {}: {:?}: no {part:?} in {answers:?}", line.who, line.r#in, line.text));
            }
        }
    }

    /// The index of a person.
    fn person(name: &str) -> usize {
        PEOPLE.iter().position(|known| *known == name).unwrap_or_else(|| panic!("nobody is called {name}"))
    }

    /// The id of what somebody said last in a place.
    fn last_in(&self, place: &str, who: &str) -> String {
        self.last.get(&(place.to_owned(), who.to_owned())).unwrap_or_else(|| panic!("{who} said nothing in {place}")).clone()
    }

    async fn open_thread(&mut self, name: &str, on: &str) {
        let place = "product";
        let path = format!("/channels/{}/messages/{}/threads", self.places[place], self.last_in(place, on));
        let opened = self.team.call(Method::POST, &path, Some(json!({ "name": name }))).await;
        self.places.insert(name.to_owned(), opened["id"].as_str().unwrap().to_owned());
    }

    /// All messages of a place, oldest first.
    async fn posts(&self, place: &str) -> Vec<Value> {
        let mut all = Vec::new();
        let mut before = String::new();
        loop {
            let page = self.team.call(Method::GET, &format!("/channels/{}/messages?limit=100{before}", self.places[place]), None).await;
            let page = page.as_array().unwrap().clone();
            let Some(oldest) = page.last() else { break };
            before = format!("&before={}", oldest["id"].as_str().unwrap());
            all.extend(page);
        }
        all.reverse();
        all
    }

    async fn say(&self, line: &Line) -> String {
        let text = self.with_mentions(&line.text);
        if let Some(name) = &line.file {
            let bytes = match name.as_str() {
                "plan.md" => PLAN.as_bytes(),
                "notes.txt" => NOTES.as_bytes(),
                _ => &PHOTO,
            };
            return self.team.drop_file_as(Self::person(&line.who), &line.r#in, name, bytes.to_vec(), &text).await;
        }
        let mut body = json!({ "content": text });
        if let Some(to) = &line.reply {
            body["message_reference"] = json!({ "message_id": self.last_in(&line.r#in, to) });
        }
        let path = format!("/channels/{}/messages", self.places[&line.r#in]);
        let sent = self.team.call_as(Self::person(&line.who), Method::POST, &path, Some(body)).await;
        sent["id"].as_str().unwrap().to_owned()
    }

    /// The text with ids for names in mentions.
    fn with_mentions(&self, text: &str) -> String {
        let people = PEOPLE.iter().enumerate().map(|(number, name)| ((*name).to_owned(), self.team.sandbox().people()[number].id.clone()));
        let bots = self.team.sandbox().bots().into_iter().map(|bot| (bot.slug, bot.id));
        people.chain(bots).fold(text.to_owned(), |text, (name, id)| text.replace(&format!("<@{name}>"), &format!("<@{id}>")))
    }

    async fn wait_until_answered(&self, id: &str) {
        let decided = format!("SELECT COUNT(*) FROM inbox WHERE id = 'discord:{id}' AND decided_at IS NOT NULL");
        eventually("it is heard", || async { count(&self.team, &decided).await == 1 }).await;
        self.team.settle().await;
    }

    /// Makes all messages older, as if people had been silent.
    async fn grow_older(&self, seconds: u64) {
        for (table, column) in [("inbox", "sent_at"), ("turns", "finished_at"), ("outbox", "sent_at"), ("item_requests", "asked_at")] {
            let sql = if is_sqlite(&self.team) {
                format!("UPDATE {table} SET {column} = strftime('%Y-%m-%dT%H:%M:%f+00:00', {column}, '-{seconds} seconds')")
            } else {
                format!("UPDATE {table} SET {column} = {column} - INTERVAL '{seconds} seconds'")
            };
            execute(&self.team, &format!("{sql} WHERE {column} IS NOT NULL")).await;
        }
    }
}

/// The answers of the model.
fn talk(asked: &Asked) -> Script {
    let schema = asked.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    if schema.contains("wants_an_assistant") {
        return Script::Json(json!({ "wants_an_assistant": asked.prompt().contains("vince would know"), "why": "It hints at Vince." }));
    }
    if schema.contains("acts") {
        return Script::Json(json!({ "acts": [] }));
    }
    if !schema.is_empty() {
        return Script::status(400);
    }
    Script::say("Here is what I think of it.")
}
