//! Decides on a burst: loads what the router needs, calls the router and stores the decision.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::chat::Conversation;
use crate::features::chat::channel::ChannelQueue;
use crate::features::chat::channel::handover::Said;
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::model::talk::{BUSY, RecentTalk};
use crate::features::chat::rules::router;
use crate::features::chat::rules::router::{Arrival, Talk, ThreadOf};
use crate::features::chat::store::{Blocked, Decided};
use kernel::agent::ask::{Ask, AskState};
use kernel::agent::halts::HaltScope;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::chat::attachments::Media;
use kernel::chat::message::{Attachment, AuthorKind, Channel, ChannelKind, InboundMessage, Place, Speaker};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::text::Subtext;
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{AskId, ChainId, ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::people::Seen;
use kernel::persona::ChannelHabit;
use kernel::persona::roster::{Accounts, Roster};

/// Minimum time between two notices in a channel about why nobody answers.
const SILENCE_NOTICE_EVERY: Duration = Duration::from_hours(1);

/// How many messages of a private thread are read to know who spoke there last.
const LOOKED_BACK: u32 = 10;

impl Conversation {
    /// Decides on a burst and stores the decision, which starts the turns. `refused` lists files that could not be read. The answer mentions them.
    pub(crate) async fn decide(
        &self,
        burst: &[InboundMessage],
        taken_at: DateTime<Utc>,
        refused: Vec<String>,
        queue: &ChannelQueue,
    ) -> anyhow::Result<()> {
        let deps = self.deps();
        let message = join(burst);
        let decision = if self.inner.halts.was_halted_since(&message.channel.id, taken_at) {
            // A person said stop while the files were read.
            Decision::nobody(Reason::Stop)
        } else {
            self.persist("routing a message", || self.route(&message)).await?
        };
        let mut taken = self.persist("asking who takes a message", || self.find_taker(&message, &decision)).await?;
        let is_open = taken.is_none() && decision.unsure.is_some();
        let decision = if is_open { self.weigh(&message, decision).await } else { decision };
        if is_open && !decision.responders.is_empty() {
            taken = self.persist("asking who takes a message", || self.find_taker(&message, &decision)).await?;
        }
        let now = deps.clock.now();
        let accompany = || deps.listeners.iter().filter_map(|listener| listener.accompany(&message, &decision)).collect();
        let beside = Beside(if taken.is_none() { accompany() } else { Vec::new() });
        let addressed = !decision.responders.is_empty();
        let decision = taken.as_ref().map_or(decision, |taken| Decision::taken(taken.why.clone()));
        if addressed && self.inner.halts.is_halted_in(&message.channel.id) {
            // A person addresses an agent, so agents may talk in this channel again.
            let scope = HaltScope::Channel(message.channel.id.clone());
            self.persist("lifting a halt", || self.inner.halts.lift(&scope)).await?;
        }
        let mut rows = Rows::default();
        rows.outbox.extend(taken.as_ref().and_then(|taken| taken.reply.clone()));
        self.plan(&message, &decision, &mut rows);
        // A persona's answer shows what was heard in a recording. If a feature takes the message, or nothing was understood, a notice shows it.
        let needs_telling = taken.is_some() || (decision.responders.is_empty() && message.text.trim().is_empty());
        if let Some(notice) = needs_telling.then(|| self.tell_what_was_heard(&message, &refused)).flatten() {
            rows.outbox.push(notice);
        }
        // An answer to the message itself says which files could not be read.
        let is_answered = rows.turns.iter().any(|turn| turn.trigger == Trigger::Message);
        if let Some(responder) = decision.responders.first()
            && !refused.is_empty()
            && !is_answered
        {
            rows.outbox.push(Self::notice(responder, &message.channel.id, refused.join("\n")));
        }
        rows.outbox.extend(self.explain_silence(&message, &decision).await?);
        let messages: Vec<MessageId> = burst.iter().map(|message| message.id.clone()).collect();
        let decided = Decided {
            messages: &messages,
            decision: &decision,
            turns: &rows.turns,
            asks: &rows.asks,
            outbox: &rows.outbox,
            effect: taken.as_ref().and_then(|taken| taken.effect.as_deref()).or(Some(&beside)),
            at: now,
        };
        queue.open_turns(rows.turns.iter().map(|turn| &turn.id));
        if !self.persist("storing a decision", || deps.store.decide(&decided)).await? {
            // Already decided, by a stop or by an attempt whose connection to the database was lost.
            self.forget_ended_turns(&message.channel.id, queue).await;
            return Ok(());
        }
        metrics::counter!("teamroom_decisions_total", "reason" => format!("{:?}", decision.reason)).increment(1);
        tracing::info!(
            responders = ?decision.responders.iter().map(PersonaSlug::as_str).collect::<Vec<_>>(),
            reason = &*decision.explain(),
            "decided"
        );
        Ok(())
    }

    fn tell_what_was_heard(&self, message: &InboundMessage, notes: &[String]) -> Option<OutboundMessage> {
        let is_sound = |file: &Attachment| Media::of(&file.name).is_some_and(Media::is_sound);
        let is_spoken = self.listens_to(message) && message.attachments.iter().any(is_sound);
        let teller = if message.channel.place == Place::Direct { &message.seen_by } else { &self.deps().roster.coordinator().slug };
        let notes: Vec<String> = notes.iter().map(|note| Subtext(note).to_string()).collect();
        (is_spoken && !notes.is_empty()).then(|| Self::notice(teller, &message.channel.id, notes.join("\n")))
    }

    /// The first feature that takes the message.
    async fn find_taker(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        for listener in &self.deps().listeners {
            if let Some(taken) = listener.take(message, decision).await? {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    pub(crate) async fn route(&self, message: &InboundMessage) -> Result<Decision, StoreError> {
        let deps = self.deps();
        let accounts = self.accounts();
        let replied_to = match &message.reply_to {
            Some(reply) => match reply.author.as_ref().and_then(|author| accounts.find(author)) {
                Some(slug) => Some(slug.clone()),
                // Personas that speak through a webhook share its account. The outbox knows the persona.
                None => deps.store.find_by_platform_id(&reply.message).await?.map(|posted| posted.persona),
            },
            None => None,
        };
        let replied_for = match &message.reply_to {
            Some(reply) if replied_to.is_some() => deps.store.find_answered(&reply.message).await?,
            _ => None,
        };
        let (id, name) = rule_names(&message.channel);
        let is_direct = message.channel.place == Place::Direct;
        let voices = if is_direct { deps.platform.list_voices(&message.channel.id, &message.seen_by) } else { Vec::new() };
        let thread = match message.channel.place {
            Place::Direct if voices.len() > 1 => self.find_private_thread(&message.channel.id).await?,
            _ => self.find_thread(&message.channel.place, &accounts).await?,
        };
        let arrival = Arrival {
            message,
            kind: self.kind_of(&message.channel),
            binding: deps.chat.channels.find_binding(id, name).or_else(|| habit(&deps.roster, name)),
            fallback: deps.chat.channels.fallback_of(id, name),
            halted: self.inner.halts.is_halted_in(&message.channel.id),
            is_command: deps.listeners.iter().any(|listener| listener.is_for_team(message)),
            is_offline: deps.agents.is_offline(),
            replied_to: replied_to.as_ref(),
            replied_for: replied_for.as_ref(),
            thread: thread.as_ref(),
            voices: &voices,
            roster: &deps.roster,
            accounts: &accounts,
            settings: &deps.chat,
            talk: Talk::default(),
            now: deps.clock.now(),
        };
        let mut decision = router::route(&arrival);
        // Where one account speaks for several, it matters who has just spoken.
        if decision.reason.depends_on_talk() || voices.len() > 1 {
            let said = deps.store.list_said_before(message, message.sent_at - BUSY).await?;
            let seen = Seen { author: &message.author, channel: &message.channel, at: message.sent_at };
            let is_shared = deps.store.is_shared(&seen).await?;
            let recent = RecentTalk::before(&said, &message.author.id, message.sent_at, is_shared);
            let people = deps.store.list_names_of_people().await?;
            let talk = Talk { people: &people, recent: Some(&recent) };
            decision = router::route(&Arrival { talk, ..arrival });
        }
        // Only `/resume` lifts a halt of the whole team.
        let silenced = self.inner.halts.is_team_halted() && !decision.responders.is_empty();
        let decision = if silenced { Decision::nobody(Reason::Halted) } else { decision };
        self.past_the_guard(message, decision).await
    }

    /// The owner of a thread: the author of the message on which it hangs, or the persona that opened it.
    async fn find_thread(&self, place: &Place, accounts: &Accounts) -> Result<Option<ThreadOf>, StoreError> {
        let Place::Thread { owner, starter, .. } = place else { return Ok(None) };
        let store = &self.deps().store;
        if let Some(starter) = starter {
            if let Some(posted) = store.find_by_platform_id(starter).await? {
                return Ok(Some(ThreadOf::Persona(posted.persona)));
            }
            if store.find_message(starter).await?.is_some() {
                return Ok(Some(ThreadOf::Person));
            }
        }
        Ok(owner.as_ref().and_then(|owner| accounts.find(owner)).cloned().map(ThreadOf::Persona))
    }

    /// The persona that spoke last in a thread of a direct conversation, or on whose message it hangs. Such a thread has the id of that message.
    async fn find_private_thread(&self, channel: &ChannelId) -> Result<Option<ThreadOf>, StoreError> {
        let (store, root) = (&self.deps().store, MessageId::new(channel.as_str()));
        let opened = store.find_by_platform_id(&root).await?.map(|posted| posted.persona);
        if opened.is_none() && store.find_message(&root).await?.is_none() {
            return Ok(None);
        }
        let spoken = store.list_spoken(channel, LOOKED_BACK).await?;
        let last = spoken.into_iter().rev().find_map(|line| if let Speaker::Persona(slug) = line.speaker { Some(slug) } else { None });
        Ok(last.or(opened).map(ThreadOf::Persona))
    }

    /// A listed foreign bot counts as an agent. The guard removes the responders that may not answer it.
    async fn past_the_guard(&self, message: &InboundMessage, mut decision: Decision) -> Result<Decision, StoreError> {
        if message.author.kind != AuthorKind::ForeignBot {
            return Ok(decision);
        }
        let from = Speaker::ForeignBot { id: message.author.id.clone(), name: message.author.name.clone() };
        let mut allowed = Vec::new();
        for responder in decision.responders {
            let chain = ChainId::new(message.id.as_str());
            let said = Said { from: &from, text: &message.text, channel: &message.channel, chain: &chain, unposted: None };
            match self.examine(&said, &responder, 0).await? {
                Ok(()) => allowed.push(responder),
                Err(block) => {
                    let at = self.deps().clock.now();
                    self.count_block(&Blocked { channel: &message.channel.id, chain: &chain, from: &from, to: &responder, block, at })
                        .await;
                }
            }
        }
        decision.responders = allowed;
        Ok(decision)
    }

    pub(crate) fn kind_of(&self, channel: &Channel) -> ChannelKind {
        let (id, name) = rule_names(channel);
        self.deps().chat.channels.kind_of(id, name)
    }

    /// Turns a decision into turns, an ask, and immediate messages.
    fn plan(&self, message: &InboundMessage, decision: &Decision, rows: &mut Rows) {
        let deps = self.deps();
        let now = deps.clock.now();
        for responder in &decision.responders {
            if self.inner.halts.is_paused(responder) {
                let name = deps.roster.name_of(responder);
                let text = format!("{name} is paused. An operator can change that with `/team resume`.");
                rows.outbox.push(Self::notice(&deps.roster.coordinator().slug, &message.channel.id, text));
                continue;
            }
            let mut turn = Turn {
                id: TurnId::generate(),
                message: message.id.clone(),
                chain: ChainId::new(message.id.as_str()),
                channel: message.channel.id.clone(),
                persona: responder.clone(),
                trigger: Trigger::Message,
                state: TurnState::Queued,
                queued_at: now,
            };
            if let Some(request) = &decision.ask {
                match deps.roster.resolve(&request.askee) {
                    // A persona that asks itself answers directly.
                    Ok(askee) if askee.slug == *responder => {}
                    Ok(askee) if self.inner.halts.is_paused(&askee.slug) => {
                        let text = format!("{} is paused and cannot be asked now.", askee.name);
                        rows.outbox.push(Self::notice(responder, &message.channel.id, text));
                        continue;
                    }
                    Ok(askee) => {
                        let ask = Ask {
                            id: AskId::generate(),
                            message: turn.message.clone(),
                            chain: turn.chain.clone(),
                            channel: turn.channel.clone(),
                            asker: responder.clone(),
                            askee: askee.slug.clone(),
                            question: request.question.clone(),
                            path: vec![responder.clone()],
                            state: AskState::Asked,
                            answer: None,
                            asked_at: now,
                            deadline: now + deps.chat.ask_timeout,
                        };
                        turn.trigger = Trigger::Ask { ask: ask.id.clone() };
                        rows.asks.push(ask);
                    }
                    Err(unknown) => {
                        let text = format!("I cannot ask that: {unknown}.");
                        rows.outbox.push(Self::notice(responder, &message.channel.id, text));
                        continue;
                    }
                }
            }
            rows.turns.push(turn);
        }
    }

    /// A short notice that explains why nobody answers. At most once an hour per channel.
    async fn explain_silence(&self, message: &InboundMessage, decision: &Decision) -> anyhow::Result<Option<OutboundMessage>> {
        let text = match decision.reason {
            Reason::Halted if self.inner.halts.is_team_halted() => "The team is halted. `/resume` lets us speak again.",
            Reason::Halted => "We are quiet here since somebody said stop. Speak to one of us by name, and we answer again.",
            Reason::ChannelNotAllowed => "We do not answer in this channel; an operator can allow it in the configuration.",
            Reason::SharedChannel => "We keep quiet here, because people of another company read this channel. An operator can allow it.",
            Reason::AuthorNotAllowed => "We answer only people on the allow list; an operator can add you.",
            Reason::DirectMessagesOff => "Direct messages are off here. Please write to us in a channel.",
            _ => return Ok(None),
        };
        let deps = self.deps();
        let key = format!("silence:{:?}:{}", decision.reason, message.channel.id);
        let claim = || deps.store.claim_notice(&key, deps.clock.now(), SILENCE_NOTICE_EVERY);
        if !self.persist("claiming a notice", claim).await? {
            return Ok(None);
        }
        let speaker = match message.channel.place {
            Place::Direct => &message.seen_by,
            _ => &deps.roster.coordinator().slug,
        };
        Ok(Some(Self::notice(speaker, &message.channel.id, text)))
    }

    /// Shows typing while the person may still be writing. Does not predict the decision, which covers the whole burst.
    pub(crate) fn show_typing_early(&self, first: InboundMessage) {
        let conversation = self.clone();
        self.deps().tasks.spawn(async move {
            if let Ok(decision) = conversation.route(&first).await
                && let Some(responder) = decision.responders.first()
            {
                conversation.deps().platform.show_typing(responder, &first.channel.id).await;
            }
        });
    }
}

/// The rows of all features that accompany a message.
#[derive(Debug)]
struct Beside(Vec<Box<dyn Effect>>);

#[async_trait]
impl Effect for Beside {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        for effect in &self.0 {
            effect.apply(transaction, at).await?;
        }
        Ok(Applied::Done)
    }
}

#[derive(Default)]
struct Rows {
    turns: Vec<Turn>,
    asks: Vec<Ask>,
    outbox: Vec<OutboundMessage>,
}

/// The rule for a channel in the personas' own files. The rules in the configuration take precedence.
fn habit<'a>(roster: &'a Roster, channel: &str) -> Option<&'a str> {
    let with = |habit| roster.personas().iter().find(|persona| persona.channels.get(channel) == Some(&habit));
    with(ChannelHabit::Answer).map(|persona| persona.slug.as_str()).or_else(|| with(ChannelHabit::Listen).map(|_| router::LISTEN_ONLY))
}

/// The id and name that configuration uses for a channel. A thread uses those of its parent.
fn rule_names(channel: &Channel) -> (&kernel::ids::ChannelId, &str) {
    match &channel.place {
        Place::Thread { parent, parent_name, .. } => (parent, parent_name),
        _ => (&channel.id, &channel.name),
    }
}

/// Merges a burst into one message: the first, with the content of the others appended.
pub(crate) fn join(burst: &[InboundMessage]) -> InboundMessage {
    let mut joined = burst[0].clone();
    for next in &burst[1..] {
        if !joined.text.is_empty() && !next.text.is_empty() {
            joined.text.push('\n');
        }
        joined.text.push_str(&next.text);
        joined.mentions.extend(next.mentions.iter().cloned());
        joined.attachments.extend(next.attachments.iter().cloned());
        joined.reply_to = joined.reply_to.or_else(|| next.reply_to.clone());
    }
    joined
}
