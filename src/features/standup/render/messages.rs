use kernel::chat::format::{MESSAGE_LIMIT, align_tables};
use kernel::chat::split::split;

/// Packs parts into as few messages as possible, in order. Tables are aligned, and a part is split only if it exceeds a message.
pub(super) fn pack(parts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for part in parts {
        let part = align_tables(&part);
        let length = part.chars().count();
        match messages.last_mut() {
            Some(last) if last.chars().count() + 2 + length <= MESSAGE_LIMIT => {
                last.push_str("\n\n");
                last.push_str(part.trim());
            }
            _ => messages.extend(split(&part, MESSAGE_LIMIT)),
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_parts_share_a_message_and_long_ones_are_cut() {
        let parts = ["a".repeat(900), "b".repeat(900), "c".repeat(900), "d ".repeat(2500)];
        let messages = pack(parts);
        assert_eq!(messages.iter().map(|message| message.chars().count()).collect::<Vec<_>>(), [1802, 900, 1999, 1999, 999]);
        assert!(pack([String::new(), " \n".to_owned()]).is_empty());
    }
}
