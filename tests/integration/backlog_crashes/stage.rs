//! A team of processes with a backlog and an obedient model, and checks of what an item produced.

use std::time::{Duration, Instant};

use kernel::ids::PersonaSlug;
use kernel::llm::settings::ProviderKind;
use kernel::memory::MemorySource;
use kernel::persona::load::BUILT_IN;
use kernel::time::{Clock, SystemClock};
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, Origin, Owner, WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::store::Store;

use crate::support::command;
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, Shown, TestTeam, Wanted};

pub(super) const HERE: &str = "general";

/// Additional personas, so that as many items are in progress as there are boundaries.
const MORE: [(&str, &str); 3] = [("amy", "Amy"), ("ben", "Ben"), ("cleo", "Cleo")];

const SETTINGS: &str = r#"
[backlog]
parallel = 16
every = "1s"
[jobs]
crash_pause = "0s"
[chat]
operators = ["*"]
"#;

/// A team in separate processes with personas without feeds, so that prompts contain only a person's words.
pub(super) async fn team(backing: Backing) -> TestTeam {
    let wanted = MORE.into_iter().fold(Wanted::on(backing), |wanted, (slug, name)| wanted.persona(slug, name));
    let team = wanted.model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(answer);
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    std::fs::create_dir(team.path("personas")).unwrap();
    for (file, text) in BUILT_IN {
        std::fs::write(team.path("personas").join(file), without_feeds(text)).unwrap();
    }
    let vince = BUILT_IN.iter().find(|(file, _)| *file == "vince.md").unwrap().1;
    for (slug, name) in MORE {
        let text = without_feeds(vince).replace("name: Vince", &format!("name: {name}")).replace("[vincent]", "[]");
        std::fs::write(team.path("personas").join(format!("{slug}.md")), text).unwrap();
    }
    team
}

fn without_feeds(persona: &str) -> String {
    let (before, rest) = persona.split_once("\nfeeds:").expect("a persona with feeds");
    let after = rest.find("\nstandup:").expect("what comes behind them");
    format!("{before}{}", &rest[after..])
}

/// Saves a lesson, writes the document, and accepts others' work.
pub(super) fn answer(asked: &Asked) -> Script {
    if asked.schema.is_some() {
        return accepted(asked);
    }
    let subject = subject_of(asked);
    match asked.tool_results() {
        0 => Script::call("memory_save", json!({"text": lesson_on(&subject)})),
        _ => Script::say(format!("# {subject}\n\nThe {subject} grows in the yard behind the house, and nobody waters it in winter.")),
    }
}

/// A positive verdict on an answer or on a document. Criteria are not drafted.
fn accepted(asked: &Asked) -> Script {
    Script::Json(if is_grading(asked) { all_met(asked) } else { json!({"verdict": "answers"}) })
}

/// A persona's reply. All verdicts are positive.
pub(super) fn say(asked: &Asked, script: Script) -> Script {
    if asked.schema.is_some() { accepted(asked) } else { script }
}

/// The item of a request.
pub(super) fn subject_of(asked: &Asked) -> String {
    let prompt = asked.prompt_alone();
    let behind = prompt.split("Describe the ").nth(1).unwrap_or_else(|| panic!("a request about an item: {prompt}"));
    behind.chars().take_while(|character| character.is_alphanumeric()).collect()
}

fn lesson_on(subject: &str) -> String {
    format!("Whoever describes the {subject} looks at it first.")
}

/// A document for a persona to write.
pub(super) fn document(team: &TestTeam, persona: &str, subject: &str) -> WorkItem {
    let owner = Owner::Persona(PersonaSlug::new(persona));
    item(team, owner, &format!("Describe the {subject}"), Execution::Write)
}

/// A question that a persona answers in one sentence.
pub(super) fn question(team: &TestTeam, persona: &str, subject: &str) -> WorkItem {
    let whom = Owner::Persona(PersonaSlug::new(persona));
    let asked = Execution::ask(whom.clone(), format!("Describe the {subject} in one sentence."));
    item(team, whom, &format!("Describe the {subject}"), asked)
}

pub(super) fn item(team: &TestTeam, owner: Owner, what: &str, execution: Execution) -> WorkItem {
    let channel = Some(team.channel_id(HERE));
    WorkItem { execution: Some(execution), channel, ..WorkItem::new(what, owner, Origin::CommandLine, SystemClock.now()) }
}

pub(super) async fn open(team: &TestTeam) -> Store {
    Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap()
}

pub(super) async fn read(store: &Store, item: &WorkItem) -> WorkItem {
    store.find_item(&item.id).await.unwrap().expect("it is there")
}

/// The number of model requests for an item, without its review.
pub(super) fn asked_for(team: &TestTeam, subject: &str) -> usize {
    team.model.requests().iter().filter(|asked| asked.schema.is_none() && subject_of(asked) == subject).count()
}

/// Waits until no item is open and everything is posted, and a little longer for duplicates. Fails if there is no progress.
pub(super) async fn all_over(team: &TestTeam, store: &Store) {
    let (mut moved, mut left) = (Instant::now(), usize::MAX);
    loop {
        let open = store.list_items(&ItemFilter::open(1000)).await.unwrap();
        if open.len() < left {
            (moved, left) = (Instant::now(), open.len());
        }
        if open.is_empty() && store.outbox_depth(SystemClock.now()).await.unwrap().0 == 0 {
            break;
        }
        if moved.elapsed() > PATIENCE {
            let mut stuck = Vec::new();
            for item in &open {
                let events = store.list_events(&item.id).await.unwrap();
                stuck.push((item, events, store.list_journal(&item.id, item.run).await.unwrap()));
            }
            panic!("stuck: {stuck:#?}\n{:#?}", team.answers(HERE).await.iter().map(|shown| &shown.text).collect::<Vec<_>>());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_millis(700)).await;
}

/// Checks a written item: done once, verified, announced once, with one lesson.
pub(super) async fn expect_written_once(team: &TestTeam, store: &Store, item: &WorkItem, subject: &str) {
    let now = read(store, item).await;
    assert_eq!(now.status, WorkStatus::Done, "{now:#?} {:#?}", store.list_events(&item.id).await.unwrap());
    let proven = |of: fn(&Evidence) -> bool| now.evidence.iter().filter(|evidence| of(evidence)).count();
    assert_eq!(proven(|evidence| matches!(evidence, Evidence::File { .. })), 1, "{:#?}", now.evidence);
    assert_eq!(proven(|evidence| matches!(evidence, Evidence::Review { .. })), 1, "{:#?}", now.evidence);
    expect_done_once(team, store, item, subject).await;
    let (kept, announced) =
        (store.read_artefacts(&item.id).await.unwrap(), said(team, |text| text.starts_with('✔') && text.contains(subject)).await);
    assert!(matches!(&kept[..], [file] if file.text().is_some_and(|text| text.contains(subject))), "{kept:?}");
    assert_eq!(announced[0].raw["attachments"].as_array().map(Vec::len), Some(1), "posted with its announcement: {:?}", announced[0].raw);
    let lessons = store.list_learnt(1000).await.unwrap();
    let of_it = lessons.iter().filter(|memory| memory.source == MemorySource::WorkItem(item.id.clone()));
    let noted: Vec<_> = of_it.filter(|memory| memory.text == lesson_on(subject)).collect();
    assert_eq!(noted.len(), 1, "what was saved by a call: {noted:#?}");
    // A lesson from a run that read others' text waits for a person, and is on no list.
    let learnt = store.find_memory(&format!("learnt-{}-{}-done", now.id, now.run).into()).await.unwrap();
    assert!(learnt.is_some(), "what was learnt");
    let file = team.config.data.join("workspaces").join(item.id.as_str());
    assert!(file.is_dir(), "{} is not there", file.display());
}

/// Checks an item: done once, in its first run, with one announcement.
pub(super) async fn expect_done_once(team: &TestTeam, store: &Store, item: &WorkItem, subject: &str) {
    let events = store.list_events(&item.id).await.unwrap();
    assert_eq!(events.iter().filter(|event| event.to == WorkStatus::Done).count(), 1, "{events:#?}");
    assert_eq!(store.list_runs(&item.id).await.unwrap().into_iter().filter(|run| *run > 0).count(), 0, "it was started again");
    assert_eq!(said(team, |text| text.starts_with('✔') && text.contains(subject)).await.len(), 1, "{:#?}", texts(team).await);
}

/// Waits for a condition, longer than elsewhere because a reclaim may be needed. `what` describes it.
pub(super) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < PATIENCE, "it never came true: {what}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// The team's messages in the channel that match a condition.
pub(super) async fn said(team: &TestTeam, holds: impl Fn(&str) -> bool) -> Vec<Shown> {
    team.answers(HERE).await.into_iter().filter(|shown| holds(&shown.text)).collect()
}

pub(super) async fn texts(team: &TestTeam) -> Vec<String> {
    team.answers(HERE).await.into_iter().map(|shown| format!("{}: {}", shown.author, shown.text)).collect()
}

/// Clicks the button with this id prefix.
pub(super) async fn press(team: &TestTeam, message: &Shown, button: &str) {
    command::press(team, HERE, message, |known| known["custom_id"].as_str().is_some_and(|id| id.starts_with(button))).await;
}
