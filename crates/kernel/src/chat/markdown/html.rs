//! HTML as models write it, as Markdown.

use super::formula::small;

/// A tag at the beginning of a text.
pub(super) struct Tag<'t> {
    name: &'t str,
    is_end: bool,
    attributes: &'t str,
    /// Its length in bytes.
    pub(super) length: usize,
}

/// The tags that are known. Anything else in angle brackets is text: `<what>`.
const NAMES: [&str; 59] = [
    "a",
    "b",
    "blockquote",
    "br",
    "center",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "label",
    "li",
    "mark",
    "ol",
    "p",
    "picture",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
    "figcaption",
];

/// The longest element, in bytes.
const LONGEST: usize = 2000;

impl<'t> Tag<'t> {
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let (inner, _) = text.strip_prefix('<')?.split_once('>')?;
        let body = inner.strip_prefix('/').unwrap_or(inner);
        let end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
        let (name, attributes) = body.split_at(end);
        let is_apart = attributes.is_empty() || attributes.starts_with([' ', '/']);
        let is_known = NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_plain = !attributes.contains('<') && attributes.len() < 1000;
        (is_known && is_apart && is_plain).then_some(Self { name, is_end: inner.starts_with('/'), attributes, length: inner.len() + 2 })
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }

    /// The text up to the end of this element, and its length with the closing tag.
    fn content<'r>(&self, after: &'r str) -> Option<(&'r str, usize)> {
        let after = &after[..after.floor_char_boundary(LONGEST)];
        let end = after.match_indices("</").find(|(at, _)| {
            let tag = Tag::read(&after[*at..]);
            tag.is_some_and(|tag| tag.is(&[self.name]))
        })?;
        let tag = Tag::read(&after[end.0..])?;
        Some((&after[..end.0], end.0 + tag.length))
    }

    /// The value of an attribute.
    fn attribute(&self, name: &str) -> Option<&'t str> {
        let at = self.attributes.to_ascii_lowercase().find(&format!(" {name}="))?;
        let value = &self.attributes[at + name.len() + 2..];
        let quote = value.chars().next()?;
        if matches!(quote, '"' | '\'') {
            return value[1..].split(quote).next();
        }
        value.split([' ', '/']).next()
    }

    /// The mark that does the same as this element in Markdown.
    fn mark(&self) -> Option<&'static str> {
        [
            ("**", &["b", "strong", "mark", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "th", "dt"][..]),
            ("*", &["i", "em", "cite", "var"]),
            ("__", &["u", "ins"]),
            ("~~", &["s", "strike", "del"]),
        ]
        .into_iter()
        .find(|(_, names)| self.is(names))
        .map(|(mark, _)| mark)
    }

    /// Whether this element begins or ends a line.
    fn is_block(&self) -> bool {
        const BLOCKS: [&str; 22] = [
            "p",
            "div",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "li",
            "tr",
            "ul",
            "ol",
            "details",
            "summary",
            "table",
            "blockquote",
            "section",
            "pre",
            "header",
            "footer",
            "dd",
            "dt",
        ];
        self.is(&BLOCKS)
    }

    /// Writes the element, or only its tag, and says how many bytes of `text` that was. `inline` writes the text within.
    pub(super) fn write(&self, text: &str, shown: &mut String, inline: &impl Fn(&str) -> String) -> usize {
        let after = &text[self.length..];
        if self.is(&["br", "hr"]) {
            shown.push('\n');
            if self.is(&["hr"]) {
                shown.extend([super::RULE, "\n"]);
            }
            return self.length;
        }
        if self.is_block() && !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        if self.is_end {
            return self.length;
        }
        if self.is(&["img"]) {
            let address = self.attribute("src").unwrap_or_default();
            shown.push_str(&super::inline::link(self.attribute("alt").unwrap_or_default(), address));
            return self.length;
        }
        if self.is(&["li"]) {
            shown.push_str("- ");
        } else if self.is(&["blockquote"]) {
            shown.push_str("> ");
        } else if self.is(&["td"]) && !shown.is_empty() && !shown.ends_with('\n') {
            shown.push_str(" | ");
        }
        let Some((content, length)) = self.content(after) else { return self.length };
        if self.is(&["code", "kbd", "tt", "samp"]) {
            let code = content.replace('`', "'");
            shown.extend(["`", &code, "`"]);
        } else if self.is(&["sub", "sup"]) {
            let mark = if self.is(&["sub"]) { '_' } else { '^' };
            shown.push_str(&small(content, mark));
        } else if self.is(&["a"]) {
            shown.push_str(&super::inline::link(&inline(content), self.attribute("href").unwrap_or_default()));
        } else if let Some(mark) = self.mark() {
            let content = inline(content);
            let content = content.trim();
            let is_marked = content.is_empty() || content.contains('\n') || content.starts_with(mark);
            let mark = if is_marked { "" } else { mark };
            shown.extend([mark, content, mark, if self.is_block() { "\n" } else { "" }]);
        } else {
            return self.length;
        }
        self.length + length
    }
}

/// The characters that are written by a name: `&nbsp;`.
const ENTITIES: [(&str, &str); 16] = [
    ("nbsp", " "),
    ("amp", "&"),
    ("lt", "\\<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("#39", "'"),
    ("#x27", "'"),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("middot", "·"),
    ("bull", "•"),
    ("rarr", "→"),
    ("times", "×"),
    ("euro", "€"),
];

/// The longest name of an entity with its `;`, in bytes.
const LONGEST_NAME: usize = 8;

/// The character of an entity at the beginning of a text, and the entity's length.
pub(super) fn entity(text: &str) -> Option<(&'static str, usize)> {
    let after = text.strip_prefix('&')?;
    let (name, _) = after[..after.floor_char_boundary(LONGEST_NAME)].split_once(';')?;
    ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, shown)| (*shown, name.len() + 2))
}
