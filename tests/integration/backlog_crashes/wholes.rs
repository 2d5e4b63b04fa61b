//! `kill -9` around the question which kind of work an item is, the judgement of an item with parts, and work in a repository.

use std::time::Duration;

use kernel::time::{Clock, SystemClock};
use kernel::tools::command::run_confined;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, Owner, Wait, WorkItem, WorkStatus};
use tokio_util::sync::CancellationToken;

use super::crew::runs_for_the;
use super::people::{kill_twice_once, note, reviews};
use super::stage::{
    all_over, answer, document, eventually, expect_done_once, expect_written_once, item, open, press, question, read, said, say,
    subject_of, team, texts,
};
use super::wall::{self, Before};
use crate::support::database::{allow, count, forbid};
use crate::support::git::{BUG, count_worktrees, git, make_shop};
use crate::support::grading::is_grading;
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::skip;
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(
    killed_around_the_question_which_kind_of_work_it_is,
    killed_around_the_judgement_of_an_item_with_parts,
    killed_around_work_in_a_repository,
    killed_around_the_posting_of_a_file,
);

/// Killed while the platform has the announcement with its file, and the store does not know it.
async fn killed_around_the_posting_of_a_file(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let item = document(&team, "vince", "Violet");
    forbid(&team, "unsent", "UPDATE OF state ON outbox", "NEW.state = 'sent'").await;
    note(&store, &item).await;
    let announced = async || said(&team, |text| text.starts_with('✔') && text.contains("Violet")).await;
    kill_twice_once(&team, "the announcement is posted", || async { !announced().await.is_empty() }).await;
    assert_eq!(announced().await[0].raw["attachments"].as_array().map(Vec::len), Some(1), "{:?}", announced().await[0].raw);
    let unsent = "SELECT COUNT(*) FROM outbox WHERE state = 'pending' AND message LIKE '%Violet%'";
    assert_eq!(
        (read(&store, &item).await.status, count(&team, unsent).await),
        (WorkStatus::Done, 1),
        "it is done, and nobody knows that it was told"
    );
    allow(&team, "unsent").await;
    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    expect_written_once(&team, &store, &item, "Violet").await;
    assert_eq!(announced().await.len(), 1, "posted once, with its file: {:#?}", texts(&team).await);
    store.close().await;
}

async fn killed_around_the_question_which_kind_of_work_it_is(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let nobody_knows = json!({"execution": null, "criteria": []});
    team.model
        .on(move |asked| if asked.schema.is_some() && !is_grading(asked) { Script::Json(nobody_knows.clone()) } else { answer(asked) });
    let item =
        WorkItem { execution: None, ..item(&team, Owner::Persona("vince".into()), "Zur Distel: Describe the Thistle", Execution::Write) };
    wall::raise(&team, &item, Before::Leaving("new")).await;
    note(&store, &item).await;
    kill_twice_once(&team, "the model was asked", || async { !team.model.requests().is_empty() }).await;
    assert!(texts(&team).await.is_empty(), "nobody could answer it yet: {:#?}", texts(&team).await);
    wall::fall(&team, &item).await;

    // Killed while the platform has the question, and the store does not know it.
    let questions = async || said(&team, |text| text.contains("how should the team go about")).await;
    forbid(&team, "unsent", "UPDATE OF state ON outbox", "NEW.state = 'sent'").await;
    kill_twice_once(&team, "a person is asked", || async { !questions().await.is_empty() }).await;
    allow(&team, "unsent").await;
    assert!(matches!(read(&store, &item).await.wait, Some(Wait::Kind { .. })));

    wall::raise(&team, &item, Before::Leaving("new")).await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("it is sent", || async { count(&team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0 }).await;
    press(&team, &questions().await[0], "work:write:").await;
    eventually("the answer is stored", || async { read(&store, &item).await.status == WorkStatus::New }).await;
    process.kill();
    wall::fall(&team, &item).await;
    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    assert_eq!(questions().await.len(), 1, "{:#?}", texts(&team).await);
    expect_written_once(&team, &store, &item, "Thistle").await;
    store.close().await;
}

async fn killed_around_the_judgement_of_an_item_with_parts(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    team.model.on(|asked| say(asked, Script::say(format!("The {} is there.", subject_of(asked)))));
    let whole = item(&team, Owner::Persona("vince".into()), "Describe the Walnut", Execution::Write);
    let part = WorkItem { parent: Some(whole.id.clone()), ..question(&team, "eliza", "Yarrow") };
    wall::raise(&team, &part, Before::End).await;
    store.insert_items(&[whole.clone(), part.clone()], SystemClock.now()).await.unwrap();
    for round in 1..=2 {
        let process = TeamProcess::start(&team, &[]).await;
        eventually("the part is claimed", || runs_for_the(&team, &part, round)).await;
        eventually("it was answered", || async { !store.list_journal(&part.id, 0).await.unwrap().is_empty() }).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        process.kill();
        assert_eq!(read(&store, &whole).await.status, WorkStatus::Blocked, "its part is not over");
    }
    wall::fall(&team, &part).await;

    let judged = format!("OLD.id = '{}' AND OLD.status = 'in_review' AND NEW.status <> 'in_review'", whole.id);
    forbid(&team, "judged", "UPDATE OF status ON work_items", &judged).await;
    let replied = || async {
        let journal = store.list_journal(&whole.id, 0).await.unwrap();
        let is_reply =
            |entry: &JournalEntry| matches!(entry, JournalEntry::Graded { entry, .. } if matches!(**entry, JournalEntry::Replied { .. }));
        journal.iter().any(|(entry, _)| is_reply(entry))
    };
    kill_twice_once(&team, "the grader of the whole has replied", replied).await;
    let (now, graded) = (read(&store, &whole).await, reviews(&team));
    assert_eq!((now.status, now.evidence.len()), (WorkStatus::InReview, 0), "nothing is decided");
    allow(&team, "judged").await;
    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    assert_eq!(reviews(&team), graded, "no verdict is paid twice");
    for (item, subject) in [(&part, "Yarrow"), (&whole, "Walnut")] {
        expect_done_once(&team, &store, item, subject).await;
    }
    assert!(read(&store, &whole).await.evidence.iter().any(|found| matches!(found, Evidence::Criterion { .. })));
    store.close().await;
}

/// The journal of such a run: prompt, reply, edited, reply, tested, reply. Then it is committed, and its patch is the product.
async fn killed_around_work_in_a_repository(backing: Backing) {
    let team = team(backing).await;
    let shop = team.path("shop");
    make_shop(&shop);
    if let Err(error) = run_confined(&["true".to_owned()], &shop, Duration::from_secs(9), &CancellationToken::new()).await {
        return skip::missing("landlock", &error.to_string());
    }
    let toml = team.path("teamroom.toml");
    let settings = std::fs::read_to_string(&toml).unwrap();
    let settings =
        format!("{settings}\n[repositories.shop]\npath = {:?}\ntest_command = [\"sh\", \"tests/total.sh\"]\n", shop.display().to_string());
    std::fs::write(&toml, settings).unwrap();
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    team.model.on(|asked| {
        let scripts = [
            Script::call("repo_edit", json!({"path": "src/total.sh", "old": "80 / 100", "new": "90 / 100"})),
            Script::call("repo_test", json!({})),
            Script::call("finish", json!({"summary": "The discount is 10 % now."})),
        ];
        say(asked, scripts[asked.tool_results().min(2)].clone())
    });
    let boundaries = [
        ("vince", "Acorn", Before::Entry(2)),
        ("eliza", "Birch", Before::Entry(4)),
        ("amy", "Cedar", Before::Product),
        ("ben", "Dahlia", Before::End),
    ];
    let items = boundaries
        .map(|(persona, subject, _)| item(&team, Owner::Persona(persona.into()), &format!("Describe the {subject}"), Execution::Build));
    for ((.., before), item) in boundaries.iter().zip(&items) {
        wall::raise(&team, item, *before).await;
    }
    store.insert_items(&items, SystemClock.now()).await.unwrap();
    let commits = |item: &WorkItem| {
        let branch = format!("teamroom/{}", item.short_id());
        let known = !git(&shop, &["branch", "--list", &branch]).is_empty();
        if known { git(&shop, &["rev-list", "--count", &format!("main..{branch}")]).trim().parse().unwrap() } else { 0 }
    };
    for round in 1..=2 {
        let process = TeamProcess::start(&team, &[]).await;
        for ((_, subject, before), item) in boundaries.iter().zip(&items) {
            let reached = || async {
                let journal = store.list_journal(&item.id, 0).await.unwrap().len();
                let is_there = match before {
                    Before::Entry(position) => journal == *position,
                    Before::Product => commits(item) == 1,
                    _ => store.find_product(&item.id).await.unwrap().is_some(),
                };
                is_there && runs_for_the(&team, item, round).await
            };
            eventually(&format!("{subject} stands before {before:?} for the {round}. time"), reached).await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        process.kill();
    }
    for item in &items {
        assert_eq!(read(&store, item).await.status, WorkStatus::InProgress, "nothing is done yet");
        wall::fall(&team, item).await;
    }
    // A killed git leaves this file.
    let lock = shop.join(".git/worktrees").join(items[0].id.as_str()).join("index.lock");
    std::fs::write(&lock, "").unwrap();

    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    for ((_, subject, _), item) in boundaries.iter().zip(&items) {
        expect_done_once(&team, &store, item, subject).await;
        let announced = said(&team, |text| text.starts_with('✔') && text.contains(subject)).await.remove(0);
        assert_eq!(announced.raw["attachments"][0]["filename"], format!("{}.patch", item.short_id()));
        assert_eq!(commits(item), 1, "committed once");
    }
    assert_eq!(std::fs::read_to_string(shop.join("src/total.sh")).unwrap(), BUG, "the checked-out branch is not touched");
    eventually("the worktrees are removed", || async { count_worktrees(&shop) == 0 }).await;
    store.close().await;
}
