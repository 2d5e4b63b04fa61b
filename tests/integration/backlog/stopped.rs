//! People say stop in a channel: the items that are worked on for it are held, and go on later.

use kernel::time::Clock as _;
use teamroom::features::backlog::model::{Execution, WorkStatus};

use super::part::{DOCUMENT, is_work};
use super::stage::{HERE, Setting, Stage};
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};

on_both_stores!(a_stop_holds_an_item_until_somebody_speaks_to_the_team);
on_one_store!(an_item_of_another_channel_goes_on, a_held_item_stays_held_after_a_restart);

fn write(asked: &Asked) -> Script {
    match () {
        () if is_grading(asked) => Script::Json(all_met(asked)),
        () if is_work(asked) => Script::say(DOCUMENT),
        () => Script::say("Well then."),
    }
}

/// An item whose model call hangs.
async fn hanging(stage: &Stage, what: &str) -> teamroom::features::backlog::model::WorkItem {
    stage.team.model.on(|asked| if is_work(asked) { Script::Hang } else { write(asked) });
    let item = stage.item(what, "Write one page.", Execution::Write);
    stage.put(&[&item]).await;
    eventually("it is worked on", || async { stage.asked_about(what).len() == 1 }).await;
    item
}

async fn a_stop_holds_an_item_until_somebody_speaks_to_the_team(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let item = hanging(&stage, "compare the prices").await;
    stage.team.model.on(write);
    stage.team.say(HERE, "hold on, don't do anything").await;
    let told = stage.hears("Stopped.").await.text;
    assert!(told.contains(&format!("On hold: `#{}` compare the prices", item.short_id())), "{told}");
    stage.pass(std::time::Duration::from_mins(2)).await;
    assert_eq!(stage.asked_about("compare the prices").len(), 1, "nothing more is asked");
    assert_eq!(stage.read(&item.id).await.attempts, 0, "it is no failure");
    stage.team.say(HERE, "kelly, go on").await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.attempts, done.run), (0, 0), "the same run went on");
}

async fn an_item_of_another_channel_goes_on(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let item = hanging(&stage, "compare the prices").await;
    stage.team.say("general", "stop").await;
    eventually("it is quiet there", || async { stage.team.app().is_halted_in(&stage.team.channel_id("general")) }).await;
    stage.pass(std::time::Duration::from_secs(30)).await;
    assert_eq!(stage.read(&item.id).await.status, WorkStatus::InProgress);
    assert!(stage.team.answers("general").await.iter().all(|shown| !shown.text.contains("On hold")));
}

async fn a_held_item_stays_held_after_a_restart(backing: Backing) {
    let mut stage = Setting::on(backing).with_model().open().await;
    let item = hanging(&stage, "compare the prices").await;
    stage.team.say(HERE, "stop").await;
    stage.hears("On hold").await;
    stage.team.model.on(write);
    stage.team.stop_app().await;
    stage.team.start_app().await;
    stage.pass(std::time::Duration::from_mins(2)).await;
    assert_eq!(stage.asked_about("compare the prices").len(), 1, "at {}", stage.clock.now());
    stage.team.say(HERE, "kelly, go on").await;
    stage.comes_to(&item.id, WorkStatus::Done).await;
}
