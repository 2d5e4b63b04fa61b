use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::ids::UserId;
use crate::money::Money;

/// A value before parsing.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Given>),
    /// From the environment or the command line: always text; lists are separated by commas.
    Variable(String),
    /// A value of a type that no key accepts, as written.
    Other(String),
}

impl Given {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Variable(text) => Some(text.trim()),
            _ => None,
        }
    }
}

/// Short and without passwords, for error messages.
impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Variable(text) if text.contains('@') => f.write_str("this value"),
            Self::Text(text) | Self::Variable(text) if text.chars().count() > 60 => f.write_str("such a long value"),
            Self::Text(text) | Self::Variable(text) => write!(f, "{text:?}"),
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Boolean(value) => value.fmt(f),
            Self::List(_) => f.write_str("this list"),
            Self::Other(written) => f.write_str(written),
        }
    }
}

/// A type of setting.
pub trait Setting: Sized {
    /// The allowed values, to follow the word "give".
    fn allowed() -> String;
    fn parse(given: &Given) -> Option<Self>;
    /// The value as TOML. `parse` accepts it.
    fn render(&self) -> String;
}

/// Implements [`Setting`] for types: allowed values, parsing, rendering.
#[macro_export]
macro_rules! setting {
    ($($type:ty: $allowed:expr, $parse:expr, $render:expr;)+) => {$(
        impl $crate::config::Setting for $type {
            fn allowed() -> String {
                $allowed.into()
            }

            fn parse(given: &$crate::config::Given) -> Option<Self> {
                let parse: fn(&$crate::config::Given) -> Option<Self> = $parse;
                parse(given)
            }

            fn render(&self) -> String {
                let render: fn(&Self) -> String = $render;
                render(self)
            }
        }
    )+};
}

pub use crate::setting;

macro_rules! whole_numbers {
    ($($type:ty),+) => {
        setting!($($type: "a whole number", |given| match given {
            Given::Integer(number) => Self::try_from(*number).ok(),
            Given::Variable(text) => text.trim().parse().ok(),
            _ => None,
        }, ToString::to_string;)+);
    };
}

whole_numbers!(u32, u64, usize);

setting! {
    f64: "a number", parse_number, |number| format!("{number:?}");
    bool: "true or false", parse_bool, ToString::to_string;
    String: "a text", parse_text, |text| format!("{text:?}");
    PathBuf: "a path; a relative one starts at the directory of teamroom.toml", |given| parse_text(given).map(Self::from),
        |path| format!("{:?}", path.display().to_string());
    UserId: "an account id such as \"80351110224678912\"",
        |given| parse_text(given).filter(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || c == ':')).map(Self::new), |id| format!("{:?}", id.as_str());
    SocketAddr: "an address with a port such as \"127.0.0.1:9464\"", |given| given.as_text()?.parse().ok(), |address| format!("\"{address}\"");
    Money: "an amount in dollars such as 2.5",
        |given| parse_number(given).filter(|dollars| (0.0..1e9).contains(dollars)).map(Self::from_dollars), |money| money.dollars().render();
    Duration: "a time (\"500ms\", \"90s\", \"5m\", \"1h\")", parse_duration, render_duration;
}

fn parse_number(given: &Given) -> Option<f64> {
    match given {
        Given::Float(number) => Some(*number),
        #[expect(clippy::cast_precision_loss, reason = "nobody sets 2^53 of anything")]
        Given::Integer(number) => Some(*number as f64),
        Given::Variable(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number| number.is_finite())
}

fn parse_bool(given: &Given) -> Option<bool> {
    match given {
        Given::Boolean(value) => Some(*value),
        Given::Variable(text) => text.trim().to_lowercase().parse().ok(),
        _ => None,
    }
}

fn parse_text(given: &Given) -> Option<String> {
    match given {
        // Ids may be written without quotes.
        Given::Integer(number) => Some(number.to_string()),
        _ => given.as_text().filter(|text| !text.is_empty()).map(String::from),
    }
}

/// The units of a duration, longest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

fn parse_duration(given: &Given) -> Option<Duration> {
    let text = given.as_text()?;
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, milliseconds) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*milliseconds).map(Duration::from_millis)
}

fn render_duration(duration: &Duration) -> String {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let (unit, size) = UNITS.iter().find(|(_, size)| milliseconds >= *size && milliseconds % size == 0).unwrap_or(&("ms", 1));
    format!("\"{}{unit}\"", milliseconds / size)
}

impl<T: Setting> Setting for Option<T> {
    fn allowed() -> String {
        format!("{}, or \"none\"", T::allowed())
    }

    fn parse(given: &Given) -> Option<Self> {
        if given.as_text() == Some("none") { Some(None) } else { T::parse(given).map(Some) }
    }

    fn render(&self) -> String {
        self.as_ref().map_or_else(|| "\"none\"".into(), T::render)
    }
}

impl<T: Setting> Setting for Vec<T> {
    fn allowed() -> String {
        format!("a list in brackets (in a variable: with commas), each {}", T::allowed())
    }

    fn parse(given: &Given) -> Option<Self> {
        match given {
            Given::List(items) => items.iter().map(T::parse).collect(),
            Given::Variable(text) => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(|item| T::parse(&Given::Variable(item.into()))).collect()
            }
            _ => None,
        }
    }

    fn render(&self) -> String {
        format!("[{}]", self.iter().map(T::render).collect::<Vec<_>>().join(", "))
    }
}

/// Implements [`Setting`] for a fixed set of words.
#[macro_export]
macro_rules! choice {
    ($type:ty { $($word:literal => $value:path),+ $(,)? }) => {
        impl $crate::config::Setting for $type {
            fn allowed() -> String {
                [$(concat!("\"", $word, "\"")),+].join(", ")
            }

            fn parse(given: &$crate::config::Given) -> Option<Self> {
                match <String as $crate::config::Setting>::parse(given)?.as_str() {
                    $($word => Some($value),)+
                    _ => None,
                }
            }

            fn render(&self) -> String {
                match self {
                    $($value => concat!("\"", $word, "\"").into(),)+
                }
            }
        }
    };
}

pub use crate::choice;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit_and_written_in_the_longest_that_fits() {
        let read = |text: &str| Duration::parse(&Given::Text(text.into()));
        assert_eq!(read("1500ms"), Some(Duration::from_millis(1500)));
        assert_eq!(read("5m"), Some(Duration::from_mins(5)));
        for wrong in ["90", "s", "1.5s", "-1s", "1d", "99999999999999999999h", "18446744073709551615h"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(Duration::from_millis(1500).render(), "\"1500ms\"");
        assert_eq!(Duration::from_hours(1).render(), "\"1h\"");
        assert_eq!(Duration::ZERO.render(), "\"0ms\"");
    }

    #[test]
    fn none_turns_a_limit_off() {
        assert_eq!(Option::<Money>::parse(&Given::Text("none".into())), Some(None));
        assert_eq!(Option::<Money>::parse(&Given::Float(0.5)), Some(Some(Money(500_000))));
        assert_eq!(Option::<Money>::parse(&Given::Integer(-1)), None);
    }

    #[test]
    fn a_variable_holds_a_list_with_commas_and_a_file_does_not() {
        assert_eq!(Vec::<String>::parse(&Given::Variable("stop, halt,".into())), Some(vec!["stop".into(), "halt".into()]));
        assert_eq!(Vec::<String>::parse(&Given::Text("stop, halt".into())), None);
        assert_eq!(u32::parse(&Given::Text("3".into())), None);
        assert_eq!(u32::parse(&Given::Variable("3".into())), Some(3));
    }

    #[test]
    fn an_error_never_quotes_what_may_hold_a_password() {
        assert_eq!(Given::Text("postgres://me:hunter2@host/db".into()).to_string(), "this value");
        assert_eq!(Given::Variable("x".repeat(90)).to_string(), "such a long value");
    }
}
