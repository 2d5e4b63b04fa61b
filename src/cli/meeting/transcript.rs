//! A meeting as text: speakers, their messages, and the threads below them.

use std::io::IsTerminal;

use kernel::chat::outbound::OutboundMessage;
use kernel::text::without_invisible;

use crate::cli::terminal::plain;

/// Indentation of messages in a thread.
const INDENT: &str = "    ";

/// How a meeting is printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transcript {
    bold: bool,
}

impl Transcript {
    /// For standard output. Names are bold at a terminal.
    pub(super) fn new() -> Self {
        Self { bold: std::io::stdout().is_terminal() }
    }

    /// A message of a speaker, followed by an empty line.
    pub(super) fn render(self, name: &str, text: &str) -> String {
        let name = without_invisible(name);
        let name = if self.bold { format!("\x1b[1m{name}\x1b[0m") } else { name };
        format!("{name}\n{}\n", without_invisible(text).trim())
    }
}

/// Indents the messages of a thread.
pub(super) fn indent(text: &str) -> String {
    let text = without_invisible(text);
    let lines: Vec<_> = text.trim().lines().map(|line| format!("{INDENT}{line}").trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// A message with its card as text. Buttons and pictures are left out. Files are named.
pub(super) fn describe(message: &OutboundMessage) -> String {
    let mut parts = vec![message.text.clone()];
    if let Some(card) = &message.card {
        parts.push(card.title.clone());
        parts.push(card.text.clone());
        parts.extend(card.fields.iter().map(|field| format!("{}\n{}", field.name, field.value)));
        parts.extend(card.footer.clone());
    }
    let mut parts: Vec<_> = parts.iter().map(|part| plain(part)).collect();
    parts.extend(message.files.iter().map(|file| format!("[{}]", file.name)));
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::chat::outbound::{Card, CardField, FileContent, OutboundFile, OutboundKind};

    #[test]
    fn names_are_bold_only_where_a_person_looks() {
        assert_eq!(Transcript { bold: false }.render("Vince", "All well.\n"), "Vince\nAll well.\n");
        assert_eq!(Transcript { bold: true }.render("Vince", "All well."), "\x1b[1mVince\x1b[0m\nAll well.\n");
    }

    #[test]
    fn nothing_that_is_said_reaches_the_terminal_as_a_control() {
        let plain = Transcript { bold: false };
        assert_eq!(plain.render("Vi\x1bnce", "a\x1b[2Jb\x07"), "Vince\na[2Jb\n");
        assert_eq!(indent("a\x1b\n\nb"), "    a\n\n    b\n");
    }

    #[test]
    fn a_card_is_text_and_a_file_is_named() {
        let field = CardField { name: "Actions".into(), value: "1. Mend it".into(), inline: false };
        let card =
            Card { title: "Day Report".into(), text: "Quiet.".into(), fields: vec![field], footer: Some("$0".into()), ..Card::default() };
        let file = OutboundFile { name: "report.md".into(), content: FileContent::Text("x".into()) };
        let message = OutboundMessage {
            card: Some(card),
            files: vec![file],
            ..OutboundMessage::new(&"kelly".into(), &"terminal".into(), OutboundKind::Report, "")
        };
        assert_eq!(describe(&message), "Day Report\n\nQuiet.\n\nActions\n1. Mend it\n\n$0\n\n[report.md]");
    }
}
