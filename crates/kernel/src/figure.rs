//! Figures as people read them, the same everywhere: in reports, prompts, rules of settling and on cards.

/// What subtracting leaves of equal binary fractions.
const NOISE: f64 = 1e-9;

/// A number with as many decimals as say something: two at most, four where it is less than one, and all where it would read 0.
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

/// A number with its unit, unless it has none or the value's `name` says it already: `commits 502`.
pub fn amount(value: f64, name: &str, unit: &str) -> String {
    if unit.is_empty() || unit == name { number(value) } else { format!("{} {unit}", number(value)) }
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
}
