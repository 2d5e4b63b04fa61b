//! The time until an item runs again after a crash, and what a process may do that was suspended beyond its lease.
//!
//! `TEAMROOM_TEST_KILLS=12` measures more crashes.

use std::time::{Duration, Instant};

use kernel::time::{Clock, SystemClock};
use teamroom::features::backlog::model::WorkStatus;

use super::crew::{Member, runs_for_the};
use super::stage::{all_over, answer, eventually, expect_done_once, open, question, read, subject_of, team};
use crate::support::database::count;
use crate::support::long;
use crate::support::model::Script;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::Backing;

/// A worker is dead after seven checks, one per second, without a heartbeat. The last heartbeat may be two seconds old when it dies, so
/// five checks remain.
const FIVE_LOOKS: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_runs_again_elsewhere_after_its_process_was_killed_or_slept() {
    if !is_there().await {
        return;
    }
    let team = team(Backing::Postgres).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    // The first request for an item never gets an answer.
    let model = std::sync::Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    team.model.on(move |asked| {
        if asked.schema.is_some() {
            return answer(asked);
        }
        let subject = subject_of(asked);
        if model.lock().unwrap().insert(subject.clone()) { Script::Hang } else { Script::say(format!("The {subject} is there.")) }
    });
    let mut crew: Vec<Member> = (0..2).map(|number| Member::spawn(&team, &format!("process{number}"))).collect();
    let kills = long::amount("TEAMROOM_TEST_KILLS", 2, 12);
    let mut times = Vec::new();
    for round in 0..=kills {
        let subject = format!("Item{round:04}");
        let item = question(&team, "vince", &subject);
        store.insert_items(std::slice::from_ref(&item), SystemClock.now()).await.unwrap();
        let asked = || async { team.model.requests().iter().any(|asked| subject_of(asked) == subject) };
        eventually("its worker is at it", asked).await;
        let mut owner = None;
        for (index, member) in crew.iter().enumerate() {
            if !member.holds(&team).await.is_empty() {
                owner = Some(index);
            }
        }
        let owner = crew.remove(owner.expect("one of them holds it"));
        // After a fresh heartbeat, all checks are still to come.
        let beat = format!(
            "SELECT beat FROM job_workers WHERE id = (SELECT holder FROM jobs JOIN work_items ON jobs.id = work_items.job WHERE work_items.id = '{}')",
            item.id
        );
        let before = count(&team, &beat).await;
        eventually("it shows that it lives", || async { count(&team, &beat).await > before }).await;
        let sleeps = round == kills;
        let stopped_at = Instant::now();
        let sleeper = if sleeps {
            owner.process.freeze();
            Some(owner)
        } else {
            owner.process.kill();
            None
        };
        // The item may be done between two polls.
        let is_over = || async { read(&store, &item).await.status == WorkStatus::Done };
        eventually("another claims it", || async { runs_for_the(&team, &item, 2).await || is_over().await }).await;
        let took = stopped_at.elapsed();
        assert!(took >= FIVE_LOOKS, "it was taken back after {took:?}, from one who may have lived");
        eventually("it is done there", is_over).await;
        let events = store.list_events(&item.id).await.unwrap();
        // A job of the backlog may have run beside it, and then the item is not blamed.
        let deaths = events.iter().filter(|event| event.note.as_deref().is_some_and(|note| note.starts_with("its worker died"))).count();
        assert_eq!(deaths, 1, "{events:#?}");
        if let Some(sleeper) = sleeper {
            // More than 15 s in total, like a closed laptop.
            tokio::time::sleep(Duration::from_secs(16).saturating_sub(stopped_at.elapsed())).await;
            let before = read(&store, &item).await;
            sleeper.process.thaw();
            eventually("it knows of its loss", || async { sleeper.knows_of_its_loss(1) }).await;
            assert_eq!(read(&store, &item).await, before, "nothing of the sleeper's was stored");
            // If the frozen process is the serving one, the announcements waited for it.
            all_over(&team, &store).await;
        } else {
            times.push(took);
            crew.push(Member::spawn(&team, &format!("process{}", round + 2)));
            all_over(&team, &store).await;
        }
        expect_done_once(&team, &store, &item, &subject).await;
    }
    times.sort();
    let shown: Vec<String> = times.iter().map(|time| format!("{:.1}", time.as_secs_f64())).collect();
    println!("from kill -9 to claimed elsewhere, s: {}", shown.join(" "));
    store.close().await;
}
