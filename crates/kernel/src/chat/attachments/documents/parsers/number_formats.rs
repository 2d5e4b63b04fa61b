//! Numbers of a sheet as its number formats show them.

use chrono::{Datelike as _, Days, NaiveDate};

/// The parts of a section of a format.
#[derive(Debug, PartialEq)]
enum Token {
    Literal(String),
    /// `0`, `#` or `?`
    Digit(char),
    Point,
    Comma,
    Percent,
    Exponent,
    /// `y`, `m`, `d`, `h` or `s`, in brackets or not: `[h]` counts on beyond 24.
    Unit {
        letter: char,
        is_elapsed: bool,
    },
    /// The number as it is.
    General,
}

/// The format of a number that Excel does not write into its files. Empty: none.
pub(super) fn built_in(id: u32) -> &'static str {
    match id {
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 | 6 => "\"$\"#,##0_);(\"$\"#,##0)",
        7 | 8 => "\"$\"#,##0.00_);(\"$\"#,##0.00)",
        9 => "0%",
        10 => "0.00%",
        11 | 48 => "0.00E+00",
        14..=16 | 27..=31 | 34..=36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
        17 => "yyyy-mm",
        18 | 20 | 32 | 55 => "hh:mm",
        19 | 21 | 33 | 56 => "hh:mm:ss",
        22 => "yyyy-mm-dd hh:mm",
        37 | 38 => "#,##0_);(#,##0)",
        39 | 40 => "#,##0.00_);(#,##0.00)",
        41 => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
        42 => "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)",
        43 => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
        44 => "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        _ => "",
    }
}

/// A stored number as people see it. Dates have the order year, month, day, because `7/2/26` means two days.
pub(super) fn show(stored: &str, format: &str, is_1904: bool) -> String {
    let Some(number) = stored.parse::<f64>().ok().filter(|number| number.is_finite()) else { return stored.to_owned() };
    if format.is_empty() {
        return general(stored, number);
    }
    let (section, is_signed) = choose(&sections(format), number);
    let tokens = tokens(section);
    let unit = tokens.iter().position(|token| matches!(token, Token::Unit { .. }));
    let digit = tokens.iter().position(|token| matches!(token, Token::Digit(_)));
    if unit.is_some_and(|unit| digit.is_none_or(|digit| unit < digit)) {
        return show_time(number, &tokens, is_1904).unwrap_or_else(|| general(stored, number));
    }
    let sign = if is_signed && number < 0.0 { "-" } else { "" };
    match show_digits(number.abs(), &tokens) {
        // What is rounded to nothing has no sign.
        Some(shown) if shown.contains(|c: char| ('1'..='9').contains(&c)) => format!("{sign}{shown}").trim().to_owned(),
        Some(shown) => shown.trim().to_owned(),
        None => general(stored, number),
    }
}

/// A number without a format, without the noise of binary fractions.
fn general(stored: &str, number: f64) -> String {
    let is_plain = stored.chars().filter(char::is_ascii_digit).count() <= 15 && !stored.contains(['e', 'E']);
    let is_whole = stored.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_plain || is_whole {
        return stored.to_owned();
    }
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    if rounded != 0.0 && !(1e-9..1e15).contains(&rounded.abs()) { format!("{rounded:E}") } else { rounded.to_string() }
}

/// The sections of a format, which are separated by `;`.
fn sections(format: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_bracketed, mut is_escaped) = (false, false, false);
    for (at, c) in format.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '\\' | '_' | '*' => is_escaped = true,
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            ';' if !is_bracketed => {
                found.push(&format[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&format[start..]);
    found
}

/// The section for a number, and whether a negative number needs a sign there.
fn choose<'a>(sections: &[&'a str], number: f64) -> (&'a str, bool) {
    let section = |at: usize| sections.get(at).copied().unwrap_or_default();
    if sections.iter().any(|section| condition(section).is_some()) {
        let found = sections.iter().take(3).find(|section| condition(section).is_none_or(|condition| holds(condition, number)));
        return (found.copied().unwrap_or_default(), true);
    }
    match sections.len() {
        3.. if number == 0.0 => (section(2), false),
        2.. if number < 0.0 => (section(1), false),
        _ => (section(0), true),
    }
}

/// A condition such as `[>=100]`.
fn condition(section: &str) -> Option<(&str, f64)> {
    let inside = section.split('[').skip(1).find(|part| part.starts_with(['<', '>', '=']))?.split(']').next()?;
    let number = inside.trim_start_matches(['<', '>', '=']);
    Some((&inside[..inside.len() - number.len()], number.trim().parse().ok()?))
}

fn holds((operator, limit): (&str, f64), number: f64) -> bool {
    match operator {
        "<" => number < limit,
        "<=" => number <= limit,
        ">" => number > limit,
        ">=" => number >= limit,
        "<>" => (number - limit).abs() > f64::EPSILON,
        _ => (number - limit).abs() <= f64::EPSILON,
    }
}

fn tokens(section: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = section;
    while let Some(c) = rest.chars().next() {
        let (token, length) = token(c, rest);
        found.extend(token);
        rest = &rest[length.min(rest.len())..];
    }
    found
}

/// The token at the start of the rest of a section, and its length. None: what only changes how it looks.
fn token(c: char, rest: &str) -> (Option<Token>, usize) {
    let starts = |text: &str| rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
    let after = &rest[c.len_utf8()..];
    let next = after.chars().next().map(String::from).unwrap_or_default();
    let until = |end: char| after.find(end).unwrap_or(after.len());
    match c {
        '"' => (Some(Token::Literal(after[..until('"')].to_owned())), until('"') + 2),
        '\\' => (Some(Token::Literal(next.clone())), 1 + next.len()),
        '_' | '*' => (None, 1 + next.len()),
        '[' => (bracket(&after[..until(']')]), until(']') + 2),
        '0' | '#' | '?' => (Some(Token::Digit(c)), 1),
        '.' => (Some(Token::Point), 1),
        ',' => (Some(Token::Comma), 1),
        '%' => (Some(Token::Percent), 1),
        '@' => (Some(Token::General), 1),
        _ if starts("General") => (Some(Token::General), 7),
        _ if starts("E+") || starts("E-") => (Some(Token::Exponent), 2),
        _ if starts("AM/PM") => (None, 5),
        _ if starts("A/P") => (None, 3),
        'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => {
            let length = rest.chars().take_while(|other| other.eq_ignore_ascii_case(&c)).count();
            (Some(Token::Unit { letter: c.to_ascii_lowercase(), is_elapsed: false }), length)
        }
        _ => (Some(Token::Literal(c.to_string())), c.len_utf8()),
    }
}

/// What is in brackets: a currency, an elapsed time, or a colour, language or condition, which is not seen.
fn bracket(inside: &str) -> Option<Token> {
    if let Some(currency) = inside.strip_prefix('$') {
        return Some(Token::Literal(currency.split_once('-').map_or(currency, |(symbol, _)| symbol).to_owned()));
    }
    let letter = inside.chars().next()?.to_ascii_lowercase();
    let is_unit = matches!(letter, 'h' | 'm' | 's') && inside.chars().all(|c| c.eq_ignore_ascii_case(&letter));
    is_unit.then_some(Token::Unit { letter, is_elapsed: true })
}

/// Digits by their placeholders. None for fractions such as `# ?/?`, which are shown as decimals.
fn show_digits(number: f64, tokens: &[Token]) -> Option<String> {
    let is_digit = |token: &Token| matches!(token, Token::Digit(_));
    if tokens.iter().any(|token| *token == Token::Literal("/".into())) && tokens.iter().any(is_digit) {
        return None;
    }
    let point = tokens.iter().position(|token| *token == Token::Point).unwrap_or(tokens.len());
    let (whole, fraction) = tokens.split_at(point);
    let percents = tokens.iter().filter(|token| **token == Token::Percent).count();
    let (is_grouped, thousands) = (separates(whole), trailing_commas(tokens));
    let scale = |count: usize, by: f64| by.powi(i32::try_from(count).unwrap_or(0));
    let number = number * scale(percents, 100.0) / scale(thousands, 1000.0);
    if let Some(exponent) = tokens.iter().position(|token| *token == Token::Exponent) {
        let decimals = fraction.iter().take_while(|token| **token != Token::Exponent).filter(|token| is_digit(token)).count();
        return Some(scientific(number, decimals, tokens[exponent..].iter().filter(|token| is_digit(token)).count()));
    }
    let decimals = fraction.iter().filter(|token| is_digit(token)).count();
    let rounding = scale(decimals.min(15), 10.0);
    // Binary fractions such as 2.675 are a little less than what they are written as.
    let rounded = (number * rounding * (1.0 + f64::EPSILON)).round() / rounding;
    let digits = format!("{rounded:.decimals$}");
    let (before, behind) = digits.split_once('.').unwrap_or((&digits, ""));
    Some(show_whole(before, whole, is_grouped, number) + &show_fraction(behind, fraction))
}

/// Whether a comma between digits separates thousands.
fn separates(whole: &[Token]) -> bool {
    let mut digits = whole.iter().enumerate().filter(|(_, token)| matches!(token, Token::Digit(_))).map(|(at, _)| at);
    let (first, last) = (digits.next(), digits.next_back());
    first.zip(last).is_some_and(|(first, last)| whole[first..last].contains(&Token::Comma))
}

/// How many commas follow the last digit. Each divides by thousand.
fn trailing_commas(tokens: &[Token]) -> usize {
    let last = tokens.iter().rposition(|token| matches!(token, Token::Digit(_)));
    last.map_or(0, |last| tokens[last + 1..].iter().take_while(|token| **token == Token::Comma).count())
}

fn scientific(number: f64, decimals: usize, width: usize) -> String {
    let shown = format!("{number:.decimals$E}");
    let (mantissa, exponent) = shown.split_once('E').unwrap_or((&shown, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}E{sign}{exponent:0>width$}")
}

/// The digits before the point, from the right. The first placeholder takes what is left.
fn show_whole(digits: &str, tokens: &[Token], is_grouped: bool, number: f64) -> String {
    let mut digits: Vec<char> = digits.trim_start_matches('0').chars().collect();
    let first = tokens.iter().position(|token| matches!(token, Token::Digit(_)));
    let (mut parts, mut count) = (Vec::new(), 0);
    let mut put = |digit: char, parts: &mut Vec<String>| {
        if is_grouped && count > 0 && count % 3 == 0 {
            parts.push(",".into());
        }
        count += 1;
        parts.push(digit.to_string());
    };
    for (at, token) in tokens.iter().enumerate().rev() {
        match token {
            Token::Digit(placeholder) => {
                if let Some(digit) = digits.pop().or((*placeholder == '0').then_some('0')) {
                    put(digit, &mut parts);
                }
                while first == Some(at)
                    && let Some(digit) = digits.pop()
                {
                    put(digit, &mut parts);
                }
            }
            Token::Literal(text) => parts.push(text.clone()),
            Token::Percent => parts.push("%".into()),
            Token::General => parts.push(general(&number.to_string(), number)),
            _ => {}
        }
    }
    parts.into_iter().rev().collect()
}

/// The digits behind the point. Zeros at the end are shown where the format wants them.
fn show_fraction(digits: &str, tokens: &[Token]) -> String {
    let placeholders: Vec<char> = tokens.iter().filter_map(|token| if let Token::Digit(c) = token { Some(*c) } else { None }).collect();
    let needed = placeholders.iter().rposition(|c| *c == '0').map_or(0, |at| at + 1);
    let kept = digits.trim_end_matches('0').len().max(needed.min(digits.len()));
    let mut shown = String::new();
    let mut left = digits[..kept].chars();
    for token in tokens {
        match token {
            Token::Point if kept > 0 && shown.is_empty() => shown.push('.'),
            Token::Digit(_) => shown.extend(left.next()),
            Token::Literal(text) => shown.push_str(text),
            Token::Percent => shown.push('%'),
            _ => {}
        }
    }
    shown
}

/// A date, a time of day or a length of time. None: not a day of the calendar.
fn show_time(number: f64, tokens: &[Token], is_1904: bool) -> Option<String> {
    let units: Vec<(char, bool)> = tokens
        .iter()
        .filter_map(|token| if let Token::Unit { letter, is_elapsed } = token { Some((*letter, *is_elapsed)) } else { None })
        .collect();
    // `m` is a minute next to an hour or a second, and a month otherwise.
    let is_minute = |at: usize| units[..at].last().is_some_and(|unit| unit.0 == 'h') || units.get(at + 1).is_some_and(|unit| unit.0 == 's');
    let has = |letter: char| units.iter().any(|unit| unit.0 == letter);
    let has_minute = (0..units.len()).any(|at| units[at].0 == 'm' && (units[at].1 || is_minute(at)));
    let has_month = (0..units.len()).any(|at| units[at].0 == 'm' && !units[at].1 && !is_minute(at));
    let decimals = tokens.iter().filter(|token| matches!(token, Token::Digit(_))).count().min(3);
    let per_second = 10_i64.pow(u32::try_from(decimals).unwrap_or(0));
    let total = round(number * 86_400.0, per_second)?;
    let (days, parts) = (total.div_euclid(86_400 * per_second), total.rem_euclid(86_400 * per_second));
    let mut shown = Vec::new();
    if has('d') || has('y') || has_month {
        shown.push(show_day(days, is_1904, has('d'), has_month)?);
    }
    if has('h') || has('s') || has_minute {
        let elapsed = units.iter().find(|unit| unit.1).map(|unit| unit.0);
        let parts = if elapsed.is_some() { total } else { parts };
        let sign = if parts < 0 { "-" } else { "" };
        shown.push(format!("{sign}{}", clock(parts.abs(), per_second, decimals, elapsed, [has('h'), has_minute, has('s')])));
    }
    Some(shown.join(" "))
}

/// A number of seconds in parts of a second. None if it is beyond all dates.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the range is checked")]
fn round(seconds: f64, per_second: i64) -> Option<i64> {
    (seconds.abs() < 1e12).then(|| (seconds * per_second as f64).round() as i64)
}

fn show_day(days: i64, is_1904: bool, has_day: bool, has_month: bool) -> Option<String> {
    let (start, days) = match days {
        _ if is_1904 => (NaiveDate::from_ymd_opt(1904, 1, 1)?, days),
        // Excel believes that 1900 was a leap year.
        60 => return Some("1900-02-29".into()),
        0..60 => (NaiveDate::from_ymd_opt(1899, 12, 31)?, days),
        _ => (NaiveDate::from_ymd_opt(1899, 12, 30)?, days),
    };
    let day = start.checked_add_days(Days::new(u64::try_from(days).ok()?)).filter(|day| day.year() < 10_000)?;
    let format = if has_day {
        "%Y-%m-%d"
    } else if has_month {
        "%Y-%m"
    } else {
        "%Y"
    };
    Some(day.format(format).to_string())
}

/// A time in parts of a second. `elapsed`: the unit that counts on. The units that the format has: hours, minutes, seconds.
fn clock(parts: i64, per_second: i64, decimals: usize, elapsed: Option<char>, [has_hours, has_minutes, has_seconds]: [bool; 3]) -> String {
    let seconds = parts / per_second;
    let hours = (has_hours).then(|| format!("{:02}", seconds / 3600));
    let minutes = if elapsed == Some('m') { seconds / 60 } else { seconds / 60 % 60 };
    // An hour alone says more with its minutes.
    let minutes = (has_minutes || has_hours).then(|| format!("{minutes:02}"));
    let fraction = if decimals > 0 { format!(".{:0decimals$}", parts % per_second) } else { String::new() };
    let whole = if elapsed == Some('s') { seconds } else { seconds % 60 };
    let seconds = has_seconds.then(|| format!("{whole:02}{fraction}"));
    [hours, minutes, seconds].into_iter().flatten().collect::<Vec<_>>().join(":")
}
