//! Rate limits as clients see them.

use std::time::Duration;

use serde_json::json;
use slack_sandbox::RateLimits;

use super::harness::start_with;

#[tokio::test]
async fn a_channel_takes_a_message_a_second_after_a_burst() {
    let world = start_with(|options| options.rate_limits = RateLimits::Slack).await;
    let kelly = world.kelly();
    for _ in 0..4 {
        kelly.say(&world.general, "burst").await;
    }
    // A channel has one limit, whether it is given by id or by name.
    for channel in [&world.general, "#general"] {
        let limited = kelly.call("chat.postMessage", json!({ "channel": channel, "text": "x" })).await;
        assert_eq!((limited.status, limited.error(), limited.header("retry-after")), (429, "ratelimited", Some("1")));
    }
    world.bot("vince").say(&world.general, "another app").await;
    world.slack.advance(Duration::from_secs(1));
    kelly.say(&world.general, "a second later").await;
    assert_eq!(kelly.history(&world.general).await.len(), 6);
}

#[tokio::test]
async fn a_method_is_limited_by_its_tier() {
    let world = start_with(|options| options.rate_limits = RateLimits::Slack).await;
    let kelly = world.kelly();
    for _ in 0..20 {
        kelly.call("users.list", json!({})).await.ok();
    }
    let limited = kelly.call("users.list", json!({})).await;
    assert_eq!((limited.status, limited.header("retry-after")), (429, Some("3")));
    kelly.call("team.info", json!({})).await.ok();
    world.slack.advance(Duration::from_secs(3));
    kelly.call("users.list", json!({})).await.ok();
}
