//! Markdown for a terminal.

use kernel::chat::format::align_tables;
pub(super) use kernel::chat::text::plain;

/// A reply for a terminal: tables are aligned, and Markdown is removed.
pub(super) fn render(markdown: &str) -> String {
    // In a chat a code block keeps the columns of a table. A terminal needs none.
    plain(align_tables(markdown).replace("```\n", "").replace("\n```", "").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_what_was_written() {
        assert_eq!(plain(r"**Split \*\*a\_b\*\*** (#1), `x*y` 2 \<= 3 at C:\\dir\new"), r"Split **a_b** (#1), `x*y` 2 <= 3 at C:\dir\new");
        assert_eq!(plain("<user:discord:42> in <channel:discord:7>\n<small>in short</small>"), "@42 in #7\nin short");
        assert_eq!(render("Costs\n\n| a | b |\n| --- | --- |\n| **x** | y |\n").matches('`').count(), 0);
    }
}
