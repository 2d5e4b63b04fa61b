//! Files and links in knowledge channels are remembered with their place and cited, until their message is deleted.

use kernel::llm::settings::ProviderKind;
use kernel::time::SystemClock;
use reqwest::Method;
use serde_json::json;

use super::stage::{HERE, Stage, wanted};
use crate::support::database::{allow, count, forbid};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_while_a_file_is_read);
on_one_store!(
    a_file_is_read_acknowledged_found_and_cited_until_its_message_is_deleted,
    a_bound_channel_takes_knowledge_in_too,
    a_model_is_told_the_place_of_what_it_uses,
    a_file_is_read_while_an_answer_before_it_is_still_awaited,
    a_link_is_fetched_only_from_public_addresses,
);

const KNOWLEDGE: &str = "team-knowledge";
const PLAN: &str = "# Plan\n\n## Hosting\n\nWe host in the cellar of the old mill in Graz.\n\n## Money\n\nThe budget for servers is nine thousand a year.\n";

async fn open(team: &TestTeam) {
    let body = json!({ "name": KNOWLEDGE, "type": 0 });
    team.call(Method::POST, &format!("/guilds/{}/channels", team.sandbox().guild_id()), Some(body)).await;
}

async fn parts(team: &TestTeam) -> i64 {
    count(team, "SELECT COUNT(*) FROM memories WHERE kind = 'document'").await
}

async fn post(stage: &Stage, text: &str) -> (String, String) {
    let before = stage.team.answers(KNOWLEDGE).await.len();
    let id = stage.team.drop_file(KNOWLEDGE, "plan.md", PLAN.into(), text).await;
    eventually("it is acknowledged", || async { stage.team.answers(KNOWLEDGE).await.len() > before }).await;
    (id, stage.team.answers(KNOWLEDGE).await.remove(before).text)
}

async fn a_file_is_read_acknowledged_found_and_cited_until_its_message_is_deleted(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    open(&stage.team).await;
    let (id, told) = post(&stage, "our plan").await;
    assert_eq!(told, "I've read plan.md. Ask us about it any time.");
    assert_eq!(parts(&stage.team).await, 2);
    let answer = stage.answer_to("kelly, where do we host?").await;
    let (cited, told) = answer.split_once(" 2026: ").unwrap_or_else(|| panic!("{answer}"));
    assert!(cited.starts_with("From plan.md, \"Hosting\", posted by Ann on "), "{answer}");
    assert!(told.starts_with("We host in the cellar of the old mill in Graz."), "{answer}");
    let found = stage.command("search", &[("words", "budget for servers")]).await;
    assert!(found.contains("(from plan.md, \"Money\", posted by Ann on "), "{found}");
    // A persona that is spoken to answers, and what came with it is read all the same.
    stage.team.drop_file(KNOWLEDGE, "rules.md", b"# Rules\n\nShoes off upstairs.\n".to_vec(), "vince, what do you think of it?").await;
    eventually("it is read in silence", || async { parts(&stage.team).await == 3 }).await;
    // Files in other channels are not remembered.
    stage.team.drop_file(HERE, "other.md", b"# Other\n\nNothing of it.\n".to_vec(), "kelly, look").await;
    stage.team.settle().await;
    assert_eq!(parts(&stage.team).await, 3);
    stage.team.call(Method::DELETE, &format!("/channels/{}/messages/{id}", stage.team.channel(KNOWLEDGE)), None).await;
    eventually("its parts are gone", || async { parts(&stage.team).await == 1 }).await;
    let answer = stage.answer_to("kelly, where do we host?").await;
    assert!(!answer.contains("Graz"), "{answer}");
}

async fn a_bound_channel_takes_knowledge_in_too(backing: Backing) {
    let stage = Stage::start_as(wanted(backing).configure(|config| {
        config.chat.channels.bindings.push((KNOWLEDGE.into(), "vince".into()));
    }))
    .await;
    open(&stage.team).await;
    assert_eq!(post(&stage, "").await.1, "I've read plan.md. Ask us about it any time.");
    let shown = stage.team.answers(KNOWLEDGE).await.remove(0);
    assert_eq!((shown.author.as_str(), parts(&stage.team).await), ("Vince", 2));
}

async fn a_model_is_told_the_place_of_what_it_uses(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    stage.team.model.on(|_| Script::say("In Graz, says plan.md."));
    open(&stage.team).await;
    post(&stage, "").await;
    stage.answer_to("kelly, where do we host our servers?").await;
    let prompt = stage.team.model.requests().last().unwrap().prompt();
    let told = "- From plan.md, \"Hosting\", posted by Ann on";
    assert!(prompt.contains("from documents of the team: name the document when you use it>>") && prompt.contains(told), "{prompt}");
}

async fn a_file_is_read_while_an_answer_before_it_is_still_awaited(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    stage.team.model.on(|_| Script::Hang);
    open(&stage.team).await;
    stage.team.say(KNOWLEDGE, "kelly, what do you think of our plans?").await;
    eventually("she thinks", || async { stage.team.model.count() == 1 }).await;
    stage.team.drop_file(KNOWLEDGE, "plan.md", PLAN.into(), "our plan").await;
    eventually("it is read all the same", || async { parts(&stage.team).await == 2 }).await;
}

async fn a_link_is_fetched_only_from_public_addresses(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    open(&stage.team).await;
    let inside = format!("{}/users/@me", stage.team.sandbox().api_url());
    let told = stage.answer_in(KNOWLEDGE, &format!("see {inside}?token=1 and file:///etc/passwd")).await.text;
    assert!(
        told.starts_with("I couldn't read `127.0.0.1:")
            && told.contains("/@me` because ")
            && told.ends_with("so it cannot be read.")
            && !told.contains("token"),
        "{told}"
    );
    assert_eq!(parts(&stage.team).await, 0);
    // A host that the operator lists may be read.
    let host = serve("<html><body><h1>House rules</h1><p>Shoes off upstairs.</p></body></html>").await;
    let listed = host.clone();
    let stage = Stage::start_as(wanted(backing).configure(move |config| {
        config.tools.hosts = vec![kernel::tools::settings::ListedHost::parse(&listed).unwrap()];
    }))
    .await;
    open(&stage.team).await;
    let told = stage.answer_in(KNOWLEDGE, &format!("http://{host}/rules?x=1")).await.text;
    assert_eq!(told, format!("I've read {host}/rules. Ask us about it any time."));
    let answer = stage.answer_to("kelly, shoes upstairs?").await;
    assert!(answer.contains(", \"House rules\", posted by Ann on ") && answer.contains(": Shoes off upstairs."), "{answer}");
}

/// A page under every address of a host.
async fn serve(page: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let router = axum::Router::new().fallback(move || async move { axum::response::Html(page) });
    tokio::spawn(async move { axum::serve(listener, router).await });
    host
}

async fn killed_while_a_file_is_read(backing: Backing) {
    for (change, when) in [
        ("INSERT ON memories", "NEW.kind = 'document' AND NEW.text LIKE '%nine thousand%'"),
        ("INSERT ON outbox", "NEW.message LIKE '%ve read plan.md%'"),
    ] {
        let team = wanted(backing).clock(SystemClock).without_app().start().await;
        open(&team).await;
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        team.drop_file(KNOWLEDGE, "plan.md", PLAN.into(), "").await;
        let whole = if change.contains("memories") { 0 } else { 2 };
        let is_at_the_wall = || async {
            let tried = count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'knowledge' AND (state = 'running' OR attempts > 0)").await;
            (tried, parts(&team).await) == (1, whole)
        };
        eventually("it is read", is_at_the_wall).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        process.kill();
        allow(&team, "wall").await;
        assert_eq!(parts(&team).await, whole, "a document is stored whole or not at all");
        let _process = TeamProcess::start(&team, &[]).await;
        let told = async || team.answers(KNOWLEDGE).await.iter().filter(|shown| shown.text.starts_with("I've read plan.md.")).count();
        eventually("it is acknowledged", || async { told().await > 0 }).await;
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        assert_eq!((told().await, parts(&team).await), (1, 2), "{change}");
    }
}
