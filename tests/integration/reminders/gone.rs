//! Reminders whose place is gone. Each reaches its person in another way, or the one who asked for it, once.

use kernel::ids::ReminderId;
use kernel::time::SystemClock;
use reqwest::Method;
use sandbox::{RestFault, Switch};
use serde_json::{Value, json};
use teamroom::features::reminders::model::{Person, Reminder, ReminderState};
use teamroom::store::Store;

use super::stage::{HERE, Stage, quiet};
use crate::support::command::{invoke, sub_command, text};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_before_the_other_place_is_stored);
on_one_store!(
    who_is_reminded_in_a_channel_that_is_gone_gets_a_direct_message,
    a_reminder_of_a_thread_that_is_gone_comes_in_its_channel,
    who_asked_hears_that_the_other_one_cannot_be_reached,
    without_direct_messages_a_channel_says_that_there_is_a_reminder,
    a_reminder_that_reaches_nobody_is_told_where_people_look,
);

const GONE: &str = "I could not post this in #general: it is gone or closed to me.";

/// The platform knows this channel no more.
fn close(team: &TestTeam, channel: &str) {
    let path = format!("/channels/{}/messages", team.channel(channel));
    let switch = Switch::Rest { bot: None, method: Some("POST".into()), path, times: u32::MAX, with: RestFault::Status(404) };
    team.sandbox().misbehaviour().set(switch).expect("a switch");
}

/// A person takes no direct messages, as after they left.
fn shut(team: &TestTeam, person: usize) {
    let person = team.sandbox().people()[person].id.clone();
    team.sandbox().misbehaviour().set(Switch::CloseDirect { person, on: true }).expect("a switch");
}

/// What Kelly and a person have written to each other, oldest first.
async fn direct(team: &TestTeam, person: usize) -> Vec<String> {
    let kelly = team.sandbox().bots().into_iter().find(|bot| bot.slug == "kelly").expect("Kelly").id;
    let opened = team.call_as(person, Method::POST, "/users/@me/channels", Some(json!({ "recipient_id": kelly }))).await;
    let path = format!("/channels/{}/messages", opened["id"].as_str().expect("an id"));
    let listed = team.call_as(person, Method::GET, &path, None).await;
    let mut texts: Vec<_> =
        listed.as_array().expect("messages").iter().filter_map(|shown: &Value| Some(shown["content"].as_str()?.to_owned())).collect();
    texts.reverse();
    texts
}

/// Waits until a person got one direct message, and everything else is delivered.
async fn hears(team: &TestTeam, person: usize) -> String {
    eventually("a direct message", || async { !direct(team, person).await.is_empty() }).await;
    let waits = async || count(team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await;
    eventually("nothing else is on its way", || async { waits().await == 0 }).await;
    let mut heard = direct(team, person).await;
    assert_eq!(heard.len(), 1, "{heard:#?}");
    heard.remove(0)
}

async fn who_is_reminded_in_a_channel_that_is_gone_gets_a_direct_message(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.answer_to("remind me tomorrow at 9 to call").await;
    close(&stage.team, HERE);
    stage.jump("2026-11-25T08:00:05Z");
    let heard = hears(&stage.team, 0).await;
    assert_eq!(heard, format!("Reminder for <@{}>: call\n{GONE}", stage.id_of(0)));
    assert!(stage.team.answers("ops").await.is_empty(), "nobody else needs to know");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM outbox WHERE state = 'failed'").await, 1);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await, 0);
}

async fn a_reminder_of_a_thread_that_is_gone_comes_in_its_channel(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.answer_to("remind me tomorrow at 9 to call").await;
    let place = json!({ "thread": { "parent": stage.team.channel_id(HERE), "parent_name": HERE, "owner": null } });
    execute(
        &stage.team,
        &format!(
            "INSERT INTO channels (id, name, place, last_message, last_at, private) \
             VALUES ('discord:77', 'plan', '{place}', 'discord:77', '2026-11-24T14:30:00+00:00', FALSE)"
        ),
    )
    .await;
    execute(&stage.team, "UPDATE reminders SET channel = 'discord:77'").await;
    stage.jump("2026-11-25T08:00:05Z");
    let told = stage.told(1).await.remove(0).text;
    assert!(told.ends_with(": call\nI could not post this in the thread \"plan\" of #general: it is gone or closed to me."), "{told}");
    stage.team.settle().await;
    stage.told(1).await;
}

async fn who_asked_hears_that_the_other_one_cannot_be_reached(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.answer_to(&format!("remind <@{}> tomorrow at 9 to call", stage.id_of(1))).await;
    close(&stage.team, HERE);
    shut(&stage.team, 1);
    stage.jump("2026-11-25T08:00:05Z");
    let heard = hears(&stage.team, 0).await;
    assert!(heard.starts_with("I could not reach ") && heard.contains(&format!(" with your reminder: call\n{GONE} ")), "{heard}");
    assert!(direct(&stage.team, 1).await.is_empty());
}

async fn without_direct_messages_a_channel_says_that_there_is_a_reminder(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.team.say("ops", "good afternoon").await;
    stage.answer_to("remind me tomorrow at 9 to call").await;
    close(&stage.team, HERE);
    shut(&stage.team, 0);
    stage.jump("2026-11-25T08:00:05Z");
    let said = || async { stage.team.answers("ops").await.into_iter().rfind(|shown| shown.text.contains("I have a reminder for you")) };
    eventually("it is said in another channel", || async { said().await.is_some() }).await;
    let said = said().await.expect("it is there");
    assert!(!said.text.contains("call") && stage.has_buttons_in("ops", &said).await, "{}", said.text);
}

async fn a_reminder_that_reaches_nobody_is_told_where_people_look(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.answer_to("remind me tomorrow at 9 to call").await;
    let status = async || text(&invoke(&stage.team, HERE, "status", json!([])).await).to_owned();
    assert!(!status().await.contains("Not delivered"));
    for channel in [HERE, "ops", "daily-standup"] {
        close(&stage.team, channel);
    }
    shut(&stage.team, 0);
    stage.jump("2026-11-25T08:00:05Z");
    let lost = || async {
        count(&stage.team, "SELECT COUNT(*) FROM outbox WHERE state = 'failed'").await >= 2
            && count(&stage.team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0
    };
    eventually("everything failed", lost).await;
    let status = status().await;
    assert!(status.contains("Not delivered: a message of Kelly for Ann"), "{status}");
    assert!(status.contains(": call"), "{status}");
    let listed = invoke(&stage.team, HERE, "remind", sub_command("list", &[])).await;
    let listed = text(&listed);
    let row = listed.lines().find(|line| line.contains("for Ann: call, due on Wed 25 Nov at 09:00 CET")).expect(listed);
    assert!(row.ends_with(" tells it again."), "{row}");
}

async fn killed_before_the_other_place_is_stored(backing: Backing) {
    let team = quiet(backing, SystemClock).await;
    let ann = Person { id: team.person_id(0), name: "Ann".to_owned() };
    let reminder = Reminder {
        id: ReminderId::generate(),
        what: "call".to_owned(),
        by: Some(ann.clone()),
        whom: ann,
        channel: team.channel_id(HERE),
        private: false,
        persona: "kelly".into(),
        due: team.clock.now(),
        repeat: None,
        zone: chrono_tz::Tz::UTC,
        state: ReminderState::Waiting,
        round: 0,
    };
    let store = Store::open_shared(&team.config.database_url, team.clock.now()).await.unwrap();
    store.add_reminder(&reminder, team.clock.now()).await.unwrap();
    store.close().await;
    close(&team, HERE);
    forbid(&team, "wall", "INSERT ON outbox", &format!("NEW.channel = '{}'", team.person_id(0))).await;
    let log = team.dir.path().join("refused.log");
    let process = TeamProcess::spawn_logging(&team, &log);
    let refused = || std::fs::read_to_string(&log).is_ok_and(|said| said.contains("cannot work off the outbox"));
    eventually("the other place is refused", || async { refused() }).await;
    process.kill();
    assert_eq!(count(&team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await, 1, "not given up without another one");
    allow(&team, "wall").await;
    let process = TeamProcess::start(&team, &[]).await;
    assert!(hears(&team, 0).await.ends_with(GONE.trim_start_matches("I could not post this in #general")));
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    hears(&team, 0).await;
}
