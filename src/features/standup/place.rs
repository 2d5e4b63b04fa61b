//! The answers to questions about standups in a channel: when the next one starts, and how the last one went.

use crate::features::schedule::Schedule;
use crate::features::schedule::model::JobAction;
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::{LINE, STANDUP};
use kernel::agent::PlaceNote;
use kernel::chat::message::{Channel, ChannelKind};
use kernel::db::StoreError;
use kernel::text::one_line;
use kernel::time::Today;

const NEXT: &str = "next standup daily start begin when schedule time";
const LAST: &str = "last previous standup day report outcome result go went happen say said decide summary";

impl StandupCommands {
    /// The last standup of the channel, and its next one. Where none is held, only the team's next one, because a report stays in its channel.
    pub(super) async fn describe_place(
        &self,
        channel: &Channel,
        kind: ChannelKind,
        schedule: Option<&Schedule>,
    ) -> Result<Vec<PlaceNote>, StoreError> {
        let today = Today { now: self.clock.now(), zone: self.terms.zone };
        let next = self.find_next(channel, kind, schedule, today).await?;
        let mut notes: Vec<PlaceNote> = next.into_iter().collect();
        let last = self.describe_last(channel, today).await?;
        let last = last.or_else(|| (kind == ChannelKind::Standup).then(|| NONE_HELD.to_owned()));
        notes.extend(last.map(|text| PlaceNote { text, asked_by: LAST, is_of_place: true }));
        Ok(notes)
    }

    async fn find_next(
        &self,
        channel: &Channel,
        kind: ChannelKind,
        schedule: Option<&Schedule>,
        today: Today,
    ) -> Result<Option<PlaceNote>, StoreError> {
        let note = |text: String, is_of_place: bool| Some(PlaceNote { text, asked_by: NEXT, is_of_place });
        if let Some(open) = self.store.find_open_meeting(&channel.id, &STANDUP).await? {
            return Ok(note(format!("A standup is running here since {}.", today.show(open.called_at)), true));
        }
        let jobs = match schedule {
            Some(schedule) => schedule.list_planned().await?,
            None => return Ok(None),
        };
        let is_here = |name: &str| name == channel.id.as_str() || name.eq_ignore_ascii_case(&channel.name);
        let mut standups: Vec<_> = jobs.iter().filter(|planned| planned.job.action == JobAction::named(STANDUP.as_str())).collect();
        standups.sort_by_key(|planned| (!planned.job.channel.as_deref().is_some_and(is_here), planned.next.is_none(), planned.next));
        let first = standups.first().map(|planned| (*planned, planned.job.channel.as_deref().unwrap_or_default()));
        Ok(match first {
            Some((planned, name)) if is_here(name) => match (planned.next, &planned.paused_by) {
                (Some(next), _) => note(format!("The next standup here starts {}.", today.show(next)), true),
                (None, Some(by)) => {
                    let resume = format!("`/schedule resume {}` turns it on again", planned.job.name);
                    note(format!("No standup starts by itself here: {by} paused it, and {resume}."), true)
                }
                (None, None) => note(NONE_PLANNED.to_owned(), true),
            },
            _ if kind == ChannelKind::Standup => note(NONE_PLANNED.to_owned(), true),
            Some((planned, name)) if !name.contains(':') => {
                planned.next.and_then(|next| note(format!("The next standup starts {} in #{name}.", today.show(next)), false))
            }
            _ => None,
        })
    }

    async fn describe_last(&self, channel: &Channel, today: Today) -> Result<Option<String>, StoreError> {
        let day = today.now.with_timezone(&today.zone).date_naive();
        let Some(stored) = self.store.find_last_report(&channel.id, day).await? else {
            return Ok(None);
        };
        let report = stored.report;
        let mut lines = vec![format!("The last standup here: {}. Its Day Report in short:", report.day.format("%a %-d %b"))];
        lines.extend(report.tldr.iter().map(|line| format!("- {}", one_line(line, LINE))));
        lines.push(format!("`/report show {}` shows all of it.", report.day));
        Ok(Some(lines.join("\n")))
    }
}

const NONE_HELD: &str = "No standup was held here yet, so there is no Day Report.";
const NONE_PLANNED: &str = "No standup is scheduled here. \"Start the standup\" begins one now.";
