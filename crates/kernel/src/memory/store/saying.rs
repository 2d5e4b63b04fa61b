//! What people say, as memories of their messages.

use super::insert_memories;
use super::spans::empty_spans_of;
use crate::chat::message::{AuthorKind, InboundMessage};
use crate::db::{Result, Transaction, plain, sql};
use crate::ids::{MemoryId, MessageId};
use crate::memory::search::{Vector, Wanted, to_store};
use crate::memory::{Memory, MemoryKind, MemorySource, Origin, Scope, Teacher};
use crate::text::essence;

/// What was said counts less than what was taught or learnt.
const SIGNIFICANCE: f64 = 0.2;

/// The most characters of a message that is remembered.
const LONGEST: usize = 4000;

/// Remembers a person's message, if it says something: it names a subject and is more than a question.
pub async fn remember_said(transaction: &mut Transaction, message: &InboundMessage) -> Result<()> {
    if message.author.kind != AuthorKind::Person {
        return Ok(());
    }
    let Some(text) = find_statement(&message.text) else { return Ok(()) };
    let origin = Origin {
        by: Teacher { id: Some(message.author.id.clone()), name: message.author.name.clone() },
        channel: message.channel.id.clone(),
        channel_name: message.channel.name.clone(),
        part: None,
    };
    let memory = Memory {
        id: said_id(&message.id),
        significance: SIGNIFICANCE,
        place: Scope::of(&message.channel).place().cloned(),
        origin: Some(Box::new(origin)),
        ..Memory::new(MemoryKind::Conversation, text, MemorySource::Message(message.id.clone()), message.sent_at)
    };
    insert_memories(transaction, &[memory]).await
}

/// Takes the new text of a message. One that says nothing any more is not remembered.
pub async fn reword_said(transaction: &mut Transaction, message: &MessageId, text: &str) -> Result<()> {
    let Some(text) = find_statement(text) else { return delete_said(transaction, message).await };
    empty_spans_of(transaction, message).await?;
    sql!(
        transaction.on(),
        execute,
        "UPDATE memories SET text = $2, essence = $3, words = $4, vector = $5, meaning = NULL, meaning_model = NULL
         WHERE id = $1 AND forgotten_by IS NULL",
        said_id(message).as_str(),
        plain(text),
        essence(&plain(text)),
        to_store(text),
        Vector::of(text).to_bytes()
    )
    .map(drop)
}

/// Removes what is remembered of a message and of its files, and the summaries with it. What somebody taught with it is forgotten elsewhere.
pub async fn delete_said(transaction: &mut Transaction, message: &MessageId) -> Result<()> {
    empty_spans_of(transaction, message).await?;
    sql!(transaction.on(), execute, "DELETE FROM memories WHERE message = $1 AND kind IN ('conversation', 'document')", message.as_str())
        .map(drop)
}

fn said_id(message: &MessageId) -> MemoryId {
    MemoryId::new(format!("said-{message}"))
}

/// The text to remember. None for greetings, thanks and mere questions.
fn find_statement(text: &str) -> Option<&str> {
    let text = text.trim();
    let says = sentences(text).any(|sentence| !sentence.trim_end().ends_with(['?', '？', '؟']) && says_something(sentence));
    says.then(|| &text[..text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end)])
}

/// A sentence ends at its mark before a space. "plan.md" is one word.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '？' | '؟' | '。' | '！' | '\n');
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_end = |(at, c): &(usize, char)| {
            ends(*c) && (!c.is_ascii() || *c == '\n' || rest[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace))
        };
        let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// One word says nothing that somebody would look for.
fn says_something(sentence: &str) -> bool {
    Wanted::parse(sentence).is_some_and(|wanted| wanted.terms.iter().filter(|(_, weight)| *weight >= 1.0).count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_something_is_remembered_and_mere_questions_are_not() {
        for text in ["The launch moves to May.", "The launch moves to May. Is that fine?", "我们周四部署", "launch: Tuesday"] {
            assert_eq!(find_statement(text), Some(text));
        }
        for text in [
            "",
            "hi!",
            "thanks",
            "good morning all",
            "when do we deploy?",
            "kelly, when do we deploy? And why?",
            "什么时候部署？",
            "🙂",
            "kelly, what stands in plan-2.md about it?",
        ] {
            assert_eq!(find_statement(text), None, "{text}");
        }
        assert_eq!(find_statement(&"é launch ".repeat(1000)).unwrap().chars().count(), LONGEST);
    }
}
