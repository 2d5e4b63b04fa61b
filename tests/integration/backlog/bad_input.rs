//! Invalid items, and changes during work.

use std::time::Duration;

use kernel::ids::{MeetingId, WorkItemId};
use kernel::persona::roster::Roster;
use serde_json::json;
use teamroom::features::backlog::model::{Execution, Origin, Owner, Urgency, Wait, WorkItem, WorkStatus};

use super::part::{DOCUMENT, Part, Play, finish, is_work, write};
use super::stage::{HERE, Setting, Stage};
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    what_nobody_owns_is_not_added,
    what_ends_with_others_is_told_in_a_few_lines,
    a_persona_is_not_only_told_of_its_own_work,
    ten_thousand_items_keep_nobody_from_what_is_urgent,
    what_came_in_one_go_has_its_place_soon,
    an_item_that_is_edited_while_it_runs_is_done_as_it_reads_now,
    the_work_of_a_persona_that_has_left_goes_to_the_coordinator,
);

async fn what_nobody_owns_is_not_added(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let unknown = stage.backlog("add", &[("what", "Check the login page"), ("owner", "nobody-special")]).await;
    assert!(unknown.contains("nobody") && stage.list().await.is_empty(), "{unknown}");
    let without = stage.backlog("add", &[("what", "Tell the team about lunch")]).await;
    assert!(without.contains("Tell the team about lunch"), "{without}");
    let item = stage.find("Tell the team").await;
    assert_eq!(item.owner, Owner::Persona("kelly".into()), "the coordinator owns what is nobody's");
    // A delivered message is not enough: the person who asked for it must say that it is done.
    let told = stage.comes_to(&item.id, WorkStatus::Waiting).await;
    assert!(told.evidence.is_empty(), "{:?}", told.evidence);
    stage.press("Reminder for", "Done").await;
    assert_eq!(stage.read(&item.id).await.status, WorkStatus::Done);
}

async fn what_ends_with_others_is_told_in_a_few_lines(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let told = async |text: &str| stage.team.answers(HERE).await.iter().filter(|said| said.text.contains(text)).count();
    let tell = |what: &str| stage.glance(what);
    let lunch = tell("Prepare lunch");
    let parts = ["Tell the cook", "Tell the guests"].map(|what| WorkItem { parent: Some(lunch.id.clone()), ..tell(what) });
    stage.put(&[&lunch, &parts[0], &parts[1]]).await;
    stage.comes_to(&lunch.id, WorkStatus::InReview).await;
    stage.press("All parts of", "Yes, done").await;
    stage.comes_to(&lunch.id, WorkStatus::Done).await;
    eventually("it is told", || async { told("✔ Eliza: Prepare lunch").await == 1 }).await;

    // Items that need one that fails.
    let lost = stage.item("Ask for the keys", "", Execution::Remind { whom: None });
    let needing: Vec<WorkItem> =
        (1..=8).map(|n| WorkItem { depends_on: vec![lost.id.clone()], ..tell(&format!("Open door {n}")) }).collect();
    stage.put(&std::iter::once(&lost).chain(&needing).collect::<Vec<_>>()).await;
    stage.comes_to(&lost.id, WorkStatus::Waiting).await;
    stage.store.cancel_item(&lost.id, "Ada", &[], lost.created_at).await.unwrap().expect("it was open");
    eventually("some are told", || async { told("✖ Eliza failed: Open door").await == 3 && told("And 5 more items ended").await == 1 })
        .await;
    stage.pass(Duration::from_mins(10)).await;
    assert_eq!((told("Open door").await, told("more items ended").await, told("✔ Eliza: Prepare lunch").await), (3, 1, 1), "once");
}

async fn a_persona_is_not_only_told_of_its_own_work(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let reminder = stage.item("Write a guide to the queue", "", Execution::Remind { whom: None });
    let of_an_agent =
        WorkItem { id: WorkItemId::generate(), origin: Origin::Meeting(MeetingId::from("standup").into()), ..reminder.clone() };
    stage.put(&[&reminder, &of_an_agent]).await;
    let planned = |item: &WorkItem| !matches!(item.status, WorkStatus::New | WorkStatus::Ready | WorkStatus::InProgress);
    let (reminder, of_an_agent) =
        (stage.until(&reminder.id, "planned", planned).await, stage.until(&of_an_agent.id, "planned", planned).await);
    let sender = &stage.team.sandbox().people()[0];
    assert_eq!(reminder.wait, Some(Wait::Answer { of: sender.name.clone() }), "the sender says when it is done");
    let whom = Some(Owner::Person { id: stage.team.person_id(0), name: sender.name.clone() });
    assert_eq!(reminder.execution, Some(Execution::Remind { whom }));
    assert_eq!((of_an_agent.execution, of_an_agent.wait), (Some(Execution::Write), Some(Wait::Model)));
}

async fn ten_thousand_items_keep_nobody_from_what_is_urgent(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let many: Vec<WorkItem> = (0..10_000).map(|n| stage.item(&format!("Write letter {n}"), "", Execution::Write)).collect();
    let first = WorkItem { urgency: Urgency::Today, ..stage.glance("See to the lunch") };
    stage.store.insert_items(&many, first.created_at).await.expect("they are stored");
    stage.put(&[&first]).await;
    let done = stage.comes_to(&first.id, WorkStatus::Done).await;
    assert_eq!(stage.list().await.len(), many.len() + 1, "none is lost");
    // Without a model nothing can be written, so all others wait for one.
    eventually("some are planned", || async { !stage.store.list_waiting().await.unwrap().is_empty() }).await;
    let waiting = stage.store.list_waiting().await.unwrap();
    assert!(waiting.iter().all(|item| item.wait == Some(Wait::Model)));
    let before = waiting.iter().filter(|item| item.updated_at < done.updated_at).count();
    assert!(before < 2000, "{before} that are less urgent were planned before it was done");
}

async fn what_came_in_one_go_has_its_place_soon(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let keys = stage.item("Ask for the keys", "", Execution::Remind { whom: None });
    let door = |n| WorkItem { depends_on: vec![keys.id.clone()], ..stage.glance(&format!("Open door {n}")) };
    // All in one planning round, so that no rank is left for later.
    let doors: Vec<_> = (1..=200).map(door).collect();
    stage.put(&[&keys]).await;
    stage.comes_to(&keys.id, WorkStatus::Waiting).await;
    stage.put(&doors.iter().collect::<Vec<_>>()).await;
    let waited_for = format!("SELECT COUNT(*) FROM work_items WHERE rank LIKE '%/{}/%'", u32::MAX - 200);
    eventually("its place is that of what 200 others wait for", || async { count(&stage.team, &waited_for).await == 1 }).await;
}

/// An item whose work never ends.
async fn stuck(stage: &Stage) -> WorkItem {
    stage.team.model.on(|asked| if is_work(asked) { Script::Hang } else { Script::Json(json!({})) });
    let item = stage.item("Describe the prices of hosting", "Look at one shop.", Execution::Write);
    stage.put(&[&item]).await;
    eventually("it is worked on", || async { !stage.asked_about("hosting").is_empty() }).await;
    item
}

fn carry_on(stage: &Stage) {
    let replies = vec![write("prices.md", DOCUMENT), finish("prices.md")];
    Play::of(vec![Part::new("hosting", replies)]).perform(&stage.team.model);
}

async fn an_item_that_is_edited_while_it_runs_is_done_as_it_reads_now(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let item = stuck(&stage).await;
    carry_on(&stage);
    let answer = stage.backlog("edit", &[("id", item.short_id()), ("how", "Look at three shops.")]).await;
    assert!(answer.contains("changed an item"), "{answer}");
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.how.as_str(), done.attempts), ("Look at three shops.", 0));
    let last = stage.asked_about("hosting").pop().unwrap();
    let told = last.prompt();
    assert!(told.contains("The instructions are now:\nLook at three shops."), "{told}");
    assert!(told.contains("The criteria are now:\n- "), "{told}");
}

async fn the_work_of_a_persona_that_has_left_goes_to_the_coordinator(backing: Backing) {
    let mut stage = Setting::on(backing).with_model().open().await;
    let item = stuck(&stage).await;
    stage.team.stop_app().await;
    carry_on(&stage);
    let staying = stage.team.roster.personas().iter().filter(|persona| persona.slug.as_str() != "eliza").cloned().collect();
    stage.team.roster = Roster::new(staying).expect("a roster");
    stage.team.config.discord.tokens.remove(&"eliza".into());
    stage.team.start_app().await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((&done.owner, done.persona.as_ref().map(ToString::to_string).as_deref()), (&Owner::Persona("kelly".into()), Some("kelly")));
    stage.hears("✔ Kelly: Describe the prices of hosting").await;
}
