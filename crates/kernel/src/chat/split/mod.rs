//! Splits long text into several messages (CHAT-23).
//!
//! Length is counted in code points. Cuts fall at a paragraph, line or word boundary. Without one, they fall inside a
//! word, but never inside a link, a mention or a combined character.

/// Closes a code block, with the line break before it.
const CLOSING: &str = "\n```";

/// Below this limit, code fences are not repaired, because there is no room.
const SMALLEST_FOR_FENCES: usize = 32;

/// The most bytes to search backwards for the start of a mention or a combined character.
const LOOK_BACK: usize = 64;

/// Splits a text into messages of at most `limit` characters (at least one). No message is blank. White space at a cut is dropped. A code
/// block that is cut is closed and reopened with its language, within the limit.
pub fn split(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(1);
    let mut messages = Vec::new();
    let mut fence: Option<&str> = None;
    let mut rest = text.trim_end();
    loop {
        rest = if fence.is_some() { rest } else { rest.trim_start_matches(['\n', '\r']) };
        let opening = fence.map(|language| reopening(language, limit)).unwrap_or_default();
        let room = limit - opening.chars().count();
        let Some(window) = find_overflow(rest, room) else {
            let never_closed = fence.is_some() && fence_after(fence, rest).is_some();
            let closing = if never_closed && find_overflow(rest, room.saturating_sub(CLOSING.len())).is_none() { CLOSING } else { "" };
            push(&mut messages, opening + rest + closing);
            return messages;
        };
        let repairs = limit >= SMALLEST_FOR_FENCES && (fence.is_some() || rest[..window].contains("```"));
        let window = if repairs { find_overflow(rest, room - CLOSING.len()).unwrap_or(window) } else { window };
        let cut = find_cut(rest, window, fence);
        let (head, tail) = rest.split_at(cut);
        if repairs {
            fence = fence_after(fence, head);
        }
        let mut message = opening + head;
        rest = tail;
        if fence.is_some() {
            message.truncate(message.trim_end_matches('\n').len());
            message.push_str(CLOSING);
            rest = rest.strip_prefix('\n').unwrap_or(rest);
            // Only the closing fence is left, so the block ends here.
            if let Some(after) = rest.trim_start().strip_prefix("```") {
                (fence, rest) = (None, after);
            }
        } else {
            message.truncate(message.trim_end().len());
            rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        }
        push(&mut messages, message);
    }
}

fn push(messages: &mut Vec<String>, message: String) {
    if !message.trim().is_empty() {
        messages.push(message);
    }
}

/// The first line of a continued code block. A long language name is dropped.
fn reopening(language: &str, limit: usize) -> String {
    let language = if language.len() * 4 > limit { "" } else { language };
    format!("```{language}\n")
}

/// The byte position after `room` characters, if the text is longer.
fn find_overflow(text: &str, room: usize) -> Option<usize> {
    match text.as_bytes().get(..room) {
        None => None,
        Some(start) if start.is_ascii() => (text.len() > room).then_some(room),
        Some(_) => text.char_indices().nth(room).map(|(at, _)| at),
    }
}

/// The language of the code block open after `text`, given the one open before it.
fn fence_after<'t>(mut open: Option<&'t str>, text: &'t str) -> Option<&'t str> {
    let mut rest = text;
    while let Some(at) = rest.find("```") {
        rest = rest[at..].trim_start_matches('`');
        open = if open.is_some() { None } else { Some(language_of(rest)) };
    }
    open
}

/// The language after an opening fence. Text without a line break is code, not a language: "```word```".
fn language_of(block: &str) -> &str {
    let line = block.split_once('\n').map_or("", |(line, _)| line.trim_end());
    if line.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '.' | '#')) { line } else { "" }
}

/// The position of the cut, at most `window`. Never 0.
fn find_cut(text: &str, window: usize, fence: Option<&str>) -> usize {
    // A boundary directly after the window leaves the whole window to this message.
    let next = text[window..].chars().next().map_or(0, char::len_utf8);
    let reach = &text[..window + next];
    let paragraph = reach.rfind("\n\n").filter(|at| *at >= window / 3);
    let line = || reach.rfind('\n').filter(|at| *at >= window / 4);
    let word = || reach.rfind(char::is_whitespace).filter(|at| *at > 0 && !reach[..*at].trim().is_empty());
    let cut = paragraph.or_else(line).or_else(word).map_or_else(|| inside_word(text, window), |at| before_link(text, at));
    before_fence(&text[..cut], fence).unwrap_or(cut)
}

/// Moves the cut before a `[text](address)` link, whose text may contain spaces, unless that leaves nothing.
fn before_link(text: &str, cut: usize) -> usize {
    let line = text[..cut].rfind('\n').map_or(0, |at| at + 1);
    let Some(open) = text[line..cut].rfind('[').map(|at| line + at) else { return cut };
    let end = text[open..].split_once("](").and_then(|(words, address)| {
        let close = address.find([')', ' ', '\n']).filter(|at| address[*at..].starts_with(')'))?;
        (!words.contains('\n')).then_some(open + words.len() + 2 + close)
    });
    if open > 0 && end.is_some_and(|end| end >= cut) { open } else { cut }
}

/// A cut in text without white space.
fn inside_word(text: &str, window: usize) -> usize {
    let mut cut = before_link(text, window);
    if let Some((link, _)) = text[..cut].rmatch_indices('h').find(|(at, _)| is_address(&text[*at..]))
        && link > 0
    {
        cut = link;
    }
    let near = text.floor_char_boundary(cut.saturating_sub(LOOK_BACK));
    if let Some(open) = text[near..cut].rfind('<').map(|at| near + at)
        && open > 0
        && !text[open..cut].contains('>')
        && text[open + 1..].starts_with(['u', 'c', ':', '/', 't', 'a'])
    {
        cut = open;
    }
    let ticks = text[..cut].trim_end_matches('`').len();
    if ticks > 0 && text[cut..].starts_with('`') {
        cut = ticks;
    }
    let mut whole = cut;
    while whole > near && joins(&text[..whole], &text[whole..]) {
        whole = text.floor_char_boundary(whole - 1);
    }
    if whole > 0 && !joins(&text[..whole], &text[whole..]) { whole } else { cut }
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Whether both sides of a position form one visible character: a letter with marks, an emoji sequence, a flag.
fn joins(before: &str, after: &str) -> bool {
    let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else { return false };
    let extends = matches!(next,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{0900}'..='\u{0903}'
        | '\u{093A}'..='\u{094F}' | '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}' | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}' | '\u{200C}' | '\u{200D}' | '\u{20D0}'..='\u{20FF}' | '\u{3099}' | '\u{309A}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FE20}'..='\u{FE2F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}');
    let flags = before.chars().rev().take_while(|c| is_flag_half(*c)).count();
    extends || last == '\u{200D}' || (last == '\r' && next == '\n') || (is_flag_half(next) && flags % 2 == 1)
}

fn is_flag_half(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}

/// The start of a code block of which only the first line would fit.
fn before_fence(head: &str, fence: Option<&str>) -> Option<usize> {
    let at = head.rfind("```").map(|at| head[..at].trim_end_matches('`').len()).filter(|at| *at > 0)?;
    let only_its_line = !head[at..].trim_end().contains('\n');
    (only_its_line && fence_after(fence, &head[..at]).is_none() && !head[..at].trim().is_empty() && head[..at].ends_with('\n'))
        .then_some(at)
}

#[cfg(test)]
mod tests;
