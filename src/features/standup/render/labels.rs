//! Short texts for numbers, times and states.

use chrono::NaiveDate;

use crate::features::backlog::model::Urgency;
use crate::features::meeting::signal::Direction;
use crate::features::standup::model::prediction::{Answer, Call, Verdict};
use kernel::figure::number;

/// `Fri 20 Nov 2026`.
pub(super) fn day(day: NaiveDate) -> String {
    day.format("%a %-d %b %Y").to_string()
}

/// A share from 0 to 1 as `72 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A signed difference: `+12`, `−3`.
pub(super) fn difference(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "−" };
    if number(value) == "0" { "0".to_owned() } else { format!("{sign}{}", number(value.abs())) }
}

/// `12,345`.
pub(super) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 feed`, `3 feeds`.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `48 s`, `2 min 14 s`, `1 h 5 min`.
pub(super) fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

pub(super) fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
        Direction::Flat => "flat",
        Direction::Good => "good",
        Direction::Bad => "bad",
    }
}

/// `**Yes**, 72 % sure`. An uncertain call has no confidence.
pub(super) fn call(call: &Call) -> String {
    match call.answer {
        Answer::Yes => format!("**Yes**, {} sure", percent(call.confidence)),
        Answer::No => format!("**No**, {} sure", percent(call.confidence)),
        Answer::Uncertain => "**Uncertain**".to_owned(),
    }
}

pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Hit => "right",
        Verdict::Miss => "wrong",
        Verdict::Uncalled => "no call",
        Verdict::Void => "void",
    }
}

pub(super) fn urgency(urgency: Urgency) -> String {
    urgency.as_str().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 59, 60, 134, 3600, 3900].map(duration), ["0 s", "59 s", "1 min", "2 min 14 s", "1 h", "1 h 5 min"]);
        assert_eq!([difference(12.0), difference(-3.5), difference(0.0)], ["+12", "−3.5", "0"]);
        assert_eq!([percent(0.0), percent(0.725), percent(1.0)], ["0 %", "72 %", "100 %"]);
        assert_eq!([count(0, "feed"), count(1, "feed")], ["0 feeds", "1 feed"]);
        assert_eq!(day(NaiveDate::from_ymd_opt(2026, 11, 6).unwrap()), "Fri 6 Nov 2026");
    }
}
