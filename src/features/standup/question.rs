//! The essential question with today's terms: its current value, and how and when code will settle a call on it (STAND-11).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::meeting::model::Meeting;
use crate::features::standup::Standup;
use crate::features::standup::model::page::SharedPage;
use crate::features::standup::model::prediction::{EssentialQuestion, Prediction, Threshold};
use crate::features::standup::turns::QuestionAsked;
use kernel::agent::PageEntry;
use kernel::db::StoreError;
use kernel::feeds::condition::SettlingRule;
use kernel::finding::Finding;
use kernel::time::show_time;

/// The age of the oldest values that a call looks at.
const HISTORY: TimeDelta = TimeDelta::days(60);

/// How long the kickoff waits to learn whether the question can be asked.
const LOOK: Duration = Duration::from_millis(300);

/// Databases store times less exactly than the page. Samples this close to a reading are that reading.
const SAME: TimeDelta = TimeDelta::seconds(1);

/// The question with its terms.
pub(super) struct Terms {
    pub(super) text: String,
    pub(super) rule: SettlingRule,
    pub(super) base: f64,
    pub(super) expires_at: DateTime<Utc>,
    history: Vec<(DateTime<Utc>, f64)>,
    only_rises: bool,
    /// The call that an earlier standup of the channel made on the question with this expiry.
    pub(super) earlier: Option<Prediction>,
}

impl Terms {
    pub(super) fn asked(&self) -> QuestionAsked<'_> {
        let Self { text, rule, base, expires_at, history, only_rises, .. } = self;
        QuestionAsked { text, rule, base: *base, history, expires_at: *expires_at, only_rises: *only_rises }
    }
}

impl Standup {
    /// The terms, or the reason in words why there are none. No call is made on a question that code cannot settle.
    ///
    /// A question that was called before keeps its threshold until it expires: "ten more" are ten more than on the day of the first call.
    pub(super) async fn set_terms(&self, meeting: &Meeting, page: &SharedPage) -> Result<Result<Terms, String>, StoreError> {
        let Some(question) = &self.deps.standup.question else { return Ok(Err("no essential question is set".into())) };
        let Some(value) = page.find_value(&question.feed, &question.value) else { return Ok(Err(explain_missing(page, question))) };
        let expires_at = question.expires.instant(page.read_at);
        if expires_at <= self.deps.clock.now() {
            return Ok(Err(format!(
                "the question's time passed at {} before a call was made",
                show_time(expires_at, self.deps.terms.zone)
            )));
        }
        let today = question.rule(value.number, &value.unit);
        let earlier = self.deps.store.find_call(&meeting.channel.id, &question.text, expires_at).await?;
        // The operator may have changed the terms meanwhile.
        let earlier = earlier.filter(|earlier| match question.threshold {
            Threshold::Fixed(_) => earlier.rule == today,
            Threshold::Change(_) => SettlingRule { threshold: today.threshold, ..earlier.rule.clone() } == today,
        });
        let feed = self.deps.agents.readings.get_feed(&question.feed).ok();
        Ok(Ok(Terms {
            text: question.text.clone(),
            rule: earlier.as_ref().map_or(today, |earlier| earlier.rule.clone()),
            base: value.number,
            expires_at,
            history: self.read_history(question, page).await?,
            only_rises: feed.is_some_and(|feed| feed.only_rises(&question.value)),
            earlier,
        }))
    }

    /// The essential question. None if none is configured, or if it is the built-in one and its feed has no such value.
    pub(super) async fn find_question(&self) -> Option<&EssentialQuestion> {
        let question = self.deps.standup.question.as_ref()?;
        let readings = &self.deps.agents.readings;
        let can_be_asked = !question.optional || readings.has_value(&question.feed, &question.value, LOOK).await.unwrap_or(true);
        can_be_asked.then_some(question)
    }

    /// The values before today's reading. The samples contain that reading too, so it is left out.
    async fn read_history(&self, question: &EssentialQuestion, page: &SharedPage) -> Result<Vec<(DateTime<Utc>, f64)>, StoreError> {
        let Ok(feed) = self.deps.agents.readings.get_feed(&question.feed) else { return Ok(Vec::new()) };
        let reading = page.feeds.iter().filter(|page| page.feed == question.feed).find_map(|page| page.outcome.as_ref().ok());
        let as_of = reading.map_or(page.read_at, |reading| reading.as_of);
        match feed.history(&question.value, as_of - HISTORY, as_of - SAME).await {
            Ok(known) if !known.is_empty() => return Ok(known),
            Ok(_) => {}
            Err(error) => tracing::warn!(feed = question.feed, %error, "the call goes by the stored values"),
        }
        let samples = self.deps.store.list_samples(feed.key(), &question.value, as_of - HISTORY, as_of - SAME).await?;
        Ok(samples.into_iter().map(|sample| (sample.at, sample.number)).collect())
    }
}

/// Checks whether a call on the essential question is possible: some feed must give its value.
pub(super) fn check(question: &EssentialQuestion, page: &[PageEntry]) -> Finding {
    let EssentialQuestion { feed, value, .. } = question;
    let what = "standup question";
    let known = || page.iter().map(|entry| entry.feed.as_str()).collect::<Vec<_>>().join(", ");
    match page.iter().find(|entry| entry.feed == *feed).map(|entry| &entry.outcome) {
        None => Finding::fault(
            format!("{what}: no persona has a feed called {feed}"),
            format!("Correct standup.question.feed. There are {}.", known()),
        ),
        Some(Err(error)) => Finding::fault(format!("{what}: its feed {feed} cannot be read: {error}"), "Correct that feed first."),
        Some(Ok(reading)) => {
            if let Some(found) = reading.find_value(value) {
                return Finding::good(format!("{what}: {found}"));
            }
            let known: Vec<_> = reading.values.iter().map(|value| &*value.name).collect();
            let text = format!("{what}: the feed {feed} has no value called {value}");
            Finding::fault(text, format!("Correct standup.question.value. The feed has {}.", known.join(", ")))
        }
    }
}

fn explain_missing(page: &SharedPage, question: &EssentialQuestion) -> String {
    let EssentialQuestion { feed, value, .. } = question;
    match page.feeds.iter().find(|page| page.feed == *feed).map(|page| &page.outcome) {
        None => format!("no persona has a feed called \"{feed}\""),
        Some(Err(reason)) => format!("the feed \"{feed}\" has no data: {reason}"),
        Some(Ok(reading)) if reading.values.is_empty() => {
            let note = reading.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
            format!("the feed \"{feed}\" gives no values now{note}")
        }
        Some(Ok(reading)) => {
            let known: Vec<_> = reading.values.iter().map(|value| value.name.as_str()).collect();
            format!("the feed \"{feed}\" gives no value \"{value}\"; it gives {}", known.join(", "))
        }
    }
}
