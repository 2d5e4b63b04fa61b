use chrono::TimeDelta;

use crate::features::backlog::Work;
use crate::features::backlog::executor::{Assignment, Outcome};
use crate::features::backlog::model::{Blocker, Claim, JournalEntry, Product, WatchTerms};
use crate::features::backlog::verifier::reading_trace;
use kernel::feeds::FeedQuery;
use kernel::figure;
use kernel::jobs::JobError;
use kernel::tools::CallStatus;

/// The polling interval of the feed.
const EVERY: TimeDelta = TimeDelta::minutes(5);

impl Work {
    pub(crate) async fn watch(&self, assignment: &Assignment<'_>, terms: &WatchTerms) -> anyhow::Result<Outcome> {
        let deps = self.deps();
        let now = deps.clock.now();
        let feed = match deps.agents.readings.get_feed(&terms.feed) {
            Ok(feed) => feed,
            // A persona file may declare the feed at the next start.
            Err(missing) => return Ok(Outcome::Failed { blocker: Blocker::Outside, why: missing.to_string() }),
        };
        let reading = feed.read(&FeedQuery { now, since: now, until: now, limit: 0 }).await;
        let state = match (reading, &terms.rule) {
            (Err(error), _) => format!("the feed {} gives no data: {error}", terms.feed),
            (Ok(reading), None) => {
                let entry = JournalEntry::Returned {
                    call: "watch".into(),
                    text: String::new(),
                    outside: false,
                    status: CallStatus::Ok,
                    trace: Some(reading_trace(&terms.feed, reading.as_of)),
                };
                if !deps.store.append_journal(assignment.job, assignment.item, &[entry], now).await? {
                    anyhow::bail!(JobError::LostLease);
                }
                let claim = Claim::Reading { feed: terms.feed.clone(), at: reading.as_of };
                return Ok(made(format!("the feed {} gives data again", terms.feed), claim));
            }
            (Ok(reading), Some(rule)) => match reading.find_value(&rule.value) {
                None => format!("the feed {} has no value {}", terms.feed, rule.value),
                Some(value) => {
                    deps.store.record_samples(&feed.samples(&reading), now).await?;
                    let said = figure::amount(value.number, &rule.value, &rule.unit);
                    if rule.holds(value.number) {
                        let claim = Claim::Value { feed: terms.feed.clone(), name: rule.value.clone(), at: reading.as_of };
                        return Ok(made(format!("{} {} is {said}", terms.feed, rule.value), claim));
                    }
                    format!("{} {} is {said}", terms.feed, rule.value)
                }
            },
        };
        if now >= terms.until {
            // A condition that was not met in time is a result, if the feed has given a value.
            if let (Some(rule), Some(missed)) = (&terms.rule, terms.describe_missed(deps.roster.zone()))
                && let Some(last) = deps.store.find_sample_before(feed.key(), &rule.value, now).await?
                && last.at >= assignment.item.created_at
            {
                let said = figure::amount(last.number, &rule.value, &rule.unit);
                let claim = Claim::NotMet { feed: terms.feed.clone(), name: rule.value.clone(), at: last.at };
                return Ok(made(format!("{missed}; last seen: {said}"), claim));
            }
            return Ok(Outcome::Impossible {
                blocker: Blocker::Outside,
                why: format!("{} did not happen by {}: {state}", terms.describe(), deps.roster.show_time(terms.until)),
            });
        }
        Ok(Outcome::Later { at: (now + EVERY).min(terms.until), why: state })
    }
}

fn made(summary: String, claim: Claim) -> Outcome {
    Outcome::Made(Product { summary, claims: vec![claim], ..Product::default() })
}
