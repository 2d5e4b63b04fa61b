//! Puts pieces of text together to lines, by their positions.

/// A gap that separates words, in sizes of the font. A space is a fourth or more, and letters are moved by less than a tenth.
const SPACE: f32 = 0.18;
/// A gap that separates columns.
const COLUMN: f32 = 1.5;
/// How far a piece is above or below its line, in sizes of the font. Exponents and indices are closer, lines are further apart.
const RISE: f32 = 0.4;

/// A piece of text.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Where it starts along its line.
    pub(super) start: f32,
    /// Where it ends. None: the widths of its font are unknown.
    pub(super) end: Option<f32>,
    /// Where its line is.
    pub(super) line: f32,
    /// The direction of its line.
    pub(super) direction: (f32, f32),
    pub(super) size: f32,
}

/// The lines of a page.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    line: Vec<Piece>,
}

impl Lines {
    pub(super) fn push(&mut self, piece: Piece) {
        if let Some(first) = self.line.first() {
            let turned = (first.direction.0 - piece.direction.0).abs() + (first.direction.1 - piece.direction.1).abs() > 0.1;
            if turned || (first.line - piece.line).abs() > RISE * first.size.max(piece.size) {
                self.end_line();
            }
        }
        self.line.push(piece);
    }

    pub(super) fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        // Without widths, pieces that follow each other begin at the same place.
        let is_placed = line.iter().all(|piece| piece.end.is_some());
        // Pieces of a line may be drawn in any order. What is written from the right is left as it is.
        if is_placed && !line.iter().any(|piece| piece.text.chars().any(is_from_right)) {
            line.sort_by(|one, other| one.start.total_cmp(&other.start));
        }
        // Bold letters are imitated by drawing them twice.
        line.dedup_by(|again, first| is_placed && again.text == first.text && (again.start - first.start).abs() < 0.15 * first.size);
        let space = SPACE.max(spread(&line));
        let mut shown = String::new();
        let mut last: Option<&Piece> = None;
        for piece in &line {
            if let Some(last) = last {
                let (gap, size) = (piece.start - last.end.unwrap_or(last.start), last.size.max(piece.size));
                shown.push_str(match last.end {
                    _ if shown.ends_with(' ') || piece.text.starts_with(' ') => "",
                    Some(_) if gap > COLUMN * size => "  ",
                    _ if gap.abs() <= space * size || gap < 0.0 && -gap < size => "",
                    _ => " ",
                });
            }
            shown.push_str(&piece.text);
            last = Some(piece);
        }
        if !shown.trim().is_empty() {
            self.text.push_str(if self.text.is_empty() { "" } else { "\n" });
            self.text.push_str(shown.trim_end());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn finish(mut self) -> String {
        self.end_line();
        self.text
    }
}

/// Hebrew and Arabic.
fn is_from_right(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

/// The gap that separates words in a line whose letters are drawn one by one and far from each other, as headings are. 0: another line.
fn spread(line: &[Piece]) -> f32 {
    let is_letter = |piece: &&Piece| piece.text.chars().count() == 1 && piece.text.chars().all(char::is_alphabetic);
    if line.len() < 4 || line.iter().filter(is_letter).count() * 5 < line.len() * 4 {
        return 0.0;
    }
    let gap = |pair: &[Piece]| pair[0].end.map(|end| (pair[1].start - end) / pair[0].size.max(f32::EPSILON));
    let mut gaps: Vec<f32> = line.windows(2).filter_map(gap).collect();
    gaps.sort_by(f32::total_cmp);
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or(0.0);
    if median > 0.6 { 0.0 } else { median + 0.15 }
}
