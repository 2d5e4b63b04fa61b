//! The messages on the screen and the numbers by which the person speaks of them.

use std::collections::BTreeMap;

use super::model::Message;

/// Older ones have long scrolled away.
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Shown {
    messages: BTreeMap<usize, Message>,
    last: usize,
}

impl Shown {
    /// Gives the message its number; one that was shown before keeps the number it had.
    pub(super) fn record(&mut self, message: Message) -> usize {
        let number = self.find_number(&message.id).unwrap_or(self.last + 1);
        self.last = self.last.max(number);
        self.messages.insert(number, message);
        if self.messages.len() > MOST {
            self.messages.pop_first();
        }
        number
    }

    pub(super) fn find_number(&self, id: &str) -> Option<usize> {
        self.messages.iter().rev().find(|(_, message)| message.id == id).map(|(number, _)| *number)
    }

    /// # Errors
    /// A sentence for the person when no such message is on the screen.
    pub(super) fn get(&self, number: usize) -> anyhow::Result<&Message> {
        let found = self.messages.get(&number);
        found.ok_or_else(|| anyhow::anyhow!("there is no message {number} on the screen; /history shows the last ones"))
    }

    /// The newest message of a channel, by number on the screen.
    pub(super) fn find_last(&self, channel_id: &str) -> Option<&Message> {
        self.messages.values().rev().find(|message| message.channel_id == channel_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: usize) -> Message {
        Message { id: id.to_string(), channel_id: "20".to_owned(), ..Message::default() }
    }

    #[test]
    fn a_message_keeps_its_number() {
        let mut shown = Shown::default();
        assert_eq!(shown.record(message(70)), 1);
        assert_eq!(shown.record(message(71)), 2);
        assert_eq!(shown.record(message(70)), 1);
        assert_eq!(shown.find_last("20").map(|message| message.id.as_str()), Some("71"));
        assert_eq!(
            shown.get(3).expect_err("there are two").to_string(),
            "there is no message 3 on the screen; /history shows the last ones"
        );
    }

    #[test]
    fn what_scrolled_away_is_forgotten() {
        let mut shown = Shown::default();
        for id in 0..MOST + 5 {
            shown.record(message(id));
        }
        assert!(shown.get(5).is_err());
        assert_eq!(shown.get(6).expect("the rest is there").id, "5");
    }
}
