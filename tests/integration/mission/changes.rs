//! People change their minds: in the words of the thread, or by a command, the plan changes while it is carried out (OVER-9).

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use secrecy::ExposeSecret as _;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::mission::MissionSettings;
use teamroom::features::mission::model::{Mission, MissionStatus};
use teamroom::store::Store;
use tokio::sync::watch;

use super::crashes::hurry;
use super::stage::{
    DOCUMENT, HERE, Play, ROADMAP, SETTINGS, comes_to, command_text, files_of, find, hand_over, hears, open, press_on, step, steps, thread,
    thread_of,
};
use crate::backlog::part::{finish, is_work, write};
use crate::backlog::stage::{Setting, Stage};
use crate::support::command::{invoke, sub_command};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::grading::is_grading;
use crate::support::model::{Asked, Script, ScriptedModel};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_behind_each_stored_step_of_a_change, killed_behind_a_word_to_steps_that_are_worked_on);
on_one_store!(
    what_is_said_in_the_thread_changes_the_plan,
    steps_are_added_and_given_to_others,
    a_change_that_is_not_valid_leaves_the_plan_as_it_is,
    a_plan_that_waits_for_a_word_is_changed_by_command,
    only_who_asked_for_it_and_operators_change_a_plan,
    what_is_told_on_the_way_reaches_who_is_at_work,
    words_below_a_delivery_take_it_up_again,
);

pub(super) fn wants(kind: &str) -> Json {
    json!({"kind": kind, "confidence": 0.95, "why": "they say so"})
}

pub(super) fn is_wish(asked: &Asked) -> bool {
    asked.prompt().contains("writes in the thread of a mission")
}

pub(super) fn is_change(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("leave_out"))
}

/// Work waits until it may begin. `change`: what the planner drafts.
fn perform(model: &ScriptedModel, change: impl Fn(&Asked) -> Json + Send + Sync + 'static) -> watch::Sender<bool> {
    let (begin, may_begin) = watch::channel(false);
    let play = Play::default();
    model.on(move |asked| {
        if is_wish(asked) {
            return Script::Json(wants(if asked.prompt().contains("How is it going?") { "question" } else { "change" }));
        }
        if is_change(asked) {
            return Script::Json(change(asked));
        }
        play.answer_when(asked, &may_begin)
    });
    begin
}

/// A mission whose steps are being worked on.
async fn begin(stage: &Stage, change: impl Fn(&Asked) -> Json + Send + Sync + 'static) -> (Mission, watch::Sender<bool>) {
    let begin = perform(&stage.team.model, change);
    (begin_with(stage).await, begin)
}

/// As [`begin`], with a model that performs already.
pub(super) async fn begin_with(stage: &Stage) -> Mission {
    hand_over(stage).await;
    let mission = comes_to(stage, MissionStatus::Running).await;
    let at_work = async || steps(stage, &mission).await.iter().filter(|item| item.status == WorkStatus::InProgress).count();
    eventually("two steps are worked on", || async { at_work().await == 2 }).await;
    mission
}

pub(super) async fn say_in_thread(team: &TestTeam, store: &Store, mission: &Mission, text: &str) {
    let posted = async || store.find_posted(&mission.message_id("reading")).await.unwrap();
    eventually("the thread", || async { posted().await.is_some() }).await;
    let thread = posted().await.unwrap().channel;
    let path = format!("/channels/{}/messages", thread.bare());
    team.call(reqwest::Method::POST, &path, Some(json!({ "content": text }))).await;
}

/// Whether the thread has a message with this text.
pub(super) async fn is_told(stage: &Stage, mission: &Mission, text: &str) -> bool {
    thread(stage, mission).await.iter().any(|shown| shown.text.contains(text))
}

async fn what_is_said_in_the_thread_changes_the_plan(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let (mission, go_on) = begin(&stage, |_| json!({"why": "Nothing is sold yet.", "leave_out": ["6"]})).await;
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, How is it going?").await;
    eventually("it is answered", || is_told(&stage, &mission, "It goes well.")).await;
    assert!(!stage.team.model.requests().iter().any(is_change), "a question changes nothing");
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, forget the payment, we sell nothing yet").await;
    eventually("the plan is changed", || is_told(&stage, &mission, "The plan is changed.")).await;
    let told = thread(&stage, &mission).await;
    let told = told.iter().find(|shown| shown.text.contains("The plan is changed.")).unwrap();
    assert_eq!(
        told.text,
        "The plan is changed. Nothing is sold yet.\n- Left out: \"Describe the payment\"\n- Changed: \"Join both to one specification\""
    );
    assert_eq!(files_of(told), ["plan.md", "plan.png"]);
    let prompt = stage.team.model.requests().into_iter().find(is_change).unwrap().prompt();
    assert!(prompt.contains("forget the payment") && prompt.contains("in progress, serves 6"), "{prompt}");
    go_on.send(true).unwrap();
    let done = comes_to(&stage, MissionStatus::Done).await;
    let delivery = hears(&stage, "is done. 2 of 2 steps done").await;
    assert!(delivery.text.contains("Nothing is sold yet."), "{}", delivery.text);
    let items = steps(&stage, &mission).await;
    let status_of = |what: &str| items.iter().find(|item| item.what == what).map(|item| item.status);
    assert_eq!(status_of("Describe the payment"), Some(WorkStatus::Cancelled));
    assert_eq!(status_of("Join both to one specification"), Some(WorkStatus::Done));
    let last = stage.asked_about("Join both").pop().unwrap().prompt();
    assert!(last.contains("Not to be done any more: part 6. Nothing is sold yet."), "{last}");
    assert_eq!(done.plan.unwrap().changes.len(), 1);
}

async fn steps_are_added_and_given_to_others(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    // The prompt has the id of the last step before its title.
    let change = |asked: &Asked| {
        let prompt = asked.prompt();
        let before = prompt.split("Step \"Join both").next().unwrap();
        let last = before.rsplit("id ").next().unwrap()[..6].to_owned();
        let edit = json!({"step": last, "owner": "solus"});
        json!({"why": "It has to be tested.", "add": [step("test", "Write the test plan", "vince", &[], &[])], "edit": [edit]})
    };
    let (mission, go_on) = begin(&stage, change).await;
    // At the command line, in a process that has no models.
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.args(["mission", "change", mission.short_id(), "We need a test plan, and Solus joins it."]);
    command.current_dir(stage.team.dir.path()).env_clear().env("DATABASE_URL", stage.team.config.database_url.expose_secret());
    let output = command.output().await.expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("I look at what that changes"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    eventually("the plan is changed", || is_told(&stage, &mission, "The plan is changed. It has to be tested.")).await;
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 4 of 4 steps done").await;
    let items = steps(&stage, &mission).await;
    let find = |what: &str| items.iter().find(|item| item.what == what).unwrap_or_else(|| panic!("no {what}"));
    let last = find("Join both to one specification");
    assert!(last.depends_on.contains(&find("Write the test plan").id));
    assert_eq!(last.persona.as_ref().map(kernel::ids::PersonaSlug::as_str), Some("solus"));
    assert!(last.evidence.len() > 1 && items.iter().all(|item| item.status == WorkStatus::Done), "{items:#?}");
}

async fn a_change_that_is_not_valid_leaves_the_plan_as_it_is(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let (mission, go_on) = begin(&stage, |_| json!({"why": "It is not needed.", "drop": ["ghost"]})).await;
    let before = find(&stage).await.plan;
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, drop the ghost").await;
    let told = "I cannot change the plan like that. Two drafts were refused, so it stays as it is:\n- \"ghost\" is no step of the plan";
    eventually("it is told", || is_told(&stage, &mission, told)).await;
    let asked: Vec<_> = stage.team.model.requests().into_iter().filter(is_change).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].prompt().contains("Your last change was refused"), "{}", asked[1].prompt());
    assert_eq!(find(&stage).await.plan, before);
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
}

async fn a_plan_that_waits_for_a_word_is_changed_by_command(backing: Backing) {
    let setting =
        Setting::on(backing).configure(|config| config.features.set(MissionSettings { approve_steps: 2, ..MissionSettings::default() }));
    let stage = open(setting, Play::default()).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Proposed).await;
    let id = mission.short_id();
    for (parts, says) in [("99", "There is no part 99"), ("all", "is no number of a part")] {
        let said = command_text(&stage, "leave-out", &[("id", id), ("parts", parts)]).await;
        assert!(said.contains(says), "{said}");
    }
    let said = command_text(&stage, "leave-out", &[("id", id), ("parts", "3"), ("why", "There is a cart already.")]).await;
    assert!(said.contains("There is a cart already.\n- Left out: \"Describe the cart\""), "{said}");
    assert!(steps(&stage, &mission).await.is_empty());
    let card = thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("waits for your word")).unwrap();
    press_on(&stage, &card, "Start").await;
    comes_to(&stage, MissionStatus::Done).await;
    let delivery = hears(&stage, "is done. 2 of 2 steps done").await;
    assert!(delivery.text.contains("There is a cart already."), "{}", delivery.text);
    let said = command_text(&stage, "leave-out", &[("id", id), ("parts", "6")]).await;
    assert!(said.contains("is over: it is done"), "{said}");
}

async fn only_who_asked_for_it_and_operators_change_a_plan(backing: Backing) {
    let stage = open(Setting::on(backing).configure(|config| config.chat.operators = vec!["nobody".into()]), Play::default()).await;
    let (mission, _go_on) = begin(&stage, |_| json!({"why": "No.", "leave_out": ["6"]})).await;
    execute(&stage.team, "UPDATE missions SET asked_by = 'discord:1', asked_by_name = 'Zoe'").await;
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, forget the payment").await;
    eventually("it is refused", || is_told(&stage, &mission, "Only Zoe or an operator may change")).await;
    let notes: Vec<_> = stage.store.list_events(&mission.id).await.unwrap().into_iter().filter_map(|event| event.note).collect();
    assert!(notes.iter().any(|note| note.ends_with("wishes: kelly, forget the payment")), "it is kept as a remark: {notes:?}");
    let said = command_text(&stage, "change", &[("id", mission.short_id()), ("text", "forget the payment")]).await;
    assert!(said.contains("Only Zoe or an operator may change"), "{said}");
    assert!(!stage.team.model.requests().iter().any(is_change));
}

const WORD: &str = "Everything in English, please.";

/// Whether the model is told on the way what somebody added.
fn hears_word(asked: &Asked) -> bool {
    asked.last().contains("was changed while you work on it") && asked.last().contains(WORD)
}

/// Nothing is judged before `may_finish` says so.
fn work_on(model: &ScriptedModel) -> watch::Sender<bool> {
    let (finish_now, may_finish) = watch::channel(false);
    let play = Play::default();
    model.on(move |asked| match asked.tool_results() {
        _ if is_grading(asked) => play.answer(asked).when(&may_finish),
        _ if !is_work(asked) => play.answer(asked),
        0 => play.answer(asked),
        _ if hears_word(asked) => write("result.md", &format!("# In English\n\n{DOCUMENT}\n")),
        _ => finish("result.md"),
    });
    finish_now
}

/// How many drafts were judged by their authors, or are.
fn count_drafts(model: &ScriptedModel) -> usize {
    model.requests().iter().filter(|asked| is_grading(asked)).count()
}

async fn what_is_told_on_the_way_reaches_who_is_at_work(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let finish_now = work_on(&stage.team.model);
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    eventually("two drafts", || async { count_drafts(&stage.team.model) == 2 }).await;
    let said = command_text(&stage, "tell", &[("id", mission.short_id()), ("text", WORD)]).await;
    assert!(said.contains("3 steps that are not done know it now."), "{said}");
    finish_now.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    let requests = stage.team.model.requests();
    let told: Vec<_> = requests.iter().filter(|asked| is_work(asked) && hears_word(asked)).collect();
    assert_eq!(told.len(), 2, "the third step had not begun");
    for asked in &told {
        assert!(asked.last().ends_with(&format!("Added to the instructions:\nYou added: {WORD}")), "{}", asked.last());
        assert!(asked.prompt().contains("result.md"), "what was made before is still known");
    }
    let by_author = |asked: &&Asked| is_grading(asked) && asked.prompt().contains("You are about to hand in a work item");
    let judged = requests.iter().filter(by_author).filter(|asked| asked.prompt().contains("# In English") && asked.prompt().contains(WORD));
    assert!(judged.count() >= 2, "each is judged by what it is now");
    assert_eq!(requests.iter().filter(|asked| is_work(asked) && asked.tool_results() == 0).count(), 3, "nobody began again");
    let begun = |step: &&WorkItem| step.depends_on.is_empty();
    assert!(steps(&stage, &mission).await.iter().filter(begun).all(|item| item.run == 0 && item.status == WorkStatus::Done));
}

async fn words_below_a_delivery_take_it_up_again(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let (mission, go_on) = begin(&stage, |_| json!({"why": "It is never asked."})).await;
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    stage.team.model.on(|asked| {
        let again = is_work(asked) && asked.prompt().contains("the refund is missing");
        match (again, asked.tool_results()) {
            _ if is_wish(asked) => Script::Json(wants("change")),
            (true, 0) => write("result.md", &format!("# Refunds\n\nA refund takes three days. {DOCUMENT}\n")),
            (true, _) => finish("result.md"),
            _ => Play::default().answer(asked),
        }
    });
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, the refund is missing, please add it").await;
    eventually("it is taken up", || is_told(&stage, &mission, "is taken up again: 1 step goes back to its author")).await;
    comes_to(&stage, MissionStatus::Done).await;
    let last = stage.asked_about("Join both").pop().unwrap().prompt();
    assert!(last.contains("says of the delivery: kelly, the refund is missing, please add it"), "{last}");
    assert!(!stage.team.model.requests().iter().any(is_change), "no plan is changed");
    let delivered =
        async || stage.team.answers(HERE).await.iter().filter(|shown| shown.text.contains("is done. 3 of 3 steps done")).count();
    eventually("it is delivered again", || async { delivered().await == 2 }).await;
}

async fn killed_behind_a_word_to_steps_that_are_worked_on(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let finish_now = work_on(&team.model);
    let mut process = TeamProcess::start(&team, &[]).await;
    team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    eventually("two drafts", || async { count_drafts(&team.model) == 2 }).await;
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let mission = store.list_missions(5).await.unwrap().remove(0);
    let tell = async || invoke(&team, HERE, "mission", sub_command("tell", &[("id", mission.short_id()), ("text", WORD)])).await;
    let told = async || count(&team, "SELECT COUNT(*) FROM work_journal WHERE entry LIKE '%\"told\"%'").await;
    // Killed before the transaction, nothing of it is there.
    forbid(&team, "wall", "INSERT ON work_journal", "NEW.entry LIKE '%\"told\"%'").await;
    tell().await;
    process.kill();
    allow(&team, "wall").await;
    assert_eq!(told().await, 0);
    hurry(&team).await;
    process = TeamProcess::start(&team, &[]).await;
    tell().await;
    // Killed right behind it, both steps hear it when they go on.
    process.kill();
    assert_eq!(told().await, 2);
    hurry(&team).await;
    let _process = TeamProcess::start(&team, &[]).await;
    finish_now.send(true).unwrap();
    let delivered = async || team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 3 of 3 steps done"));
    eventually("it is delivered", || async { delivered().await }).await;
    assert_eq!(told().await, 2);
    let begun = |step: &WorkItem| step.depends_on.is_empty();
    for step in store.list_parts(&mission.id).await.unwrap().into_iter().filter(begun) {
        assert_eq!(step.run, 0, "{} began again: {:#?}", step.what, store.list_events(&step.id).await.unwrap());
    }
    assert!(team.model.requests().iter().any(|asked| is_work(asked) && hears_word(asked)));
    store.close().await;
}

/// The writes of a change, in this order.
const WALLS: [(&str, &str); 3] = [
    ("INSERT ON job_steps", "NEW.name = 'change-1'"),
    ("UPDATE OF plan ON missions", "NEW.plan LIKE '%Nothing is sold yet%'"),
    ("INSERT ON outbox", "NEW.id LIKE 'mission-%-change-%'"),
];

async fn killed_behind_each_stored_step_of_a_change(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let go_on = perform(&team.model, |_| json!({"why": "Nothing is sold yet.", "leave_out": ["6"]}));
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let process = TeamProcess::start(&team, &[]).await;
    team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    eventually("two steps are worked on", || async {
        count(&team, "SELECT COUNT(*) FROM work_items WHERE kind = 'step' AND status = 'in_progress'").await == 2
    })
    .await;
    let mission = store.list_missions(5).await.unwrap().remove(0);
    // One transaction decides on the message and stores the wish.
    forbid(&team, "wall", "INSERT ON jobs", "NEW.kind = 'mission.change'").await;
    say_in_thread(&team, &store, &mission, "kelly, forget the payment").await;
    eventually("it is understood", || async { team.model.requests().iter().any(is_wish) }).await;
    let mut process = process;
    for (change, when) in WALLS {
        process.kill();
        allow(&team, "wall").await;
        hurry(&team).await;
        forbid(&team, "wall", change, when).await;
        process = TeamProcess::start(&team, &[]).await;
        let stands = async || {
            count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'mission.change' AND attempts > 0 AND finished_at IS NULL").await == 1
        };
        eventually(&format!("it stands before {change} {when}"), || async { stands().await }).await;
    }
    process.kill();
    allow(&team, "wall").await;
    hurry(&team).await;
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("the plan is changed", || async {
        count(&team, "SELECT COUNT(*) FROM work_items WHERE kind = 'step' AND status = 'cancelled'").await == 1
    })
    .await;
    go_on.send(true).unwrap();
    let delivered = async || team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 2 of 2 steps done"));
    eventually("it is delivered", || async { delivered().await }).await;
    let mission = store.find_mission(&mission.id).await.unwrap().unwrap();
    assert_eq!(mission.plan.as_ref().unwrap().changes.len(), 1);
    assert_eq!(count(&team, "SELECT COUNT(*) FROM outbox WHERE id LIKE 'mission-%-change-%' AND state = 'sent'").await, 1);
    let told = thread_of(&team, &store, &mission).await;
    assert_eq!(told.iter().filter(|shown| shown.text.contains("I look at what that changes")).count(), 1, "{told:#?}");
    // The answer that the first wall kept from being stored is paid once more.
    assert_eq!(team.model.requests().iter().filter(|asked| is_change(asked)).count(), 2);
    store.close().await;
}
