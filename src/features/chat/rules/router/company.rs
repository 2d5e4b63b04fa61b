//! What is addressed to nobody: the more the people of a channel talk to each other, the clearer it must be for the team.

use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::model::talk::Company;
use crate::features::chat::rules::addressing::calls_a_stranger;
use crate::features::chat::rules::router::speech::find_speech_act;
use crate::features::chat::rules::router::{Arrival, Reading, ThreadOf, coordinator, wants_something};
use crate::features::chat::rules::sentence::Sentence;
use crate::features::chat::rules::{clarity, intent};
use crate::features::chat::settings::FallbackAnswer;
use kernel::agent::SpeechAct;
use kernel::chat::attachments;
use kernel::chat::message::Author;
use kernel::text::fold_name;

/// The coordinator, if the channel's setting allows it and the text is a question, a request or a greeting that is for the team.
pub(super) fn unaddressed(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    (arrival.fallback != FallbackAnswer::Never).then_some(())?;
    let reason = find_call(arrival, reading).or_else(|| find_wish(arrival, reading))?;
    Some(coordinator(arrival, reason))
}

/// What is for the team also among other people: a command, an ask for a persona, and what greets or asks the team.
fn find_call(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Reason> {
    let is_author = |word: &str| is_name_of(&arrival.message.author, word);
    let asks_persona = || reading.ask.as_ref().is_some_and(|ask| arrival.roster.resolve(&ask.askee).is_ok());
    match () {
        () if arrival.is_command || asks_persona() || reading.asks_for_persona => Some(Reason::Directive),
        () if reading.addressed.team => Some(Reason::Team),
        () if intent::introduces(&reading.text, is_author) => Some(Reason::Greeting),
        () => None,
    }
}

/// What may be for the team: a greeting, a question or a request. The more people talk to each other, the clearer it must be.
fn find_wish(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Reason> {
    let (text, company) = (reading.text.as_slice(), find_company(arrival));
    // A readable file without text counts as a directive, because people post directives as files.
    let only_a_file = text.is_empty() && arrival.message.attachments.iter().any(|file| attachments::accept(file).is_ok());
    let always = arrival.fallback == FallbackAnswer::Always;
    let takes_up = || arrival.talk.recent.is_some_and(|recent| clarity::takes_up(text, &recent.remark));
    let is_clear = always
        || match company {
            Company::Alone => true,
            Company::Quiet | Company::Lately => only_a_file || clarity::is_clear(text),
            Company::Speaking => clarity::is_clear(text) && clarity::is_self_contained(text) && (clarity::says_we(text) || !takes_up()),
            Company::Talking => is_said_aloud(arrival, text) && clarity::is_clear(text) && clarity::is_self_contained(text),
        };
    match () {
        () if intent::is_greeting(text) => {
            let limit = if intent::greets_everybody(text) { Company::Speaking } else { Company::Lately };
            (company < limit).then_some(Reason::Greeting)
        }
        () if calls_a_stranger(text) || !is_clear => None,
        () if intent::is_question(text) => Some(Reason::Question),
        () if reading.ask.is_some() || intent::is_request(text) || intent::asks_to_do(text) || only_a_file || always => {
            Some(Reason::Directive)
        }
        () => None,
    }
}

/// Whether a text asks the team as a whole, for what an assistant can do, or about a thing, while people talk to each other.
fn is_said_aloud(arrival: &Arrival<'_>, text: &[Sentence<'_>]) -> bool {
    let in_thread = arrival.thread == Some(&ThreadOf::Person);
    clarity::says_we(text) || (!in_thread && (clarity::asks_for_work(text) || clarity::asks_at_length(text)))
}

pub(super) fn find_company(arrival: &Arrival<'_>) -> Company {
    let in_thread = if arrival.thread == Some(&ThreadOf::Person) { Company::Talking } else { Company::Alone };
    arrival.talk.recent.map_or(Company::Alone, |recent| recent.company).max(in_thread)
}

/// Whether what follows a persona's answer is more likely said to the other people of a channel: small talk, or a statement with "you".
pub(super) fn is_for_company(arrival: &Arrival<'_>, reading: &Reading<'_>) -> bool {
    let text = &reading.text;
    let says_you = || !wants_something(reading) && clarity::speaks_to_you(text);
    find_company(arrival) > Company::Alone && !arrival.is_command && (clarity::is_social(text) || says_you())
}

/// Whether a message is left alone where a persona would answer everything, because nobody without a model has an answer to it: it only tells
/// something, or it is not clearly for the team where several people write.
pub(super) fn is_said_in_passing(arrival: &Arrival<'_>, reading: &Reading<'_>, decision: &Decision) -> bool {
    let goes_on = matches!(decision.reason, Reason::FollowUp | Reason::Thread | Reason::Bound);
    let only_tells = || find_speech_act(&arrival.message.text, arrival.roster) == SpeechAct::Statement;
    goes_on && arrival.is_offline && arrival.message.attachments.is_empty() && (only_tells() || is_for_company(arrival, reading))
}

/// Whether a folded word is the first word of one of the author's names.
fn is_name_of(author: &Author, word: &str) -> bool {
    let is_first = |name: &String| fold_name(name).split_whitespace().next() == Some(word);
    is_first(&author.name) || author.aliases.iter().any(is_first)
}
