//! `/remind`.

use serde_json::Value;

use super::stage::{HERE, Stage};
use crate::support::command::{invoke, is_ephemeral, sub_command, text};
use crate::support::team::{Backing, Shown, eventually, on_one_store};

on_one_store!(
    a_reminder_is_set_listed_moved_and_told,
    what_was_cancelled_is_not_told,
    nobody_else_changes_a_reminder,
    a_person_has_reminders_in_a_time_zone_of_their_own,
);

async fn remind(stage: &Stage, command: &str, options: &[(&str, &str)]) -> Value {
    invoke(&stage.team, HERE, "remind", sub_command(command, options)).await
}

async fn a_reminder_is_set_listed_moved_and_told(backing: Backing) {
    let stage = Stage::start(backing).await;
    let listed = remind(&stage, "list", &[]).await;
    assert!(text(&listed).starts_with("No reminders here. Add one with `/remind new`") && is_ephemeral(&listed), "{listed}");
    let set = remind(&stage, "new", &[("when", "tomorrow at 9"), ("what", "pay the hosting bill")]).await;
    assert!(text(&set).starts_with("I'll remind you on Wed 25 Nov at 09:00 CET: pay the hosting bill (`"), "{set}");
    let set = remind(&stage, "new", &[("when", "every weekday at 17"), ("what", "write the log")]).await;
    assert!(text(&set).contains("I'll remind you every weekday at 17:00, first on Tue 24 Nov at 17:00 CET: write the log"), "{set}");
    let listed = remind(&stage, "list", &[]).await;
    for part in ["Wed 25 Nov at 09:00 CET", "pay the hosting bill", "every weekday at 17:00, next on Tue 24 Nov at 17:00 CET", "Ann"] {
        assert!(text(&listed).contains(part), "{listed}");
    }
    let moved = remind(&stage, "snooze", &[("which", "hosting"), ("until", "Friday at 10")]).await;
    assert!(text(&moved).starts_with("I'll remind you again on Fri 27 Nov at 10:00 CET: pay the hosting bill"), "{moved}");
    let which = text(&set).rsplit('`').nth(1).expect("its id").to_owned();
    let cancelled = remind(&stage, "cancel", &[("which", &which)]).await;
    assert!(text(&cancelled).starts_with("Cancelled your reminder: write the log"), "{cancelled}");
    // The jobs of due times that were changed or cancelled post nothing.
    stage.jump("2026-11-25T17:00:00Z");
    stage.waits(1).await;
    stage.told(0).await;
    stage.jump("2026-11-27T09:00:05Z");
    assert!(stage.told(1).await[0].text.ends_with(": pay the hosting bill"));
    let soon = remind(&stage, "snooze", &[("which", "hosting"), ("until", "1 hour")]).await;
    assert!(text(&soon).starts_with("I'll remind you again on Fri 27 Nov at 11:0"), "{soon}");
    stage.jump("2026-11-27T10:02:00Z");
    stage.told(2).await;
    stage.waits(0).await;
}

async fn what_was_cancelled_is_not_told(backing: Backing) {
    let stage = Stage::start(backing).await;
    let set = stage.answer_to("remind me tomorrow at 9 to call").await;
    let cancelled = stage.press(&set, "Cancel").await;
    assert!(text(&cancelled).contains("Cancelled your reminder: call") && is_ephemeral(&cancelled), "{cancelled}");
    assert!(!stage.has_buttons(&set).await);
    let listed = remind(&stage, "list", &[]).await;
    assert!(text(&listed).starts_with("No reminders here."), "{listed}");
    stage.jump("2026-11-26T08:00:00Z");
    stage.waits(0).await;
    stage.told(0).await;
    for (command, options, told) in [
        ("new", &[("when", "2 hours ago"), ("what", "call")][..], "I cannot read \"2 hours ago\" as a time."),
        ("cancel", &[("which", "call")], "There is no open reminder \"call\" here. `/remind list` shows those there are."),
        ("snooze", &[("which", "call"), ("until", "soon")], "I cannot read \"soon\" as a time. Try \"tomorrow at 9\""),
        ("snooze", &[("which", "call"), ("until", "every day")], "A reminder is snoozed to one time"),
        ("new", &[("when", "whenever"), ("what", "call")], "I cannot read \"whenever\" as a time."),
        ("new", &[("when", "tomorrow"), ("what", "call"), ("whom", "Eve")], "I don't know anybody called \"Eve\"."),
    ] {
        let refused = remind(&stage, command, options).await;
        assert!(text(&refused).starts_with(told), "{command}: {refused}");
    }
}

async fn a_person_has_reminders_in_a_time_zone_of_their_own(backing: Backing) {
    let mut stage = Stage::start(backing).await;
    let shown = remind(&stage, "zone", &[]).await;
    assert!(text(&shown).ends_with("are in Europe/Berlin, where it is 15:30 now.") && is_ephemeral(&shown), "{shown}");
    let unknown = remind(&stage, "zone", &[("zone", "Mars/Base")]).await;
    assert!(text(&unknown).starts_with("I know no time zone \"Mars/Base\"."), "{unknown}");
    let chosen = remind(&stage, "zone", &[("zone", "tokyo")]).await;
    assert!(text(&chosen).ends_with("are in Asia/Tokyo, where it is 23:30 now."), "{chosen}");
    stage.restart_at("2026-11-24T14:30:00Z").await;
    let set = stage.answer_to("remind me tomorrow at 9 to call").await;
    assert!(set.text.starts_with("I'll remind you on Wed 25 Nov at 09:00 JST: call"), "{}", set.text);
    let moved = remind(&stage, "snooze", &[("which", "call"), ("until", "tomorrow at 10")]).await;
    assert!(text(&moved).contains("on Wed 25 Nov at 10:00 JST: call"), "{moved}");
    // The time zone applies to Ann only.
    stage.say_as_bob("remind me tomorrow at 9 to write").await;
    let is_bobs = |shown: &Shown| shown.text.starts_with("I'll remind you on Wed 25 Nov at 09:00 CET: write");
    eventually("Bob's is in the team's zone", || async { stage.team.answers(HERE).await.iter().any(is_bobs) }).await;
    stage.jump("2026-11-25T01:00:05Z");
    assert!(stage.told(1).await[0].text.ends_with(": call"));
    let teams = remind(&stage, "zone", &[("zone", "team")]).await;
    assert!(text(&teams).contains("Europe/Berlin"), "{teams}");
}

async fn nobody_else_changes_a_reminder(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.say_as_bob("remind me tomorrow at 9 to call").await;
    let set = stage.team.wait_for_answers(HERE, 1).await.remove(0);
    let refused = "Only Bob or an operator can change this reminder.";
    let pressed = stage.press(&set, "Cancel").await;
    assert!(text(&pressed).contains(refused) && is_ephemeral(&pressed), "{pressed}");
    assert!(stage.has_buttons(&set).await);
    for command in ["cancel", "snooze"] {
        let answer = remind(&stage, command, &[("which", "call")]).await;
        assert!(text(&answer).contains(refused), "{answer}");
    }
    stage.jump("2026-11-25T08:00:05Z");
    let told = stage.told(1).await.remove(0);
    let pressed = stage.press(&told, "Done").await;
    assert!(text(&pressed).contains(refused), "{pressed}");
    assert!(stage.has_buttons(&told).await);
}
