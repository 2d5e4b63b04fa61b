//! Reads Markdown into the parts of a directive.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{Part, PartKind};

#[derive(Default)]
pub(super) struct Reader {
    pub(super) parts: Vec<Part>,
    /// Levels and numbers of the headings above the current place. A document has level 0.
    pub(super) headings: Vec<(u8, usize)>,
}

/// A block that is being read.
struct Open {
    kind: PartKind,
    text: String,
}

impl Reader {
    pub(super) fn read(&mut self, markdown: &str) {
        let mut open: Vec<Open> = Vec::new();
        // The addresses of the links that are open.
        let mut links: Vec<String> = Vec::new();
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
            // `__init__.py` is a name.
            let underscores = if markdown[range.clone()].starts_with("__") { "__" } else { "_" };
            let is_named = markdown[range.clone()].starts_with('_');
            match event {
                Event::Start(Tag::Strong | Tag::Emphasis) | Event::End(TagEnd::Strong | TagEnd::Emphasis) if is_named => {
                    add(&mut open, underscores);
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => links.push(dest_url.into_string()),
                Event::End(TagEnd::Link | TagEnd::Image) => {
                    if let Some(address) = links.pop().filter(|address| !ends_with(&open, address)) {
                        add(&mut open, &format!(" ({address})"));
                    }
                }
                Event::Start(tag) => {
                    if let Some(kind) = kind_of(&tag, &open) {
                        // Blocks that are nested in an item come after the item's own text.
                        if let Some(outer) = open.last_mut() {
                            let text = std::mem::take(&mut outer.text);
                            let outer = outer.kind;
                            self.push(outer, &text);
                        }
                        open.push(Open { kind, text: String::new() });
                    }
                }
                Event::End(tag) => match tag {
                    TagEnd::TableCell => add(&mut open, " | "),
                    TagEnd::Paragraph if open.last().is_some_and(|block| block.kind != PartKind::Paragraph) => add(&mut open, "\n"),
                    TagEnd::Heading(_)
                    | TagEnd::Item
                    | TagEnd::TableHead
                    | TagEnd::TableRow
                    | TagEnd::CodeBlock
                    | TagEnd::Paragraph
                    | TagEnd::HtmlBlock => {
                        if let Some(block) = open.pop() {
                            self.push(block.kind, &block.text);
                        }
                    }
                    _ => {}
                },
                Event::TaskListMarker(done) => {
                    if let Some(block) = open.last_mut() {
                        block.kind = PartKind::Task(done);
                    }
                }
                Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => add(&mut open, &text),
                Event::SoftBreak | Event::HardBreak => add(&mut open, "\n"),
                _ => {}
            }
        }
    }

    pub(super) fn push(&mut self, kind: PartKind, text: &str) {
        let text = text.trim();
        let text = if kind == PartKind::Row { text.trim_end_matches(['|', ' ']) } else { text };
        if text.is_empty() {
            return;
        }
        let number = self.parts.len() + 1;
        if let PartKind::Heading(level) = kind {
            self.headings.retain(|(above, _)| *above < level);
        }
        let under = self.headings.last().map(|(_, number)| *number);
        self.parts.push(Part { kind, text: text.to_owned(), under });
        if let PartKind::Heading(level) = kind {
            self.headings.push((level, number));
        }
    }
}

/// The kind of the part that begins here. None for marks inside a part.
fn kind_of(tag: &Tag<'_>, open: &[Open]) -> Option<PartKind> {
    let inside = open.last().map(|block| block.kind);
    match tag {
        Tag::Heading { level, .. } => Some(PartKind::Heading(match level {
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
            HeadingLevel::H4 => 4,
            HeadingLevel::H5 => 5,
            HeadingLevel::H6 => 6,
        })),
        Tag::Item => Some(PartKind::Item),
        Tag::TableHead | Tag::TableRow => Some(PartKind::Row),
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => Some(PartKind::Code),
        Tag::Paragraph | Tag::HtmlBlock if inside.is_none() => Some(PartKind::Paragraph),
        _ => None,
    }
}

fn ends_with(open: &[Open], text: &str) -> bool {
    open.last().is_some_and(|block| block.text.ends_with(text))
}

fn add(open: &mut [Open], text: &str) {
    if let Some(block) = open.last_mut() {
        block.text.push_str(text);
    }
}
