//! Which person a name means, and in which channel the team asks about items from the command line.

use teamroom::features::backlog::model::{Execution, Origin, Owner, WorkItem, WorkStatus};
use teamroom::store::Store;

use super::stage::{HERE, Stage};
use crate::support::command::{invoke, sub_command, text};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_name_of_two_people_is_refused_with_both,
    somebody_who_never_wrote_is_known_by_mention_or_after_a_command,
    who_asks_to_be_asked_is_asked,
    an_item_of_the_command_line_asks_in_the_channel_of_the_settings,
);

const BOB: usize = 2;
const ANN_RAY: usize = 3;

async fn a_name_of_two_people_is_refused_with_both(backing: Backing) {
    let stage = Stage::start(backing).await;
    assert!(stage.add(&[("what", "Pay the bill"), ("owner", "Ann")]).await.contains("added for Ann Lee"));
    stage.says(ANN_RAY, "hello from me too").await;
    let refused = stage.add(&[("what", "Order new chairs"), ("owner", "Ann")]).await;
    assert!(refused.contains("Several people are called Ann: Ann Ray"), "{refused}");
    assert!(refused.contains("Ann Lee") && refused.contains("Mention the one you mean"), "{refused}");
    let ray = stage.team.sandbox().people()[ANN_RAY].id.clone();
    assert!(stage.add(&[("what", "Order new desks"), ("owner", &format!("<@{ray}>"))]).await.contains("added for Ann Ray"));
    assert!(stage.add(&[("what", "Order new lamps"), ("owner", "ann ray")]).await.contains("added for Ann Ray"));
    // A name in the text of an item is not guessed either.
    stage.add(&[("what", "Ask Ann for the meeting notes")]).await;
    let decision = stage.hears("⚖ Decision needed: **Ask Ann for the meeting notes**").await;
    assert!(decision.text.contains("Several people are called Ann"), "{}", decision.text);
    let answer =
        invoke(&stage.team, HERE, "remind", sub_command("new", &[("what", "to vote"), ("when", "tomorrow"), ("whom", "Ann")])).await;
    assert!(text(&answer).contains("Several people are called Ann"), "{answer}");
}

async fn somebody_who_never_wrote_is_known_by_mention_or_after_a_command(backing: Backing) {
    let stage = Stage::start(backing).await;
    let refused = stage.add(&[("what", "Order new plants"), ("owner", "zaphod")]).await;
    assert!(
        refused.contains("Nobody on the team is called \"zaphod\"") || refused.contains("nobody on the team is called \"zaphod\""),
        "{refused}"
    );
    let bob = stage.team.sandbox().people()[BOB].id.clone();
    let added = stage.add(&[("what", "Order new plants"), ("owner", &format!("<@{bob}>"))]).await;
    assert!(added.contains("added for member …"), "{added}");
    let told = stage.hears("⏰ Reminder for").await;
    assert_eq!(told.raw["mentions"][0]["id"], bob.as_str());
    // A person who presses a button is known from then on.
    stage.press_as(BOB, &told, "Done").await;
    eventually("it is done", || async { stage.item().await.status == WorkStatus::Done }).await;
    assert_eq!(stage.item().await.outcome.as_deref(), Some("Bob: done"));
    assert!(stage.add(&[("what", "Buy cat food"), ("owner", "bob")]).await.contains("added for Bob"));
}

async fn who_asks_to_be_asked_is_asked(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask me for the address")]).await;
    let asked = stage.hears("❓ Question for").await;
    assert_eq!(asked.raw["mentions"][0]["id"], stage.team.sandbox().people()[0].id.as_str());
}

async fn an_item_of_the_command_line_asks_in_the_channel_of_the_settings(backing: Backing) {
    let mut stage = Stage::start(backing).await;
    stage.team.stop_app().await;
    stage.team.config.backlog.channel = Some("#Ops".to_owned());
    stage.team.start_app().await;
    let store = Store::open_shared(&stage.team.config.database_url, stage.team.clock.now()).await.unwrap();
    let ann = Owner::Person { id: stage.team.person_id(1), name: "Ann Lee".to_owned() };
    let execution = Some(Execution::Remind { whom: None });
    let item = WorkItem { execution, ..WorkItem::new("Renew the domain", ann, Origin::CommandLine, stage.team.clock.now()) };
    store.insert_items(&[item], stage.team.clock.now()).await.unwrap();
    store.close().await;
    let told = async || stage.team.answers("ops").await.into_iter().any(|shown| shown.text.contains("**Renew the domain**"));
    eventually("it is told in the channel of the settings", || async { told().await }).await;
}
