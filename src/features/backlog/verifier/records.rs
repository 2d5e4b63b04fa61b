//! Verifies claims about stored records: delivered messages, answers and feed values.

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::model::{Claim, Evidence, Execution, JournalEntry, Owner, WatchTerms};
use crate::features::backlog::verifier::{Findings, Submitted, VerifierDeps};
use kernel::agent::AnswerVerdict;
use kernel::chat::outbox::Delivery;
use kernel::db::StoreError;
use kernel::figure;
use kernel::ids::OutboxId;
use kernel::tools::{CallStatus, Trace};

/// Databases store times with fewer digits than claims have.
const NEAR: TimeDelta = TimeDelta::milliseconds(1);

/// The journal entry for a feed that returned data without numbers. Otherwise nothing would be stored about it.
pub fn reading_trace(feed: &str, at: DateTime<Utc>) -> Trace {
    Trace::Stored { kind: "reading".into(), id: format!("{feed} {}", at.to_rfc3339()) }
}

pub(super) async fn check_message(deps: &VerifierDeps, outbox: &OutboxId, found: &mut Findings) -> Result<(), StoreError> {
    match deps.store.find_delivery(outbox).await? {
        Some(Delivery::Sent(posted)) => {
            found.prove(Evidence::Delivered { outbox: outbox.clone(), message: posted.message, at: posted.at });
        }
        Some(Delivery::Pending) => found.wait("the message is not delivered yet"),
        Some(Delivery::Failed { why }) => found.refuse(format!("the message was not delivered: {why}")),
        None => found.refuse(format!("there is no message {outbox}")),
    }
    Ok(())
}

/// A person's answer must be in the item's evidence, a persona's in the journal of its run, judged by somebody else. The claim alone proves
/// nothing.
pub(super) fn check_answer(submitted: &Submitted<'_>, claim: &Claim, found: &mut Findings) {
    let Claim::Answer { by, text, at } = claim else { return };
    let answer = Evidence::Answer { by: by.clone(), text: text.clone(), at: *at };
    if submitted.item.evidence.contains(&answer) {
        found.answered = true;
        found.prove(answer);
        return;
    }
    let asks_persona = matches!(&submitted.item.execution, Some(Execution::Ask { whom: Owner::Persona(_), .. }));
    let replied = |entry: &JournalEntry| matches!(entry, JournalEntry::Replied { text: said, .. } if said == text);
    let Some(at) = submitted.journal.iter().rposition(replied).filter(|_| asks_persona && !text.trim().is_empty()) else {
        found.refuse(format!("no answer of {by} is known"));
        return;
    };
    // The verdict stands directly behind the reply.
    match submitted.journal.get(at + 1) {
        Some(JournalEntry::Judged { verdict: AnswerVerdict::DoesNotKnow, .. }) => found.refuse(format!("{by} does not know")),
        Some(JournalEntry::Judged { verdict: AnswerVerdict::AsksBack, .. }) => found.refuse(format!("{by} asks back")),
        Some(JournalEntry::Judged { verdict: AnswerVerdict::Refuses, .. }) => found.refuse(format!("{by} refuses to answer")),
        Some(JournalEntry::Judged { verdict, .. }) => {
            found.answered = true;
            found.prove(answer);
            if *verdict == AnswerVerdict::InPart {
                found.leave_open("it is answered only in part");
            }
        }
        _ => found.refuse(format!("the answer of {by} was not judged")),
    }
}

/// A value of the watched feed that meets the condition.
pub(super) async fn check_value(
    deps: &VerifierDeps,
    terms: &WatchTerms,
    (feed, name, at): (&str, &str, DateTime<Utc>),
    now: DateTime<Utc>,
    found: &mut Findings,
) -> Result<(), StoreError> {
    let Some(rule) = terms.rule.as_ref().filter(|rule| rule.value == name && terms.feed == feed) else {
        found.refuse(format!("{feed} {name} is not what was watched for: {}", terms.describe()));
        return Ok(());
    };
    let Some(key) = key_of(deps, feed, at, now, found) else { return Ok(()) };
    let samples = deps.store.list_samples(&key, name, at - NEAR, at + NEAR).await?;
    let Some(sample) = samples.into_iter().next() else {
        found.refuse(format!("{feed} {name} has no value of {}", deps.moment(at)));
        return Ok(());
    };
    if rule.holds(sample.number) {
        found.prove(Evidence::Value { feed: feed.into(), name: name.into(), value: sample.number, unit: sample.unit, at: sample.at });
    } else {
        let value = figure::amount(sample.number, name, &sample.unit);
        found.refuse(format!("{feed} {name} was {value} at {}, and is to be {}", deps.moment(at), rule.describe()));
    }
    Ok(())
}

/// The time is over, and the last value of the feed does not meet the condition.
pub(super) async fn check_not_met(
    deps: &VerifierDeps,
    terms: &WatchTerms,
    (feed, name, at): (&str, &str, DateTime<Utc>),
    now: DateTime<Utc>,
    found: &mut Findings,
) -> Result<(), StoreError> {
    let Some(rule) = terms.rule.as_ref().filter(|rule| rule.value == name && terms.feed == feed && now >= terms.until) else {
        found.refuse(format!("the time for {} is not over", terms.describe()));
        return Ok(());
    };
    let Some(key) = key_of(deps, feed, at, now, found) else { return Ok(()) };
    match deps.store.find_sample_before(&key, name, now).await? {
        Some(last) if (last.at - at).abs() <= NEAR && !rule.holds(last.number) => {
            found.prove(Evidence::NotMet { feed: feed.into(), name: name.into(), value: last.number, unit: last.unit, at: last.at });
        }
        Some(last) if rule.holds(last.number) => found.refuse(format!("{feed} {name} was {} at {}", rule.describe(), deps.moment(last.at))),
        _ => found.refuse(format!("{feed} {name} has no value of {}", deps.moment(at))),
    }
    Ok(())
}

/// The watched feed returned data.
pub(super) async fn check_reading(
    deps: &VerifierDeps,
    submitted: &Submitted<'_>,
    terms: &WatchTerms,
    (feed, at): (&str, DateTime<Utc>),
    found: &mut Findings,
) -> Result<(), StoreError> {
    if terms.rule.is_some() || terms.feed != feed {
        found.refuse(format!("data of {feed} is not what was watched for: {}", terms.describe()));
        return Ok(());
    }
    let Some(key) = key_of(deps, feed, at, submitted.now, found) else { return Ok(()) };
    let trace = reading_trace(feed, at);
    let left_trace =
        |entry: &JournalEntry| matches!(entry, JournalEntry::Returned { status: CallStatus::Ok, trace: Some(left), .. } if *left == trace);
    if submitted.journal.iter().any(left_trace) || deps.store.has_samples(&key, at - NEAR, at + NEAR).await? {
        found.prove(Evidence::Reading { feed: feed.into(), at });
    } else {
        found.refuse(format!("nothing is known of data that {feed} gave at {}", deps.moment(at)));
    }
    Ok(())
}

/// The key of the feed's samples, if the claim can be true.
fn key_of(deps: &VerifierDeps, feed: &str, at: DateTime<Utc>, now: DateTime<Utc>, found: &mut Findings) -> Option<String> {
    if at > now {
        found.refuse(format!("{} is yet to come", deps.moment(at)));
        return None;
    }
    match deps.readings.get_feed(feed) {
        Ok(feed) => Some(feed.key().to_owned()),
        Err(unknown) => {
            found.refuse(unknown.to_string());
            None
        }
    }
}

impl VerifierDeps {
    /// A time as people and personas read it.
    fn moment(&self, at: DateTime<Utc>) -> String {
        at.with_timezone(&self.zone).format("%Y-%m-%d %H:%M:%S %Z").to_string()
    }
}
