//! The recording of a standup as text: who opened it, the reports, the call, the summary, and the actions.

use async_trait::async_trait;

use crate::features::meeting::model::{Meeting, Participant};
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::model::report::{Contributed, DayReport};
use crate::features::standup::render;
use crate::features::standup::store::StoredReport;
use crate::features::voice::{Chapter, Playable, Script};
use kernel::chat::message::Place;
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Placement};
use kernel::commands::{CommandCall, Late, parse_date, refuse};
use kernel::ids::{MeetingId, PersonaSlug};

pub(super) const KIND: &str = "standup";

pub(super) struct StandupAudio {
    pub(super) standups: Late<StandupCommands>,
}

#[async_trait]
impl Playable for StandupAudio {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// Finds the report of a day in the channel of the call.
    async fn find_asked(&self, call: &CommandCall) -> anyhow::Result<String> {
        let standups = self.standups.get()?;
        let today = standups.today();
        let day = call.arguments.find_text("id").map(|day| parse_date(day, today)).transpose()?;
        let here = call.channel.as_ref().map(|channel| match &channel.place {
            Place::Thread { parent, .. } => parent,
            _ => &channel.id,
        });
        let found = match (here, day) {
            (Some(here), Some(day)) => standups.store.find_report(here, day).await?,
            (Some(here), None) => standups.store.find_last_report(here, today).await?,
            (None, Some(day)) => Some(standups.get_report(day, None).await?),
            (None, None) => standups.store.list_reports(1).await?.pop(),
        };
        match found {
            Some(found) => Ok(found.report.meeting.to_string()),
            None => Ok(refuse("there is no Day Report here yet. `/standup start` makes one")?),
        }
    }

    /// A report that was revised since is played in its current form.
    async fn find_script(&self, id: &str) -> anyhow::Result<Option<Script>> {
        let standups = self.standups.get()?;
        let Some(meeting) = standups.store.find_meeting(&MeetingId::new(id)).await? else { return Ok(None) };
        let found = standups.store.find_report(&meeting.channel.id, meeting.day).await?;
        Ok(found.map(|found| script(&meeting, &found, standups.roster.name_of(&meeting.facilitator))))
    }
}

fn script(meeting: &Meeting, stored: &StoredReport, facilitator: &str) -> Script {
    let report = &stored.report;
    let title = format!("Standup of {}", report.day.format("%a %-d %b %Y"));
    let says = |who: &PersonaSlug, name: &str, text: String| Chapter { who: Some(who.clone()), name: name.to_owned(), text };
    let opening = format!("This is the standup of {}, in {}.", report.day.format("%A, %-d %B"), report.channel_name);
    let mut chapters = vec![says(&meeting.facilitator, facilitator, opening)];
    chapters.extend(report.contributions.iter().filter_map(chapter));
    // Without a model, the report of the call's persona already contains the call.
    if let Ok(call) = &report.call
        && call.settled.is_none()
        && report.model.is_some()
    {
        chapters.push(says(&call.call.by, &call.by_name, render::render_call(call, report.question.as_deref(), report.zone)));
    }
    chapters.push(says(&meeting.facilitator, facilitator, closing(report)));
    let message = OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, "");
    let place = Placement::Thread { on: stored.post.clone(), name: format!("Day Report {}", report.day) };
    Script {
        id: report.meeting.to_string(),
        title,
        file: format!("standup-{}", report.day),
        chapters,
        message: OutboundMessage { place, ..message },
    }
}

/// None for a participant who said nothing.
fn chapter(said: &Contributed) -> Option<Chapter> {
    let who = if let Participant::Persona(slug) = &said.who { Some(slug.clone()) } else { None };
    Some(Chapter { who, name: said.name.clone(), text: said.text.clone()? })
}

/// Makes a paragraph of each sentence, so that there is a pause between sentences.
fn closing(report: &DayReport) -> String {
    let mut lines = vec!["In short:".to_owned()];
    lines.extend(report.tldr.iter().cloned());
    if !report.actions.is_empty() {
        lines.push("What follows:".to_owned());
        lines.extend(report.actions.iter().map(|action| format!("{}: {}", action.owner, action.what)));
    }
    lines.join("\n\n")
}
