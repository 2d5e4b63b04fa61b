//! Checks that a figure with a cited page stands on that page.

use crate::features::backlog::model::JournalEntry;
use crate::features::backlog::verifier::Findings;
use crate::features::backlog::verifier::links::{addresses_in, normalise};
use kernel::tools::{CallStatus, Trace};

/// A page of this many characters was probably cut, so that the rest is unknown.
const WHOLE: usize = 7500;
/// Smaller whole numbers are too often days, places in a list or counts.
const SMALLEST: f64 = 32.0;

/// Refuses each line that cites fetched pages and names figures, if none of the figures is on the pages. One is enough, because the others may be
/// computed from it.
pub(super) fn check(path: &str, text: &str, journals: [&[JournalEntry]; 2], found: &mut Findings) {
    let pages: Vec<(Vec<String>, &str)> = journals.into_iter().flatten().filter_map(page_of).collect();
    for line in text.lines() {
        let addresses = addresses_in(line);
        let cited: Vec<&str> = pages
            .iter()
            .filter(|(names, _)| addresses.iter().any(|address| address.readings.iter().any(|reading| names.contains(reading))))
            .map(|(_, text)| *text)
            .collect();
        if cited.is_empty() || cited.iter().any(|text| text.chars().count() >= WHOLE) {
            continue;
        }
        let prose = addresses.iter().fold(line.to_owned(), |line, address| line.replace(&address.shown, " "));
        let named = figures_in(&prose);
        let known: Vec<f64> = cited.iter().flat_map(|text| numbers_in(text)).flat_map(|(readings, _)| readings).collect();
        let stands = |readings: &Vec<f64>| readings.iter().any(|number| known.iter().any(|known| (known - number).abs() < 1e-9));
        if let (Some((_, first)), false) = (named.first(), named.iter().any(|(readings, _)| stands(readings))) {
            let page = addresses.first().map_or("the page", |address| address.shown.as_str());
            found.refuse(format!("the file {path:?} cites {page} for {first}, which does not stand there"));
        }
    }
}

/// The addresses and the text of a fetched page.
fn page_of(entry: &JournalEntry) -> Option<(Vec<String>, &str)> {
    match entry {
        JournalEntry::Returned { status: CallStatus::Ok, text, trace: Some(Trace::Fetched { url, from, .. }), .. } => {
            Some(([url, from].into_iter().filter_map(|address| normalise(address)).collect(), text))
        }
        _ => None,
    }
}

/// The numbers of a line that are figures: with a currency or a percent sign, with decimals, or large, and no years.
fn figures_in(line: &str) -> Vec<(Vec<f64>, String)> {
    let is_figure = |(readings, shown): &(Vec<f64>, String)| {
        let marked = shown.contains(['$', '€', '£', '%']);
        let year = readings.iter().any(|number| number.fract() == 0.0 && (1900.0..=2100.0).contains(number));
        marked || (!year && readings.iter().all(|number| *number >= SMALLEST || number.fract() != 0.0))
    };
    numbers_in(line).into_iter().filter(is_figure).collect()
}

/// All numbers of a text, in each possible reading, and as written. `1.250` is a thousand and more, or one and a quarter. Dates and times are left
/// out.
fn numbers_in(text: &str) -> Vec<(Vec<f64>, String)> {
    let words = text.split(|c: char| c.is_whitespace() || "()[]|<>;\"“”„*`".contains(c));
    let words: Vec<&str> = words.map(|word| word.trim_matches(|c: char| ".,:!?'-–".contains(c))).filter(|word| !word.is_empty()).collect();
    let mut numbers = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // An address may be written in another way than the one that is cited, and a port is no figure.
        if word.contains("://") {
            continue;
        }
        let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit() || ".,'".contains(c)) {
            continue;
        }
        let readings = read(digits);
        let unit = words.get(at + 1).filter(|next| ["%", "€", "$", "£"].contains(next)).copied().unwrap_or_default();
        if !readings.is_empty() {
            numbers.push((readings, format!("{word}{unit}")));
        }
    }
    numbers
}

fn read(digits: &str) -> Vec<f64> {
    let whole = digits.replace([',', '.', '\''], "");
    let mut readings: Vec<f64> = Vec::new();
    match digits.rfind([',', '.']) {
        None => readings.extend(whole.parse::<f64>()),
        Some(at) => {
            let decimal = format!("{}.{}", digits[..at].replace([',', '.', '\''], ""), &digits[at + 1..]);
            readings.extend(decimal.parse::<f64>());
            if digits.len() - at == 4 {
                readings.extend(whole.parse::<f64>());
            }
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn refused(line: &str) -> Option<String> {
        let page = JournalEntry::Returned {
            call: "1".into(),
            text: "Shop A asks $9.50 a month, 1,250 in all. In 2026 it rose by 4 %.".into(),
            outside: true,
            status: CallStatus::Ok,
            trace: Some(Trace::Fetched {
                url: "https://a.example/x".into(),
                from: "https://a.example/x".into(),
                sha256: "aa".into(),
                at: DateTime::UNIX_EPOCH,
                links: Vec::new(),
            }),
        };
        let mut found = Findings::default();
        check("a.md", line, [&[], &[page]], &mut found);
        found.reasons.pop()
    }

    #[test]
    fn a_figure_that_the_cited_page_does_not_have_is_refused() {
        for line in [
            "It asks $12 (https://a.example/x).",
            "Es kostet 1.350 € im Jahr: https://a.example/x",
            "It rose by 5 %, https://a.example/x .",
        ] {
            assert!(refused(line).is_some_and(|why| why.contains("https://a.example/x for ")), "{line}");
        }
    }

    #[test]
    fn a_figure_that_is_there_in_any_way_of_writing_and_what_is_no_figure_pass() {
        for line in [
            "It asks $9.50 (https://a.example/x).",
            "Sie verlangt 9,50 € im Monat: https://a.example/x",
            "In all 1250, which is 104 a month: https://a.example/x",
            "It rose by **4 %** (https://a.example/x)",
            "1. Read on 20 November 2026, 08:15: https://a.example/x",
            "It asks nine dollars (https://a.example/x).",
            "It asks $12, says somebody.",
            "It asks $12 (https://other.example/y).",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }
}
