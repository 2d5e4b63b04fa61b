//! Message text for a terminal: mentions by name, bold as bold, and no control characters, which
//! could otherwise move the cursor, retitle the window or hide what was said.

use chrono::{DateTime, Local};

use super::{super::guild::Guild, Paint};

/// One line without anything that is no text.
pub(in super::super) fn clean_line(text: &str) -> String {
    text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c }).filter(|c| !is_unsafe(*c)).collect()
}

/// Control characters, and the marks that reorder text (so that `exe.txt` stays what it is).
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Several lines, with mentions, timestamps and bold rendered outside of code.
pub(in super::super) fn render_text(text: &str, guild: &Guild, paint: Paint) -> Vec<String> {
    let mut in_code = false;
    let render = |line: &str| {
        let line: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !is_unsafe(*c)).collect();
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            return paint.dim(line);
        }
        if in_code { line } else { render_bold(&render_mentions(&line, guild), paint) }
    };
    text.lines().map(render).collect()
}

/// `<@1>`, `<#1>`, `<@&1>`, `<t:1:R>` and `<:name:1>` as words.
pub(super) fn render_mentions(line: &str, guild: &Guild) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let mention = after.split_once('>').and_then(|(inside, after)| Some((render_mention(inside, guild)?, after)));
        if let Some((words, after)) = mention {
            out.push_str(&words);
            rest = after;
        } else {
            out.push('<');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn render_mention(inside: &str, guild: &Guild) -> Option<String> {
    if let Some(role) = inside.strip_prefix("@&") {
        return Some(format!("@{}", clean_line(guild.role_name(role)?)));
    }
    if let Some(user) = inside.strip_prefix('@') {
        let id = user.trim_start_matches('!');
        return is_id(id).then(|| format!("@{}", clean_line(&guild.name_by_id(id).text)));
    }
    if let Some(channel) = inside.strip_prefix('#') {
        return is_id(channel).then(|| clean_line(&guild.channel_name(channel)));
    }
    if let Some(time) = inside.strip_prefix("t:") {
        let seconds = time.split(':').next()?.parse().ok()?;
        let time = DateTime::from_timestamp(seconds, 0)?.with_timezone(&Local);
        return Some(time.format("%Y-%m-%d %H:%M").to_string());
    }
    let mut emoji = inside.split(':');
    let (kind, name, id) = (emoji.next()?, emoji.next()?, emoji.next()?);
    (matches!(kind, "" | "a") && is_id(id)).then(|| format!(":{name}:"))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn render_bold(line: &str, paint: Paint) -> String {
    let parts: Vec<&str> = line.split("**").collect();
    // An odd number of markers leaves one open; then the line is shown as it was written.
    if parts.len().is_multiple_of(2) || !paint.on {
        return line.to_owned();
    }
    parts.iter().enumerate().map(|(at, part)| if at % 2 == 1 { paint.bold(part) } else { (*part).to_owned() }).collect()
}

/// A size in the unit that reads best.
pub(in super::super) fn render_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{}.{} KB", bytes / 1024, bytes % 1024 * 10 / 1024),
        _ => format!("{}.{} MB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::terminal::guild::tests::example_guild;

    fn render(text: &str) -> String {
        render_text(text, &example_guild(), Paint::plain()).join("\n")
    }

    #[test]
    fn mentions_are_shown_by_name() {
        assert_eq!(render("<@7> see <#20> and <@!8>, <@&90>"), "@Kelly see #general and @unknown, @Operators");
        assert_eq!(render("a < b, <nothing>, <:wave:12> <t:x>"), "a < b, <nothing>, :wave: <t:x>");
    }

    #[test]
    fn control_and_direction_characters_never_reach_the_terminal() {
        assert_eq!(render("a\x1b[2Jb\x07\u{9b}31m\u{202E}c\r"), "a[2Jb31mc");
        assert_eq!(clean_line("two\nlines\x1b"), "two lines");
    }

    #[test]
    fn bold_is_bold_only_where_it_is_closed_and_outside_of_code() {
        let colored = render_text("**a** b\n```\n**c**\n```\nd ** e", &Guild::default(), Paint::colored());
        assert_eq!(colored[0], "\x1b[1ma\x1b[0m b");
        assert_eq!(colored[2], "**c**");
        assert_eq!(colored[4], "d ** e");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!([0, 1023, 1536, 5_242_880].map(render_size), ["0 B", "1023 B", "1.5 KB", "5.0 MB"]);
    }
}
