//! Two people in one channel of a team without a model.

use std::time::Duration;

use kernel::time::ManualClock;

use crate::support::database::count;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};
use crate::support::time::go_on;

on_one_store!(the_team_hears_what_is_for_it_and_leaves_small_talk_alone, the_same_refusal_is_given_once_an_hour,);

const ANN: usize = 0;
const BEN: usize = 1;

/// A channel in which both have written.
async fn two_people(backing: Backing, clock: &ManualClock) -> TestTeam {
    let wanted = Wanted::on(backing).sandbox(|options| options.people = vec!["Ann".to_owned(), "Ben".to_owned()]);
    let wanted = wanted.configure(|config| config.chat.max_age = Duration::from_hours(24 * 1000));
    let team = wanted.clock(clock.clone()).start().await;
    assert_eq!(hear(&team, BEN, "the train was late").await, Vec::<String>::new());
    assert_eq!(hear(&team, ANN, "mine too").await, Vec::<String>::new());
    team
}

fn clock() -> ManualClock {
    ManualClock::new("2026-03-02T09:00:00Z".parse().expect("a time"))
}

/// Somebody says something. Returns what the team posts on it, each with its author.
async fn hear(team: &TestTeam, person: usize, text: &str) -> Vec<String> {
    let decided = "SELECT COUNT(*) FROM inbox WHERE decided_at IS NOT NULL";
    let (before, known) = (team.answers("general").await.len(), count(team, decided).await);
    team.say_as(person, "general", text).await;
    eventually("it is decided on", || async { count(team, decided).await > known }).await;
    team.settle().await;
    team.answers("general").await.into_iter().skip(before).map(|answer| format!("{}: {}", answer.author, answer.text)).collect()
}

async fn the_team_hears_what_is_for_it_and_leaves_small_talk_alone(backing: Backing) {
    let clock = clock();
    let _time = go_on(&clock);
    let team = two_people(backing, &clock).await;
    for (person, text, begins) in [
        (BEN, "hi team", Some("Kelly: ")),
        (ANN, "hi all, Ann here", Some("Kelly: ")),
        (BEN, "lunch at 12?", None),
        (ANN, "sure, where?", None),
        (BEN, "at the harbour", None),
        (ANN, "remind me tomorrow at 9 to pay the hosting bill", Some("Kelly: I'll remind you on ")),
        (BEN, "ask vince what he thinks about our costs", Some("Kelly: ")),
        (ANN, "see you there", None),
        (BEN, "add to the backlog: renew the certificate", Some("Kelly: ")),
        (ANN, "can you help me?", Some("Kelly: ")),
        (BEN, "vicne, what did we spend?", Some("Vince: ")),
        (ANN, "you forgot your umbrella, ben", None),
    ] {
        let answers = hear(&team, person, text).await;
        match begins {
            Some(begins) => assert!(answers.first().is_some_and(|answer| answer.starts_with(begins)), "{text}: {answers:#?}"),
            None => assert_eq!(answers, Vec::<String>::new(), "{text}"),
        }
    }
}

async fn the_same_refusal_is_given_once_an_hour(backing: Backing) {
    let clock = clock();
    let _time = go_on(&clock);
    let team = two_people(backing, &clock).await;
    let refusal = |answers: &[String]| answers.len() == 1 && answers[0].contains("about");
    let first = hear(&team, ANN, "where is our manual of the printer?").await;
    assert!(refusal(&first), "{first:#?}");
    assert_eq!(hear(&team, BEN, "who has our key of the cellar?").await, Vec::<String>::new());
    let silent = "SELECT COUNT(*) FROM turns WHERE state = 'silent' AND error LIKE 'nothing was found%'";
    assert_eq!(count(&team, silent).await, 1);
    let named = hear(&team, BEN, "vince, who has our key of the cellar?").await;
    assert!(refusal(&named), "{named:#?}");
    clock.advance(Duration::from_mins(61));
    let again = hear(&team, ANN, "where is our manual of the dishwasher?").await;
    assert!(refusal(&again), "{again:#?}");
}
