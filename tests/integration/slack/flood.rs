//! Many messages and posts while connections and answers are lost. Each message is heard once, and each post appears once.
//!
//! Only in the long form. Both print their figures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::ids::ChannelId;
use kernel::time::{Clock as _, SystemClock};
use slack_sandbox::{ApiFault, ChannelConfig, Options, Switch};
use teamroom::store::Store;

use crate::platforms::slack::{SlackTeam, TEAM};
use crate::support::long;
use crate::support::model::Script;
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(
    #[ignore = "long form"]
    each_message_is_heard_once_over_four_connections_that_lose_and_repeat,
    #[ignore = "long form"]
    each_post_is_there_once_though_connections_break,
);

/// The number of channels. In each, the team posts at most once a second.
const ROOMS: usize = 30;

const NAMES: [&str; 8] = ["Kelly", "Vince", "Eliza", "Echo", "Oracle", "Solus", "Sentinel", "Shade"];

fn with_rooms(options: &mut Options) {
    for room in (0..ROOMS).map(room) {
        options.channels.push(ChannelConfig::new(&room));
        options.apps[0].channels.push(room);
    }
}

fn room(number: usize) -> String {
    format!("room-{}", number % ROOMS)
}

/// The texts in the channels. Each has the names of its authors, one for each time it was posted.
fn read_rooms(team: &SlackTeam) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for said in (0..ROOMS).flat_map(|number| team.said(&room(number))) {
        texts.entry(said.text).or_default().push(said.by);
    }
    texts
}

async fn each_message_is_heard_once_over_four_connections_that_lose_and_repeat(backing: Backing) {
    let count = long::amount("TEAMROOM_TEST_ENVELOPES", 300, 5000);
    let team = SlackTeam::start_with(backing, |config| config.slack.sockets = 4, with_rooms).await;
    let team = Arc::new(team);
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let names: Vec<&str> = NAMES.into_iter().filter(|name| team.has(name)).collect();
    team.misbehave(Switch::Envelopes { app: None, lose_acknowledgement: 0.05, duplicate: 0.1 });
    team.misbehave(Switch::Refresh { seconds: 20 });
    let is_over = Arc::new(AtomicBool::new(false));
    let watch = tokio::spawn(longest_silence(team.clone(), is_over.clone()));
    // Messages come as fast as the team can answer them in these channels.
    let pause = Duration::from_secs(1) / u32::try_from(ROOMS).expect("a small number");
    for number in 0..count {
        team.say(&room(number), &format!("{}, report m{number}", names[number % names.len()]));
        tokio::time::sleep(pause).await;
    }
    wait_for(&team, count).await;
    team.settle().await;
    is_over.store(true, Ordering::Relaxed);
    let silence = watch.await.expect("the watch ends");
    let expected: BTreeMap<String, Vec<String>> =
        (0..count).map(|number| (format!("answer to m{number}"), vec![names[number % names.len()].to_owned()])).collect();
    assert_eq!(read_rooms(&team), expected, "each once, under the name of who was asked");
    assert_eq!(silence, Duration::ZERO, "there was always a connection");
    let mut times = team.workspace.acknowledgements();
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{backing:?}: {count} messages, each answered once; acknowledged after p50 {:?}, p99 {:?}, at most {:?}",
        at(50),
        at(99),
        at(100)
    );
    Arc::into_inner(team).expect("nobody else has it").stop().await;
}

async fn wait_for(team: &SlackTeam, count: usize) {
    let limit = Instant::now() + Duration::from_mins(10);
    while read_rooms(team).len() < count {
        assert!(Instant::now() < limit, "{} of {count} are there", read_rooms(team).len());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The longest time without an open connection, looked at every few milliseconds.
async fn longest_silence(team: Arc<SlackTeam>, is_over: Arc<AtomicBool>) -> Duration {
    let (mut longest, mut since) = (Duration::ZERO, None::<Instant>);
    while !is_over.load(Ordering::Relaxed) {
        since = (team.workspace.connections(TEAM) == 0).then(|| since.unwrap_or_else(Instant::now));
        longest = longest.max(since.map_or(Duration::ZERO, |since| since.elapsed().max(Duration::from_nanos(1))));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    longest
}

async fn each_post_is_there_once_though_connections_break(backing: Backing) {
    let count = long::amount("TEAMROOM_TEST_POSTS", 60, 1000);
    let team = SlackTeam::start_with(backing, |_| (), with_rooms).await;
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let posts: Vec<OutboundMessage> = (0..count)
        .map(|number| {
            let channel = ChannelId::on("slack", team.channel(&room(number)));
            OutboundMessage::new(&"vince".into(), &channel, OutboundKind::Notice, format!("post p{number}"))
        })
        .collect();
    // A fifth of the posts breaks before Slack has them, and a fifth after that.
    let breaks = u32::try_from(count / 5).expect("a small number");
    store.enqueue(&posts, SystemClock.now()).await.unwrap();
    for _ in 0..breaks {
        for fault in [ApiFault::ResetBefore, ApiFault::ResetAfter] {
            team.misbehave(Switch::Api { app: None, method: "chat.postMessage".to_owned(), times: 1, with: fault });
        }
        // Waits between the faults, so that each hits another row instead of all attempts of one row.
        tokio::time::sleep(Duration::from_secs(3) / u32::try_from(ROOMS).expect("a small number")).await;
    }
    wait_for(&team, count).await;
    team.settle().await;
    let repeated: Vec<_> = read_rooms(&team).into_iter().filter(|(_, by)| by.len() != 1).collect();
    assert!(repeated.is_empty(), "{repeated:#?}");
    println!("{backing:?}: {count} posts, {} of them broken on their way, each there once", breaks * 2);
    store.close().await;
    team.stop().await;
}
