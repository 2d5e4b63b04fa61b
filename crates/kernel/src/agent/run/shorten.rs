//! Makes the messages of a run shorter, for a model that cannot read them all.

use crate::llm::ModelMessage;

/// The sections are cut to a third of their text.
const KEPT: usize = 3;
/// Sections of fewer bytes are not cut.
const LEAST: usize = 400;
/// A longer message without sections loses its middle.
const PLAIN: usize = 6000;

/// A section between markers.
struct Section {
    /// The index of the message, and the range of the section in its text.
    message: usize,
    begin: usize,
    end: usize,
    /// The end is newer than the beginning, so the end is kept.
    keeps_end: bool,
    is_task: bool,
}

/// The beginnings of the labels of what is to be done, which is cut last.
const TASK: [&str; 9] =
    ["work item", "request", "what was asked for", "what is wanted", "why the last try", "its criteria", "directive", "question", "task"];

/// Cuts the longest sections first, so that short ones stay whole, and the task only if nothing else is left. False if nothing can be cut.
pub(super) fn shorten(messages: &mut [ModelMessage]) -> bool {
    shorten_sections(messages, false) || shorten_sections(messages, true)
}

fn shorten_sections(messages: &mut [ModelMessage], with_task: bool) -> bool {
    let sections = messages.iter().enumerate().flat_map(|(number, message)| find_sections(number, message));
    let sections: Vec<Section> = sections.filter(|section| with_task || !section.is_task).collect();
    let most = find_most(&sections.iter().map(|section| section.end - section.begin).collect::<Vec<_>>());
    let mut is_shorter = false;
    // Starts with the last section, so that the positions of the others stay valid.
    for section in sections.iter().rev().filter(|section| section.end - section.begin > most) {
        let Some(text) = text_of(&mut messages[section.message]) else { continue };
        let short = cut(&text[section.begin..section.end], most, section.keeps_end);
        text.replace_range(section.begin..section.end, &short);
        is_shorter = true;
    }
    for message in messages.iter_mut().filter(|message| find_sections(0, message).is_empty()) {
        if let Some(text) = text_of(message).filter(|text| text.len() > PLAIN) {
            let (head, tail) = (text.floor_char_boundary(PLAIN / 2), text.ceil_char_boundary(text.len() - PLAIN / 6));
            *text = format!("{}\n(cut here: {} characters)\n{}", &text[..head], text[head..tail].chars().count(), &text[tail..]);
            is_shorter = true;
        }
    }
    is_shorter
}

fn text_of(message: &mut ModelMessage) -> Option<&mut String> {
    match message {
        ModelMessage::User(text) | ModelMessage::ToolResult { text, .. } => Some(text),
        ModelMessage::Assistant { .. } => None,
    }
}

/// The data blocks of a message. Its first line contains their marker.
fn find_sections(message: usize, of: &ModelMessage) -> Vec<Section> {
    let (ModelMessage::User(text) | ModelMessage::ToolResult { text, .. }) = of else { return Vec::new() };
    let Some(marker) = text.lines().next().and_then(|line| line.strip_prefix("Marker of this message: ")) else { return Vec::new() };
    let (opened, closed) = (format!("<<data {marker} | "), format!("\n<<end {marker}>>"));
    let mut sections = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(&opened).map(|found| at + found) {
        let Some(begin) = text[found..].find('\n').map(|line| found + line + 1) else { break };
        let Some(end) = text[begin - 1..].find(&closed).map(|end| begin - 1 + end) else { break };
        let label = &text[found + opened.len()..begin];
        let keeps_end = label.starts_with("transcript") || label.starts_with("summaries");
        let is_task = TASK.iter().any(|begins| label.starts_with(begins));
        sections.push(Section { message, begin, end: end.max(begin), keeps_end, is_task });
        at = end.max(begin);
    }
    sections
}

/// The length to which sections are cut, so that a third of all is left.
fn find_most(lengths: &[usize]) -> usize {
    let mut lengths = lengths.to_vec();
    lengths.sort_unstable();
    let mut left = lengths.iter().sum::<usize>() / KEPT;
    for (number, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - number);
        if *length > share {
            return share.max(LEAST);
        }
        left -= length;
    }
    usize::MAX
}

fn cut(text: &str, most: usize, keeps_end: bool) -> String {
    let kept = if keeps_end { &text[text.ceil_char_boundary(text.len() - most)..] } else { &text[..text.floor_char_boundary(most)] };
    let left_out = text.chars().count() - kept.chars().count();
    if keeps_end {
        // The first line is dropped, because it may begin in its middle.
        let kept = kept.split_once('\n').map_or(kept, |(_, rest)| rest);
        format!("(cut: older lines)\n{kept}")
    } else {
        format!("{kept}…\n(cut: {left_out} characters more)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(label: &str, text: &str) -> String {
        format!("<<data m1 | {label}>>\n{text}\n<<end m1>>\n\n")
    }

    fn shortened(text: String) -> Option<String> {
        let mut messages = [ModelMessage::User(text)];
        let is_shorter = shorten(&mut messages);
        let [ModelMessage::User(text)] = messages else { panic!("a message of a person") };
        is_shorter.then_some(text)
    }

    #[test]
    fn the_longest_sections_are_cut_and_the_question_stays() {
        let lines = (0..500).map(|number| format!("[person Ann, 14:02] line {number}\n")).collect::<Vec<_>>().concat();
        let blocks = [
            block("transcript, oldest first", lines.trim_end()),
            block("file a.md", &"word ".repeat(3000)),
            block("feed git", "- one commit"),
        ];
        let text = format!("Marker of this message: m1\nIt is Friday.\n\n{}person Ann says to you:\n\nWhat is new?", blocks.concat());
        let before = text.len();
        let text = shortened(text).expect("it can be cut");
        assert!(text.len() < before / 2, "{} of {before}", text.len());
        for kept in [
            "[person Ann, 14:02] line 499\n<<end m1>>",
            "(cut: older lines)\n[person Ann",
            "- one commit",
            "characters more)\n<<end m1>>",
            "What is new?",
        ] {
            assert!(text.contains(kept), "{kept} is missing in {text}");
        }
        assert!(!text.contains("line 0\n"));
        assert!(text.matches("<<end m1>>").count() == 3);
    }

    #[test]
    fn the_task_is_cut_only_if_nothing_else_can_be() {
        let task = block("work item", &"what ".repeat(1000));
        let both = shortened(format!("Marker of this message: m1\n{task}{}Go.", block("feed git", &"line ".repeat(1000))))
            .expect("the feed can be cut");
        assert!(both.contains(&task) && both.matches("characters more)").count() == 1, "{both}");
        let alone = shortened(format!("Marker of this message: m1\n{task}Go.")).expect("the task can be cut");
        assert!(alone.contains("characters more)"));
    }

    #[test]
    fn what_cannot_be_cut_is_told() {
        assert_eq!(shortened("What is new?".into()), None);
        assert_eq!(shortened(format!("Marker of this message: m1\n{}Well?", block("feed git", "- one commit"))), None);
    }

    #[test]
    fn a_long_text_without_sections_loses_its_middle() {
        let text = shortened(format!("Begin. {} The end.", "ä".repeat(20_000))).expect("it can be cut");
        assert!(text.starts_with("Begin.") && text.ends_with("The end.") && text.len() < 2 * PLAIN, "{}", text.len());
    }
}
