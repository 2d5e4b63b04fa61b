//! The surroundings of a question: the transcript, the messages and files that it refers to, names in place of ids.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::agent::budget::{Part, Rank};
use crate::agent::context::Cleaner;
use crate::agent::files::{Asked, File, Files, KnownFile, Selection, select};
use crate::agent::names::Names;
use crate::agent::{Agents, Question, RunError};
use crate::chat::attachments::{MAX_SHOWN, MAX_SHOWN_BYTES, Media, is_appended, picture_type, typed, unseen};
use crate::chat::message::{Speaker, Spoken};
use crate::chat::store::{Annotation, FileText};
use crate::chat::text::escape_values;
use crate::ids::{MessageId, UserId};
use crate::llm::Picture;

/// The most transcript lines read for an answer. The context keeps those that fit its budget.
const TRANSCRIPT: u32 = 30;

/// The most files of a channel that are considered for an answer.
const CHANNEL_FILES: u32 = 60;

/// The most reactions and titles of links that are looked at.
const ANNOTATIONS: u32 = 60;

/// How long a picture that somebody posted is shown with later questions.
const LATELY: TimeDelta = TimeDelta::minutes(10);

/// The most text of files that an answer looks into, in bytes. Those in focus always count.
const FILE_TEXT: usize = 4 * 1024 * 1024;

/// What a person's message refers to besides its words (CHAT-33).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Refers {
    /// The author of the message. Their files come before those of others.
    pub author: Option<UserId>,
    pub replied_to: Option<Spoken>,
    /// The message that the thread was started on.
    pub starter: Option<Spoken>,
    pub in_thread: bool,
    /// What is known about the place where it is written.
    pub notes: Vec<PlaceNote>,
    /// The items and files that it names.
    pub named: Vec<NamedText>,
}

/// Something of the team that a text names, such as an item or a file, for a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedText {
    /// What it is: `item #c63dd4`, `faq.md of #c63dd4`.
    pub label: String,
    pub text: String,
    /// The call that reads it whole.
    pub call: String,
}

impl NamedText {
    /// As a part of a prompt, as far as it is not too long to stand in every one.
    pub fn part(&self, cleaner: Cleaner<'_>) -> Part {
        let label = self.label.replace(['<', '>', '|', '\n'], " ");
        Part::new(Rank::BuiltOn, label, cleaner.whole(&self.text)).at_most(NAMED).read_by(self.call.as_str())
    }
}

/// Limit of a named text in a prompt, in bytes.
const NAMED: usize = 12_000;

/// What a feature knows about a place: "the next standup starts at 09:00".
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceNote {
    pub text: String,
    /// Words by which people ask for the note, besides those of its text.
    pub asked_by: &'static str,
    /// A question in this place that names no subject is about this note.
    pub is_of_place: bool,
}

/// The context of a question's channel, with names in place of ids.
pub(super) struct Surroundings {
    pub(super) now: DateTime<Utc>,
    pub(super) question: String,
    /// What the asker typed of it, without the texts of files that were appended to it.
    pub(super) typed: String,
    /// What the authors of messages with files typed of them, see [`Self::typed_of`].
    typed_lines: HashMap<MessageId, String>,
    /// The messages before the question, oldest first.
    pub(super) transcript: Vec<Spoken>,
    pub(super) refers: Refers,
    pub(super) files: Files,
    /// The pictures that the model is shown.
    pub(super) pictures: Vec<Picture>,
    /// Reactions to these messages, and titles of their links.
    pub(super) annotations: Vec<Annotation>,
}

impl Surroundings {
    /// What its author typed of a line, without the names and texts of files.
    pub(super) fn typed_of<'s>(&'s self, line: &'s Spoken) -> &'s str {
        line.message.as_ref().and_then(|id| self.typed_lines.get(id)).map_or(line.text.as_str(), String::as_str)
    }
}

impl Agents {
    /// `sees`: the model is shown pictures.
    pub(super) async fn look_around(&self, question: &Question<'_>, sees: bool) -> Result<Surroundings, RunError> {
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
        let mut known = self.list_files(question, &refers).await?;
        for file in known.iter_mut().filter(|file| file.has_picture) {
            file.is_readable |= sees;
            // Set for this answer only. Another answer may come from a model that sees pictures.
            file.note = (!sees).then(|| unseen(&file.name));
        }
        let annotations = self.list_annotations(question, &transcript, &refers).await?;
        let mut lines: Vec<&mut Spoken> = transcript.iter_mut().chain(refers.replied_to.as_mut()).chain(refers.starter.as_mut()).collect();
        let texts = lines.iter().map(|line| line.text.as_str()).chain([question.text]);
        let names = Names::read(&self.store, &self.roster, texts).await?;
        let mut typed_lines = HashMap::new();
        for line in &lines {
            if let Some(id) = line.message.as_ref().filter(|id| known.iter().any(|file| file.message == **id)) {
                let appended = self.list_appended(id, &known).await?;
                typed_lines.insert(id.clone(), names.show(typed(&line.text, &appended)));
            }
        }
        let typed = names.show(&self.find_typed(question, &known).await?);
        for line in &mut lines {
            line.text = names.show(&line.text);
            name_files(line, &known);
        }
        let text = names.show(question.text);
        let (files, pictures) = self.open_files(question, &refers, (&text, now), &known, sees).await?;
        Ok(Surroundings { now, question: text, typed, typed_lines, transcript, refers, files, pictures, annotations })
    }

    /// What the asker typed of the question.
    async fn find_typed(&self, question: &Question<'_>, known: &[KnownFile]) -> Result<String, RunError> {
        let is_appended_to = |id: &MessageId| known.iter().any(|file| file.message == *id && is_appended(&file.name));
        let Some(channel) = question.channel.filter(|_| question.answered.iter().any(is_appended_to)) else {
            return Ok(question.text.to_owned());
        };
        let mut parts = Vec::new();
        for id in question.answered {
            let Some(line) = self.store.find_spoken(channel, id).await? else { continue };
            parts.push(typed(&line.text, &self.list_appended(id, known).await?).to_owned());
        }
        parts.retain(|part| !part.is_empty());
        Ok(parts.join("\n"))
    }

    /// The texts of files that were appended to a message, as they are and as they are escaped.
    async fn list_appended(&self, message: &MessageId, known: &[KnownFile]) -> Result<Vec<String>, RunError> {
        let mut texts = Vec::new();
        for file in known.iter().filter(|file| file.message == *message && is_appended(&file.name)) {
            if let Some(text) = self.store.find_file(&file.id).await?.and_then(|file| file.text) {
                texts.extend([escape_values(&text).into_owned(), text]);
            }
        }
        Ok(texts)
    }

    /// Reactions to the messages that the prompt shows, and titles of their links.
    async fn list_annotations(&self, question: &Question<'_>, transcript: &[Spoken], refers: &Refers) -> Result<Vec<Annotation>, RunError> {
        let Some(channel) = question.channel else { return Ok(Vec::new()) };
        let shown = transcript.iter().chain(&refers.replied_to).chain(&refers.starter).filter_map(|line| line.message.as_ref());
        let shown: HashSet<&MessageId> = shown.chain(question.answered).collect();
        let mut all = self.store.list_annotations(channel, ANNOTATIONS).await?;
        all.retain(|annotation| shown.contains(&annotation.message));
        Ok(all)
    }

    /// The files of the channel, of the messages that the question refers to, and those given with it.
    async fn list_files(&self, question: &Question<'_>, refers: &Refers) -> Result<Vec<KnownFile>, RunError> {
        let person = match question.asker {
            Speaker::Person { id, .. } => Some(id),
            _ => refers.author.as_ref(),
        };
        let mut known: Vec<KnownFile> = question.files.iter().map(given).collect();
        let of_channel = match question.channel {
            Some(channel) => self.store.list_channel_files(channel, person, CHANNEL_FILES).await?,
            None => Vec::new(),
        };
        // The messages that are answered stand in the channel, so their files may be known already.
        let has_all = question.channel.is_some() && of_channel.len() < CHANNEL_FILES as usize;
        known.extend(of_channel);
        let answered = question.answered.iter().filter(|_| !has_all);
        let referred = refers.replied_to.iter().chain(&refers.starter).filter_map(|spoken| spoken.message.as_ref());
        for message in answered.chain(referred) {
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
        sees: bool,
    ) -> Result<(Files, Vec<Picture>), RunError> {
        let messages: Vec<MessageId> = question.answered.iter().chain(question.files.iter().map(|file| &file.message)).cloned().collect();
        let asked = Asked {
            text,
            today: self.roster.today(now),
            messages: &messages,
            replied_to: refers.replied_to.as_ref().and_then(|spoken| spoken.message.as_ref()),
            starter: refers.starter.as_ref().and_then(|spoken| spoken.message.as_ref()),
            in_thread: refers.in_thread,
        };
        let selection = select(known, &asked);
        let Selection { is_meant, is_closed, .. } = selection;
        let mut files = Files { is_meant, is_closed, in_thread: refers.in_thread, ..Files::default() };
        let (shown, pictures) = if sees { self.open_pictures(known, &selection, now).await? } else { (HashSet::new(), Vec::new()) };
        let mut left = FILE_TEXT;
        for (indices, opened) in
            [(&selection.focus, &mut files.focus), (&selection.near, &mut files.near), (&selection.older, &mut files.older)]
        {
            let is_focus = *indices == selection.focus;
            for file in indices.iter().map(|index| &known[*index]) {
                let given = question.files.iter().find(|given| given.id == file.id).cloned();
                let read = match given {
                    _ if left == 0 && !is_focus => break,
                    None if file.is_readable && !file.has_picture => self.store.find_file(&file.id).await?,
                    given => given,
                };
                let text = read.and_then(|read| read.text);
                // The person said these words, so they are not text of a file.
                let is_heard = text.is_some() && file.media().is_some_and(Media::is_sound);
                let text = text.filter(|_| !is_heard);
                left = left.saturating_sub(text.as_ref().map_or(0, String::len));
                opened.push(File {
                    name: file.name.clone(),
                    by: file.by.clone(),
                    at: file.at,
                    text,
                    is_shown: shown.contains(&file.id),
                    is_heard,
                    note: file.note.clone(),
                });
            }
        }
        Ok((files, pictures))
    }

    /// The pictures that the question is about, else those of the last minutes, with the ids of their files.
    async fn open_pictures(
        &self,
        known: &[KnownFile],
        selection: &Selection,
        now: DateTime<Utc>,
    ) -> Result<(HashSet<String>, Vec<Picture>), RunError> {
        let of = |indices: &[usize]| indices.iter().map(|index| &known[*index]).filter(|file| file.has_picture).collect::<Vec<_>>();
        let mut wanted = of(&selection.focus);
        let is_meant = selection.is_meant && !wanted.is_empty();
        if wanted.is_empty() {
            wanted = of(&selection.near);
            wanted.retain(|file| now - file.at <= LATELY);
        }
        let (mut ids, mut pictures, mut bytes) = (HashSet::new(), Vec::new(), 0);
        for file in wanted.into_iter().take(MAX_SHOWN) {
            let Some(picture) = self.store.find_picture(&file.id).await? else { continue };
            let Some(media_type) = picture_type(&picture).filter(|_| bytes + picture.len() <= MAX_SHOWN_BYTES) else { continue };
            bytes += picture.len();
            ids.insert(file.id.clone());
            pictures.push(Picture { name: file.name.clone(), media_type, bytes: Arc::new(picture), is_meant });
        }
        Ok((ids, pictures))
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
        has_picture: false,
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
