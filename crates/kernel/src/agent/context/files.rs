//! The files of a conversation in a prompt: in full as far as the budget goes, by relevant parts beyond it, the rest by name.

use chrono::TimeDelta;

use crate::agent::budget::BYTES_PER_TOKEN;
use crate::agent::context::{Cleaner, ContextInput, file_name, flat_name};
use crate::agent::files::{File, PartRead, Search, amount, remark_on_parts};
use crate::agent::prompt::Block;
use crate::chat::attachments::Media;
use crate::chat::text::Subtext;
use crate::memory::retrieval::Query;
use crate::persona::file::READ_DOCUMENT;

/// Longer quotations from a file are cut.
const QUOTE_CHARS: usize = 1200;
const QUOTES: usize = 6;
/// The most files that are listed by name, and the room for each.
const LISTED: usize = 12;
const LINE_BYTES: usize = 120;
/// A beginning of a file that is shorter than this is left out, because it tells nothing.
const BEGINNING: usize = 200;
/// How long a file that was posted is what people speak of without naming it.
const LATELY: TimeDelta = TimeDelta::minutes(15);

/// What a prompt says about files.
#[derive(Debug, Default)]
pub(super) struct FileBlocks {
    pub(super) blocks: Vec<Block>,
    /// Whether `blocks` contains text of a file, and not only names.
    pub(super) has_text: bool,
    /// What the answer must say about the files, as lines of small print.
    pub(super) remarks: Vec<String>,
}

pub(super) fn file_blocks(input: &ContextInput<'_>, cleaner: Cleaner<'_>) -> FileBlocks {
    let files = input.files;
    let listed = (files.focus.len() + files.near.len()).min(LISTED);
    let mut writer = Writer {
        input,
        cleaner,
        left: (input.budget.files * BYTES_PER_TOKEN).saturating_sub(listed * LINE_BYTES),
        texts: Vec::new(),
        read: files.focus.iter().chain(&files.near).map(|_| Amount::Nothing).collect(),
    };
    let is_current = is_current(input);
    if is_current {
        writer.write_whole();
    }
    writer.write_parts();
    if is_current {
        writer.write_beginnings();
    }
    let has_text = !writer.texts.is_empty();
    let list = writer.list();
    let remarks = writer.remarks();
    FileBlocks { has_text, remarks, blocks: list.into_iter().chain(writer.texts).collect() }
}

/// Whether the files in focus belong to the question: it came with them, replies to them or names them, or they were posted just now, or in its thread.
/// Of other files there is only what fits the question, if the persona can read the rest.
fn is_current(input: &ContextInput<'_>) -> bool {
    let ContextInput { files, persona, now, .. } = input;
    files.is_meant || files.in_thread || files.focus.iter().any(|file| *now - file.at <= LATELY) || !persona.can(READ_DOCUMENT)
}

/// How much of a file is in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Whole,
    /// In bytes.
    Part(usize),
    Nothing,
}

struct Writer<'a> {
    input: &'a ContextInput<'a>,
    cleaner: Cleaner<'a>,
    /// The room that is left, in bytes.
    left: usize,
    texts: Vec<Block>,
    /// How much of each file was written: first those in focus, then the near ones.
    read: Vec<Amount>,
}

impl<'a> Writer<'a> {
    fn files(&self) -> impl Iterator<Item = &'a File> + use<'a> {
        self.input.files.focus.iter().chain(&self.input.files.near)
    }

    /// Writes the files in focus that fit into their share of the room.
    fn write_whole(&mut self) {
        for (index, share) in self.shares() {
            let file = &self.input.files.focus[index];
            if let Some(text) = file.text.as_deref().filter(|text| text.len() <= share) {
                self.write_file(file, text, index);
            }
        }
    }

    /// Writes the passages on the question's subject, from all files.
    fn write_parts(&mut self) {
        let input = self.input;
        let mut search = Search::new(input.files, |file, is_older| cited(file, is_older, input));
        // Indexed only for comparison. Feeds and their documents have blocks of their own.
        input.passages.iter().for_each(|passage| search.add_fact(String::new(), &passage.text, None));
        for reading in input.feeds.iter().filter_map(|report| report.outcome.as_ref().ok()) {
            reading.items.iter().for_each(|item| search.add_fact(String::new(), &item.text, item.by.as_deref()));
        }
        let names: Vec<String> = input.roster.personas().iter().map(|persona| persona.name.to_lowercase()).collect();
        let query = Query::parse(input.question.text, &names);
        let mut quotes = 0;
        for hit in search.find(&query, usize::MAX).into_iter().filter(|hit| !hit.fact) {
            let file = self.files().zip(0..).find(|(file, _)| file.name == hit.source);
            match file {
                Some((_, index)) if self.read[index] == Amount::Whole => continue,
                _ if quotes == QUOTES => break,
                Some((file, index)) if self.read[index] == Amount::Nothing && self.write_short(file, index) => {}
                _ => {
                    let quote = hit.quote(&query, QUOTE_CHARS.min(self.left));
                    let Some(left) = self.left.checked_sub(quote.text.len()) else { break };
                    self.left = left;
                    if let Some((_, index)) = file {
                        let before = if let Amount::Part(bytes) = self.read[index] { bytes } else { 0 };
                        self.read[index] = Amount::Part(before + quote.text.len());
                    }
                    let label = format!("part of {}", file_name(&quote.place));
                    self.texts.push(Block { label, text: self.cleaner.text(&quote.text, usize::MAX) });
                }
            }
            quotes += 1;
        }
    }

    /// Writes a file as a whole if it is no longer than a quotation. False if it is longer.
    fn write_short(&mut self, file: &File, index: usize) -> bool {
        let Some(text) = file.text.as_deref().filter(|text| text.len() <= QUOTE_CHARS.min(self.left)) else { return false };
        self.write_file(file, text, index);
        true
    }

    fn write_file(&mut self, file: &File, text: &str, index: usize) {
        let label = format!("file {}, whole, from {}", file_name(&file.name), flat_name(&file.by));
        self.texts.push(Block { label, text: self.cleaner.text(text, usize::MAX) });
        self.left -= text.len();
        self.read[index] = Amount::Whole;
    }

    /// Writes the beginnings of the files in focus, if the question matches nothing in them: "What do you make of this?"
    fn write_beginnings(&mut self) {
        let focus = self.input.files.focus.len();
        if self.read[..focus].iter().any(|read| matches!(read, Amount::Part(_))) {
            return;
        }
        for (index, share) in self.shares() {
            let file = &self.input.files.focus[index];
            let (Some(text), Amount::Nothing) = (&file.text, self.read[index]) else { continue };
            if share < BEGINNING {
                continue;
            }
            let read = share.min(text.len());
            self.texts.push(Block { label: format!("beginning of {}", file_name(&file.name)), text: self.cleaner.text(text, share) });
            self.left -= read;
            self.read[index] = Amount::Part(read);
        }
    }

    /// The room for each file in focus that has text and is not in the prompt yet: equal shares, and what small files leave goes to the others.
    fn shares(&self) -> Vec<(usize, usize)> {
        let focus = &self.input.files.focus;
        let texts = focus.iter().enumerate().filter(|(index, _)| self.read[*index] == Amount::Nothing);
        let mut lengths: Vec<(usize, usize)> = texts.filter_map(|(index, file)| Some((index, file.text.as_ref()?.len()))).collect();
        lengths.sort_by_key(|(_, length)| *length);
        let (mut left, mut count) = (self.left, lengths.len());
        for (_, length) in &mut lengths {
            *length = (*length).min(left / count);
            left -= *length;
            count -= 1;
        }
        lengths.sort_unstable();
        lengths
    }

    /// The names of the files, with how much of each is in the prompt. None if all are there whole.
    fn list(&self) -> Option<Block> {
        if self.read.iter().all(|read| *read == Amount::Whole) {
            return None;
        }
        let lines = self.files().zip(&self.read).take(LISTED).map(|(file, read)| self.line(file, *read));
        let more = self.read.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("(and {more} more)"));
        Some(Block { label: "files of this conversation".into(), text: lines.chain(more).collect::<Vec<_>>().join("\n") })
    }

    fn line(&self, file: &File, read: Amount) -> String {
        let from =
            format!("{}, from {}, {}", file_name(&file.name), flat_name(&file.by), self.input.roster.today(self.input.now).show(file.at));
        if let Some(media) = file.media() {
            let (what, not) = media.describe();
            let seen = match file {
                File { is_shown: true, .. } => "shown to you",
                File { is_heard: true, .. } => "spoken: its words are in the message, and some may be misheard",
                _ => not,
            };
            return format!("- {what}: {from}, {seen}");
        }
        let note = file.note.as_deref().map(|note| self.cleaner.line(note, 300));
        let read = match (&file.text, read) {
            (None, _) => return format!("- {from}: could not be read. {}", note.unwrap_or_default()),
            (Some(_), Amount::Whole) => "whole, below".to_owned(),
            (Some(text), Amount::Part(bytes)) => format!("{} below", amount(bytes, text.len())),
            (Some(_), Amount::Nothing) if self.input.persona.can(READ_DOCUMENT) => "not shown, `read_document` reads it".to_owned(),
            (Some(_), Amount::Nothing) => "not shown".to_owned(),
        };
        let note = note.map_or(String::new(), |note| format!(". {note}"));
        format!("- {from}: {read}{note}")
    }

    /// Whether a colleague has said already why a picture was not seen.
    fn is_said(&self, file: &File, note: &str) -> bool {
        let mut lines = self.input.transcript.iter().filter(|line| line.speaker.is_agent() && line.at >= file.at);
        file.media() == Some(Media::Picture) && lines.any(|line| line.text.contains(note))
    }

    /// The lines that code adds below the answer: which files could not be read, and how much was read of files that were not read whole.
    fn remarks(&self) -> Vec<String> {
        let files = self.input.files;
        let notes = files.list_noted().filter(|(file, note)| !self.is_said(file, note));
        let mut remarks: Vec<String> = notes.map(|(_, note)| Subtext(self.cleaner.line(note, 300)).to_string()).collect();
        let meant = if files.is_meant { files.focus.len() } else { 0 };
        let part = |(index, (file, read)): (usize, (&File, &Amount))| {
            let of = file.text.as_ref()?.len();
            let read = match read {
                Amount::Part(bytes) => *bytes,
                Amount::Nothing if index < meant => 0,
                Amount::Nothing | Amount::Whole => return None,
            };
            Some(PartRead { name: file.name.clone(), read, of })
        };
        let parts: Vec<PartRead> = self.files().zip(&self.read).enumerate().filter_map(part).collect();
        remarks.extend(remark_on_parts("Read", &parts));
        remarks
    }
}

/// The name of a file in citations, with its day if it is from before.
fn cited(file: &File, is_older: bool, input: &ContextInput<'_>) -> String {
    if is_older { format!("{} of {}", file.name, input.roster.today(input.now).show(file.at)) } else { file.name.clone() }
}
