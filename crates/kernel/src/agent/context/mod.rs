//! Builds the prompt of a turn from the transcript, files, feeds, lessons and the question, each within a token budget (MEM-3).
//!
//! Includes only what is new or relevant to the question. Text from anybody but the operator and the asking person is put into data blocks
//! with an unguessable marker (TRUST-2). Pure: the same input gives the same prompt.

mod cleaner;
mod files;
mod sources;

use chrono::{DateTime, Utc};

use crate::agent::budget::{BYTES_PER_TOKEN, fit};
use crate::agent::files::Files;
use crate::agent::prompt;
use crate::agent::prompt::{Block, PromptKind, Turn};
use crate::agent::{NamedText, PlaceNote, Prompt};
use crate::chat::message::{Speaker, Spoken};
use crate::chat::store::{Annotation, AnnotationKind};
use crate::chat::text::is_subtext;
use crate::feeds::FeedReport;
use crate::ids::PersonaSlug;
use crate::memory::retrieval::Quote;
use crate::memory::spans::Span;
use crate::memory::{Memory, MemoryKind};
use crate::persona::Persona;
use crate::persona::roster::Roster;
use cleaner::{file_name, flat_title};
use files::{FileBlocks, file_blocks};

pub use cleaner::{Cleaner, flat_name, new_marker};
pub use sources::{feed_blocks, finding_block, fitting_feed_blocks, passage_blocks, talk_feed_blocks};

/// The inputs of a prompt.
pub struct ContextInput<'a> {
    pub team: &'a str,
    pub roster: &'a Roster,
    pub persona: &'a Persona,
    pub now: DateTime<Utc>,
    /// The channel's name without `#`; empty in a direct conversation.
    pub channel: &'a str,
    pub question: Question<'a>,
    /// The messages before the question, oldest first.
    pub transcript: &'a [Spoken],
    /// The message to which the question replies.
    pub replied_to: Option<&'a Spoken>,
    /// The message that the thread was started on.
    pub starter: Option<&'a Spoken>,
    /// What is known about the channel.
    pub notes: &'a [PlaceNote],
    /// The items and files that the question names.
    pub named: &'a [NamedText],
    pub files: &'a Files,
    /// Reactions to these messages, and titles of their links.
    pub annotations: &'a [Annotation],
    /// Passages of the documents in the persona's feeds on the question's subject, best first.
    pub passages: &'a [Quote],
    pub feeds: &'a [FeedReport],
    /// What colleagues have found out today on the question's subject, best first.
    pub findings: &'a [Quote],
    /// What people taught, then lessons on the question's subject, best match first.
    pub lessons: &'a [Memory],
    /// Summaries of what was said before the transcript, oldest first.
    pub spans: &'a [Span],
    /// Older messages and parts of documents on the question's subject, best match first.
    pub heard: &'a [Memory],
    pub budget: ContextBudget,
    /// Letters and digits, random for each turn: see [`new_marker`].
    pub marker: &'a str,
}

#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub from: &'a Speaker,
    pub text: &'a str,
    /// The persona that forwards a person's question.
    pub through: Option<&'a PersonaSlug>,
}

/// The most tokens of each section, estimated at four bytes each. The ledger has the real counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBudget {
    pub transcript: usize,
    /// Applies to the replied-to message and to the thread's first message, each.
    pub referred: usize,
    pub files: usize,
    pub named: usize,
    pub documents: usize,
    pub feeds: usize,
    pub findings: usize,
    pub lessons: usize,
    pub heard: usize,
    pub spans: usize,
    pub question: usize,
}

impl Default for ContextBudget {
    fn default() -> Self {
        Self {
            transcript: 1000,
            referred: 400,
            files: 2000,
            named: 4000,
            documents: 1000,
            feeds: 700,
            findings: 500,
            lessons: 500,
            heard: 1000,
            spans: 600,
            question: 4000,
        }
    }
}

impl ContextBudget {
    /// For a prompt of at most `tokens`. The question and what it replies to are whole wherever they fit; the rest is small, and smaller in a small
    /// window.
    pub fn of(tokens: usize) -> Self {
        let Self { transcript, referred, files, named, documents, feeds, findings, lessons, heard, spans, .. } = Self::default();
        let most = |section: usize| section.min(section * tokens / SMALL);
        Self {
            transcript: most(transcript),
            referred: referred.max(tokens / 8).min(tokens / 4),
            files: most(files),
            named: most(named),
            documents: most(documents),
            feeds: most(feeds),
            findings: most(findings),
            lessons: most(lessons),
            heard: most(heard),
            spans: most(spans),
            question: tokens / 2,
        }
    }
}

/// A prompt with fewer tokens has less of everything.
const SMALL: usize = 16_000;

/// A prompt and the sizes of its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnContext {
    pub prompt: Prompt,
    /// Characters of each section, in order. They add up to the whole prompt.
    pub sections: Vec<(&'static str, usize)>,
}

pub fn build(input: &ContextInput<'_>) -> TurnContext {
    let cleaner = Cleaner { marker: input.marker };
    let notes = note_block(input, cleaner);
    let spans = span_block(input, cleaner);
    let transcript = transcript_block(input, cleaner);
    let starter = input.starter.map(|spoken| referred_block("first message of this thread, from", spoken, input, cleaner));
    let replied_to = input.replied_to.map(|spoken| referred_block("the message replied to, from", spoken, input, cleaner));
    let FileBlocks { blocks: files, has_text, remarks } = file_blocks(input, cleaner);
    let titles = title_block(input, cleaner);
    let named = fit(input.named.iter().map(|named| named.part(cleaner)).collect(), input.budget.named);
    let documents = passage_blocks(input.passages, input.budget.documents, cleaner);
    let subject = [input.question.text, input.replied_to.map_or("", |spoken| spoken.text.as_str())].join("\n");
    let feeds = talk_feed_blocks(input.feeds, (input.persona, &subject), input.budget.feeds, cleaner, input.roster);
    let findings = finding_block(input.findings, input.budget.findings, cleaner);
    let lessons = lesson_blocks(input, cleaner);
    let heard = heard_blocks(input, cleaner);
    let question = cleaner.text(input.question.text, input.budget.question * BYTES_PER_TOKEN);
    // An agent's message may quote anybody, so it goes into a data block. A person's message is the question itself.
    let agent = input.question.from.is_agent();
    let outside = agent
        || has_text
        || titles.is_some()
        || !named.is_empty()
        || notes.is_some()
        || input.files.focus.iter().chain(&input.files.near).any(|file| file.is_shown)
        || !feeds.is_empty()
        || !documents.is_empty()
        || findings.is_some()
        || input.transcript.iter().chain(input.replied_to).chain(input.starter).any(|line| line.speaker.is_agent())
        || input.spans.iter().any(|span| span.outside)
        || input.lessons.iter().chain(input.heard).any(Memory::may_quote_outside);
    let asked =
        agent.then(|| Block { label: format!("message of {}", speaker(input.question.from, input.roster)), text: question.clone() });

    let mut sections = vec![
        ("spans", chars_of(spans.as_slice())),
        ("transcript", chars_of(transcript.as_slice()) + chars_of(titles.as_slice())),
        ("referred", chars_of(starter.as_slice()) + chars_of(replied_to.as_slice()) + chars_of(notes.as_slice())),
        ("files", chars_of(&files) + chars_of(&named) + chars_of(&documents)),
        ("feeds", chars_of(&feeds) + chars_of(findings.as_slice())),
        ("lessons", chars_of(&lessons)),
        ("heard", chars_of(&heard)),
        ("question", question.chars().count()),
    ];
    let before = starter
        .into_iter()
        .chain(notes)
        .chain(spans)
        .chain(transcript)
        .chain(titles)
        .chain(files)
        .chain(named)
        .chain(documents)
        .chain(feeds)
        .chain(findings)
        .chain(lessons)
        .chain(heard);
    let blocks: Vec<Block> = before.chain(replied_to).chain(asked).collect();
    let system = prompt::render_system(input.team, input.roster, input.persona, PromptKind::Talk);
    let message = prompt::render_turn(&Turn {
        marker: input.marker,
        now: input.roster.today(input.now).spell(),
        place: if input.channel.is_empty() { "a direct conversation".into() } else { format!("#{}", flat_name(input.channel)) },
        blocks: &blocks,
        asking: asking(input),
        question: (!agent).then_some(question),
    });
    let frame = message.chars().count() - sections.iter().map(|(_, chars)| chars).sum::<usize>();
    sections.insert(0, ("system", system.chars().count()));
    sections.push(("frame", frame));
    TurnContext { sections, prompt: Prompt { system, message, holds_outside: outside, remarks } }
}

/// Longer transcript lines of people and of agents are cut, in bytes.
const LINE: usize = 2000;
const AGENT_LINE: usize = 700;
/// The most reactions to a message, and the most titles of links, with their lengths.
const REACTIONS: usize = 6;
const EMOJI: usize = 32;
const LINKS: usize = 8;
const LINK_CHARS: usize = 200;
/// Longer lessons are cut.
const LESSON_CHARS: usize = 400;
/// Longer messages and parts of documents are cut.
const HEARD_CHARS: usize = 700;
/// Longer summaries are cut.
const SPAN_CHARS: usize = 800;

fn speaker(speaker: &Speaker, roster: &Roster) -> String {
    match speaker {
        Speaker::Person { name, .. } => format!("person {}", flat_name(name)),
        Speaker::Persona(slug) => format!("persona {}", flat_name(roster.name_of(slug))),
        Speaker::ForeignBot { name, .. } => format!("outside bot {}", flat_name(name)),
    }
}

fn asking(input: &ContextInput<'_>) -> String {
    let from = speaker(input.question.from, input.roster);
    let reply = if input.replied_to.is_some() { ", in reply to the message above" } else { "" };
    let files = input.files.focus.iter().any(|file| file.text.is_some());
    let own = if input.files.is_meant && files { " (the files it is about stand above)" } else { "" };
    match input.question.through {
        Some(persona) => format!("{from} asks you through {}{reply}{own}:", flat_name(input.roster.name_of(persona))),
        None if input.question.from.is_agent() => format!("{from} addressed you. Answer its message above."),
        None => format!("{from} says to you{reply}{own}:"),
    }
}

/// A message that the question refers to, whether it is in the transcript or not.
fn referred_block(what: &str, spoken: &Spoken, input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Block {
    let at = input.roster.today(input.now).show(spoken.at);
    Block {
        label: format!("{what} {}, {at}", speaker(&spoken.speaker, input.roster)),
        text: cleaner.text(&said(spoken), input.budget.referred * BYTES_PER_TOKEN),
    }
}

/// What somebody said, without the small print that code adds under answers.
fn said(spoken: &Spoken) -> String {
    let lines: Vec<&str> = spoken.text.lines().filter(|line| !is_subtext(line)).collect();
    if lines.is_empty() || !spoken.speaker.is_agent() { spoken.text.clone() } else { lines.join("\n") }
}

/// The newest lines that fit.
fn transcript_block(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Option<Block> {
    let mut left = input.budget.transcript * BYTES_PER_TOKEN;
    let mut lines: Vec<String> = Vec::new();
    for spoken in input.transcript.iter().rev() {
        let most = if spoken.speaker.is_agent() { AGENT_LINE } else { LINE };
        let text = cleaner.text(&said(spoken), most) + &reactions_to(spoken, input, cleaner);
        // Indented, so that only our own tags start at the beginning of a line.
        let text = text.replace('\n', "\n    ");
        let line = format!(
            "[{}, {}] {text}",
            speaker(&spoken.speaker, input.roster),
            spoken.at.with_timezone(&input.roster.zone()).format("%H:%M")
        );
        if line.len() > left {
            break;
        }
        left -= line.len();
        lines.push(line);
    }
    let older = input.transcript.len() - lines.len();
    lines.extend((older > 0 && !lines.is_empty()).then(|| format!("({older} older messages left out)")));
    lines.reverse();
    (!lines.is_empty()).then(|| Block { label: "transcript, oldest first".into(), text: lines.join("\n") })
}

/// What is known about the channel. It is a data block, because a report in it may quote feeds.
fn note_block(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Option<Block> {
    let notes: Vec<String> =
        input.notes.iter().filter(|note| note.is_of_place).map(|note| cleaner.text(&note.text, HEARD_CHARS * BYTES_PER_TOKEN)).collect();
    (!notes.is_empty()).then(|| Block { label: "about this channel".into(), text: notes.join("\n") })
}

/// The newest summaries that fit, each with its time and an id by which it can be opened.
fn span_block(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Option<Block> {
    let mut left = input.budget.spans * BYTES_PER_TOKEN;
    let mut lines: Vec<String> = Vec::new();
    for span in input.spans.iter().rev() {
        let show = |at| input.roster.today(input.now).show(at);
        let text = cleaner.line(&span.text, SPAN_CHARS);
        let line = format!("- {} to {}, {} messages, #{}: {text}", show(span.from_at), show(span.to_at), span.messages, span.short_id());
        let Some(rest) = left.checked_sub(line.len()) else { break };
        left = rest;
        lines.push(line);
    }
    lines.reverse();
    (!lines.is_empty()).then(|| Block { label: "summaries of what was said here before".into(), text: lines.join("\n") })
}

/// Who reacted to a message, and how: ` (Ann reacted 👍)`.
fn reactions_to(spoken: &Spoken, input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> String {
    let is_of =
        |annotation: &&Annotation| annotation.kind == AnnotationKind::Reaction && spoken.message.as_ref() == Some(&annotation.message);
    let reactions: Vec<String> = (input.annotations.iter().filter(is_of).take(REACTIONS))
        .map(|reaction| format!("{} reacted {}", flat_name(&reaction.by), cleaner.line(&reaction.text, EMOJI)))
        .collect();
    if reactions.is_empty() { String::new() } else { format!(" ({})", reactions.join(", ")) }
}

/// The titles that the platform found behind links.
fn title_block(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Option<Block> {
    let last = input.annotations.iter().rev().filter(|annotation| annotation.kind == AnnotationKind::Link).take(LINKS);
    let mut lines: Vec<String> =
        last.map(|link| format!("{}: {}", cleaner.line(&link.key, LINK_CHARS), cleaner.line(&link.text, LINK_CHARS))).collect();
    lines.reverse();
    (!lines.is_empty()).then(|| Block { label: "titles of links in these messages".into(), text: lines.join("\n") })
}

/// What people taught, each with who and when, and the lessons.
fn lesson_blocks(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Vec<Block> {
    let mut left = input.budget.lessons * BYTES_PER_TOKEN;
    let (mut taught, mut learnt) = (Vec::new(), Vec::new());
    for memory in input.lessons {
        let text = cleaner.line(&memory.text, LESSON_CHARS);
        let line = match &memory.taught_by {
            Some(by) => format!("- {} ({}, {})", text, flat_name(&by.name), input.roster.show_time(memory.created_at)),
            None => format!("- {text}"),
        };
        let Some(rest) = left.checked_sub(line.len()) else { break };
        left = rest;
        if memory.taught_by.is_some() { taught.push(line) } else { learnt.push(line) }
    }
    let blocks = [("what people taught the team", taught), ("lessons learnt before", learnt)];
    let told = blocks.into_iter().filter(|(_, lines)| !lines.is_empty());
    told.map(|(label, lines)| Block { label: label.into(), text: lines.join("\n") }).collect()
}

/// What was said in channels before, and what documents say, each with its author and its place.
fn heard_blocks(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> Vec<Block> {
    let mut left = input.budget.heard * BYTES_PER_TOKEN;
    let (mut said, mut read) = (Vec::new(), Vec::new());
    for memory in input.heard {
        let on = input.roster.today(input.now).show(memory.created_at);
        let text = cleaner.line(&memory.text, HEARD_CHARS);
        let line = format!("- {}: {text}", memory.cite(&on, |text, chars| cleaner.line(&flat_title(text), chars)));
        let Some(rest) = left.checked_sub(line.len()) else { break };
        left = rest;
        if memory.kind == MemoryKind::Document { read.push(line) } else { said.push(line) }
    }
    let blocks = [("what was said before", said), ("from documents of the team: name the document when you use it", read)];
    let told = blocks.into_iter().filter(|(_, lines)| !lines.is_empty());
    told.map(|(label, lines)| Block { label: label.into(), text: lines.join("\n") }).collect()
}

fn chars_of(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.text.chars().count()).sum()
}

#[cfg(test)]
mod tests;
