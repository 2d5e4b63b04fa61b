use std::collections::{BTreeSet, HashMap, VecDeque};

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::agent::context::{Cleaner, new_marker};
use crate::agent::journal::JournalEntry;
use crate::agent::run::offer::FIND;
use crate::llm::{ModelMessage, ToolCall};
use crate::tools::approval::fingerprint;
use crate::tools::{CallStatus, ResearchUse, Trace};

/// The model is warned after this many replies with the same calls and the same results (WORK-21).
const WARNED_AT: usize = 3;

/// The run ends after this many.
const STOPPED_AT: usize = 5;

/// The state of a run, computed only from its journal.
#[derive(Debug, Default)]
pub struct Progress {
    /// `provider/model` of the last reply. None if code wrote it.
    pub model: Option<String>,
    /// Files written, without duplicates, in order of first write.
    pub written: Vec<String>,
    pub(super) system: String,
    pub(super) messages: Vec<ModelMessage>,
    /// The run has text from outside (TRUST-1). Never reset.
    pub(super) tainted: bool,
    pub(super) replies: usize,
    /// Calls with a result, including refused ones.
    pub(super) calls: usize,
    /// How many of them do not count towards the limit: those before the task changed, and those that look for tools.
    calls_before: usize,
    pub(super) research: ResearchUse,
    /// Addresses that may be fetched without approval: from the task's text, searches and fetched pages.
    pub(super) seen: Vec<String>,
    /// Calls of the last reply without a result.
    open: VecDeque<ToolCall>,
    /// The first of them was started.
    begun: bool,
    /// Changes of the task that the model sees when all calls of its last reply have a result.
    told: Vec<String>,
    /// The text of the last reply.
    text: String,
    /// The calls of the last reply with their results, by fingerprint.
    round: BTreeSet<String>,
    /// How often each round of calls and results occurred since a file was last changed.
    rounds: HashMap<BTreeSet<String>, usize>,
    /// The last content of each file written.
    contents: HashMap<String, String>,
    /// Started calls by fingerprint.
    made: Vec<(String, DateTime<Utc>)>,
    /// Lines of small print that are added below the reply.
    pub(super) remarks: Vec<String>,
    /// What was done, with the tool that did it.
    pub(super) done: Vec<(String, Trace)>,
    /// Calls that a person has to allow, and is asked about once the run is over.
    pub(super) proposed: Vec<ToolCall>,
    /// What was done because the person's own words asked for it. Once each, so that no text from outside repeats it.
    pub(super) own_words: Vec<String>,
    /// Calls that failed or were refused.
    pub(super) failed: Vec<ToolCall>,
    /// The model was already told once that its answer claims something that was not done.
    pub(super) sent_back: bool,
}

/// The next step of a run.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Create the prompt.
    Begin,
    Ask,
    Call(ToolCall),
    /// The process died after the call started and before its result was stored.
    Unknown(ToolCall),
    /// The model has answered with this text and makes no more calls.
    Conclude(String),
    /// The model makes the same calls again and again, and learns nothing from them.
    Stuck,
}

impl Progress {
    /// The calls that the model has made, oldest first.
    pub fn list_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.messages.iter().flat_map(|message| match message {
            ModelMessage::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        })
    }

    /// How many calls have a result, also those that were refused.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How many of them count towards the limit: those since the task was last changed.
    pub fn counted_calls(&self) -> usize {
        self.calls - self.calls_before
    }

    /// Whether the task was changed and the model has not seen how.
    pub(super) fn is_outdated(&self) -> bool {
        !self.told.is_empty()
    }

    pub(super) fn step(&self) -> Step {
        match (self.open.front(), self.messages.last()) {
            (Some(call), _) if self.begun => Step::Unknown(call.clone()),
            (Some(call), _) => Step::Call(call.clone()),
            (None, None) => Step::Begin,
            (None, Some(ModelMessage::Assistant { calls, .. })) if calls.is_empty() => Step::Conclude(self.text.clone()),
            (None, Some(_)) if self.repeats() >= STOPPED_AT => Step::Stuck,
            (None, Some(_)) => Step::Ask,
        }
    }

    /// How often the calls of the last reply were made with the same results.
    pub(super) fn repeats(&self) -> usize {
        self.rounds.get(&self.round).copied().unwrap_or_default()
    }

    /// The tools that the last reply called, for people.
    pub(super) fn last_tools(&self) -> String {
        let calls = self.messages.iter().rev().find_map(|message| match message {
            ModelMessage::Assistant { calls, .. } => Some(calls.as_slice()),
            _ => None,
        });
        let names: BTreeSet<&str> = calls.unwrap_or_default().iter().map(|call| call.name.as_str()).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Whether this exact call was made at or after `since`.
    pub(super) fn was_made_since(&self, call: &ToolCall, since: DateTime<Utc>) -> bool {
        let wanted = fingerprint(&call.name, &call.arguments);
        self.made.iter().any(|(made, at)| *made == wanted && *at >= since)
    }

    pub(super) fn apply(&mut self, entry: &JournalEntry, at: DateTime<Utc>) {
        match entry {
            JournalEntry::Asked { system, message, tainted, remarks } => {
                self.remarks.clone_from(remarks);
                self.system.clone_from(system);
                self.tainted = *tainted;
                self.messages.push(ModelMessage::User(message.clone()));
            }
            JournalEntry::Replied { text, calls, model } => {
                self.replies += 1;
                self.model = (!model.is_empty()).then(|| model.clone());
                self.text.clone_from(text);
                self.round.clear();
                self.open = calls.iter().cloned().collect();
                self.messages.push(ModelMessage::Assistant { text: text.clone(), calls: calls.clone() });
            }
            JournalEntry::Began { own_words, .. } => {
                self.begun = true;
                self.own_words.extend(own_words.clone());
                self.made.extend(self.open.front().map(|call| (fingerprint(&call.name, &call.arguments), at)));
            }
            JournalEntry::Returned { call, text, outside, status, trace } => {
                // Only what succeeded is a source of addresses and files.
                self.learn(trace.as_ref().filter(|_| *status == CallStatus::Ok));
                // The entry for a file saved by the caller belongs to no call.
                if let Some(answered) = self.open.pop_front_if(|open| open.id == *call) {
                    self.begun = false;
                    self.calls += 1;
                    // Looking for a tool costs none of the calls that it is for.
                    self.calls_before += usize::from(answered.name == FIND);
                    match status {
                        CallStatus::Ok => self.done.extend(trace.clone().map(|trace| (answered.name.clone(), trace))),
                        CallStatus::Proposed => self.proposed.push(answered.clone()),
                        CallStatus::Failed | CallStatus::Refused => self.failed.push(answered.clone()),
                    }
                    if matches!(status, CallStatus::Ok | CallStatus::Failed) {
                        // The limit was checked when the call was made.
                        let _ = self.research.take(&answered.name);
                    }
                    self.tainted |= outside;
                    self.count_round(&answered, text);
                    let mut text = if *outside { marked(&answered.name, text) } else { text.clone() };
                    if self.open.is_empty() && self.repeats() == WARNED_AT {
                        text.push_str(&warning());
                    }
                    self.messages.push(ModelMessage::ToolResult { call: answered.id, text });
                    self.tell();
                }
            }
            JournalEntry::Told { text } => {
                self.told.push(text.clone());
                self.tell();
            }
            JournalEntry::SentBack { why } => {
                self.sent_back = true;
                self.messages.push(ModelMessage::User(why.clone()));
            }
            JournalEntry::Judged { .. } | JournalEntry::Graded { .. } | JournalEntry::Consulted { .. } => {}
        }
    }

    /// Shows the model how its task was changed, once no call is open. The limits of the run begin again.
    fn tell(&mut self) {
        if !self.open.is_empty() || self.told.is_empty() {
            return;
        }
        self.messages.extend(self.told.drain(..).map(ModelMessage::User));
        self.calls_before = self.calls;
        self.replies = 0;
        self.rounds.clear();
    }

    /// Notes the result of a call of the last reply.
    fn count_round(&mut self, call: &ToolCall, result: &str) {
        self.round.insert(fingerprint(&call.name, &json!([call.arguments, result])));
        if self.open.is_empty() {
            *self.rounds.entry(self.round.clone()).or_default() += 1;
        }
    }

    fn learn(&mut self, trace: Option<&Trace>) {
        match trace {
            Some(Trace::Fetched { url, from, links, .. }) => self.seen.extend([url, from].into_iter().chain(links).cloned()),
            Some(Trace::Found { urls }) => self.seen.extend(urls.iter().cloned()),
            Some(Trace::Wrote { path, sha256, .. }) => {
                if !self.written.contains(path) {
                    self.written.push(path.clone());
                }
                if self.contents.insert(path.clone(), sha256.clone()).as_ref() != Some(sha256) {
                    // The same call may have another result now.
                    self.rounds.clear();
                }
            }
            Some(Trace::Stored { .. } | Trace::Confirmed { .. }) | None => {}
        }
    }
}

/// Told to the model below the result of calls that lead nowhere.
fn warning() -> String {
    format!(
        "\n\nYou have made exactly these calls {WARNED_AT} times now, with the same result, and it will not change. Do something else, or end \
         with what there is. After {STOPPED_AT} times your work is stopped."
    )
}

/// Wraps text from outside in unguessable markers (TRUST-2).
fn marked(tool: &str, text: &str) -> String {
    let marker = new_marker();
    let text = Cleaner { marker: &marker }.text(text, usize::MAX);
    format!("Marker of this message: {marker}\n<<data {marker} | result of {tool}>>\n{text}\n<<end {marker}>>")
}

/// The web addresses in a text.
pub fn addresses_in(text: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || "<>\"'`|()[]{}".contains(c);
    let begins = text.match_indices("http").map(|(at, _)| &text[at..]);
    let addresses = begins.filter_map(|rest| {
        let host = rest.strip_prefix("http://").or_else(|| rest.strip_prefix("https://"))?;
        // The brackets of `http://[2001:db8::1]/` belong to the address.
        let literal = host.strip_prefix('[').and_then(|inside| inside.find(']')).map_or(0, |closed| closed + 2);
        let begins = rest.len() - host.len() + literal;
        let length = rest[begins..].find(ends).map_or(rest.len(), |end| begins + end);
        Some(rest[..length].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']).to_owned())
    });
    addresses.collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn call(id: &str, name: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: json!({"path": "a.md"}) }
    }

    fn asked() -> JournalEntry {
        JournalEntry::Asked { system: "You are Vince.".into(), message: "Do the work.".into(), tainted: false, remarks: Vec::new() }
    }

    fn replied(text: &str, calls: &[ToolCall]) -> JournalEntry {
        JournalEntry::Replied { text: text.into(), calls: calls.to_vec(), model: "main/large".into() }
    }

    fn returned(call: &str, outside: bool, trace: Option<Trace>) -> JournalEntry {
        JournalEntry::Returned { call: call.into(), text: "This is what came.".into(), outside, status: CallStatus::Ok, trace }
    }

    fn after(entries: &[JournalEntry]) -> Progress {
        let mut progress = Progress::default();
        for entry in entries {
            progress.apply(entry, DateTime::UNIX_EPOCH);
        }
        progress
    }

    #[test]
    fn a_run_goes_from_step_to_step_as_its_journal_grows() {
        let (first, second) = (call("call00001", "memory_save"), call("call00002", "workspace_write"));
        let journal = [
            asked(),
            replied("", &[first.clone(), second.clone()]),
            JournalEntry::Began { call: first.id.clone(), own_words: None },
            returned(&first.id, false, None),
            returned(&second.id, false, None),
            replied("All is done.", &[]),
        ];
        let steps: Vec<Step> = (0..=journal.len()).map(|length| after(&journal[..length]).step()).collect();
        let expected = [
            Step::Begin,
            Step::Ask,
            Step::Call(first.clone()),
            Step::Unknown(first),
            Step::Call(second),
            Step::Ask,
            Step::Conclude("All is done.".into()),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_changed_task_is_told_once_no_call_is_open() {
        let (first, second) = (call("call00001", "memory_save"), call("call00002", "workspace_write"));
        let told = || JournalEntry::Told { text: "The price changed.".into() };
        let users = |run: &Progress| {
            let users = run.messages.iter().filter_map(|message| match message {
                ModelMessage::User(text) => Some(text.clone()),
                _ => None,
            });
            users.collect::<Vec<_>>()
        };
        let mut journal = vec![
            asked(),
            replied("", &[first.clone(), second.clone()]),
            JournalEntry::Began { call: first.id.clone(), own_words: None },
            told(),
        ];
        let run = after(&journal);
        assert_eq!((run.step(), run.is_outdated()), (Step::Unknown(first.clone()), true));
        assert_eq!(users(&run), ["Do the work."]);
        journal.extend([returned(&first.id, false, None), returned(&second.id, false, None)]);
        let run = after(&journal);
        assert_eq!((run.step(), run.is_outdated()), (Step::Ask, false));
        assert_eq!(users(&run), ["Do the work.", "The price changed."]);
        assert_eq!((run.counted_calls(), run.calls(), run.replies), (0, 2, 0), "the limits begin again, the numbers of calls do not");

        // What was ready is not what the task says now.
        let run = after(&[asked(), replied("All is done.", &[]), told()]);
        assert_eq!((run.step(), run.is_outdated()), (Step::Ask, false));
    }

    #[test]
    fn text_from_outside_taints_and_stands_between_markers_that_it_cannot_know() {
        let reply = replied("", &[call("call00001", "fetch_page")]);
        let run = after(&[asked(), reply.clone(), returned("call00001", true, None)]);
        assert!(run.tainted);
        let Some(ModelMessage::ToolResult { text, .. }) = run.messages.last() else { panic!("a result") };
        let marker = text.lines().next().and_then(|line| line.strip_prefix("Marker of this message: ")).expect("a marker");
        assert_eq!(
            *text,
            format!("Marker of this message: {marker}\n<<data {marker} | result of fetch_page>>\nThis is what came.\n<<end {marker}>>")
        );
        let again = after(&[asked(), reply.clone(), returned("call00001", true, None)]);
        assert_ne!(again.messages.last(), run.messages.last(), "the marker is new each time");
        assert!(!after(&[asked(), reply, returned("call00001", false, None)]).tainted);
    }

    #[test]
    fn what_was_found_and_what_pages_name_may_be_fetched() {
        let fetched = Trace::Fetched {
            url: "https://a.example/".into(),
            from: "https://www.a.example/".into(),
            sha256: String::new(),
            at: DateTime::UNIX_EPOCH,
            links: vec!["https://b.example/".into()],
        };
        let found = Trace::Found { urls: vec!["https://c.example/".into()] };
        let calls = [call("call00001", "fetch_page"), call("call00002", "web_search")];
        let run =
            after(&[asked(), replied("", &calls), returned("call00001", true, Some(fetched)), returned("call00002", true, Some(found))]);
        assert_eq!(run.seen, ["https://a.example/", "https://www.a.example/", "https://b.example/", "https://c.example/"]);
    }

    #[test]
    fn addresses_are_found_in_prose_and_in_links() {
        for (words, found) in [
            ("Compare https://a.example/x?y=1, and (http://b.example).", vec!["https://a.example/x?y=1", "http://b.example"]),
            ("[docs](https://a.example/docs) <https://b.example/>", vec!["https://a.example/docs", "https://b.example/"]),
            ("See (http://[2001:db8::1]:8080/x) and https://[broken", vec!["http://[2001:db8::1]:8080/x", "https://"]),
            ("The http module; httpx://no, ftp://a.example and file:///etc/passwd", vec![]),
        ] {
            assert_eq!(addresses_in(words), found, "{words}");
        }
    }

    /// A run whose model makes one call again and again, each time with this result, after something was written.
    fn repeating(results: &[&str]) -> Vec<JournalEntry> {
        let mut entries = vec![asked()];
        for result in results {
            entries.push(replied("", &[call("call00001", "workspace_read")]));
            let entry = returned("call00001", false, None);
            let JournalEntry::Returned { call, outside, status, trace, .. } = entry else { unreachable!() };
            entries.push(JournalEntry::Returned { call, text: (*result).to_owned(), outside, status, trace });
        }
        entries
    }

    fn is_warned(run: &Progress) -> bool {
        matches!(run.messages.last(), Some(ModelMessage::ToolResult { text, .. }) if text.ends_with(&warning()))
    }

    #[test]
    fn the_same_calls_with_the_same_result_are_warned_of_and_then_stopped() {
        let run = |count| after(&repeating(&vec!["Nothing."; count]));
        assert_eq!([2, 3, 4].map(|count| is_warned(&run(count))), [false, true, false]);
        assert_eq!((run(4).step(), run(5).step()), (Step::Ask, Step::Stuck));
        assert_eq!((run(5).repeats(), run(5).last_tools()), (5, "workspace_read".to_owned()));
        let changing = after(&repeating(&["1", "2", "3", "4", "5", "6"]));
        assert_eq!(changing.step(), Step::Ask, "each result was new");
        let taking_turns = after(&repeating(&["a", "b", "a", "b", "a", "b", "a", "b", "a"]));
        assert_eq!(taking_turns.step(), Step::Stuck);
    }

    #[test]
    fn a_change_of_a_file_lets_the_same_calls_be_made_again() {
        let wrote = |sha256: &str| Some(Trace::Wrote { path: "a.md".into(), sha256: sha256.into(), bytes: 1 });
        let writing = [replied("", &[call("call00001", "workspace_write")]), returned("call00001", false, wrote("1"))];
        let mut entries = repeating(&["Fails."; 4]);
        entries.extend(writing.clone());
        entries.extend(repeating(&["Fails."; 4]).split_off(1));
        assert_eq!(after(&entries).step(), Step::Ask);
        entries.extend(writing);
        entries.extend(repeating(&["Fails."]).split_off(1));
        assert_eq!(after(&entries).step(), Step::Stuck, "the same content is no change");
    }

    #[test]
    fn an_approval_serves_for_one_call_that_follows_it() {
        let save = call("call00001", "memory_save");
        let run =
            after(&[asked(), replied("", std::slice::from_ref(&save)), JournalEntry::Began { call: save.id.clone(), own_words: None }]);
        assert!(run.was_made_since(&save, DateTime::UNIX_EPOCH));
        assert!(!run.was_made_since(&save, DateTime::UNIX_EPOCH + TimeDelta::seconds(1)), "it was allowed after that");
        assert!(!run.was_made_since(&call("call00001", "backlog_add"), DateTime::UNIX_EPOCH));
    }

    #[test]
    fn ids_that_come_twice_answer_the_call_that_is_open() {
        let run = after(&[
            asked(),
            replied("", &[call("x", "workspace_list")]),
            returned("x", false, None),
            replied("", &[call("x", "workspace_read")]),
            returned("stranger", false, None),
        ]);
        assert_eq!(run.step(), Step::Call(call("x", "workspace_read")));
    }
}
