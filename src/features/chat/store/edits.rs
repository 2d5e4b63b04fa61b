//! Edits of messages. If the answer is still being made, the edit and the end of that answer are one transaction. So no answer to the old text follows
//! the new one, and a process that dies leaves either both or none.

use chrono::{DateTime, Utc};

use crate::features::chat::store::InboxColumns;
use crate::features::chat::store::inbox::{find_in, speaker};
use crate::features::chat::store::turn_ends::{CancelScope, Cancelled, cancel_in};
use crate::features::chat::store::turns::insert_turns;
use crate::store::Store;
use kernel::agent::JournalEntry;
use kernel::agent::turn::{Turn, TurnState};
use kernel::chat::message::InboundMessage;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::chat::text::list_mentions;
use kernel::db::{Effect, Result, Transaction, document, plain, sql};
use kernel::ids::{MessageId, PersonaSlug, TurnId};
use kernel::jobs;
use kernel::llm::ToolCall;
use kernel::memory::store::reword_said;
use kernel::text::flatten;
use kernel::tools::{CallStatus, Trace};

/// Why the turns of an edited message are cancelled. What they had done by then follows it.
const EDITED: &str = "the message was edited";

/// The maximum length of one thing that was done.
const DONE: usize = 300;

/// What follows from an edit.
#[derive(Debug, Clone, PartialEq)]
pub enum Edited {
    /// The message waits for its decision, which reads the new text.
    Waits,
    /// Its answer was being made. These turns are cancelled, and the messages of the burst wait for a new decision.
    Reopened { cancelled: Vec<TurnId>, messages: Vec<InboundMessage> },
    /// The decision stays, and the answers that were being made begin again in new turns.
    Renewed { cancelled: Vec<TurnId>, turns: Vec<Turn> },
    /// The text is only context: nobody answers the message, everybody has answered, or the edit is out of date.
    Context,
}

/// A new text of a message.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    pub message: &'a MessageId,
    pub text: &'a str,
    /// The platform's time.
    pub at: DateTime<Utc>,
    /// Whether a message whose answer is being made may get another decision. Otherwise the same personas answer the new text.
    pub reopens: bool,
}

impl Store {
    /// Stores a message's new text, unless it was deleted or a later edit is stored. True while the message is undecided.
    pub async fn record_edit(&self, message: &MessageId, text: &str, at: DateTime<Utc>) -> Result<bool> {
        let edited = self.record_edit_with(&Edit { message, text, at, reopens: true }, (None, &[]), at).await?;
        Ok(edited == Edited::Waits)
    }

    /// Like [`Self::record_edit`], with the consequences of the new text. An edit that is reported again writes nothing.
    pub async fn record_edit_with(
        &self,
        edit: &Edit<'_>,
        (effect, outbox): (Option<&dyn Effect>, &[OutboundMessage]),
        now: DateTime<Utc>,
    ) -> Result<Edited> {
        let Edit { message, text, at, reopens } = *edit;
        let mut transaction = self.db().begin().await?;
        let Some(mut row) = find_in(&mut transaction, message).await? else { return Ok(Edited::Context) };
        if row.deleted_at.is_some() || row.edited_at.is_some_and(|edited_at| edited_at > at) {
            return Ok(Edited::Context);
        }
        let is_same = row.message.0.text == text;
        text.clone_into(&mut row.message.0.text);
        row.message.0.mentions = list_mentions(text);
        // The message may be decided on or deleted between the read and this write.
        let written: Option<(bool, Option<String>)> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE inbox SET message = $2, speaker = $3, edited_at = $4
             WHERE id = $1 AND deleted_at IS NULL AND (message <> $2 OR $5) RETURNING decided_at IS NULL, burst",
            message.as_str(),
            document(&row.message.0),
            speaker(&row.message.0).as_ref().map(document),
            at,
            is_same
        )?;
        let Some((undecided, burst)) = written else { return Ok(Edited::Context) };
        let mut edited = if undecided { Edited::Waits } else { Edited::Context };
        if !is_same {
            reword_said(&mut transaction, message, text).await?;
            insert_outbound(&mut transaction, outbox, Some(message), now).await?;
            if let Some(effect) = effect {
                effect.apply(&mut transaction, now).await?;
            }
            if let Some(first) = burst {
                edited = take_back(&mut transaction, &first.into(), reopens, now).await?;
            }
        }
        transaction.commit().await?;
        Ok(edited)
    }

    /// Ends the answers that are being made to a message, because it was edited while it was decided on.
    pub async fn take_answer_back(&self, message: &MessageId, now: DateTime<Utc>) -> Result<Edited> {
        let mut transaction = self.db().begin().await?;
        let burst = find_in(&mut transaction, message).await?.and_then(|row| row.burst);
        let Some(first) = burst else { return Ok(Edited::Context) };
        let edited = take_back(&mut transaction, &first.into(), true, now).await?;
        transaction.commit().await?;
        Ok(edited)
    }

    /// Takes back the decision on a message that nobody answers. False if there is none to take back.
    pub async fn reopen(&self, message: &MessageId) -> Result<bool> {
        let reopened: Option<(String,)> = sql!(
            self.db().write()?,
            fetch_optional,
            "UPDATE inbox SET decision = NULL, decided_at = NULL, burst = NULL
             WHERE id = $1 AND decided_at IS NOT NULL AND deleted_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.message = inbox.id AND turns.state <> 'cancelled')
             RETURNING id",
            message.as_str()
        )?;
        Ok(reopened.is_some())
    }

    /// What personas had done for the earlier texts of the messages that a turn answers.
    pub async fn list_done_before_edit(&self, first: &MessageId) -> Result<Vec<(PersonaSlug, String)>> {
        let rows: Vec<(String, String)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT turns.persona, turns.error FROM turns JOIN inbox ON inbox.id = turns.message
             WHERE inbox.burst = $1 AND turns.state = 'cancelled' AND turns.error LIKE $2 ORDER BY turns.position",
            first.as_str(),
            format!("{EDITED}: %")
        )?;
        let read = |(persona, error): (String, String)| Some((persona.into(), error.strip_prefix(EDITED)?.strip_prefix(": ")?.to_owned()));
        Ok(rows.into_iter().filter_map(read).collect())
    }
}

/// Ends the answers that are being made to a burst. Its messages are decided on again, unless a persona has answered already.
async fn take_back(transaction: &mut Transaction, first: &MessageId, reopens: bool, now: DateTime<Utc>) -> Result<Edited> {
    let cancelled = cancel_in(transaction, CancelScope::Answers(first), EDITED, now).await?;
    if cancelled.is_empty() {
        return Ok(Edited::Context);
    }
    for turn in &cancelled {
        keep_done(transaction, turn).await?;
    }
    let (is_answered,): (bool,) = sql!(
        transaction.on(),
        fetch_one,
        "SELECT EXISTS (SELECT 1 FROM turns WHERE message = $1 AND finished_at IS NOT NULL AND state <> 'cancelled')",
        first.as_str()
    )?;
    let ids = cancelled.iter().map(|cancelled| cancelled.turn.id.clone()).collect();
    if is_answered || !reopens {
        let again = |Cancelled { turn, .. }| Turn { id: TurnId::generate(), state: TurnState::Queued, queued_at: now, ..turn };
        let turns: Vec<Turn> = cancelled.into_iter().map(again).collect();
        insert_turns(transaction, &turns).await?;
        return Ok(Edited::Renewed { cancelled: ids, turns });
    }
    let rows: Vec<InboxColumns> = sql!(
        transaction.on(),
        fetch_all,
        "UPDATE inbox SET decision = NULL, decided_at = NULL, burst = NULL WHERE burst = $1 AND deleted_at IS NULL RETURNING *",
        first.as_str()
    )?;
    let mut messages: Vec<InboundMessage> = rows.into_iter().map(|row| row.message.0).collect();
    messages.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
    Ok(Edited::Reopened { cancelled: ids, messages })
}

/// Keeps what a cancelled turn has done in its row, and forgets the steps of its job.
async fn keep_done(transaction: &mut Transaction, Cancelled { turn, job }: &Cancelled) -> Result<()> {
    let Some(job) = *job else { return Ok(()) };
    let steps: Vec<(JournalEntry, DateTime<Utc>)> = jobs::read_steps(transaction, job).await?;
    let done = list_done(steps.iter().map(|(entry, _)| entry));
    jobs::forget_steps(transaction, job).await?;
    if !done.is_empty() {
        let error = format!("{EDITED}: {}", done.join("; "));
        sql!(transaction.on(), execute, "UPDATE turns SET error = $2 WHERE id = $1", turn.id.as_str(), plain(&error))?;
    }
    Ok(())
}

/// The calls with side effects that a turn made, in words. One without a result may have been made.
fn list_done<'a>(entries: impl IntoIterator<Item = &'a JournalEntry>) -> Vec<String> {
    let (mut calls, mut open, mut done): (&[ToolCall], Option<&ToolCall>, Vec<String>) = (&[], None, Vec::new());
    for entry in entries {
        match entry {
            JournalEntry::Replied { calls: asked, .. } => calls = asked,
            JournalEntry::Began { call, .. } => open = calls.iter().find(|asked| asked.id == *call),
            JournalEntry::Returned { status, trace, .. } => {
                let begun = open.take().map(describe);
                // What people said in so many words has no beginning of its own.
                let confirmed = if let Some(Trace::Confirmed { words, .. }) = trace { Some(flatten(words, DONE)) } else { None };
                done.extend(confirmed.or(begun).filter(|_| *status == CallStatus::Ok));
            }
            _ => {}
        }
    }
    done.extend(open.map(|call| format!("perhaps {}", describe(call))));
    done
}

fn describe(call: &ToolCall) -> String {
    flatten(&format!("{} {}", call.name, call.arguments), DONE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_done_is_told_in_words_and_what_may_have_been_done_too() {
        let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), arguments: json!({"what": id}) };
        let replied = |calls: &[ToolCall]| JournalEntry::Replied { text: String::new(), calls: calls.to_vec(), model: "m".into() };
        let began = |call: &str| JournalEntry::Began { call: call.into(), own_words: None };
        let returned = |call: &str, status, trace| JournalEntry::Returned {
            call: call.into(),
            text: "a result".into(),
            outside: false,
            status,
            trace,
        };
        let words = Trace::Confirmed { id: "1".into(), words: "I remind Ann at 09:00.".into() };
        let entries = [
            replied(&[call("a", "search"), call("b", "remind"), call("c", "post"), call("d", "add")]),
            returned("a", CallStatus::Ok, None),
            began("b"),
            returned("b", CallStatus::Ok, Some(words)),
            began("c"),
            returned("c", CallStatus::Failed, None),
            began("d"),
        ];
        assert_eq!(list_done(&entries), ["I remind Ann at 09:00.", r#"perhaps add {"what":"d"}"#]);
        assert!(list_done(&entries[..2]).is_empty(), "it only searched");
    }
}
