//! Results that are rejected again and again: reviews are rows, and what their author should do differently is drafted, decided on, told and taken
//! back (WORK-28).

use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::TimeDelta;
use kernel::events::Audience;
use kernel::llm::settings::{ModelSettings, ProviderKind};
use kernel::time::{Clock as _, SystemClock};
use secrecy::ExposeSecret;
use serde_json::{Value as Json, json};
use teamroom::app::{people, personal};
use teamroom::features::backlog::learning::amendment::{Amendment, AmendmentStatus};
use teamroom::features::backlog::model::{Execution, FilePlace, Judge, Origin, Owner, Scores, WorkItem, WorkStatus};
use teamroom::features::backlog::settings::Amendments;
use teamroom::store::Store;

use super::part::{DOCUMENT, finish, is_work, what, write};
use super::stage::{Setting, Stage};
use crate::support::command::{invoke, press, sub_command, text};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::grading::{all_met, is_grading, not_met};
use crate::support::model::{Asked, Script, ScriptedModel};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_around_each_stored_step_of_an_amendment);
on_one_store!(
    a_review_is_kept_with_its_scores_and_the_places_of_its_findings,
    five_rejections_are_learnt_from_and_it_is_taken_back,
    on_no_everything_stays_as_it_is,
    only_operators_decide_what_a_persona_is_told,
    nothing_is_drafted_from_what_is_private_or_where_the_settings_say_so,
    without_a_model_nothing_is_drafted,
    a_draft_that_is_refused_twice_is_told_in_the_list,
);

const OPS: &str = "ops";
const HABIT: &str = "You name the page of each price before you hand in.";
const SECOND: &str = "You add the date of each price.";
const LINK: &str = "You read https://a.example/rules first.";
const MISSING: &str = "The price of B has no page.";

fn is_draft(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("habits"))
}

/// Writes documents, rejects those that compare something, and gives the drafts in their order.
fn perform(model: &ScriptedModel, drafts: [&'static [&'static str]; 2]) {
    model.on(move |asked| answer(asked, drafts));
}

/// Each try gives another draft: the same one would not be judged again.
static DRAFTS: AtomicUsize = AtomicUsize::new(0);

fn answer(asked: &Asked, drafts: [&[&str]; 2]) -> Script {
    if is_draft(asked) {
        if asked.prompt().contains("is told by now for this kind of work") {
            return Script::Json(json!({ "habits": [HABIT, SECOND] }));
        }
        let again = asked.prompt().contains("Your last draft was refused");
        return Script::Json(json!({ "habits": drafts[usize::from(again)] }));
    }
    if is_grading(asked) {
        let mut verdict = if asked.prompt().contains("What: Compare") { not_met(asked, MISSING) } else { all_met(asked) };
        if let Some(grade) = verdict["grades"].get_mut(0) {
            grade["place"] = json!("Shop B asks **$12**");
        }
        return Script::Json(verdict);
    }
    if asked.schema.is_some() {
        return Script::Json(json!({"execution": "write", "verdict": "answers"}));
    }
    if !is_work(asked) {
        return Script::say("It goes well.");
    }
    match asked.tool_results() {
        0 => write("prices.md", &format!("{DOCUMENT}\nDraft {}.\n", DRAFTS.fetch_add(1, Ordering::Relaxed))),
        _ => finish("prices.md"),
    }
}

/// A team whose items are tried five times, so that one item gives enough rejections.
async fn open(setting: Setting, drafts: [&'static [&'static str]; 2]) -> Stage {
    let stage = setting.configure(|config| config.backlog.attempts = 5).with_model().open().await;
    perform(&stage.team.model, drafts);
    stage
}

fn document(stage: &Stage, what: &str) -> WorkItem {
    WorkItem { criteria: vec!["Each price has its page".into(), "Two shops".into()], ..stage.item(what, "", Execution::Write) }
}

/// Has an item rejected until a person has to decide.
async fn reject(stage: &Stage, what: &str) -> WorkItem {
    let item = document(stage, what);
    stage.put(&[&item]).await;
    stage.comes_to(&item.id, WorkStatus::Waiting).await
}

async fn amendments(store: &Store) -> Vec<Amendment> {
    store.list_amendments(None).await.unwrap()
}

/// The events of an amendment in the log.
async fn events(store: &Store, amendment: &Amendment) -> Vec<String> {
    let events = store.list_events_of(amendment.id.as_str(), &Audience::Team).await.unwrap();
    assert!(events.iter().all(|event| event.topic == "amendment" && event.text("persona") == Some("eliza")), "{events:#?}");
    events.into_iter().map(|event| event.kind).collect()
}

async fn comes_to(store: &Store, status: AmendmentStatus) -> Amendment {
    let found = async || amendments(store).await.into_iter().rfind(|amendment| amendment.status == status);
    eventually(&format!("{status:?}"), || async { found().await.is_some() }).await;
    found().await.unwrap()
}

async fn hears(team: &TestTeam, text: &str) -> Shown {
    let said = async || team.answers(OPS).await.into_iter().rfind(|shown| shown.text.contains(text));
    eventually(text, || async { said().await.is_some() }).await;
    said().await.unwrap()
}

async fn press_on(team: &TestTeam, message: &Shown, label: &str) {
    press(team, OPS, message, |button| button["label"] == label).await;
}

async fn command(stage: &Stage, name: &str, options: &[(&str, &str)]) -> String {
    text(&invoke(&stage.team, OPS, "team", sub_command(name, options)).await).to_owned()
}

/// Whether the runs of items with this word were told the habit.
fn were_told(stage: &Stage, word: &str) -> Vec<bool> {
    let asked = stage.team.model.requests().into_iter().filter(|asked| is_work(asked) && what(asked).contains(word));
    asked.filter(|asked| asked.tool_results() == 0).map(|asked| asked.system.contains(HABIT)).collect()
}

async fn a_review_is_kept_with_its_scores_and_the_places_of_its_findings(backing: Backing) {
    let setting = Setting::on(backing).configure(|config| config.backlog.amendments = Amendments::Never);
    let stage = open(setting, [&[HABIT]; 2]).await;
    let item = reject(&stage, "Compare the prices").await;
    let reviews = stage.store.list_reviews(&item.id).await.unwrap();
    assert_eq!(reviews.iter().map(|review| (review.number, review.run)).collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]);
    let first = &reviews[0];
    assert_eq!((first.author.clone(), first.accepted), (Some("eliza".into()), false));
    assert!(matches!(&first.by, Judge::Persona(by) if by.as_str() != "eliza"), "{first:?}");
    assert_eq!(first.scores, Some(Scores { depth: 3, accuracy: 4, actionability: 4, completeness: 3 }));
    assert_eq!(first.note, format!("1 of 2 criteria not met\n1. Each price has its page: {MISSING}"));
    let [missing, met] = &first.findings[..] else { panic!("{first:#?}") };
    assert_eq!((missing.met, missing.text.as_str(), met.met), (false, MISSING, true));
    assert_eq!(missing.place, Some(FilePlace { file: "prices.md".into(), line: 3 }));
    assert!(item.wait.as_ref().is_some_and(|wait| wait.describe().contains("it was rejected 5 times")));

    // A person accepts the result all the same. The review has their account and is shown in the same place.
    stage.press("it was rejected 5 times", "Accept as it is").await;
    let person = &stage.team.sandbox().people()[0];
    let last = stage.store.list_reviews(&item.id).await.unwrap().remove(5);
    assert_eq!((last.accepted, last.by, last.findings.len()), (true, Judge::Person(person.name.clone()), 0));
    let reviewer = format!("SELECT COUNT(*) FROM reviews WHERE reviewer = 'person:{}'", stage.team.person_id(0));
    assert_eq!(count(&stage.team, &reviewer).await, 1);
    let shown = ["**Reviews**", "did not accept attempt 5", "(prices.md, line 3)", &format!("{} accepted attempt 5", person.name)];
    stage.shows(&item, &shown).await;
    assert!(amendments(&stage.store).await.is_empty(), "the settings say never");

    // Forgetting a person removes their name from reviews, and the reviews go with the history of the item.
    let (config, now) = (&stage.team.config, stage.clock.now());
    let known = people(config, &stage.store).directory().await.unwrap().find(&person.name).unwrap();
    personal::forget_person(&stage.store, (config, &stage.team.roster), &known, now).await.unwrap();
    assert_eq!(count(&stage.team, &reviewer).await, 0);
    assert_eq!(stage.store.list_reviews(&item.id).await.unwrap()[5].by, Judge::Person("somebody".into()));
    stage.store.delete_work_before(now + TimeDelta::days(400), 9).await.unwrap();
    assert!(stage.store.list_reviews(&item.id).await.unwrap().is_empty());
}

async fn five_rejections_are_learnt_from_and_it_is_taken_back(backing: Backing) {
    let stage = open(Setting::on(backing), [&[LINK], &[HABIT]]).await;
    reject(&stage, "Compare the prices").await;
    let offer = hears(&stage.team, "could learn").await;
    let of = comes_to(&stage.store, AmendmentStatus::Offered).await;
    assert_eq!((of.persona.as_str(), of.version, of.reasons.len()), ("eliza", 1, 5));
    assert!(offer.text.contains(&format!("```diff\n+ {HABIT}\n```")) && offer.text.contains(MISSING), "{}", offer.text);
    let drafts: Vec<_> = stage.team.model.requests().into_iter().filter(is_draft).collect();
    assert_eq!(drafts.len(), 2);
    assert!(drafts[0].prompt().contains(MISSING) && drafts[1].prompt().contains("habit 1 contains ://"), "{drafts:#?}");
    let listed = command(&stage, "amendments", &[]).await;
    assert!(listed.contains("**Eliza, writing** (version 1): waits for an operator"), "{listed}");

    press_on(&stage.team, &offer, "Use it").await;
    let used = comes_to(&stage.store, AmendmentStatus::Used).await;
    assert_eq!(used.decided_by.as_deref(), Some(stage.team.sandbox().people()[0].name.as_str()));
    hears(&stage.team, "said yes: Eliza works with it from the next task in writing on.").await;
    // The habit is told for this kind of work, and to no other persona.
    let other =
        |what: &str, execution: Execution, owner: &str| WorkItem { owner: Owner::Persona(owner.into()), ..stage.item(what, "", execution) };
    let items = [
        other("Describe the yard", Execution::Write, "eliza"),
        other("Build the gate", Execution::Build, "eliza"),
        other("Describe the roof", Execution::Write, "vince"),
    ];
    stage.put(&items.each_ref()).await;
    for item in &items {
        stage.until(&item.id, "tried", |item| item.run > 0 || item.status.is_over() || item.status == WorkStatus::InReview).await;
    }
    assert!(were_told(&stage, "yard").iter().all(|told| *told) && !were_told(&stage, "yard").is_empty());
    for word in ["gate", "roof", "prices"] {
        assert!(were_told(&stage, word).iter().all(|told| !told) && !were_told(&stage, word).is_empty(), "{word}");
    }

    // Five more, with it in mind.
    reject(&stage, "Compare other prices").await;
    let offer = hears(&stage.team, SECOND).await;
    assert!(offer.text.contains(&format!("```diff\n  {HABIT}\n+ {SECOND}\n```")), "{}", offer.text);
    press_on(&stage.team, &offer, "Use it").await;
    // Waits for the answer to the button, so that the answers to the commands below can be told apart from it.
    let answers = async || stage.team.answers(OPS).await.iter().filter(|shown| shown.text.contains("said yes")).count();
    eventually("both are used", || async { answers().await == 2 }).await;
    let whole = command(&stage, "amendments", &[("persona", "Eliza")]).await;
    assert!(whole.contains(&format!("+ {HABIT}")) && whole.contains("(version 1): replaced by a later version"), "{whole}");
    let reverted = command(&stage, "revert", &[("persona", "Eliza"), ("kind", "write")]).await;
    assert!(reverted.ends_with("took back version 2 of what Eliza had learnt in writing. Eliza works with version 1 again."), "{reverted}");
    let reverted = command(&stage, "revert", &[("persona", "Eliza"), ("kind", "write")]).await;
    assert!(
        reverted.ends_with("took back version 1 of what Eliza had learnt in writing. Eliza works as the persona file says."),
        "{reverted}"
    );
    let again = command(&stage, "revert", &[("persona", "Eliza"), ("kind", "write")]).await;
    assert_eq!(again, "Eliza has learnt nothing in writing that could be taken back.");
    let later = document(&stage, "Describe the cellar");
    stage.put(&[&later]).await;
    stage.comes_to(&later.id, WorkStatus::Done).await;
    assert!(were_told(&stage, "cellar").iter().all(|told| !told));
    let statuses: Vec<_> = amendments(&stage.store).await.into_iter().map(|amendment| amendment.status).collect();
    assert_eq!(statuses, [AmendmentStatus::Reverted; 2]);
    for amendment in amendments(&stage.store).await {
        assert_eq!(events(&stage.store, &amendment).await, ["drafted", "used", "reverted"]);
    }
}

async fn on_no_everything_stays_as_it_is(backing: Backing) {
    let stage = open(Setting::on(backing), [&[HABIT]; 2]).await;
    reject(&stage, "Compare the prices").await;
    let offer = hears(&stage.team, "could learn").await;
    press_on(&stage.team, &offer, "No").await;
    let declined = comes_to(&stage.store, AmendmentStatus::Declined).await;
    assert_eq!(events(&stage.store, &declined).await, ["drafted", "declined"]);
    hears(&stage.team, "said no: Eliza goes on as before.").await;
    // The same rejections are not counted again. Five others are.
    reject(&stage, "Compare other prices").await;
    let second = comes_to(&stage.store, AmendmentStatus::Offered).await;
    assert_eq!((second.version, second.reasons.len()), (2, 5));
    assert!(second.reasons.iter().all(|reason| reason.starts_with("Compare other prices")), "{second:#?}");
    assert!(were_told(&stage, "prices").iter().all(|told| !told));
}

async fn only_operators_decide_what_a_persona_is_told(backing: Backing) {
    let setting = Setting::on(backing).configure(|config| config.chat.operators = vec!["nobody".into()]);
    let stage = open(setting, [&[HABIT]; 2]).await;
    reject(&stage, "Compare the prices").await;
    let offer = hears(&stage.team, "could learn").await;
    for label in ["Use it", "No"] {
        press_on(&stage.team, &offer, label).await;
    }
    let refused = async || stage.team.answers(OPS).await.iter().filter(|shown| shown.text.contains("Only operators decide")).count();
    eventually("both are refused", || async { refused().await == 2 }).await;
    let refused = command(&stage, "revert", &[("persona", "Eliza"), ("kind", "write")]).await;
    assert!(refused.starts_with("Only operators can do that"), "{refused}");
    comes_to(&stage.store, AmendmentStatus::Offered).await;
}

async fn nothing_is_drafted_from_what_is_private_or_where_the_settings_say_so(backing: Backing) {
    let stage = open(Setting::on(backing), [&[HABIT]; 2]).await;
    let private = WorkItem { private_to: Some(stage.team.channel_id("general")), ..document(&stage, "Compare the prices") };
    stage.put(&[&private]).await;
    stage.comes_to(&private.id, WorkStatus::Waiting).await;
    assert_eq!(stage.store.list_reviews(&private.id).await.unwrap().len(), 5);
    assert!(amendments(&stage.store).await.is_empty());
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM reviews WHERE skill IS NOT NULL").await, 0);
}

async fn without_a_model_nothing_is_drafted(backing: Backing) {
    let mut stage = open(Setting::on(backing), [&[HABIT]; 2]).await;
    forbid(&stage.team, "wall", "INSERT ON job_steps", "NEW.name = 'draft-1'").await;
    reject(&stage, "Compare the prices").await;
    comes_to(&stage.store, AmendmentStatus::Drafting).await;
    stage.team.stop_app().await;
    allow(&stage.team, "wall").await;
    let asked = stage.team.model.requests().iter().filter(|asked| is_draft(asked)).count();
    execute(
        &stage.team,
        "UPDATE jobs SET state = 'ready', holder = NULL, attempts = 0, run_at = '2026-01-01T00:00:00+00:00' WHERE kind = 'persona.amend'",
    )
    .await;
    stage.team.config.models = ModelSettings::default();
    stage.team.start_app().await;
    let waits = "SELECT COUNT(*) FROM jobs WHERE kind = 'persona.amend' AND finished_at IS NULL AND run_at > '2026-01-02T00:00:00+00:00'";
    eventually("the draft waits for a model", || async { count(&stage.team, waits).await == 1 }).await;
    let all = amendments(&stage.store).await;
    assert_eq!((all.len(), all[0].status, all[0].text.as_ref()), (1, AmendmentStatus::Drafting, None));
    assert_eq!(events(&stage.store, &all[0]).await, Vec::<String>::new());
    assert_eq!(stage.team.model.requests().iter().filter(|asked| is_draft(asked)).count(), asked);
    assert!(stage.team.answers(OPS).await.iter().all(|shown| !shown.text.contains("could learn")));
}

async fn a_draft_that_is_refused_twice_is_told_in_the_list(backing: Backing) {
    let stage = open(Setting::on(backing), [&[LINK], &[]]).await;
    reject(&stage, "Compare the prices").await;
    let failed = comes_to(&stage.store, AmendmentStatus::Failed).await;
    assert_eq!(failed.why.as_deref(), Some("it has 0 habits. It needs 1 to 6"));
    let listed = command(&stage, "amendments", &[("persona", "Eliza")]).await;
    assert!(listed.contains("could not be drafted: it has 0 habits"), "{listed}");
    assert!(stage.team.answers(OPS).await.iter().all(|shown| !shown.text.contains("could learn")));
}

const SETTINGS: &str = r#"
[backlog]
attempts = 5
every = "1s"
[jobs]
crash_pause = "0s"
[chat]
operators = ["*"]
"#;

/// The writes of an amendment until it is offered, in this order.
const WALLS: [(&str, &str); 3] = [
    ("INSERT ON amendments", "1 = 1"),
    ("INSERT ON job_steps", "NEW.name = 'draft-1'"),
    ("UPDATE OF status ON amendments", "NEW.status = 'offered'"),
];

/// The output of a command in a process of its own.
async fn teamroom(team: &TestTeam, args: &[&str]) -> Json {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.args(args).arg("--json").current_dir(team.dir.path()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("DATABASE_URL", team.config.database_url.expose_secret());
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Resets the open jobs as if they had never been tried. No process runs meanwhile.
async fn hurry(team: &TestTeam) {
    let reset = "state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0, run_at = '2026-01-01T00:00:00+00:00'";
    execute(team, &format!("UPDATE jobs SET {reset} WHERE finished_at IS NULL")).await;
}

async fn killed_around_each_stored_step_of_an_amendment(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    perform(&team.model, [&[HABIT]; 2]);
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let item = WorkItem {
        execution: Some(Execution::Write),
        criteria: vec!["Each price has its page".into(), "Two shops".into()],
        channel: Some(team.channel_id("general")),
        ..WorkItem::new("Compare the prices", Owner::Persona("eliza".into()), Origin::CommandLine, SystemClock.now())
    };
    store.insert_items(std::slice::from_ref(&item), SystemClock.now()).await.unwrap();
    for (change, when) in WALLS {
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        let kind = if change.contains("INSERT ON amendments") { "item.review" } else { "persona.amend" };
        let stands = async || {
            let of_kind = format!("SELECT COUNT(*) FROM jobs WHERE kind = '{kind}' AND attempts > 0 AND finished_at IS NULL");
            let reviews = store.list_reviews(&item.id).await.unwrap().len();
            count(&team, &of_kind).await == 1 && reviews == if kind == "item.review" { 4 } else { 5 }
        };
        eventually(&format!("it stands before {change}"), || async { stands().await }).await;
        process.kill();
        allow(&team, "wall").await;
        hurry(&team).await;
    }
    let process = TeamProcess::start(&team, &[]).await;
    let offer = hears(&team, "could learn").await;
    comes_to(&store, AmendmentStatus::Offered).await;

    // The button is pressed, but the decision cannot be stored.
    forbid(&team, "wall", "UPDATE OF status ON amendments", "NEW.status = 'used'").await;
    press_on(&team, &offer, "Use it").await;
    hears(&team, "the database is not responding").await;
    process.kill();
    allow(&team, "wall").await;
    comes_to(&store, AmendmentStatus::Offered).await;
    let _process = TeamProcess::start(&team, &[]).await;
    press_on(&team, &offer, "Use it").await;
    comes_to(&store, AmendmentStatus::Used).await;

    let all = amendments(&store).await;
    assert_eq!((all.len(), all[0].reasons.len(), all[0].version), (1, 5, 1), "{all:#?}");
    assert_eq!(store.list_reviews(&item.id).await.unwrap().len(), 5);
    assert_eq!(team.answers(OPS).await.iter().filter(|shown| shown.text.contains("could learn")).count(), 1);
    // The draft that was not stored is paid once more.
    assert_eq!(team.model.requests().iter().filter(|asked| is_draft(asked)).count(), 2);

    // While the team runs, the command line shows the whole amendment and reverts it.
    let shown = teamroom(&team, &["backlog", "show", item.short_id()]).await;
    assert_eq!(shown["reviews"].as_array().map(Vec::len), Some(5), "{shown}");
    assert_eq!(shown["reviews"][4]["findings"][0]["place"], json!({"file": "prices.md", "line": 3}));
    let listed = teamroom(&team, &["team", "amendments"]).await;
    assert_eq!((listed["amendments"][0]["status"].as_str(), listed["amendments"][0]["skill"].as_str()), (Some("used"), Some("write")));
    let reverted = teamroom(&team, &["team", "revert", "eliza", "write"]).await;
    assert_eq!((reverted["reverted"]["version"].as_u64(), reverted["used"].is_null()), (Some(1), true));
    assert_eq!(store.find_amendment_in_use(&"eliza".into(), Execution::Write.kind()).await.unwrap(), None);
    store.close().await;
}
