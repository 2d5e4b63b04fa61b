//! A team that gets a roadmap, and a model that plans, works and judges.

use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::WorkItem;
use teamroom::features::mission::model::{Mission, MissionStatus};
use teamroom::store::Store;
use tokio::sync::watch;

use crate::backlog::part::{finish, is_work, what, write};
use crate::backlog::stage::{Setting, Stage};
use crate::support::command::{invoke, sub_command, text};
use crate::support::database::count;
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script, ScriptedModel};
use crate::support::patience::PATIENCE;
use crate::support::team::{Shown, TestTeam, eventually};

pub(crate) const HERE: &str = "general";

pub(crate) const ROADMAP: &str = "# Tea shop\n\nWe sell tea to people who care.\n\n## Cart\n- [ ] add to the cart\n- [ ] remove from the cart\n\n\
     ## Payment\n- by card\n- by invoice\n\n## Later\n- coupons\n";

/// Text that counts as a document.
pub(crate) const DOCUMENT: &str = "The cart holds what somebody wants to buy, shows the sum, and keeps it for a week. Each entry has a name, a price and a \
     number; a number of none takes it away. Payment follows by card or by invoice, and says so.";

/// What the model says. Each part can be replaced.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) classified: Json,
    pub(crate) assumed: Json,
    pub(crate) plans: Vec<Json>,
    pub(crate) other_way: Json,
    /// Steps whose title has this word are never done well.
    pub(crate) fails: Option<&'static str>,
}

/// Settings of a team in separate processes that are killed.
pub(crate) const SETTINGS: &str = r#"
[backlog]
parallel = 8
every = "1s"
[jobs]
crash_pause = "0s"
[chat]
operators = ["*"]
"#;

pub(crate) fn step(id: &str, title: &str, owner: &str, needs: &[&str], serves: &[&str]) -> Json {
    json!({
        "id": id, "title": title, "instructions": format!("{title}: in full, with every case."), "kind": "write", "owner": owner,
        "criteria": ["It names every case of its part", "It can be used as it stands"], "needs": needs, "serves": serves,
    })
}

pub(crate) fn plan(steps: &[Json]) -> Json {
    json!({
        "criteria": ["Every part is served or named as open", "The pieces fit each other"],
        "steps": steps,
        "left_out": [{"parts": ["9"], "why": "The roadmap says later."}],
    })
}

impl Default for Play {
    fn default() -> Self {
        let steps = [
            step("cart", "Describe the cart", "eliza", &[], &["3"]),
            step("pay", "Describe the payment", "vince", &[], &["6"]),
            step("join", "Join both to one specification", "echo", &["cart", "pay"], &["1", "2"]),
        ];
        Self {
            classified: json!({"kind": "project", "confidence": 0.92, "why": "a roadmap is to be built", "title": "Tea shop"}),
            assumed: json!([{"text": "Prices are in euros.", "question": null}]),
            plans: vec![plan(&steps)],
            other_way: json!({"possible": false, "why": "Nothing else is known."}),
            fails: None,
        }
    }
}

impl Play {
    pub(crate) fn perform(self, stage: &Stage) {
        self.answer_for(&stage.team.model);
    }

    pub(crate) fn answer_for(self, model: &ScriptedModel) {
        model.on(move |asked| self.answer(asked));
    }

    /// Work waits until it may begin.
    pub(crate) fn answer_when(&self, asked: &Asked, may_work: &watch::Receiver<bool>) -> Script {
        let script = self.answer(asked);
        if is_work(asked) { script.when(may_work) } else { script }
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Script {
        let Some(schema) = asked.schema.as_ref().map(ToString::to_string) else {
            return if is_work(asked) { self.work(asked) } else { Script::say("It goes well.") };
        };
        let has = |word: &str| schema.contains(word);
        Script::Json(if is_grading(asked) {
            all_met(asked)
        } else if has("simple_task") {
            self.classified.clone()
        } else if has("to_find_out") {
            json!({
                "title": "Tea shop", "given": ["Tea is sold."], "to_find_out": ["What invoices need."],
                "assumed": self.assumed,
            })
        } else if has("left_out") {
            let again = usize::from(asked.prompt().contains("Your last plan was refused"));
            self.plans[again.min(self.plans.len() - 1)].clone()
        } else if has("doubts") {
            json!({"doubts": []})
        } else if has("possible") {
            self.other_way.clone()
        } else {
            json!({"execution": "write", "verdict": "answers"})
        })
    }

    fn work(&self, asked: &Asked) -> Script {
        let title = title_of(asked);
        if self.fails.is_some_and(|word| title.contains(word)) {
            // A file that is not there.
            return finish("missing.md");
        }
        if asked.tool_results() == 0 { write("result.md", &format!("# {title}\n\n{DOCUMENT}\n")) } else { finish("result.md") }
    }
}

/// Whether a request is for the structured answer that has this field.
pub(crate) fn is_planning(asked: &Asked, field: &str) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains(field))
}

/// The prompt has an agent's words in a block, so that the title stands behind its label there.
pub(crate) fn title_of(asked: &Asked) -> String {
    let line = what(asked);
    line.trim_start_matches("What: ").to_owned()
}

pub(crate) async fn open(setting: Setting, play: Play) -> Stage {
    let stage = setting.with_model().open().await;
    play.perform(&stage);
    stage
}

/// Somebody hands over the roadmap.
pub(crate) async fn hand_over(stage: &Stage) {
    stage.team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
}

/// The only mission, once there is one.
pub(crate) async fn find(stage: &Stage) -> Mission {
    eventually("a mission", || async { !stage.store.list_missions(5).await.unwrap().is_empty() }).await;
    let missions = stage.store.list_missions(5).await.unwrap();
    assert_eq!(missions.len(), 1, "{missions:#?}");
    stage.store.find_mission(&missions[0].id).await.unwrap().unwrap()
}

/// Lets time pass until the mission has this status.
pub(crate) async fn comes_to(stage: &Stage, status: MissionStatus) -> Mission {
    let mission = find(stage).await;
    let started = std::time::Instant::now();
    loop {
        let now = stage.store.find_mission(&mission.id).await.unwrap().unwrap();
        if now.status == status {
            return now;
        }
        let steps = stage.store.list_parts(&mission.id).await.unwrap();
        if started.elapsed() > PATIENCE {
            let lines: Vec<String> = steps.iter().map(|step| format!("{} {:?} {:?}", step.what, step.status, step.wait)).collect();
            let whole = stage.store.find_item(&mission.id).await.unwrap();
            let events = stage.store.list_events(&mission.id).await.unwrap();
            panic!("never {status:?}, but {:?}, {:?}\n{}\n{whole:#?}\n{events:#?}", now.status, now.why, lines.join("\n"));
        }
        hasten(stage).await;
        tokio::time::sleep(std::time::Duration::from_millis(15)).await;
    }
}

/// Lets some time pass, but only a little while a job is in progress, because its lease would run out on a busy machine.
pub(crate) async fn hasten(stage: &Stage) {
    let running = count(&stage.team, "SELECT COUNT(*) FROM jobs WHERE state = 'running'").await;
    stage.clock.advance(std::time::Duration::from_millis(if running == 0 { 500 } else { 50 }));
}

pub(crate) async fn steps(stage: &Stage, mission: &Mission) -> Vec<WorkItem> {
    stage.store.list_parts(&mission.id).await.unwrap()
}

/// What stands in the mission's thread, oldest first.
pub(crate) async fn thread(stage: &Stage, mission: &Mission) -> Vec<Shown> {
    thread_of(&stage.team, &stage.store, mission).await
}

pub(crate) async fn thread_of(team: &TestTeam, store: &Store, mission: &Mission) -> Vec<Shown> {
    let posted = store.find_posted(&mission.message_id("reading")).await.unwrap().expect("the thread was opened");
    let page = team.call(reqwest::Method::GET, &format!("/channels/{}/messages?limit=100", posted.channel.bare()), None).await;
    let shown = |raw: &Json| Shown {
        author: raw["author"]["global_name"].as_str().or(raw["author"]["username"].as_str()).unwrap_or_default().to_owned(),
        is_bot: true,
        text: raw["content"].as_str().unwrap_or_default().to_owned(),
        raw: raw.clone(),
    };
    page.as_array().unwrap().iter().rev().map(shown).collect()
}

/// Waits until the team has said this in the channel.
pub(crate) async fn hears(stage: &Stage, text: &str) -> Shown {
    let said = async || stage.team.answers(HERE).await.into_iter().rfind(|shown| shown.text.contains(text));
    eventually(text, || async { said().await.is_some() }).await;
    said().await.unwrap()
}

pub(crate) async fn command(stage: &Stage, name: &str, options: &[(&str, &str)]) -> Json {
    invoke(&stage.team, HERE, "mission", sub_command(name, options)).await
}

pub(crate) async fn command_text(stage: &Stage, name: &str, options: &[(&str, &str)]) -> String {
    text(&command(stage, name, options).await).to_owned()
}

/// Clicks a button, also in a thread.
pub(crate) async fn press_on(stage: &Stage, message: &Shown, label: &str) {
    press_of(&stage.team, message, label).await;
}

/// The same, also where the team runs in a process of its own.
pub(crate) async fn press_of(team: &TestTeam, message: &Shown, label: &str) {
    team.call(reqwest::Method::POST, "/interactions", Some(click(team, message, label))).await;
}

/// Clicks a button twice at once. The second click may find that the button is gone.
pub(crate) async fn press_twice(stage: &Stage, message: &Shown, label: &str) {
    let press = || stage.team.try_call_as(0, reqwest::Method::POST, "/interactions", Some(click(&stage.team, message, label)));
    let (first, second) = tokio::join!(press(), press());
    assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
}

fn click(team: &TestTeam, message: &Shown, label: &str) -> Json {
    let rows = message.raw["components"].as_array().unwrap().iter();
    let mut buttons = rows.flat_map(|row| row["components"].as_array().unwrap());
    let button = buttons.find(|button| button["label"] == label).unwrap_or_else(|| panic!("no button {label}: {message:#?}"));
    json!({
        "type": 3, "application_id": message.raw["author"]["id"], "guild_id": team.sandbox().guild_id(),
        "channel_id": message.raw["channel_id"], "message_id": message.raw["id"], "session_id": "s", "nonce": "1",
        "data": {"component_type": 2, "custom_id": button["custom_id"]},
    })
}

pub(crate) fn labels(shown: &Shown) -> Vec<&str> {
    let rows = shown.raw["components"].as_array().into_iter().flatten();
    rows.flat_map(|row| row["components"].as_array().unwrap()).map(|button| button["label"].as_str().unwrap()).collect()
}

pub(crate) fn files_of(shown: &Shown) -> Vec<String> {
    shown.raw["attachments"].as_array().into_iter().flatten().map(|file| file["filename"].as_str().unwrap().to_owned()).collect()
}

/// How many parts nobody serves.
pub(crate) fn open_parts(plan: &teamroom::features::mission::model::plan::Plan, mission: &Mission) -> usize {
    use teamroom::features::mission::model::plan::Served;
    plan.coverage(&mission.directive).values().filter(|served| matches!(served, Served::Nobody)).count()
}
