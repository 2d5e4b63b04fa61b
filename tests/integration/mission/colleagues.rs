//! Personas at work on a mission ask and tell each other what their own material does not say (OVER-8), and the plan may change because of that
//! (OVER-9).

use std::time::Duration;

use kernel::agent::halts::HaltScope;
use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{Execution, WorkItem, WorkStatus};
use teamroom::features::mission::model::{Mission, MissionStatus};
use teamroom::store::Store;
use tokio::sync::watch;

use super::changes::is_change;
use super::crashes::hurry;
use super::stage::{
    HERE, Play, ROADMAP, SETTINGS, comes_to, command_text, find, hand_over, hasten, hears, open, step, steps, thread, thread_of, title_of,
};
use crate::backlog::part::is_work;
use crate::backlog::stage::{Setting, Stage};
use crate::support::database::{allow, count, forbid};
use crate::support::model::{Asked, Script, ScriptedModel};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_behind_each_stored_step_of_a_message);
on_one_store!(
    a_question_is_answered_and_the_step_goes_on_with_the_answer,
    nobody_waits_long_for_an_answer,
    who_does_not_exist_is_refused_and_who_is_paused_is_not_asked,
    a_flag_changes_the_plan_and_the_reason_is_shown,
    what_changes_nothing_is_quiet,
    the_plan_changes_five_times_because_of_messages,
    what_is_handed_over_reaches_the_next_step_of_the_receiver,
);

/// The step that sends the messages. Vince owns it.
const SENDER: &str = "Describe the payment";

fn message(to: &str, kind: &str, text: &str) -> Json {
    json!({"to": to, "kind": kind, "text": text})
}

fn is_question(asked: &Asked) -> bool {
    asked.prompt().contains("asks you something that its own material does not tell")
}

/// The model of a mission whose step sends messages before anything is written. The step begins, and later writes, as soon as each is allowed.
struct Scene {
    begin: watch::Sender<bool>,
    write: watch::Sender<bool>,
}

impl Scene {
    /// `sends`: the messages of the step with this title. `reply`: the answer to a question. `change`: the change that the planner drafts.
    fn set(
        model: &ScriptedModel,
        sends: impl Fn(&str) -> Vec<Json> + Send + Sync + 'static,
        reply: Script,
        change: impl Fn(&Asked) -> Json + Send + Sync + 'static,
    ) -> Self {
        let ((begin, may_begin), (write, may_write)) = (watch::channel(false), watch::channel(false));
        let play = Play::default();
        model.on(move |asked| {
            if is_question(asked) {
                return reply.clone();
            }
            if is_change(asked) {
                return Script::Json(change(asked));
            }
            let sent = if is_work(asked) { sends(&title_of(asked)) } else { Vec::new() };
            match sent.get(asked.tool_results()) {
                Some(message) => Script::call("message_colleague", message.clone()).when(&may_begin),
                // The play does not count the calls that sent messages.
                None if !sent.is_empty() && asked.tool_results() == sent.len() => {
                    let first = Asked { body: json!({"messages": []}), ..asked.clone() };
                    play.answer(&first).when(&may_write)
                }
                None => play.answer(asked),
            }
        });
        Self { begin, write }
    }
}

/// Only the sender's step sends these.
fn sends(messages: &[Json]) -> impl Fn(&str) -> Vec<Json> + Send + Sync + 'static {
    let messages = messages.to_vec();
    move |title| if title == SENDER { messages.clone() } else { Vec::new() }
}

fn nothing(_: &Asked) -> Json {
    json!({"why": "It is in the plan already."})
}

async fn step_of(stage: &Stage, mission: &Mission, title: &str) -> WorkItem {
    steps(stage, mission).await.into_iter().find(|item| item.what == title).unwrap()
}

async fn is_done(stage: &Stage, mission: &Mission, title: &str) -> bool {
    hasten(stage).await;
    step_of(stage, mission, title).await.status == WorkStatus::Done
}

/// A running mission. Nobody sends anything yet.
async fn begun(stage: &Stage) -> Mission {
    hand_over(stage).await;
    comes_to(stage, MissionStatus::Running).await
}

/// What the sender is told about its messages, in order.
fn results(stage: &Stage) -> Vec<String> {
    let last = stage.asked_about(SENDER).pop().unwrap();
    last.messages.iter().filter(|said| said.role == "tool").map(|said| said.text.clone()).collect()
}

async fn said_in(stage: &Stage, mission: &Mission, text: &str) -> usize {
    thread(stage, mission).await.iter().filter(|shown| shown.text.contains(text)).count()
}

async fn jobs_of_wishes(stage: &Stage) -> (i64, i64) {
    let all = "SELECT COUNT(*) FROM jobs WHERE kind = 'mission.change'";
    (count(&stage.team, all).await, count(&stage.team, &format!("{all} AND finished_at IS NOT NULL")).await)
}

async fn a_question_is_answered_and_the_step_goes_on_with_the_answer(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let question = message("Eliza", "question", "Which currency does the cart show?");
    let scene = Scene::set(&stage.team.model, sends(&[question]), Script::say("In euros, by my result."), nothing);
    let mission = begun(&stage).await;
    eventually("the cart is described", || is_done(&stage, &mission, "Describe the cart")).await;
    scene.begin.send(true).unwrap();
    scene.write.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;

    let asked: Vec<Asked> = stage.team.model.requests().into_iter().filter(is_question).collect();
    assert_eq!(asked.len(), 1);
    let prompt = asked[0].prompt();
    assert!(asked[0].system.contains("Eliza") && asked[0].tools.is_empty(), "{}", asked[0].system);
    for known in
        ["Your colleague Vince", "Tea shop", "Describe the payment: in full", "The cart holds what somebody wants", "Which currency"]
    {
        assert!(prompt.contains(known), "{known}: {prompt}");
    }
    let told = &results(&stage)[0];
    assert!(told.contains("| result of message_colleague>>\nEliza answers:\nIn euros, by my result."), "{told}");
    let shown: Vec<_> = thread(&stage, &mission).await.into_iter().filter(|shown| shown.text.contains("Which currency")).collect();
    assert_eq!(shown.len(), 1, "{shown:#?}");
    let text = "**Vince → Eliza** (question): Which currency does the cart show?\n**Eliza**: In euros, by my result.";
    assert_eq!((shown[0].author.as_str(), shown[0].text.as_str()), ("Vince", text));
    let status = command_text(&stage, "status", &[("id", mission.short_id())]).await;
    assert!(status.contains("1 message between colleagues so far; the thread has it."), "{status}");
    let payment = step_of(&stage, &mission, SENDER).await;
    let paid = format!("SELECT COUNT(*) FROM ledger WHERE persona = 'eliza' AND subject = '{}'", payment.id);
    assert_eq!(count(&stage.team, &paid).await, 1, "the mission pays what Eliza says");
    let said = thread(&stage, &mission).await;
    assert!(said.iter().all(|shown| shown.raw["mentions"].as_array().is_none_or(Vec::is_empty)), "{said:#?}");

    stage.put(&[&stage.item("Write a note about tea", "", Execution::Write)]).await;
    eventually("somebody works on it", || async { !stage.asked_about("Write a note").is_empty() }).await;
    assert!(!stage.asked_about("Write a note")[0].tools.iter().any(|tool| tool == "message_colleague"), "only missions have it");
}

async fn nobody_waits_long_for_an_answer(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let question = message("Echo", "question", "How long is the specification?");
    let scene = Scene::set(&stage.team.model, sends(&[question]), Script::Hang, nothing);
    scene.begin.send(true).unwrap();
    scene.write.send(true).unwrap();
    let mission = begun(&stage).await;
    eventually("Echo is asked", || async { stage.team.model.requests().iter().any(is_question) }).await;
    eventually("the deadline passes", || async {
        // Advances time in small steps, because the lease of a job would run out.
        stage.clock.advance(Duration::from_secs(1));
        said_in(&stage, &mission, "**Vince → Echo** (question): How long is the specification?\n**Echo**: No answer").await == 1
    })
    .await;
    comes_to(&stage, MissionStatus::Done).await;
    let told = &results(&stage)[0];
    assert!(told.contains("No answer from Echo: there was none in time. Go on with an assumption, and say so"), "{told}");
    assert_eq!(said_in(&stage, &mission, "**Vince → Echo**").await, 1);
}

async fn who_does_not_exist_is_refused_and_who_is_paused_is_not_asked(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    stage.store.halt(&HaltScope::Persona("sentinel".into()), "Ann", stage.clock.now()).await.unwrap();
    let messages = [message("Zaphod", "flag", "Something is wrong."), message("Sentinel", "question", "Is it safe?")];
    let scene = Scene::set(&stage.team.model, sends(&messages), Script::say("Yes."), nothing);
    scene.begin.send(true).unwrap();
    scene.write.send(true).unwrap();
    let mission = begun(&stage).await;
    comes_to(&stage, MissionStatus::Done).await;
    let told = results(&stage);
    assert!(told[0].contains("Not sent: nobody on the team is called \"Zaphod\". The team: "), "{}", told[0]);
    assert!(told[1].contains("No answer from Sentinel: it is paused. Go on with an assumption"), "{}", told[1]);
    assert!(!stage.team.model.requests().iter().any(is_question));
    assert_eq!((said_in(&stage, &mission, "Something is wrong").await, jobs_of_wishes(&stage).await), (0, (0, 0)));
    assert_eq!(said_in(&stage, &mission, "**Vince → Sentinel** (question): Is it safe?").await, 1);
}

async fn a_flag_changes_the_plan_and_the_reason_is_shown(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let flag = message("eliza", "flag", "Invoices need an address, and no step asks for it.");
    let change =
        |_: &Asked| json!({"why": "Invoices need an address.", "add": [step("address", "Describe the address form", "solus", &[], &[])]});
    let scene = Scene::set(&stage.team.model, sends(&[flag]), Script::say("No."), change);
    scene.begin.send(true).unwrap();
    let mission = begun(&stage).await;
    let changed = "The plan is changed after a message from Vince. Invoices need an address.\n- New: \"Describe the address form\"\n\
                   - Changed: \"Join both to one specification\"";
    eventually("the plan is changed", || async { said_in(&stage, &mission, changed).await == 1 }).await;
    scene.write.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 4 of 4 steps done").await;
    assert_eq!(said_in(&stage, &mission, "**Vince → Eliza** (flag): Invoices need an address, and no step asks for it.").await, 1);
    let told = &results(&stage)[0];
    assert_eq!(told, "Sent. Whether the plan changes is decided apart from you. Go on with your own step.");
    let drafts: Vec<String> = stage.team.model.requests().iter().filter(|asked| is_change(asked)).map(Asked::prompt).collect();
    assert_eq!(drafts.len(), 1);
    assert!(
        drafts[0].contains("Vince, who works on one of its steps") && drafts[0].contains("| flag to Eliza>>\nInvoices need"),
        "{}",
        drafts[0]
    );
    let plan = find(&stage).await.plan.unwrap();
    assert_eq!((plan.count_changes(true), plan.count_changes(false)), (1, 0));
}

async fn what_changes_nothing_is_quiet(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    // Eliza has no open step left that could get something.
    let messages = [message("Eliza", "suggestion", "Say pounds, too."), message("Eliza", "hand_over", "Here is my list.")];
    // A message cannot change a step that has begun.
    let change = |asked: &Asked| {
        let prompt = asked.prompt();
        if prompt.contains("suggestion to Eliza") {
            return nothing(asked);
        }
        let begun = prompt.split("Step \"Describe the payment").next().unwrap().rsplit("id ").next().unwrap()[..6].to_owned();
        json!({"why": "It is not needed.", "drop": [begun]})
    };
    let scene = Scene::set(&stage.team.model, sends(&messages), Script::say("No."), change);
    let mission = begun(&stage).await;
    eventually("the cart is described", || is_done(&stage, &mission, "Describe the cart")).await;
    scene.begin.send(true).unwrap();
    eventually("both messages were looked at", || async { jobs_of_wishes(&stage).await == (2, 2) }).await;
    scene.write.send(true).unwrap();
    let done = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert!(done.plan.unwrap().changes.is_empty());
    for text in ["**Vince → Eliza** (suggestion): Say pounds, too.", "**Vince → Eliza** (hand-over): Here is my list."] {
        assert_eq!(said_in(&stage, &mission, text).await, 1, "{text}");
    }
    for text in ["The plan is changed", "The plan stays", "I cannot change", "Eliza gets"] {
        assert_eq!(said_in(&stage, &mission, text).await, 0, "{text}");
    }
    let drafts: Vec<Asked> = stage.team.model.requests().into_iter().filter(is_change).collect();
    assert_eq!(drafts.len(), 3, "the refused one was drafted twice");
    let again = drafts.iter().map(Asked::prompt).find(|prompt| prompt.contains("Your last change was refused")).unwrap();
    assert!(again.contains("\"Describe the payment\" has begun, so it stays as it is"), "{again}");
}

async fn the_plan_changes_five_times_because_of_messages(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let sends = |title: &str| {
        let flag = |number: usize| message("Oracle", "flag", &format!("{title} has fault {number}."));
        if title.starts_with("Describe") { (0..3).map(flag).collect() } else { Vec::new() }
    };
    let change = |asked: &Asked| {
        let prompt = asked.prompt();
        let last = prompt.split("Step \"Join both").next().unwrap().rsplit("id ").next().unwrap()[..6].to_owned();
        json!({"why": "A fault was found.", "edit": [{"step": last, "instructions": format!("Join both, and mend fault {}.", asked.number)}]})
    };
    let scene = Scene::set(&stage.team.model, sends, Script::say("No."), change);
    scene.begin.send(true).unwrap();
    let mission = begun(&stage).await;
    eventually("all flags were looked at", || async {
        hasten(&stage).await;
        jobs_of_wishes(&stage).await == (6, 6)
    })
    .await;
    let plan = find(&stage).await.plan.unwrap();
    assert_eq!((plan.changes.len(), plan.count_changes(true)), (5, 5), "{:#?}", plan.changes);
    scene.write.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    eventually("all changes are shown", || async { said_in(&stage, &mission, "The plan is changed after a message").await == 5 }).await;
    assert_eq!(said_in(&stage, &mission, "(flag): Describe the").await, 6);
}

async fn what_is_handed_over_reaches_the_next_step_of_the_receiver(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let given = message("Echo", "hand_over", "An invoice needs the tax number of the buyer.");
    let scene = Scene::set(&stage.team.model, sends(&[given]), Script::say("No."), nothing);
    scene.begin.send(true).unwrap();
    let mission = begun(&stage).await;
    let told = "Echo gets what Vince hands over with the step \"Join both to one specification\".";
    eventually("it is handed over", || async { said_in(&stage, &mission, told).await == 1 }).await;
    scene.write.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    let last = stage.asked_about("Join both").pop().unwrap().prompt();
    assert_eq!(last.matches("Vince hands over: An invoice needs the tax number of the buyer.").count(), 1, "{last}");
    assert!(!stage.asked_about("Describe the cart").pop().unwrap().prompt().contains("hands over"));
    assert!(results(&stage)[0].contains("Sent. The next step of Echo gets it."), "{:?}", results(&stage));
    assert!(!stage.team.model.requests().iter().any(is_change), "nobody has to plan for that");
    assert_eq!(find(&stage).await.plan.unwrap().changes.len(), 0);
}

/// The writes because of a question, a flag and a hand-over, in this order, each with the rows that show that the process stands before it.
const WALLS: [(&str, &str, &str); 6] = [
    (
        "INSERT ON work_journal",
        "NEW.entry LIKE '%\"consulted\"%\"replied\"%'",
        "FROM work_journal WHERE entry LIKE '%\"consulted\"%\"asked\"%'",
    ),
    ("INSERT ON outbox", "NEW.id LIKE 'mission-%-message-%-0'", "FROM work_journal WHERE entry LIKE '%\"consulted\"%\"replied\"%'"),
    ("INSERT ON work_journal", "NEW.entry LIKE '%\"returned\"%In euros.%'", "FROM outbox WHERE id LIKE 'mission-%-message-%-0'"),
    ("INSERT ON jobs", "NEW.kind = 'mission.change'", "FROM work_journal WHERE entry LIKE '%\"replied\"%\"flag\"%'"),
    (
        "INSERT ON work_journal",
        "NEW.entry LIKE '%\"returned\"%Whether the plan changes%'",
        // The planner, who works beside the sender, has looked at the flag.
        "FROM outbox WHERE id LIKE 'mission-%-message-%-1'
         AND EXISTS (SELECT 1 FROM jobs WHERE kind = 'mission.change' AND finished_at IS NOT NULL)",
    ),
    (
        "UPDATE OF plan ON missions",
        "NEW.plan LIKE '%hands over%'",
        "FROM jobs WHERE kind = 'mission.change' AND attempts > 0 AND finished_at IS NULL",
    ),
];

async fn killed_behind_each_stored_step_of_a_message(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let messages = [
        message("Eliza", "question", "Which currency does the cart show?"),
        message("Eliza", "flag", "Invoices need an address."),
        message("Echo", "hand_over", "The list of ways to pay."),
    ];
    let scene = Scene::set(&team.model, sends(&messages), Script::say("In euros."), nothing);
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let mut process = TeamProcess::start(&team, &[]).await;
    team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    let at_work = format!("SELECT COUNT(*) FROM work_items WHERE what = '{SENDER}' AND status = 'in_progress'");
    eventually("the sender works", || async { count(&team, &at_work).await == 1 }).await;
    for (number, (change, when, stands)) in WALLS.into_iter().enumerate() {
        process.kill();
        if number > 0 {
            for name in ["wall", "hold", "keep"] {
                allow(&team, name).await;
            }
        }
        hurry(&team).await;
        forbid(&team, "wall", change, when).await;
        // The run of the sender stays with the process until that dies.
        let held = format!("OLD.what = '{SENDER}' AND OLD.status = 'in_progress' AND NEW.status <> 'in_progress'");
        forbid(&team, "hold", "UPDATE OF status ON work_items", &held).await;
        let kept = format!(
            "OLD.id = (SELECT job FROM work_items WHERE what = '{SENDER}') AND OLD.state = 'running' AND NEW.state <> 'running'
             AND NEW.suspicions <= OLD.suspicions"
        );
        forbid(&team, "keep", "UPDATE OF state ON jobs", &kept).await;
        scene.begin.send_replace(true);
        process = TeamProcess::start(&team, &[]).await;
        eventually(&format!("it stands before {change} {when}"), || async {
            count(&team, &format!("SELECT COUNT(*) {stands}")).await == 1
        })
        .await;
        // Gives work in progress time to reach the wall.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    process.kill();
    for name in ["wall", "hold", "keep"] {
        allow(&team, name).await;
    }
    hurry(&team).await;
    let _process = TeamProcess::start(&team, &[]).await;
    let finished = "SELECT COUNT(*) FROM jobs WHERE kind = 'mission.change' AND finished_at IS NOT NULL";
    eventually("both wishes are looked at", || async { count(&team, finished).await == 2 }).await;
    scene.write.send(true).unwrap();
    let delivered = async || team.answers(HERE).await.iter().any(|shown| shown.text.contains("is done. 3 of 3 steps done"));
    eventually("it is delivered", || async { delivered().await }).await;

    let mission = store.list_missions(5).await.unwrap().remove(0);
    let told = thread_of(&team, &store, &mission).await;
    for text in
        ["**Vince → Eliza** (question)", "**Vince → Eliza** (flag)", "**Vince → Echo** (hand-over)", "Echo gets what Vince hands over"]
    {
        assert_eq!(told.iter().filter(|shown| shown.text.contains(text)).count(), 1, "{text}: {told:#?}");
    }
    assert_eq!(count(&team, "SELECT COUNT(*) FROM events WHERE topic = 'mission' AND kind = 'message'").await, 3);
    let asked = |is: fn(&Asked) -> bool| team.model.requests().iter().filter(|asked| is(asked)).count();
    // The answer that the first wall kept from being stored is paid once more.
    assert_eq!((asked(is_question), asked(is_change)), (2, 1));
    assert_eq!(count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'mission.change'").await, 2);
    let parts = store.list_parts(&mission.id).await.unwrap();
    let joined = parts.iter().find(|item| item.what.starts_with("Join both")).unwrap();
    assert_eq!(joined.how.matches("Vince hands over: The list of ways to pay.").count(), 1, "{}", joined.how);
    let payment = parts.iter().find(|item| item.what == SENDER).unwrap();
    assert_eq!(payment.run, 0, "it was one run");
    store.close().await;
}
