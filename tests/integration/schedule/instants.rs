//! Computed firing times against an independent implementation.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use teamroom::features::schedule::model::Timetable;

use super::utc;
use crate::support::skip;

/// Both hemispheres, unusual offsets, unusual clock changes, and none.
const ZONES: [&str; 20] = [
    "UTC",
    "America/New_York",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Nuuk",
    "Europe/London",
    "Europe/Berlin",
    "Europe/Chisinau",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Jerusalem",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "Pacific/Apia",
    "Antarctica/Troll",
];

/// Fixed times on working days, in gaps and overlaps, at midnight, several per day; intervals.
const CRONS: [&str; 8] =
    ["0 9 * * 1-5", "30 2 * * *", "0 0 * * *", "15,45 0-3 * * 0,6", "30 23 13 * 5", "0 8 1-7 3,4,10,11 *", "45 */3 * * *", "*/30 1 * * *"];

#[test]
fn instants_of_two_years_in_twenty_zones_are_those_of_an_independent_computation() {
    let (since, until) = (utc("2026-01-01T00:00:00Z"), utc("2028-01-01T00:00:00Z"));
    let cases: Vec<_> = ZONES.iter().flat_map(|zone| CRONS.iter().map(move |cron| (*cron, *zone))).collect();
    let Some(expected) = second_opinion(&cases, since, until) else { return };
    let mut compared = 0;
    let mut wrong = BTreeMap::new();
    for ((cron, zone), expected) in cases.into_iter().zip(expected) {
        let timetable = Timetable::parse(cron, Timetable::parse_zone(zone).unwrap()).unwrap();
        let (after, before) = (since - TimeDelta::seconds(1), until - TimeDelta::seconds(1));
        let found: Vec<_> = timetable.instants_between(after, before, usize::MAX).iter().map(DateTime::timestamp).collect();
        compared += expected.len();
        let show = |instant: &i64| DateTime::<Utc>::from_timestamp(*instant, 0).unwrap().with_timezone(&timetable.zone()).to_rfc3339();
        if found != expected {
            let extra: Vec<_> = found.iter().filter(|instant| !expected.contains(instant)).map(show).collect();
            let missing: Vec<_> = expected.iter().filter(|instant| !found.contains(instant)).map(show).collect();
            wrong.insert(format!("{cron} {zone}"), (extra, missing));
        }
    }
    println!("{compared} instants were compared");
    assert!(wrong.is_empty(), "extra and missing: {wrong:#?}");
    assert!(compared > 10_000, "only {compared}");
}

/// Skipped without Python.
fn second_opinion(cases: &[(&str, &str)], since: DateTime<Utc>, until: DateTime<Utc>) -> Option<Vec<Vec<i64>>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/schedule/instants.py");
    let python = Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut python = match python {
        Ok(python) => python,
        Err(error) => {
            skip::missing("python3", &error.to_string());
            return None;
        }
    };
    let cases: Vec<_> = cases.iter().map(|(cron, zone)| json!({"cron": cron, "zone": zone})).collect();
    let asked = json!({"since": since.timestamp(), "until": until.timestamp(), "cases": cases});
    python.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "the script failed; its words are above");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
