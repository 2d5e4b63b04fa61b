//! `teamroom report [DATE]`, short for `report show`. It can print the Markdown of the file.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;

use crate::cli::{Globals, generated, setting, terminal};
use crate::config::PLATFORM;
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::model::report::DayReport;
use crate::features::standup::render::render_report_markdown;
use kernel::commands::{CommandReply, parse_date};
use kernel::ids::complete;
use kernel::time::{Clock, SystemClock};

/// Accepts the date and the channel without a subcommand.
pub(super) fn extend(command: Command) -> Command {
    command
        .arg(Arg::new("date").value_name("DATE").default_value("today").help("Which day, such as 2026-03-31"))
        .arg(Arg::new("channel").long("channel").value_name("NAME").help("Of which channel, by name or id; by default the latest report"))
        .arg(
            Arg::new("markdown")
                .long("markdown")
                .action(ArgAction::SetTrue)
                .conflicts_with("json")
                .help("Print Markdown with front matter, as in reports/YYYY-MM-DD.md"),
        )
        .subcommand_required(false)
        .arg_required_else_help(false)
        .args_conflicts_with_subcommands(true)
}

pub(super) async fn run(globals: &Globals, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let config = setting::read_config(globals)?;
    let today = SystemClock.now().with_timezone(&config.schedules.zone).date_naive();
    let as_json = matches.get_flag("json");
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let day = match parse_date(text("date").unwrap_or("today"), today) {
        Ok(day) => day,
        Err(refused) => return generated::answer(Err(refused.into()), as_json),
    };
    let beside = generated::open(&config).await?;
    let reports = beside.services.late::<StandupCommands>().get()?;
    let channel = text("channel").map(|channel| complete(PLATFORM, channel));
    let found = reports.get_report(day, channel.as_deref()).await;
    beside.store.close().await;
    match found {
        Ok(found) if matches.get_flag("markdown") => {
            print!("{}", render_report_markdown(&found.report));
            Ok(ExitCode::SUCCESS)
        }
        found => generated::answer(found.map(|found| describe(&found.report)), as_json),
    }
}

fn describe(report: &DayReport) -> CommandReply {
    CommandReply::private(render(report)).with_data(serde_json::to_value(report).unwrap_or(Value::Null))
}

/// A report for a person: the content of its file without the front matter, which is for programs.
pub(super) fn render(report: &DayReport) -> String {
    let file = render_report_markdown(report);
    terminal::plain(file.split_once("\n---\n").map_or(file.as_str(), |(_, text)| text).trim())
}
