//! Ann is asked, answers with a file, is reminded, says done; and another time says nothing for three days.

use serde_json::json;
use teamroom::features::backlog::model::{Evidence, WorkStatus};

use super::stage::{ANN, HERE, Stage, YOU, says, texts};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    ann_answers_with_a_file,
    ann_says_that_something_is_done,
    ann_says_nothing_for_three_days,
    the_next_words_after_a_question_answer_it_and_a_question_back_does_not,
    what_somebody_who_was_asked_wants_is_no_answer,
    who_is_asked_for_help_answers_with_a_reply,
    a_due_date_is_shown_and_reminded_of_on_its_day,
    who_does_not_know_hands_the_question_back,
    without_a_model_words_are_an_answer_once_the_person_says_so,
);

const QUESTION: &str = "❓ Question for @Ann: **Ask Ann for the invoice number** (#id)\nReply to this message, or attach the file.";

async fn ann_answers_with_a_file(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Ann for the invoice number")]).await;
    let asked = stage.wait_told(1).await;
    assert_eq!(texts(&asked), [QUESTION]);
    let before = stage.team.answers(HERE).await.len();
    stage.ann_gives(&asked[0], "invoice.txt", "No. 4711").await;
    let item = stage.waits_until(WorkStatus::Done).await;
    stage.rest().await;
    assert_eq!(item.outcome.as_deref(), Some("Ann Lee: See invoice.txt"));
    let answers: Vec<_> = item.evidence.iter().filter(|found| matches!(found, Evidence::Answer { by, .. } if by == "Ann Lee")).collect();
    assert_eq!(answers.len(), 1, "{:#?}", item.evidence);
    assert!(item.evidence.iter().any(|found| matches!(found, Evidence::File { path, bytes: 8, .. } if path == "invoice.txt")));
    assert!(item.evidence.iter().any(|found| matches!(found, Evidence::Delivered { .. })), "{:#?}", item.evidence);
    let kept = stage.team.config.data.join("workspaces").join(item.id.as_str());
    let found = walk(&kept);
    assert!(found.iter().any(|path| std::fs::read(path).unwrap() == b"No. 4711"), "{found:?}");
    // The team posts the end of the item. No persona answers the file.
    let said: Vec<_> = stage.team.answers(HERE).await.split_off(before).into_iter().map(|shown| shown.text).collect();
    assert!(said[0].starts_with("✔ Kelly: Ask Ann for the invoice number — Ann Lee: See invoice.txt"), "{said:#?}");
    assert_eq!(said.len(), 1, "{said:#?}");
    assert_eq!(stage.told_ann().await.len(), 1);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

async fn ann_says_that_something_is_done(backing: Backing) {
    let stage = Stage::start(backing).await;
    assert!(stage.add(&[("what", "Pay the hosting bill"), ("owner", "ann")]).await.contains("added for Ann Lee"));
    let told = stage.wait_told(1).await;
    assert_eq!(texts(&told), ["⏰ Reminder for @Ann: **Pay the hosting bill** (#id)"]);
    // The reply is not clear, so the team asks back. No persona chats about it.
    stage.ann_replies(&told[0], "ich kümmere mich morgen darum").await;
    let asked = stage.hears("Is **Pay the hosting bill**").await;
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    assert_eq!(asked.raw["components"][0]["components"][0]["label"], "Done");
    stage.ann_replies(&told[0], "Done!").await;
    let item = stage.waits_until(WorkStatus::Done).await;
    stage.rest().await;
    assert_eq!(item.outcome.as_deref(), Some("Ann Lee: done"));
    let said = stage.team.answers(HERE).await;
    assert_eq!(said.iter().filter(|shown| shown.text.starts_with('✔')).count(), 1);
    // These are the answer to the command, the reminder, the question back, and the end.
    assert_eq!(said.len(), 4, "{:#?}", texts(&said));
    stage.jump("2026-11-27 12:00");
    stage.rest().await;
    assert_eq!(stage.told_ann().await.len(), 1, "who has answered is not reminded");
}

async fn ann_says_nothing_for_three_days(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Ann for the invoice number")]).await;
    stage.wait_told(1).await;
    stage.jump("2026-11-24 12:50");
    stage.rest().await;
    assert_eq!(stage.told_ann().await.len(), 1);
    stage.jump("2026-11-24 13:05");
    stage.wait_told(2).await;
    // Nobody is reminded at night. After a jump over the next morning there is one reminder.
    stage.jump("2026-11-24 23:00");
    stage.rest().await;
    assert_eq!(stage.told_ann().await.len(), 2);
    stage.jump("2026-11-25 11:00");
    stage.wait_told(3).await;
    for day in ["2026-11-26 11:00", "2026-11-27 11:00"] {
        stage.jump(day);
        stage.rest().await;
    }
    let again =
        "⏰ @Ann, this still waits for your answer: **Ask Ann for the invoice number** (#id)\nReply to this message, or attach the file.";
    let last = format!("{again}\nThis is the last reminder. It stays open in `/backlog list`.");
    assert_eq!(texts(&stage.told_ann().await), [QUESTION, again, &last]);
    let backlog = stage.list().await;
    assert!(backlog.contains("Waiting for people:\n- Ann Lee: Ask Ann for the invoice number (#"), "{backlog}");
    assert!(backlog.contains("since Tue 24 Nov, 10:00, reminded twice"), "{backlog}");
    // A reply to the last reminder is an answer too.
    stage.ann_replies(&stage.told_ann().await[2], "4711").await;
    stage.ann_confirms().await;
    assert_eq!(stage.waits_until(WorkStatus::Done).await.outcome.as_deref(), Some("Ann Lee: 4711"));
}

async fn the_next_words_after_a_question_answer_it_and_a_question_back_does_not(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Ann for the invoice number")]).await;
    let asked = stage.wait_told(1).await;
    // A persona answers Ann's question.
    let before = stage.team.answers(HERE).await.len();
    stage.ann_replies(&asked[0], "Which one do you mean?").await;
    stage.team.wait_for_answers(HERE, before + 1).await;
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    // Ann addresses Kelly, who asked her.
    let kelly = stage.team.account("kelly");
    stage.ann_says(json!({"content": format!("<@{kelly}> it is 4711")})).await;
    stage.ann_confirms().await;
    let item = stage.waits_until(WorkStatus::Done).await;
    assert!(item.outcome.as_deref().is_some_and(|outcome| outcome.contains("it is 4711")), "{item:#?}");
    stage.rest().await;
    let said = stage.team.answers(HERE).await;
    assert_eq!(said.len(), before + 3, "one question back, one end, and no chat: {:#?}", texts(&said));
}

async fn what_somebody_who_was_asked_wants_is_no_answer(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Ann for the invoice number")]).await;
    stage.wait_told(1).await;
    stage.says(ANN, "remind me tomorrow at 9 to call Bob").await;
    stage.hears("I'll remind you").await;
    stage.says(ANN, "kelly, remind me tomorrow at 10 to call Cid").await;
    stage.says(ANN, "thanks kelly!").await;
    stage.rest().await;
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    stage.says(ANN, "kelly, it is 4711").await;
    stage.ann_confirms().await;
    assert_eq!(stage.waits_until(WorkStatus::Done).await.outcome.as_deref(), Some("Ann Lee: kelly, it is 4711"));
}

async fn who_is_asked_for_help_answers_with_a_reply(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Oracle for the odds of rain")]).await;
    let asked = stage.hears("❓ Help needed from").await;
    let reply = async |content: &str| {
        says(&stage.team, YOU, json!({"content": content, "message_reference": {"message_id": asked.raw["id"]}})).await;
        stage.rest().await;
    };
    for other in ["it rains here", "kelly, the build is green", "remind me tomorrow at 9 to buy an umbrella"] {
        stage.says(YOU, other).await;
    }
    reply("Where should I look?").await;
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    reply("One in five").await;
    let asked = stage.hears("Is that the answer to **Ask Oracle for the odds of rain**").await;
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    stage.press_as(YOU, &asked, "Yes, that's it").await;
    let item = stage.waits_until(WorkStatus::Done).await;
    assert!(matches!(item.evidence.as_slice(), [Evidence::Answer { text, .. }] if text == "One in five"), "{:?}", item.evidence);
}

async fn without_a_model_words_are_an_answer_once_the_person_says_so(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Ann for the invoice number")]).await;
    let asked = stage.wait_told(1).await;
    for (nothing, said) in ["I have no idea", "keine Ahnung", "je ne sais pas", "🤷", "4711? not sure at all"].into_iter().zip(1..) {
        stage.ann_replies(&asked[0], nothing).await;
        let backs =
            || async { stage.team.answers(HERE).await.into_iter().filter(|shown| shown.text.starts_with("Is that the answer")).count() };
        eventually("it is asked back", || async { backs().await == said }).await;
        assert_eq!(stage.item().await.status, WorkStatus::Waiting, "{nothing}");
    }
    let backs: Vec<_> = stage.team.answers(HERE).await.into_iter().filter(|shown| shown.text.starts_with("Is that the answer")).collect();
    let back = backs[4].clone();
    let labels: Vec<_> = back.raw["components"][0]["components"].as_array().unwrap().iter().map(|button| button["label"].clone()).collect();
    assert_eq!(labels, ["Yes, that's it", "I don't know", "Not needed"]);
    // Nobody else can confirm it for her.
    stage.press_as(YOU, &back, "Yes, that's it").await;
    stage.rest().await;
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    stage.press_as_ann(&back, "I don't know").await;
    stage.hears("⚖ Decision needed: **Ask Ann for the invoice number**").await;
    // An old button changes nothing.
    stage.press_as_ann(&backs[0], "Yes, that's it").await;
    stage.rest().await;
    let item = stage.item().await;
    assert!(item.status == WorkStatus::Waiting && item.evidence.iter().all(|found| !matches!(found, Evidence::Answer { .. })), "{item:#?}");
}

async fn a_due_date_is_shown_and_reminded_of_on_its_day(backing: Backing) {
    let stage = Stage::start(backing).await;
    let added = stage.add(&[("what", "Send the tax form"), ("owner", "@Ann Lee"), ("due", "friday")]).await;
    assert!(added.contains("added for Ann Lee, due Fri 27 Nov, 18:00"), "{added}");
    let told = stage.wait_told(1).await;
    assert_eq!(texts(&told), ["⏰ Reminder for @Ann (due Fri 27 Nov, 18:00): **Send the tax form** (#id)"]);
    stage.jump("2026-11-26 17:00");
    stage.rest().await;
    assert_eq!(stage.told_ann().await.len(), 1, "nobody is pressed before the day");
    stage.jump("2026-11-27 09:01");
    stage.wait_told(2).await;
    // An overdue item is told once each working day, and after some days no more.
    for (day, told) in
        [("2026-11-29 12:00", 2), ("2026-11-30 09:10", 3), ("2026-12-01 09:10", 4), ("2026-12-02 09:10", 5), ("2026-12-07 10:00", 5)]
    {
        stage.jump(day);
        stage.wait_told(told).await;
    }
    let list = stage.list().await;
    assert!(list.contains("due Fri 27 Nov, 18:00, reminded 4 times"), "{list}");
    let told = texts(&stage.told_ann().await);
    assert_eq!(told[1], "⏰ @Ann, is this done: **Send the tax form** (#id)\nIt is due on Fri 27 Nov, 18:00");
    assert!(told[2].ends_with("\nIt was due on Fri 27 Nov, 18:00"), "{told:#?}");
    assert!(stage.add(&[("what", "Send it again"), ("due", "yesterday")]).await.contains("is in the past"));
}

async fn who_does_not_know_hands_the_question_back(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.add(&[("what", "Ask Ann for the invoice number")]).await;
    let asked = stage.wait_told(1).await;
    stage.press_as_ann(&asked[0], "I don't know").await;
    let decision = stage.hears("⚖ Decision needed: **Ask Ann for the invoice number**").await;
    assert!(decision.text.contains("Why: Ann Lee was asked, and does not know"), "{}", decision.text);
    assert_eq!(stage.item().await.status, WorkStatus::Waiting);
    stage.jump("2026-11-27 12:00");
    stage.rest().await;
    assert_eq!(stage.told_ann().await.len(), 1, "who has reacted is not reminded");
}
