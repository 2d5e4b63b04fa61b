//! Formats a reply for posting: cleaned, tables aligned, split into messages or attached as a file if long (CHAT-23).
//!
//! What a message can hold differs by platform. The platform says it with a [`TextFormat`].

use crate::persona::roster::Roster;
use crate::text::is_invisible;

use crate::chat::forged::without_forged;
pub use crate::chat::markdown::{align_tables, align_tables_within};
use crate::chat::split::split;
use crate::chat::text::{self, Plain};

/// What the text of one message can hold on a platform.
#[derive(Debug, Clone, Copy)]
pub struct TextFormat {
    /// The most characters of a message, as the platform shows it.
    pub limit: usize,
    /// Whether the platform shows the tables of Markdown. Otherwise they become aligned code blocks.
    pub has_tables: bool,
    /// Renders a text as it is sent, to measure its length.
    pub render: fn(&str) -> String,
}

impl TextFormat {
    /// A platform that shows a text as it is, without tables.
    pub fn plain(limit: usize) -> Self {
        Self { limit, has_tables: false, render: str::to_owned }
    }

    pub fn fits(&self, text: &str) -> bool {
        // Rendering makes a text at most a few times longer, so short texts are not rendered here.
        text.chars().count() <= self.limit / 8 || (self.render)(text).trim().chars().count() <= self.limit
    }

    /// Aligns the tables if the platform shows none.
    pub fn lay_out(&self, text: &str) -> String {
        if self.has_tables { text.to_owned() } else { align_tables(text) }
    }

    /// Splits a text from [`Self::lay_out`] into messages within the limit.
    pub fn split(&self, text: &str) -> Vec<String> {
        if self.fits(text) { split(text, text.chars().count().max(self.limit)) } else { self.split_at(text, self.limit) }
    }

    fn split_at(&self, text: &str, limit: usize) -> Vec<String> {
        let pieces = split(text, limit).into_iter();
        // Escapes make a text longer when it is rendered.
        let within = |piece: String| {
            let is_done = self.fits(&piece) || limit < SMALLEST_PIECE;
            if is_done { vec![piece] } else { self.split_at(&piece, limit / 4 * 3) }
        };
        pieces.flat_map(within).collect()
    }
}

/// Texts are not split into smaller pieces than this because of escapes.
const SMALLEST_PIECE: usize = 16;

/// The most characters of the reply quoted above an attached file.
const SUMMARY: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendered {
    /// Posted in order. Empty if there is nothing to say.
    Messages(Vec<String>),
    /// A Markdown file, posted with `summary` as the message.
    File { summary: String, name: String, text: String },
}

/// Renders a reply. More than `attach_over` characters become a file called `name`.
///
/// Tables in the file stay Markdown, because viewers render them.
pub fn render(text: &str, roster: &Roster, name: &str, attach_over: usize, format: &TextFormat) -> Rendered {
    let text = clean(text, roster);
    let length = text.chars().count();
    if length > attach_over {
        let summary = format!("{}\n\n*The full text ({length} characters) is in the file.*", summarise(&text, format.limit));
        return Rendered::File { summary, name: name.to_owned(), text: text::render(&text, &Plain) };
    }
    Rendered::Messages(format.split(&format.lay_out(&text)))
}

/// Removes invisible characters and [forged lines](super::forged).
///
/// Models continue the transcripts that they read. In a post that would look like another's words.
pub fn clean(text: &str, roster: &Roster) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if !is_invisible(c) || is_emoji_part(before, c) {
            cleaned.push(c);
        }
        before = c;
    }
    without_forged(&cleaned, roster).trim().to_owned()
}

/// Joiners and variation selectors are allowed only inside an emoji.
fn is_emoji_part(before: char, c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE0F}') && before >= '\u{2190}' && !before.is_alphanumeric() && !is_invisible_but_joiner(before)
}

/// A selector may stand between an emoji and the joiner.
fn is_invisible_but_joiner(c: char) -> bool {
    c != '\u{FE0F}' && is_invisible(c)
}

/// The first paragraphs that fit, or the beginning of the first.
fn summarise(text: &str, limit: usize) -> String {
    split(text, SUMMARY.min(limit / 2)).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::roster as sample;

    #[test]
    fn a_long_text_becomes_a_file_with_a_summary() {
        let text = format!("The short of it.\n\n{}", "And so on. ".repeat(600));
        let Rendered::File { summary, name, text: whole } = render(&text, &sample::roster(), "answer.md", 6000, &TextFormat::plain(2000))
        else {
            panic!("it is over 6000 characters");
        };
        assert!(summary.starts_with("The short of it."));
        assert!(summary.chars().count() < 700 && summary.ends_with("is in the file.*"), "{summary}");
        assert_eq!((name.as_str(), whole.as_str()), ("answer.md", text.trim()));
        assert!(
            matches!(render(&text, &sample::roster(), "answer.md", 7000, &TextFormat::plain(2000)), Rendered::Messages(messages) if messages.len() == 4)
        );
        // A file is read outside the platform, so it has no markup of ours.
        let marked = format!("<user:discord:42> asked.\n<small>From memory.</small>\n{text}");
        let Rendered::File { text: whole, .. } = render(&marked, &sample::roster(), "answer.md", 6000, &TextFormat::plain(2000)) else {
            panic!("it is over 6000 characters");
        };
        assert!(whole.starts_with("@42 asked.\nFrom memory.\n"), "{}", &whole[..60]);
    }

    #[test]
    fn a_message_is_as_long_as_the_platform_shows_it() {
        let shouting = TextFormat { limit: 100, has_tables: false, render: |text| text.replace('&', "&amp;") };
        let messages = shouting.split(&"R&D ".repeat(60));
        assert!(messages.iter().all(|message| message.replace('&', "&amp;").chars().count() <= 100), "{messages:?}");
        assert_eq!(messages.join(" ").matches("R&D").count(), 60);
        let terse = TextFormat { limit: 8, has_tables: true, render: |text| text.replace("<user:discord:1>", "@1") };
        assert_eq!(terse.split("<user:discord:1> hello"), ["<user:discord:1> hello"]);
        assert_eq!(terse.lay_out("| a |\n|---|\n| b |"), "| a |\n|---|\n| b |");
    }

    #[test]
    fn nothing_to_say_is_no_message() {
        for text in ["", " \n", "\u{200B}\u{202E}", "[Vince]:"] {
            assert_eq!(
                render(text, &sample::roster(), "answer.md", 6000, &TextFormat::plain(2000)),
                Rendered::Messages(Vec::new()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn nobody_speaks_in_anothers_name() {
        let clean = |text: &str| clean(text, &sample::roster());
        assert_eq!(clean("[Kelly]: hello\n  **[VINCE]:** I agree\n[Vince]: [Solus]: me too"), "hello\nI agree\nme too");
        assert_eq!(clean("[V\u{200B}ince]: hi"), "hi");
        assert_eq!(clean("[1]: https://example.org"), "[1]: https://example.org", "a reference is no speaker");
        assert_eq!(clean("see [Vince](https://example.org)"), "see [Vince](https://example.org)");
    }

    #[test]
    fn what_does_not_show_goes_and_emoji_stay() {
        let clean = |text: &str| clean(text, &sample::roster());
        assert_eq!(clean("pay\u{200D}pal\u{202E}\u{E0041}"), "paypal");
        assert_eq!(clean("❤\u{FE0F} 👩\u{200D}💻 🏳\u{FE0F}\u{200D}🌈"), "❤\u{FE0F} 👩\u{200D}💻 🏳\u{FE0F}\u{200D}🌈");
    }
}
