//! Tables as aligned code blocks.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Definitions;
use super::inline::inline;
use crate::chat::text::{Plain, render};

/// The fewest columns that a cut cell keeps.
const NARROWEST: usize = 6;

/// A column of at most this width, such as a name or a date, is cut only if the others have no room.
const SHORT: usize = 20;

/// Replaces Markdown tables with aligned code blocks, because chat platforms do not render tables.
pub fn align_tables(text: &str) -> String {
    align_tables_within(text, usize::MAX)
}

/// Like [`align_tables`], for lines of at most `width` columns: the longest cells are cut and end in `…`. Cells that are aligned to the right are
/// numbers and stay whole.
pub fn align_tables_within(text: &str, width: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut aligned: Vec<String> = Vec::with_capacity(lines.len());
    let (mut at, mut in_fence) = (0, false);
    while at < lines.len() {
        in_fence ^= lines[at].matches("```").count() % 2 == 1;
        if let Some((table, length)) = find_table(&lines[at..], width).filter(|_| !in_fence) {
            aligned.push(format!("```\n{table}\n```"));
            at += length;
        } else {
            aligned.push(lines[at].to_owned());
            at += 1;
        }
    }
    aligned.join("\n")
}

/// The rendered table at the first line and its number of lines.
fn find_table(lines: &[&str], width: usize) -> Option<(String, usize)> {
    let [header, rule, rows @ ..] = lines else { return None };
    let header = list_cells(header)?;
    let alignments: Vec<CellAlignment> = list_cells(rule)?.iter().map(|cell| find_alignment(cell)).collect::<Option<_>>()?;
    if header.len() != alignments.len() {
        return None;
    }
    let rows: Vec<Vec<String>> = rows.iter().map_while(|line| list_cells(line)).collect();
    let length = rows.len() + 2;
    let columns = header.len();
    let mut all: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    for row in &mut all {
        row.resize(columns, String::new());
    }
    fit(&mut all, &alignments, width);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    let mut all = all.into_iter();
    table.set_header(all.next().unwrap_or_default());
    for row in all {
        table.add_row(row);
    }
    for (column, alignment) in table.column_iter_mut().zip(alignments) {
        column.set_cell_alignment(alignment);
    }
    Some((table.trim_fmt(), length))
}

/// Cuts the widest columns until a line has room for all.
fn fit(rows: &mut [Vec<String>], alignments: &[CellAlignment], width: usize) {
    let widths: Vec<usize> =
        (0..alignments.len()).map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or_default()).collect();
    // A bar and two spaces for each column, and the last bar.
    let room = width.saturating_sub(3 * alignments.len() + 1);
    let widest = widths.iter().copied().max().unwrap_or_default();
    let is_text = |column: usize| alignments[column] != CellAlignment::Right;
    let is_long = |column: usize| is_text(column) && widths[column] > SHORT;
    // The largest limit with which the columns that are cut leave room for all.
    let limit_of = |is_cut: &dyn Fn(usize) -> bool| {
        let needs = |limit: usize| {
            let fitted = |(column, width): (usize, &usize)| if is_cut(column) { (*width).min(limit) } else { *width };
            widths.iter().enumerate().map(fitted).sum::<usize>()
        };
        (NARROWEST..=widest).rev().find(|limit| needs(*limit) <= room)
    };
    let of_long = limit_of(&is_long).filter(|limit| *limit >= NARROWEST + 2);
    let limit = of_long.or_else(|| limit_of(&is_text)).unwrap_or(NARROWEST);
    let is_cut = |column: usize| if of_long.is_some() { is_long(column) } else { is_text(column) };
    for (_, cell) in rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()).filter(|(column, _)| is_cut(*column)) {
        cut(cell, limit);
    }
}

/// Cuts a text to so many columns of a terminal.
fn cut(text: &mut String, most: usize) {
    if text.width() <= most {
        return;
    }
    let mut room = most.saturating_sub(1);
    let end = text.char_indices().find(|(_, c)| {
        let wide = c.width().unwrap_or_default();
        let fits = wide <= room;
        room = room.saturating_sub(wide);
        !fits
    });
    text.truncate(end.map_or(text.len(), |(at, _)| at));
    text.truncate(text.trim_end().len());
    text.push('…');
}

/// The cells of a row, without Markdown, which a code block would show literally.
fn list_cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.contains('|') {
        return None;
    }
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|line| !line.ends_with('\\')).unwrap_or(line);
    let escaped = line.replace("\\|", "\u{1}");
    Some(escaped.split('|').map(|cell| cell_text(cell.trim()).replace('\u{1}', "|")).collect())
}

/// The text of a cell without its marks.
fn cell_text(cell: &str) -> String {
    let cell = render(&inline(cell, &Definitions(Vec::new())).replace('\n', "; "), &Plain);
    let mut text = String::with_capacity(cell.len());
    let (mut rest, mut in_code) = (cell.chars().peekable(), false);
    while let Some(c) = rest.next() {
        match c {
            '`' => in_code = !in_code,
            // A backtick could end the block.
            '\\' if !in_code && rest.peek().is_some_and(char::is_ascii_punctuation) => text.extend(rest.next().filter(|c| *c != '`')),
            '*' if !in_code && rest.next_if_eq(&'*').is_some() => {}
            _ => text.push(c),
        }
    }
    text
}

/// The alignment for `:--`, `:-:` or `--:`.
fn find_alignment(cell: &str) -> Option<CellAlignment> {
    let dashes = cell.trim_matches(':');
    if dashes.is_empty() || dashes.contains(|c| c != '-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => CellAlignment::Center,
        (false, true) => CellAlignment::Right,
        _ => CellAlignment::Left,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_become_aligned_code_blocks() {
        let text = "Costs:\n| who | **cost** |\n|:---|---:|\n| Vince | $0.10 |\n| `Kelly` | $12.00 |\nThat is all.";
        let aligned = align_tables(text);
        assert_eq!(
            aligned,
            "Costs:\n```\n| who   |   cost |\n|-------|--------|\n| Vince |  $0.10 |\n| Kelly | $12.00 |\n```\nThat is all."
        );
    }

    #[test]
    fn wide_characters_and_escaped_bars_line_up() {
        let aligned = align_tables("| a | b |\n|---|---|\n| 十二 | x\\|y |\n| z | w |");
        assert!(aligned.contains("| 十二 | x|y |\n| z    | w   |"), "{aligned}");
    }

    #[test]
    fn what_only_looks_like_a_table_stays() {
        for text in ["a | b", "a | b\nc | d", "```\n| a |\n|---|\n| b |\n```", "| a |\n|-x-|", "| a | b |\n|---|"] {
            assert_eq!(align_tables(text), text);
        }
    }

    #[test]
    fn a_row_with_too_few_or_too_many_cells_is_fitted() {
        let aligned = align_tables("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |");
        assert_eq!(aligned, "```\n| a | b |\n|---|---|\n| 1 |   |\n| 1 | 2 |\n```");
    }

    #[test]
    fn a_table_fits_the_width_by_cutting_its_longest_cells() {
        let text = "| id | what | cost |\n|---|---|---:|\n| a1b2c3 | Measure how the nightly import of the warehouse takes | $12,000.00 |";
        let aligned = align_tables_within(text, 40);
        let widths: Vec<usize> = aligned.lines().filter(|line| line.starts_with('|')).map(unicode_width::UnicodeWidthStr::width).collect();
        assert_eq!(widths, [40, 40, 40]);
        assert!(aligned.contains("| a1b2c3 | Measure how t… | $12,000.00 |"), "{aligned}");
        assert_eq!(align_tables_within(text, 200), align_tables(text));
        // Names and dates stay whole.
        let jobs = "| job | does | next |\n|---|---|---|\n| settle-predictions | settle what was predicted long ago | Mon 30 Nov 09:00 |";
        let aligned = align_tables_within(jobs, 60);
        assert!(aligned.contains("| settle-predictions | settle what was…") && aligned.contains("| Mon 30 Nov 09:00 |"), "{aligned}");
        // Wide characters take two columns. What has no room at all keeps a few characters.
        assert!(align_tables_within("| a |\n|---|\n| 十二十二十二十二 |", 12).contains("| 十二十… |"));
        assert!(align_tables_within("| a | b |\n|---|---|\n| one long text | one long text |", 5).contains("| one l… | one l… |"));
    }

    #[test]
    fn a_cell_has_no_marks() {
        let aligned = align_tables("| a | b |\n|---|---|\n| snake\\_case<br>two | `x\\y` and $x^2$ |");
        assert_eq!(
            aligned,
            "```\n| a               | b          |\n|-----------------|------------|\n| snake_case; two | x\\y and x² |\n```"
        );
    }
}
