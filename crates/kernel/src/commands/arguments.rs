use std::time::Duration;

use chrono::{Days, NaiveDate};

use crate::commands::spec::{ArgumentKind, ArgumentSpec, Choice, CommandSpec};
use crate::commands::{Refused, refuse};
use crate::ids::complete;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    values: Vec<(&'static str, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Number(f64),
    Integer(i64),
    Duration(Duration),
}

impl Arguments {
    /// Checks `(name, text)` pairs against the spec. Every surface passes text, so that there is one parser. Ids without a platform belong to
    /// `platform`.
    pub fn parse(spec: &CommandSpec, given: &[(String, String)], platform: &str) -> Result<Self, Refused> {
        let mut values: Vec<(&'static str, Value)> = Vec::new();
        for (name, text) in given {
            let Some(argument) = spec.find_argument(name) else { return refuse(format!("there is no argument \"{name}\"")) };
            if !argument.many && values.iter().any(|(known, _)| known == name) {
                return refuse(format!("\"{name}\" was given more than once"));
            }
            values.push((argument.name, parse_value(argument, text, platform)?));
        }
        match spec.arguments.iter().find(|argument| argument.required && values.iter().all(|(known, _)| *known != argument.name)) {
            Some(missing) => refuse(format!("\"{}\" is missing", missing.name)),
            None => Ok(Self { values }),
        }
    }

    /// A text, a reference or the value of a choice.
    pub fn find_text(&self, name: &str) -> Option<&str> {
        match self.find(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A required argument.
    ///
    /// # Errors
    /// The spec does not require it.
    pub fn get_text(&self, name: &str) -> anyhow::Result<&str> {
        self.find_text(name).ok_or_else(|| anyhow::anyhow!("the command has no required argument \"{name}\""))
    }

    /// All values of a repeatable argument.
    pub fn list_texts(&self, name: &str) -> Vec<String> {
        let texts = self.values.iter().filter(|(known, _)| *known == name);
        texts.filter_map(|(_, value)| if let Value::Text(text) = value { Some(text.clone()) } else { None }).collect()
    }

    pub fn find_number(&self, name: &str) -> Option<f64> {
        if let Some(Value::Number(number)) = self.find(name) { Some(*number) } else { None }
    }

    pub fn find_integer(&self, name: &str) -> Option<i64> {
        if let Some(Value::Integer(number)) = self.find(name) { Some(*number) } else { None }
    }

    /// An integer whose limits fit 32 bits.
    pub fn find_u32(&self, name: &str) -> Option<u32> {
        self.find_integer(name).and_then(|number| u32::try_from(number).ok())
    }

    pub fn find_duration(&self, name: &str) -> Option<Duration> {
        if let Some(Value::Duration(duration)) = self.find(name) { Some(*duration) } else { None }
    }

    /// A date. `today` resolves relative dates.
    ///
    /// # Errors
    /// It is not a date.
    pub fn find_date(&self, name: &str, today: NaiveDate) -> Result<Option<NaiveDate>, Refused> {
        self.find_text(name).map(|text| parse_date(text, today)).transpose()
    }

    fn find(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

fn parse_value(argument: &ArgumentSpec, text: &str, platform: &str) -> Result<Value, Refused> {
    let name = argument.name;
    match argument.kind {
        ArgumentKind::Text(most) | ArgumentKind::NameOrId(most) if text.chars().count() > usize::from(most) => {
            refuse(format!("\"{name}\" has {} characters. The limit is {most}", text.chars().count()))
        }
        ArgumentKind::Text(_) | ArgumentKind::Reference(_) | ArgumentKind::Date => Ok(Value::Text(text.to_owned())),
        ArgumentKind::NameOrId(_) => Ok(Value::Text(complete(platform, text.trim()).into_owned())),
        ArgumentKind::Choice(choices) => Ok(Value::Text(parse_choice(name, choices, text)?.to_owned())),
        ArgumentKind::Number { min, max } => match text.trim().parse::<f64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(Value::Number(number)),
            _ => refuse(format!("\"{name}\" is a number from {min} to {max}; \"{}\" is not", text.trim())),
        },
        ArgumentKind::Integer { min, max } => match text.trim().parse::<i64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(Value::Integer(number)),
            _ => refuse(format!("\"{name}\" is a whole number from {min} to {max}; \"{}\" is not", text.trim())),
        },
        ArgumentKind::Duration => parse_duration(text).map(Value::Duration),
    }
}

fn parse_choice(name: &str, choices: &[Choice], text: &str) -> Result<&'static str, Refused> {
    let fold = |text: &str| text.trim().to_lowercase().replace([' ', '_'], "-");
    let wanted = fold(text);
    if let Some(choice) = choices.iter().find(|choice| choice.value == wanted || fold(choice.label) == wanted) {
        return Ok(choice.value);
    }
    // The values that can be typed. A chat offers the labels instead and accepts nothing else.
    let values: Vec<_> = choices.iter().map(|choice| choice.value).collect();
    refuse(format!("\"{name}\" cannot be \"{}\". Choose {}", text.trim(), values.join(", ")))
}

/// A number with a unit: `500ms`, `30s`, `10m`, `2h`, `1d`.
///
/// # Errors
/// It is not a duration.
pub fn parse_duration(text: &str) -> Result<Duration, Refused> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let milliseconds = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let duration = milliseconds.zip(number.parse::<u64>().ok()).and_then(|(unit, number)| number.checked_mul(unit));
    match duration {
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        None => refuse(format!("\"{text}\" is not a duration. Write it like 30s, 10m, 2h or 1d")),
    }
}

/// `2026-03-31`, `today` or `yesterday`.
///
/// # Errors
/// It is not a date.
pub fn parse_date(text: &str, today: NaiveDate) -> Result<NaiveDate, Refused> {
    match text.trim().to_lowercase().as_str() {
        "today" => Ok(today),
        "yesterday" => Ok(today.checked_sub_days(Days::new(1)).unwrap_or(today)),
        date => date.parse().or_else(|_| refuse(format!("\"{}\" is not a date. Write it like {today}, or today", text.trim()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEN: &[Choice] = &[Choice::new("today", "today"), Choice::new("this-week", "this week")];

    fn spec() -> CommandSpec {
        CommandSpec::new("add", "Add something")
            .argument(ArgumentSpec::text("what", 10, "What").required())
            .argument(ArgumentSpec::choice("urgency", WHEN, "When"))
            .argument(ArgumentSpec::integer("count", (1, 5), "How many"))
            .argument(ArgumentSpec::number("dollars", (0.01, 10.0), "How much"))
            .argument(ArgumentSpec::duration("after", "How long"))
            .argument(ArgumentSpec::name_or_id("channel", 10, "Where"))
            .argument(ArgumentSpec::text("criterion", 10, "Done when").many())
    }

    fn parse(given: &[(&str, &str)]) -> Result<Arguments, String> {
        let given: Vec<_> = given.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Arguments::parse(&spec(), &given, "discord").map_err(|refused| refused.to_string())
    }

    #[test]
    fn arguments_come_with_the_type_that_the_command_declares() {
        let arguments = parse(&[
            ("what", "Tidy up"),
            ("urgency", "This week"),
            ("count", "3"),
            ("dollars", "2.5"),
            ("after", "10m"),
            ("criterion", "a"),
            ("criterion", "b"),
        ])
        .unwrap();
        assert_eq!((arguments.get_text("what").unwrap(), arguments.find_text("urgency")), ("Tidy up", Some("this-week")));
        assert_eq!((arguments.find_u32("count"), arguments.find_number("dollars")), (Some(3), Some(2.5)));
        assert_eq!(arguments.find_duration("after"), Some(Duration::from_mins(10)));
        assert_eq!(arguments.list_texts("criterion"), ["a", "b"]);
        assert_eq!(arguments.find_text("owner"), None);
    }

    #[test]
    fn an_id_may_be_written_without_its_platform() {
        for (written, meant) in [("1234", "discord:1234"), ("slack:C1", "slack:C1"), ("ops", "ops")] {
            let arguments = parse(&[("what", "1234"), ("channel", written)]).unwrap();
            assert_eq!((arguments.find_text("channel"), arguments.find_text("what")), (Some(meant), Some("1234")));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        for (given, told) in [
            (&[][..], "\"what\" is missing"),
            (&[("what", "Tidy up it all")], "\"what\" has 14 characters. The limit is 10"),
            (&[("what", "x"), ("what", "y")], "\"what\" was given more than once"),
            (&[("what", "x"), ("colour", "red")], "there is no argument \"colour\""),
            (&[("what", "x"), ("urgency", "soon")], "\"urgency\" cannot be \"soon\". Choose today, this-week"),
            (&[("what", "x"), ("count", "6")], "\"count\" is a whole number from 1 to 5; \"6\" is not"),
            (&[("what", "x"), ("dollars", "NaN")], "\"dollars\" is a number from 0.01 to 10; \"NaN\" is not"),
            (&[("what", "x"), ("after", "soon")], "\"soon\" is not a duration. Write it like 30s, 10m, 2h or 1d"),
        ] {
            assert_eq!(parse(given).unwrap_err(), told);
        }
    }

    #[test]
    fn a_length_of_time_has_a_number_and_a_unit() {
        assert_eq!(parse_duration("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_duration("10s").unwrap(), Duration::from_secs(10));
        for bad in ["", "10", "s", "10 days", "-1s", "99999999999999999999h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_day_is_a_date_or_a_word_for_one() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
        assert_eq!(parse_date(" Today ", today).unwrap(), today);
        assert_eq!(parse_date("yesterday", today).unwrap(), today.pred_opt().unwrap());
        assert_eq!(parse_date("2026-11-19", today).unwrap(), today.pred_opt().unwrap());
        for bad in ["tomorrow", "2026-02-30", "20.11.2026", ""] {
            let told = parse_date(bad, today).unwrap_err().to_string();
            assert_eq!(told, format!("\"{bad}\" is not a date. Write it like 2026-11-20, or today"));
        }
    }
}
