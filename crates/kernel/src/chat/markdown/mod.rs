//! Markdown as models write it, without what chat platforms lack: deep headings, rules, tasks, tables, HTML, formulas, footnotes. What is left is shown
//! by Discord, and by Slack after translation. Foreign text that [`Medium`](crate::chat::medium::Medium) has escaped stays as it is.

mod bare;
mod formula;
mod html;
mod inline;
mod tables;

pub use bare::bare;
use inline::{footnote, inline, push_text};
pub use tables::{align_tables, align_tables_within};

use crate::chat::text::is_subtext;

/// Shown for a rule.
const RULE: &str = "──────────";

/// The most lines of a formula.
const FORMULA: usize = 20;

const FENCE: &str = "```";
const TILDES: &str = "~~~";

/// Addresses that the text names at its end: `[1]: https://…`.
struct Definitions<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Definitions<'t> {
    fn of(text: &'t str) -> Self {
        Self(if text.contains("]:") { text.lines().filter_map(definition).collect() } else { Vec::new() })
    }

    fn find(&self, name: &str) -> Option<&'t str> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, address)| *address)
    }
}

/// The name and the address that a line defines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, address) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    let address = address.trim().split(' ').next()?.trim_start_matches('<').trim_end_matches('>');
    (address.starts_with("http") && !name.starts_with('^')).then_some((name, address))
}

/// Rewrites what chat platforms do not show.
pub fn simplify(text: &str) -> String {
    let text = align_tables(text);
    let known = Definitions::of(&text);
    let is_used = |name: &str| text.matches(&format!("[{name}]")).count() > 1;
    let mut lines = Lines::default();
    let all: Vec<&str> = text.split('\n').collect();
    for (at, line) in all.iter().enumerate() {
        let is_code = lines.add_code(line) || lines.add_formula(line, &all[at + 1..]);
        let is_unneeded = || definition(line).is_some_and(|(name, _)| is_used(name));
        if !is_code && !is_unneeded() {
            lines.add(line, &known);
        }
    }
    lines.shown.join("\n")
}

#[derive(Default)]
struct Lines {
    shown: Vec<String>,
    /// What ends the code block.
    code: Option<&'static str>,
    /// What ends the formula.
    formula: Option<&'static str>,
}

impl Lines {
    /// Whether a line belongs to a code block. Not all platforms know a block between tildes.
    fn add_code(&mut self, line: &str) -> bool {
        let (was_code, text) = (self.code, line.trim());
        let language = text.strip_prefix(TILDES).filter(|rest| !rest.contains('~'));
        match (was_code, language) {
            (None, Some(language)) => {
                self.code = Some(TILDES);
                self.shown.push(format!("{FENCE}{language}"));
            }
            (Some(TILDES), Some("")) => {
                self.code = None;
                self.shown.push(FENCE.to_owned());
            }
            _ => {
                if was_code != Some(TILDES) && line.matches(FENCE).count() % 2 == 1 {
                    self.code = if was_code.is_none() { Some(FENCE) } else { None };
                }
                let is_code = was_code.is_some() || self.code.is_some();
                if is_code {
                    self.shown.push(line.to_owned());
                }
                return is_code;
            }
        }
        true
    }

    /// Whether a line belongs to a formula of several lines. `next` are the lines after it.
    fn add_formula(&mut self, line: &str, next: &[&str]) -> bool {
        let text = line.trim();
        if let Some(end) = self.formula {
            self.formula = (text != end).then_some(end);
            let shown = formula::plain(text);
            if text != end && !shown.is_empty() {
                let mut escaped = String::new();
                push_text(&shown, &mut escaped);
                self.shown.push(escaped);
            }
            return true;
        }
        let is_whole = |closes: &str| {
            let end = next.iter().take(FORMULA).position(|line| line.trim() == closes);
            end.is_some_and(|end| {
                next[..end].iter().any(|line| formula::has_command(line) || (closes == "$$" && formula::is_formula(line)))
            })
        };
        let pair = [("$$", "$$"), (r"\[", r"\]")].into_iter().find(|(opens, closes)| text == *opens && is_whole(closes));
        self.formula = pair.map(|(_, closes)| closes);
        self.formula.is_some()
    }

    /// Adds a line outside of code.
    fn add(&mut self, line: &str, known: &Definitions<'_>) {
        if is_subtext(line) {
            let small = inline_of_subtext(line, known);
            return self.shown.push(small);
        }
        let (before, text) = split_block(line);
        if before.is_empty() && is_underline(text) && self.underline() {
            return;
        }
        if is_rule(text) {
            return self.shown.push(format!("{before}{RULE}"));
        }
        if let Some((name, note)) = text.strip_prefix("[^").and_then(|text| text.split_once("]:")) {
            return self.shown.push(format!("{before}{} {}", footnote(name), inline(note.trim(), known)));
        }
        let is_entry = before.contains(|c: char| !c.is_whitespace() && c != '>');
        let (marks, text, is_deep) = match heading(text) {
            Some((level, title)) if level > 3 || is_entry => ("", title, true),
            Some((level, title)) => (&text[..=level], title, false),
            None => ("", text, false),
        };
        let shown = inline(text, known);
        // Nothing but tags.
        if shown.trim().is_empty() && !text.trim().is_empty() {
            return;
        }
        let shown = if is_deep { bold(&shown) } else { shown };
        let quote = if before.trim_start().starts_with('>') { "> " } else { "" };
        let shown = shown.trim_matches('\n').replace('\n', &format!("\n{quote}"));
        self.shown.push(format!("{before}{marks}{shown}"));
    }

    /// Makes the line before a heading. False if there is none.
    fn underline(&mut self) -> bool {
        let title = self.shown.last_mut().filter(|title| !title.trim().is_empty() && !title.starts_with(FENCE));
        title.map(|title| *title = bold(title)).is_some()
    }
}

/// A line without its mark of small print would be text.
fn inline_of_subtext(line: &str, known: &Definitions<'_>) -> String {
    const OPENS: &str = "<small>";
    const CLOSES: &str = "</small>";
    let text = line.strip_prefix(OPENS).unwrap_or(line);
    let (text, end) = text.strip_suffix(CLOSES).map_or((text, ""), |text| (text, CLOSES));
    format!("{OPENS}{}{end}", inline(text, known).replace('\n', " "))
}

fn bold(title: &str) -> String {
    let title = title.trim().replace("**", "");
    if title.is_empty() { title } else { format!("**{title}**") }
}

/// Splits a line after its marks of quotations and lists. A task's box becomes a sign.
fn split_block(line: &str) -> (String, &str) {
    let mut rest = line;
    let mut before = String::new();
    loop {
        let text = rest.trim_start();
        let marker = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = text.len() - marker.len();
        let is_numbered = (1..=4).contains(&number) && (marker.starts_with(". ") || marker.starts_with(") "));
        let length = if is_numbered {
            number + 2
        } else if ["- ", "* ", "+ "].iter().any(|bullet| text.starts_with(bullet)) && !is_rule(text) {
            2
        } else if let Some(quoted) = text.strip_prefix('>') {
            1 + usize::from(quoted.starts_with(' '))
        } else {
            break;
        };
        let is_quote = text.starts_with('>');
        before.push_str(&rest[..rest.len() - text.len() + length]);
        rest = &text[length..];
        if !is_quote {
            for (mark, sign) in [("[ ] ", "☐ "), ("[x] ", "☑ "), ("[X] ", "☑ ")] {
                if let Some(task) = rest.strip_prefix(mark) {
                    before.push_str(sign);
                    rest = task;
                }
            }
            break;
        }
    }
    let space = rest.len() - rest.trim_start().len();
    before.push_str(&rest[..space]);
    (before, &rest[space..])
}

/// Three or more of the same mark and nothing else.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    ['-', '*', '_'].iter().any(|mark| text.matches(*mark).count() >= 3 && text.chars().all(|c| c == *mark || c == ' '))
}

fn is_underline(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3 && text.chars().all(|c| c == '=')
}

/// The level and the title of a heading.
fn heading(text: &str) -> Option<(usize, &str)> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let title = (1..=6).contains(&level).then(|| title.strip_prefix(' '))??.trim();
    let open = title.trim_end_matches('#');
    Some((level, if open.is_empty() || open.ends_with(' ') { open.trim_end() } else { title }))
}

#[cfg(test)]
mod tests;
