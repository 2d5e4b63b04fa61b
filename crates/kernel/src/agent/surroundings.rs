//! What belongs to a question besides its words: the transcript, the messages and files that it refers to, names in place of ids.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::agent::files::{Asked, File, Files, KnownFile, select};
use crate::agent::names::Names;
use crate::agent::{Agents, Question, RunError};
use crate::chat::message::{Speaker, Spoken};
use crate::chat::store::FileText;
use crate::ids::{MessageId, UserId};

/// The most transcript lines read for an answer. The context keeps those that fit its budget.
const TRANSCRIPT: u32 = 30;

/// The most files of a channel among which an answer may find its own.
const CHANNEL_FILES: u32 = 60;

/// The most text of files that an answer looks into, in bytes. Those in focus always count.
const FILE_TEXT: usize = 4 * 1024 * 1024;

/// What a person's message refers to besides its words (CHAT-33).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Refers {
    /// Whose message it is. Their files come before others'.
    pub author: Option<UserId>,
    pub replied_to: Option<Spoken>,
    /// The message on which the thread hangs.
    pub starter: Option<Spoken>,
    pub in_thread: bool,
}

/// The context of a question's channel, with names in place of ids.
pub(super) struct Surroundings {
    pub(super) now: DateTime<Utc>,
    pub(super) question: String,
    /// The messages before the question, oldest first.
    pub(super) transcript: Vec<Spoken>,
    pub(super) refers: Refers,
    pub(super) files: Files,
}

impl Agents {
    pub(super) async fn look_around(&self, question: &Question<'_>) -> Result<Surroundings, RunError> {
        let now = self.runner.clock.now();
        let mut refers = question.refers.cloned().unwrap_or_default();
        let mut transcript = match question.channel {
            Some(channel) => self.store.list_spoken(channel, TRANSCRIPT).await?,
            None => Vec::new(),
        };
        transcript.retain(|line| !line.message.as_ref().is_some_and(|id| question.answered.contains(id)));
        // An agent's message has no id before it is posted. It is the last line with this text.
        if question.asker.is_agent()
            && let Some(at) = transcript.iter().rposition(|line| line.speaker == *question.asker && line.text == question.text)
        {
            transcript.remove(at);
        }
        let known = self.list_files(question, &refers).await?;
        let mut lines: Vec<&mut Spoken> = transcript.iter_mut().chain(refers.replied_to.as_mut()).chain(refers.starter.as_mut()).collect();
        let texts = lines.iter().map(|line| line.text.as_str()).chain([question.text]);
        let names = Names::read(&self.store, &self.roster, texts).await?;
        for line in &mut lines {
            line.text = names.show(&line.text);
            name_files(line, &known);
        }
        let text = names.show(question.text);
        let files = self.open_files(question, &refers, (&text, now), &known).await?;
        Ok(Surroundings { now, question: text, transcript, refers, files })
    }

    /// The files of the channel, of the messages that the question refers to, and those given with it.
    async fn list_files(&self, question: &Question<'_>, refers: &Refers) -> Result<Vec<KnownFile>, RunError> {
        let person = match question.asker {
            Speaker::Person { id, .. } => Some(id),
            _ => refers.author.as_ref(),
        };
        let mut known: Vec<KnownFile> = question.files.iter().map(given).collect();
        if let Some(channel) = question.channel {
            known.extend(self.store.list_channel_files(channel, person, CHANNEL_FILES).await?);
        }
        let referred = refers.replied_to.iter().chain(&refers.starter).filter_map(|spoken| spoken.message.as_ref());
        for message in question.answered.iter().chain(referred) {
            known.extend(self.store.list_message_files(message, person).await?);
        }
        let mut ids = HashSet::new();
        known.retain(|file| ids.insert(file.id.clone()));
        Ok(known)
    }

    /// The files that the question is about, with their texts.
    async fn open_files(
        &self,
        question: &Question<'_>,
        refers: &Refers,
        (text, now): (&str, DateTime<Utc>),
        known: &[KnownFile],
    ) -> Result<Files, RunError> {
        let messages: Vec<MessageId> = question.answered.iter().chain(question.files.iter().map(|file| &file.message)).cloned().collect();
        let asked = Asked {
            text,
            now,
            messages: &messages,
            replied_to: refers.replied_to.as_ref().and_then(|spoken| spoken.message.as_ref()),
            starter: refers.starter.as_ref().and_then(|spoken| spoken.message.as_ref()),
            in_thread: refers.in_thread,
        };
        let selection = select(known, &asked);
        let mut files = Files { is_meant: selection.is_meant, is_closed: selection.is_closed, ..Files::default() };
        let mut left = FILE_TEXT;
        for (indices, opened) in
            [(&selection.focus, &mut files.focus), (&selection.near, &mut files.near), (&selection.older, &mut files.older)]
        {
            let is_focus = *indices == selection.focus;
            for file in indices.iter().map(|index| &known[*index]) {
                let given = question.files.iter().find(|given| given.id == file.id).cloned();
                let read = match given {
                    _ if left == 0 && !is_focus => break,
                    None if file.is_readable => self.store.find_file(&file.id).await?,
                    given => given,
                };
                let text = read.and_then(|read| read.text);
                left = left.saturating_sub(text.as_ref().map_or(0, String::len));
                opened.push(File { name: file.name.clone(), by: file.by.clone(), at: file.at, text, note: file.note.clone() });
            }
        }
        Ok(files)
    }
}

/// A file that came with a question outside of channels.
fn given(file: &FileText) -> KnownFile {
    KnownFile {
        id: file.id.clone(),
        message: file.message.clone(),
        name: file.name.clone(),
        by: file.by.clone(),
        by_asker: true,
        at: file.at,
        is_readable: file.text.is_some(),
        note: file.note.clone(),
    }
}

/// Says in a line which files came with its message.
fn name_files(line: &mut Spoken, known: &[KnownFile]) {
    let names: Vec<&str> =
        known.iter().filter(|file| line.message.as_ref() == Some(&file.message)).map(|file| file.name.as_str()).collect();
    if !names.is_empty() {
        let text = format!("{} (with {})", line.text, names.join(", "));
        text.trim_start().clone_into(&mut line.text);
    }
}
