//! A standup on a platform that is unlike Discord.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::standup::change;
use crate::support::corner::{CornerTeam, LIMIT};
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(a_standup_is_held_without_threads);

async fn a_standup_is_held_without_threads(backing: Backing) {
    let team = CornerTeam::start_with(backing, false, |config| change(config, |standup| standup.pause = Duration::ZERO)).await;
    team.say("daily-standup", "let's do a new standup kelly").await;
    team.wait_for("daily-standup", |note| note.card.as_ref().is_some_and(|card| card.starts_with("Day Report"))).await;
    let notes = team.settled("daily-standup").await;
    let authors: BTreeSet<_> = notes.iter().map(|note| note.author.to_string()).collect();
    assert!(authors.len() >= 6, "each speaks for itself: {authors:?}");
    let sections = notes.iter().filter(|note| note.text.contains("'''")).count();
    assert!(sections >= 2, "what stands in threads elsewhere stands in the channel: {notes:#?}");
    assert!(notes.iter().all(|note| note.text.chars().count() <= LIMIT && !note.text.contains("<small>") && !note.text.contains("-# ")));
    team.say("daily-standup", "thanks, all done").await;
    team.settled("daily-standup").await;
    team.stop().await;
}
