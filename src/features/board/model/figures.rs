//! The numbers that feeds have on a question.

use crate::features::board::model::share_of_terms;
use kernel::feeds::{FeedItem, FeedReport};
use kernel::persona::roster::Roster;
use kernel::text::one_line;

/// The maximum number of lines, and the maximum length of one.
const MOST: usize = 8;
const LINE: usize = 300;

/// The lines with a number that speak of the question, best first, each with its feed and time.
pub fn choose(topic: &str, reports: &[FeedReport], roster: &Roster) -> Vec<String> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for report in reports {
        let Ok(reading) = &report.outcome else { continue };
        let values = reading.values.iter().map(ToString::to_string);
        let lines = values.chain(reading.story.iter().cloned()).chain(reading.items.iter().map(describe));
        for line in lines.filter(|line| line.contains(|letter: char| letter.is_numeric())) {
            let told = one_line(&format!("{}, {}: {line}", report.feed, roster.show_time(reading.as_of)), LINE);
            let fit = share_of_terms(topic, &format!("{} {line}", report.feed));
            if fit > 0.0 && !found.iter().any(|(_, known)| *known == told) {
                found.push((fit, told));
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().take(MOST).map(|(_, line)| line).collect()
}

fn describe(item: &FeedItem) -> String {
    let values = item.values.iter().map(ToString::to_string);
    std::iter::once(item.text.clone()).chain(values).collect::<Vec<_>>().join(", ")
}
