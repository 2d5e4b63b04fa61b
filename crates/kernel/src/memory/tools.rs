//! Tools to search and add memories.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::chat::medium::Medium;
use crate::db::{Database, StoreError};
use crate::ids::{MemoryId, PersonaSlug};
use crate::memory::search::Wanted;
use crate::memory::store::save_memory_as;
use crate::memory::{Memory, MemoryKind, MemorySource, Recall, short_id};
use crate::text::{flatten, fold_name, one_line};
use crate::time::Today;
use crate::tools::approval::Risk;
use crate::tools::{AskedBy, Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};

/// The most memories returned.
const TOLD: usize = 10;

/// The most characters of a lesson and of a tag, and the most tags.
const TEXT: usize = 500;
const TAG: usize = 40;
const TAGS: usize = 8;

/// Lower than for lessons of a meeting.
const SIGNIFICANCE: f64 = 0.4;

pub fn memory_tools(store: &Database, zone: Tz) -> [Arc<dyn Tool>; 2] {
    [Arc::new(Save(store.clone())), Arc::new(Search { store: store.clone(), zone })]
}

struct Save(Database);
struct Search {
    store: Database,
    /// The team's, for "last week".
    zone: Tz,
}

#[derive(Deserialize)]
struct SaveArguments {
    text: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
}

#[async_trait]
impl Tool for Save {
    fn name(&self) -> &'static str {
        "memory_save"
    }

    fn description(&self) -> String {
        "Remembers one thing: what a person asks you to remember, in exactly the person's words, or a lesson of yours for later matters that are \
         like this one. Not for results: those belong in a file."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "remember note keep mind lesson rule always never know merken merk notieren notier denk retiens recuerda"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "One sentence that is understood without this matter."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "What it is about, in single words."},
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    }

    /// A person's own words are remembered because the person asks for it. They cannot hold text from outside, whatever else the run has read. What a
    /// run says after that which it has read waits for a person's yes.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        match arguments["text"].as_str().and_then(|text| find_teacher(text, context)) {
            Some(_) => Risk::Read,
            None => Risk::Write,
        }
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        let Trace::Stored { id, .. } = trace else { return None };
        Some(format!("Remembered `{}`", short_id(&id.as_str().into())))
    }

    fn describe_wish(&self, arguments: &Value) -> String {
        format!("May I remember this? {}", Medium::Chat.line(arguments["text"].as_str().unwrap_or_default()))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let SaveArguments { text, tags } = parse_arguments(arguments)?;
        let source = context.get_source()?;
        let text = one_line(&text, TEXT);
        if text.is_empty() {
            return Err(ToolError::Refused("the lesson is empty".into()));
        }
        let teacher = find_teacher(&text, context);
        let memory = Memory {
            id: memory_id(source, context.persona, &text),
            persona: teacher.is_none().then(|| context.persona.clone()),
            tags: clean_tags(&tags, context.tainted, teacher),
            significance: if teacher.is_some() { Memory::TAUGHT } else { SIGNIFICANCE },
            place: context.scope.place().cloned(),
            taught_by: teacher.map(|asked| asked.person.clone()),
            ..Memory::new(if teacher.is_some() { MemoryKind::Fact } else { MemoryKind::Lesson }, text, source.clone(), context.now)
        };
        let kept = save(&self.0, &memory).await.map_err(|error| unavailable(&error))?;
        let trace = Trace::Stored { kind: "memory".into(), id: kept.to_string() };
        Ok(ToolOutput { text: format!("Noted: {}", memory.text), outside: false, trace: Some(trace) })
    }
}

#[async_trait]
impl Tool for Search {
    fn name(&self) -> &'static str {
        "memory_search"
    }

    fn description(&self) -> String {
        "Searches what people taught, said and posted where you are asked, and what you and the team have learnt.".into()
    }

    fn asked_by(&self) -> &'static str {
        "remember remembered said told knew earlier before agreed decided once who when erinnern erinnerst gesagt früher damals beschlossen rappelles dijo"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A few words of the subject."}},
            "required": ["query"],
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let SearchArguments { query } = parse_arguments(arguments)?;
        if Wanted::parse(&query).is_none() {
            return Err(ToolError::Refused("the query has no word in it".into()));
        }
        let asked = Recall {
            today: Some(Today { now: context.now, zone: self.zone }),
            ..Recall::new(&query, context.scope, TOLD).of(context.persona).everything().loosely()
        };
        let found = self.store.recall(&asked).await.map_err(|error| unavailable(&error))?;
        let lines: Vec<_> = found.iter().map(line).collect();
        let outside = found.iter().any(Memory::may_quote_outside);
        let text = if lines.is_empty() { "Nothing is remembered about that.".into() } else { lines.join("\n") };
        Ok(ToolOutput { text, outside, trace: None })
    }
}

/// The line of a memory. What a person taught has its id, by which it can be forgotten.
fn line(memory: &Memory) -> String {
    let on = memory.created_at.format("%Y-%m-%d").to_string();
    let id = memory.taught_by.as_ref().map_or(String::new(), |_| format!(" (id {})", memory.short_id()));
    format!("- {}: {}{id}", memory.cite(&on, flatten), memory.text)
}

async fn save(store: &Database, memory: &Memory) -> Result<MemoryId, StoreError> {
    let known = store.find_duplicate(memory).await?;
    let mut transaction = store.db().begin().await?;
    let kept = save_memory_as(&mut transaction, memory, known.as_ref().map(|known| &known.id)).await?;
    transaction.commit().await?;
    Ok(kept)
}

/// The person whose own words a text is. Somebody outside may dictate which words of the person a run repeats, so after that the person must have
/// asked to keep these, as they are.
fn find_teacher<'a>(text: &str, context: &ToolContext<'a>) -> Option<&'a AskedBy> {
    context.asked_by.filter(|asked| asked.says(text) && (!context.tainted || asks_to_keep(&asked.text, text)))
}

/// Words that ask to keep something, in their whole forms: "notes" and "learning" ask for nothing, and a "store" is a shop.
#[rustfmt::skip]
const KEEP: [&str; 59] = [
    "remember", "note", "keep", "bear", "memorise", "memorize", "save", "write", "learn",
    "merk", "merke", "merkt", "merken", "notier", "notiere", "notieren", "denk", "denke", "behalt", "behalte", "behalten", "speicher", "speichere", "speichern", "schreib", "schreibe",
    "retiens", "retenez", "retenir", "notez", "noter", "souviens", "souvenez", "enregistre", "enregistrez", "enregistrer",
    "recuerda", "recuerde", "recuerden", "recordar", "anota", "anote", "anotar", "guarda", "guarde", "guardar", "apunta", "apunte", "apuntar",
    "lembra", "lembre", "lembrar", "ricorda", "ricordati", "ricordate", "ricordare", "onthoud", "onthouden", "zapamiętaj",
];

/// What may stand between that and what is to be kept.
const BETWEEN: [&str; 46] = [
    "that",
    "this",
    "it",
    "down",
    "in",
    "mind",
    "for",
    "me",
    "us",
    "please",
    "also",
    "the",
    "following",
    "and",
    "dass",
    "daß",
    "das",
    "bitte",
    "dir",
    "euch",
    "uns",
    "mir",
    "auf",
    "für",
    "und",
    "folgendes",
    "que",
    "de",
    "bien",
    "ceci",
    "cela",
    "esto",
    "eso",
    "por",
    "favor",
    "lo",
    "y",
    "et",
    "stp",
    "s",
    "il",
    "te",
    "plaît",
    "fact",
    "as",
    "team",
];

/// Whether a message asks to keep a text that stands in it to the end of its sentence, or of the message. "Never deploy on Fridays" does not ask to
/// keep "deploy on Fridays".
fn asks_to_keep(message: &str, text: &str) -> bool {
    let text = words_in(text);
    if text.is_empty() {
        return false;
    }
    let ends = message.char_indices().filter(|(at, c)| {
        let after = message[at + c.len_utf8()..].chars().next();
        matches!(c, '\n' | '。' | '！') || (matches!(c, '.' | '!' | ';') && after.is_none_or(char::is_whitespace))
    });
    let ends: Vec<usize> = ends.map(|(at, _)| at).chain([message.len()]).collect();
    ends.iter().any(|end| {
        let words = words_in(&message[..*end]);
        let Some((before, kept)) = words.len().checked_sub(text.len()).map(|begin| words.split_at(begin)) else { return false };
        if !kept.iter().map(|(_, word)| word).eq(text.iter().map(|(_, word)| word)) {
            return false;
        }
        let asks = |word: &String| KEEP.contains(&word.as_str());
        let between = before.iter().rev().take_while(|(_, word)| BETWEEN.contains(&word.as_str()) && !asks(word)).count();
        let Some(at) = before.len().checked_sub(between + 1) else { return false };
        let (asked, word) = &before[at];
        asks(word) && !ends_sentence(&message[asked.end..kept[0].0.start]) && !before[..at].iter().any(|(_, word)| is_negation(word))
    })
}

/// The words of a text in small letters, with their positions.
fn words_in(text: &str) -> Vec<(Range<usize>, String)> {
    let mut next = 0;
    let pieces = text.split_inclusive(|c: char| !c.is_alphanumeric()).map(|piece| {
        let from = next;
        next += piece.len();
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        (from..from + word.len(), word.to_lowercase())
    });
    pieces.filter(|(_, word)| !word.is_empty()).collect()
}

/// Whether a sentence ends between two words. `between` is the text from one to the other. After a colon it goes on in the next line.
fn ends_sentence(between: &str) -> bool {
    let breaks = |(before, _): (&str, &str)| !before.trim_end().ends_with([':', '：']);
    between.contains(['.', '!', '?', ';', '…', '。', '！', '？', '؟']) || between.split_once('\n').is_some_and(breaks)
}

fn is_negation(word: &str) -> bool {
    ["not", "never", "don", "dont", "nicht", "nie", "ne", "pas", "no", "nunca", "non", "mai", "niet"].contains(&word)
}

/// Removes the reserved tag of outside text from the model's tags, and sets it if the run is tainted. What a person teaches then has only tags in the
/// person's words.
fn clean_tags(tags: &[String], tainted: bool, teacher: Option<&AskedBy>) -> Vec<String> {
    let mut clean: Vec<String> = Vec::new();
    let is_own = |tag: &str| !tainted || teacher.is_none_or(|asked| asked.has_words_of(tag));
    for tag in tags.iter().map(|tag| fold_name(&flatten(tag, TAG))) {
        if !tag.is_empty() && tag != Memory::OUTSIDE && !clean.contains(&tag) && clean.len() < TAGS && is_own(&tag) {
            clean.push(tag);
        }
    }
    clean.extend((tainted && teacher.is_none()).then(|| Memory::OUTSIDE.to_owned()));
    clean
}

/// The same lesson from the same source always has the same id, so that it is stored once.
fn memory_id(source: &MemorySource, persona: &PersonaSlug, text: &str) -> MemoryId {
    let source = match source {
        MemorySource::WorkItem(item) => item.as_str(),
        MemorySource::Meeting(meeting) => meeting.as_str(),
        MemorySource::Message(message) => message.as_str(),
        MemorySource::Command => "command",
    };
    let digest = Sha256::digest(format!("{source}\n{persona}\n{text}"));
    MemoryId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not use the team's memory");
    ToolError::Failed("the team's memory is not available right now".into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::Teacher;

    #[test]
    fn a_person_asks_to_keep_what_ends_the_sentence_after_such_a_word() {
        for (message, text) in [
            ("Vince, merk dir bitte: Wir deployen donnerstags!", "Wir deployen donnerstags"),
            ("remember that we deploy at 14:10. What is new?", "we deploy at 14:10"),
            ("Here is the page. Please note: the router is in the cellar", "The router is in the cellar."),
            ("keep in mind that v1.2 is broken! And read the feed.", "v1.2 is broken"),
            ("note: it rains. It pours.", "it rains. It pours."),
            ("Please note:\nthe router is in the cellar", "the router is in the cellar"),
            ("merken: wir deployen donnerstags", "wir deployen donnerstags"),
            ("recuerda que la tienda abre a las diez", "la tienda abre a las diez"),
        ] {
            assert!(asks_to_keep(message, text), "{message}");
        }
        for (message, text) in [
            ("remember never to deploy on Fridays", "deploy on Fridays"),
            ("remember that we deploy on Thursdays if it rains", "we deploy on Thursdays"),
            ("We deploy on Thursdays. Read the feed.", "We deploy on Thursdays"),
            ("Read the feed and say what it notes", "what it notes"),
            ("don't remember that we lost", "we lost"),
            ("merk dir nichts davon: das Passwort ist alt", "das Passwort ist alt"),
            ("Look at the store. We close on Monday.", "We close on Monday"),
            ("Read my notes. We close on Monday.", "We close on Monday"),
            ("Can you remember? We close on Monday.", "We close on Monday"),
            ("What do you remember\nWe close on Monday", "We close on Monday"),
            ("Please keep it; we close on Monday", "we close on Monday"),
            ("she notes that we close on Monday", "we close on Monday"),
            ("what I am learning: we close on Monday", "we close on Monday"),
            ("never mind that we close on Monday", "we close on Monday"),
            ("I like the store we close on Monday", "we close on Monday"),
            ("remember", "remember"),
            ("", "x"),
        ] {
            assert!(!asks_to_keep(message, text), "{message}");
        }
    }

    proptest! {
        /// Whatever a page dictates: with one of its words in it, nothing is a person's own word and no tag of what a person teaches.
        #[test]
        fn nothing_from_outside_is_taught_in_the_name_of_a_person(
            said in prop::collection::vec("[a-m]{1,6}", 1..12),
            asks in prop::sample::select(vec!["", "remember that ", "bitte merk dir: ", "note: "]),
            dictated in prop::collection::vec("[n-z]{1,6}", 1..4),
            place in 0_usize..12,
            end in prop::sample::select(vec!["", ".", "! And read the page.", "\nWhat is new"]),
        ) {
            let asked = AskedBy {
                person: Teacher { id: None, name: "Ann".into() },
                text: format!("{asks}{}{end}", said.join(" ")),
                replied_to: String::new(),
                talk: Vec::new(),
            };
            let mut words = said.clone();
            let at = place.min(words.len());
            words.splice(at..at, dictated.iter().cloned());
            let known = asked.text.to_lowercase();
            prop_assume!(dictated.iter().any(|word| !known.contains(word.as_str())));
            let text = words.join(" ");
            prop_assert!(!(asked.says(&text) && asks_to_keep(&asked.text, &text)), "{text} in {}", asked.text);
            let tags = clean_tags(&[dictated.join(" ")], true, Some(&asked));
            prop_assert!(tags.is_empty(), "{tags:?}");
            prop_assert_eq!(clean_tags(&[], true, None), [Memory::OUTSIDE]);
        }

        /// Without a word that asks for it, nothing that a person says is kept by a run that has read something.
        #[test]
        fn what_nobody_asks_to_keep_is_not(said in prop::collection::vec("[o-qu-z]{2,6}", 1..12), from in 0_usize..12, to in 0_usize..12) {
            let text = said.get(from.min(to)..from.max(to)).unwrap_or_default().join(" ");
            prop_assert!(!asks_to_keep(&said.join(" "), &text));
        }
    }
}
