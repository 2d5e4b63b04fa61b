//! A role that nobody on the team fills: a persona is drafted, an operator decides, and it takes over its steps (WORK-27).

use kernel::ids::PersonaSlug;
use kernel::llm::settings::ProviderKind;
use kernel::persona::load::{BUILT_IN, load};
use kernel::persona::roster::Roster;
use kernel::time::{Clock as _, SystemClock};
use serde_json::{Value as Json, json};
use teamroom::features::mission::model::new_persona::{NewPersona, NewPersonaStatus};
use teamroom::features::mission::model::{Mission, MissionStatus};
use teamroom::features::mission::{MissionSettings, NewPersonas};
use teamroom::store::Store;
use tokio::sync::watch;

use super::crashes::hurry;
use super::stage::{
    HERE, Play, ROADMAP, SETTINGS, comes_to, files_of, find, hand_over, hears, is_planning, labels, open, plan, press_of, press_on,
    press_twice, step, steps, thread, thread_of,
};
use crate::backlog::stage::{Setting, Stage};
use crate::support::database::{allow, count, execute, forbid, is_sqlite};
use crate::support::model::{Asked, Script, ScriptedModel};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_behind_each_stored_step_of_a_new_persona, killed_between_its_file_and_its_joining, killed_around_a_no,);
on_one_store!(
    who_is_added_takes_over_the_steps_that_have_not_begun,
    on_no_nothing_else_happens,
    only_operators_decide_who_is_on_the_team,
    at_once_adds_without_asking,
    never_only_says_that_the_role_is_missing,
    nobody_is_drafted_from_what_is_private,
    two_drafts_that_are_refused_end_with_a_sentence,
    a_file_that_cannot_be_written_is_told_and_may_be_put_there_by_hand,
);

const ADD: &str = "Add Dana to the team";

fn missing(role: &str) -> Json {
    json!({"role": role, "good_at": ["wireframes", "colour contrast"], "why": "nobody draws", "steps": ["join"]})
}

fn draft(name: &str) -> Json {
    let prompt: String = "- A habit: you look at the cart first.\n".repeat(12);
    json!({"name": name, "expertise": ["wireframes", "contrast"], "prompt": prompt})
}

fn is_draft(asked: &Asked) -> bool {
    is_planning(asked, "expertise")
}

/// A model whose plan misses a role. Each draft is given in its turn; work waits until it may begin.
fn perform(model: &ScriptedModel, role: &str, drafts: [Json; 2]) -> watch::Sender<bool> {
    let (begin, may_begin) = watch::channel(false);
    let steps = [
        step("cart", "Describe the cart", "eliza", &[], &["3"]),
        step("pay", "Describe the payment", "vince", &[], &["6"]),
        step("join", "Sketch the screens", "echo", &["cart", "pay"], &["1", "2"]),
    ];
    let mut planned = plan(&steps);
    planned["missing"] = json!([missing(role)]);
    let play = Play { plans: vec![planned], ..Play::default() };
    model.on(move |asked| {
        if is_draft(asked) {
            let again = asked.prompt().contains("Your last draft was refused");
            return Script::Json(drafts[usize::from(again)].clone());
        }
        play.answer_when(asked, &may_begin)
    });
    begin
}

/// A running mission, with the sender that lets its work begin.
async fn begin(setting: Setting, role: &str, drafts: [Json; 2]) -> (Stage, Mission, watch::Sender<bool>) {
    let stage = open(setting, Play::default()).await;
    let go_on = perform(&stage.team.model, role, drafts);
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    (stage, mission, go_on)
}

fn with_policy(backing: Backing, new_personas: NewPersonas) -> Setting {
    Setting::on(backing).configure(move |config| config.features.set(MissionSettings { new_personas, ..MissionSettings::default() }))
}

fn persona_of(mission: &Mission) -> NewPersona {
    mission.plan.as_ref().unwrap().missing[0].persona.clone().expect("somebody was drafted")
}

async fn comes_to_status(stage: &Stage, status: NewPersonaStatus) {
    eventually(&format!("{status:?}"), || async { persona_of(&find(stage).await).status == status }).await;
}

/// Waits until the thread has a message with this text.
async fn hears_in_thread(stage: &Stage, mission: &Mission, text: &str) -> Shown {
    let told = async || thread(stage, mission).await.into_iter().rfind(|shown| shown.text.contains(text));
    eventually(text, || async { told().await.is_some() }).await;
    told().await.unwrap()
}

/// Starts the team again with the new persona, which has no token.
async fn restart_with_dana(stage: &mut Stage, text: &str) {
    let dana = kernel::persona::file::parse("dana", text.as_bytes()).unwrap();
    stage.team.stop_app().await;
    stage.team.roster = Roster::new(stage.team.roster.personas().iter().cloned().chain([dana]).collect()).unwrap();
    stage.team.start_app().await;
}

async fn owner_of(stage: &Stage, mission: &Mission, what: &str) -> Option<PersonaSlug> {
    steps(stage, mission).await.into_iter().find(|item| item.what == what).and_then(|item| item.persona)
}

async fn who_is_added_takes_over_the_steps_that_have_not_begun(backing: Backing) {
    let (mut stage, mission, go_on) = begin(Setting::on(backing), "designer", [draft("Vince"), draft("Dana")]).await;
    hears_in_thread(&stage, &mission, "the first steps start now. Nobody on the team is a designer. I have drafted one: Dana.").await;
    let asked = hears_in_thread(&stage, &mission, "could join").await;
    assert_eq!(
        asked.text,
        "**Dana** could join the team as designer. Nobody draws. Dana is good at wireframes and colour contrast, and takes over \"Sketch the \
         screens\", which Echo does until then. The attached file is all that makes the persona. Shall I add it? An operator decides."
    );
    assert_eq!((files_of(&asked), labels(&asked)), (vec!["dana.md".to_owned()], vec![ADD, "No"]));
    let drafts: Vec<_> = stage.team.model.requests().into_iter().filter(is_draft).collect();
    assert!(drafts.len() == 2 && drafts[1].prompt().contains("the name Vince is taken by Vince"), "{drafts:#?}");
    assert!(!stage.team.config.personas.exists());

    // Of two clicks one counts.
    press_twice(&stage, &asked, ADD).await;
    hears_in_thread(&stage, &mission, "adds Dana to the team.").await;
    let told = hears_in_thread(&stage, &mission, "Dana has a file now").await;
    assert_eq!(
        told.text,
        "Dana has a file now: `personas/dana.md`. The rest of the team, which was built in until now, has its files there too. The team takes \
         it over in a few seconds."
    );
    comes_to_status(&stage, NewPersonaStatus::Written).await;
    let dana = persona_of(&find(&stage).await);
    assert_eq!(std::fs::read_to_string(stage.team.config.personas.join("dana.md")).unwrap(), dana.file);
    let loaded = load(&stage.team.config.personas);
    assert!(loaded.refused.is_empty() && loaded.roster.unwrap().personas().len() == BUILT_IN.len() + 1);
    assert_eq!(owner_of(&stage, &mission, "Sketch the screens").await, Some("echo".into()));

    restart_with_dana(&mut stage, &dana.file).await;
    let joined = "Dana has joined the team as designer. Dana takes over \"Sketch the screens\".";
    hears_in_thread(&stage, &mission, joined).await;
    go_on.send(true).unwrap();
    let mission = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert_eq!(owner_of(&stage, &mission, "Sketch the screens").await, Some("dana".into()));
    let changes = &mission.plan.as_ref().unwrap().changes;
    assert_eq!((changes.len(), changes[0].why.as_str()), (1, "Dana joined the team as designer."));
    let told = thread(&stage, &mission).await;
    for text in ["adds Dana to the team.", "Dana has a file now", joined] {
        assert_eq!(told.iter().filter(|shown| shown.text.contains(text)).count(), 1, "{text}: {told:#?}");
    }
}

async fn on_no_nothing_else_happens(backing: Backing) {
    let (stage, mission, go_on) = begin(Setting::on(backing), "designer", [draft("Dana"), draft("Dana")]).await;
    let asked = hears_in_thread(&stage, &mission, "could join").await;
    press_on(&stage, &asked, "No").await;
    hears_in_thread(&stage, &mission, "said no: Dana does not join, and the plan stays as it is.").await;
    go_on.send(true).unwrap();
    let mission = comes_to(&stage, MissionStatus::Done).await;
    assert_eq!(persona_of(&mission).status, NewPersonaStatus::Declined);
    assert_eq!(owner_of(&stage, &mission, "Sketch the screens").await, Some("echo".into()));
    assert!(mission.plan.unwrap().changes.is_empty() && !stage.team.config.personas.exists());
}

async fn only_operators_decide_who_is_on_the_team(backing: Backing) {
    let setting = Setting::on(backing).configure(|config| config.chat.operators = vec!["nobody".into()]);
    let (stage, mission, _go_on) = begin(setting, "designer", [draft("Dana"), draft("Dana")]).await;
    let asked = hears_in_thread(&stage, &mission, "could join").await;
    for label in [ADD, "No"] {
        press_on(&stage, &asked, label).await;
    }
    let refused = async || thread(&stage, &mission).await.iter().filter(|shown| shown.text.contains("Only operators decide")).count();
    eventually("both are refused", || async { refused().await == 2 }).await;
    assert_eq!(persona_of(&find(&stage).await).status, NewPersonaStatus::Proposed);
    assert!(!stage.team.config.personas.exists());
}

async fn at_once_adds_without_asking(backing: Backing) {
    let (stage, mission, _go_on) = begin(with_policy(backing, NewPersonas::AtOnce), "designer", [draft("Dana"), draft("Dana")]).await;
    hears_in_thread(&stage, &mission, "I have drafted one, who joins the team now: Dana.").await;
    let told = hears_in_thread(&stage, &mission, "**Dana** joins the team as designer.").await;
    assert!(told.text.ends_with("without `personas/dana.md` it is gone again."), "{}", told.text);
    assert_eq!((files_of(&told), labels(&told)), (vec!["dana.md".to_owned()], vec![]));
    hears_in_thread(&stage, &mission, "Dana has a file now").await;
    assert!(stage.team.config.personas.join("dana.md").exists());
}

async fn never_only_says_that_the_role_is_missing(backing: Backing) {
    let (stage, mission, go_on) = begin(with_policy(backing, NewPersonas::Never), "designer", [draft("Dana"), draft("Dana")]).await;
    let card = hears_in_thread(&stage, &mission, "The plan is ready").await;
    assert!(card.text.ends_with("Nobody on the team is a designer."), "{}", card.text);
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    assert!(!stage.team.model.requests().iter().any(is_draft));
}

async fn nobody_is_drafted_from_what_is_private(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let _go_on = perform(&stage.team.model, "designer", [draft("Dana"), draft("Dana")]);
    let statements: &[&str] = if is_sqlite(&stage.team) {
        &["CREATE TRIGGER private AFTER INSERT ON missions BEGIN UPDATE missions SET private_to = 'discord:4711' WHERE id = NEW.id; END"]
    } else {
        &[
            "CREATE FUNCTION private() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.private_to := 'discord:4711'; RETURN NEW; END$$",
            "CREATE TRIGGER private BEFORE INSERT ON missions FOR EACH ROW EXECUTE FUNCTION private()",
        ]
    };
    for statement in statements {
        execute(&stage.team, statement).await;
    }
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let card = hears_in_thread(&stage, &mission, "The plan is ready").await;
    assert!(card.text.ends_with("Nobody on the team is a designer."), "{}", card.text);
    assert!(!stage.team.model.requests().iter().any(is_draft));
}

async fn two_drafts_that_are_refused_end_with_a_sentence(backing: Backing) {
    let (stage, mission, go_on) = begin(Setting::on(backing), "analyst of screens", [draft("Dana Ray"), draft("Vince")]).await;
    let card = hears_in_thread(&stage, &mission, "Nobody on the team is an analyst of screens.").await;
    assert!(!card.text.contains("drafted"), "{}", card.text);
    let warnings = &find(&stage).await.plan.unwrap().warnings;
    assert!(warnings.contains(&"I could not draft an analyst of screens: the name Vince is taken by Vince".to_owned()), "{warnings:?}");
    assert!(card.raw["embeds"].to_string().contains("I could not draft"), "{:#?}", card.raw);
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    assert_eq!(stage.team.model.requests().iter().filter(|asked| is_draft(asked)).count(), 2);
}

async fn a_file_that_cannot_be_written_is_told_and_may_be_put_there_by_hand(backing: Backing) {
    let (mut stage, mission, go_on) = begin(Setting::on(backing), "designer", [draft("Dana"), draft("Dana")]).await;
    std::fs::write(&stage.team.config.personas, "in the way").unwrap();
    let asked = hears_in_thread(&stage, &mission, "could join").await;
    press_on(&stage, &asked, ADD).await;
    let told = hears_in_thread(&stage, &mission, "Dana has not joined: ").await;
    assert!(told.text.contains("personas/dana.md cannot be written: ") && told.text.contains("add Dana again"), "{}", told.text);
    assert_eq!((files_of(&told), labels(&told)), (vec!["dana.md".to_owned()], vec![ADD, "No"]));
    let dana = persona_of(&find(&stage).await);
    assert_eq!((dana.status, dana.decided_by), (NewPersonaStatus::Proposed, None));

    // The steps are done before somebody repairs the folder. The persona still joins the team.
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    std::fs::remove_file(&stage.team.config.personas).unwrap();
    std::fs::create_dir(&stage.team.config.personas).unwrap();
    std::fs::write(stage.team.config.personas.join("dana.md"), &dana.file).unwrap();
    press_on(&stage, &told, ADD).await;
    comes_to_status(&stage, NewPersonaStatus::Written).await;
    restart_with_dana(&mut stage, &dana.file).await;
    stage.team.say(HERE, "dana, are you there?").await;
    eventually("Dana answers", || async { stage.team.answers(HERE).await.iter().any(|shown| shown.author == "Dana") }).await;
}

/// The writes before the decision, in this order.
const WALLS: [(&str, &str); 2] =
    [("INSERT ON job_steps", "NEW.name = 'persona-0-1'"), ("UPDATE OF status ON missions", "NEW.status = 'running'")];

const CLAIM: (&str, &str) = ("UPDATE OF state ON jobs", "NEW.state = 'running' AND NEW.kind = 'mission'");
const BEYOND: &str = r#"NEW.plan LIKE '%"status":"written"%' OR NEW.plan LIKE '%"status":"joined"%'"#;

async fn killed_behind_each_stored_step_of_a_new_persona(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let go_on = perform(&team.model, "designer", [draft("Dana"), draft("Dana")]);
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let stands =
        async || count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'mission' AND attempts > 0 AND finished_at IS NULL").await == 1;
    for (number, (change, when)) in WALLS.into_iter().enumerate() {
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        if number == 0 {
            team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
        }
        eventually(&format!("it stands before {change} {when}"), || async { stands().await }).await;
        process.kill();
        allow(&team, "wall").await;
        hurry(&team).await;
    }
    let process = TeamProcess::start(&team, &[]).await;
    let find = async || {
        let listed = store.list_missions(5).await.unwrap().remove(0);
        store.find_mission(&listed.id).await.unwrap().unwrap()
    };
    eventually("it runs", || async { find().await.status == MissionStatus::Running }).await;
    let mission = find().await;
    let asked = async || thread_of(&team, &store, &mission).await.into_iter().find(|shown| shown.text.contains("could join"));
    eventually("somebody is asked", || async { asked().await.is_some() }).await;

    // The decision is stored, but the job cannot begin.
    forbid(&team, "wall", CLAIM.0, CLAIM.1).await;
    press_of(&team, &asked().await.unwrap(), ADD).await;
    eventually("it is approved", || async { persona_of(&find().await).status == NewPersonaStatus::Approved }).await;
    process.kill();
    assert!(!team.config.personas.exists());
    allow(&team, "wall").await;

    // The file is written and the team has restarted with it, but that cannot be stored.
    forbid(&team, "wall", "UPDATE OF plan ON missions", BEYOND).await;
    let process = TeamProcess::start(&team, &[]).await;
    let file = team.config.personas.join("dana.md");
    eventually("the file is written", || async { file.exists() }).await;
    eventually("it stands before it is stored", || async { stands().await }).await;
    process.kill();
    assert_eq!(persona_of(&find().await).status, NewPersonaStatus::Approved);
    allow(&team, "wall").await;
    hurry(&team).await;

    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it has joined", || async { persona_of(&find().await).status == NewPersonaStatus::Joined }).await;
    go_on.send(true).unwrap();
    let delivered = async || team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 3 of 3 steps done"));
    eventually("it is delivered", || async { delivered().await }).await;
    team.say(HERE, "dana, are you there?").await;
    let answers = async || team.answers(HERE).await.into_iter().find(|shown| shown.author == "Dana");
    eventually("Dana answers", || async { answers().await.is_some() }).await;
    assert!(answers().await.unwrap().raw["webhook_id"].is_string(), "without a token it speaks by webhook");

    // The answer to the press is not durable, so that the kill may have kept it from being posted.
    let told = thread_of(&team, &store, &mission).await;
    for text in ["could join the team", "Dana has joined the team as designer. Dana takes over \"Sketch the screens\"."] {
        assert_eq!(told.iter().filter(|shown| shown.text.contains(text)).count(), 1, "{text}: {told:#?}");
    }
    let sketch = store.list_parts(&mission.id).await.unwrap().into_iter().find(|item| item.what == "Sketch the screens").unwrap();
    assert_eq!(sketch.persona, Some("dana".into()));
    // The draft that the first wall kept from being stored is paid once more.
    assert_eq!(team.model.requests().iter().filter(|asked| is_draft(asked)).count(), 2);
    store.close().await;
}

/// A mission in processes that are killed, whose new persona waits for a decision.
struct Pending {
    team: TestTeam,
    store: Store,
    process: TeamProcess,
    go_on: watch::Sender<bool>,
    asked: Shown,
}

impl Pending {
    async fn begin(backing: Backing) -> Self {
        let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
        std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
        let go_on = perform(&team.model, "designer", [draft("Dana"), draft("Dana")]);
        let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
        let process = TeamProcess::start(&team, &[]).await;
        team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
        let running =
            async || store.list_missions(5).await.unwrap().first().is_some_and(|mission| mission.status == MissionStatus::Running);
        eventually("it runs", || async { running().await }).await;
        let mission = find_in(&store).await;
        let asked = async || thread_of(&team, &store, &mission).await.into_iter().find(|shown| shown.text.contains("could join"));
        eventually("somebody is asked", || async { asked().await.is_some() }).await;
        let asked = asked().await.unwrap();
        Self { team, store, process, go_on, asked }
    }

    async fn comes_to(&self, status: NewPersonaStatus) {
        eventually(&format!("{status:?}"), || async { persona_of(&find_in(&self.store).await).status == status }).await;
    }

    async fn stands_before(&self) {
        let held = "SELECT COUNT(*) FROM jobs WHERE kind = 'mission' AND attempts > 0 AND finished_at IS NULL";
        eventually("it stands before the wall", || async { count(&self.team, held).await == 1 }).await;
    }

    /// Kills the process, takes the wall away if there is one, and starts another one.
    async fn restart(self, has_wall: bool) -> Self {
        self.process.kill();
        if has_wall {
            allow(&self.team, "wall").await;
        }
        hurry(&self.team).await;
        let process = TeamProcess::start(&self.team, &[]).await;
        Self { process, ..self }
    }

    async fn said(&self, text: &str) -> usize {
        let mission = find_in(&self.store).await;
        thread_of(&self.team, &self.store, &mission).await.iter().filter(|shown| shown.text.contains(text)).count()
    }

    async fn is_delivered(&self) {
        let delivered = async || self.team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 3 of 3 steps done"));
        eventually("it is delivered", || async { delivered().await }).await;
    }
}

async fn find_in(store: &Store) -> Mission {
    let listed = store.list_missions(5).await.unwrap().remove(0);
    store.find_mission(&listed.id).await.unwrap().unwrap()
}

async fn killed_between_its_file_and_its_joining(backing: Backing) {
    let pending = Pending::begin(backing).await;
    forbid(&pending.team, "wall", "UPDATE OF plan ON missions", r#"NEW.plan LIKE '%"status":"joined"%'"#).await;
    press_of(&pending.team, &pending.asked, ADD).await;
    // Its file is stored as written, and the team restarts with it.
    pending.comes_to(NewPersonaStatus::Written).await;
    pending.stands_before().await;
    let file = pending.team.config.personas.join("dana.md");
    let before = std::fs::read(&file).unwrap();
    let pending = pending.restart(true).await;
    pending.comes_to(NewPersonaStatus::Joined).await;
    pending.go_on.send(true).unwrap();
    pending.is_delivered().await;
    assert_eq!(std::fs::read(&file).unwrap(), before);
    for text in ["Dana has a file now", "Dana has joined the team as designer. Dana takes over \"Sketch the screens\"."] {
        assert_eq!(pending.said(text).await, 1, "{text}");
    }
    let parts = pending.store.list_parts(&find_in(&pending.store).await.id).await.unwrap();
    assert_eq!(parts.iter().find(|item| item.what == "Sketch the screens").unwrap().persona, Some("dana".into()));
    pending.store.close().await;
}

async fn killed_around_a_no(backing: Backing) {
    let pending = Pending::begin(backing).await;
    // The answer is not stored, so the question is still open.
    forbid(&pending.team, "wall", "UPDATE OF plan ON missions", r#"NEW.plan LIKE '%"status":"declined"%'"#).await;
    press_of(&pending.team, &pending.asked, "No").await;
    eventually("the person is told that it did not work", || async { pending.said("That didn't work").await == 1 }).await;
    let pending = pending.restart(true).await;
    assert_eq!(persona_of(&find_in(&pending.store).await).status, NewPersonaStatus::Proposed);
    press_of(&pending.team, &pending.asked, "No").await;
    pending.comes_to(NewPersonaStatus::Declined).await;
    // The answer is stored, so nobody is asked again.
    let pending = pending.restart(false).await;
    pending.go_on.send(true).unwrap();
    pending.is_delivered().await;
    assert_eq!(
        (pending.said("could join the team").await, persona_of(&find_in(&pending.store).await).status),
        (1, NewPersonaStatus::Declined)
    );
    assert!(!pending.team.config.personas.exists());
    let parts = pending.store.list_parts(&find_in(&pending.store).await.id).await.unwrap();
    assert_eq!(parts.iter().find(|item| item.what == "Sketch the screens").unwrap().persona, Some("echo".into()));
    pending.store.close().await;
}
