//! `/costs`: what the models have cost, by week, day, persona, purpose, model and item.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use chrono::{Datelike as _, NaiveDate, NaiveTime, TimeDelta};
use futures_util::future::BoxFuture;
use kernel::chat::medium::{Medium, shorten};
use kernel::commands::{CommandCall, CommandReply};
use kernel::money::{CostGroup, CostLine, Money};
use kernel::persona::roster::Roster;
use serde_json::{Value, json};

use crate::features::chat::commands::ChatCommands;

/// The most lines of a group. A month has up to 31 days. Items can be many more, and the most expensive ones come first.
const LINES: usize = 31;

/// Characters of an item's title.
const TITLE: usize = 60;

/// The titles of items by their ids, as far as everybody may read them. The feature that has the items provides it.
pub struct ItemTitles(pub Box<FindTitles>);

type FindTitles = dyn Fn(Vec<String>) -> BoxFuture<'static, HashMap<String, String>> + Send + Sync;

/// A table of the report: its heading and its rows, each with a name for people.
struct Table {
    label: &'static str,
    rows: Vec<(String, CostLine)>,
}

impl ChatCommands {
    pub(super) async fn costs(&self, call: &CommandCall, titles: Option<Arc<ItemTitles>>) -> anyhow::Result<CommandReply> {
        if let Some(dollars) = call.arguments.find_number("raise") {
            return self.raise_budget(call, dollars).await;
        }
        let days = match call.arguments.find_text("since") {
            Some("week") => 6,
            Some("month") => 29,
            _ => 0,
        };
        let now = self.clock.now();
        // A day of the ledger and of budgets, which is in UTC.
        let since = (now - TimeDelta::days(days)).date_naive().and_time(NaiveTime::MIN).and_utc();
        let mut tables = Vec::new();
        let mut by = serde_json::Map::new();
        for group in [CostGroup::Persona, CostGroup::Purpose, CostGroup::Model, CostGroup::Item, CostGroup::Day] {
            // Today is a single day, so it is not split into days.
            if group == CostGroup::Day && days == 0 {
                continue;
            }
            let lines = self.store.costs(since, now, group).await?;
            if group == CostGroup::Day && days > 6 {
                tables.push(add_weeks(&mut by, &lines));
            }
            let rows = self.name_rows(group, lines, titles.as_deref()).await;
            by.insert(group.as_str().to_owned(), rows.iter().map(describe).collect());
            tables.push(Table { label: label(group), rows });
        }
        let mut text = render(&self.roster.show_time(since), &tables);
        if let Some(unpriced) = self.agents.as_ref().and_then(|agents| agents.describe_unpriced()) {
            let _ = writeln!(text, "\n{unpriced}");
        }
        Ok(CommandReply::private(text).with_data(json!({ "since": since, "by": by })))
    }

    async fn name_rows(&self, group: CostGroup, lines: Vec<CostLine>, titles: Option<&ItemTitles>) -> Vec<(String, CostLine)> {
        let found = match (group, titles) {
            (CostGroup::Item, Some(titles)) => titles.0(lines.iter().take(LINES).map(|line| line.key.clone()).collect()).await,
            _ => HashMap::new(),
        };
        lines.into_iter().map(|line| (name(group, &line.key, &self.roster, &found), line)).collect()
    }
}

fn label(group: CostGroup) -> &'static str {
    match group {
        CostGroup::Day => "Day",
        CostGroup::Persona => "Persona",
        CostGroup::Purpose => "Used for",
        CostGroup::Model => "Model",
        CostGroup::Item => "Item",
    }
}

/// What people call a persona, a purpose, a day or an item.
fn name(group: CostGroup, key: &str, roster: &Roster, titles: &HashMap<String, String>) -> String {
    match group {
        CostGroup::Persona if key == "none" => "the team".to_owned(),
        CostGroup::Persona => roster.name_of(&key.into()).to_owned(),
        CostGroup::Purpose => name_of_purpose(key).to_owned(),
        CostGroup::Model => key.to_owned(),
        CostGroup::Day => key.parse().map_or_else(|_| key.to_owned(), |day: NaiveDate| day.format("%a %-d %b").to_string()),
        CostGroup::Item => {
            let title = titles.get(key).map(|title| format!("{} ", Medium::Chat.cell(&shorten(title, TITLE))));
            let short = key.get(key.len().saturating_sub(6)..).unwrap_or(key);
            format!("{}(#{short})", title.unwrap_or_default())
        }
    }
}

fn name_of_purpose(key: &str) -> &str {
    match key {
        "chat" => "answers",
        "ask" => "questions among colleagues",
        "standup" => "standups",
        "step" => "work on items",
        "routing" => "who is meant",
        "board" => "board meetings",
        "overwatch" => "looking back",
        other => other,
    }
}

/// Adds the weeks of these days, from Monday to Sunday, to the data.
fn add_weeks(by: &mut serde_json::Map<String, Value>, days: &[CostLine]) -> Table {
    let mut rows: Vec<(String, CostLine)> = Vec::new();
    for line in days {
        let Ok(day) = line.key.parse::<NaiveDate>() else { continue };
        let monday = day - TimeDelta::days(day.weekday().num_days_from_monday().into());
        let key = monday.to_string();
        if let Some((_, week)) = rows.last_mut().filter(|(_, week)| week.key == key) {
            week.calls += line.calls;
            week.estimated += line.estimated;
            week.usage.input += line.usage.input;
            week.usage.cached += line.usage.cached;
            week.usage.output += line.usage.output;
            week.cost = Money(week.cost.0 + line.cost.0);
        } else {
            let sunday = monday + TimeDelta::days(6);
            rows.push((format!("{} to {}", monday.format("%-d %b"), sunday.format("%-d %b")), CostLine { key, ..line.clone() }));
        }
    }
    by.insert("week".to_owned(), rows.iter().map(describe).collect());
    Table { label: "Week", rows }
}

fn describe((name, line): &(String, CostLine)) -> Value {
    let usage = line.usage;
    json!({
        "key": line.key, "name": name, "calls": line.calls, "estimated": line.estimated, "input": usage.input, "cached": usage.cached,
        "output": usage.output, "dollars": line.cost.dollars(),
    })
}

fn render(since: &str, tables: &[Table]) -> String {
    // Each call is in the first table.
    let all = || tables.first().into_iter().flat_map(|table| &table.rows).map(|(_, line)| line);
    let total: Money = all().map(|line| line.cost).sum();
    if all().next().is_none() {
        return format!("Since {since}: **{total}**. No model was called.\n");
    }
    let mut text = format!("Since {since}: **{total}**\n");
    for Table { label, rows } in tables.iter().filter(|table| !table.rows.is_empty()) {
        let _ = writeln!(text, "\n| {label} | calls | tokens in | cached | out | cost |\n| --- | ---: | ---: | ---: | ---: | ---: |");
        for (name, line) in rows.iter().take(LINES) {
            let (usage, about) = (line.usage, if line.estimated > 0 { "≈ " } else { "" });
            let (input, cached, output) = (usage.input, usage.cached, usage.output);
            let _ = writeln!(text, "| {name} | {} | {input} | {cached} | {output} | {about}{} |", line.calls, line.cost);
        }
        if let Some(more) = rows.len().checked_sub(LINES).filter(|more| *more > 0) {
            let _ = writeln!(text, "\n{more} more cost less.");
        }
    }
    let estimated: u64 = all().map(|line| line.estimated).sum();
    if estimated > 0 {
        let calls = if estimated == 1 { "1 call is an estimate".to_owned() } else { format!("{estimated} calls are estimates") };
        let _ = writeln!(text, "\n≈ {calls}, because the endpoint did not count the tokens or the call did not end.");
    }
    text
}

#[cfg(test)]
mod tests {
    use kernel::money::TokenUsage;
    use kernel::testing::persona::roster;

    use super::*;

    fn line(key: &str, cost: i64) -> CostLine {
        CostLine { key: key.into(), calls: 1, estimated: 0, usage: TokenUsage { input: 10, cached: 0, output: 2 }, cost: Money(cost) }
    }

    #[test]
    fn rows_have_names_and_items_keep_their_short_id() {
        let titles = HashMap::from([("01aaaabbbbcc".to_owned(), "Renew the | _main_ certificate".to_owned())]);
        let named = |group, key| name(group, key, &roster(), &titles);
        assert_eq!(named(CostGroup::Persona, "vince"), "Vince");
        assert_eq!(named(CostGroup::Persona, "none"), "the team");
        assert_eq!(named(CostGroup::Purpose, "step"), "work on items");
        assert_eq!(named(CostGroup::Day, "2026-11-27"), "Fri 27 Nov");
        assert_eq!(named(CostGroup::Item, "01aaaabbbbcc"), "Renew the \\| _main_ certificate (#bbbbcc)");
        assert_eq!(named(CostGroup::Item, "01ddddeeeeff"), "(#eeeeff)");
    }

    #[test]
    fn days_are_summed_by_weeks_from_monday_to_sunday() {
        let mut by = serde_json::Map::new();
        let days = ["2026-11-22", "2026-11-23", "2026-11-29", "2026-11-30"].map(|day| line(day, 1_000_000));
        let weeks = add_weeks(&mut by, &days);
        let shown: Vec<_> = weeks.rows.iter().map(|(name, week)| (name.as_str(), week.calls, week.cost.0)).collect();
        assert_eq!(shown, [("16 Nov to 22 Nov", 1, 1_000_000), ("23 Nov to 29 Nov", 2, 2_000_000), ("30 Nov to 6 Dec", 1, 1_000_000)]);
        assert_eq!(by["week"][1]["input"], 20);
        let text = render("Mon", &[Table { label: "Persona", rows: vec![("Vince".into(), line("vince", 4_000_000))] }, weeks]);
        assert!(text.contains("| Week | calls |") && text.contains("| 23 Nov to 29 Nov | 2 |"), "{text}");
        assert_eq!(render("Mon", &[]), format!("Since Mon: **{}**. No model was called.\n", Money(0)));
    }
}
