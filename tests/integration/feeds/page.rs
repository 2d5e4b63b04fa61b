use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kernel::agent::{PageEntry, Readings};
use kernel::feeds::{Feed, FeedBuilder};
use kernel::ids::PersonaSlug;
use kernel::persona::FeedSpec;
use kernel::time::ManualClock;
use serde_json::json;
use tokio::sync::Semaphore;

use super::web::{Answer, Site};
use super::{last_days, now, run_out, sources, spec};

const QUEUE: &str = r#"{"queue": 12}"#;

fn queue(name: &str, url: &str) -> FeedSpec {
    spec("http_json", name, json!({"url": url, "values": {"queue": {"pointer": "/queue", "unit": "jobs"}}}))
}

/// The feeds of a team with these declarations.
fn readings(declared: &[(&str, Vec<FeedSpec>)], clock: &ManualClock) -> Readings {
    let mut builder = FeedBuilder::new(sources(Path::new("/nowhere"), clock));
    let mut feeds: HashMap<PersonaSlug, Vec<Feed>> = HashMap::new();
    for (persona, specs) in declared {
        feeds.insert((*persona).into(), specs.iter().map(|spec| builder.build(spec).unwrap()).collect());
    }
    Readings::new(feeds, Arc::new(clock.clone()))
}

fn told(page: &[PageEntry]) -> Vec<(String, &str, bool)> {
    let owners = |personas: &[PersonaSlug]| personas.iter().map(PersonaSlug::as_str).collect::<Vec<_>>().join("+");
    page.iter().map(|entry| (owners(&entry.personas), entry.feed.as_str(), entry.outcome.is_ok())).collect()
}

#[tokio::test]
async fn all_feeds_of_the_team_are_asked_at_once_and_each_only_once() {
    let site = Site::start().await;
    let permits = Arc::new(Semaphore::new(0));
    let url = |path: &str| site.tell(path, Answer::Waits(permits.clone(), QUEUE));
    let (shared, own) = (queue("service", &url("/shared")), queue("own", &url("/own")));
    let slow = queue("slow", &site.tell("/slow", Answer::Hangs));
    let clock = ManualClock::new(now());
    let readings = readings(&[("vince", vec![shared.clone(), own]), ("eliza", vec![shared]), ("solus", vec![slow])], &clock);
    let page = tokio::spawn(async move { readings.read_page(&last_days(1)).await });
    // Answers are held back until every feed was requested: they are read concurrently.
    while site.asked().len() < 3 {
        tokio::task::yield_now().await;
    }
    permits.add_permits(2);
    while clock.sleepers() > 1 {
        tokio::task::yield_now().await;
    }
    assert!(!page.is_finished(), "the slowest is still awaited");
    run_out(&clock, 1).await;
    let page = page.await.unwrap();
    let mut asked = site.asked();
    asked.sort();
    assert_eq!(asked, ["/own", "/shared", "/slow"]);
    assert_eq!(told(&page), [("eliza+vince".into(), "service", true), ("solus".into(), "slow", false), ("vince".into(), "own", true)]);
    assert_eq!(page[1].outcome.clone().unwrap_err().to_string(), "it did not respond within 10 s");
    assert_eq!(page.iter().map(|entry| entry.samples.len()).sum::<usize>(), 2);
}

#[tokio::test]
async fn personas_that_ask_at_once_wait_for_one_reading_of_the_feed_they_share() {
    let site = Site::start().await;
    let permits = Arc::new(Semaphore::new(0));
    let shared = queue("service", &site.tell("/shared", Answer::Waits(permits.clone(), QUEUE)));
    let clock = ManualClock::new(now());
    let readings = readings(&[("vince", vec![shared.clone()]), ("eliza", vec![shared])], &clock);
    readings.warm();
    let both = tokio::spawn({
        let readings = readings.clone();
        let (vince, eliza) = ("vince".into(), "eliza".into());
        async move { tokio::join!(readings.read(&vince), readings.read(&eliza)) }
    });
    while site.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    permits.add_permits(1);
    let (vince, eliza) = both.await.unwrap();
    assert_eq!(vince.reports, eliza.reports);
    assert_eq!(vince.reports[0].outcome.as_ref().unwrap().values[0].to_string(), "queue 12 jobs");
    assert_eq!(site.asked(), ["/shared"]);
}

#[tokio::test]
async fn a_new_reading_is_awaited_and_a_good_one_serves_where_that_takes_long() {
    let site = Site::start().await;
    let url = site.tell("/x", Answer::Status(503));
    let clock = ManualClock::new(now());
    let readings = readings(&[("vince", vec![queue("service", &url)])], &clock);
    let vince = "vince".into();
    let value = async || {
        let read = readings.read(&vince).await;
        read.reports[0].outcome.as_ref().map(|reading| reading.values[0].number).map_err(ToString::to_string)
    };
    let down = Err("it answered 503 Service Unavailable".to_owned());
    assert_eq!(value().await, down);
    site.json("/x", QUEUE);
    assert_eq!(value().await, down, "a burst of questions does not ask a failing feed each time");
    clock.advance(Duration::from_secs(31));
    assert_eq!(value().await, Ok(12.0));

    site.json("/x", r#"{"queue": 13}"#);
    clock.advance(Duration::from_secs(31));
    assert_eq!(value().await, Ok(13.0), "what has changed since is known");
    site.json("/x", r#"{"queue": 14}"#);
    assert_eq!(value().await, Ok(13.0), "a burst of questions asks once");
    assert_eq!(site.asked().len(), 3);
    clock.advance(Duration::from_mins(5));
    assert_eq!(value().await, Ok(14.0));
    site.tell("/x", Answer::Hangs);
    clock.advance(Duration::from_secs(31));
    let out_of_patience = async {
        while clock.sleepers() < 2 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(3));
    };
    assert_eq!(tokio::join!(value(), out_of_patience).0, Ok(14.0), "nobody waits long for what is known well enough");
}

#[tokio::test]
async fn a_feed_is_found_by_its_name_or_what_there_is_is_told() {
    let clock = ManualClock::new(now());
    let (one, other) = (queue("service", "http://127.0.0.1:1/a"), queue("service", "http://127.0.0.1:1/b"));
    let team = readings(&[("vince", vec![one.clone(), queue("own", "http://127.0.0.1:1/c")]), ("eliza", vec![one.clone()])], &clock);
    assert_eq!(team.get_feed("service").unwrap().key(), team.feeds_of(&"eliza".into())[0].key());
    let refusal = |readings: &Readings, name| readings.get_feed(name).err().unwrap().to_string();
    assert_eq!(refusal(&team, "servce"), "there is no feed called \"servce\". There are own, service");
    assert_eq!(refusal(&readings(&[], &clock), "service"), "there is no feed called \"service\". There is none at all");
    let several = readings(&[("vince", vec![one]), ("eliza", vec![other])], &clock);
    let expected = "\"service\" is the name of several feeds (of eliza; of vince). Give them different names in their persona files";
    assert_eq!(refusal(&several, "service"), expected);
}
