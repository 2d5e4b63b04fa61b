//! `/standup`, `/report`, `/predictions` and the rating buttons. They only use the database, so they also work beside a running team.

mod steering;

use std::sync::Arc;

use chrono::NaiveDate;
use serde_json::json;

use crate::features::meeting::model::Participant;
use crate::features::standup::StandupTerms;
use crate::features::standup::checkins::CHECKIN;
use crate::features::standup::model::prediction::Scoreboard;
use crate::features::standup::model::report::DayReport;
use crate::features::standup::opening::CALLS;
use crate::features::standup::render;
use crate::features::standup::store::StoredReport;
use crate::store::Store;
use kernel::chat::text::ChannelRef;
use kernel::commands::{
    ArgumentSpec, Caller, Choice, CommandCall, CommandReply, CommandSpec, Refused, Registry, Right, Services, Surface, Topic, refuse,
};
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

const STATES: &[Choice] = &[Choice::new("on", "on"), Choice::new("off", "off")];

/// The most predictions listed.
const LISTED: usize = 20;

pub struct StandupCommands {
    pub store: Store,
    pub roster: Arc<Roster>,
    pub terms: StandupTerms,
    /// The channel of the scheduled standup, for calls that come from no channel.
    pub scheduled_in: Option<String>,
    pub clock: SharedClock,
}

pub fn register(registry: &mut Registry, services: &Services) {
    let standups = services.late::<StandupCommands>();
    let channel = |about| ArgumentSpec::name_or_id("channel", 100, about).completed_by("channel").only_in(Surface::CommandLine);
    registry
        .group(CommandSpec::new("standup", "The daily standup of a channel.").listed_under(Topic::Meetings), &standups)
        .command(
            CommandSpec::new("start", "Start a standup now.")
                .example("--channel daily-standup")
                .changes()
                .argument(channel("Channel by name or id; by default that of the scheduled standup")),
            |standups, call| Box::pin(standups.start(call)),
        )
        .command(CommandSpec::new("status", "Show who has spoken, who is next and how long it has run."), |standups, call| {
            Box::pin(standups.show_status(call))
        })
        .command(
            CommandSpec::new("skip", "Skip somebody who has not spoken yet.")
                .example("vince")
                .public()
                .argument(ArgumentSpec::persona("persona", "The persona or person to skip").required()),
            |standups, call| Box::pin(standups.skip(call)),
        )
        .command(
            CommandSpec::new("checkin", "Be asked by direct message before the standups of this channel, or not any more.")
                .changes()
                .only_in(Surface::Chat)
                .argument(ArgumentSpec::choice("state", STATES, "Whether you are asked").required()),
            |standups, call| Box::pin(standups.opt(call)),
        )
        .command(
            CommandSpec::new("away", "Tell that you are away, so that standups do not ask you for a report.")
                .changes()
                .only_in(Surface::Chat)
                .argument(
                    ArgumentSpec::text("until", 60, "The day or time you are back, or the days: Thursday, in two weeks, Monday to Friday")
                        .required(),
                ),
            |standups, call| Box::pin(standups.be_away(call)),
        )
        .command(
            CommandSpec::new("back", "Tell that you are back, so that standups ask you again.").changes().only_in(Surface::Chat),
            |standups, call| Box::pin(standups.be_back(call)),
        )
        .command(CommandSpec::new("pause", "Pause the standup after the current speaker.").public(), |standups, call| {
            Box::pin(standups.pause(call))
        })
        .command(CommandSpec::new("resume", "Continue a paused standup.").public(), |standups, call| Box::pin(standups.resume(call)))
        .command(CommandSpec::new("wrap", "End the standup now and write the Day Report.").public(), |standups, call| {
            Box::pin(standups.wrap(call))
        })
        .command(CommandSpec::new("cancel", "Stop the standup without a Day Report.").discards().operators_only(), |standups, call| {
            Box::pin(standups.cancel(call))
        });
    registry
        .group(CommandSpec::new("report", "Day Reports of standups.").listed_under(Topic::Meetings), &standups)
        .command(
            CommandSpec::new("today", "Show today's Day Report.")
                .example("--channel daily-standup")
                .argument(channel("Channel by name or id; by default the latest report")),
            |standups, call| Box::pin(standups.show_report(call)),
        )
        .command(
            CommandSpec::new("show", "Show the Day Report of a day.")
                .example("2026-03-31")
                .argument(ArgumentSpec::date("date", "The day, such as 2026-03-31").required())
                .argument(channel("Channel by name or id; by default the latest report")),
            |standups, call| Box::pin(standups.show_report(call)),
        );
    registry
        .group(CommandSpec::new("predictions", "Predictions from standups and their results.").listed_under(Topic::Meetings), &standups)
        .command(CommandSpec::new("list", "List the latest predictions and their results."), |standups, _| {
            Box::pin(standups.list_predictions())
        })
        .command(CommandSpec::new("score", "Show how accurate the predictions are."), |standups, _| Box::pin(standups.show_score()));
    registry.button_for(Right::Own, CHECKIN, &standups, |standups, call| Box::pin(standups.press_checkin(call)));
    registry.button("rate", &standups, |standups, call| Box::pin(standups.rate(call)));
}

impl StandupCommands {
    pub(super) fn today(&self) -> NaiveDate {
        self.clock.now().with_timezone(&self.terms.zone).date_naive()
    }

    async fn show_report(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let today = self.today();
        let day = call.arguments.find_date("date", today)?.unwrap_or(today);
        if call.caller.is_command_line() {
            let stored = self.get_report(day, call.arguments.find_text("channel")).await?;
            return show_report(&stored.report);
        }
        let here = &call.get_channel()?.id;
        if let Some(stored) = self.store.find_report(here, day).await? {
            return Ok(CommandReply::private(render_whole(&stored.report)));
        }
        // Reports of a channel are shown only in that channel.
        let other = self.store.list_reports_of(day).await?.into_iter().next();
        Ok(CommandReply::refused(match other {
            Some(other) => format!("The report of {day} is in {}. Use the command there.", ChannelRef(&other.report.channel)),
            None if day == today => "There is no report for today yet. Start a standup with `/standup start`.".to_owned(),
            None => format!("There is no report of {day}."),
        }))
    }

    /// The report of a day in a channel, or the latest one.
    ///
    /// # Errors
    /// There is none.
    pub async fn get_report(&self, day: NaiveDate, channel: Option<&str>) -> anyhow::Result<StoredReport> {
        let reports = self.store.list_reports_of(day).await?;
        let known: Vec<_> = reports.iter().map(|stored| format!("#{}", stored.report.channel_name)).collect();
        let channel = channel.map(|channel| channel.trim().trim_start_matches('#'));
        let is_meant = |report: &DayReport| {
            channel.is_none_or(|channel| report.channel.as_str() == channel || report.channel_name.eq_ignore_ascii_case(channel))
        };
        if let Some(found) = reports.into_iter().find(|stored| is_meant(&stored.report)) {
            return Ok(found);
        }
        let why = if let Some(channel) = channel.filter(|_| !known.is_empty()) {
            format!("there is no Day Report of {day} in #{channel}. There is one in {}", known.join(", "))
        } else {
            let last = self.store.list_reports(1).await?.pop().map(|last| format!(". The last one is of {}", last.report.day));
            let hint = last.unwrap_or_else(|| ". Start a standup with `teamroom standup run`".into());
            format!("there is no Day Report of {day} in {}{hint}", self.store.place())
        };
        Err(Refused::new(why).into())
    }

    async fn list_predictions(&self) -> anyhow::Result<CommandReply> {
        let (now, predictions) = (self.clock.now(), self.store.list_predictions(CALLS).await?);
        let listed = &predictions[..predictions.len().min(LISTED)];
        let text = render::render_predictions(listed, &Scoreboard::of(&predictions, now), self.roster.today(now));
        Ok(CommandReply::private(text).with_data(json!(listed)))
    }

    async fn show_score(&self) -> anyhow::Result<CommandReply> {
        let scoreboard = Scoreboard::of(&self.store.list_predictions(CALLS).await?, self.clock.now());
        Ok(CommandReply::private(render::render_scoreboard(&scoreboard)).with_data(json!(scoreboard)))
    }

    /// Handles the rating buttons: `rate:<meeting>:<round>:<position>:useful`.
    async fn rate(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let (["rate", meeting, round, position, useful @ ("useful" | "useless")], Caller::Person { id, .. }) =
            (&call.name.split(':').collect::<Vec<_>>()[..], &call.caller)
        else {
            return Ok(refuse("this button no longer works")?);
        };
        let seats = self.store.list_seats(&(*meeting).into()).await?;
        let seat = seats.iter().find(|seat| seat.round.to_string() == *round && seat.position.to_string() == *position);
        let Some(Participant::Persona(persona)) = seat.map(|seat| &seat.who) else {
            return Ok(refuse("that report no longer exists")?);
        };
        let useful = *useful == "useful";
        self.store.rate(&format!("{meeting}/{round}/{position}"), persona, id, useful, self.clock.now()).await?;
        let name = self.roster.name_of(persona);
        Ok(CommandReply::private(format!("Noted: {} for {name}.", if useful { "useful" } else { "not useful" })))
    }
}

/// A report for the command line: the content of its file without the front matter, which is for programs.
pub(super) fn show_report(report: &DayReport) -> anyhow::Result<CommandReply> {
    let file = render::render_report_markdown(report);
    let text = file.split_once("\n---\n").map_or(file.as_str(), |(_, text)| text).trim();
    Ok(CommandReply::private(text).with_data(serde_json::to_value(report)?))
}

/// The card and its thread as one text.
fn render_whole(report: &DayReport) -> String {
    let card = render::render_report_card(report);
    let fields = card.fields.iter().map(|field| format!("**{}**\n{}", field.name, field.value));
    let parts = [format!("**{}**\n{}", card.title, card.text)].into_iter().chain(fields);
    parts.chain(render::render_report_sections(report)).collect::<Vec<_>>().join("\n\n")
}
