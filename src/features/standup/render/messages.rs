use kernel::chat::format::TextFormat;

/// Packs parts into as few messages as possible, in order. Tables are laid out, and a part is split only if it exceeds a message.
pub(super) fn pack(parts: impl IntoIterator<Item = String>, format: &TextFormat) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for part in parts {
        let part = format.lay_out(&part);
        let joined = messages.last().map(|last| format!("{last}\n\n{}", part.trim())).filter(|joined| format.fits(joined));
        match (messages.last_mut(), joined) {
            (Some(last), Some(joined)) => *last = joined,
            _ => messages.extend(format.split(&part)),
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
        let messages = pack(parts, &TextFormat::plain(2000));
        assert_eq!(messages.iter().map(|message| message.chars().count()).collect::<Vec<_>>(), [1802, 900, 1999, 1999, 999]);
        assert!(pack([String::new(), " \n".to_owned()], &TextFormat::plain(2000)).is_empty());
    }
}
