use crate::features::meeting::signal::{Direction, Evidence, Signal};
use crate::features::standup::model::page::PageFeed;
use crate::features::standup::model::report::ValueChange;
use kernel::figure;

/// The confidence that a failing feed fails.
const FAILING: f64 = 0.9;

/// The signal of a changed value. Feeds are exact, so the confidence expresses the size of the change: from 0.5 for a tiny change to 0.95
/// for a value that doubled or vanished.
pub(super) fn of_change(change: &ValueChange) -> Signal {
    let confidence = 0.5 + 0.45 * change.share().min(1.0);
    Signal {
        subject: format!("{} {}", change.feed, change.name),
        direction: if change.now > change.before { Direction::Up } else { Direction::Down },
        confidence: (confidence * 100.0).round() / 100.0,
        evidence: Some(Evidence { feed: change.feed.clone(), value: figure::amount(change.now, &change.name, &change.unit) }),
    }
}

/// The signal of a failed feed.
pub(super) fn of_failure(feed: &PageFeed) -> Signal {
    Signal { subject: format!("feed {}", feed.feed), direction: Direction::Bad, confidence: FAILING, evidence: None }
}
