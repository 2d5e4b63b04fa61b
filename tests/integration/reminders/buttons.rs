//! The buttons below a reminder: pressed in time, late and twice.

use teamroom::features::reminders::button::{Choice, RemindButton};

use super::stage::{Stage, utc};
use crate::support::command::{is_ephemeral, text};
use crate::support::database::count;
use crate::support::team::{Backing, Shown, on_one_store};
use kernel::time::Clock;

on_one_store!(
    a_reminder_is_snoozed_twice_and_done,
    one_time_of_a_repeated_reminder_is_snoozed_once,
    a_date_with_two_readings_is_asked_about_once,
    the_persona_that_was_asked_about_a_date_tells_the_reminder,
);

/// The id of the button of a message that bears this label.
fn button(message: &Shown, label: &str) -> String {
    let buttons = message.raw["components"][0]["components"].as_array().expect("a row of buttons");
    buttons.iter().find(|button| button["label"] == label).expect("the button")["custom_id"].as_str().expect("an id").to_owned()
}

async fn a_reminder_is_snoozed_twice_and_done(backing: Backing) {
    let mut stage = Stage::start(backing).await;
    stage.answer_to("remind me tomorrow at 9 to pay the hosting bill").await;
    stage.jump("2026-11-25T08:00:05Z");
    let first = stage.told(1).await.remove(0);
    let snoozed = stage.press(&first, "Snooze 1 h").await;
    assert!(text(&snoozed).contains("I'll remind you again on Wed 25 Nov at 10:0") && is_ephemeral(&snoozed), "{snoozed}");
    assert!(!stage.has_buttons(&first).await);
    let again = stage.press_stale(&button(&first, "Tomorrow")).await;
    assert!(text(&again).contains("This reminder was snoozed already. It comes on Wed 25 Nov at 10:0"), "{again}");
    stage.jump("2026-11-25T09:10:00Z");
    let second = stage.told(2).await.remove(1);
    let late = stage.press_stale(&button(&first, "Done")).await;
    assert!(text(&late).contains("Use the buttons below the newer message."), "{late}");

    let snoozed = stage.press(&second, "Tomorrow").await;
    assert!(text(&snoozed).contains("I'll remind you again on Thu 26 Nov at 09:00 CET: pay the hosting bill"), "{snoozed}");
    // Buttons work after a restart, and what was missed meanwhile is told.
    stage.restart_at("2026-11-26T08:30:00Z").await;
    let third = stage.told(3).await.remove(2);
    assert!(third.text.ends_with(">, due on Thu 26 Nov at 09:00 CET: pay the hosting bill"), "{}", third.text);
    let done = stage.press(&third, "Done").await;
    assert!(text(&done).contains("Marked as done.") && is_ephemeral(&done), "{done}");
    assert!(!stage.has_buttons(&third).await);
    let late = stage.press_stale(&button(&third, "Snooze 1 h")).await;
    assert!(text(&late).contains("This reminder is done already."), "{late}");
    stage.waits(0).await;
    stage.told(3).await;
    let log =
        |kind: &str| format!("SELECT COUNT(*) FROM events WHERE topic = 'reminder' AND kind = '{kind}' AND payload NOT LIKE '%hosting%'");
    for (kind, times) in [("made", 1), ("told", 3), ("snoozed", 2), ("done", 1), ("cancelled", 0)] {
        assert_eq!(count(&stage.team, &log(kind)).await, times, "{kind}");
    }
    let gone = RemindButton { choice: Choice::Done, reminder: "nowhere".into(), round: 0 };
    assert!(text(&stage.press_stale(&gone.id()).await).contains("This reminder is not there any more."));
}

async fn one_time_of_a_repeated_reminder_is_snoozed_once(backing: Backing) {
    let stage = Stage::start(backing).await;
    let set = stage.answer_to("remind me every Monday at 8 to water the plants").await;
    assert_eq!(set.text, "I'll remind you every Monday at 08:00, first on Mon 30 Nov at 08:00 CET: water the plants");
    stage.jump("2026-11-30T07:00:05Z");
    let told = stage.told(1).await.remove(0);
    let snoozed = stage.press(&told, "Snooze 1 h").await;
    assert!(text(&snoozed).contains("I'll remind you again on Mon 30 Nov at 09:0"), "{snoozed}");
    for label in ["Snooze 1 h", "Tomorrow"] {
        let again = stage.press_stale(&button(&told, label)).await;
        assert!(text(&again).contains("This reminder was snoozed already."), "{again}");
    }
    stage.jump("2026-11-30T08:10:00Z");
    let again = stage.told(2).await.remove(1);
    assert!(text(&stage.press(&again, "Done").await).contains("Marked as done."));
    stage.waits(1).await;
    stage.jump("2026-12-07T07:00:05Z");
    let next = stage.told(3).await.remove(2);
    let done = stage.press(&next, "Done").await;
    assert!(text(&done).contains("Done. The next one comes on Mon 14 Dec at 08:00 CET."), "{done}");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM reminders WHERE state = 'waiting'").await, 1);
    assert!(stage.clock.now() < utc("2026-12-08T00:00:00Z"));
    stage.waits(1).await;
}

async fn a_date_with_two_readings_is_asked_about_once(backing: Backing) {
    let stage = Stage::start(backing).await;
    let asked = stage.answer_to("remind me on 10/4 at 9 to file taxes").await;
    assert_eq!(asked.text, "Is 10/4 10 April or 4 October? Please write the month as a word.");
    let pressed = stage.press(&asked, "10 April").await;
    assert!(text(&pressed).starts_with("I'll remind you on Sat 10 Apr 2027 at 09:00 CEST: file taxes"), "{pressed}");
    assert!(!stage.has_buttons(&asked).await);
    let set = stage.answer_to("remind me on 10/5 at 9 to call the accountant").await;
    assert_eq!(set.text, "I'll remind you on Mon 10 May 2027 at 09:00 CEST: call the accountant");
    stage.waits(2).await;
}

async fn the_persona_that_was_asked_about_a_date_tells_the_reminder(backing: Backing) {
    let stage = Stage::start(backing).await;
    let asked = stage.answer_to("vince, remind me on 12/1 at 9 to file taxes").await;
    assert_eq!(
        (asked.text.as_str(), asked.author.as_str()),
        ("Is 12/1 12 January or 1 December? Please write the month as a word.", "Vince")
    );
    let pressed = stage.press(&asked, "1 December").await;
    assert!(text(&pressed).starts_with("I'll remind you on Tue 1 Dec at 09:00 CET: file taxes"), "{pressed}");
    // An old client still shows the buttons.
    let again = stage.press_stale(&button(&asked, "12 January")).await;
    assert!(text(&again).contains("This reminder is set already."), "{again}");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM reminder_dates WHERE date_order = 'month_first'").await, 1);
    stage.waits(1).await;
    stage.jump("2026-12-01T08:00:05Z");
    let told = stage.told(1).await.remove(0);
    assert_eq!((told.text, told.author.as_str()), (format!("Reminder for <@{}>: file taxes", stage.id_of(0)), "Vince"));
}
