//! What a colleague would tell of the repository: what fails, which reviews are awaited and for how long, what was opened and closed.

use chrono::TimeDelta;

use crate::feeds::FeedQuery;
use crate::feeds::kinds::github::model::{Checked, Event, Issue, Pull, Repository, User};

/// The most entries of each kind that are named. The rest is counted.
const TOLD: usize = 3;

pub(super) fn tell(about: &Repository, pulls: &[Pull], checked: &[Checked], changed: &[Issue], asked: &FeedQuery) -> Vec<String> {
    let mut story = Vec::new();
    if let Some(branch) = checked.iter().find(|checked| checked.pull.is_none() && !checked.failing.is_empty()) {
        story.push(format!("Failing on {}: {}.", about.default_branch, list(&branch.failing)));
    }
    story.extend(tell_reviews(pulls, asked));
    let failing = checked.iter().filter(|checked| !checked.failing.is_empty()).filter_map(|checked| {
        let pull = pulls.iter().find(|pull| Some(pull.number) == checked.pull)?;
        Some(format!("#{} \"{}\" ({}) fails: {}.", pull.number, pull.title, login(pull.user.as_ref()), list(&checked.failing)))
    });
    story.extend(failing.take(TOLD));
    story.extend(tell_changes(changed, asked));
    story
}

/// Pull requests that wait for a review, the longest first: `#12 "Fix the retry" (ann) waits for a review by bob and core, open for 3 days.`
fn tell_reviews(pulls: &[Pull], asked: &FeedQuery) -> Vec<String> {
    let mut waiting: Vec<&Pull> = pulls.iter().filter(|pull| pull.waits_for_review()).collect();
    waiting.sort_by_key(|pull| pull.created_at);
    let told = waiting.iter().take(TOLD).map(|pull| {
        let reviewers: Vec<&str> = pull.reviewers().collect();
        let (author, age) = (login(pull.user.as_ref()), age(asked.now - pull.created_at));
        format!("#{} \"{}\" ({author}) waits for a review by {}, open {age}.", pull.number, pull.title, reviewers.join(", "))
    });
    let others = waiting.len().saturating_sub(TOLD);
    let others = match others {
        0 => None,
        1 => Some("1 more waits for a review.".to_owned()),
        others => Some(format!("{others} more wait for a review.")),
    };
    told.chain(others).collect()
}

/// `Issues: 2 opened (#20 "Crash at start", #21 "Typo"), 1 closed. Pull requests: 1 merged (#12 "Fix the retry").`
fn tell_changes(changed: &[Issue], asked: &FeedQuery) -> Option<String> {
    let kinds = [("Issues", false), ("Pull requests", true)];
    let told = kinds.iter().filter_map(|(name, is_pull)| {
        let of_kind = || changed.iter().filter(|issue| issue.pull_request.is_some() == *is_pull);
        let events = [(Event::Opened, "opened"), (Event::Merged, "merged"), (Event::Closed, "closed")];
        let counts = events.iter().filter_map(|(event, word)| {
            let found: Vec<&Issue> =
                of_kind().filter(|issue| issue.event(asked.since, asked.until).is_some_and(|(of, _)| of == *event)).collect();
            let titles: Vec<String> = found.iter().take(TOLD).map(|issue| format!("#{} \"{}\"", issue.number, issue.title)).collect();
            (!found.is_empty()).then(|| format!("{} {word} ({})", found.len(), titles.join(", ")))
        });
        let counts: Vec<String> = counts.collect();
        (!counts.is_empty()).then(|| format!("{name}: {}.", counts.join(", ")))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// The first names and the number of others.
fn list(names: &[String]) -> String {
    let shown = names.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > TOLD { format!("{shown} and {} more", names.len() - TOLD) } else { shown }
}

fn login(user: Option<&User>) -> &str {
    user.map_or("a deleted account", |user| &user.login)
}

/// `since today`, `for 3 days`.
fn age(age: TimeDelta) -> String {
    match age.num_days() {
        ..1 => "since today".to_owned(),
        1 => "for 1 day".to_owned(),
        days => format!("for {days} days"),
    }
}
