//! Splits a text into sentences of words, mentions and marks, for the rules that read it.

use std::borrow::Cow;

use kernel::chat::text::split_mention;
use kernel::ids::UserId;
use kernel::text::plain_letters;

use crate::features::chat::rules::words::{self, Sense};

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Word(Word<'t>),
    Mention {
        account: UserId,
        /// The position in the text after it.
        end: usize,
    },
    Comma,
    /// A colon, a semicolon or a dash.
    Pause,
    /// An address, a path, an emoji.
    Other(&'t str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one word")]
pub(super) struct Word<'t> {
    /// In lower case.
    pub(super) folded: Cow<'t, str>,
    /// The word begins with a capital letter.
    pub(super) capital: bool,
    /// Written with an `@` before it.
    pub(super) at: bool,
    /// In bold or italics.
    pub(super) emphasised: bool,
    /// Between quotation marks.
    pub(super) quoted: bool,
    /// The position in the text after it.
    pub(super) end: usize,
}

/// A sentence, or a line without a mark at its end.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one sentence")]
pub(super) struct Sentence<'t> {
    pub(super) pieces: Vec<Piece<'t>>,
    /// It ends with a question mark.
    pub(super) asks: bool,
    /// It ends with a mark.
    pub(super) ended: bool,
    /// It begins its line.
    pub(super) begins_line: bool,
    /// It is an entry of a list.
    pub(super) is_entry: bool,
    /// For each piece and sense, the length in pieces of the longest phrase with this sense that begins there.
    said: Vec<[u8; Sense::COUNT]>,
}

impl Sentence<'_> {
    pub(super) fn words(&self) -> impl Iterator<Item = &Word<'_>> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Word(word) => Some(word),
            _ => None,
        })
    }

    /// The length in pieces of the longest phrase at `at` that has this sense. Zero if there is none.
    pub(super) fn phrase(&self, at: usize, sense: Sense) -> usize {
        self.said.get(at).map_or(0, |said| usize::from(said[sense as usize]))
    }

    /// Looks up every phrase once. The rules ask for them many times.
    fn look_up(&mut self) {
        self.said = vec![[0; Sense::COUNT]; self.pieces.len()];
        let mut phrase = String::new();
        for (at, said) in self.said.iter_mut().enumerate() {
            phrase.clear();
            for (length, piece) in (1..=words::LONGEST).zip(&self.pieces[at..]) {
                let Piece::Word(word) = piece else { break };
                if length == 1 {
                    note_word(&word.folded, said);
                } else {
                    phrase.push(' ');
                }
                phrase.push_str(&word.folded);
                let Some(senses) = words::find(&phrase) else { break };
                for sense in senses {
                    said[*sense as usize] = length;
                }
            }
        }
    }

    /// Whether no word in the sentence has a sense that the rules know.
    pub(super) fn is_unknown(&self) -> bool {
        (0..self.pieces.len()).all(|at| self.is_unknown_at(at))
    }

    /// Whether the piece has no sense that the rules know.
    pub(super) fn is_unknown_at(&self, at: usize) -> bool {
        self.said.get(at).is_some_and(|said| said.iter().all(|length| *length == 0))
    }

    /// Whether a word or phrase in the sentence has this sense.
    pub(super) fn holds(&self, sense: Sense) -> bool {
        (0..self.pieces.len()).any(|at| self.phrase(at, sense) > 0) || self.words().any(|word| words::holds(&word.folded, sense))
    }
}

/// Notes the senses of a single word, including forms such as "what's" and "heyyy" and writing without spaces.
fn note_word(word: &str, said: &mut [u8; Sense::COUNT]) {
    if let Some((question, _)) = word.split_once(['\'', '’'])
        && words::says(question, Sense::Question)
    {
        said[Sense::Question as usize] = 1;
    }
    let mut letters = word.chars().rev();
    if let (Some(last), Some(before)) = (letters.next(), letters.next())
        && last == before
    {
        let once = word.trim_end_matches(last).len() + last.len_utf8();
        let drawn_out = [Sense::Greeting, Sense::Thanks, Sense::Stop];
        let senses = words::find(&word[..once]).into_iter().flatten().filter(|sense| drawn_out.contains(sense));
        senses.for_each(|sense| said[*sense as usize] = 1);
    }
    if !word.is_ascii() {
        words::senses_of_unspaced(word).for_each(|sense| said[sense as usize] = 1);
        // "Good morning, team" as one word.
        let greets_team = words::is_made_of(word, &[Sense::Team, Sense::Greeting, Sense::Everybody]) && words::holds(word, Sense::Team);
        said[Sense::Team as usize] = said[Sense::Team as usize].max(u8::from(greets_team));
    }
}

/// Emphasis, quotation marks and brackets.
fn decorates(c: char) -> bool {
    "*_~|\"'“”„‘’«»‹›()[]{}¿¡#「」『』（）【】《》\\".contains(c)
}

fn pauses(c: char) -> bool {
    ",:;-–—，、：；،؛".contains(c)
}

fn asks(c: char) -> bool {
    "?？؟".contains(c)
}

fn ends(c: char) -> bool {
    asks(c) || ".!…。！।۔".contains(c)
}

/// The sentences of a text without invisible characters, quotes and code.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut reader = Reader { text, found: Vec::new(), open: Sentence::default(), quoted: false };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.read_line(start, line);
        start += line.len();
    }
    reader.found
}

struct Reader<'t> {
    text: &'t str,
    found: Vec<Sentence<'t>>,
    open: Sentence<'t>,
    quoted: bool,
}

impl Reader<'_> {
    fn read_line(&mut self, start: usize, line: &str) {
        self.open = Sentence { begins_line: true, is_entry: begins_entry(line.trim_start()), ..Sentence::default() };
        self.quoted = false;
        let mut at = start;
        for chunk in line.split_inclusive(char::is_whitespace) {
            self.read_chunk(at, at + chunk.trim_end().len());
            at += chunk.len();
        }
        self.close();
    }

    fn close(&mut self) {
        let mut sentence = std::mem::take(&mut self.open);
        sentence.look_up();
        if !sentence.pieces.is_empty() || sentence.asks {
            self.found.push(sentence);
        }
    }

    /// Reads the pieces between two spaces.
    fn read_chunk(&mut self, mut from: usize, to: usize) {
        let (mut at_sign, mut emphasised) = (false, false);
        while let Some(first) = self.text[from..to].chars().next() {
            let rest = &self.text[from..to];
            if first.is_alphanumeric() {
                from += self.read_word(from, to, std::mem::take(&mut at_sign), emphasised);
                continue;
            }
            if let Some((account, after)) = split_mention(rest) {
                from = to - after.len();
                self.open.pieces.push(Piece::Mention { account, end: from });
                continue;
            }
            if matches!(first, '@' | '＠') || decorates(first) {
                at_sign |= matches!(first, '@' | '＠');
                emphasised |= matches!(first, '*' | '_');
                self.quote(first);
            } else if ends(first) {
                self.end(first);
            } else if pauses(first) {
                self.pause(first);
            } else {
                from += self.read_word(from, to, std::mem::take(&mut at_sign), emphasised);
                continue;
            }
            from += first.len_utf8();
        }
    }

    fn end(&mut self, mark: char) {
        // The dot in "Mr. Vince" does not end the sentence.
        if mark == '.' && matches!(self.open.pieces.last(), Some(Piece::Word(word)) if words::says(&word.folded, Sense::Title)) {
            return;
        }
        match self.found.last_mut() {
            // A further mark of the same end, as in "?!".
            Some(last) if self.open.pieces.is_empty() && !self.open.begins_line => last.asks |= asks(mark),
            _ => {
                self.open.asks = asks(mark);
                self.open.ended = true;
                self.close();
            }
        }
    }

    fn quote(&mut self, mark: char) {
        match mark {
            // `“` ends a quotation in German and begins one in English.
            '"' | '“' => self.quoted = !self.quoted,
            '„' | '«' | '「' | '『' => self.quoted = true,
            '”' | '»' | '」' | '』' => self.quoted = false,
            _ => {}
        }
    }

    fn pause(&mut self, mark: char) {
        let pause = if ",，、،".contains(mark) { Piece::Comma } else { Piece::Pause };
        if !matches!(self.open.pieces.last(), None | Some(Piece::Comma | Piece::Pause)) {
            self.open.pieces.push(pause);
        }
    }

    /// Reads a word, or another piece without spaces, and returns its length.
    fn read_word(&mut self, from: usize, to: usize, at: bool, emphasised: bool) -> usize {
        let rest = &self.text[from..to];
        let inner = rest.trim_end_matches(|c: char| !c.is_alphanumeric() && (decorates(c) || pauses(c) || ends(c)));
        let is_mail = inner.match_indices('@').any(|(at, _)| inner[..at].ends_with(|c: char| c.is_ascii_alphanumeric()));
        if inner.contains('/') || is_mail {
            self.open.pieces.push(Piece::Other(inner));
            return inner.len();
        }
        let length = word_length(inner);
        let word = &rest[..length];
        if !word.contains(char::is_alphanumeric) || word.contains(['.', '=']) {
            self.open.pieces.push(Piece::Other(word));
            return length;
        }
        // "Vince-san" is Vince with a title.
        let name = word.rsplit_once('-').filter(|(_, title)| words::says(title, Sense::Title)).map_or(word, |(name, _)| name);
        let capital = name.starts_with(char::is_uppercase);
        self.open.pieces.push(Piece::Word(Word { folded: fold(name), capital, at, emphasised, quoted: self.quoted, end: from + length }));
        length
    }
}

fn begins_entry(line: &str) -> bool {
    let numbered = || line.split_once(['.', ')']).is_some_and(|(number, rest)| number.parse::<u16>().is_ok() && rest.starts_with(' '));
    ["- ", "* ", "+ ", "• ", "– "].iter().any(|mark| line.starts_with(mark)) || numbered()
}

/// The end of a word: at a mark that splits words, or where another script begins.
fn word_length(text: &str) -> usize {
    let mut before: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        if let Some(before) = before {
            let is_inside = c.is_alphanumeric();
            let letters = || before.is_alphabetic() && after.is_some_and(char::is_alphabetic);
            let is_mark = || (",:;".contains(c) && letters()) || "!?<@＠".contains(c) || (!c.is_ascii() && (pauses(c) || ends(c)));
            let splits = !is_inside && is_mark();
            let changes = is_inside && before.is_alphanumeric() && words::is_unspaced(c) != words::is_unspaced(before);
            if splits || changes {
                return at;
            }
        }
        before = Some(c);
    }
    text.len()
}

/// The word in lower case, with ornate letters (full-width, mathematical, in circles) replaced by ordinary ones, and without emojis.
pub(super) fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        let is_folded = !word.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_folded { Cow::Borrowed(word) } else { Cow::Owned(word.to_ascii_lowercase()) };
    }
    let is_ornate =
        |c: char| matches!(c, '\u{FF01}'..='\u{FF5E}' | '\u{1D400}'..='\u{1D7FF}' | '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}');
    let plain = if word.contains(is_ornate) { plain_letters(word) } else { Cow::Borrowed(word) };
    Cow::Owned(plain.chars().flat_map(char::to_lowercase).collect())
}
