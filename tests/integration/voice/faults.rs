//! An engine that fails: the person is told, nothing is lost, and another click tries again.

use std::time::Duration;

use super::stage::{STANDUP, clock, hold_standup, is_play, sounds, thread, wait_for_sound, wanted};
use crate::support::command::press;
use crate::support::database::count;
use crate::support::model::voice::Manner;
use crate::support::team::{Backing, eventually, on_one_store};
use crate::support::time::go_on;

on_one_store!(an_engine_that_fails_is_told_and_tried_again, a_used_up_budget_is_told_at_once);

async fn an_engine_that_fails_is_told_and_tried_again(backing: Backing) {
    let clock = clock();
    let team = wanted(backing)
        .configure(|config| config.models.first_byte_timeout = Duration::from_millis(500))
        .clock(clock.clone())
        .start()
        .await;
    let _time = go_on(&clock);
    let report = hold_standup(&team).await;
    let cases = [
        (Manner::Refuses, "scripted does not accept the team's key"),
        (Manner::Hangs, "scripted took too long"),
        (Manner::SendsRubbish, "scripted"),
        (Manner::IsDown, "scripted"),
    ];
    for (number, (manner, why)) in cases.into_iter().enumerate() {
        // Advances past the pause of an endpoint that failed several times.
        clock.advance(Duration::from_mins(10));
        team.model.set_voice(manner);
        press(&team, STANDUP, &report, is_play).await;
        let told = || async {
            let said = thread(&team, &report).await;
            let told = said.iter().filter_map(|message| message["content"].as_str()).filter(|text| text.starts_with("I could not make"));
            told.map(str::to_owned).collect::<Vec<_>>()
        };
        eventually("the person is told", || async {
            // Advances past the pauses between attempts.
            clock.advance(Duration::from_secs(20));
            told().await.len() > number
        })
        .await;
        let last = told().await.pop().unwrap();
        assert!(last.contains("the audio of Standup of ") && last.contains(why) && last.contains("*Play*"), "{manner:?}: {last}");
    }
    clock.advance(Duration::from_mins(10));
    team.model.set_voice(Manner::Works);
    press(&team, STANDUP, &report, is_play).await;
    wait_for_sound(&team, &report).await;
    assert_eq!(sounds(&thread(&team, &report).await).len(), 1);
    assert_eq!(count(&team, "SELECT COUNT(*) FROM ledger WHERE outcome = 'reserved'").await, 0);
}

async fn a_used_up_budget_is_told_at_once(backing: Backing) {
    let team = wanted(backing).configure(|config| config.budgets.day = Some(kernel::money::Money(100))).start().await;
    let report = hold_standup(&team).await;
    press(&team, STANDUP, &report, is_play).await;
    let told = || async {
        let said = thread(&team, &report).await;
        said.iter()
            .any(|message| message["content"].as_str().is_some_and(|text| text.starts_with("I could not make") && text.contains('$')))
    };
    eventually("the person is told", told).await;
    assert_eq!(team.model.spoken().len(), 0);
}
