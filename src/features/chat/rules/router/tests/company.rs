//! The more people talk to each other, the clearer a message must be for the team.

use super::*;

const TALK: [Company; 5] = [Company::Alone, Company::Quiet, Company::Lately, Company::Speaking, Company::Talking];

/// The responder in each company, with the first letter of its name, or `-`.
fn heard(text: &str, change: impl Fn(&mut Case)) -> String {
    let in_company = |company| {
        let case = Case::says(text).with(&change).with(|case| case.recent.company = company);
        case.route().responders.first().map_or('-', |slug| slug.as_str().chars().next().unwrap_or_default())
    };
    TALK.into_iter().map(in_company).collect()
}

#[test]
fn what_is_certainly_for_the_team_is_heard_whoever_talks_and_the_rest_must_be_clear() {
    for (text, expected) in [
        ("hi team", "kkkkk"),
        ("hi all, Ann here", "kkkkk"),
        ("ask vince what he thinks", "kkkkk"),
        ("vince, look", "vvvvv"),
        ("when do we deploy?", "kkkkk"),
        ("what is the total budget?", "kkkk-"),
        ("can you check the status of the repo?", "kkkkk"),
        ("can you bring the charger?", "kkkk-"),
        ("can you check it?", "kkk--"),
        ("did you check the repo?", "k----"),
        ("hi all", "kkk--"),
        ("good morning", "kk---"),
        ("lunch at 12?", "k----"),
        ("sure, where?", "k----"),
        ("the build is red", "-----"),
        ("Bob, when do we deploy?", "-----"),
    ] {
        assert_eq!(heard(text, |_| {}), expected, "{text}");
    }
    assert_eq!(heard("let's start the standup", |case| case.is_command = true), "kkkkk");
    assert_eq!(heard("Bob, let's start the standup", |case| case.is_command = true), "-----");
    assert_eq!(heard("lunch at 12?", |case| case.fallback = FallbackAnswer::Always), "kkkkk");
    assert_eq!(heard("hi team", |case| case.fallback = FallbackAnswer::Never), "-----");
}

#[test]
fn small_talk_after_an_answer_is_for_the_others_if_there_are_any() {
    for (text, expected) in [
        ("and in euros?", "vvvvv"),
        ("a bit less than I thought", "vvvvv"),
        ("lunch at 12?", "v----"),
        ("you forgot your umbrella", "v----"),
        ("you forgot the taxes, can you add them?", "vvvvv"),
    ] {
        assert_eq!(heard(text, |case| case.recent.with = Some("vince".into())), expected, "{text}");
    }
}

#[test]
fn a_bound_channel_without_a_model_leaves_small_talk_alone() {
    let bound = |is_offline| {
        move |case: &mut Case| {
            case.binding = Some("eliza");
            case.is_offline = is_offline;
        }
    };
    assert_eq!(heard("lunch at 12?", bound(true)), "e----");
    assert_eq!(heard("lunch at 12?", bound(false)), "eeeee");
    assert_eq!(heard("we have spent too much this month", bound(true)), "-----");
}

#[test]
fn a_reply_to_an_answer_that_somebody_else_got_must_want_something() {
    let of = |asker: &'static str| {
        move |case: &mut Case| {
            case.message.reply_to = Some(ReplyTo { message: "2".into(), author: Some("102".into()) });
            case.replied_to = Some("vince".into());
            case.replied_for = Some(asker.into());
        }
    };
    each(&[("told you so", "nobody / Silence"), ("is that with taxes?", "vince / Reply")], of("77"));
    each(&[("told you so", "vince / Reply"), ("told you so, Bob", "nobody / ForOthers")], of("9"));
}
