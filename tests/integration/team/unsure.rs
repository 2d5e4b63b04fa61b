//! Where the rules cannot tell whether a message wants an answer, a cheap model decides, up to a limit. If anything goes wrong, the team stays
//! silent.

use kernel::llm::settings::ProviderKind;
use kernel::time::ManualClock;
use serde_json::json;

use super::crashes::set;
use crate::support::database::count;
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};
use crate::support::time::go_on;

on_both_stores!(killed_while_it_is_asked);
on_one_store!(
    a_model_tells_where_the_rules_are_unsure_and_is_not_asked_where_they_are_not,
    a_day_has_a_limit,
    a_model_that_fails_or_hangs_means_silence,
    what_follows_an_answer_goes_where_it_belongs,
    what_is_added_to_a_question_belongs_to_it,
    without_its_word_the_persona_that_answered_goes_on,
);

/// What Ann writes after an answer of Sentinel, who knows about code.
const NEW_SUBJECT: &str = "who's on call?";

const UNSURE: &str = "it would be nice to hear your view on this";

fn is_routing(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("wants_an_assistant"))
}

fn routed(wants: bool) -> Script {
    Script::Json(json!({"wants_an_assistant": wants, "why": "It seems to ask for a view."}))
}

fn wanted(backing: Backing) -> Wanted {
    Wanted::on(backing).model(ProviderKind::OpenAi).sandbox(|options| options.people = vec!["Ann".to_owned(), "Bob".to_owned()])
}

fn asked(team: &TestTeam) -> usize {
    team.model.requests().iter().filter(|asked| is_routing(asked)).count()
}

async fn a_model_tells_where_the_rules_are_unsure_and_is_not_asked_where_they_are_not(backing: Backing) {
    let team = wanted(backing).start().await;
    team.model
        .on(|asked| if is_routing(asked) { routed(asked.prompt().contains("hear your view")) } else { Script::say("I can tell you.") });
    team.say("general", UNSURE).await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!((answer.author.as_str(), answer.text.as_str()), ("Kelly", "I can tell you."));
    assert_eq!(count(&team, "SELECT COUNT(*) FROM inbox WHERE decision LIKE '%\"weighed\"%It seems to ask for a view.%'").await, 1);
    // Ann is now in a conversation with Kelly in this channel, so the next messages are in another one.
    team.say("ops", "mohu vám poslat ten soubor").await;
    team.settle().await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM inbox WHERE decision LIKE '%\"silence\"%It seems to ask for a view.%'").await, 1);
    // Plain statements, and talk among people.
    team.say("ops", "the build is red again").await;
    team.settle().await;
    team.say_as(1, "ops", "Ann, did you see the game?").await;
    eventually("Bob is heard", || async { count(&team, "SELECT COUNT(*) FROM inbox WHERE decided_at IS NOT NULL").await == 4 }).await;
    team.say("ops", "you should have been there, vince scored").await;
    team.settle().await;
    assert!(team.answers("ops").await.is_empty());
    assert_eq!(asked(&team), 2);
}

async fn a_day_has_a_limit(backing: Backing) {
    let team = wanted(backing).configure(|config| config.chat.unsure_per_day = 2).start().await;
    team.model.on(|_| routed(false));
    for number in 0..4 {
        team.say("general", &format!("{UNSURE} {number}")).await;
        team.settle().await;
    }
    assert_eq!((asked(&team), team.answers("general").await.len()), (2, 0));
}

async fn a_model_that_fails_or_hangs_means_silence(backing: Backing) {
    let clock = ManualClock::new("2026-03-02T09:00:00Z".parse().expect("a time"));
    let _time = go_on(&clock);
    let team =
        wanted(backing).clock(clock).configure(|config| config.chat.max_age = std::time::Duration::from_hours(24 * 1000)).start().await;
    for script in [Script::status(400), Script::say("I do not know."), Script::Hang] {
        team.model.on(move |_| script.clone());
        team.say("general", UNSURE).await;
        team.settle().await;
    }
    assert!(team.answers("general").await.is_empty());
    assert_eq!(count(&team, "SELECT COUNT(*) FROM inbox WHERE decision LIKE '%\"silence\"%'").await, 3);
}

async fn what_follows_an_answer_goes_where_it_belongs(backing: Backing) {
    let team = wanted(backing).start().await;
    team.model.on(|asked| match is_routing(asked) {
        true if asked.prompt().contains("\nwho's on call?\n") => {
            Script::Json(json!({"wants_an_assistant": true, "assistant": "Kelly", "why": "It is about people."}))
        }
        true => routed(false),
        false => Script::say("I can tell you."),
    });
    team.say("general", "sentinel, what broke the build?").await;
    team.wait_for_answers("general", 1).await;
    team.say("general", NEW_SUBJECT).await;
    let answers = team.wait_for_answers("general", 2).await;
    let prompt = team.model.requests().into_iter().find(is_routing).expect("it was weighed").prompt();
    assert!(prompt.contains("Sentinel has just answered") && prompt.contains("what broke the build?"), "{prompt}");
    assert_eq!(answers[1].author, "Kelly");
    team.say("general", "great, as if we had nothing else to do").await;
    team.settle().await;
    assert_eq!((asked(&team), team.answers("general").await.len()), (2, 2), "a sarcastic aside");
    team.say("general", "sentinel, and the tests?").await;
    team.wait_for_answers("general", 3).await;
    team.say("general", "kelly I need the list of open bugs").await;
    let answers = team.wait_for_answers("general", 4).await;
    assert_eq!((answers[3].author.as_str(), asked(&team)), ("Kelly", 2));
}

async fn what_is_added_to_a_question_belongs_to_it(backing: Backing) {
    let team = wanted(backing).start().await;
    let (go_on, may) = tokio::sync::watch::channel(false);
    team.model.on(move |asked| if is_routing(asked) { routed(false) } else { Script::say("I can tell you.").when(&may) });
    team.say("general", "vince, what did we spend?").await;
    team.model.wait_for(1).await;
    team.say("general", "just one sentence").await;
    eventually("it is heard", || async { count(&team, "SELECT COUNT(*) FROM inbox").await == 2 }).await;
    go_on.send(true).expect("the model waits");
    let answers = team.wait_for_answers("general", 2).await;
    assert_eq!((answers[1].author.as_str(), asked(&team)), ("Vince", 0));
}

async fn without_its_word_the_persona_that_answered_goes_on(backing: Backing) {
    let team = wanted(backing).start().await;
    team.model.on(|asked| if is_routing(asked) { Script::status(400) } else { Script::say("I can tell you.") });
    team.say("general", "sentinel, what broke the build?").await;
    team.wait_for_answers("general", 1).await;
    team.say("general", NEW_SUBJECT).await;
    let answers = team.wait_for_answers("general", 2).await;
    assert_eq!(answers[1].author, "Sentinel");
}

async fn killed_while_it_is_asked(backing: Backing) {
    let team = wanted(backing).without_app().start().await;
    set(&team, "");
    team.model.on(|_| Script::Hang);
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", UNSURE).await;
    eventually("it is asked", || async { asked(&team) == 1 }).await;
    process.kill();
    team.model.on(|asked| if is_routing(asked) { routed(true) } else { Script::say("I can tell you.") });
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it is answered", || async { team.answers("general").await.len() == 1 }).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert_eq!((asked(&team), team.answers("general").await.len()), (2, 1));
}
