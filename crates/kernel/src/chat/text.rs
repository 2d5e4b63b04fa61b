//! The text of messages, without any platform's markup.
//!
//! It is Markdown, as people and models write it, and three values: a [`Mention`], a [`ChannelRef`] and [`Subtext`]. A stored text contains the
//! values in forms of Markdown: `<user:discord:42>` and `<channel:discord:7>` are autolinks, `<small>…</small>` is a line of small print. An adapter
//! turns what a person writes into values, and writes values with its platform's own [`Markup`]. A `<` after a backslash is only a `<`, as in all
//! Markdown. So text of a person that merely looks like a value is no value.

use std::borrow::Cow;
use std::fmt;

use crate::ids::{ChannelId, UserId};

const USER: &str = "<user:";
const CHANNEL: &str = "<channel:";
const SMALL: &str = "<small>";
const SMALL_END: &str = "</small>";

/// The most bytes of an id in a text.
const ID: usize = 96;

/// An account, shown by its name. It pings nobody unless the message names it in its `pings`.
#[derive(Debug, Clone, Copy)]
pub struct Mention<'a>(pub &'a UserId);

impl fmt::Display for Mention<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{USER}{}>", self.0)
    }
}

/// A channel, shown by its name.
#[derive(Debug, Clone, Copy)]
pub struct ChannelRef<'a>(pub &'a ChannelId);

impl fmt::Display for ChannelRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{CHANNEL}{}>", self.0)
    }
}

/// A line of small print. It begins a line and contains no line break.
#[derive(Debug, Clone, Copy)]
pub struct Subtext<T>(pub T);

impl<T: fmt::Display> fmt::Display for Subtext<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SMALL}{}{SMALL_END}", self.0)
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'t> {
    Markdown(&'t str),
    Mention(UserId),
    Channel(ChannelId),
}

/// The parts of a text, in order.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = text[at..].find('<') {
        at += found;
        let Some((part, length)) = split_value(&text[at..]).filter(|_| !is_escaped(text, at)) else {
            at += 1;
            continue;
        };
        if start < at {
            parts.push(Part::Markdown(&text[start..at]));
        }
        parts.push(part);
        at += length;
        start = at;
    }
    if start < text.len() {
        parts.push(Part::Markdown(&text[start..]));
    }
    parts
}

/// Whether an odd number of backslashes stands before a place in a text.
fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Puts a backslash before each `<` in typed text that would begin a value.
pub fn escape_values(typed: &str) -> Cow<'_, str> {
    let is_value = |part: &Part<'_>| !matches!(part, Part::Markdown(_));
    let parts = parts(typed);
    if !parts.iter().any(is_value) {
        return Cow::Borrowed(typed);
    }
    let escaped = parts.into_iter().map(|part| match part {
        Part::Markdown(text) => text.to_owned(),
        Part::Mention(id) => format!("\\{}", Mention(&id)),
        Part::Channel(id) => format!("\\{}", ChannelRef(&id)),
    });
    escaped.collect::<String>().into()
}

/// The mention or the channel that a text begins with, and its length. Its id must name a platform.
pub fn split_value(text: &str) -> Option<(Part<'static>, usize)> {
    let id_of = |prefix: &str| {
        let (id, _) = text.strip_prefix(prefix)?.split_once('>')?;
        let has_platform = id.split_once(':').is_some_and(|(platform, id)| !platform.is_empty() && !id.is_empty());
        let is_id = has_platform && id.len() <= ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":._-".contains(&byte));
        is_id.then_some((id, prefix.len() + id.len() + 1))
    };
    let user = id_of(USER).map(|(id, length)| (Part::Mention(id.into()), length));
    user.or_else(|| id_of(CHANNEL).map(|(id, length)| (Part::Channel(id.into()), length)))
}

/// The accounts mentioned in a text, in order and without duplicates.
pub fn list_mentions(text: &str) -> Vec<UserId> {
    let mut mentioned: Vec<UserId> = Vec::new();
    for part in parts(text) {
        if let Part::Mention(id) = part
            && !mentioned.contains(&id)
        {
            mentioned.push(id);
        }
    }
    mentioned
}

/// The mention that a text begins with, and what follows it.
pub fn split_mention(text: &str) -> Option<(UserId, &str)> {
    match split_value(text)? {
        (Part::Mention(id), length) => Some((id, &text[length..])),
        _ => None,
    }
}

/// The account, if a text is a mention and nothing else.
pub fn find_mention(text: &str) -> Option<UserId> {
    split_mention(text).filter(|(_, rest)| rest.is_empty()).map(|(id, _)| id)
}

/// A text without its mentions.
pub fn without_mentions(text: &str) -> String {
    let kept = |part| match part {
        Part::Markdown(text) => Some(text.to_owned()),
        Part::Channel(id) => Some(ChannelRef(&id).to_string()),
        Part::Mention(_) => None,
    };
    parts(text).into_iter().filter_map(kept).collect()
}

pub fn is_subtext(line: &str) -> bool {
    line.starts_with(SMALL)
}

/// A text without its lines of small print, which code has added.
pub fn without_subtext(text: &str) -> String {
    text.lines().filter(|line| !is_subtext(line)).collect::<Vec<_>>().join("\n")
}

/// How a platform writes the values in a text.
pub trait Markup {
    fn mention(&self, user: &UserId) -> String;

    fn channel(&self, channel: &ChannelId) -> String;

    /// A line of small print.
    fn subtext(&self, line: &str) -> String;

    /// Markdown between the values.
    fn markdown<'t>(&self, markdown: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(markdown)
    }
}

/// The markup for files and terminals, where no platform shows the text. It knows no names of accounts and channels.
pub struct Plain;

impl Markup for Plain {
    fn mention(&self, user: &UserId) -> String {
        format!("@{}", user.bare())
    }

    fn channel(&self, channel: &ChannelId) -> String {
        format!("#{}", channel.bare())
    }

    fn subtext(&self, line: &str) -> String {
        line.to_owned()
    }
}

/// Writes the values of a text, and removes the marks for bold and the backslashes that escape foreign text in a chat.
pub fn plain(markdown: &str) -> String {
    let markdown = render(markdown, &Plain);
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek().is_some_and(char::is_ascii_punctuation) => text.extend(rest.next()),
            '*' if rest.next_if_eq(&'*').is_some() => {}
            _ => text.push(c),
        }
    }
    text
}

/// A text as a platform writes it.
pub fn render(text: &str, markup: &impl Markup) -> String {
    let lines = text.split('\n').map(|line| {
        let whole = line.strip_suffix(SMALL_END);
        match line.strip_prefix(SMALL) {
            // A line that was split at the length limit has its end in the next message.
            Some(small) => markup.subtext(&render_line(small.strip_suffix(SMALL_END).unwrap_or(small), markup)),
            None => render_line(whole.filter(|line| !line.contains(SMALL)).unwrap_or(line), markup),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn render_line(line: &str, markup: &impl Markup) -> String {
    let shown = |part| match part {
        Part::Markdown(text) => markup.markdown(text).into_owned(),
        Part::Mention(id) => markup.mention(&id),
        Part::Channel(id) => markup.channel(&id),
    };
    parts(line).into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Loud;

    impl Markup for Loud {
        fn mention(&self, user: &UserId) -> String {
            format!("USER {user}")
        }

        fn channel(&self, channel: &ChannelId) -> String {
            format!("CHANNEL {channel}")
        }

        fn subtext(&self, line: &str) -> String {
            format!("({line})")
        }
    }

    #[test]
    fn values_are_written_as_the_platform_has_them() {
        let (ann, here) = (UserId::new("discord:42"), ChannelId::new("discord:7"));
        let text = format!("Hello {}, go to {}\n{}", Mention(&ann), ChannelRef(&here), Subtext(format!("for {}", Mention(&ann))));
        assert_eq!(text, "Hello <user:discord:42>, go to <channel:discord:7>\n<small>for <user:discord:42></small>");
        assert_eq!(render(&text, &Loud), "Hello USER discord:42, go to CHANNEL discord:7\n(for USER discord:42)");
    }

    #[test]
    fn where_no_platform_shows_it_an_id_is_without_its_platform() {
        assert_eq!(render("<user:discord:42> in <channel:discord:7>", &Plain), "@42 in #7");
    }

    #[test]
    fn small_print_that_was_split_stays_small_and_loses_its_marks() {
        assert_eq!(render("<small>one two", &Loud), "(one two)");
        assert_eq!(render("three</small>", &Loud), "three");
        assert_eq!(render("H<small>2</small>", &Loud), "H<small>2</small>");
    }

    #[test]
    fn what_only_looks_like_a_value_is_text() {
        for text in [
            "<user:>",
            "<user:42>",
            "<user:name>",
            "<user::1>",
            "<user:a:>",
            "<user:a:b c>",
            "<user:a:42",
            "<@42>",
            "a < b",
            "<<user",
            "<https://a.org>",
        ] {
            assert_eq!(parts(text), [Part::Markdown(text)], "{text}");
        }
        assert_eq!(parts("<<user:a:1>"), [Part::Markdown("<"), Part::Mention("a:1".into())]);
    }

    #[test]
    fn what_a_person_typed_is_no_value() {
        let typed = "I typed <user:discord:42> and <channel:a:7>, and <user:42>";
        let escaped = escape_values(typed);
        assert_eq!(escaped, r"I typed \<user:discord:42> and \<channel:a:7>, and <user:42>");
        assert!(list_mentions(&escaped).is_empty());
        assert_eq!(escape_values(&escaped), escaped);
        assert_eq!(list_mentions(r"\\<user:a:1>"), ["a:1".into()], "the backslash is escaped, and not the value");
    }

    #[test]
    fn mentions_are_listed_in_order_and_once() {
        let ids = |text: &str| list_mentions(text).iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(ids("<user:a:2> and <user:b:1>, again <user:a:2> in <channel:a:3>"), ["a:2", "b:1"]);
        assert_eq!(find_mention("<user:a:2>"), Some("a:2".into()));
        assert_eq!(find_mention("<user:a:2>!"), None);
        assert_eq!(split_mention("<user:a:2> go"), Some(("a:2".into(), " go")));
        assert_eq!(without_mentions("<user:a:2> go to <channel:a:3>"), " go to <channel:a:3>");
    }

    proptest! {
        #[test]
        fn parts_join_to_the_text(text in "(<user:[a-z0-9:]{0,4}>|<channel:a:7>|[<>a-z\\\\ \n]|\\PC){0,20}") {
            let joined: String = parts(&text).into_iter().map(|part| match part {
                Part::Markdown(text) => text.to_owned(),
                Part::Mention(id) => Mention(&id).to_string(),
                Part::Channel(id) => ChannelRef(&id).to_string(),
            }).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
