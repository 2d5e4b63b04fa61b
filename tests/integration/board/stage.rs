//! A team that discusses a question, and a model that speaks for each.

use std::sync::Arc;
use std::time::Duration;

use kernel::ids::MeetingId;
use serde_json::{Value as Json, json};
use teamroom::config::Config;
use teamroom::features::board::model::{Board, message_id};
use teamroom::features::board::{BOARD, BoardSettings};
use teamroom::features::meeting::model::{Meeting, MeetingState};
use teamroom::store::Store;
use tokio::sync::watch;

use crate::backlog::stage::{Setting, Stage};
use crate::support::command::{invoke, text};
use crate::support::model::{Asked, Script};
use crate::support::team::{Shown, TestTeam, eventually};

pub(crate) const HERE: &str = "general";
pub(crate) const QUESTION: &str = "Should we move the queue to PostgreSQL?";
pub(crate) const TEAM: &str = "vince, echo, solus";

/// A persona's contribution in a round, counted from 1.
pub(crate) type Lines = Arc<dyn Fn(&str, u32) -> Json + Send + Sync>;

/// The answers of the model. Each part can be replaced.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) lines: Lines,
    pub(crate) document: Json,
    /// This speaker waits in this round until the value is true.
    pub(crate) held: Option<(&'static str, u32, watch::Receiver<bool>)>,
}

pub(crate) fn turn(side: &str, comments: &[Json]) -> Json {
    json!({
        "side": side, "position": format!("My answer is {side}."), "confidence": 0.7, "would_change": "a measurement",
        "comments": comments,
    })
}

pub(crate) fn comment(kind: &str, text: &str, answers: Option<&str>) -> Json {
    json!({"kind": kind, "text": text, "answers": answers})
}

/// Two personas hold one side, one the other. Then Solus changes sides for a reason, and after that nothing new is said.
pub(crate) fn lines(who: &str, round: u32) -> Json {
    match (who, round) {
        ("Vince", 1) => turn("move", &[comment("detail", "Listeners wake a worker at once, where SQLite has to poll every second.", None)]),
        ("Echo", 1) => turn("move", &[comment("detail", "Backups of one server are simpler than copies of eight files.", None)]),
        ("Solus", 1) => turn("stay", &[comment("risk", "Nobody here has ever tuned vacuum on a busy table.", None)]),
        ("Vince", 2) => {
            turn("move", &[comment("detail", "Our provider tunes it: autovacuum runs there with thresholds per table.", Some("1.3.1"))])
        }
        ("Solus", 2) => {
            let mut given = turn("move", &[]);
            given["changed_because"] = json!("the provider tunes it, as 2.1.1 says");
            given
        }
        ("Solus", 3) => turn("move", &[comment("support", "Thanks, Vince, that convinced me.", None)]),
        _ => turn("move", &[]),
    }
}

impl Default for Play {
    fn default() -> Self {
        let section = |heading: &str, text: &str, from: &[&str]| json!({"heading": heading, "text": text, "rests_on": from});
        Self {
            lines: Arc::new(lines),
            document: json!({
                "title": "Move the queue to PostgreSQL", "summary": "Move. All three hold it in the end.",
                "sections": [
                    section("Why", "Workers wake at once, and backups are simpler.", &["1.1.1", "1.2.1"]),
                    section("The risk", "Vacuum is tuned by the provider.", &["1.3.1", "2.1.1"]),
                    section("Invented", "It also makes coffee.", &["9.9.9"]),
                ],
                "minority": "", "open_questions": ["What does the provider ask a month?"],
                "actions": [{"what": "Ask the provider for a price", "how": "By mail.", "why": "It was not answered.", "owner": "Vince", "urgency": "this_week"}],
            }),
            held: None,
        }
    }
}

impl Play {
    pub(crate) fn with_lines(lines: impl Fn(&str, u32) -> Json + Send + Sync + 'static) -> Self {
        Self { lines: Arc::new(lines), ..Self::default() }
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Script {
        let Some(schema) = asked.schema.as_ref().map(ToString::to_string) else { return Script::say("It goes well.") };
        if schema.contains("would_change") {
            let (who, round) = speaker_of(asked);
            let script = match (self.lines)(&who, round) {
                Json::String(said) => Script::Say(said),
                Json::Null => Script::Hang,
                given => Script::Json(given),
            };
            return match &self.held {
                Some((held, in_round, may)) if *held == who && *in_round == round => script.when(may),
                _ => script,
            };
        }
        Script::Json(if schema.contains("simple_task") {
            json!({"kind": "question", "confidence": 0.9, "why": "a discussion is wanted", "title": "Queue"})
        } else if schema.contains("answered_by") {
            json!({
                "question": "Should the queue run on PostgreSQL instead of SQLite?", "constraints": ["No downtime in the day."],
                "answered_by": "Yes or no, with the first step.",
            })
        } else if schema.contains("rests_on") {
            self.document.clone()
        } else {
            json!({"verdict": "answers", "wanted": false})
        })
    }
}

/// The speaker and the round of a request, counted from 1.
pub(crate) fn speaker_of(asked: &Asked) -> (String, u32) {
    let prompt = asked.prompt();
    let who = prompt.split("You, ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default().to_owned();
    let round = prompt.split("This is round ").nth(1).and_then(|rest| rest.split('.').next()).and_then(|number| number.parse().ok());
    (who, round.unwrap_or(1))
}

pub(crate) fn is_turn(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("would_change"))
}

/// Board meetings begin without waiting for corrections of their question.
pub(crate) fn begin_at_once(config: &mut Config) {
    let settings = config.features.get::<BoardSettings>();
    config.features.set(BoardSettings { lead: Duration::ZERO, ..settings });
}

pub(crate) async fn open(setting: Setting, play: Play) -> Stage {
    let setting = setting.configure(begin_at_once);
    let stage = setting.with_model().open().await;
    stage.team.model.on(move |asked| play.answer(asked));
    stage
}

/// Uses `/board`. Numeric options such as `rounds` are sent as numbers.
pub(crate) async fn command(stage: &Stage, name: &str, options: &[(&str, Json)]) -> String {
    let options: Vec<Json> = options
        .iter()
        .map(|(name, value)| json!({"type": if value.is_i64() { 4 } else if value.is_number() { 10 } else { 3 }, "name": name, "value": value}))
        .collect();
    text(&invoke(&stage.team, HERE, "board", json!([{"type": 1, "name": name, "options": options}])).await).to_owned()
}

pub(crate) async fn create(stage: &Stage) -> String {
    command(stage, "create", &[("topic", json!(QUESTION)), ("team", json!(TEAM))]).await
}

/// The last board meeting.
pub(crate) async fn last(store: &Store) -> Option<Meeting> {
    store.list_meetings(&BOARD, 1).await.unwrap().pop()
}

pub(crate) async fn comes_to(store: &Store, state: MeetingState) -> Meeting {
    eventually(&format!("the board meeting is {state:?}"), || async {
        let now = last(store).await;
        assert!(now.as_ref().is_none_or(|meeting| meeting.state == state || !meeting.state.is_over()), "it ended otherwise: {now:#?}");
        now.is_some_and(|meeting| meeting.state == state)
    })
    .await;
    last(store).await.unwrap()
}

pub(crate) fn board_of(meeting: &Meeting) -> Board {
    meeting.read_payload().unwrap()
}

/// The messages in the thread, oldest first, once the last message of the meeting is posted.
pub(crate) async fn thread(team: &TestTeam, store: &Store, meeting: &MeetingId) -> Vec<Shown> {
    let find = async || store.find_posted(&message_id(meeting, "question")).await.unwrap();
    eventually("the thread is there", || async { find().await.is_some() }).await;
    let posted = find().await.unwrap();
    let page = team.call(reqwest::Method::GET, &format!("/channels/{}/messages?limit=100", posted.channel.bare()), None).await;
    let shown = |raw: &Json| Shown {
        author: raw["author"]["global_name"].as_str().or(raw["author"]["username"].as_str()).unwrap_or_default().to_owned(),
        is_bot: raw["author"]["bot"] == true,
        text: raw["content"].as_str().unwrap_or_default().to_owned(),
        raw: raw.clone(),
    };
    page.as_array().unwrap().iter().rev().map(shown).collect()
}

/// Waits until the thread has a message with this text.
pub(crate) async fn hears(team: &TestTeam, store: &Store, meeting: &MeetingId, text: &str) -> Shown {
    let find = async || thread(team, store, meeting).await.into_iter().rfind(|shown| shown.text.contains(text));
    eventually(text, || async { find().await.is_some() }).await;
    find().await.unwrap()
}

/// The document with its card.
pub(crate) async fn document(team: &TestTeam, store: &Store, meeting: &MeetingId) -> Shown {
    let find = async || thread(team, store, meeting).await.into_iter().rfind(|shown| shown.raw["embeds"][0]["title"].is_string());
    eventually("the document is posted", || async { find().await.is_some() }).await;
    find().await.unwrap()
}

/// The text of the document's file.
pub(crate) async fn file(shown: &Shown) -> String {
    let url = shown.raw["attachments"][0]["url"].as_str().expect("an address");
    reqwest::get(url).await.expect("the file").text().await.expect("text")
}
