//! Shares the context window of a model among the parts of a prompt.
//!
//! Parts of a higher [`Rank`] get their room first, so the task is whole wherever it fits at all. What is left out is named with its size and with the
//! call that reads it. Pure.

use crate::agent::prompt::Block;

/// What a part is for, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// What is to be done, with all its parts, criteria, answers and corrections. Or what is to be judged or answered.
    Task,
    /// Why an earlier result was not accepted.
    SentBack,
    /// Results that the task rests on.
    BuiltOn,
    /// What people and colleagues said about it.
    Said,
    Feeds,
    Memory,
}

/// A part of a prompt. Its text is sanitised already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    rank: Rank,
    block: Block,
    /// The call that reads what is left out. Empty: there is none.
    read_by: String,
    /// Its most bytes, however much room there is.
    most: usize,
}

impl Part {
    pub fn new(rank: Rank, label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { rank, block: Block { label: label.into(), text: text.into() }, read_by: String::new(), most: usize::MAX }
    }

    #[must_use]
    pub fn at_most(self, bytes: usize) -> Self {
        Self { most: bytes, ..self }
    }

    /// A part of these lines. None if there are none.
    pub fn of_lines(rank: Rank, label: &str, lines: impl Iterator<Item = String>) -> Option<Self> {
        let text = lines.collect::<Vec<_>>().join("\n");
        (!text.is_empty()).then(|| Self::new(rank, label, text))
    }

    /// With the call that reads it, such as "`item_read` with `c63dd4`".
    #[must_use]
    pub fn read_by(self, call: impl Into<String>) -> Self {
        Self { read_by: call.into(), ..self }
    }
}

impl From<(Rank, Block)> for Part {
    fn from((rank, block): (Rank, Block)) -> Self {
        Self { rank, block, read_by: String::new(), most: usize::MAX }
    }
}

/// Estimated, as the ledger does before a call.
pub const BYTES_PER_TOKEN: usize = 4;

/// The share of a context window that a prompt may have. The rest is for what tools return and for the answer.
const SHARE: (usize, usize) = (5, 8);

/// A beginning with fewer bytes is left out, because it tells nothing.
const LEAST: usize = 160;

/// The tokens that a prompt may have in a context window.
pub fn prompt_tokens(window: usize) -> usize {
    window / SHARE.1 * SHARE.0
}

/// The tokens of a text.
pub fn tokens_of(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// The parts as blocks in their order, together at most about `tokens`. Parts of one rank share evenly, and what short ones leave goes to the long ones.
pub fn fit(parts: Vec<Part>, tokens: usize) -> Vec<Block> {
    let rooms = share(&parts, tokens.saturating_mul(BYTES_PER_TOKEN));
    parts.into_iter().zip(rooms).map(|(part, room)| shorten(part, room)).collect()
}

/// The room of each part in bytes.
fn share(parts: &[Part], mut left: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let wanted = |index: usize| parts[index].block.text.len().min(parts[index].most);
    order.sort_by_key(|&index| (parts[index].rank, wanted(index)));
    let mut rooms = vec![0; parts.len()];
    for same in order.chunk_by(|&a, &b| parts[a].rank == parts[b].rank) {
        for (place, &index) in same.iter().enumerate() {
            rooms[index] = wanted(index).min(left / (same.len() - place));
            left -= rooms[index];
        }
    }
    rooms
}

fn shorten(Part { block, read_by, .. }: Part, room: usize) -> Block {
    let Block { label, text } = block;
    if text.len() <= room {
        return Block { label, text };
    }
    let end = if room < LEAST { 0 } else { end_of_line(&text, text.floor_char_boundary(room)) };
    let (all, kept) = (text.chars().count(), text[..end].chars().count());
    let what = if kept == 0 { format!("all {all} characters") } else { format!("{} of {all} characters", all - kept) };
    let call = if read_by.is_empty() { String::new() } else { format!("; {read_by} reads them") };
    let gap = if kept == 0 { "" } else { "\n" };
    Block { label, text: format!("{}{gap}{LEFT_OUT}{what}{call})", text[..end].trim_end()) }
}

/// Whether something of a block was left out.
pub fn is_shortened(block: &Block) -> bool {
    block.text.ends_with(')') && block.text.contains(LEFT_OUT)
}

/// What names the text that is left out.
const LEFT_OUT: &str = "(left out here: ";

/// The end of the last line before `end`, unless that loses much.
fn end_of_line(text: &str, end: usize) -> usize {
    text[..end].rfind('\n').filter(|line| *line > end / 4 * 3).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(bytes: usize) -> Part {
        Part::new(Rank::Task, "work item", "word ".repeat(bytes / 5)).read_by("`item_read` with `c63dd4`")
    }

    fn text_of<'a>(blocks: &'a [Block], label: &str) -> &'a str {
        blocks.iter().find(|block| block.label == label).map(|block| block.text.as_str()).expect("the block is there")
    }

    #[test]
    fn the_task_comes_first_and_memory_last() {
        let parts = vec![
            Part::new(Rank::Memory, "lessons", "m".repeat(4000)),
            task(6000),
            Part::new(Rank::BuiltOn, "needed", "b".repeat(4000)).read_by("`item_read` with `0f3a11`"),
        ];
        let blocks = fit(parts, 2000);
        assert_eq!(blocks.iter().map(|block| block.label.as_str()).collect::<Vec<_>>(), ["lessons", "work item", "needed"]);
        assert_eq!(text_of(&blocks, "work item").len(), 6000);
        assert!(text_of(&blocks, "needed").ends_with("b\n(left out here: 2000 of 4000 characters; `item_read` with `0f3a11` reads them)"));
        assert_eq!(text_of(&blocks, "lessons"), "(left out here: all 4000 characters)");
    }

    #[test]
    fn parts_of_one_rank_share_and_short_ones_leave_their_rest() {
        let part = |label: &str, bytes| Part::new(Rank::BuiltOn, label, "b".repeat(bytes));
        let blocks = fit(vec![part("long", 5000), part("short", 200), part("other", 5000)], 1050);
        assert_eq!(text_of(&blocks, "short").len(), 200);
        for label in ["long", "other"] {
            assert!(text_of(&blocks, label).ends_with("(left out here: 3000 of 5000 characters)"), "{label}");
        }
    }

    #[test]
    fn a_long_task_is_whole_at_128_000_tokens_and_named_at_8_000() {
        let bytes = 200_000;
        let whole = fit(vec![task(bytes), Part::new(Rank::Feeds, "feed", "f".repeat(400_000))], prompt_tokens(128_000));
        assert_eq!(text_of(&whole, "work item").len(), bytes);
        let cut = fit(vec![task(bytes)], prompt_tokens(8000));
        assert!(text_of(&cut, "work item").len() < 8000 * BYTES_PER_TOKEN);
        assert!(text_of(&cut, "work item").ends_with("of 200000 characters; `item_read` with `c63dd4` reads them)"));
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_its_room_and_nothing_is_dropped_in_silence(
            parts in proptest::collection::vec((0_u8..6, "(\\PC|\n){0,600}"), 0..8),
            tokens in 0_usize..600,
        ) {
            let ranks = [Rank::Task, Rank::BuiltOn, Rank::SentBack, Rank::Said, Rank::Feeds, Rank::Memory];
            let parts: Vec<Part> = parts.into_iter().map(|(rank, text)| Part::new(ranks[usize::from(rank)], "part", text)).collect();
            let whole: Vec<(Rank, String)> = parts.iter().map(|part| (part.rank, part.block.text.clone())).collect();
            let notes = parts.len() * 80;
            let blocks = fit(parts, tokens);
            prop_assert!(blocks.iter().map(|block| block.text.len()).sum::<usize>() <= tokens * BYTES_PER_TOKEN + notes);
            for ((_, before), after) in whole.iter().zip(&blocks) {
                prop_assert!(*before == after.text || after.text.contains("(left out here: "));
            }
            // No part is shortened as long as one of a lower rank has text.
            for (place, (rank, before)) in whole.iter().enumerate().filter(|(_, (_, before))| !before.is_empty()) {
                let below = whole.iter().zip(&blocks).filter(|((other, _), _)| other > rank);
                let lower: usize = below.filter(|((_, before), after)| *before == after.text).map(|((_, before), _)| before.len()).sum();
                prop_assert!(*before == blocks[place].text || lower == 0);
            }
        }
    }
}
