//! Commands about standups: `/standup`, `/report`, `/predictions`, and the buttons below reports. Who may is decided before.

use async_trait::async_trait;
use chrono::NaiveDate;

use super::{Standup, render, say};
use crate::chat::command::{Command, CommandCall, CommandReply, Department, PredictionsView, ReportView, Standing, StandupCommand};
use crate::domain::meeting::{CalledBy, Meeting, MeetingState, Participant, Seat, SeatState};
use crate::domain::message::Place;
use crate::domain::outbound::OutboundKind;
use crate::domain::report::DayReport;
use crate::domain::signal::flatten;
use crate::store::{Called, HaltScope, StoreError};

/// How many predictions `/predictions list` shows.
const PREDICTIONS: u32 = 20;

#[async_trait]
impl Department for Standup {
    async fn carry(&self, call: &CommandCall, _: Standing) -> anyhow::Result<Option<CommandReply>> {
        Ok(match &call.command {
            Command::Standup(command) => Some(self.steer(call, command).await?),
            Command::Report(view) => Some(self.show_report(call, view).await?),
            Command::Predictions(view) => Some(self.show_predictions(*view).await?),
            Command::Press { button } => self.press(call, button).await?,
            _ => None,
        })
    }
}

impl Standup {
    async fn steer(&self, call: &CommandCall, command: &StandupCommand) -> anyhow::Result<CommandReply> {
        if *command == StandupCommand::Start {
            return Ok(self.call_standup(call).await?);
        }
        let Some(meeting) = self.parts.store.find_open_meeting(&call.channel.id).await? else {
            return Ok(CommandReply::refused("No standup is running here. `/standup start` begins one."));
        };
        let by = &flatten(&call.caller.name, 40);
        let now = self.parts.clock.now();
        let reply = match command {
            StandupCommand::Start | StandupCommand::Status => {
                let seats = self.parts.store.list_seats(&meeting.id).await?;
                CommandReply::private(render::render_standup_status(&meeting, &seats, &self.parts.roster))
            }
            StandupCommand::Skip { who } => self.skip(&meeting, who, by).await?,
            StandupCommand::Wrap => {
                self.parts.store.ask_wrap(&meeting.id, now).await?;
                CommandReply::public(format!("{by} wraps the standup up; the Day Report is next."))
            }
            StandupCommand::Cancel => {
                let said = say(&meeting, OutboundKind::Notice, format!("{by} cancelled the standup. There is no report of it."));
                self.parts.store.end_meeting(&meeting.id, MeetingState::Cancelled, &format!("{by} cancelled it"), &[said], now).await?;
                self.parts.relay.wake(&meeting.channel.id);
                CommandReply::private("The standup is cancelled.")
            }
        };
        self.parts.called.notify_one();
        Ok(reply)
    }

    async fn call_standup(&self, call: &CommandCall) -> Result<CommandReply, StoreError> {
        if call.channel.place == Place::Direct {
            return Ok(CommandReply::refused("A standup needs a channel in which all of us can speak."));
        }
        let caller = &call.caller;
        let concerned = [HaltScope::All, HaltScope::Channel(call.channel.id.clone())];
        if let Some(halt) = self.parts.store.list_halts().await?.into_iter().find(|halt| concerned.contains(&halt.scope)) {
            let text =
                format!("{} has halted us. An operator can change that with `/resume`; then start the standup.", flatten(&halt.by, 40));
            return Ok(CommandReply::refused(text));
        }
        let by = CalledBy::Person { id: caller.id.clone(), name: caller.name.clone(), message: None };
        let now = self.parts.clock.now();
        let meeting = self.parts.terms.call(call.channel.clone(), by, now);
        let outcome = self.parts.store.call_meeting(&meeting).await?;
        self.parts.called.notify_one();
        Ok(match outcome {
            Called::Opened => CommandReply::private("The standup begins."),
            Called::AlreadyOpen(running) => CommandReply::refused(render::render_already_running(&running)),
        })
    }

    async fn skip(&self, meeting: &Meeting, who: &str, by: &str) -> Result<CommandReply, StoreError> {
        let seats = self.parts.store.list_seats(&meeting.id).await?;
        let Some(seat) = self.find_seat(&seats, who) else {
            let names: Vec<_> = seats.iter().map(|seat| self.name_of(&seat.who)).collect();
            if seats.is_empty() {
                return Ok(CommandReply::refused("The standup is just beginning. Please try again in a moment."));
            }
            return Ok(CommandReply::refused(format!("Nobody called \"{}\" takes part; there are {}.", who.trim(), names.join(", "))));
        };
        let name = self.name_of(&seat.who);
        let skipped = self.parts.store.skip_seat(&meeting.id, &seat.who, &format!("{by} skipped it"), self.parts.clock.now()).await?;
        Ok(match (skipped, seat.state) {
            (true, _) => CommandReply::public(format!("{by} skips {name}.")),
            (false, SeatState::Skipped) => CommandReply::refused(format!("{name} is skipped already.")),
            (false, _) => CommandReply::refused(format!("{name} has spoken already.")),
        })
    }

    fn find_seat<'a>(&self, seats: &'a [Seat], who: &str) -> Option<&'a Seat> {
        let persona = self.parts.roster.resolve(who).ok().map(|persona| &persona.slug);
        seats.iter().find(|seat| match &seat.who {
            Participant::Persona(slug) => Some(slug) == persona,
            Participant::Person { name, .. } => name.eq_ignore_ascii_case(who.trim().trim_start_matches('@')),
        })
    }

    /// The report of a day in this channel, or where to ask for it.
    async fn show_report(&self, call: &CommandCall, view: &ReportView) -> anyhow::Result<CommandReply> {
        let today = self.parts.clock.now().with_timezone(&self.parts.terms.zone).date_naive();
        let day = match view {
            ReportView::Today => today,
            ReportView::Of { day } => match day.trim().parse::<NaiveDate>() {
                Ok(day) => day,
                Err(_) => return Ok(CommandReply::refused(format!("\"{}\" is no date. Write it as {today}.", day.trim()))),
            },
        };
        let found = self.parts.store.find_report(&call.channel.id, day).await?;
        if found.is_none()
            && let Some(other) = self.parts.store.list_reports_of(day).await?.into_iter().next()
        {
            // What was said in a channel is shown to those who are in it.
            return Ok(CommandReply::refused(format!("The report of {day} is in <#{}>; ask there.", other.report.channel)));
        }
        Ok(match found {
            Some(stored) => CommandReply::private(render_whole(&stored.report)),
            None if day == today => CommandReply::refused("There is no report of today yet. `/standup start` makes one."),
            None => CommandReply::refused(format!("There is no report of {day}.")),
        })
    }

    async fn show_predictions(&self, view: PredictionsView) -> anyhow::Result<CommandReply> {
        let scoreboard = self.read_scoreboard().await?;
        Ok(CommandReply::private(match view {
            PredictionsView::List => {
                let predictions = self.parts.store.list_predictions(PREDICTIONS).await?;
                render::render_predictions(&predictions, &scoreboard, self.parts.clock.now())
            }
            PredictionsView::Score => render::render_scoreboard(&scoreboard),
        }))
    }

    /// A rating; none when the button is another's.
    async fn press(&self, call: &CommandCall, button: &str) -> anyhow::Result<Option<CommandReply>> {
        let ["rate", meeting, round, position, useful @ ("useful" | "useless")] = button.split(':').collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let store = &self.parts.store;
        let seats = store.list_seats(&meeting.into()).await?;
        let seat = seats.iter().find(|seat| seat.round.to_string() == round && seat.position.to_string() == position);
        let Some(Participant::Persona(persona)) = seat.map(|seat| &seat.who) else {
            return Ok(Some(CommandReply::refused("I do not know that report any more.")));
        };
        let useful = useful == "useful";
        let subject = format!("{meeting}/{round}/{position}");
        store.rate(&subject, persona, &call.caller.id, useful, self.parts.clock.now()).await?;
        let name = self.parts.roster.name_of(persona);
        Ok(Some(CommandReply::private(format!("Noted: {} for {name}.", if useful { "useful" } else { "not useful" }))))
    }
}

/// The card and what stands in its thread, as one text.
fn render_whole(report: &DayReport) -> String {
    let card = render::render_report_embed(report);
    let fields = card.fields.iter().map(|field| format!("**{}**\n{}", field.name, field.value));
    let parts = [format!("**{}**\n{}", card.title, card.text)].into_iter().chain(fields);
    parts.chain(render::render_report_thread(report)).collect::<Vec<_>>().join("\n\n")
}
