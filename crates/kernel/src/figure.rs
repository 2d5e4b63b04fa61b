//! Formats numbers for reports, prompts and cards.

/// The rounding error of binary fractions.
const NOISE: f64 = 1e-9;

/// A number with at most two decimals; four if it is less than one; all if it would otherwise show as 0.
pub fn number(value: f64) -> String {
    let decimals = if value.abs() < 1.0 { 4 } else { 2 };
    let rounded = format!("{value:.decimals$}");
    let short = if rounded.contains('.') { rounded.trim_end_matches('0').trim_end_matches('.') } else { &rounded };
    match short {
        "0" | "-0" if value.abs() > NOISE => format!("{value}"),
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// A number with its unit. Leaves out the unit if the value's `name` implies it: `commits 502`.
pub fn amount(value: f64, name: &str, unit: &str) -> String {
    with_unit(&number(value), if unit == name { "" } else { unit })
}

/// `12 jobs`, or `$0.75`: the sign of a currency stands before the number.
pub fn with_unit(number: &str, unit: &str) -> String {
    let is_currency = unit.chars().all(|c| matches!(c, '$' | '£' | '¥' | '\u{20A0}'..='\u{20CF}'));
    match unit {
        "" => number.to_owned(),
        sign if is_currency => format!("{sign}{number}"),
        unit => format!("{number} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_they_say_and_no_more() {
        let shown = [502.0, 0.5, 12.346, -0.0, 0.0012, 0.000_04, 1e-17, -3.0, 99.999, 0.1 + 0.2, 1e21, 100.0].map(number);
        assert_eq!(shown, ["502", "0.5", "12.35", "0", "0.0012", "0.00004", "0", "-3", "100", "0.3", "1000000000000000000000", "100"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(number), ["NaN", "inf"]);
    }

    #[test]
    fn a_unit_is_told_once() {
        assert_eq!([amount(5.0, "p95", ""), amount(5.0, "p95", "ms"), amount(5.0, "commits", "commits")], ["5", "5 ms", "5"]);
    }

    #[test]
    fn the_sign_of_a_currency_stands_before_the_number() {
        assert_eq!([amount(0.75, "cost", "$"), amount(3.0, "price", "€"), amount(3.0, "price", "EUR")], ["$0.75", "€3", "3 EUR"]);
    }
}
