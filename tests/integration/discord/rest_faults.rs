//! REST failures: nothing is lost, duplicated or banned.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kernel::chat::{ChatPlatform, IdentityState, SendError};
use sandbox::{Exchange, RestFault, Switch};
use serde_json::Value;

use super::stage::{PATIENCE, Setting, Stage, TEAM, row, until};

fn posting(bot: Option<&str>, times: u32, with: RestFault) -> Switch {
    let (bot, method) = (bot.map(str::to_owned), Some("POST".to_owned()));
    Switch::Rest { bot, method, path: "/channels".to_owned(), times, with }
}

/// Removes or restores Vince's permission to post in a channel.
fn deny(stage: &Stage, channel: &str, on: bool) {
    let (bot, channel, permission) = ("vince".to_owned(), channel.to_owned(), "SEND_MESSAGES".to_owned());
    stage.misbehave(Switch::Deny { bot, channel, permission, on });
}

/// The number of posts received by the sandbox.
fn posts(stage: &Stage) -> usize {
    // Includes posts that got a faulty answer.
    let is_post = |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.method == "POST" && rest.path.ends_with("/messages") && rest.status == 200);
    stage.sandbox.journal().iter().filter(is_post).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_discords_is_unreachable_and_the_same_row_again_is_one_message() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    let faults = [RestFault::Status(500), RestFault::BadGateway, RestFault::Hang, RestFault::ResetBefore, RestFault::ResetAfter];
    for (index, fault) in faults.into_iter().enumerate() {
        stage.misbehave(posting(None, 1, fault));
        let answer = row("vince", &general, &format!("answer {index}"));
        let failed = stage.discord.send(&answer).await;
        assert!(matches!(failed, Err(SendError::Unreachable(_))), "{fault:?}: {failed:?}");
        stage.discord.send(&answer).await.unwrap();
        assert_eq!(stage.history(&general).await.len(), index + 1, "{fault:?}");
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_cannot_be_read_make_one_message() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    stage.misbehave(posting(None, 3, RestFault::GarbageHeaders));
    for n in 0..3 {
        stage.discord.send(&row("vince", &general, &format!("{n}"))).await.unwrap();
    }
    assert_eq!((stage.history(&general).await.len(), posts(&stage)), (3, 3));
    stage.close().await;
}

/// The length of a rate limit in seconds. Long enough that unaffected calls finish first, even on a busy machine.
const HELD: f64 = 6.0;

/// Waits until Vince's post has met the limit, and a little longer for the answer.
async fn until_limited(stage: &Stage) {
    let is_limited = |exchange: &Exchange| matches!(exchange, Exchange::Rest(rest) if rest.status == 429);
    until(|| stage.sandbox.journal().iter().any(is_limited), || "nothing was limited".into()).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
}

/// A team that waits for such a limit.
async fn patient() -> Stage {
    let mut setting = Setting::new();
    setting.timing.call = Duration::from_secs(20);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_route_waits_as_told_and_others_do_not() {
    let stage = patient().await;
    let (general, ops) = (stage.channel("general"), stage.channel("ops"));
    stage.misbehave(posting(Some("vince"), 1, RestFault::RateLimited { retry_after: HELD, headers: true, global: false }));
    let answer = row("vince", &general, "after a while");
    let began = Instant::now();
    let (limited, free) = tokio::join!(async { (stage.discord.send(&answer).await, began.elapsed()) }, async {
        until_limited(&stage).await;
        (stage.discord.send(&row("vince", &ops, "at once")).await, began.elapsed())
    });
    assert!(limited.0.is_ok() && limited.1 >= Duration::from_secs_f64(HELD), "{limited:?}");
    assert!(free.0.is_ok() && free.1 < limited.1, "{free:?} {limited:?}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_global_limit_holds_back_the_whole_token_and_no_other() {
    let stage = patient().await;
    let (general, ops) = (stage.channel("general"), stage.channel("ops"));
    stage.misbehave(posting(Some("vince"), 1, RestFault::RateLimited { retry_after: HELD, headers: true, global: true }));
    let began = Instant::now();
    let (first, second, other) = tokio::join!(
        async { (stage.discord.send(&row("vince", &general, "one")).await.is_ok(), began.elapsed()) },
        async {
            until_limited(&stage).await;
            (stage.discord.send(&row("vince", &ops, "two")).await.is_ok(), began.elapsed())
        },
        async {
            until_limited(&stage).await;
            (stage.discord.send(&row("echo", &ops, "three")).await.is_ok(), began.elapsed())
        }
    );
    let held = Duration::from_secs_f64(HELD);
    assert!(first.0 && second.0 && first.1 >= held && second.1 >= held, "{first:?} {second:?}");
    assert!(other.0 && other.1 < first.1, "{other:?} {first:?}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_without_end_is_handed_back_after_two_requests() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    // A third request would succeed.
    stage.misbehave(posting(None, 2, RestFault::RateLimited { retry_after: 0.2, headers: true, global: false }));
    let limited = stage.discord.send(&row("vince", &general, "never")).await;
    assert!(matches!(limited, Err(SendError::RateLimited(_))), "{limited:?}");
    // A wait beyond the deadline is not attempted.
    stage.misbehave(Switch::Behave);
    stage.misbehave(posting(None, 1, RestFault::RateLimited { retry_after: 60.0, headers: true, global: false }));
    let limited = stage.discord.send(&row("echo", &general, "in a minute")).await;
    assert!(matches!(limited, Err(SendError::RateLimited(wait)) if wait > Duration::from_secs(50)), "{limited:?}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_identity_hangs_the_others_post_as_before() {
    const POSTS: usize = 20;
    let mut setting = Setting::new();
    // Far longer than the others can take.
    setting.timing.call = PATIENCE;
    let mut stage = setting.open().await;
    stage.all_ready().await;
    stage.misbehave(posting(Some("vince"), 100, RestFault::Hang));
    let (general, ops) = (stage.channel("general"), stage.channel("ops"));
    let hanging: Vec<_> = (0..5)
        .map(|number| {
            let (discord, answer) = (Arc::clone(&stage.discord), row("vince", &ops, &format!("hello? {number}")));
            tokio::spawn(async move { discord.send(&answer).await })
        })
        .collect();
    let others = TEAM.iter().filter(|slug| **slug != "vince").map(|slug| {
        let (discord, general) = (Arc::clone(&stage.discord), general.clone());
        tokio::spawn(async move {
            let mut pauses = Vec::new();
            for number in 0..POSTS {
                let began = Instant::now();
                discord.send(&row(slug, &general, &format!("{slug} {number}"))).await.unwrap();
                pauses.push(began.elapsed());
            }
            pauses
        })
    });
    let mut pauses: Vec<Duration> = futures_util::future::join_all(others).await.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!((pauses.len(), posts(&stage)), (POSTS * (TEAM.len() - 1), POSTS * (TEAM.len() - 1)));
    assert!(hanging.iter().all(|send| !send.is_finished()), "Vince hangs as long as that");
    pauses.sort();
    println!("pauses between posts: median {:?}, worst {:?}", pauses[pauses.len() / 2], pauses[pauses.len() - 1]);
    hanging.iter().for_each(tokio::task::JoinHandle::abort);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shut_door_is_not_knocked_at_for_minutes() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    // A second request would succeed.
    stage.misbehave(posting(None, 1, RestFault::RateLimited { retry_after: 0.0, headers: false, global: false }));
    for persona in ["vince", "echo", "kelly"] {
        let refused = stage.discord.send(&row(persona, &general, "hello?")).await;
        assert!(matches!(refused, Err(SendError::RateLimited(wait)) if wait >= Duration::from_secs(59)), "{refused:?}");
    }
    assert_eq!(posts(&stage), 0);
    let (_, told) = stage.events.trouble().await;
    assert!(told.contains("blocks requests"), "{told}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_is_not_used_again_and_told_once() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    // A second request would succeed.
    stage.misbehave(posting(Some("vince"), 1, RestFault::Status(401)));
    let refused = stage.discord.send(&row("vince", &general, "hello?")).await;
    assert_eq!(refused, Err(SendError::Offline("vince".into())));
    stage.until_state("vince", IdentityState::Down).await;
    for _ in 0..3 {
        stage.discord.send(&row("vince", &general, "through a webhook")).await.unwrap();
    }
    assert_eq!(posts(&stage), 0, "the account itself posts nothing");
    stage.discord.send(&row("echo", &general, "I go on")).await.unwrap();
    assert_eq!(stage.status("vince").state, IdentityState::Down);
    let (persona, told) = stage.events.trouble().await;
    assert_eq!(persona.as_str(), "vince");
    assert!(told.contains("DISCORD_TOKEN_VINCE"), "{told}");
    assert!(stage.events.drain().iter().all(|event| !matches!(event, kernel::chat::PlatformEvent::Trouble { .. })));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_permission_is_named_and_not_asked_for_until_it_is_given() {
    let mut stage = Stage::ready().await;
    let ops = stage.channel("ops");
    deny(&stage, &ops, true);
    // Discord reports the change too, and the channel is fetched again.
    stage.until_heard("vince").await;
    for _ in 0..5 {
        let refused = stage.discord.send(&row("vince", &ops, "hello?")).await;
        assert_eq!(refused, Err(SendError::Denied { needs: "Send Messages".to_owned() }));
    }
    assert_eq!(stage.sandbox.invalid_requests(), 1);
    stage.discord.send(&row("echo", &ops, "I may")).await.unwrap();
    // The gateway reports the change of the channel, and the next message is attempted.
    deny(&stage, &ops, false);
    stage.until_heard("vince").await;
    stage.discord.send(&row("vince", &ops, "and now?")).await.unwrap();
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_requests_stop_before_discord_bans_the_address() {
    let mut stage = Stage::ready().await;
    let channels = format!("/guilds/{}/channels", stage.sandbox.guild_id());
    let mut stopped = 0;
    for n in 0..80 {
        let channel = stage.person("POST", &channels, serde_json::json!({ "name": format!("secret-{n}"), "type": 0 })).await;
        let channel = channel["id"].as_str().unwrap();
        deny(&stage, channel, true);
        match stage.discord.send(&row("vince", channel, "hello?")).await {
            Err(SendError::Denied { .. }) => {}
            Err(SendError::RateLimited(wait)) if wait > Duration::from_secs(500) => stopped += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((stopped, stage.sandbox.invalid_requests()), (40, 40));
    let (_, told) = stage.events.trouble().await;
    assert!(told.contains("too many requests"), "{told}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_limits_are_kept_without_a_single_429() {
    let mut setting = Setting::new();
    setting.sandbox.rate_limits = sandbox::RateLimits::Custom { messages_per_5s: 5, global_per_second: 50 };
    setting.timing.call = Duration::from_secs(20);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    for n in 0..8 {
        stage.discord.send(&row("vince", &general, &format!("{n}"))).await.unwrap();
    }
    let is_limited = |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.status == 429);
    assert_eq!(stage.sandbox.journal().iter().filter(is_limited).count(), 0);
    let texts: Vec<_> = stage.history(&general).await.iter().map(|m| m["content"].clone()).collect();
    assert_eq!(texts, (0..8).rev().map(|n| Value::from(n.to_string())).collect::<Vec<_>>());
    stage.close().await;
}
