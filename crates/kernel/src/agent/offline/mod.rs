//! The offline composer: a persona's answers without a model (LLM-2).
//!
//! It detects what is asked by rules (`intent`), reports changes from the persona's feeds (`changes`) and costs from the ledger (`costs`),
//! and answers other questions with what people taught (`memories`) or with quotations from files and feeds (`sources`). If these contain no answer, it says so. Every fact comes
//! from a feed item or a file, and the same inputs give the same answer.

mod changes;
mod costs;
mod intent;
mod memories;
mod notes;
mod sources;
mod team;
pub mod wording;

use chrono::{DateTime, Utc};

use crate::agent::files::{Files, PartRead, remark_on_parts};
use crate::agent::{AnswerVerdict, PlaceNote, SpeechAct};
use crate::chat::message::{Speaker, Spoken};
use crate::chat::text::Subtext;
use crate::feeds::Feed;
use crate::ids::UserId;
use crate::memory::Memory;
use crate::memory::retrieval::Query;
use crate::persona::Persona;
use crate::persona::roster::Roster;
use crate::time::Today;
use intent::{Intent, Understood, understand};
pub use intent::{only_greets, wants_deed};
use wording::foreign;

/// Shown in full once per channel and day (LLM-2).
pub const EXPLANATION: &str = "No language model is connected, so answers quote feeds and files posted here, with their source. For fuller \
     answers set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, or `TEAMROOM_MODEL_URL` and `TEAMROOM_MODEL` in `.env`.";

/// The last line of each composed answer, except of a mere acknowledgement.
pub const FOOTER: &str = "<small>from feeds and files, generated without AI</small>";

/// A question and the material for its answer.
pub struct OfflineQuestion<'a> {
    pub persona: &'a Persona,
    pub roster: &'a Roster,
    pub text: &'a str,
    pub act: SpeechAct,
    /// Who asks, if it is a person.
    pub asker: Option<&'a UserId>,
    /// What is known about the channel.
    pub notes: &'a [PlaceNote],
    pub files: &'a Files,
    /// Earlier messages of the channel, oldest first.
    pub transcript: &'a [Spoken],
    /// Memories about the question, best first.
    pub memories: &'a [Memory],
    pub feeds: &'a [Feed],
    pub now: DateTime<Utc>,
}

impl OfflineQuestion<'_> {
    /// The present in the team's zone.
    fn today(&self) -> Today {
        self.roster.today(self.now)
    }

    /// Whether the question is surely about files that have text.
    fn is_about_files(&self) -> bool {
        self.files.list_meant().next().is_some()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineAnswer {
    /// Markdown with [`FOOTER`].
    pub text: String,
    /// The feeds and files used. Empty if the answer is only about the team, or unknown.
    pub sources: Vec<String>,
    pub verdict: AnswerVerdict,
}

/// An answer that is being composed. The footer is added at the end.
#[derive(Debug)]
struct Draft {
    lines: Vec<String>,
    sources: Vec<String>,
    verdict: AnswerVerdict,
    /// Large files of which only a part is quoted.
    parts: Vec<PartRead>,
    /// The draft says which files could not be read.
    tells_unread: bool,
    /// The draft is a mere acknowledgement, without [`FOOTER`].
    is_bare: bool,
}

impl Draft {
    /// A draft without lines and sources. Its verdict is `DoesNotKnow` until something is found.
    fn empty() -> Self {
        Self {
            lines: Vec::new(),
            sources: Vec::new(),
            verdict: AnswerVerdict::DoesNotKnow,
            parts: Vec::new(),
            tells_unread: false,
            is_bare: false,
        }
    }

    /// Says that there is no answer.
    fn unknown(line: impl Into<String>) -> Self {
        Self { verdict: AnswerVerdict::DoesNotKnow, ..Self::from(line) }
    }

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}

impl<L: Into<String>> From<L> for Draft {
    fn from(line: L) -> Self {
        Self { lines: vec![line.into()], verdict: AnswerVerdict::Answers, ..Self::empty() }
    }
}

/// Answers a question. Never fails: unreadable sources are mentioned in the answer.
pub async fn compose(asked: &OfflineQuestion<'_>) -> OfflineAnswer {
    let Draft { mut lines, sources, verdict, parts, tells_unread, is_bare } = match draft_each(asked).await {
        Some(draft) => draft,
        None => draft(asked, &understand(asked.text, asked.act, asked.persona, asked.roster, asked.today())).await,
    };
    if !tells_unread {
        lines.extend(asked.files.list_notes().iter().map(|note| Subtext(foreign(note, 300)).to_string()));
    }
    lines.extend(remark_on_parts("Quoted", &parts));
    if !is_bare {
        lines.push(FOOTER.to_owned());
    }
    OfflineAnswer { text: lines.join("\n"), sources, verdict }
}

/// Collects what files, feeds and memories say on the subject of a question, for and against. It answers nothing.
pub async fn collect(asked: &OfflineQuestion<'_>) -> OfflineAnswer {
    let query = understand(asked.text, asked.act, asked.persona, asked.roster, asked.today()).whole;
    let material = sources::gather(asked, None).await;
    let found = [material.quote(asked, &query), memories::tell_all(asked, &query)];
    let mut all = Draft::empty();
    for Draft { lines, sources, .. } in found.into_iter().flatten() {
        if !all.lines.is_empty() {
            all.line("");
        }
        all.lines.extend(lines);
        all.sources.extend(sources);
        all.verdict = AnswerVerdict::InPart;
    }
    OfflineAnswer { text: all.lines.join("\n"), sources: all.sources, verdict: all.verdict }
}

/// The answers to several questions in one text, because the words of one hinder the search for the other. None if it has only one question, or if
/// nothing is known about any.
async fn draft_each(asked: &OfflineQuestion<'_>) -> Option<Draft> {
    let questions = questions_in(asked);
    if questions.len() < 2 {
        return None;
    }
    let mut all = Draft { is_bare: true, verdict: AnswerVerdict::Answers, ..Draft::empty() };
    for question in questions {
        let asked = OfflineQuestion { text: &question, act: SpeechAct::Question, ..*asked };
        let understood = understand(&question, asked.act, asked.persona, asked.roster, asked.today());
        let found = draft(&asked, &understood).await;
        if found.verdict != AnswerVerdict::Answers {
            all.verdict = AnswerVerdict::InPart;
        }
        // What is not known about one is said only if nothing is known about the others.
        if found.verdict == AnswerVerdict::DoesNotKnow || found.lines.iter().all(|line| all.lines.contains(line)) {
            continue;
        }
        if !all.lines.is_empty() {
            all.line("");
        }
        all.lines.extend(found.lines);
        all.sources.extend(found.sources);
        all.parts.extend(found.parts);
        all.tells_unread |= found.tells_unread;
        all.is_bare &= found.is_bare;
    }
    (!all.lines.is_empty()).then_some(all)
}

/// The questions of a text, each with the sentences before it. One without a subject of its own ("and why?") belongs to the one before.
fn questions_in(asked: &OfflineQuestion<'_>) -> Vec<String> {
    let mut questions: Vec<String> = Vec::new();
    let mut ends_open = false;
    let ends = |(at, c): (usize, char)| {
        let after = asked.text[at + c.len_utf8()..].chars().next();
        (matches!(c, '？' | '؟') || (c == '?' && after.is_none_or(char::is_whitespace))).then(|| at + c.len_utf8())
    };
    let mut from = 0;
    for end in asked.text.char_indices().filter_map(ends).chain([asked.text.len()]) {
        let part = asked.text[std::mem::replace(&mut from, end)..end].trim();
        if part.is_empty() {
            continue;
        }
        let understood = understand(part, SpeechAct::Question, asked.persona, asked.roster, asked.today());
        let is_question = part.ends_with(['?', '？', '؟']);
        let has_subject = !understood.whole.is_empty() || understood.range.is_some() || understood.intent != Intent::Question;
        match questions.last_mut() {
            Some(last) if !is_question || !has_subject || ends_open => {
                last.push('\n');
                last.push_str(part);
            }
            _ => questions.push(part.to_owned()),
        }
        // Nothing but names: "kelly?" calls for what comes next.
        ends_open = understood.only_calls || matches!(understood.intent, Intent::Greeting | Intent::Thanks);
    }
    questions
}

async fn draft(asked: &OfflineQuestion<'_>, understood: &Understood) -> Draft {
    let about_something = !understood.topic.is_empty();
    if asked.act == SpeechAct::Greeting && understood.intent == Intent::Question && !asked.is_about_files() {
        return team::greet(asked);
    }
    match understood.intent {
        Intent::Greeting | Intent::Thanks | Intent::Team | Intent::Help => {}
        _ if asked.files.is_closed => return sources::unread(asked),
        _ if asked.act == SpeechAct::Statement => {
            return if asked.is_about_files() { sources::receive(asked) } else { team::acknowledge() };
        }
        Intent::Outline | Intent::Changes | Intent::Question => {
            if let Some(draft) = notes::tell(asked, understood) {
                return draft;
            }
        }
        _ => {}
    }
    if understood.wants_deed && !asked.is_about_files() {
        return team::cannot_do();
    }
    // A plan that names the sum answers before the ledger, which only knows what models cost.
    if understood.intent == Intent::Costs
        && understood.range.is_none()
        && let Some(draft) = sources::quote_sum(asked, &understood.whole)
    {
        return draft;
    }
    if understood.only_range && asks_costs_before(asked) {
        return costs::tell(asked, understood.range.as_ref()).await;
    }
    if matches!(understood.intent, Intent::Outline | Intent::Changes | Intent::Question)
        && let Some(feed) = changes::find_named(asked, &understood.topic)
    {
        return changes::show(asked, feed).await;
    }
    match understood.intent {
        Intent::Greeting => team::greet(asked),
        Intent::Thanks => "You are welcome.".into(),
        Intent::Team => team::introduce(asked),
        Intent::Help => team::help(asked),
        Intent::Costs if !asked.is_about_files() && !about_something => costs::tell(asked, understood.range.as_ref()).await,
        Intent::Outline if !asked.files.focus.is_empty() && sources::is_about_whole(asked, &understood.topic) => sources::outline(asked),
        Intent::Changes if !asked.is_about_files() && !about_something => changes::tell(asked, understood.range.as_ref()).await,
        Intent::Question if asked.text.trim().is_empty() && asked.is_about_files() => sources::outline(asked),
        Intent::Question if understood.only_calls && asked.files.focus.is_empty() => team::greet(asked),
        // Only a time range: "What have you been up to this week?"
        Intent::Question if understood.range.is_some() && !about_something => changes::tell(asked, understood.range.as_ref()).await,
        Intent::Outline if asked.files.focus.is_empty() && !about_something => team::nothing_to_outline(),
        intent => search(asked, understood, intent).await,
    }
}

/// Quotes the passages on the topic. A question without a topic ("why?") uses the topic of the question before.
async fn search(asked: &OfflineQuestion<'_>, understood: &Understood, intent: Intent) -> Draft {
    let query = query_of(asked, understood);
    // Feeds and files say what happened in a time range, so taught facts are not used.
    let taught = if understood.range.is_none() { memories::tell(asked, &query) } else { None };
    if let Some(draft) = taught.or_else(|| memories::tell_said(asked, &query)) {
        return draft;
    }
    let material = sources::gather(asked, understood.range.as_ref()).await;
    let answers = |draft: &Draft| draft.verdict == AnswerVerdict::Answers;
    // Only a file that was posted here can be what an opinion is asked about. A commit with the same word is not.
    let quoted = if intent == Intent::Judgement { sources::quote_files(asked, &query) } else { material.quote(asked, &query) };
    match (quoted, memories::tell_documents(asked, &query)) {
        (Some(quoted), Some(document)) if !answers(&quoted) && answers(&document) => document,
        (Some(draft), _) | (None, Some(draft)) => draft,
        _ if asked.text.contains("://") => team::cannot_read_pages(),
        _ if sources::asks_for_files(asked, &query) => sources::list_files(asked),
        _ if memories::has_more(asked, &query) => memories::tell_rest(asked, &query),
        _ if intent == Intent::Judgement || query.is_empty() => team::cannot_judge(asked),
        _ => material.nothing_found(asked, &query),
    }
}

/// What a question is searched for. The words that told its intent count if nothing else is left, and costs are a subject in files.
fn query_of(asked: &OfflineQuestion<'_>, understood: &Understood) -> Query {
    let Understood { topic, whole, intent, .. } = understood;
    let is_left_out = match intent {
        Intent::Costs => topic.is_empty() || asked.is_about_files(),
        Intent::Changes | Intent::Outline => topic.is_empty(),
        _ => false,
    };
    match () {
        () if is_left_out && !whole.is_empty() => whole.clone(),
        () if topic.is_empty() => asked_before(asked, understood),
        () => topic.clone(),
    }
}

/// The last earlier message of a person that was a question or was answered.
fn find_asked_before(asked: &OfflineQuestion<'_>) -> Option<Understood> {
    let by_person = |line: &Spoken| matches!(line.speaker, Speaker::Person { .. }) && line.text != asked.text;
    let asks = |line: &Spoken| line.text.trim_end().ends_with(['?', '？', '؟']);
    let is_answered = |at: usize| asked.transcript.get(at + 1).is_some_and(|next| matches!(next.speaker, Speaker::Persona(_)));
    let mut before = asked.transcript.iter().enumerate().rev().filter(|(_, line)| by_person(line));
    let (_, line) = before.find(|(at, line)| asks(line) || is_answered(*at))?;
    Some(understand(&line.text, SpeechAct::Other, asked.persona, asked.roster, asked.today()))
}

/// Whether the question before was about costs: "And last week?", after "what did we spend this week?".
fn asks_costs_before(asked: &OfflineQuestion<'_>) -> bool {
    find_asked_before(asked).is_some_and(|before| before.intent == Intent::Costs && before.topic.is_empty())
}

fn asked_before(asked: &OfflineQuestion<'_>, understood: &Understood) -> Query {
    let before = find_asked_before(asked).map(|before| before.topic);
    // A question for an opinion also has no topic, but is not a follow-up.
    match before.filter(|_| understood.intent == Intent::Question) {
        Some(topic) => topic.asked_as(understood.topic.kind),
        None => understood.topic.clone(),
    }
}

#[cfg(test)]
mod tests;
