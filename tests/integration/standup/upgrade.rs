//! A team whose database was written by a version in which ids did not say their platform.

use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::chat::message::{Author, AuthorKind, Channel, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::ids::{MessageId, TurnId};
use secrecy::ExposeSecret;
use serde_json::json;
use teamroom::features::backlog::model::{Origin, Owner, WorkItem};
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::Decided;
use teamroom::features::meeting::model::SeatState;
use teamroom::store::Store;

use super::cast::Cast;
use super::stage::{CHANNEL, PERSON, START, Setting, Stage};
use crate::store::platform_ids::{cells, forget_platforms};
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(a_team_goes_on_after_its_ids_have_got_their_platform);

const ELSEWHERE: &str = "general";

/// Leaves a message that was decided and whose turn has not begun.
async fn leave_turn(stage: &Stage, store: &Store) {
    let now = stage.now();
    let asked = stage.team.say(ELSEWHERE, "vince, how are you?").await;
    let id = MessageId::on("discord", asked);
    let channel =
        Channel { id: stage.team.channel_id(ELSEWHERE), name: ELSEWHERE.to_owned(), place: Place::Server, private: false, shared: false };
    let author =
        Author { id: stage.team.person_id(0), name: PERSON.to_owned(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() };
    let message = InboundMessage {
        id: id.clone(),
        channel,
        author,
        text: "vince, how are you?".to_owned(),
        mentions: Vec::new(),
        reply_to: None,
        attachments: Vec::new(),
        sent_at: now,
        seen_by: "kelly".into(),
        complete: true,
    };
    store.claim(&message, now).await.unwrap();
    let turn = Turn {
        id: TurnId::generate(),
        message: id.clone(),
        chain: id.as_str().into(),
        channel: message.channel.id.clone(),
        persona: "vince".into(),
        trigger: Trigger::Message,
        state: TurnState::Queued,
        queued_at: now,
    };
    let decision = Decision::one("vince".into(), Reason::Named);
    let decided = Decided { messages: &[id], decision: &decision, turns: &[turn], asks: &[], outbox: &[], effect: None, at: now };
    assert!(store.decide(&decided).await.unwrap());
}

async fn a_team_goes_on_after_its_ids_have_got_their_platform(backing: Backing) {
    let mut stage = Setting::on(backing).with_model().with_person().open().await;
    Cast::default().perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.hears("your report, please").await;
    stage.team.stop_app().await;

    let (ann, account) = (stage.team.person_id(0), stage.team.sandbox().people()[0].id.clone());
    let url = stage.team.config.database_url.clone();
    let store = Store::open(&url, stage.now()).await.unwrap();
    leave_turn(&stage, &store).await;
    let there = stage.team.channel_id(ELSEWHERE);
    let text = format!("Left before the upgrade for <user:{ann}> in <channel:{there}>");
    let mut post = OutboundMessage::new(&"kelly".into(), &there, OutboundKind::Notice, text);
    post.pings = vec![ann.clone()];
    store.enqueue(&[post], stage.now()).await.unwrap();
    let owner = Owner::Person { id: ann.clone(), name: PERSON.to_owned() };
    let origin = Origin::Person { id: ann.clone(), name: PERSON.to_owned(), message: Some("discord:1".into()) };
    let item = WorkItem { channel: Some(there.clone()), ..WorkItem::new("Ask the landlord", owner.clone(), origin, stage.now()) };
    store.insert_items(std::slice::from_ref(&item), stage.now()).await.unwrap();
    store.close().await;

    let url = url.expose_secret();
    let written = cells(url).await;
    forget_platforms(url).await;
    assert!(cells(url).await.iter().all(|cell| !cell.contains("discord:")));
    Store::open(&stage.team.config.database_url, stage.now()).await.unwrap().close().await;
    let migrated = cells(url).await;
    let lost: Vec<_> = written.iter().filter(|cell| !migrated.contains(cell)).collect();
    assert!(lost.is_empty(), "{lost:#?}");

    stage.team.start_app().await;
    let expected = format!("Left before the upgrade for <@{account}> in <#{}>", stage.team.channel(ELSEWHERE));
    eventually("what waited is posted where it belongs", || async {
        stage.team.answers(ELSEWHERE).await.iter().any(|shown| shown.text == expected && shown.raw["mentions"][0]["id"] == json!(account))
    })
    .await;
    eventually("the open turn is answered", || async { stage.team.answers(ELSEWHERE).await.iter().any(|shown| shown.author == "Vince") })
        .await;

    stage.team.say(CHANNEL, "I fixed the login; the rest waits for Vince.").await;
    stage.reported(6).await;
    let held = stage.over().await;
    assert_eq!(held.seats[6].state, SeatState::Spoke);
    assert_eq!(stage.store.find_item(&item.id).await.unwrap().map(|item| item.owner), Some(owner));

    let by_vince = stage.team.answers(ELSEWHERE).await.into_iter().filter(|shown| shown.author == "Vince").count();
    assert_eq!(by_vince, 1, "the message is known and not answered again");
}
