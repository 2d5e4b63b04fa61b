//! Decides who answers a person's message (CHAT-7). Pure: one decision per message, with its reason.

mod company;
mod doubt;
mod speech;

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::{AskRequest, Decision, Reason};
use crate::features::chat::model::talk::{Company, RecentTalk};
use crate::features::chat::settings::{ChatSettings, FallbackAnswer};
use kernel::chat::message::{AuthorKind, ChannelKind, InboundMessage, Place, ReplyTo};
use kernel::chat::text::find_mention;
use kernel::ids::{PersonaSlug, UserId};
use kernel::persona::roster::{Accounts, Roster};
use kernel::text::{without_invisible, without_quotes_and_code};

use crate::features::chat::rules::addressing::{Addressed, calls_a_stranger};
use crate::features::chat::rules::ask_phrase::find_ask;
use crate::features::chat::rules::authorize::{Action, Denied, authorize};
use crate::features::chat::rules::names::Names;
use crate::features::chat::rules::sentence::{Sentence, fold, sentences};
use crate::features::chat::rules::{clarity, intent};

use company::{is_for_company, is_said_in_passing, unaddressed};
use doubt::find_doubt;
use speech::after_addressees;
pub(crate) use speech::{Calls, calls_off, find_calls, find_speech_act, only_tells};
pub use speech::{is_stop, speaks_to_a_persona};

/// The binding of a channel where nobody answers a message without an addressee.
pub const LISTEN_ONLY: &str = "listen";

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
    /// The text alone shows that a feature carries it out: "remind me …", "let's start the standup".
    pub is_command: bool,
    /// No model is connected. What is not clearly for the team then is left alone where several people write.
    pub is_offline: bool,
    /// The persona whose message is replied to.
    pub replied_to: Option<&'a PersonaSlug>,
    /// The person whom that message answered.
    pub replied_for: Option<&'a UserId>,
    pub thread: Option<&'a ThreadOf>,
    /// The personas that can speak here. Only in a direct conversation.
    pub voices: &'a [PersonaSlug],
    pub roster: &'a Roster,
    pub accounts: &'a Accounts,
    pub settings: &'a ChatSettings,
    pub talk: Talk<'a>,
    /// Used for the message's age.
    pub now: DateTime<Utc>,
}

/// What was said in the channel before. Only decisions that [depend on it](Reason::depends_on_talk) need it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Talk<'a> {
    /// The names of the people who were seen here.
    pub people: &'a [String],
    pub recent: Option<&'a RecentTalk>,
}

/// The owner of a thread: the author of the message on which it hangs, or the persona that opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadOf {
    Persona(PersonaSlug),
    Person,
}

/// One rule of the table: its decision, or `None` if it does not apply.
type Rule = fn(&Arrival<'_>, &Reading<'_>) -> Option<Decision>;

/// The order of CHAT-7. The first rule that applies decides. The specification leaves two positions open. Stop comes first, so that no list and no
/// halt can suppress it. A direct message comes before names, because only those who share the account can speak in that conversation.
const RULES: [Rule; 14] = [
    stopped,
    unheard,
    wants_no_answer,
    in_standup,
    written_directly,
    addressed,
    replied,
    among_people,
    brings_knowledge,
    agreed,
    in_own_thread,
    followed_up,
    bound,
    unaddressed,
];

/// Decides who answers a message, in which order, and why.
///
/// In a halted channel only a message that addresses an agent is answered. It ends the halt, which the caller records.
pub fn route(arrival: &Arrival<'_>) -> Decision {
    let visible = without_invisible(&arrival.message.text);
    let spoken = without_quotes_and_code(&visible);
    let text = sentences(&spoken);
    let names = Names::of_personas(arrival.roster, arrival.accounts).and_people(arrival.talk.people, &arrival.message.author, &text);
    let reading = Reading::of(arrival, &visible, &spoken, text, &names);
    let decision =
        RULES.iter().find_map(|rule| rule(arrival, &reading)).filter(|decision| !is_said_in_passing(arrival, &reading, decision));
    let decision = decision.unwrap_or_else(|| Decision::nobody(Reason::Silence));
    let by_person = arrival.message.author.kind == AuthorKind::Person;
    if arrival.halted && !decision.responders.is_empty() && !(by_person && reading.speaks_to_an_agent(decision.reason)) {
        return Decision::nobody(Reason::Halted);
    }
    let doubted = if decision.reason == Reason::FollowUp { find_doubt(arrival, &reading, decision) } else { decision };
    let unsure = find_unsure(arrival, &reading, &names, &doubted).or(doubted.unsure);
    with_ask(Decision { unsure, ..doubted }, reading.ask, arrival)
}

/// The persona that may be meant when the rules let nobody answer but are not sure: the author may be following up on a persona's answer, or want
/// something in words that the rules do not know. None where people talk to each other.
fn find_unsure(arrival: &Arrival<'_>, reading: &Reading<'_>, names: &Names<'_>, decision: &Decision) -> Option<PersonaSlug> {
    let recent = arrival.talk.recent?;
    let is_silence =
        decision.responders.is_empty() && decision.taken.is_none() && matches!(decision.reason, Reason::Silence | Reason::Standup);
    let by_person = arrival.message.author.kind == AuthorKind::Person;
    if !is_silence || !by_person || arrival.halted || arrival.fallback == FallbackAnswer::Never || reading.text.is_empty() {
        return None;
    }
    if is_for_others(arrival, reading) || arrival.thread == Some(&ThreadOf::Person) || intent::is_greeting(&reading.text) {
        return None;
    }
    let may_want = || intent::may_want(&reading.text) || names.may_call_a_persona(&reading.text);
    match &recent.with {
        Some(persona) if decision.reason == Reason::Silence => Some(persona.clone()).filter(|_| may_want()),
        _ => ((recent.company < Company::Speaking || intent::asks_to_do(&reading.text)) && may_want())
            .then(|| arrival.roster.coordinator().slug.clone()),
    }
}

/// The content of a message, parsed once for all rules.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one text")]
struct Reading<'t> {
    /// Without invisible characters, quotes and code.
    text: Vec<Sentence<'t>>,
    addressed: Addressed,
    ask: Option<AskRequest>,
    /// The text requests something of a persona: "frag Vince, was er denkt".
    asks_for_persona: bool,
    stop: bool,
    /// The text tells another person to stop.
    stops_others: bool,
    /// Only emojis, or only thanks.
    wants_no_answer: bool,
}

impl<'t> Reading<'t> {
    fn of(arrival: &Arrival<'_>, visible: &str, spoken: &str, text: Vec<Sentence<'t>>, names: &Names<'_>) -> Self {
        let addressed = names.find_addressed(&text);
        let ask = find_ask(after_addressees(spoken, addressed.rest)).map(|ask| {
            // The question may contain code, which `spoken` removes.
            let whole = names.find_addressed(&sentences(visible));
            find_ask(after_addressees(visible, whole.rest)).filter(|same| same.askee == ask.askee).unwrap_or(ask)
        });
        let ask = ask.map(|ask| AskRequest { askee: correct_askee(ask.askee, arrival.roster, names), ..ask });
        let says_stop = intent::is_stop(&text, &arrival.settings.stop_phrases, names);
        let calls_nobody = addressed.personas.is_empty() && !addressed.team;
        let to_others = says_stop && (names.speaks_only_to_others(&text) || (calls_nobody && replies_to_another(arrival)));
        let wants_no_answer = arrival.message.attachments.is_empty() && (intent::is_wordless(&text) || intent::is_thanks(&text, names));
        let asks_for_persona = names.requests_of_persona(&text);
        let mut reading =
            Self { text, addressed, ask, asks_for_persona, stop: says_stop && !to_others, stops_others: to_others, wants_no_answer };
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
        if !self.addressed.leading.contains(&askee.slug) {
            self.addressed.personas.retain(|slug| *slug != askee.slug);
        }
    }

    /// Whether a message mentions everybody who is here or in the channel, as announcements do.
    fn announces(&self) -> bool {
        self.text.iter().flat_map(Sentence::words).any(|word| word.at && matches!(&*word.folded, "here" | "everyone"))
    }

    /// Whether this decision ends a halt: the message addresses an agent. A thread or a bound channel alone does not count.
    fn speaks_to_an_agent(&self, reason: Reason) -> bool {
        matches!(reason, Reason::Mentioned | Reason::Named | Reason::Reply | Reason::Direct | Reason::Team)
            || (reason == Reason::Standup && (!self.addressed.personas.is_empty() || self.addressed.team))
    }
}

fn stopped(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let by_person = arrival.message.author.kind == AuthorKind::Person;
    (by_person && reading.stop).then(|| Decision::nobody(Reason::Stop))
}

/// The name of the persona that is meant, after a typing error.
fn correct_askee(askee: String, roster: &Roster, names: &Names<'_>) -> String {
    let is_unknown = !askee.starts_with('<') && roster.resolve(&askee).is_err();
    let meant = || names.find_with_error(&fold(&askee), askee.starts_with(char::is_uppercase));
    match is_unknown.then(meant).flatten() {
        Some(slug) => roster.name_of(slug).to_owned(),
        None => askee,
    }
}

/// Whether the message replies to another person. A reply to oneself continues one's own message.
fn replies_to_another(arrival: &Arrival<'_>) -> bool {
    let to_oneself = |reply: &ReplyTo| reply.author.as_ref() == Some(&arrival.message.author.id);
    arrival.message.reply_to.as_ref().is_some_and(|reply| !to_oneself(reply)) && arrival.replied_to.is_none()
}

/// All reasons to ignore a message.
fn unheard(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let Arrival { message, settings, .. } = arrival;
    let author = &message.author;
    let listed_bot = author.kind == AuthorKind::ForeignBot && settings.allowed_bots.contains(&author.id) && reading.addressed.mentioned;
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

/// An emoji or thanks needs no answer. In a knowledge channel the message may consist of a link, which has no word either.
fn wants_no_answer(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    (reading.wants_no_answer && !is_knowledge(arrival)).then(|| Decision::nobody(Reason::NoAnswerWanted))
}

/// In a standup channel the coordinator answers messages that address a persona, ask or request something.
fn in_standup(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    (arrival.kind == ChannelKind::Standup).then_some(())?;
    let addressed = &reading.addressed;
    let wanted = !addressed.personas.is_empty()
        || arrival.replied_to.is_some()
        || (!is_for_others(arrival, reading) && (addressed.team || wants_something(reading) || intent::is_imperative(&reading.text)));
    Some(if wanted { coordinator(arrival, Reason::Standup) } else { Decision::nobody(Reason::Standup) })
}

/// In a direct conversation the persona that is called answers, if it shares the account, otherwise the one of the thread or that answered just now.
fn written_directly(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    (arrival.message.channel.place == Place::Direct).then_some(())?;
    let can_speak = |slug: &&PersonaSlug| arrival.voices.contains(slug);
    let called = reading.addressed.personas.iter().find(can_speak);
    let owner = if let Some(ThreadOf::Persona(slug)) = arrival.thread { Some(slug) } else { None };
    let last = || arrival.talk.recent.and_then(|recent| recent.with.as_ref());
    let asks = reading.ask.is_some() || reading.addressed.team;
    let who = called.or_else(|| if asks { None } else { owner.or_else(last).filter(can_speak) });
    one(arrival, who.unwrap_or(&arrival.message.seen_by), Reason::Direct)
}

fn addressed(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let mut responders = reading.addressed.personas.clone();
    let reason = if reading.addressed.mentioned { Reason::Mentioned } else { Reason::Named };
    responders.truncate(arrival.settings.max_responders.max(1));
    (!responders.is_empty()).then_some(Decision::by(responders, reason))
}

fn replied(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let persona = arrival.replied_to?;
    let (addressed, wants) = (&reading.addressed, wants_something(reading));
    // "Bob, look at this" and "told you so, Bob" are for Bob, unlike "send it to @Bob".
    if addressed.others_first || (addressed.others && !wants) {
        return Some(Decision::nobody(Reason::ForOthers));
    }
    // Somebody else had asked, so "I told you so" is said to them.
    let is_for_asker = !wants && arrival.replied_for.is_some_and(|asker| *asker != arrival.message.author.id);
    if is_for_asker { Some(Decision::nobody(Reason::Silence)) } else { one(arrival, persona, Reason::Reply) }
}

/// Messages between people stay between them, even questions.
fn among_people(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    is_for_others(arrival, reading).then(|| Decision::nobody(Reason::ForOthers))
}

fn is_for_others(arrival: &Arrival<'_>, reading: &Reading<'_>) -> bool {
    let replies = replies_to_another(arrival);
    // "Ask Bob …" and "remind <@bob> …" are said to the team.
    let is_request = reading.ask.is_some() || arrival.is_command || intent::begins_request(&reading.text);
    let to_team = is_request && !reading.stops_others && !reading.addressed.others_first;
    !to_team && (reading.addressed.others || replies || reading.announces())
}

/// Nobody answers an "ok" after an answer that asked nothing.
fn agreed(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let is_told = arrival.talk.recent.is_some_and(|recent| recent.is_told) && arrival.message.attachments.is_empty();
    (is_told && intent::is_agreement(&reading.text)).then(|| Decision::nobody(Reason::NoAnswerWanted))
}

fn in_own_thread(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    match arrival.thread? {
        _ if calls_a_stranger(&reading.text) => None,
        ThreadOf::Persona(slug) => one(arrival, slug, Reason::Thread),
        ThreadOf::Person => None,
    }
}

fn followed_up(arrival: &Arrival<'_>, reading: &Reading<'_>) -> Option<Decision> {
    let recent = arrival.talk.recent?;
    let goes_on = !recent.is_interrupted || (wants_something(reading) && !clarity::begins_agreeing(&reading.text));
    let goes_on = goes_on && !is_for_company(arrival, reading);
    // The coordinator carries out asks, whichever persona one has talked to before.
    (goes_on && !reading.addressed.team && reading.ask.is_none() && !calls_a_stranger(&reading.text)).then_some(())?;
    one(arrival, recent.with.as_ref()?, Reason::FollowUp)
}

/// Files and links in a knowledge channel go into the memory, even if a persona is bound to the channel. If nobody answers unasked there, this
/// happens without an answer.
fn brings_knowledge(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    if !is_knowledge(arrival) || arrival.fallback == FallbackAnswer::Never {
        return None;
    }
    match arrival.binding {
        Some(LISTEN_ONLY) => None,
        binding => {
            let bound = binding.and_then(|persona| arrival.roster.find_named(persona));
            Some(
                bound.map_or_else(
                    || coordinator(arrival, Reason::Knowledge),
                    |persona| Decision::one(persona.slug.clone(), Reason::Knowledge),
                ),
            )
        }
    }
}

fn is_knowledge(arrival: &Arrival<'_>) -> bool {
    let message = arrival.message;
    arrival.kind == ChannelKind::Knowledge && (!message.attachments.is_empty() || has_link(&message.text))
}

/// A binding to a persona that is no longer on the roster has no effect.
fn bound(arrival: &Arrival<'_>, _: &Reading<'_>) -> Option<Decision> {
    match arrival.binding? {
        LISTEN_ONLY => Some(Decision::nobody(Reason::ListenOnly)),
        persona => Some(Decision::one(arrival.roster.find_named(persona)?.slug.clone(), Reason::Bound)),
    }
}

fn wants_something(reading: &Reading<'_>) -> bool {
    reading.ask.is_some() || intent::is_question(&reading.text) || intent::is_request(&reading.text)
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
