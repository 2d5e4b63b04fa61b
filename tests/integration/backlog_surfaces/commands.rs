//! The `/backlog` command.

use serde_json::{Value, json};
use teamroom::features::backlog::model::{Origin, Owner, Urgency, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;

use super::stage::{HERE, item, now, open, person, read};
use crate::support::command::{invoke, is_ephemeral, press, sub_command, text};
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    an_item_is_added_found_changed_cancelled_and_tried_again,
    what_cannot_be_done_is_refused_with_the_reason,
    what_looks_like_an_open_item_is_asked_about,
    a_member_changes_what_is_their_own_and_nothing_else,
);

async fn backlog(team: &TestTeam, action: &str, options: &[(&str, &str)]) -> Value {
    invoke(team, HERE, "backlog", sub_command(action, options)).await
}

fn assert_refused(answer: &Value, told: &str) {
    assert!(text(answer).contains(told) && is_ephemeral(answer), "{told}: {answer}");
}

/// The short id in an answer about one item.
fn short_id(answer: &Value) -> String {
    let (_, id) = text(answer).rsplit_once("(#").expect("an id");
    id.chars().take_while(char::is_ascii_alphanumeric).collect()
}

async fn an_item_is_added_found_changed_cancelled_and_tried_again(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let added =
        backlog(&team, "add", &[("what", "Check the login page"), ("owner", "vince"), ("how", "See https://example.org/a_b")]).await;
    assert!(text(&added).contains("added for Vince: \"Check the login page\"") && !is_ephemeral(&added), "{added}");
    let id = short_id(&added);
    invoke(&team, HERE, "team", sub_command("pause", &[("persona", "echo")])).await;
    let waits = backlog(&team, "add", &[("what", "Ask customers about the login page"), ("owner", "echo")]).await;
    assert!(text(&waits).ends_with(". Echo is paused, so it waits until `/team resume persona:Echo`."), "{waits}");
    let store = open(&team).await;
    let item = store.find_items_by_suffix(&id, 2).await.unwrap().remove(0);
    assert_eq!((item.owner, item.urgency), (Owner::Persona("vince".into()), Urgency::Backlog));
    assert_eq!(item.how, "See https://example.org/a_b", "an address is kept as it is");
    assert_eq!(item.channel, Some(team.channel_id(HERE)));
    let Origin::Person { id: person, .. } = item.origin else { panic!("a person added it") };
    assert_eq!(person, team.person_id(0));

    let list = backlog(&team, "list", &[("owner", "vince")]).await;
    assert!(text(&list).contains(&id) && text(&list).contains("Check the login page") && is_ephemeral(&list), "{list}");
    let others = backlog(&team, "list", &[("owner", "eliza")]).await;
    assert!(!text(&others).contains(&id), "{others}");
    let shown = backlog(&team, "show", &[("id", &format!("#{id}"))]).await;
    assert!(text(&shown).contains("Owner: Vince") && text(&shown).contains("**What happened**") && is_ephemeral(&shown), "{shown}");

    let edited = backlog(&team, "edit", &[("id", &id), ("what", "Check the login form"), ("owner", "Eliza")]).await;
    assert!(text(&edited).contains("changed an item: \"Check the login form\"") && !is_ephemeral(&edited), "{edited}");
    assert_refused(&backlog(&team, "edit", &[("id", &id)]).await, "There is nothing to change");
    let next = backlog(&team, "run", &[("id", &id)]).await;
    assert!(text(&next).contains("moved this to the top") && !is_ephemeral(&next), "{next}");
    assert_eq!(store.find_items_by_suffix(&id, 2).await.unwrap()[0].urgency, Urgency::Now);

    let cancelled = backlog(&team, "cancel", &[("id", &id)]).await;
    assert!(text(&cancelled).contains("cancelled \"Check the login form\""), "{cancelled}");
    assert_refused(&backlog(&team, "cancel", &[("id", &id)]).await, "was cancelled");
    assert_refused(&backlog(&team, "run", &[("id", &id)]).await, "was cancelled");
    let retried = backlog(&team, "retry", &[("id", &id)]).await;
    assert!(text(&retried).contains("restarted") && !is_ephemeral(&retried), "{retried}");
    assert!(!store.find_items_by_suffix(&id, 2).await.unwrap()[0].status.is_over());
    let help = invoke(&team, HERE, "help", json!([])).await;
    assert!(text(&help).contains("/backlog list"), "{help}");
    store.close().await;
}

async fn what_cannot_be_done_is_refused_with_the_reason(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let list = backlog(&team, "list", &[]).await;
    assert!(text(&list).contains("The backlog is empty. Add items with `/backlog add`"), "{list}");
    assert_refused(&backlog(&team, "add", &[("what", "…!")]).await, "oes not say what to do");
    assert_refused(&backlog(&team, "add", &[("what", "Fix it"), ("owner", "Nobody")]).await, "The team: Echo, Eliza, Kelly");
    assert_refused(&backlog(&team, "add", &[("what", "Fix it"), ("owner", "everyone")]).await, "is not one person");
    let mine = backlog(&team, "add", &[("what", "Fix the login"), ("owner", "me")]).await;
    assert!(!is_ephemeral(&mine), "{mine}");
    let kind = json!([{"type": 1, "name": "add", "options": [
        {"type": 3, "name": "what", "value": "Write the letter"},
        {"type": 3, "name": "owner", "value": "me"},
        {"type": 3, "name": "kind", "value": "write"},
    ]}]);
    assert_refused(&invoke(&team, HERE, "backlog", kind).await, "can only be reminded");
    for action in ["show", "run", "retry", "cancel"] {
        assert_refused(&backlog(&team, action, &[("id", "abc")]).await, "Give at least the last 6 characters");
        assert_refused(&backlog(&team, action, &[("id", "zzzzzz")]).await, "There is no item #zzzzzz");
    }
    let store = open(&team).await;
    let twins = ["0123-aaaaaa", "4567-aaaaaa"].map(|id| WorkItem { id: id.into(), ..item(&team, "Check the bell", WorkStatus::InReview) });
    store.insert_items(&twins, now()).await.unwrap();
    assert_refused(&backlog(&team, "show", &[("id", "aaaaaa")]).await, "Several ids end with aaaaaa. Give a longer part");
    store.close().await;
}

async fn what_looks_like_an_open_item_is_asked_about(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let store = open(&team).await;
    let add = async |what: &str| text(&backlog(&team, "add", &[("what", what), ("owner", "me")]).await).to_owned();
    let find = async |what: &str| store.list_items(&ItemFilter::open(20)).await.unwrap().into_iter().find(|item| item.what == what);
    add("Fix the test TestClientHardStop in job_executor_test.go").await;
    // Identifiers are compared exactly.
    let other = add("Fix the test TestClientSoftStop in job_executor_test.go").await;
    assert!(other.contains("added for"), "{other}");
    let first = find("Fix the test TestClientHardStop in job_executor_test.go").await.expect("it is there as it was written");
    for (what, label, status) in [
        ("Fix test TestClientHardStop in job_executor_test.go", "anyway", WorkStatus::Waiting),
        ("fix the test TestClientHardStop in job_executor_test.go!", "drop", WorkStatus::Cancelled),
    ] {
        let held = add(what).await;
        assert!(held.contains("Not added yet: this looks like") && held.contains(first.short_id()), "{held}");
        let item = find(what).await.expect("it is held");
        assert!(matches!(&item.wait, Some(Wait::Duplicate { .. })), "{item:?}");
        let question = async || {
            team.answers(HERE).await.into_iter().find(|shown| shown.text.contains("Add it anyway?") && shown.text.contains(item.short_id()))
        };
        eventually("the person is asked", || async { question().await.is_some() }).await;
        let button = format!("work:{label}:{}", item.id);
        press(&team, HERE, &question().await.expect("asked"), |known| known["custom_id"] == button).await;
        // Once added, it goes on like any other item: its owner is reminded.
        eventually("it is decided", || async {
            let item = read(&store, &item.id).await;
            item.status == status && !matches!(item.wait, Some(Wait::Duplicate { .. }))
        })
        .await;
    }
    store.close().await;
}

async fn a_member_changes_what_is_their_own_and_nothing_else(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    let store = open(&team).await;
    let theirs = item(&team, "Draft the letter", WorkStatus::InReview);
    let mine = WorkItem { owner: person(&team), ..item(&team, "Call the bank", WorkStatus::InReview) };
    store.insert_items(&[theirs.clone(), mine.clone()], now()).await.unwrap();
    for action in ["run", "retry", "cancel", "edit"] {
        let answer = backlog(&team, action, &[("id", theirs.short_id())]).await;
        assert_refused(&answer, "Only an operator may change");
    }
    assert!(text(&backlog(&team, "show", &[("id", theirs.short_id())]).await).contains("Draft the letter"), "everybody may look");
    let own = backlog(&team, "cancel", &[("id", mine.short_id())]).await;
    assert!(text(&own).contains("There is work in \"Call the bank\""), "{own}");
    let added = backlog(&team, "add", &[("what", "Check the plants"), ("owner", "vince")]).await;
    let cancelled = backlog(&team, "cancel", &[("id", &short_id(&added))]).await;
    assert!(text(&cancelled).contains("cancelled \"Check the plants\""), "its creator may: {cancelled}");
    store.close().await;
}
