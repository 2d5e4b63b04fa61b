//! Texts about check-ins, for people.

use std::time::Duration;

use crate::features::standup::render::labels;
use kernel::chat::medium::Medium;
use kernel::chat::text::ChannelRef;
use kernel::ids::ChannelId;

/// The most characters of the reason why a person could not be reached.
const REASON: usize = 120;

/// The direct message before a standup that begins at this time.
pub fn render_checkin_question(channel: &ChannelId, at: impl AsRef<str>) -> String {
    format!(
        "The standup in {} is at {}. What did you do yesterday, what is on for today, what is in your way?\n\
         Write it here before then. It goes into the Day Report, where everybody in the channel can read it.",
        ChannelRef(channel),
        at.as_ref()
    )
}

/// Confirms that a message was taken.
pub fn render_checkin_noted(at: &str, is_answered: bool) -> String {
    if is_answered { "Added.".to_owned() } else { format!("Thanks, noted for the standup at {at}. You can add to it until then.") }
}

/// Tells that a report came after the standup. Without `next`, none is scheduled.
pub fn render_kept_report(next: Option<&str>) -> String {
    match next {
        Some(at) => format!("The standup is over, so I keep this for the next one ({at})."),
        None => {
            "The standup is over. If there is another one today, this is part of it. Otherwise please say it in the next one.".to_owned()
        }
    }
}

/// Confirms that a person is left alone until they are back.
/// `span` is "until Thursday, 3 December" or "from Monday, 30 November, until Saturday, 5 December".
pub fn render_away(span: &str) -> String {
    format!(
        "Noted: you are away {span}. I won't ask you for reports in that time. If you are back earlier, say \"I'm back\" or use `/standup back`."
    )
}

/// Confirms the first of two absences with time between them.
pub fn render_away_first(span: &str, other: &str) -> String {
    format!("Noted: you are away {span}. I keep one absence at a time, so tell me that you are away {other} once that is over.")
}

pub fn render_back() -> String {
    "Welcome back. From now on I ask you for your reports again.".to_owned()
}

/// Confirms that a person will be asked, or says why the last question did not reach them.
pub fn render_checkin_on(channel: &ChannelId, lead: Duration, failed: Option<&str>) -> String {
    let lead = labels::duration(lead.as_secs());
    let told = format!(
        "I'll send you a direct message {lead} before each scheduled standup in {}. \
         Your answer goes into the Day Report. Press the button again or use `/standup checkin off` to stop it.",
        ChannelRef(channel)
    );
    match failed {
        Some(why) => format!(
            "{told}\nMy last direct message did not reach you ({}). Allow direct messages from members of this server in its privacy settings.",
            Medium::Chat.line_within(why, REASON)
        ),
        None => told,
    }
}

pub fn render_checkin_off(channel: &ChannelId) -> String {
    format!("I won't ask you before standups in {}.", ChannelRef(channel))
}
