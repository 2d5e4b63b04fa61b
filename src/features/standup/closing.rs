//! Makes the Day Report: cross-check, call, actions, and one transaction that stores all of it.

use crate::features::standup::turns::Turns;
use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::features::backlog::action;
use crate::features::backlog::action::{AcceptedAction, CheckedActions, KnownOwners};
use crate::features::backlog::model::{MeetingOrigin, Origin, ProposedAction, WorkItem, WorkStatus};
use crate::features::backlog::store::{ItemChange, ItemFilter};
use crate::features::meeting::agenda::Session;
use crate::features::meeting::model::{CalledBy, Meeting, Participant};
use crate::features::memory::offer_lesson;
use crate::features::standup::checkins::ask_button;
use crate::features::standup::model::page::SharedPage;
use crate::features::standup::model::prediction::{Call, Prediction, Settled};
use crate::features::standup::model::report::{DayReport, ReportedCall};
use crate::features::standup::model::tension;
use crate::features::standup::model::tension::CrossCheck;
use crate::features::standup::playing::KIND;
use crate::features::standup::question::Terms;
use crate::features::standup::reporting::{claims_of, read_material};
use crate::features::standup::store::{StandupClosing, StoredReport};
use crate::features::standup::turns::{CallAsked, ConcludeAsked, Conclusion};
use crate::features::standup::{Standup, render, say};
use kernel::chat::outbound::{Button, OutboundKind, OutboundMessage, Placement};
use kernel::db::StoreError;
use kernel::ids::{MemoryId, PersonaSlug, PredictionId, WorkItemId};
use kernel::memory::{Memory, MemoryKind, MemorySource, Scope};
use kernel::persona::StandupDuty;
use kernel::text;

/// How many open items the conclusion gets. An action that duplicates any other open item is refused too.
const OPEN_ITEMS: u32 = 30;

/// How many people the conclusion may give actions to by name.
const NAMED_PEOPLE: usize = 20;

/// How many moved items are listed individually. The team may move hundreds in a day.
const MOVED: usize = 20;

/// The significance of a standup's lesson. A lesson taught by a person has 0.9.
const SIGNIFICANCE: f64 = 0.5;

/// A call with its terms.
pub(super) struct Position {
    pub(super) call: Call,
    pub(super) terms: Terms,
    /// The result, if the question is decided before it expires.
    pub(super) settled: Option<Settled>,
}

/// The input of the report.
pub(super) struct Findings<'a> {
    pub(super) page: &'a SharedPage,
    pub(super) cross_check: CrossCheck,
    pub(super) position: Result<Position, String>,
    pub(super) conclusion: Conclusion,
    pub(super) actions: CheckedActions,
    /// The earlier report of this day, if a standup was held before.
    pub(super) earlier: Option<StoredReport>,
    /// The report that this one is compared with.
    pub(super) last: Option<DayReport>,
    pub(super) moved: Vec<String>,
}

impl Standup {
    pub(super) async fn close_standup(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()> {
        let meeting = session.meeting;
        let page = read_material(session)?;
        let found = self.conclude(session, &page, cancel).await?;
        if cancel.is_cancelled() {
            anyhow::bail!("it was interrupted");
        }
        let now = self.deps.clock.now();
        let items = make_items(meeting, &found.actions.accepted, now);
        let report = self.make_report(session, &found, &items, now).await?;
        let post = OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Report, "");
        let post_id = found.earlier.as_ref().map_or_else(|| post.id.clone(), |earlier| earlier.post.clone());
        let prediction = found.position.as_ref().ok().and_then(|position| position.prediction(meeting, now));
        let mut outbox = self.render_closing(meeting, &report, post, found.earlier.as_ref());
        if let Some((prediction, settled)) = prediction.as_ref().and_then(|made| Some((made, made.settled.as_ref()?))) {
            let text = render::render_settled(prediction, settled, report.zone);
            outbox.push(OutboundMessage::new(&prediction.call.by, &meeting.channel.id, OutboundKind::Report, text));
        }
        if let Some(earlier) = &found.earlier {
            outbox.push(self.announce_revision(meeting, &report, earlier).await?);
        }
        let memories = self.make_memories(meeting, &found, now).await?;
        outbox.extend(memories.iter().filter_map(|memory| offer(meeting, memory)));
        let closing = StandupClosing {
            run: session.run,
            meeting,
            report: &report,
            post: &post_id,
            items: &items,
            prediction: prediction.as_ref(),
            memories: &memories,
            outbox: &outbox,
            at: now,
        };
        if closing.store().await? {
            tracing::info!(meeting = %meeting.id, revision = report.revision, actions = items.len(), "the Day Report is stored");
            self.write_file(&report).await;
        }
        Ok(())
    }

    async fn conclude<'a>(&self, session: &Session<'_>, page: &'a SharedPage, cancel: &CancellationToken) -> anyhow::Result<Findings<'a>> {
        let (store, meeting) = (&self.deps.store, session.meeting);
        let last = store.find_last_report(&meeting.channel.id, meeting.day).await?.map(|last| last.report);
        let earlier = store.find_report(&meeting.channel.id, meeting.day).await?;
        let moved = self.list_moved(meeting, last.as_ref()).await?;
        let (claims, unsupported) = tension::split_supported(claims_of(session.seats), page);
        let cross_check = CrossCheck { unsupported, ..tension::cross_check(&claims) };
        let position = self.take_position(session, page, &cross_check, cancel).await?;
        let people = self.deps.people.directory().await?;
        let names: Vec<String> = people.people().take(NAMED_PEOPLE).map(|person| person.name.clone()).collect();
        let scope = Scope::of(&meeting.channel);
        let open = store.list_items(&ItemFilter { scope: Some(&scope), ..ItemFilter::open(OPEN_ITEMS) }).await?;
        let asked = ConcludeAsked {
            meeting,
            page,
            seats: session.seats,
            cross_check: &cross_check,
            call: position.as_ref().ok().map(|position| &position.call),
            question: position.as_ref().ok().map(|position| position.terms.asked()),
            last_report: last.as_ref(),
            moved: &moved,
            open: &open,
            told: &self.list_told(page).await?,
            people: &names,
        };
        let conclusion = self.in_time(cancel, async |cancel| Turns::new(&self.deps.agents).conclude(&asked, cancel).await).await;
        for problem in &conclusion.problems {
            tracing::warn!(meeting = %meeting.id, problem, "the conclusion of a standup was not as asked for");
        }
        let known = KnownOwners { roster: &self.deps.roster, people: &people };
        let titles: Vec<String> = conclusion.actions.iter().map(|action| known.title_of(action)).collect();
        let alike = store.list_alike(&titles, &scope).await?;
        // Seven a day, even if the report is revised.
        let before = earlier.as_ref().map_or(0, |earlier| earlier.report.actions.len());
        let proposed: &[ProposedAction] = &conclusion.actions;
        let done = self.list_done(meeting, last.as_ref()).await?;
        let left = action::MOST_ACTIONS.saturating_sub(before);
        let actions = action::check_new_actions(proposed, &known, &alike, &done, left);
        Ok(Findings { page, cross_check, position, conclusion, actions, earlier, last, moved })
    }

    /// The call on the essential question, or the reason why there is none.
    async fn take_position(
        &self,
        session: &Session<'_>,
        page: &SharedPage,
        cross_check: &CrossCheck,
        cancel: &CancellationToken,
    ) -> anyhow::Result<Result<Position, String>> {
        let terms = match self.set_terms(session.meeting, page).await? {
            Ok(terms) => terms,
            Err(missing) => return Ok(Err(missing)),
        };
        let Some(caller) = self.find_duty(StandupDuty::Call) else { return Ok(Err("no persona has the duty `call`".into())) };
        if let Some(earlier) = terms.earlier.as_ref().filter(|earlier| earlier.settled.is_some() || terms.asked().is_decided()) {
            // The last call before the decision counts. A new call would already know the result.
            let settled = earlier.settled.clone().unwrap_or_else(|| earlier.settle(terms.base, page.read_at));
            return Ok(Ok(Position { call: earlier.call.clone(), settled: Some(settled), terms }));
        }
        let scoreboard = self.read_scoreboard().await?;
        let asked = CallAsked {
            persona: &caller.slug,
            meeting: session.meeting,
            page,
            seats: session.seats,
            cross_check,
            question: terms.asked(),
            scoreboard: &scoreboard,
        };
        let call = self.in_time(cancel, async |cancel| Turns::new(&self.deps.agents).call(&asked, cancel).await).await;
        let settled = terms
            .asked()
            .is_decided()
            .then(|| prediction_of(session.meeting, &call, &terms, page.read_at).settle(terms.base, page.read_at));
        Ok(Ok(Position { call, terms, settled }))
    }

    /// Runs a part of the closing, which may take as long as a turn. Then its token is cancelled, so that it uses rules instead of a model.
    async fn in_time<T>(&self, cancel: &CancellationToken, work: impl AsyncFnOnce(&CancellationToken) -> T) -> T {
        let own = cancel.child_token();
        let limit = async {
            self.deps.clock.sleep(self.deps.standup.turn_timeout).await;
            own.cancel();
            std::future::pending().await
        };
        tokio::select! {
            done = work(&own) => done,
            never = limit => never,
        }
    }

    /// The closing messages: the call from its persona's account, the report as a card, and its sections in the thread below. A revision replaces the
    /// card.
    fn render_closing(
        &self,
        meeting: &Meeting,
        report: &DayReport,
        post: OutboundMessage,
        earlier: Option<&StoredReport>,
    ) -> Vec<OutboundMessage> {
        let channel = &meeting.channel.id;
        let mut outbox = Vec::new();
        if let Ok(call) = &report.call
            && self.needs_saying(call, report)
        {
            outbox.push(OutboundMessage::new(
                &call.call.by,
                channel,
                OutboundKind::Report,
                render::render_call(call, report.question.as_deref(), report.zone),
            ));
        }
        let name = format!("Day Report {}", report.day);
        let mut buttons: Vec<Button> = self.deps.plays.button(KIND, meeting.id.as_str()).into_iter().collect();
        if !self.deps.terms.checkin_lead.is_zero() {
            buttons.push(ask_button(channel));
        }
        let card = OutboundMessage { card: Some(render::render_report_card(report)), buttons, ..post };
        let original = earlier.map_or_else(|| card.clone(), |earlier| OutboundMessage { id: earlier.post.clone(), ..card.clone() });
        outbox.push(match earlier {
            None => card,
            Some(earlier) => OutboundMessage { place: Placement::Revision { of: earlier.post.clone() }, ..card },
        });
        outbox.extend(self.in_thread(
            &meeting.facilitator,
            channel,
            &original,
            &name,
            &render::render_report_thread(report, &self.deps.platform.text_format(channel)),
        ));
        outbox
    }

    /// Says what is new, as a reply to the report's card.
    async fn announce_revision(
        &self,
        meeting: &Meeting,
        report: &DayReport,
        earlier: &StoredReport,
    ) -> Result<OutboundMessage, StoreError> {
        let added = report.actions.len().saturating_sub(earlier.report.actions.len());
        let text = render::render_revised(report, &earlier.report, added);
        let card = self.deps.store.find_posted(&earlier.post).await?.map(|posted| posted.message);
        Ok(OutboundMessage { reply_to: card, ..say(meeting, OutboundKind::Notice, text) })
    }

    /// Without a model the persona's report already contains the call, unless that report was skipped.
    fn needs_saying(&self, call: &ReportedCall, report: &DayReport) -> bool {
        if call.settled.is_some() {
            return false;
        }
        let caller = Participant::Persona(call.call.by.clone());
        let reported = report.contributions.iter().any(|said| said.who == caller && said.text.is_some());
        !(self.deps.agents.is_offline() && reported)
    }

    /// Lessons, and disagreements between personas (STAND-15). If the page has text from outside, they wait for a person.
    async fn make_memories(&self, meeting: &Meeting, found: &Findings<'_>, now: DateTime<Utc>) -> Result<Vec<Memory>, StoreError> {
        let held = found.page.has_text_from_outside();
        let memory = |kind: MemoryKind, persona: Option<PersonaSlug>, text: String, tags| Memory {
            id: memory_id(kind, persona.as_ref(), &text),
            persona,
            tags,
            significance: SIGNIFICANCE,
            held,
            place: Scope::of(&meeting.channel).place().cloned(),
            ..Memory::new(kind, text, MemorySource::Meeting(meeting.id.clone()), now)
        };
        let lessons =
            found.conclusion.lessons.iter().map(|(persona, text)| memory(MemoryKind::Lesson, persona.clone(), text.clone(), Vec::new()));
        let disagreements = found.cross_check.tensions.iter().map(|tension| {
            let mut personas: Vec<_> = tension.sides.iter().flatten().map(|claim| claim.by.to_string()).collect();
            personas.sort();
            personas.dedup();
            memory(MemoryKind::Disagreement, None, render::render_tension(tension, &self.deps.roster), personas)
        });
        let mut memories: Vec<Memory> = lessons.chain(disagreements).collect();
        for memory in &mut memories {
            // A known lesson keeps its id, so that it is not stored again.
            if let Some(known) = self.deps.store.find_duplicate(memory).await? {
                (memory.id, memory.held) = (known.id, known.held);
            }
        }
        Ok(memories)
    }

    /// What was done since the last report. An action that says the same was proposed from old material.
    async fn list_done(&self, meeting: &Meeting, last: Option<&DayReport>) -> Result<Vec<(WorkItemId, String)>, StoreError> {
        let since = last.map_or(meeting.called_at - TimeDelta::days(1), |last| last.written_at);
        let scope = Scope::of(&meeting.channel);
        let changes = self.deps.store.list_items_changed(since, self.deps.clock.now()).await?;
        let is_done = |change: &ItemChange| change.to == WorkStatus::Done && scope.hears(change.item.private_to.as_ref());
        Ok(changes.into_iter().filter(is_done).map(|change| (change.item.id, change.item.what)).collect())
    }

    /// The status changes of work items since the previous report, one line each.
    pub(super) async fn list_moved(&self, meeting: &Meeting, last: Option<&DayReport>) -> Result<Vec<String>, StoreError> {
        let Some(last) = last else { return Ok(Vec::new()) };
        let mut moved = self.deps.store.list_items_changed(last.written_at, meeting.called_at).await?;
        let scope = Scope::of(&meeting.channel);
        moved.retain(|change| scope.hears(change.item.private_to.as_ref()));
        let mut lines: Vec<String> = moved.iter().take(MOVED).map(|change| render::render_moved(change, &self.deps.roster)).collect();
        if let Some(more) = moved.len().checked_sub(MOVED).filter(|more| *more > 0) {
            lines.push(format!("and {more} more"));
        }
        Ok(lines)
    }
}

/// Asks whether a lesson that waits for a person may be used. None for other memories.
fn offer(meeting: &Meeting, memory: &Memory) -> Option<OutboundMessage> {
    if memory.kind != MemoryKind::Lesson {
        return None;
    }
    let mut message = say(meeting, OutboundKind::Notice, "From this standup:".to_owned());
    offer_lesson(&mut message, Some(memory));
    (!message.buttons.is_empty()).then_some(message)
}

/// The backlog rows of accepted actions.
fn make_items(meeting: &Meeting, accepted: &[AcceptedAction], now: DateTime<Utc>) -> Vec<WorkItem> {
    let called_by = match &meeting.called_by {
        CalledBy::Person { id, name, .. } => Some((id.clone(), name.clone())),
        CalledBy::Schedule { .. } | CalledBy::CommandLine => None,
    };
    let origin = Origin::Meeting(MeetingOrigin { id: meeting.id.clone(), called_by });
    let item = |action: &AcceptedAction| {
        let AcceptedAction { what, how, why, owner, urgency, execution } = action.clone();
        let channel = Some(meeting.channel.id.clone());
        let private_to = Scope::of(&meeting.channel).place().cloned();
        WorkItem { how, why, urgency, execution, channel, private_to, ..WorkItem::new(what, owner, origin.clone(), now) }
    };
    accepted.iter().map(item).collect()
}

impl Position {
    /// The prediction to store: a new call, or the result of an earlier one. None if the result is stored already.
    pub(super) fn prediction(&self, meeting: &Meeting, now: DateTime<Utc>) -> Option<Prediction> {
        match &self.terms.earlier {
            Some(earlier) if earlier.settled.is_some() => None,
            Some(earlier) if self.settled.is_some() => Some(Prediction { settled: self.settled.clone(), ..earlier.clone() }),
            _ => Some(Prediction { settled: self.settled.clone(), ..prediction_of(meeting, &self.call, &self.terms, now) }),
        }
    }
}

fn prediction_of(meeting: &Meeting, call: &Call, terms: &Terms, now: DateTime<Utc>) -> Prediction {
    Prediction {
        id: PredictionId::generate(),
        meeting: meeting.id.clone(),
        channel: meeting.channel.id.clone(),
        question: terms.text.clone(),
        call: call.clone(),
        rule: terms.rule.clone(),
        base: terms.base,
        made_at: now,
        expires_at: terms.expires_at,
        settled: None,
    }
}

/// The same words of the same persona are one memory, even if they are repeated.
fn memory_id(kind: MemoryKind, persona: Option<&PersonaSlug>, text: &str) -> MemoryId {
    let whose = persona.map_or("", PersonaSlug::as_str);
    let digest = Sha256::digest(format!("{}\n{whose}\n{}", kind.as_str(), text::essence(text)));
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    MemoryId::new(Uuid::from_bytes(half).simple().to_string())
}
