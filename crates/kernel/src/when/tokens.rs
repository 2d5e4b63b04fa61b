//! Cuts a text into words, numerals and marks, each with its place in the text.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Lower case, without accents.
    pub text: String,
    pub kind: Kind,
    /// Bytes of the original text.
    pub span: Range<usize>,
    /// No space before it: the `pm` of `5pm`.
    pub glued: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// Digits with separators between them: `9`, `17.30`, `18.12.`, `2026-12-18`.
    Numeral,
    Mark,
}

impl Token {
    /// A word that was cut out of a text before.
    pub(super) fn of_word(word: &str) -> Self {
        let kind = if word.starts_with(|c: char| c.is_ascii_digit()) { Kind::Numeral } else { Kind::Word };
        Self { text: fold(word), kind, span: 0..word.len(), glued: false }
    }

    /// The digits of a numeral, if there is nothing else but a full stop after them.
    pub(super) fn integer(&self) -> Option<u32> {
        self.text.trim_end_matches('.').parse().ok().filter(|_| self.kind == Kind::Numeral)
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark && self.text.chars().eq([mark])
    }
}

pub(super) fn tokenise(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (kind, length) = if c.is_ascii_digit() {
            (Kind::Numeral, numeral(&text[at..]))
        } else if c.is_alphabetic() {
            (Kind::Word, word(&text[at..]))
        } else {
            (Kind::Mark, c.len_utf8())
        };
        let span = at..at + length;
        at = span.end;
        if !c.is_whitespace() {
            let glued = tokens.last().is_some_and(|last| last.span.end == span.start);
            tokens.push(Token { text: fold(&text[span.clone()]), kind, span, glued });
        }
    }
    tokens
}

/// A separator belongs to the numeral if a digit follows. A full stop also marks an ordinal (`18.`, `18.12.`), but not at the end of the text.
fn numeral(text: &str) -> usize {
    let mut length = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let separates = matches!(c, '.' | ':' | '/' | ',' | '-') && next.is_some_and(|next| next.is_ascii_digit());
        if !c.is_ascii_digit() && !separates {
            let is_ordinal = c == '.' && text[index + 1..].chars().any(char::is_alphanumeric);
            return if is_ordinal { index + 1 } else { index };
        }
        length = index + 1;
    }
    length
}

/// Letters and apostrophes, and the points of `a.m.`.
fn word(text: &str) -> usize {
    let dotted = ["a.m.", "p.m.", "a.m", "p.m"];
    if let Some(dotted) = dotted.iter().find(|dotted| text.get(..dotted.len()).is_some_and(|start| start.eq_ignore_ascii_case(dotted))) {
        return dotted.len();
    }
    let end = text.find(|c: char| !(c.is_alphabetic() || is_combining(c) || matches!(c, '\'' | '’')));
    let word = &text[..end.unwrap_or(text.len())];
    word.trim_end_matches(['\'', '’']).len()
}

fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Lower case without accents, so that `übermorgen` and `ubermorgen` are one word.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase).filter(|c| !is_combining(*c)) {
        match c {
            'á' | 'à' | 'â' | 'ã' | 'ä' | 'å' => folded.push('a'),
            'é' | 'è' | 'ê' | 'ë' => folded.push('e'),
            'í' | 'ì' | 'î' | 'ï' => folded.push('i'),
            'ó' | 'ò' | 'ô' | 'õ' | 'ö' => folded.push('o'),
            'ú' | 'ù' | 'û' | 'ü' => folded.push('u'),
            'ç' => folded.push('c'),
            'ñ' => folded.push('n'),
            'ß' => folded.push_str("ss"),
            '’' => folded.push('\''),
            '–' | '—' => folded.push('-'),
            c => folded.push(c),
        }
    }
    match folded.as_str() {
        "a.m." | "a.m" => "am".to_owned(),
        "p.m." | "p.m" => "pm".to_owned(),
        _ => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numerals_and_marks_come_apart() {
        let cut = |text: &str| tokenise(text).into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
        for (text, tokens) in [
            ("Übermorgen um 17h30", "ubermorgen um 17 h 30"),
            ("at 5.30 p.m. to go", "at 5.30 pm to go"),
            ("am 18.12. um 9", "am 18.12. um 9"),
            ("on 18.12.", "on 18.12 ."),
            ("mon-fri, 9 o’clock", "mon - fri , 9 o'clock"),
            ("2026-12-18 10/4 90m", "2026-12-18 10/4 90 m"),
        ] {
            assert_eq!(cut(text), tokens, "{text}");
        }
    }
}
