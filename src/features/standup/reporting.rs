//! One report: the input of its speaker, and its post.

use crate::features::standup::turns::Turns;
use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{Owner, WorkItem};
use crate::features::backlog::store::ItemFilter;
use crate::features::meeting::agenda::Session;
use crate::features::meeting::model::{Contribution, Meeting, Participant, Seat};
use crate::features::meeting::signal::Claim;
use crate::features::standup::Standup;
use crate::features::standup::model::page::SharedPage;
use crate::features::standup::model::tension;
use crate::features::standup::question::Terms;
use crate::features::standup::turns::ReportAsked;
use kernel::agent::RunError;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::Quote;
use kernel::memory::{Memory, Recall, Scope};

/// How many hints, open items and lessons a speaker is given.
const HINTS: usize = 5;
const ITEMS: u32 = 8;
const LESSONS: u32 = 5;
const FINDINGS: usize = 8;
const TOLD: usize = 12;

impl Standup {
    pub(super) async fn report(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        let Participant::Persona(persona) = &seat.who else { return Err(RunError::Nothing) };
        let store = &self.deps.store;
        let meeting = session.meeting;
        if store.is_paused(persona).await? {
            return Err(RunError::Paused);
        }
        let page = read_material(session)?;
        let last = store.find_last_report(&meeting.channel.id, meeting.day).await?.map(|last| last.report);
        let rated = store.count_ratings(persona, meeting.called_at - super::health::RATED).await?;
        let scoreboard = self.read_scoreboard().await?;
        let terms = self.set_terms(meeting, &page).await?;
        let scope = Scope::of(&meeting.channel);
        let items = self.list_open_items(persona, &scope).await?;
        let findings = self.list_findings(&page, &scope).await?;
        let asked = ReportAsked {
            persona,
            meeting,
            page: &page,
            before: &session.seats[..session.seats.iter().take_while(|before| before.position != seat.position).count()],
            hints: &tension::hints_for(persona, &tension::split_supported(claims_of(session.seats), &page).0, HINTS),
            lessons: &self.list_lessons(persona, &items, &scope).await?,
            items: &items,
            findings: &findings,
            told: &self.list_told(&page).await?,
            question: terms.as_ref().ok().map(Terms::asked),
            open_calls: &store.list_open_predictions().await?,
            scoreboard: &scoreboard,
            last_report: last.as_ref(),
            moved: &self.list_moved(meeting, last.as_ref()).await?,
            rated,
            delta_context: self.deps.standup.delta_context,
        };
        Turns::new(&self.deps.agents).report(&asked, cancel).await
    }

    /// What the team has found out since the last report, also since the page was read.
    pub(super) async fn list_findings(&self, page: &SharedPage, scope: &Scope) -> Result<Vec<Quote>, StoreError> {
        let now = self.deps.clock.now();
        let found = self.deps.store.list_findings(scope, page.since.max(now - TimeDelta::days(1))).await?;
        Ok(found.iter().take(FINDINGS).map(|finding| finding.quote(&self.deps.roster, now)).collect())
    }

    /// What people said in the channels since the last report, which nobody on the team answered.
    pub(super) async fn list_told(&self, page: &SharedPage) -> Result<Vec<Quote>, StoreError> {
        let now = self.deps.clock.now();
        let told = self.deps.store.list_told(page.since.max(now - TimeDelta::days(1)), TOLD).await?;
        Ok(told.iter().map(|told| told.quote(&self.deps.roster, now)).collect())
    }

    async fn list_open_items(&self, persona: &PersonaSlug, scope: &Scope) -> Result<Vec<WorkItem>, StoreError> {
        let owner = Owner::Persona(persona.clone());
        let own = ItemFilter { owner: Some(&owner), scope: Some(scope), ..ItemFilter::open(ITEMS) };
        self.deps.store.list_items(&own).await
    }

    /// Lessons for a speaker: first what people taught and lessons about the speaker's items, then the most significant of all.
    async fn list_lessons(&self, persona: &PersonaSlug, items: &[WorkItem], scope: &Scope) -> Result<Vec<Memory>, StoreError> {
        let store = &self.deps.store;
        let subjects: Vec<&str> = items.iter().map(|item| item.what.as_str()).collect();
        let subject = subjects.join("\n");
        let asked = Recall::new(&subject, scope, LESSONS as usize).of(persona);
        let mut lessons = store.recall_for_prompt(&asked).await?;
        for lesson in store.list_lessons_in(persona, scope, LESSONS).await? {
            if lessons.len() < LESSONS as usize && !lessons.contains(&lesson) {
                lessons.push(lesson);
            }
        }
        Ok(lessons)
    }

    /// A report from its persona's own account. A report with claims can be rated.
    pub(super) fn render_report(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage> {
        let Participant::Persona(persona) = &seat.who else { return Vec::new() };
        let pieces = self.cut(&meeting.channel.id, &contribution.text);
        let mut messages: Vec<OutboundMessage> =
            pieces.into_iter().map(|text| OutboundMessage::new(persona, &meeting.channel.id, OutboundKind::Report, text)).collect();
        if let Some(last) = messages.last_mut()
            && !contribution.signals.is_empty()
        {
            last.buttons = rating_buttons(meeting, seat);
        }
        messages
    }
}

/// Two buttons whose ids contain what is rated, so that they work after a restart.
fn rating_buttons(meeting: &Meeting, seat: &Seat) -> Vec<Button> {
    let button = |useful: &str, label: &str| Button {
        id: format!("rate:{}:{}:{}:{useful}", meeting.id, seat.round, seat.position),
        label: label.to_owned(),
        style: ButtonStyle::Secondary,
    };
    vec![button("useful", "Useful"), button("useless", "Not useful")]
}

/// All claims so far, in order.
pub(super) fn claims_of(seats: &[Seat]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for seat in seats {
        let (Participant::Persona(by), Some(contribution)) = (&seat.who, &seat.contribution) else { continue };
        claims.extend(contribution.signals.iter().map(|signal| Claim { by: by.clone(), signal: signal.clone() }));
    }
    claims
}

/// The shared page as it was stored.
pub(super) fn read_material(session: &Session<'_>) -> Result<SharedPage, StoreError> {
    serde_json::from_value(session.material.clone())
        .map_err(|error| StoreError::Corrupt(format!("the page of meeting {}: {error}", session.meeting.id)))
}
