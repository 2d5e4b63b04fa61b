//! Stories that exist only on Slack: mentions of an app, its threads and direct conversations, and messages sent while the team was not connected.

use std::time::Duration;

use serde_json::json;
use slack_sandbox::{ChannelConfig, Options, PersonConfig, Role};
use tokio::sync::watch;

use crate::platforms::slack::{Said, SlackTeam, TEAM};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};
use teamroom::config::Config;

on_one_store!(
    a_named_persona_answers_once_under_its_name,
    a_thread_on_an_answer_goes_on,
    somebody_who_has_never_written_is_reminded,
    a_command_that_does_not_exist_is_answered_with_those_that_do,
    what_a_command_lacks_is_asked_for_in_a_form,
    a_message_becomes_an_item_by_its_menu,
    what_is_used_in_a_thread_is_answered_there,
    a_form_that_is_handed_in_late_is_answered_all_the_same,
    a_shortcut_asks_where_it_answers,
    the_home_tab_shows_what_is_open,
    a_command_is_given_in_a_thread,
    a_channel_that_another_company_reads_is_left_alone,
    a_thread_shows_who_is_thinking_and_then_the_answer,
);

async fn a_named_persona_answers_once_under_its_name(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("**Two** of them & more."));
    team.say("general", "vince, how many are there?");
    let said = team.hears("general", |said| !said.text.is_empty()).await;
    team.settle().await;
    assert_eq!(team.said("general").len(), 1, "{:#?}", team.said("general"));
    assert_eq!((said.by.as_str(), said.text.as_str()), ("Vince", "*Two* of them &amp; more."));
    assert!(said.raw["icons"]["emoji"].as_str().is_some_and(|emoji| emoji.contains("circle")), "{}", said.raw);
    assert!(team.model.requests().remove(0).prompt().contains("how many are there?"));
    // A mention of the app is for the coordinator.
    let app = team.workspace.app(TEAM);
    team.say("general", &format!("<@{}> and you?", app.user));
    team.hears("general", |said| said.by == "Kelly").await;
    team.say("general", "<!here> I told my sister about the weekend.");
    team.person("Bob").say(&team.channel("general"), &format!("<@{}> can you review my change?", team.ann().id())).unwrap();
    team.settle().await;
    assert_eq!(team.said("general").len(), 2, "talk among people is left alone: {:#?}", team.said("general"));
    team.stop().await;
}

async fn somebody_who_has_never_written_is_reminded(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.say("general", "kelly, remind Bob tomorrow at 9 to pay the hosting bill");
    let said = team.hears("general", |said| said.text.contains("hosting bill")).await;
    assert!(said.text.starts_with("I'll remind Bob on "), "{}", said.text);
    team.stop().await;
}

async fn a_thread_on_an_answer_goes_on(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|request| Script::say(if request.prompt().contains("and why?") { "Because of the cache." } else { "It is slow." }));
    team.say("general", "solus, how is the build?");
    let said = team.hears("general", |said| said.text == "It is slow.").await;
    team.ann().reply(&team.channel("general"), said.ts(), "and why?").unwrap();
    let reply = team.hears("general", |said| said.text == "Because of the cache.").await;
    assert_eq!((reply.by.as_str(), &reply.raw["thread_ts"]), ("Solus", &json!(said.ts())));
    team.settle().await;
    // In a direct conversation the app is the coordinator, in its threads too.
    let direct = team.ann().open_direct(&[&team.workspace.app(TEAM).user]);
    let asked = team.ann().say(&direct, "how is the build?").unwrap();
    team.hears(&direct, |said| said.text == "It is slow.").await;
    team.ann().reply(&direct, &asked, "and why?").unwrap();
    let reply = team.hears(&direct, |said| said.text == "Because of the cache.").await;
    assert_eq!((reply.by.as_str(), &reply.raw["thread_ts"]), ("Kelly", &json!(asked)));
    team.settle().await;
    assert_eq!(team.said_in(&direct).len(), 2);
    // Those who speak through it are called by their names, and go on.
    team.ann().say(&direct, "vince, how is the build?").unwrap();
    eventually("Vince answers", || async { team.said_in(&direct).iter().filter(|said| said.by == "Vince").count() == 1 }).await;
    team.settle().await;
    team.ann().say(&direct, "since when?").unwrap();
    eventually("Vince goes on", || async { team.said_in(&direct).iter().filter(|said| said.by == "Vince").count() == 2 }).await;
    team.settle().await;
    team.ann().say(&direct, "kelly, how is the build?").unwrap();
    eventually("Kelly answers", || async { team.said_in(&direct).len() == 5 }).await;
    team.settle().await;
    let first = team.said_in(&direct).into_iter().find(|said| said.by == "Vince").expect("an answer");
    team.ann().reply(&direct, first.ts(), "and now?").unwrap();
    eventually("it is answered", || async { team.said_in(&direct).len() == 6 }).await;
    let reply = team.said_in(&direct).into_iter().find(|said| said.raw["thread_ts"] == json!(first.ts()) && said.ts() != first.ts());
    assert_eq!(reply.map(|said| said.by), Some("Vince".to_owned()), "a thread on an answer is its persona's");
    team.settle().await;
    team.stop().await;
}

async fn a_command_that_does_not_exist_is_answered_with_those_that_do(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    let told = team.run("general", "/team nonsense").await;
    assert!(told.contains("There is no command") && told.contains("`/team backlog`"), "{told}");
    team.settle().await;
    team.stop().await;
}

async fn what_a_command_lacks_is_asked_for_in_a_form(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.ann().command(&team.channel("general"), "/team backlog add --owner vince").unwrap();
    eventually("a form is shown", || async { !team.ann().modals().is_empty() }).await;
    let form = team.ann().modals().remove(0);
    let id = form["id"].as_str().unwrap().to_owned();
    let asked: Vec<&str> = form["blocks"].as_array().unwrap().iter().filter_map(|block| block["block_id"].as_str()).collect();
    assert!(asked.contains(&"what") && !asked.contains(&"owner"), "{asked:?}");
    team.ann().submit(&id, &[("what", &["Sign the contract"])]).unwrap().ended().await;
    team.hears("general", |said| said.text.contains("Sign the contract")).await;
    let listed = team.run("general", "/team backlog list").await;
    assert!(listed.contains("Sign the contract") && listed.contains("Vince"), "{listed}");
    team.stop().await;
}

async fn a_message_becomes_an_item_by_its_menu(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    let general = team.channel("general");
    let said = team.person("Bob").say(&general, "We *should* water the plants.").unwrap();
    team.ann().use_on_message(&general, &said, "message backlog add").unwrap().ended().await;
    eventually("there is a form", || async { team.ann().modals().len() == 1 }).await;
    let form = team.ann().modals().remove(0);
    assert_eq!(form.pointer("/blocks/0/element/initial_value"), Some(&json!("We *should* water the plants.")));
    team.ann().submit(form["id"].as_str().unwrap(), &[("owner", &["Vince"])]).unwrap().ended().await;
    let added = team.hears("general", |said| said.text.contains("Ann added for Vince")).await;
    assert!(added.text.contains("water the plants"), "{added:#?}");
    assert!(team.ann().use_on_message(&general, &said, "message backlog").is_err(), "there is no such shortcut");
    team.stop().await;
}

async fn what_is_used_in_a_thread_is_answered_there(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    let general = team.channel("general");
    let root = team.say("general", "Bob, these are my plans.");
    let in_thread = |said: &Said, text: &str| said.text.contains(text) && said.raw["thread_ts"] == json!(root);
    let said = team.person("Bob").reply(&general, &root, "We should water the plants.").unwrap();
    // Those who were seen can be chosen.
    team.settle().await;
    team.ann().use_on_message(&general, &said, "message backlog add").unwrap().ended().await;
    eventually("there is a form", || async { team.ann().modals().len() == 1 }).await;
    let form = team.ann().modals().remove(0);
    let owner = format!("slack:{}", team.ann().id());
    team.ann().submit(form["id"].as_str().unwrap(), &[("owner", &[&owner])]).unwrap().ended().await;
    team.hears("general", |said| in_thread(said, "Ann added for Ann")).await;
    let asked = team.hears("general", |said| in_thread(said, "water the plants") && !said.buttons().is_empty()).await;
    let before = team.said("general").len();
    team.press("general", &asked, "Done").await;
    eventually("it is answered", || async { team.said("general").len() > before }).await;
    team.settle().await;
    let elsewhere: Vec<_> = team.said("general").into_iter().filter(|said| said.raw["thread_ts"] != json!(root)).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
    team.stop().await;
}

async fn a_form_that_is_handed_in_late_is_answered_all_the_same(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.ann().command(&team.channel("general"), "/team backlog add --owner vince").unwrap();
    eventually("a form is shown", || async { !team.ann().modals().is_empty() }).await;
    // Slack takes no answer to the command any more.
    team.workspace.advance(Duration::from_mins(31));
    let form = team.ann().modals().remove(0);
    team.ann().submit(form["id"].as_str().unwrap(), &[("what", &["Sign the contract"])]).unwrap().ended().await;
    team.hears("general", |said| said.text.contains("Ann added for Vince")).await;
    team.settle().await;
    assert_eq!(team.said("general").iter().filter(|said| said.text.contains("Ann added for Vince")).count(), 1);
    team.stop().await;
}

async fn a_shortcut_asks_where_it_answers(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.ann().use_shortcut("remind new").unwrap().ended().await;
    eventually("there is a form", || async { team.ann().modals().len() == 1 }).await;
    let form = team.ann().modals().remove(0);
    let general = team.channel("general");
    let filled: [(&str, &[&str]); 3] = [("when", &["tomorrow at 9"]), ("what", &["pay the bill"]), ("teamroom_where", &[&general])];
    team.ann().submit(form["id"].as_str().unwrap(), &filled).unwrap().ended().await;
    let set = team.hears("general", |said| said.text.contains("pay the bill")).await;
    assert!(set.text.starts_with("I'll remind you"), "{set:#?}");
    team.stop().await;
}

async fn the_home_tab_shows_what_is_open(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.run("general", "/team backlog add Sign the contract --owner me").await;
    team.ann().open_home(TEAM).unwrap();
    let shown = || team.ann().home(TEAM).map(|home| home.to_string()).unwrap_or_default();
    eventually("the home tab is there", || async { shown().contains("What you can ask for") }).await;
    let home = shown();
    let (hers, all) = home.split_once("What the team works on").expect("both lists");
    assert!(hers.contains("Sign the contract") && !all.contains("Sign the contract"), "once: {home}");
    let view = team.ann().home(TEAM).expect("a home tab");
    let details =
        home.split("\"value\":\"").skip(1).filter_map(|rest| rest.split('"').next()).find(|value| value.contains("show")).unwrap();
    team.ann().act_in_view(view["id"].as_str().unwrap(), details, &[]).unwrap().ended().await;
    let direct = team.ann().open_direct(&[&team.workspace.app(TEAM).user]);
    let told = || team.ann().messages(&direct).iter().any(|said| said["text"].as_str().unwrap_or_default().contains("Sign the contract"));
    eventually("the details come as a direct message", || async { told() }).await;
    team.stop().await;
}

/// Slack has no slash commands in threads, so the command is a message.
async fn a_command_is_given_in_a_thread(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("It is slow."));
    team.say("general", "solus, how is the build?");
    let said = team.hears("general", |said| said.text == "It is slow.").await;
    let mention = format!("<@{}>", team.workspace.app(TEAM).user);
    team.ann().reply(&team.channel("general"), said.ts(), &format!("{mention} backlog list")).unwrap();
    let listed = team.hears("general", |said| said.text.contains("empty")).await;
    assert_eq!((listed.by.as_str(), &listed.raw["thread_ts"]), ("Kelly", &json!(said.ts())));
    team.settle().await;
    assert_eq!(team.said("general").len(), 2);
    team.stop().await;
}

async fn a_thread_shows_who_is_thinking_and_then_the_answer(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    let (may_answer, waits) = watch::channel(false);
    team.model.on(move |asked| {
        if asked.prompt().contains("and why?") { Script::say("Because of the cache.").when(&waits) } else { Script::say("It is slow.") }
    });
    let direct = team.ann().open_direct(&[&team.workspace.app(TEAM).user]);
    let asked = team.ann().say(&direct, "how is the build?").unwrap();
    team.hears(&direct, |said| said.text == "It is slow.").await;
    team.ann().reply(&direct, &asked, "and why?").unwrap();
    let status = || team.workspace.assistant(&direct, &asked).map(|shown| shown["status"].clone()).unwrap_or_default();
    eventually("it shows who is thinking", || async { status() == "is thinking, as Kelly…" }).await;
    may_answer.send(true).unwrap();
    team.hears(&direct, |said| said.text == "Because of the cache.").await;
    assert_eq!(status(), json!(""));
    team.settle().await;
    team.stop().await;
}

/// An answer could tell the other company something that is known from other channels.
async fn a_channel_that_another_company_reads_is_left_alone(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("On Thursdays."));
    let general = team.channel("general");
    team.ann().share_channel(&general, true);
    // Tries again, because only events of the same connection are in order.
    eventually("the team knows it", || async {
        team.say("general", "vince, when do we deploy?");
        team.settle().await;
        team.said("general").iter().any(|said| said.text.starts_with("We keep quiet here"))
    })
    .await;
    assert!(team.run("general", "/team backlog list").await.contains("another company reads this channel"));
    team.ann().share_channel(&general, false);
    eventually("the team knows it", || async {
        team.say("general", "vince, when do we deploy?");
        team.settle().await;
        team.said("general").last().is_some_and(|said| said.text == "On Thursdays.")
    })
    .await;
    team.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guests_are_answered_and_people_of_other_companies_are_not() {
    let people = |options: &mut Options| {
        let who = |name: &str, role| PersonConfig { role, ..PersonConfig::new(name) };
        options.people.extend([who("Gil", Role::Guest), who("Sam", Role::Stranger)]);
        options.channels.push(ChannelConfig { shared: true, ..ChannelConfig::new("partners") });
        options.apps[0].channels.push("partners".to_owned());
    };
    let listed = |config: &mut Config| config.chat.allowed_channels = vec!["partners".to_owned()];
    let team = SlackTeam::start_with(Backing::Sqlite, listed, people).await;
    team.model.on(|_| Script::say("Yes."));
    let partners = team.channel("partners");
    team.person("Sam").say(&partners, "vince, are you there?").unwrap();
    team.person("Gil").say(&partners, "echo, are you there?").unwrap();
    team.hears("partners", |said| said.by == "Echo").await;
    team.settle().await;
    assert_eq!(team.said("partners").len(), 1, "{:#?}", team.said("partners"));
    team.stop().await;
}
