//! `teamroom report [DATE]`, short for `report show`. It can print the Markdown of the file.

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::config::PLATFORM;
use crate::features::standup::commands::{StandupCommands, show_report};
use crate::features::standup::render::render_report_markdown;
use crate::features::{Shown, TerminalCommand};
use kernel::commands::parse_date;
use kernel::ids::complete;

/// Accepts the date and the channel without a subcommand.
pub(super) fn extend_report(report: Command) -> Command {
    report
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

/// `report` without a subcommand.
pub(super) fn find(given: &ArgMatches) -> Option<TerminalCommand> {
    let ("report", report) = given.subcommand()? else { return None };
    if report.subcommand().is_some() {
        return None;
    }
    let text = |name: &str| report.get_one::<String>(name).cloned();
    let (date, channel, as_markdown) = (text("date").unwrap_or_default(), text("channel"), report.get_flag("markdown"));
    Some(Box::new(move |services| {
        Box::pin(async move {
            let standups = services.late::<StandupCommands>().get()?;
            let day = parse_date(&date, standups.today())?;
            let channel = channel.map(|channel| complete(PLATFORM, &channel).into_owned());
            let found = standups.get_report(day, channel.as_deref()).await?.report;
            Ok(if as_markdown { Shown::Raw(render_report_markdown(&found)) } else { Shown::Reply(show_report(&found)?) })
        })
    }))
}

#[cfg(test)]
mod tests {
    use crate::cli::tests::parse;

    #[test]
    fn standups_are_held_and_reports_are_read_at_the_command_line() {
        for args in [
            &["standup", "show"][..],
            &["standup", "run", "--channel", "ops"],
            &["standup", "run", "--json"],
            &["report"],
            &["report", "2026-03-31", "--markdown"],
            &["report", "today", "--json"],
            &["report", "show", "2026-03-31"],
        ] {
            assert!(parse(args).is_ok(), "{args:?}: {}", parse(args).unwrap_err());
        }
        assert!(parse(&["report", "today", "--markdown", "--json"]).is_err());
    }
}
