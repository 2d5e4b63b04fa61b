//! How much of a file was read, as a sentence below an answer.

use crate::agent::offline::wording::foreign;
use crate::chat::text::Subtext;
use crate::text::join_with_and;

/// The most files that a sentence names.
const NAMED: usize = 3;
/// Sizes below this are shown in bytes.
const KILOBYTES: usize = 2000;

/// A file that was not read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRead {
    pub name: String,
    /// In bytes of its text. 0: nothing was read.
    pub read: usize,
    pub of: usize,
}

/// A line of small print such as `Read 12 of 900 kB of plan.md.` None if nothing was left out. `verb`: what was done with the part.
pub fn remark_on_parts(verb: &str, parts: &[PartRead]) -> Option<String> {
    let (read, unread): (Vec<&PartRead>, Vec<&PartRead>) = parts.iter().partition(|part| part.read > 0);
    let of = |part: &&PartRead| format!("{} of {}", amount(part.read, part.of), name(part));
    let read = listed(read.iter().map(of).collect()).map(|read| format!("{verb} {read}."));
    let unread = listed(unread.iter().map(|part| name(part)).collect()).map(|unread| format!("Not read: {unread}."));
    let sentences: Vec<String> = read.into_iter().chain(unread).collect();
    (!sentences.is_empty()).then(|| Subtext(sentences.join(" ")).to_string())
}

/// How much of a text was read: `12 of 900 kB`.
pub fn amount(read: usize, of: usize) -> String {
    if of < KILOBYTES { format!("{read} of {of} bytes") } else { format!("{} of {} kB", (read / 1000).max(1), of.div_ceil(1000)) }
}

fn name(part: &PartRead) -> String {
    foreign(&part.name, 80)
}

fn listed(mut parts: Vec<String>) -> Option<String> {
    let more = parts.len().saturating_sub(NAMED);
    parts.truncate(NAMED);
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    (!parts.is_empty()).then(|| join_with_and(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, read: usize, of: usize) -> PartRead {
        PartRead { name: name.into(), read, of }
    }

    #[test]
    fn what_was_read_is_told_in_one_line() {
        for (parts, expected) in [
            (vec![part("plan.md", 12_345, 900_000)], "Read 12 of 900 kB of plan.md."),
            (vec![part("plan.md", 120, 500)], "Read 120 of 500 bytes of plan.md."),
            (vec![part("a.md", 7_999, 8_001), part("b.md", 1, 4_000)], "Read 7 of 9 kB of a.md and 1 of 4 kB of b.md."),
            (vec![part("a.md", 900, 3_000), part("b.md", 0, 4_000)], "Read 1 of 3 kB of a.md. Not read: b.md."),
            ((0..5).map(|n| part(&format!("{n}.md"), 0, 4_000)).collect(), "Not read: 0.md, 1.md, 2.md and 2 more."),
        ] {
            assert_eq!(remark_on_parts("Read", &parts), Some(format!("<small>{expected}</small>")));
        }
        assert_eq!(remark_on_parts("Read", &[]), None);
    }

    #[test]
    fn a_name_calls_nobody() {
        assert!(!remark_on_parts("Read", &[part("@Vince.md", 1, 9_000)]).unwrap().contains('@'));
    }
}
