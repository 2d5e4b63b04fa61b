use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::ids::UserId;
use crate::domain::usage::Money;

/// A value as it was given.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) enum Given {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Given>),
    /// From the environment or the command line, where everything is text and a list has commas.
    Variable(String),
    /// Something that no key takes, as it was written.
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

/// As an error quotes it: short, and without what may be a password.
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

/// A type that a key can have.
pub(in crate::config) trait Setting: Sized {
    /// What may be given, to follow the word "give".
    fn allowed() -> String;
    fn parse(given: &Given) -> Option<Self>;
    /// The value as TOML, such that `parse` gives it back.
    fn render(&self) -> String;
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl Setting for $type {
            fn allowed() -> String {
                "a whole number".into()
            }

            fn parse(given: &Given) -> Option<Self> {
                match given {
                    Given::Integer(number) => Self::try_from(*number).ok(),
                    Given::Variable(text) => text.trim().parse().ok(),
                    _ => None,
                }
            }

            fn render(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

whole_numbers!(u32, u64, usize);

impl Setting for f64 {
    fn allowed() -> String {
        "a number".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        match given {
            Given::Float(number) => Some(*number),
            #[expect(clippy::cast_precision_loss, reason = "nobody sets 2^53 of anything")]
            Given::Integer(number) => Some(*number as Self),
            Given::Variable(text) => text.trim().parse().ok(),
            _ => None,
        }
        .filter(|number| number.is_finite())
    }

    fn render(&self) -> String {
        format!("{self:?}")
    }
}

impl Setting for bool {
    fn allowed() -> String {
        "true or false".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        match given {
            Given::Boolean(value) => Some(*value),
            Given::Variable(text) => text.trim().to_lowercase().parse().ok(),
            _ => None,
        }
    }

    fn render(&self) -> String {
        self.to_string()
    }
}

impl Setting for String {
    fn allowed() -> String {
        "a text".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        match given {
            // Ids are written with quotes and without.
            Given::Integer(number) => Some(number.to_string()),
            _ => given.as_text().filter(|text| !text.is_empty()).map(Self::from),
        }
    }

    fn render(&self) -> String {
        format!("{self:?}")
    }
}

impl Setting for PathBuf {
    fn allowed() -> String {
        "a path; a relative one starts at the directory of teamroom.toml".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        String::parse(given).map(Self::from)
    }

    fn render(&self) -> String {
        format!("{:?}", self.display().to_string())
    }
}

impl Setting for UserId {
    fn allowed() -> String {
        "an account id such as \"80351110224678912\"".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        String::parse(given).filter(|id| id.chars().all(|c| c.is_ascii_alphanumeric())).map(Self::new)
    }

    fn render(&self) -> String {
        format!("{:?}", self.as_str())
    }
}

impl Setting for SocketAddr {
    fn allowed() -> String {
        "an address with a port such as \"127.0.0.1:9464\"".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        given.as_text()?.parse().ok()
    }

    fn render(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Setting for Money {
    fn allowed() -> String {
        "an amount in dollars such as 2.5".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        f64::parse(given).filter(|dollars| (0.0..1e9).contains(dollars)).map(Self::from_dollars)
    }

    fn render(&self) -> String {
        self.dollars().render()
    }
}

/// The units of a duration, the longest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl Setting for Duration {
    fn allowed() -> String {
        "a time (\"500ms\", \"90s\", \"5m\", \"1h\")".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        let text = given.as_text()?;
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let (_, milliseconds) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
        number.parse::<u64>().ok()?.checked_mul(*milliseconds).map(Self::from_millis)
    }

    fn render(&self) -> String {
        let milliseconds = u64::try_from(self.as_millis()).unwrap_or(u64::MAX);
        let (unit, size) = UNITS.iter().find(|(_, size)| milliseconds >= *size && milliseconds % size == 0).unwrap_or(&("ms", 1));
        format!("\"{}{unit}\"", milliseconds / size)
    }
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

/// Makes a closed set of words a [`Setting`].
macro_rules! choice {
    ($type:ty { $($word:literal => $value:path),+ $(,)? }) => {
        impl $crate::config::reader::Setting for $type {
            fn allowed() -> String {
                [$(concat!("\"", $word, "\"")),+].join(", ")
            }

            fn parse(given: &$crate::config::reader::Given) -> Option<Self> {
                match <String as $crate::config::reader::Setting>::parse(given)?.as_str() {
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

pub(in crate::config) use choice;

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
