//! Decides which files of a conversation a question is about (CHAT-33). Pure.
//!
//! A question is about the files that it came with, replies to or names, else about the newest ones of its conversation. A conversation is the
//! thread, what its person posted in the last day, and what anybody posted in the last hours.

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::TimeDelta;

use crate::agent::files::KnownFile;
use crate::chat::attachments::Media;
use crate::ids::MessageId;
use crate::memory::retrieval::words_of;
use crate::time::Today;
use crate::when::find_range;

/// How long a file belongs to the conversation of its channel.
const CHANNEL: TimeDelta = TimeDelta::hours(6);
/// How long a file belongs to the conversation of its sender in that channel.
const SENDER: TimeDelta = TimeDelta::hours(24);
/// Somebody who speaks of "it" means their own file, unless another one came this much later.
const SIDE_BY_SIDE: TimeDelta = TimeDelta::minutes(10);
/// The most files besides those in focus.
const NEAR: usize = 20;
const OLDER: usize = 20;
/// The fewest letters by which several words of a question name an older file. So "what is left to do?" does not name `to-do.md`.
const LONG_NAME: usize = 8;
/// The shortest name of one word.
const SHORT_NAME: usize = 3;

/// A question and the place where it is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub text: &'a str,
    pub today: Today,
    /// The messages that contain it.
    pub messages: &'a [MessageId],
    pub replied_to: Option<&'a MessageId>,
    /// The message that the thread was started on.
    pub starter: Option<&'a MessageId>,
    pub in_thread: bool,
}

/// Files by their index in the list given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// See [`Files`](super::Files).
    pub focus: Vec<usize>,
    pub is_meant: bool,
    pub is_closed: bool,
    pub near: Vec<usize>,
    pub older: Vec<usize>,
}

/// How close a file is to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Own,
    RepliedTo,
    Thread,
    Recent,
    Older,
}

/// The files that a question is about, those of its conversation, and those from before.
pub fn select(files: &[KnownFile], asked: &Asked<'_>) -> Selection {
    let ranked = rank(files, asked);
    let name = Name::of(asked.text);
    let named = |closeness, index: usize| {
        let file = &files[index];
        // "When does the harbour open?" is not about harbour.png of a while ago, which nobody sees.
        let is_unseen = closeness > Closeness::RepliedTo && !file.is_readable && file.media() == Some(Media::Picture);
        if is_unseen { name.has_whole(&file.name.to_lowercase()) } else { name.is_of(&file.name, closeness != Closeness::Older) }
    };
    let named: Vec<usize> = ranked.iter().filter(|(closeness, index)| named(*closeness, *index)).map(|(_, index)| *index).collect();
    let given: Vec<usize> = ranked.iter().filter(|(closeness, _)| *closeness <= Closeness::RepliedTo).map(|(_, index)| *index).collect();
    let names_given = given.iter().any(|index| named.contains(index));
    // With a.md and b.md attached, "What does b.md say?" is about b.md alone. "Compare it with c.md" is about c.md too.
    let meant: Vec<usize> = if names_given { named.clone() } else { given.into_iter().chain(named.iter().copied()).collect() };
    let is_meant = !meant.is_empty();
    let focus = if is_meant { meant } else { newest(files, &ranked) };
    let unread = focus.iter().all(|index| !files[*index].is_readable);
    // A picture beside a question is no reason to leave out the files, unless the question names it.
    let matters = !named.is_empty() || focus.iter().any(|index| files[*index].media().is_none());
    if is_meant && unread && matters {
        return Selection { focus, is_meant, is_closed: true, ..Selection::default() };
    }
    let rest = |wanted: fn(Closeness) -> bool, most: usize| {
        let rest = ranked.iter().filter(|(closeness, index)| wanted(*closeness) && !focus.contains(index));
        rest.map(|(_, index)| *index).take(most).collect::<Vec<_>>()
    };
    // A file that was posted before the time in the question says nothing about that time.
    let since = find_range(&words_of(asked.text), asked.today).map(|(range, _)| range.since);
    let mut older = rest(|closeness| closeness == Closeness::Older, OLDER);
    older.retain(|index| files[*index].is_readable && since.is_none_or(|since| files[*index].at >= since));
    let near = rest(|closeness| closeness != Closeness::Older, NEAR);
    Selection { near, older, focus, is_meant, is_closed: false }
}

/// Sorts the files: the closest first, then the newest. Of files with the same name only the first is kept, unless the question came with both.
fn rank(files: &[KnownFile], asked: &Asked<'_>) -> Vec<(Closeness, usize)> {
    let mut ranked: Vec<(Closeness, usize)> = files.iter().map(|file| closeness(file, asked)).zip(0..).collect();
    ranked.sort_by_key(|(closeness, index)| {
        let file = &files[*index];
        (*closeness, Reverse(file.at), file.message.clone(), file.id.clone())
    });
    let mut names = HashSet::new();
    ranked.retain(|(closeness, index)| names.insert(files[*index].name.to_lowercase()) || *closeness == Closeness::Own);
    ranked
}

fn closeness(file: &KnownFile, asked: &Asked<'_>) -> Closeness {
    let age = asked.today.now - file.at;
    if asked.messages.contains(&file.message) {
        Closeness::Own
    } else if asked.replied_to == Some(&file.message) {
        Closeness::RepliedTo
    } else if asked.in_thread || asked.starter == Some(&file.message) {
        Closeness::Thread
    } else if age <= CHANNEL || file.by_asker && age <= SENDER {
        Closeness::Recent
    } else {
        Closeness::Older
    }
}

/// The files of the newest message of the conversation, or of the asker's own if it is about as new. Pictures are passed over: people post them
/// in between.
fn newest(files: &[KnownFile], ranked: &[(Closeness, usize)]) -> Vec<usize> {
    let near = || ranked.iter().filter(|(closeness, _)| *closeness != Closeness::Older).map(|(_, index)| *index);
    let candidates = || near().filter(|index| files[*index].media().is_none());
    let Some(newest) = candidates().max_by_key(|index| files[*index].at) else { return Vec::new() };
    let own = candidates().filter(|index| files[*index].by_asker).max_by_key(|index| files[*index].at);
    let own = own.filter(|own| files[newest].at - files[*own].at <= SIDE_BY_SIDE);
    let message = &files[own.unwrap_or(newest)].message;
    candidates().filter(|index| files[*index].message == *message).collect()
}

/// The words of a question that may name a file.
struct Name {
    text: String,
    /// The words joined by spaces, with a space at each end.
    words: String,
}

impl Name {
    fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        Self { words: spaced(&text), text }
    }

    /// Whether the question contains a file's name: in full, or its words without the extension. `by_one_word`: a name of one word is enough.
    fn is_of(&self, name: &str, by_one_word: bool) -> bool {
        let name = name.to_lowercase();
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        let words = spaced(stem);
        let is_long = match words.split_whitespace().count() {
            0 => false,
            1 => by_one_word && words.trim().chars().count() >= SHORT_NAME,
            _ => by_one_word || words.split_whitespace().map(|word| word.chars().count()).sum::<usize>() >= LONG_NAME,
        };
        self.has_whole(&name) || is_long && self.words.contains(&words)
    }

    fn has_whole(&self, name: &str) -> bool {
        let continues = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        name.contains('.')
            && self
                .text
                .match_indices(name)
                .any(|(at, found)| !self.text[..at].ends_with(continues) && !self.text[at + found.len()..].starts_with(continues))
    }
}

fn spaced(text: &str) -> String {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::feeds::{now, today};

    fn file(name: &str, message: &str, minutes_ago: i64) -> KnownFile {
        KnownFile {
            id: format!("{message}/{name}"),
            message: message.into(),
            name: name.into(),
            by: "Bob".into(),
            by_asker: false,
            at: now() - TimeDelta::minutes(minutes_ago),
            is_readable: true,
            has_picture: false,
            note: None,
        }
    }

    fn mine(name: &str, message: &str, minutes_ago: i64) -> KnownFile {
        KnownFile { by_asker: true, ..file(name, message, minutes_ago) }
    }

    fn refused(file: KnownFile) -> KnownFile {
        KnownFile { is_readable: false, note: Some("It is too large.".into()), ..file }
    }

    const DAY: i64 = 24 * 60;

    /// The names of the files in focus, near and older. The question is message `m` and replies to `r`.
    fn selected(files: &[KnownFile], text: &str) -> String {
        let (messages, replied_to) = (["m".into()], "r".into());
        let asked = Asked { text, today: today(), messages: &messages, replied_to: Some(&replied_to), starter: None, in_thread: false };
        show(files, &select(files, &asked))
    }

    fn show(files: &[KnownFile], selection: &Selection) -> String {
        let names = |indices: &[usize]| indices.iter().map(|index| files[*index].name.as_str()).collect::<Vec<_>>().join(" ");
        let kind = match (selection.is_closed, selection.is_meant) {
            (true, _) => "!",
            (_, true) => "=",
            _ => "",
        };
        format!("{kind}{} | {} | {}", names(&selection.focus), names(&selection.near), names(&selection.older))
    }

    #[test]
    fn a_file_belongs_to_its_conversation() {
        let gone = file("launch.md", "w", 7 * DAY);
        for (files, question, expected) in [
            (vec![mine("plan.md", "1", 1), gone.clone()], "vince, summarise it", "plan.md |  | launch.md"),
            (vec![mine("plan.md", "1", 1), gone.clone()], "vince, fasse es zusammen", "plan.md |  | launch.md"),
            (vec![mine("plan.md", "1", 1)], "vince, and in plan.md?", "=plan.md |  | "),
            (vec![file("plan.md", "r", 9 * DAY), mine("x.md", "1", 1)], "and what is missing?", "=plan.md | x.md | "),
            (vec![file("plan.md", "m", 0), mine("x.md", "1", 1)], "what is missing?", "=plan.md | x.md | "),
            (vec![file("plan.md", "1", 5 * 60), file("x.md", "2", 7 * 60)], "what is missing?", "plan.md |  | x.md"),
            (vec![mine("plan.md", "1", 20 * 60)], "what is missing?", "plan.md |  | "),
            (vec![gone.clone()], "vince, what does the server cost?", " |  | launch.md"),
            (vec![gone.clone()], "what happened today?", " |  | "),
            (vec![gone.clone()], "what happened to the launch today?", " |  | "),
            (vec![gone.clone()], "what does launch.md say of the venue?", "=launch.md |  | "),
            (vec![gone], "when do we launch?", " |  | launch.md"),
        ] {
            assert_eq!(selected(&files, question), expected, "{question}");
        }
    }

    #[test]
    fn a_named_file_is_meant_and_others_are_not() {
        let two = [file("a.md", "m", 0), file("budget.csv", "m", 0)];
        let before = [file("decision-log.md", "1", 9 * DAY), file("to-do.md", "2", 9 * DAY), file("plan.md", "3", 60)];
        for (files, question, expected) in [
            (&two[..], "what is in the budget?", "=budget.csv | a.md | "),
            (&two, "what is in them?", "=a.md budget.csv |  | "),
            (&two, "and data.md?", "=a.md budget.csv |  | "),
            (&before, "what does the decision log say?", "=decision-log.md | plan.md | to-do.md"),
            (&before, "what is left to do?", "plan.md |  | decision-log.md to-do.md"),
            (&before, "compare to-do.md with the plan", "=plan.md to-do.md |  | decision-log.md"),
        ] {
            assert_eq!(selected(files, question), expected, "{question}");
        }
    }

    #[test]
    fn a_refused_file_is_not_answered_from_another_one() {
        let other = file("notes.md", "1", 10);
        for (files, question, expected) in [
            (vec![refused(file("plan.md", "m", 0)), other.clone()], "what does it say?", "!plan.md |  | "),
            (vec![refused(file("plan.md", "m", 0)), file("costs.md", "m", 0)], "what does it say?", "=costs.md plan.md |  | "),
            (vec![refused(file("plan.md", "m", 0)), file("costs.md", "m", 0)], "what is the plan?", "!plan.md |  | "),
            // The newer version was refused. The older one is out of date.
            (vec![refused(file("plan.md", "2", 5)), file("plan.md", "1", 60)], "what is in plan.md?", "!plan.md |  | "),
            (vec![refused(file("plan.md", "2", 5)), other.clone()], "summarise it", "plan.md | notes.md | "),
            // People post pictures beside their questions.
            (vec![refused(file("x.png", "m", 0)), other.clone()], "what do the notes say?", "=x.png notes.md |  | "),
            (vec![refused(file("x.png", "m", 0)), other.clone()], "what is the queue?", "=x.png | notes.md | "),
            (vec![refused(file("x.png", "m", 0)), other.clone()], "what is in x.png?", "!x.png |  | "),
            (vec![refused(file("x.png", "2", 1)), other.clone()], "what do you think?", "notes.md | x.png | "),
            // An earlier picture that nobody sees is meant only by its whole name, or by a reply.
            (vec![refused(file("harbour.png", "2", 24)), other.clone()], "when does the harbour open?", "notes.md | harbour.png | "),
            (vec![refused(file("harbour.png", "r", 24)), other.clone()], "what is the harbour?", "!harbour.png |  | "),
            (vec![refused(file("harbour.png", "2", 24)), other], "what is on harbour.png?", "!harbour.png |  | "),
        ] {
            assert_eq!(selected(&files, question), expected, "{question}: {files:#?}");
        }
    }

    #[test]
    fn it_is_the_askers_file_unless_another_one_came_much_later() {
        let files = |later: i64| [mine("plan.md", "1", 30), file("notes.md", "2", 30 - later)];
        assert_eq!(selected(&files(3), "summarise it"), "plan.md | notes.md | ");
        assert_eq!(selected(&files(20), "summarise it"), "notes.md | plan.md | ");
    }

    #[test]
    fn in_a_thread_its_files_and_those_of_its_first_message_come_first() {
        let files = [file("plan.md", "s", 30 * DAY), file("draft.md", "1", 20 * DAY)];
        let (messages, starter) = (["m".into()], "s".into());
        let asked =
            |in_thread, starter| Asked { text: "is it done?", today: today(), messages: &messages, replied_to: None, starter, in_thread };
        assert_eq!(show(&files, &select(&files, &asked(true, Some(&starter)))), "draft.md | plan.md | ");
        assert_eq!(show(&files, &select(&files[..1], &asked(true, Some(&starter)))), "plan.md |  | ");
        assert_eq!(show(&files, &select(&files, &asked(false, None))), " |  | draft.md plan.md");
    }

    #[test]
    fn the_files_of_one_message_stay_together_in_order() {
        let ten: Vec<_> = (0..10).map(|number| mine(&format!("part-{number}.md"), "1", 3)).collect();
        let names: Vec<_> = ten.iter().map(|file| file.name.clone()).collect();
        assert_eq!(selected(&ten, "summarise these"), format!("{} |  | ", names.join(" ")));
    }

    proptest! {
        #[test]
        fn no_file_counts_twice_and_none_answers_for_a_refused_one(
            kinds in proptest::collection::vec((0..4_usize, 0..5_usize, 0..4000_i64, any::<bool>(), any::<bool>()), 0..12),
            text in "(summarise|plan|a\\.md|costs|today|it|the| ){0,6}",
        ) {
            let files: Vec<KnownFile> = kinds.iter().enumerate().map(|(number, (name, message, age, by_asker, is_readable))| KnownFile {
                id: number.to_string(),
                by_asker: *by_asker,
                is_readable: *is_readable,
                has_picture: false,
                ..file(["a.md", "plan.md", "costs.csv", "x.png"][*name], ["m", "r", "1", "2", "3"][*message], *age)
            }).collect();
            let (messages, replied_to) = (["m".into()], "r".into());
            let asked = Asked { text: &text, today: today(), messages: &messages, replied_to: Some(&replied_to), starter: None, in_thread: false };
            let selection = select(&files, &asked);
            let mut all: Vec<usize> = [&selection.focus[..], &selection.near, &selection.older].concat();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len(), count);
            prop_assert!(selection.older.iter().all(|index| files[*index].is_readable));
            if selection.is_closed {
                prop_assert!(selection.near.is_empty() && selection.older.is_empty());
                prop_assert!(selection.focus.iter().all(|index| !files[*index].is_readable));
            }
            for own in files.iter().filter(|file| file.message.as_str() == "m") {
                let is_there = all.iter().any(|index| files[*index].id == own.id);
                prop_assert!(is_there || selection.is_closed, "{} of the question is left out", own.name);
            }
        }
    }
}
