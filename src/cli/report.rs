//! `teamroom report`: the Day Report of a day, beside a team that runs or without one.

use std::path::PathBuf;

use chrono::NaiveDate;

use super::setting;
use crate::clock::{Clock, SystemClock};
use crate::domain::report::DayReport;
use crate::meeting::standup::render::render_report_markdown;
use crate::store::{Store, StoredReport};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which day, such as 2026-03-31; today is that of the team's time zone.
    #[arg(default_value = "today")]
    date: String,
    /// Of which channel, by name or id; by default the one whose report was written last.
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Print JSON, as in reports/YYYY-MM-DD.json.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown with front matter, as in reports/YYYY-MM-DD.md.
    #[arg(long)]
    markdown: bool,
}

pub(super) async fn run(file: Option<PathBuf>, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(file)?;
    let now = SystemClock.now();
    let today = now.with_timezone(&config.schedules.zone).date_naive();
    let day = parse_day(&args.date, today)?;
    let store = Store::open_shared(&config.database_url, now).await?;
    let found = get_report(&store, day, args.channel.as_deref()).await;
    store.close().await;
    let report = found?.report;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else if args.markdown {
        print!("{}", render_report_markdown(&report));
    } else {
        print!("{}", render(&report));
    }
    Ok(())
}

/// A report for a person: what its file holds without the front matter, which is for programs.
pub(super) fn render(report: &DayReport) -> String {
    let file = render_report_markdown(report);
    file.split_once("\n---\n").map_or(file.as_str(), |(_, text)| text).trim_start().to_owned()
}

fn parse_day(given: &str, today: NaiveDate) -> anyhow::Result<NaiveDate> {
    let given = given.trim();
    if given.eq_ignore_ascii_case("today") {
        return Ok(today);
    }
    given.parse().map_err(|_| anyhow::anyhow!("\"{given}\" is no date; write it as {today}, or today"))
}

async fn get_report(store: &Store, day: NaiveDate, channel: Option<&str>) -> anyhow::Result<StoredReport> {
    let reports = store.list_reports_of(day).await?;
    if reports.is_empty() {
        let last = store.list_reports(1).await?.pop().map(|last| format!("; the last one is of {}", last.report.day));
        let hint = last.unwrap_or_else(|| "; `teamroom standup run` makes one".into());
        anyhow::bail!("there is no Day Report of {day} in {}{hint}", store.place());
    }
    let Some(channel) = channel.map(|channel| channel.trim().trim_start_matches('#')) else {
        return Ok(reports.into_iter().next().expect("one is there"));
    };
    let known: Vec<_> = reports.iter().map(|stored| format!("#{}", stored.report.channel_name)).collect();
    let is_meant = |report: &DayReport| report.channel.as_str() == channel || report.channel_name.eq_ignore_ascii_case(channel);
    reports
        .into_iter()
        .find(|stored| is_meant(&stored.report))
        .ok_or_else(|| anyhow::anyhow!("there is no Day Report of {day} in #{channel}; there is one in {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date_or_today() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
        assert_eq!(parse_day(" Today ", today).unwrap(), today);
        assert_eq!(parse_day("2026-11-19", today).unwrap(), today.pred_opt().unwrap());
        for bad in ["yesterday", "2026-02-30", "20.11.2026", ""] {
            let told = parse_day(bad, today).unwrap_err().to_string();
            assert_eq!(told, format!("\"{bad}\" is no date; write it as 2026-11-20, or today"));
        }
    }
}
