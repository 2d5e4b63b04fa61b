//! `conversations.history` and `conversations.replies`.

use serde_json::{Value, json};

use super::super::paging::page;
use super::{ApiError, Call, Channel, Outcome};
use crate::options::Distribution;
use crate::state::{Message, Ts, replies};

/// The most messages in one answer.
const PAGE_LIMIT: usize = 999;
/// The most messages in one answer to a commercially distributed app.
const COMMERCIAL_LIMIT: usize = 15;

/// The messages of a channel, the newest first.
pub(crate) fn history(call: &mut Call) -> Outcome {
    let channel = call.readable_channel("channel")?;
    let limit = limit_commercial(call, "conversations.history")?;
    let range = Range::of(call)?;
    let shown: Vec<Message> =
        channel.messages.values().rev().filter(|message| message.is_in_channel() && range.holds(message.ts)).cloned().collect();
    let page = page(&call.arguments, shown, 100.min(limit), limit)?;
    let messages: Vec<Value> = page.items.iter().map(|message| render(call, &channel, message)).collect();
    let mut answer = json!({
        "messages": messages, "has_more": !page.next.is_empty(), "pin_count": 0, "channel_actions_ts": null,
        "channel_actions_count": 0,
    });
    // An answer has a cursor only if there is more to come.
    if !page.next.is_empty() {
        answer["response_metadata"] = page.metadata();
    }
    Ok(answer)
}

/// A message and its replies, the oldest first.
pub(crate) fn thread(call: &mut Call) -> Outcome {
    let channel = call.readable_channel("channel")?;
    let limit = limit_commercial(call, "conversations.replies")?;
    let ts: Ts = call.arguments.text("ts")?.parse().map_err(|_| ApiError::new("thread_not_found"))?;
    let found = channel.messages.get(&ts).filter(|message| message.only_for.is_none());
    let parent = found.and_then(|message| channel.messages.get(&message.thread.unwrap_or(ts)));
    let parent = parent.ok_or_else(|| ApiError::new("thread_not_found"))?;
    let range = Range::of(call)?;
    // The parent is in each answer, whatever the range.
    let thread: Vec<Message> =
        std::iter::once(parent).chain(replies(&channel, parent.ts).into_iter().filter(|reply| range.holds(reply.ts))).cloned().collect();
    let page = page(&call.arguments, thread, 1_000.min(limit), limit)?;
    let messages: Vec<Value> = page.items.iter().map(|message| render(call, &channel, message)).collect();
    let mut answer = json!({ "messages": messages, "has_more": !page.next.is_empty() });
    if !page.next.is_empty() {
        answer["response_metadata"] = page.metadata();
    }
    Ok(answer)
}

fn limit_commercial(call: &mut Call, method: &str) -> Result<usize, ApiError> {
    if call.app.config.distribution == Distribution::Internal {
        return Ok(PAGE_LIMIT);
    }
    let now = call.core.now();
    call.core.limits.count_commercial(&call.app.id, method, now).map_err(ApiError::rate_limited)?;
    Ok(COMMERCIAL_LIMIT)
}

/// Renders a message. Metadata is included only if the call asks for it.
fn render(call: &Call, channel: &Channel, message: &Message) -> Value {
    let mut json = call.core.world.message(channel, message);
    if let Some(metadata) = message.metadata.as_ref().filter(|_| call.arguments.flag("include_all_metadata")) {
        json["metadata"] = metadata.clone();
    }
    json
}

/// `oldest` and `latest`, both outside of the range unless `inclusive`.
struct Range {
    oldest: Option<Ts>,
    latest: Option<Ts>,
    inclusive: bool,
}

impl Range {
    fn of(call: &Call) -> Result<Self, ApiError> {
        let oldest = call.arguments.ts("oldest", "invalid_ts_oldest")?;
        let latest = call.arguments.ts("latest", "invalid_ts_latest")?;
        Ok(Self { oldest, latest, inclusive: call.arguments.flag("inclusive") })
    }

    fn holds(&self, ts: Ts) -> bool {
        let is_edge = self.inclusive && (self.oldest == Some(ts) || self.latest == Some(ts));
        is_edge || self.oldest.is_none_or(|oldest| ts > oldest) && self.latest.is_none_or(|latest| ts < latest)
    }
}
