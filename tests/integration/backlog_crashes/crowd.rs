//! Many items in many processes, some of which are killed or suspended beyond their lease.
//!
//! Only in the long form.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use kernel::time::{Clock, SystemClock};
use teamroom::features::backlog::model::{Evidence, JournalEntry, WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemEvent;
use teamroom::store::Store;

use super::crew::{HeldJob, Member, is_held};
use super::stage::{all_over, eventually, open, question, read, say, subject_of, team, texts};
use crate::support::model::{Asked, Script};
use crate::support::patience::PATIENCE;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam};
use crate::support::{database, long};

/// The personas. Each works on one item at a time.
const HANDS: [&str; 10] = ["kelly", "echo", "eliza", "oracle", "sentinel", "solus", "vince", "amy", "ben", "cleo"];

/// Questions for all personas in turn. Together they take half a minute.
fn questions(team: &TestTeam, many: usize) -> Vec<WorkItem> {
    let takes = (Duration::from_secs(30 * HANDS.len() as u64) / u32::try_from(many).unwrap()).min(Duration::from_secs(3));
    team.model.on(move |asked: &Asked| say(asked, Script::SayAfter(takes, format!("The {} is where it was.", subject_of(asked)))));
    let dealt = HANDS.iter().cycle().take(many).enumerate();
    dealt.map(|(number, hand)| question(team, hand, &format!("Item{number:04}"))).collect()
}

async fn deal_out(store: &Store, items: &[WorkItem]) {
    store.insert_items(items, SystemClock.now()).await.unwrap();
}

/// The number of done items that match a condition.
async fn count_done(team: &TestTeam, when: &str) -> usize {
    let sql = format!("SELECT COUNT(*) FROM work_items WHERE status = 'done' AND {when}");
    usize::try_from(database::count(team, &sql).await).unwrap()
}

/// Each item was done once, with one reply and one announcement. A reply was paid twice only if its worker was lost.
async fn expect_each_done_once(team: &TestTeam, store: &Store, items: &[WorkItem]) {
    let mut announced: HashMap<String, usize> = HashMap::new();
    for text in texts(team).await.iter().filter(|text| text.contains('✔')) {
        let subject: String = text.split("Describe the ").nth(1).unwrap().chars().take_while(|shown| shown.is_alphanumeric()).collect();
        *announced.entry(subject).or_default() += 1;
    }
    let mut paid: HashMap<String, usize> = HashMap::new();
    for asked in team.model.requests().into_iter().filter(|asked| asked.schema.is_none()) {
        *paid.entry(subject_of(&asked)).or_default() += 1;
    }
    let mut lost_in_all = 0;
    for (number, item) in items.iter().enumerate() {
        let (now, subject) = (read(store, item).await, format!("Item{number:04}"));
        let events = store.list_events(&item.id).await.unwrap();
        let count = |to: WorkStatus| events.iter().filter(|event| event.to == to).count();
        // Reclaimed, released at a shutdown, or postponed while the database was busy.
        let is_return = |event: &&ItemEvent| (event.from, event.to) == (Some(WorkStatus::InProgress), WorkStatus::Ready);
        let lost = events.iter().filter(is_return).count();
        lost_in_all += lost;
        assert_eq!((now.status, count(WorkStatus::Done)), (WorkStatus::Done, 1), "{now:#?} {events:#?}");
        assert_eq!(count(WorkStatus::InProgress), 1 + lost, "{events:#?}");
        assert!(matches!(now.evidence.as_slice(), [Evidence::Answer { .. }]), "{:#?}", now.evidence);
        let journal = store.list_journal(&item.id, 0).await.unwrap();
        assert!(
            matches!(
                journal.as_slice(),
                [(JournalEntry::Asked { .. }, _), (JournalEntry::Replied { .. }, _), (JournalEntry::Judged { .. }, _)]
            ),
            "{journal:#?}"
        );
        assert_eq!(announced.get(&subject), Some(&1), "announcements of {subject}");
        assert!((1..=1 + lost).contains(&paid[&subject]), "{subject} was paid {} times and lost {lost} times", paid[&subject]);
    }
    println!("{} items done once; {lost_in_all} returned; {} replies paid", items.len(), team.model.count());
}

/// Freezes a process while it holds something.
async fn take_one_at_work(crew: &mut Vec<Member>, team: &TestTeam) -> (Member, Vec<HeldJob>) {
    let started = Instant::now();
    for turn in 0.. {
        let place = turn % crew.len();
        let held = crew[place].freeze(team).await;
        if !held.is_empty() {
            return (crew.remove(place), held);
        }
        crew[place].process.thaw();
        assert!(started.elapsed() < PATIENCE, "nobody ever held anything");
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
    unreachable!("it counts on")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long form"]
async fn each_of_many_items_is_done_once_by_many_processes_that_die_and_sleep() {
    if !is_there().await {
        return;
    }
    let many = long::amount("TEAMROOM_TEST_ITEMS", 60, 600);
    let team = team(Backing::Postgres).await;
    // The first start creates the database.
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let processes = 5;
    let mut crew = Vec::new();
    for number in 0..processes {
        let member = Member::spawn(&team, &format!("process{number}"));
        let is_up = || async { member.log().contains("standing by") || member.log().contains("every identity is online") };
        eventually("it serves or stands by", is_up).await;
        crew.push(member);
    }
    let items = questions(&team, many);
    // Each loss gets its own part of the items. Otherwise the others could finish everything meanwhile.
    let mut portions = items.chunks(many.div_ceil(3));

    // The serving process claims most items. When it dies, another one takes its place.
    for portion in portions.by_ref().take(2) {
        deal_out(&store, portion).await;
        let (worker, held) = take_one_at_work(&mut crew, &team).await;
        worker.process.kill();
        // Also completed once: an item whose workers die three times in a row is set aside.
        let theirs = held.iter().map(|held| format!("'{}'", held.item)).collect::<Vec<_>>().join(", ");
        let over = || async { count_done(&team, &format!("id IN ({theirs})")).await == held.len() };
        eventually("what the dead had in hand is done", over).await;
    }
    deal_out(&store, portions.next().unwrap()).await;
    let (sleeper, overrun) = take_one_at_work(&mut crew, &team).await;
    for held in &overrun {
        eventually("what the sleeping holds is taken back", || async { !is_held(&team, held).await }).await;
    }
    sleeper.process.thaw();
    eventually("it knows of its loss", || async { sleeper.knows_of_its_loss(overrun.len()) }).await;
    all_over(&team, &store).await;
    expect_each_done_once(&team, &store, &items).await;
    println!("{} ends of the sleeper were refused", sleeper.refused_ends());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long form"]
async fn each_of_many_items_is_done_once_by_a_process_that_is_killed_and_started_again() {
    let many = long::amount("TEAMROOM_TEST_ITEMS", 60, 600);
    let team = team(Backing::Sqlite).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let items = questions(&team, many);
    deal_out(&store, &items).await;
    for (life, enough) in [(1, many / 5), (2, many * 2 / 5)] {
        let member = Member::spawn(&team, &format!("life{life}"));
        eventually("enough are done", || async { count_done(&team, "TRUE").await >= enough }).await;
        member.kill_at_work(&team).await;
    }
    let _member = Member::spawn(&team, "life3");
    all_over(&team, &store).await;
    expect_each_done_once(&team, &store, &items).await;
    store.close().await;
}
