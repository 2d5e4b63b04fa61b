//! Finds signals in an answer: fenced or bare, complete or truncated.

use std::ops::Range;

/// A block to remove from the text.
pub(super) struct Block {
    /// Including its fences.
    pub(super) whole: Range<usize>,
    /// The part that may contain signals.
    pub(super) content: Range<usize>,
}

/// Info strings of fences that are removed from posts.
const LABELS: [&str; 5] = ["signals", "signal", "json", "jsonc", "json5"];

/// Keys that identify unfenced JSON as signals.
const KEYS: [&str; 6] = ["subject", "direction", "confidence", "evidence", "signals", "topic"];

/// The first signal block in a text. Other code blocks are skipped.
pub(super) fn find_block(text: &str) -> Option<Block> {
    let mut open: Option<Fence> = None;
    let mut at = 0;
    while let Some(found) = text[at..].find(['`', '~', '[', '{']) {
        let start = at + found;
        let fence = Fence::at(&text[start..]);
        match (&fence, &open) {
            (Some(fence), Some(opening)) if fence.closes(opening) => open = None,
            (Some(fence), _) if fence.holds_signals(&text[start..]) => return Some(fenced(text, start, fence)),
            (Some(fence), None) => open = Some(*fence),
            (None, _) if opens_signals(&text[start..]) || is_empty_list(text, start) => {
                let end = start + find_end(&text[start..]).unwrap_or(text.len() - start);
                return Some(Block { whole: start..end, content: start..end });
            }
            _ => {}
        }
        at = start + fence.map_or(1, |fence| fence.length);
    }
    None
}

/// The text before a block, without a heading for it: `Signals:`, `**Signals**`, `---`.
pub(super) fn without_heading(text: &str) -> &str {
    let mut text = text.trim_end();
    while !text.is_empty() {
        let start = text.rfind('\n').map_or(0, |line_break| line_break + 1);
        if !announces(&text[start..]) {
            break;
        }
        text = text[..start].trim_end();
    }
    text
}

fn announces(line: &str) -> bool {
    let (marks, line) = (['#', '*', '_', '-', ' '], line.trim().to_lowercase());
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let bare = line.trim_matches(marks);
    bare.is_empty()
        || matches!(words.as_slice(), ["signal" | "signals"])
        || (words.len() <= 6 && words.contains(&"signals") && bare.ends_with(':'))
}

/// The complete top-level JSON objects in a block, and whether one was truncated.
pub(super) fn list_entries(content: &str) -> (Vec<&str>, bool) {
    // Some models wrap the list: {"signals": […]}.
    let wrapped = content.trim_start().starts_with('{') && opens_key(content.trim_start(), "signals");
    let content = content.find('[').filter(|_| wrapped).map_or(content, |list| &content[list..]);
    let mut open: Vec<usize> = Vec::new();
    let mut whole: Vec<Range<usize>> = Vec::new();
    for (at, c) in outside_strings(content) {
        if c == '{' {
            open.push(at);
        } else if c == '}'
            && let Some(start) = open.pop()
        {
            while whole.last().is_some_and(|inner| inner.start > start) {
                whole.pop();
            }
            whole.push(start..at + 1);
        }
    }
    (whole.into_iter().map(|range| &content[range]).collect(), !open.is_empty())
}

/// A run of backticks or tildes that may open or close a block.
#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    /// Followed by a line break only, so it may close a block.
    bare: bool,
}

impl Fence {
    fn at(text: &str) -> Option<Self> {
        let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = text.bytes().take_while(|byte| *byte == mark).count();
        let rest = &text[length..];
        let bare = rest.trim_start_matches([' ', '\t', '\r']).is_empty() || rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        (length >= 3).then_some(Self { mark, length, bare })
    }

    fn closes(self, opening: &Self) -> bool {
        self.bare && self.mark == opening.mark && self.length >= opening.length
    }

    /// Whether the block at `text`, opened by this fence, contains signals.
    fn holds_signals(self, text: &str) -> bool {
        let inside = &text[self.length..];
        let (label, content) = split_label(inside);
        let label = label.to_lowercase();
        // A block truncated in its first word may be signals, too.
        LABELS.contains(&label.as_str()) || content.trim_start().is_empty() || opens_signals(skip_fences(content))
    }
}

fn split_label(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_')).unwrap_or(text.len()))
}

/// Skips an inner fence, because some models nest two.
fn skip_fences(content: &str) -> &str {
    let content = content.trim_start();
    Fence::at(content).map_or(content, |fence| split_label(&content[fence.length..]).1.trim_start())
}

/// The block whose fence is at `start`.
fn fenced(text: &str, start: usize, fence: &Fence) -> Block {
    let inside = skip_fences(split_label(&text[start + fence.length..]).1);
    let content_start = text.len() - inside.len();
    let opens_json = inside.starts_with(['[', '{']);
    // Finds the end of the JSON first, because its strings may contain fences.
    let json_end = opens_json.then(|| find_end(inside)).flatten().map_or(content_start, |length| content_start + length);
    let closing = find_closing(text, json_end, fence.mark);
    let end = match closing {
        Some((_, end)) => end,
        // The fence is never closed, but the JSON is complete. The rest is text for people.
        None if json_end > content_start => json_end,
        None => text.len(),
    };
    let content_end = closing.map_or(end, |(start, _)| start).max(content_start);
    Block { whole: start..end, content: content_start..content_end }
}

/// The next closing fence from `at`, merged with fences directly behind it: its start, and the position after it.
fn find_closing(text: &str, mut at: usize, mark: u8) -> Option<(usize, usize)> {
    let run = char::from(mark).to_string().repeat(3);
    while let Some(found) = text[at..].find(&run) {
        let start = at + found;
        let fence = Fence::at(&text[start..])?;
        at = start + fence.length;
        if fence.bare || text[..start].trim_end().ends_with([']', '}']) {
            while let Some(next) = Fence::at(text[at..].trim_start()).filter(|next| next.bare) {
                at = text.len() - text[at..].trim_start().len() + next.length;
            }
            return Some((start, at));
        }
    }
    None
}

/// Whether a text begins with a list of objects or a signal object, possibly truncated.
fn opens_signals(text: &str) -> bool {
    match text.strip_prefix('[') {
        Some(first) => opens_object(first.trim_start()),
        None => opens_object(text) && KEYS.iter().any(|key| opens_key(text, key)),
    }
}

/// An empty or truncated list at the end, on a line of its own.
fn is_empty_list(text: &str, start: usize) -> bool {
    let Some(rest) = text[start..].strip_prefix('[') else { return false };
    let is_last = rest.strip_prefix(']').unwrap_or(rest).trim_start().is_empty();
    let before = text[..start].trim_end_matches(' ');
    is_last && (before.is_empty() || before.ends_with(['\n', ':']))
}

/// `{ "key" :`, with or without quotes, possibly truncated.
fn opens_object(text: &str) -> bool {
    let Some(key) = text.strip_prefix('{').map(|key| key.trim_start().trim_start_matches(['"', '\''])) else { return false };
    let name = key.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
    let behind = name.trim_start_matches(['"', '\'']).trim_start();
    behind.is_empty() || (name.len() < key.len() && behind.starts_with(':'))
}

/// Whether the object's first key is `key`, possibly truncated.
fn opens_key(text: &str, key: &str) -> bool {
    let text = text.trim_start_matches('{').trim_start().trim_start_matches(['"', '\'']);
    let name: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
    let cut_off = name.len() == text.len();
    let name = name.to_lowercase();
    name == key || (cut_off && key.starts_with(&name))
}

/// The end of the JSON value at the start of a text. None if it has no end before the next fence, because JSON contains fences only in strings.
/// Without this limit, a text with many unclosed blocks would be read to its end once for each block.
fn find_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in outside_strings(text) {
        match c {
            '`' | '~' if Fence::at(&text[at..]).is_some() => return None,
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The characters outside quoted strings. A line break ends a string, so that an extra quote affects only one line.
fn outside_strings(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let (mut quoted, mut escaped) = (false, false);
    text.char_indices().filter(move |(_, c)| {
        let was_quoted = quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '\n' => quoted = false,
            _ => {}
        }
        !was_quoted && !quoted
    })
}
