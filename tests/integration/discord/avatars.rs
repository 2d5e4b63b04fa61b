//! The pictures of personas: avatars of accounts, and pictures of messages through webhooks.

use std::sync::Arc;
use std::time::Duration;

use kernel::chat::{ChatPlatform, IdentityState, PlatformEvent};
use kernel::persona::Persona;
use kernel::persona::picture::Picture;
use kernel::persona::roster::Roster;
use sandbox::{Exchange, RestExchange, RestFault, Switch};
use serde_json::{Value, json};
use teamroom::adapters::discord::{Discord, Timing};

use super::stage::{Events, Setting, Stage, TEAM, connect_team, hurried, roster, row, until};

/// The answered requests with this method, and with this end of their path.
fn requests(stage: &Stage, method: &str, end: &str) -> Vec<RestExchange> {
    let rest = stage.sandbox.journal().into_iter().filter_map(|exchange| match exchange {
        Exchange::Rest(rest) if rest.method == method && rest.path.ends_with(end) => Some(rest),
        _ => None,
    });
    rest.collect()
}

fn avatars_set(stage: &Stage) -> usize {
    requests(stage, "PATCH", "/users/@me").len()
}

fn uploads(stage: &Stage) -> usize {
    requests(stage, "POST", "/emojis").len()
}

async fn avatar_of(stage: &Stage, slug: &str) -> Value {
    stage.person("GET", &format!("/users/{}", stage.bot_id(slug)), Value::Null).await["avatar"].clone()
}

/// The picture that the sandbox serves for an account or a webhook.
async fn picture(stage: &Stage, id: &str, avatar: &Value) -> Vec<u8> {
    let address = format!("{}/avatars/{id}/{}.png", stage.sandbox.api_url(), avatar.as_str().expect("an avatar"));
    let answer = reqwest::get(address).await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.bytes().await.unwrap().to_vec()
}

/// A team with pictures from files.
fn with_pictures(named: &[(&str, &[u8])]) -> Arc<Roster> {
    let team = roster();
    let personas = team.personas().iter().cloned().map(|persona| {
        let bytes = named.iter().find(|(slug, _)| *slug == persona.slug.as_str()).map(|(_, bytes)| bytes.to_vec());
        Persona { avatar: bytes.map(|bytes| Picture::recognise(bytes.into()).expect("a picture")), ..persona }
    });
    Arc::new(Roster::new(personas.collect()).unwrap())
}

/// Settings under which the team does not wait before it sets pictures.
fn setting() -> Setting {
    let mut setting = Setting::new();
    setting.timing.avatar = Duration::ZERO;
    setting
}

/// Starts the team again, and waits until all its accounts are online and can act.
async fn start_again(stage: &Stage, roster: Arc<Roster>) -> (Arc<Discord>, Events) {
    stage.memory.looked_up.lock().unwrap().clear();
    let timing = Timing { avatar: Duration::ZERO, ..hurried() };
    let (team, mut events) = connect_team(roster, stage.settings.clone(), timing, &stage.memory).await;
    for _ in 0..stage.settings.tokens.len() {
        events.next(|event| matches!(event, PlatformEvent::Ready { .. })).await;
    }
    (team.unwrap(), events)
}

/// The number of avatars that are recorded as set.
fn recorded(stage: &Stage) -> usize {
    stage.memory.registered.lock().unwrap().keys().filter(|scope| scope.ends_with("/avatar")).count()
}

/// Waits until this many accounts have looked up the recorded avatars. After that, no avatar that is already set is set again.
async fn until_looked_up(stage: &Stage, count: usize) {
    let looked_up = || stage.memory.looked_up.lock().unwrap().iter().filter(|scope| scope.ends_with("/avatar")).count();
    until(|| looked_up() == count, || format!("{} were looked up", looked_up())).await;
}

const FIRST: &[u8] = b"\x89PNG\r\n\x1a\nfirst";
const SECOND: &[u8] = b"\x89PNG\r\n\x1a\nsecond";

#[tokio::test(flavor = "multi_thread")]
async fn each_account_gets_its_picture_at_the_first_start_and_none_again_at_the_second() {
    let mut stage = setting().open().await;
    stage.all_ready().await;
    until(|| recorded(&stage) == TEAM.len(), || format!("{} avatars were set", avatars_set(&stage))).await;
    let mut pictures = std::collections::BTreeSet::new();
    for slug in TEAM {
        let bytes = picture(&stage, &stage.bot_id(slug), &avatar_of(&stage, slug).await).await;
        assert!(bytes.starts_with(b"\x89PNG"), "{slug}");
        pictures.insert(bytes);
    }
    assert_eq!(
        (avatars_set(&stage), pictures.len()),
        (TEAM.len(), 5),
        "in this team, Echo and Eliza begin alike, and so do Sentinel and Solus"
    );

    stage.discord.close().await;
    let (again, _events) = start_again(&stage, roster()).await;
    again.send(&row("kelly", &stage.channel("general"), "back")).await.unwrap();
    assert_eq!(avatars_set(&stage), TEAM.len());
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_picture_from_a_file_replaces_one_that_a_person_chose_and_each_only_once() {
    let mut setting = setting();
    setting.mute = TEAM[2..].to_vec();
    let stage = setting.open().await;
    until(|| recorded(&stage) == 2, || "the avatars are not set".to_owned()).await;
    // The record of the avatars is gone, as after a change of the folder or of the database.
    stage.memory.registered.lock().unwrap().clear();
    stage.discord.close().await;
    let generated = avatar_of(&stage, "kelly").await;

    let (team, _events) = start_again(&stage, with_pictures(&[("echo", FIRST)])).await;
    until(|| recorded(&stage) == 1, || "the new picture is not set".to_owned()).await;
    assert_eq!(picture(&stage, &stage.bot_id("echo"), &avatar_of(&stage, "echo").await).await, FIRST);
    assert_eq!(avatar_of(&stage, "kelly").await, generated);
    team.close().await;

    let (team, _events) = start_again(&stage, with_pictures(&[("echo", FIRST)])).await;
    until_looked_up(&stage, 1).await;
    team.send(&row("echo", &stage.channel("general"), "the same")).await.unwrap();
    assert_eq!(avatars_set(&stage), 3);
    team.close().await;
    let (team, _events) = start_again(&stage, with_pictures(&[("echo", SECOND)])).await;
    until(|| avatars_set(&stage) == 4, || "the changed picture is not set".to_owned()).await;
    team.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_avatar_neither_stops_the_start_nor_is_asked_for_again() {
    let setting = setting();
    let sandbox = setting.sandbox().await;
    let refuse = |bot: &str, with| Switch::Rest {
        bot: Some(bot.to_owned()),
        method: Some("PATCH".to_owned()),
        path: "/users/@me".to_owned(),
        times: 9,
        with,
    };
    let limited = RestFault::RateLimited { retry_after: 1800.0, headers: true, global: false };
    for switch in [refuse("kelly", RestFault::Status(400)), refuse("vince", limited), refuse("echo", RestFault::Hang)] {
        sandbox.misbehaviour().set(switch).unwrap();
    }
    let mut stage = setting.open_on(sandbox).await;
    stage.all_ready().await;
    let general = stage.channel("general");
    for slug in ["kelly", "vince", "echo"] {
        stage.discord.send(&row(slug, &general, "here")).await.unwrap();
        assert_eq!((stage.status(slug).state, stage.status(slug).trouble), (IdentityState::Ready, None), "{slug}");
    }
    until(|| avatars_set(&stage) == TEAM.len(), || format!("{} were tried", avatars_set(&stage))).await;
    // A new session in the same process is no reason to try again.
    stage.misbehave(Switch::InvalidateSession { bot: Some("kelly".to_owned()), resumable: false });
    stage.events.next(|event| matches!(event, PlatformEvent::Ready { persona, .. } if persona.as_str() == "kelly")).await;
    stage.until_heard("kelly").await;
    assert_eq!((avatars_set(&stage), avatar_of(&stage, "kelly").await), (TEAM.len(), Value::Null));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_through_a_webhook_shows_the_picture_of_its_persona() {
    let mut setting = Setting::new();
    setting.mute = TEAM[1..].to_vec();
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    for text in ["one", "two"] {
        stage.discord.send(&row("vince", &general, text)).await.unwrap();
    }
    stage.discord.send(&row("solus", &general, "three")).await.unwrap();
    let sent = requests(&stage, "POST", "").into_iter().find(|rest| rest.request["username"] == "Vince").expect("a message of Vince");
    let address = sent.request["avatar_url"].as_str().expect("an address").to_owned();
    let drawn = reqwest::get(&address).await.unwrap().bytes().await.unwrap();
    assert!(drawn.starts_with(b"\x89PNG"));
    let said = stage.history(&general).await;
    let shown = |message: &Value| (message["author"]["id"].as_str().unwrap().to_owned(), message["author"]["avatar"].clone());
    let (webhook, avatar) = shown(&said[1]);
    assert_eq!(picture(&stage, &webhook, &avatar).await, drawn);
    assert_ne!(said[0]["author"]["avatar"], said[1]["author"]["avatar"], "Solus has another picture");
    assert_eq!((said[1]["author"]["avatar"].clone(), uploads(&stage)), (said[2]["author"]["avatar"].clone(), 2));
    stage.discord.close().await;

    // After a restart the picture is found again. A changed picture replaces it.
    let (team, _events) = start_again(&stage, roster()).await;
    team.send(&row("vince", &general, "four")).await.unwrap();
    assert_eq!(uploads(&stage), 2);
    team.close().await;
    let (team, _events) = start_again(&stage, with_pictures(&[("vince", FIRST)])).await;
    team.send(&row("vince", &general, "five")).await.unwrap();
    let (webhook, avatar) = shown(&stage.history(&general).await[0]);
    assert_eq!(picture(&stage, &webhook, &avatar).await, FIRST);
    assert_eq!((uploads(&stage), reqwest::get(&address).await.unwrap().status().as_u16()), (3, 404));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_goes_out_without_a_picture_where_it_cannot_be_uploaded() {
    let mut setting = Setting::new();
    setting.mute = TEAM[1..].to_vec();
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let path = format!("/applications/{}/emojis", stage.bot_id("kelly"));
    stage.misbehave(Switch::Rest { bot: None, method: None, path, times: 9, with: RestFault::Status(500) });
    let general = stage.channel("general");
    for text in ["one", "two"] {
        stage.discord.send(&row("vince", &general, text)).await.unwrap();
    }
    let said = stage.history(&general).await;
    let authors: Vec<_> = said.iter().map(|message| (&message["author"]["username"], &message["author"]["avatar"])).collect();
    assert_eq!(authors, [(&json!("Vince"), &Value::Null), (&json!("Vince"), &Value::Null)]);
    assert_eq!(requests(&stage, "GET", "/emojis").len(), 1, "it is not tried for each message");
    stage.close().await;
}
