//! A reminder on a platform that is unlike Discord.

use chrono::TimeDelta;
use kernel::time::{Clock as _, SystemClock};
use teamroom::store::Store;

use crate::support::corner::CornerTeam;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(a_reminder_mentions_its_person);

async fn a_reminder_mentions_its_person(backing: Backing) {
    let team = CornerTeam::start(backing, false).await;
    team.say("general", "kelly, remind {ann} in 1 second to stretch").await;
    team.wait_for("general", |note| note.text.contains("remind you")).await;
    let told = team.wait_for("general", |note| note.text.starts_with("Reminder for")).await;
    assert_eq!((told.text.as_str(), told.pings.as_slice()), ("Reminder for {ann}: stretch", ["corner:ann".into()].as_slice()));
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    // A post shows before it is noted as delivered.
    eventually("nothing is left to post", || async { store.outbox_depth(SystemClock.now() + TimeDelta::hours(1)).await.unwrap().0 == 0 })
        .await;
    store.close().await;
    team.stop().await;
}
