//! Questions to personas that do not know, and what becomes of them.

use kernel::agent::AnswerVerdict;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, Judge, Owner, Wait, WorkItem, WorkStatus};

use super::stage::{HERE, Setting, Stage};
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, Shown, eventually, on_one_store};

on_one_store!(
    what_nobody_knows_waits_for_a_person_who_is_told_how_to_help,
    an_answer_counts_as_somebody_else_judges_it,
    what_a_person_says_is_judged_and_without_a_verdict_counts_for_nothing,
);

/// A question to Oracle. Only Vince is an expert in numbers.
fn question(stage: &Stage, what: &str) -> WorkItem {
    let asked = format!("{what}: what are the odds, in numbers?");
    stage.item(&format!("Ask Oracle for the odds of {what}"), "", Execution::ask(Owner::Persona("oracle".into()), asked))
}

fn helper(item: &WorkItem) -> Option<&str> {
    match &item.wait {
        Some(Wait::Help { of: Some(Owner::Person { name, .. }) }) => Some(name),
        _ => None,
    }
}

/// The personas that were asked without success, in order.
fn asked_without_answer(item: &WorkItem) -> Vec<(&str, AnswerVerdict)> {
    match &item.execution {
        Some(Execution::Ask { unanswered, .. }) => unanswered.iter().map(|reply| (reply.by.as_str(), reply.verdict)).collect(),
        _ => Vec::new(),
    }
}

async fn what_nobody_knows_waits_for_a_person_who_is_told_how_to_help(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let trip = stage.glance("Prepare the trip");
    let odds = WorkItem { parent: Some(trip.id.clone()), ..question(&stage, "a strike") };
    stage.put(&[&trip, &odds]).await;
    let person = stage.team.sandbox().people()[0].name.clone();
    let unanswered = [("oracle", AnswerVerdict::DoesNotKnow), ("vince", AnswerVerdict::DoesNotKnow)];
    let waiting = stage.comes_to(&odds.id, WorkStatus::Waiting).await;
    assert_eq!((helper(&waiting), waiting.attempts, waiting.evidence.len()), (Some(person.as_str()), 0, 0), "{waiting:#?}");
    assert_eq!(asked_without_answer(&waiting), unanswered);
    assert_eq!(stage.read(&trip.id).await.status, WorkStatus::Blocked, "a part that did not know completes nothing");
    let judged = |entry: &&JournalEntry| matches!(entry, JournalEntry::Judged { verdict: AnswerVerdict::DoesNotKnow, .. });
    assert_eq!(stage.journal(&odds.id).await.iter().filter(judged).count(), 2);
    let asked = stage.hears("Help needed from").await;
    for told in ["a strike: what are the odds, in numbers?", "- Oracle: ", "- Vince: ", &format!("/backlog answer id:{}", odds.short_id())]
    {
        assert!(asked.text.contains(told), "{told} in {}", asked.text);
    }

    // A retry begins with the persona that was asked first.
    stage.press_on(&asked, "Try again").await;
    let again = stage.until(&odds.id, "asked again", |item| item.run > waiting.run && item.status == WorkStatus::Waiting).await;
    assert_eq!((asked_without_answer(&again).as_slice(), again.run), (&unanswered[..], 3), "two more, each in a run of its own");

    // The person's answer ends it, and its parent.
    stage.backlog("answer", &[("id", odds.short_id()), ("text", "One in five, says the_union.")]).await;
    let done = stage.read(&odds.id).await;
    assert_eq!(done.status, WorkStatus::Done);
    assert!(
        matches!(done.evidence.as_slice(), [Evidence::Answer { by, text, .. }] if *by == person && text == "One in five, says the_union."),
        "{:?}",
        done.evidence
    );
    // Without a model a person says whether the parts give the whole.
    stage.comes_to(&trip.id, WorkStatus::InReview).await;
    let asked = stage.hears("All parts of **Prepare the trip**").await;
    assert!(asked.text.contains("✔ Ask Oracle for the odds of a strike — ") && asked.text.contains("One in five"), "{}", asked.text);
    stage.press_on(&asked, "Yes, done").await;
    stage.comes_to(&trip.id, WorkStatus::Done).await;
    let told = async || {
        stage.team.answers(super::stage::HERE).await.iter().any(|said| said.text.starts_with('✔') && said.text.contains("One in five"))
    };
    eventually("the channel hears the answer", || async { told().await }).await;
}

/// Answers and verdicts by the word that stands in the question.
fn play(asked: &Asked) -> Script {
    let prompt = asked.prompt_alone();
    if asked.schema.is_none() {
        return Script::say(if prompt.contains("rain") { "It will rain with 40 %." } else { "I have no figure for that." });
    }
    if is_grading(asked) {
        return Script::Json(all_met(asked));
    }
    // Vince is asked second, and his replies are judged in a second call.
    let verdict = match () {
        () if prompt.contains("rain") => "answers",
        () if prompt.contains("half") => "in_part",
        () if prompt.contains("declined") => "refuses",
        () if prompt.contains("nonsense") => return Script::say("Looks fine to me!"),
        () => "does_not_know",
    };
    Script::Json(json!({"verdict": verdict}))
}

async fn an_answer_counts_as_somebody_else_judges_it(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(play);
    let [rain, half, declined, nonsense, unknown] =
        ["rain", "half a loss", "a declined offer", "nonsense", "something unknown"].map(|what| question(&stage, what));
    stage.put(&[&rain, &half, &declined, &nonsense, &unknown]).await;

    let rain = stage.comes_to(&rain.id, WorkStatus::Done).await;
    assert!(matches!(rain.evidence.as_slice(), [Evidence::Answer { by, .. }] if by == "Oracle"), "{:?}", rain.evidence);
    let half = stage.comes_to(&half.id, WorkStatus::Done).await;
    let by_another = |found: &Evidence| matches!(found, Evidence::Review { by: Judge::Persona(by), .. } if by.as_str() != "oracle");
    assert!(half.evidence.iter().any(by_another), "half an answer is accepted by somebody else: {:?}", half.evidence);
    for (item, verdict) in [(&declined, AnswerVerdict::Refuses), (&unknown, AnswerVerdict::DoesNotKnow)] {
        let waiting = stage.comes_to(&item.id, WorkStatus::Waiting).await;
        assert_eq!(asked_without_answer(&waiting), [("oracle", verdict), ("vince", verdict)]);
        assert!(helper(&waiting).is_some(), "{waiting:#?}");
    }

    // A verdict that cannot be read does not count: a person decides.
    let unread = stage.comes_to(&nonsense.id, WorkStatus::Waiting).await;
    assert!(
        matches!(&unread.wait, Some(Wait::Decision { why }) if why.contains("could judge") && why.contains("no figure")),
        "{unread:#?}"
    );
    stage.press("Decision needed", "Accept as it is").await;
    assert_eq!(stage.read(&nonsense.id).await.status, WorkStatus::Done);
}

/// Replies to a message.
async fn reply(stage: &Stage, to: &Shown, text: &str) {
    // Waits until the team knows that the message was posted.
    stage.team.settle().await;
    let path = format!("/channels/{}/messages", stage.team.channel(HERE));
    let body = json!({"content": text, "message_reference": {"message_id": to.raw["id"]}});
    stage.team.call(reqwest::Method::POST, &path, Some(body)).await;
}

async fn what_a_person_says_is_judged_and_without_a_verdict_counts_for_nothing(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(play);
    let person = &stage.team.sandbox().people()[0];
    let you = Owner::Person { id: stage.team.person_id(0), name: person.name.clone() };
    let to_you =
        |what: &str| stage.item(&format!("Say when {what} ends"), "", Execution::ask(you.clone(), format!("When does {what} end?")));
    for (what, said, status, why) in [
        ("the rain", "At noon", WorkStatus::Done, ""),
        ("the strike", "I have no idea", WorkStatus::Waiting, "was asked, and does not know: I have no idea"),
        ("the nonsense", "Keine Ahnung", WorkStatus::Waiting, "nobody could judge whether"),
    ] {
        let item = to_you(what);
        stage.put(&[&item]).await;
        let asked = stage.hears(&format!("Say when {what} ends")).await;
        stage.until(&item.id, "asked", |item| matches!(item.wait, Some(Wait::Answer { .. }))).await;
        reply(&stage, &asked, said).await;
        let answered = |item: &WorkItem| !matches!(item.wait, Some(Wait::Answer { .. })) && item.status == status;
        let item = stage.until(&item.id, "answered", answered).await;
        assert_eq!(item.wait.as_ref().is_some_and(|wait| wait.describe().contains(why)), status == WorkStatus::Waiting, "{item:#?}");
    }
    // A helper's answer is judged as well.
    let odds = question(&stage, "a strike");
    stage.put(&[&odds]).await;
    let asked = stage.hears("Help needed from").await;
    reply(&stage, &asked, "No clue, sorry").await;
    let waits = |item: &WorkItem| matches!(&item.wait, Some(Wait::Decision { why }) if why.contains("does not know: No clue"));
    stage.until(&odds.id, "no help", waits).await;
    let rain = question(&stage, "a dry spell");
    stage.put(&[&rain]).await;
    let asked = stage.hears("Ask Oracle for the odds of a dry spell").await;
    reply(&stage, &asked, "It rains on one day in five").await;
    let helped = stage.comes_to(&rain.id, WorkStatus::Done).await;
    let by_you =
        |found: &Evidence| matches!(found, Evidence::Answer { by, text, .. } if *by == person.name && text.contains("one day in five"));
    assert!(helped.evidence.iter().any(by_you), "{helped:#?}");
}
