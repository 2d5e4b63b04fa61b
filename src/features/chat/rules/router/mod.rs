//! Decides who answers a person's message (CHAT-7). Pure: one decision per message, with its reason.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::{AskRequest, Decision, Reason};
use crate::features::chat::settings::{ChatSettings, FallbackAnswer};
use kernel::chat::attachments;
use kernel::chat::message::{AuthorKind, ChannelKind, InboundMessage, Place};
use kernel::chat::text::{find_mention, without_mentions};
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};
use kernel::text::{without_invisible, without_quotes_and_code};

use crate::features::chat::rules::addressing::{Opening, People, find_opening, list_mentions, spoken};
use crate::features::chat::rules::ask_phrase::find_ask;
use crate::features::chat::rules::authorize::{Action, Denied, authorize};
use crate::features::chat::rules::intent::{is_directive, is_question};

/// The binding of a channel where nobody answers a message without an addressee.
pub const LISTEN_ONLY: &str = "listen";

/// Words that may surround a stop phrase: "please stop, everybody".
const STOP_COMPANY: &[&str] =
    &["please", "now", "all", "everyone", "everybody", "team", "agents", "bots", "ok", "okay", "hey", "and", "of", "you", "guys", "folks"];

/// A longer text is never a stop phrase.
const MOST_STOP_WORDS: usize = 12;

/// A message and everything that its decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// A burst is one message with the joined text. Check [`is_stop`] before joining.
    pub message: &'a InboundMessage,
    /// The kind of the channel. A thread has the kind of its parent.
    pub kind: ChannelKind,
    /// The persona that the channel is bound to, or [`LISTEN_ONLY`].
    pub binding: Option<&'a str>,
    pub fallback: FallbackAnswer,
    pub halted: bool,
    /// The persona whose message is replied to.
    pub replied_to: Option<&'a PersonaSlug>,
    /// The persona that the thread belongs to.
    pub thread_owner: Option<&'a PersonaSlug>,
    pub roster: &'a Roster,
    pub accounts: &'a Accounts,
    pub settings: &'a ChatSettings,
    /// Used for the message's age.
    pub now: DateTime<Utc>,
}

/// One rule of the table: its decision, or `None` if it does not apply.
type Rule = fn(&Arrival<'_>, &Reading<'_>) -> Option<Decision>;

/// The order of CHAT-7. The first rule that applies decides. The specification leaves two positions open. Stop comes first, so that no list and no
/// halt can suppress it. A direct message comes before names, because only the persona written to can speak in that conversation.
const RULES: [Rule; 9] = [stopped, unheard, in_standup, written_directly, addressed, replied, in_own_thread, bound, unaddressed];

/// Decides who answers a message, in which order, and why.
///
/// In a halted channel only a message that addresses an agent is answered. It ends the halt, which the caller records.
pub fn route(arrival: &Arrival<'_>) -> Decision {
    let people = People::new(arrival.roster, arrival.accounts);
    let visible = without_invisible(&arrival.message.text);
    let spoken = without_quotes_and_code(&visible);
    let reading = Reading::of(arrival, &visible, &spoken, &people);
    let decision = RULES.iter().find_map(|rule| rule(arrival, &reading)).unwrap_or_else(|| Decision::nobody(Reason::Silence));
    let by_person = arrival.message.author.kind == AuthorKind::Person;
    if arrival.halted && !decision.responders.is_empty() && !(by_person && reading.speaks_to_an_agent(decision.reason)) {
        return Decision::nobody(Reason::Halted);
    }
    with_ask(decision, reading.ask, arrival)
}

/// Whether a message is only a stop phrase, in any case and punctuation, optionally with a name or a "please": "Stop!", "stop, vince".
pub fn is_stop(text: &str, phrases: &[String], roster: &Roster) -> bool {
    says_stop(&spoken(text), phrases, |word| roster.find_named(word).is_some())
}

fn says_stop(spoken: &str, phrases: &[String], is_name: impl Fn(&str) -> bool) -> bool {
    let words: Vec<String> = words_of(&without_mentions(spoken)).take(MOST_STOP_WORDS + 1).collect();
    if words.len() > MOST_STOP_WORDS {
        return false;
    }
    let phrases: Vec<Vec<String>> =
        phrases.iter().map(|phrase| words_of(phrase).collect()).filter(|words: &Vec<_>| !words.is_empty()).collect();
    let (mut rest, mut found) = (words.as_slice(), false);
    while let [word, after @ ..] = rest {
        if let Some(phrase) = phrases.iter().find(|phrase| rest.starts_with(phrase)) {
            found = true;
            rest = &rest[phrase.len()..];
        } else if STOP_COMPANY.contains(&word.as_str()) || is_name(word) {
            rest = after;
        } else {
            return false;
        }
    }
    found
}

/// Words in lower case. An apostrophe does not split a word, so "don't stop" does not match "stop".
fn words_of(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| c.is_whitespace() || ",.!?:;…-–—*_~\"()".contains(c)).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The content of a message, parsed once for all rules.
struct Reading<'t> {
    /// The text without invisible characters, quotes and code.
    spoken: &'t str,
    mentioned: Vec<PersonaSlug>,
    opening: Option<Opening<'t>>,
    ask: Option<AskRequest>,
    stop: bool,
}

impl<'t> Reading<'t> {
    fn of(arrival: &Arrival<'_>, visible: &'t str, spoken: &'t str, people: &People<'_>) -> Self {
        let opening = find_opening(spoken, people);
        let ask = find_ask(opening.as_ref().map_or(spoken, |opening| opening.rest)).map(|ask| {
            // The question may contain code, which the spoken text has lost.
            let whole = find_opening(visible, people).map_or(visible, |opening| opening.rest);
            find_ask(whole).filter(|same| same.askee == ask.askee).unwrap_or(ask)
        });
        let is_name = |word: &str| people.find_name(word).is_some_and(|(_, rest)| rest.is_empty());
        let stop = says_stop(spoken, &arrival.settings.stop_phrases, is_name);
        let mut reading = Self { spoken, mentioned: list_mentions(spoken, people), opening, ask, stop };
        reading.spare_the_askee(arrival);
        reading
    }

    /// In "ask @Vince what …" Vince is the askee, not an addressee.
    fn spare_the_askee(&mut self, arrival: &Arrival<'_>) {
        let Some(ask) = &mut self.ask else { return };
        let id = find_mention(&ask.askee);
        let by_account = id.and_then(|id| arrival.accounts.find(&id)).and_then(|slug| arrival.roster.find(slug));
        let Some(askee) = by_account.or_else(|| arrival.roster.find_named(&ask.askee)) else { return };
        if by_account.is_some() {
            ask.askee.clone_from(&askee.name);
        }
        let opened_with = self.opening.as_ref().is_some_and(|opening| opening.personas.contains(&askee.slug));
        if !opened_with {
            self.mentioned.retain(|slug| *slug != askee.slug);
        }
    }

    /// The personas named at the beginning, then those mentioned later in the text.
    fn addressees(&self) -> Vec<PersonaSlug> {
        let named = self.opening.as_ref().map(|opening| opening.personas.as_slice()).unwrap_or_default();
        let later = self.mentioned.iter().filter(|slug| !named.contains(slug));
        named.iter().chain(later).cloned().collect()
    }

    fn speaks_to_the_team(&self) -> bool {
        let named = || ["@everyone", "@here"].iter().any(|name| self.spoken.contains(name));
        self.opening.as_ref().is_some_and(|opening| opening.team) || named() || self.spoken.to_lowercase().contains("all of you")
    }

    /// Whether this ends a halt: the message addresses an agent. A thread or a bound channel alone does not count.
    fn speaks_to_an_agent(&self, reason: Reason) -> bool {
        matches!(reason, Reason::Mentioned | Reason::Named | Reason::Reply | Reason::Direct | Reason::Team)
            || (reason == Reason::Standup && (!self.addressees().is_empty() || self.speaks_to_the_team()))
    }
}

fn stopped(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let by_person = arrival.message.author.kind == AuthorKind::Person;
    (by_person && reading.stop).then(|| Decision::nobody(Reason::Stop))
}

/// All reasons to ignore a message.
fn unheard(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let Arrival { message, settings, .. } = arrival;
    let author = &message.author;
    let listed_bot = author.kind == AuthorKind::ForeignBot && settings.allowed_bots.contains(&author.id) && !reading.mentioned.is_empty();
    let reason = if author.kind != AuthorKind::Person && !listed_bot {
        Reason::NotAPerson
    } else if let Err(Denied::Unheard(reason)) = authorize(Action::Speak, author, &message.channel, settings) {
        reason
    } else if arrival.kind == ChannelKind::Ignore {
        Reason::ChannelIgnored
    } else if message.is_empty() {
        Reason::Empty
    } else if (arrival.now - message.sent_at).to_std().is_ok_and(|age| age > settings.max_age) {
        Reason::TooOld
    } else {
        return None;
    };
    Some(Decision::nobody(reason))
}

fn in_standup(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    (arrival.kind == ChannelKind::Standup).then(|| coordinator(arrival, Reason::Standup))
}

fn written_directly(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    (arrival.message.channel.place == Place::Direct).then_some(())?;
    one(arrival, &arrival.message.seen_by, Reason::Direct)
}

fn addressed(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let mut responders = reading.addressees();
    let reason = if reading.mentioned.is_empty() { Reason::Named } else { Reason::Mentioned };
    responders.truncate(arrival.settings.max_responders.max(1));
    (!responders.is_empty()).then_some(Decision::by(responders, reason))
}

fn replied(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    one(arrival, arrival.replied_to?, Reason::Reply)
}

fn in_own_thread(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    one(arrival, arrival.thread_owner?, Reason::Thread)
}

/// A binding to a persona that is no longer on the roster has no effect.
fn bound(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    match arrival.binding? {
        LISTEN_ONLY => Some(Decision::nobody(Reason::ListenOnly)),
        persona => Some(Decision::one(arrival.roster.find_named(persona)?.slug.clone(), Reason::Bound)),
    }
}

/// The coordinator, if the channel's setting allows it and the text is a question or a directive.
fn unaddressed(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let (files, text) = (&arrival.message.attachments, reading.spoken);
    let brings_knowledge = arrival.kind == ChannelKind::Knowledge && (!files.is_empty() || has_link(&arrival.message.text));
    // A readable file without text counts as a directive, because people post directives as files.
    let only_a_file = text.trim().is_empty() && files.iter().any(|file| attachments::accept(file).is_ok());
    let reason = if arrival.fallback == FallbackAnswer::Never {
        return None;
    } else if reading.speaks_to_the_team() {
        Reason::Team
    } else if brings_knowledge {
        Reason::Knowledge
    } else if is_question(text) {
        Reason::Question
    } else if reading.ask.is_some() || is_directive(text) || only_a_file || arrival.fallback == FallbackAnswer::Always {
        Reason::Directive
    } else {
        return None;
    };
    Some(coordinator(arrival, reason))
}

fn has_link(text: &str) -> bool {
    text.contains("https://") || text.contains("http://")
}

fn coordinator(arrival: &Arrival<'_>, reason: Reason) -> Decision {
    Decision::one(arrival.roster.coordinator().slug.clone(), reason)
}

/// The persona, if it is on the roster.
fn one(arrival: &Arrival<'_>, slug: &PersonaSlug, reason: Reason) -> Option<Decision> {
    arrival.roster.find(slug).map(|persona| Decision::one(persona.slug.clone(), reason))
}

/// Only the first responder carries out an ask. A persona that asks itself just answers.
fn with_ask(mut decision: Decision, ask: Option<AskRequest>, arrival: &Arrival<'_>) -> Decision {
    if let (Some(ask), Some(first)) = (ask, decision.responders.first())
        && arrival.roster.resolve(&ask.askee).map_or(true, |askee| askee.slug != *first)
    {
        decision.responders.truncate(1);
        decision.ask = Some(ask);
    }
    decision
}

#[cfg(test)]
mod tests;
