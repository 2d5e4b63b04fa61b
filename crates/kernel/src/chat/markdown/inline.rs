//! The text of a line: links, footnotes, formulas, HTML. Code, values and what is escaped stay as they are.

use super::Definitions;
use super::formula::{has_command, is_formula, plain};
use super::html::{Tag, entity};
use crate::chat::text::split_value;

/// The longest link, in characters.
const LONGEST: usize = 2000;

/// Rewrites a line outside of code. The result may have line breaks.
pub(super) fn inline(line: &str, known: &Definitions<'_>) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\\' => formula_in(rest, [(r"\(", r"\)"), (r"\[", r"\]")], &mut shown).or_else(|| escape(rest, &mut shown)),
            '`' => code(rest, &mut shown),
            '<' => angle(rest, known, &mut shown),
            '&' => entity(rest).map(|(text, length)| {
                shown.push_str(text);
                length
            }),
            '$' => formula_in(rest, [("$$", "$$"), ("$", "$")], &mut shown),
            '!' if rest[1..].starts_with('[') => bracket(&rest[1..], known, &mut shown).map(|length| length + 1),
            '[' => bracket(rest, known, &mut shown),
            'h' if rest.starts_with("http://") || rest.starts_with("https://") => Some(address(rest, &mut shown)),
            _ => None,
        };
        let taken = taken.unwrap_or_else(|| {
            shown.push(first);
            first.len_utf8()
        });
        rest = &rest[taken..];
    }
    shown
}

/// An escaped character. A backslash at the end of a line is a line break, which is there anyway. What only this module reads needs no backslash any
/// more.
fn escape(rest: &str, shown: &mut String) -> Option<usize> {
    let Some(next) = rest[1..].chars().next() else { return Some(1) };
    match next {
        '&' | '$' => shown.push(next),
        _ if next.is_ascii_punctuation() => shown.extend(['\\', next]),
        _ => return None,
    }
    Some(2)
}

fn code(rest: &str, shown: &mut String) -> Option<usize> {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let after = &rest[ticks..];
    let length = ticks + after.find(&rest[..ticks])? + ticks;
    shown.push_str(&rest[..length]);
    Some(length)
}

/// A value, an address or HTML.
fn angle(rest: &str, known: &Definitions<'_>, shown: &mut String) -> Option<usize> {
    if let Some((_, length)) = split_value(rest) {
        shown.push_str(&rest[..length]);
        return Some(length);
    }
    if rest.starts_with("<http") {
        let length = rest.find('>')? + 1;
        let is_address = !rest[..length].contains(char::is_whitespace);
        is_address.then(|| shown.push_str(&rest[..length]))?;
        return Some(length);
    }
    if rest.starts_with("<!--") {
        return rest.find("-->").map(|end| end + 3);
    }
    Tag::read(rest).map(|tag| tag.write(rest, shown, &|text: &str| inline(text, known)))
}

/// A formula between one of these pairs of marks.
fn formula_in(rest: &str, marks: [(&str, &str); 2], shown: &mut String) -> Option<usize> {
    let (opens, closes) = marks.into_iter().find(|(opens, _)| rest.starts_with(opens))?;
    let after = &rest[opens.len()..];
    let end = if opens == "$" { end_of_dollar(after)? } else { after.find(closes)? };
    let tex = &after[..end];
    // Brackets in foreign text are escaped in the same way.
    let is_one = if opens == r"\[" { has_command(tex) } else { is_formula(tex) };
    is_one.then(|| push_text(&plain(tex), shown))?;
    Some(opens.len() + end + closes.len())
}

/// The end of a formula between single dollars. Prices and patterns have spaces, digits and strokes where a formula has none.
fn end_of_dollar(after: &str) -> Option<usize> {
    let end = after.find('$')?;
    let (tex, next) = (&after[..end], &after[end + 1..]);
    let is_apart = |c: char| c.is_whitespace() || c == '|';
    let touches =
        tex.starts_with(is_apart) || tex.ends_with(is_apart) || tex.ends_with('\\') || next.starts_with(|c: char| c.is_ascii_digit());
    if touches { None } else { Some(end) }
}

/// Text that has no marks.
pub(super) fn push_text(text: &str, shown: &mut String) {
    for c in text.chars() {
        if "\\*_~`|[]<".contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
}

/// An address in the text. Its characters are no marks.
fn address(rest: &str, shown: &mut String) -> usize {
    let length = rest.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>')).unwrap_or(rest.len());
    let mut chars = rest[..length].chars().peekable();
    while let Some(c) = chars.next() {
        let is_escape = c == '\\' && chars.peek().is_some_and(|next| "_-.&=~#()".contains(*next));
        if !is_escape {
            shown.push(c);
        }
    }
    length
}

/// A footnote, `[label](address)`, or `[label][name]`.
fn bracket(rest: &str, known: &Definitions<'_>, shown: &mut String) -> Option<usize> {
    let end = closing(rest, '[', ']')?;
    let label = &rest[1..end];
    if let Some(name) = label.strip_prefix('^').filter(|name| !name.is_empty() && !name.contains(char::is_whitespace)) {
        shown.push_str(&footnote(name));
        return Some(end + 1);
    }
    let after = &rest[end + 1..];
    if after.starts_with('(') {
        let close = closing(after, '(', ')')?;
        let target = after[1..close].trim();
        let address = target.split_whitespace().next().unwrap_or_default();
        // What follows the address is its title. Anything else in parentheses is text.
        let is_link = target == address || target[address.len()..].trim_start().starts_with(['"', '\'', '(']);
        is_link.then(|| shown.push_str(&link(&inline(label, known), address)))?;
        return Some(end + 1 + close + 1);
    }
    let (name, length) = match after.strip_prefix('[').and_then(|after| after.split_once(']')) {
        Some((name, _)) if !name.is_empty() => (name, name.len() + 2),
        Some(_) => (label, 2),
        None => (label, 0),
    };
    let address = known.find(name)?;
    shown.push_str(&link(&inline(label, known), address));
    Some(end + 1 + length)
}

/// `[^1]` is shown as ¹.
pub(super) fn footnote(name: &str) -> String {
    let small = super::formula::small(name, '^');
    if small.starts_with('^') { format!("\\[{name}\\]") } else { small }
}

/// The place of the bracket that closes the first one.
fn closing(text: &str, opens: char, closes: char) -> Option<usize> {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, c) in text.char_indices().take(LONGEST) {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        is_escaped = c == '\\';
        depth += usize::from(c == opens);
        if c == closes {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// A link that each platform shows as one. Parentheses in an address would end it too early. A label that is itself an address is no label.
pub(super) fn link(label: &str, address: &str) -> String {
    // Discord shows no preview of an address in angle brackets.
    let (opens, closes) = if address.starts_with('<') { ("<", ">") } else { ("", "") };
    let address = address.trim_start_matches('<').trim_end_matches('>');
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    let mut whole = String::new();
    self::address(address, &mut whole);
    if label.trim().is_empty() || label.trim() == address {
        return whole;
    }
    if !is_web {
        let shown = address.strip_prefix("mailto:").unwrap_or(address);
        let is_told = shown.is_empty() || shown.starts_with('#') || shown == label;
        return if is_told { label.to_owned() } else { format!("{label} ({shown})") };
    }
    if label.contains("://") {
        return format!("{label} ({whole})");
    }
    format!("[{label}]({opens}{}{closes})", whole.replace('(', "%28").replace(')', "%29"))
}
