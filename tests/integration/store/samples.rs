use kernel::feeds::Sample;

use super::sample::at;
use super::{Home, on_both};

on_both!(
    samples_are_recorded_once_and_found_by_time,
    data_that_went_back_in_time_is_not_recorded_as_news,
    samples_of_a_clock_that_was_ahead_are_in_nobodys_way,
    old_samples_are_forgotten,
);

fn sample(name: &str, seconds: i64, number: f64) -> Sample {
    Sample { feed: "git".into(), name: name.into(), unit: "commits".into(), at: at(seconds), number }
}

fn number(found: Option<Sample>) -> Option<f64> {
    found.map(|sample| sample.number)
}

async fn samples_are_recorded_once_and_found_by_time(home: &Home) {
    let store = home.open().await;
    let (first, second) = (sample("commits", 0, 10.0), sample("commits", 60, 12.5));
    assert_eq!(store.record_samples(&[first.clone(), sample("tags", 0, 1.0)], at(0)).await.unwrap(), 2);
    assert_eq!(store.record_samples(&[first.clone(), second.clone()], at(60)).await.unwrap(), 1, "what is known is not recorded again");
    assert_eq!(store.record_samples(&[], at(60)).await.unwrap(), 0);

    assert_eq!(store.find_sample_before("git", "commits", at(-1)).await.unwrap(), None);
    assert_eq!(store.find_sample_before("git", "commits", at(0)).await.unwrap(), Some(first.clone()));
    assert_eq!(store.find_sample_before("git", "commits", at(59)).await.unwrap(), Some(first.clone()));
    assert_eq!(store.find_sample_before("git", "commits", at(86_400)).await.unwrap(), Some(second.clone()));
    assert_eq!(store.find_sample_before("git", "branches", at(60)).await.unwrap(), None);
    assert_eq!(store.list_samples("git", "commits", at(0), at(60)).await.unwrap(), [first, second.clone()]);
    assert_eq!(store.list_samples("git", "commits", at(1), at(60)).await.unwrap(), [second]);
    assert!(store.has_samples("git", at(0), at(1)).await.unwrap() && !store.has_samples("git", at(1), at(59)).await.unwrap());
    assert!(!store.has_samples("files", at(0), at(60)).await.unwrap());
}

async fn data_that_went_back_in_time_is_not_recorded_as_news(home: &Home) {
    let store = home.open().await;
    store.record_samples(&[sample("commits", 60, 12.0)], at(60)).await.unwrap();
    assert_eq!(store.record_samples(&[sample("commits", 30, 11.0)], at(120)).await.unwrap(), 0);
    assert_eq!(store.record_samples(&[sample("commits", 60, 99.0)], at(120)).await.unwrap(), 0, "a time has one number");
    assert_eq!(number(store.find_sample_before("git", "commits", at(120)).await.unwrap()), Some(12.0));
}

async fn samples_of_a_clock_that_was_ahead_are_in_nobodys_way(home: &Home) {
    let store = home.open().await;
    let days = 3 * 86_400;
    store.record_samples(&[sample("commits", days, 50.0)], at(days)).await.unwrap();
    assert_eq!(store.record_samples(&[sample("commits", 60, 12.0)], at(60)).await.unwrap(), 1);
    assert_eq!(number(store.find_sample_before("git", "commits", at(120)).await.unwrap()), Some(12.0));
}

async fn old_samples_are_forgotten(home: &Home) {
    let store = home.open().await;
    for seconds in [0, 60, 120] {
        store.record_samples(&[sample("commits", seconds, 1.0)], at(seconds)).await.unwrap();
    }
    assert_eq!(store.delete_samples_before(at(120), 1).await.unwrap(), 1);
    assert_eq!(store.delete_samples_before(at(120), 10).await.unwrap(), 1);
    assert_eq!(store.list_samples("git", "commits", at(0), at(120)).await.unwrap().len(), 1);
}
