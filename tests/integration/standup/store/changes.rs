//! What changed since the last report.

use chrono::TimeDelta;
use kernel::feeds::Sample;
use teamroom::features::standup::model::report::ValueChange;

use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(a_number_is_compared_with_what_it_was_at_the_last_report);

fn commits(seconds: i64, number: f64) -> Sample {
    Sample { feed: "git".into(), name: "commits".into(), unit: "commits".into(), at: at(seconds), number }
}

async fn a_number_is_compared_with_what_it_was_at_the_last_report(home: &Home) {
    let store = home.open().await;
    let day = TimeDelta::days(1).num_seconds();
    // The last report was at 0. Another sample was recorded after it.
    for (seconds, number) in [(0, 10.0), (day / 2, 14.0)] {
        store.record_samples(&[commits(seconds, number)], at(seconds)).await.unwrap();
    }
    let before = store.find_sample_before("git", "commits", at(0)).await.unwrap().unwrap();
    let change = ValueChange::between("code", &before, &commits(day, 17.0)).unwrap();
    assert_eq!((change.feed.as_str(), change.before, change.before_at, change.now, change.now_at), ("code", 10.0, at(0), 17.0, at(day)));
}
