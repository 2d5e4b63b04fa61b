//! Slack's markup, in both directions. Its own form of Markdown ("mrkdwn") has one star for bold, no headings and no escapes.

use kernel::chat::format::TextFormat;
use kernel::chat::markdown::simplify;
use kernel::chat::text::{ChannelRef, Mention, Part, escape_values, is_subtext, split_value};

use crate::adapters::slack::ids::{channel_id, to_spot, to_user, user_id};

/// What a message can hold. A section of a message holds 3,000 characters, and most messages have one.
pub const TEXT: TextFormat = TextFormat { limit: 3000, has_tables: false, render: written };

/// A character without width, which Slack takes for a space. Within a mark and its text it takes the mark's meaning away. Between a mark and a letter
/// outside it lets the mark begin or end there, as it otherwise does only at the border of a word.
const APART: char = '\u{200B}';

const FENCE: &str = "```";

/// A text in Slack's markup.
pub(super) fn written(text: &str) -> String {
    translated(&simplify(text))
}

/// A text that was simplified before. Read again, what was escaped in it would be an entity or a formula.
pub(super) fn translated(text: &str) -> String {
    let mut in_code = false;
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            let is_fence = line.trim_start().starts_with(FENCE);
            if is_fence && !in_code {
                in_code = line.trim_start()[FENCE.len()..].find(FENCE).is_none();
                // Slack would show the language as the first line.
                return if in_code { FENCE.to_owned() } else { escaped(line) };
            }
            if in_code {
                in_code = !line.contains(FENCE);
                return escaped(line);
            }
            write_line(line)
        })
        .collect();
    lines.join("\n")
}

/// A line outside of code.
fn write_line(line: &str) -> String {
    let line = if is_subtext(line) { line.trim_start_matches("<small>").trim_end_matches("</small>") } else { line };
    let indent = line.len() - line.trim_start().len();
    let (space, rest) = line.split_at(indent);
    let heading = rest.trim_start_matches('#');
    let level = rest.len() - heading.len();
    if (1..=6).contains(&level) && heading.starts_with(' ') {
        return format!("*{}*", write_inline(&heading.trim().replace("**", "")));
    }
    if let Some(quoted) = rest.strip_prefix('>') {
        return format!("{space}>{}", write_inline(quoted));
    }
    match ["- ", "* ", "+ "].iter().find_map(|bullet| rest.strip_prefix(bullet)) {
        Some(entry) => format!("{space}• {}", write_inline(entry)),
        None => format!("{space}{}", write_inline(rest)),
    }
}

/// Values, links and emphasis of a line.
fn write_inline(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    write_span(line, 0, &mut text);
    text
}

/// A part of a line within so many marks.
fn write_span(line: &str, depth: usize, text: &mut String) {
    let mut rest = line;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\\' => write_escape(rest, before, text),
            '`' => write_code(rest, text),
            '[' => write_link(rest, text),
            '<' => write_value(rest, text).or_else(|| write_autolink(rest, text)),
            'h' if is_address(rest.split([' ', '<', '>', '\n']).next().unwrap_or_default()) => Some(write_address(rest, text)),
            '*' | '~' | '_' => Some(write_emphasis(rest, depth, before, text)),
            _ => None,
        };
        let taken = taken.unwrap_or_else(|| {
            push_escaped(first, text);
            first.len_utf8()
        });
        before = rest[..taken].chars().next_back().unwrap_or(first);
        rest = &rest[taken..];
    }
}

fn write_value(rest: &str, text: &mut String) -> Option<usize> {
    let (value, length) = split_value(rest)?;
    match value {
        Part::Mention(user) => match to_user(&user) {
            Ok(id) => text.extend(["<@", id, ">"]),
            Err(_) => text.extend(["@", user.bare()]),
        },
        Part::Channel(channel) => match to_spot(&channel) {
            Ok(spot) => text.extend(["<#", spot.channel, ">"]),
            Err(_) => text.extend(["#", channel.bare()]),
        },
        Part::Markdown(_) => return None,
    }
    Some(length)
}

/// An address in the text, whose characters are no marks.
fn write_address(rest: &str, text: &mut String) -> usize {
    let word = rest.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '*' | '`' | '|')).next().unwrap_or_default();
    // Marks of what is around it.
    let word = word.trim_end_matches(['_', '~']);
    word.chars().for_each(|c| push_escaped(c, text));
    word.len()
}

/// `\*` is a literal star. Inside a word an underscore formats nothing, so that names such as `test_cases.csv` can be copied.
fn write_escape(rest: &str, before: char, text: &mut String) -> Option<usize> {
    let next = rest[1..].chars().next().filter(char::is_ascii_punctuation)?;
    push_escaped(next, text);
    let is_inside = next == '_' && before.is_alphanumeric() && rest[2..].starts_with(char::is_alphanumeric);
    if "*_~`".contains(next) && !is_inside {
        text.push(APART);
    }
    Some(2)
}

fn write_code(rest: &str, text: &mut String) -> Option<usize> {
    let length = 1 + rest[1..].find('`')? + 1;
    (length > 2).then(|| rest[..length].chars().for_each(|c| push_escaped(c, text)))?;
    Some(length)
}

/// `[label](address)`.
fn write_link(rest: &str, text: &mut String) -> Option<usize> {
    let (label, after) = rest.strip_prefix('[')?.split_once("](")?;
    let (target, _) = after.split_once(')')?;
    let address = target.trim_start_matches('<').trim_end_matches('>');
    if !is_address(address) || label.contains(['[', ']', '\n']) {
        return None;
    }
    let mut shown = String::new();
    label.chars().filter(|c| !"*_`\\|".contains(*c)).for_each(|c| push_escaped(c, &mut shown));
    text.extend(["<", &escaped(address).replace('|', "%7C"), "|", &shown, ">"]);
    Some(1 + label.len() + 2 + target.len() + 1)
}

/// `<https://example.org>`.
fn write_autolink(rest: &str, text: &mut String) -> Option<usize> {
    let (address, _) = rest.strip_prefix('<')?.split_once('>')?;
    is_address(address).then(|| text.extend(["<", &escaped(address).replace('|', "%7C"), ">"]))?;
    Some(address.len() + 2)
}

fn is_address(address: &str) -> bool {
    let scheme = address.starts_with("https://") || address.starts_with("http://");
    scheme && !address.contains([' ', '<', '>', '\n'])
}

/// Two stars are bold, one is italics. A mark without a counterpart stays as it is: "~5", "2 * 3".
fn write_emphasis(rest: &str, depth: usize, before: char, text: &mut String) -> usize {
    let mark = &rest[..rest.len() - rest.trim_start_matches(|c| rest.starts_with(c)).len()];
    let (opens, closes) = match mark {
        "*" | "_" => ("_", "_"),
        "**" | "__" => ("*", "*"),
        "***" | "___" => ("*_", "_*"),
        "~~" => ("~", "~"),
        _ => ("", ""),
    };
    let after = &rest[mark.len()..];
    let is_no_mark = mark.starts_with('_') && before.is_alphanumeric() || after.starts_with(char::is_whitespace);
    let end = if opens.is_empty() || is_no_mark || depth > DEPTH { None } else { end_of_emphasis(after, mark) };
    let Some(end) = end else {
        text.push_str(mark);
        return mark.len();
    };
    let length = mark.len() + end + mark.len();
    if text.chars().next_back().is_some_and(hides_a_mark) {
        text.push(APART);
    }
    text.push_str(opens);
    write_span(&after[..end], depth + 1, text);
    text.push_str(closes);
    if rest[length..].chars().next().is_some_and(hides_a_mark) {
        text.push(APART);
    }
    length
}

/// Where the counterpart of a mark is, which ends the text before it.
fn end_of_emphasis(after: &str, mark: &str) -> Option<usize> {
    let kind = mark.chars().next()?;
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = after[at..].chars().next().filter(|_| at < LONGEST) {
        let rest = &after[at..];
        let run = rest.len() - rest.trim_start_matches(kind).len();
        let length = match c {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '`' => rest[1..].find('`').map_or(1, |end| end + 2),
            c if c != kind => c.len_utf8(),
            _ => run,
        };
        let next = rest[length..].chars().next().unwrap_or(' ');
        let ends = run == mark.len() && c == kind && at > 0 && !before.is_whitespace() && !(kind == '_' && next.is_alphanumeric());
        if ends {
            return Some(at);
        }
        before = rest[..length].chars().next_back().unwrap_or(c);
        at += length;
    }
    None
}

/// The most marks in marks, and the most bytes between two.
const DEPTH: usize = 8;
const LONGEST: usize = 3000;

/// Whether a mark beside this character is none for Slack. It knows words by spaces, and few signs but those of ASCII.
fn hides_a_mark(c: char) -> bool {
    c != APART && !c.is_whitespace() && (c.is_alphanumeric() || !c.is_ascii())
}

fn push_escaped(c: char, text: &mut String) {
    match c {
        '&' => text.push_str("&amp;"),
        '<' => text.push_str("&lt;"),
        '>' => text.push_str("&gt;"),
        _ => text.push(c),
    }
}

pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    text.chars().for_each(|c| push_escaped(c, &mut safe));
    safe
}

/// What a person wrote, with Slack's mentions of accounts and channels as values, and its links as Markdown.
pub(super) fn read(text: &str) -> String {
    let mut neutral = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('<') {
        neutral.push_str(&read_plain(before));
        // Slack escapes each "<" that a person types, so an unescaped one begins a reference.
        let Some((reference, after)) = from.split_once('>') else {
            neutral.push_str(&read_plain(&rest[before.len()..]));
            return neutral;
        };
        neutral.push_str(&read_reference(reference));
        rest = after;
    }
    neutral.push_str(&read_plain(rest));
    neutral
}

fn read_plain(text: &str) -> String {
    escape_values(&unescaped(text)).into_owned()
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn read_reference(reference: &str) -> String {
    let (target, label) = reference.split_once('|').map_or((reference, None), |(target, label)| (target, Some(label)));
    let named = |mark: &str, id: &str| format!("{mark}{}", label.unwrap_or(id).trim_start_matches(mark));
    if let Some(id) = target.strip_prefix('@') {
        let user = user_id(id);
        return if to_user(&user).is_ok() { Mention(&user).to_string() } else { named("@", id) };
    }
    if let Some(id) = target.strip_prefix('#') {
        let channel = channel_id(id, None);
        return if to_spot(&channel).is_ok() { ChannelRef(&channel).to_string() } else { named("#", id) };
    }
    match target.strip_prefix('!') {
        Some("here") => "@here".to_owned(),
        Some("channel" | "everyone") => "@everyone".to_owned(),
        Some(special) => label.map_or_else(|| format!("@{special}"), unescaped),
        None => {
            let address = unescaped(target);
            let shown = label.map(unescaped).unwrap_or_default();
            let is_bare = shown.is_empty() || address.ends_with(&shown) || !is_address(&address);
            match (is_bare, shown.is_empty()) {
                (true, false) if !is_address(&address) => shown,
                (true, _) => address,
                (false, _) => format!("[{}]({address})", shown.replace(['[', ']'], "")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::chat::text::{Subtext, list_mentions};

    use super::*;

    #[test]
    fn values_are_written_in_slacks_markup() {
        let text = format!("{} in {}\n{}", Mention(&"slack:U42".into()), ChannelRef(&"slack:C7-1.2".into()), Subtext("in short"));
        assert_eq!(written(&text), "<@U42> in <#C7>\nin short");
        assert_eq!(written("<user:discord:1> in <channel:discord:2>"), "@1 in #2");
    }

    #[test]
    fn markdown_is_written_as_slack_shows_it() {
        for (markdown, shown) in [
            ("**bold**, *slanted*, _too_, ~~gone~~", "*bold*, _slanted_, _too_, ~gone~"),
            ("## A **big** heading", "*A big heading*"),
            ("- one\n  * two\n1. three", "• one\n  • two\n1. three"),
            ("> quoted & kept", "> quoted &amp; kept"),
            ("see [the *page*](https://a.org/?b=1&c=2)", "see <https://a.org/?b=1&amp;c=2|the page>"),
            ("<https://a.org> and https://b.org", "<https://a.org> and https://b.org"),
            ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
            ("2 * 3 * 4 and snake_case", "2 * 3 * 4 and snake_case"),
            (r"\*not bold\* and \`no code\`", "*\u{200B}not bold*\u{200B} and `\u{200B}no code`\u{200B}"),
            (r"test\_cases.csv and \_so\_", "test_cases.csv and _\u{200B}so_\u{200B}"),
            ("`a **b** <c>`", "`a **b** &lt;c&gt;`"),
            ("```rust\nlet a = *b;\n```\n**x**", "```\nlet a = *b;\n```\n*x*"),
            ("***both***", "*_both_*"),
            ("これは**重要**です", "これは\u{200B}*重要*\u{200B}です"),
            ("un**believ**able, **Note:**now", "un\u{200B}*believ*\u{200B}able, *Note:*\u{200B}now"),
            ("「**はい**」*了解*。", "「\u{200B}*はい*\u{200B}」\u{200B}_了解_\u{200B}。"),
            ("**<user:slack:U1> and *you* too**", "*<@U1> and _you_ too*"),
            ("[rust](https://w.org/Rust_(language)) **x**", "<https://w.org/Rust_%28language%29|rust> *x*"),
            ("https://a.org/a_b_c**d (_see https://a.org/x_)", "https://a.org/a_b_c**d (_see https://a.org/x_)"),
            ("[quiet](<https://a.org/x>)", "<https://a.org/x|quiet>"),
            ("**open and 5 * 3 ** 2", "**open and 5 * 3 ** 2"),
            ("#### Deep\n---\n- [x] done<br>well", "*Deep*\n──────────\n• ☑ done\nwell"),
            ("`` a`b ``", "`` a`b ``"),
        ] {
            assert_eq!(written(markdown), shown, "{markdown}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(10_000))]

        #[test]
        fn a_text_with_marks_is_shown_as_it_is(text in r"[a-v][a-v0-9_*~|\\\[\](){}<>#.=+&$^;!-]{0,12}( ([a-v0-9_*~|\\\[\](){}<>#.=+&$^;!-]{1,12}|&amp;|\$d\^2\$)){0,6}") {
            let shown = unescaped(&written(&kernel::chat::medium::Medium::Chat.line(&text))).replace(APART, "");
            proptest::prop_assert_eq!(shown, text);
        }
    }

    proptest::proptest! {
        /// Slack sees a mark only at the border of a word of its own kind.
        #[test]
        fn each_mark_is_at_a_border(before in "[a-jа-я十二、「 ]{0,3}", text in "[k-m国]{1,4}", after in "[a-jа-я十二。」 ]{0,3}", mark in r"(\*\*|\*|~~|\*\*\*)") {
            let shown = written(&format!("x{before}{mark}{text}{mark}{after}"));
            let (outside, rest) = shown.split_once(&text).expect("the text is shown");
            let neighbours = [outside.trim_end_matches(['*', '_', '~']).chars().next_back(), rest.trim_start_matches(['*', '_', '~']).chars().next()];
            for neighbour in neighbours.into_iter().flatten() {
                proptest::prop_assert!(!hides_a_mark(neighbour), "{shown}");
            }
            proptest::prop_assert!(!shown.contains("**") && !shown.contains("~~"), "{shown}");
        }

        #[test]
        fn any_text_is_written(text in "(\\PC|[-|`*_#<>@\\\\\\[\\]()!$=~.^{}&;\n]|<user:slack:U1>|https://a.b){0,60}") {
            written(&text);
        }
    }

    #[test]
    fn marks_in_marks_end() {
        for mark in ["*", "**", "_", "~~", "**a *b ", "`", "[", "***a"] {
            written(&mark.repeat(20_000));
        }
    }

    #[test]
    fn what_a_person_wrote_is_read_as_values_and_markdown() {
        for (typed, neutral) in [
            ("<@U2> and <@U1|ann>, in <#C7|general>: a &lt; b", "<user:slack:U2> and <user:slack:U1>, in <channel:slack:C7>: a < b"),
            ("&lt;user:slack:U2&gt;, as I type it", r"\<user:slack:U2>, as I type it"),
            ("<!here> and <!channel> and <!subteam^S1|@devs>", "@here and @everyone and @devs"),
            ("<https://a.org/?b&amp;c|here> <https://a.org> <http://b.org|b.org>", "[here](https://a.org/?b&c) https://a.org http://b.org"),
            ("<mailto:a@b.org|a@b.org>", "a@b.org"),
            ("1 < 2", "1 < 2"),
        ] {
            assert_eq!(read(typed), neutral, "{typed}");
        }
        assert_eq!(list_mentions(&read("<@U2> &lt;user:slack:U3&gt;")), ["slack:U2".into()]);
    }
}
