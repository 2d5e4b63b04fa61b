//! An item that always crashes its process is set aside, and the others continue.

use kernel::time::{Clock, SystemClock};
use teamroom::features::backlog::model::{Wait, WorkItem, WorkStatus};

use super::stage::{all_over, answer, asked_for, eventually, expect_done_once, open, press, question, read, said, say, subject_of, team};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(what_takes_its_process_down_three_times_waits_for_a_person);

async fn what_takes_its_process_down_three_times_waits_for_a_person(backing: Backing) {
    let team = team(backing).await;
    team.model.on(|asked| match subject_of(asked).as_str() {
        _ if asked.schema.is_some() => answer(asked),
        "Poison" => Script::Hang,
        other => Script::say(format!("The {other} is there.")),
    });
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let poison = question(&team, "vince", "Poison");
    let same_hands = question(&team, "vince", "Apple");
    let other_hands = question(&team, "eliza", "Berry");
    store.insert_items(std::slice::from_ref(&poison), SystemClock.now()).await.unwrap();
    for crash in 1..=3 {
        let process = TeamProcess::start(&team, &[]).await;
        eventually("it is worked on", || async { asked_for(&team, "Poison") == crash }).await;
        process.kill_with_one_job(&team).await;
    }
    store.insert_items(&[same_hands.clone(), other_hands.clone()], SystemClock.now()).await.unwrap();

    let _process = TeamProcess::start(&team, &[]).await;
    let is_asked = || async { said(&team, |text| text.contains("Decision needed") && text.contains("Poison")).await.len() };
    eventually("a person is asked", || async { is_asked().await == 1 }).await;
    for (item, subject) in [(&same_hands, "Apple"), (&other_hands, "Berry")] {
        let is_told = || async { !said(&team, |text| text.starts_with('✔') && text.contains(subject)).await.is_empty() };
        eventually("the others go on", is_told).await;
        expect_done_once(&team, &store, item, subject).await;
    }
    let aside: WorkItem = read(&store, &poison).await;
    assert!(matches!(&aside.wait, Some(Wait::Decision { why }) if why.contains("3 times")), "{:?}", aside.wait);
    assert_eq!((asked_for(&team, "Poison"), is_asked().await), (3, 1), "nobody touches it, and nobody is asked again");

    // The cause is fixed, and a person retries it.
    team.model.on(|asked| say(asked, Script::say("The Poison is gone.")));
    let asked = said(&team, |text| text.contains("Decision needed")).await.remove(0);
    press(&team, &asked, "work:retry:").await;
    all_over(&team, &store).await;
    assert_eq!(read(&store, &poison).await.status, WorkStatus::Done);
    store.close().await;
}
