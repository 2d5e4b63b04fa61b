//! Zones of a time: `PST`, `UTC+2`, `Berlin time`, `Europe/Berlin`.

use chrono_tz::Tz;

use super::Parser;
use crate::when::lexicon::Sense;
use crate::when::zone::{find_zone, fixed_zone};

/// Maximum number of words and hyphens in the name of a city: `Port-au-Prince`.
const LONGEST_CITY: usize = 5;

impl Parser<'_> {
    pub(super) fn zone(&mut self) -> Option<Tz> {
        self.attempt(Self::abbreviation).or_else(|| self.attempt(Self::full_name)).or_else(|| self.attempt(Self::city))
    }

    fn abbreviation(&mut self) -> Option<Tz> {
        let zone = self.sense(|sense| match sense {
            Sense::Zone(zone) => Some(zone),
            _ => None,
        })?;
        self.is(Sense::ZoneTime);
        let sign = if self.mark('+') {
            1
        } else if self.mark('-') {
            -1
        } else {
            return Some(zone);
        };
        let hours = i32::try_from(self.integer()?).ok()?;
        (zone == Tz::UTC).then(|| fixed_zone(sign * hours))?
    }

    /// `Europe/Berlin`, `America/Argentina/Buenos_Aires`.
    fn full_name(&mut self) -> Option<Tz> {
        let mut name = self.peek()?.text.clone();
        self.at += 1;
        while let Some(token) = self.peek().filter(|token| token.glued && matches!(token.text.as_str(), "/" | "_" | "-")) {
            name.push_str(&token.text);
            self.at += 1;
            name.push_str(&self.peek()?.text);
            self.at += 1;
        }
        if name.contains('/') { find_zone(&name) } else { None }
    }

    /// `New York time`, `Berliner Zeit`, `hora de Madrid`.
    fn city(&mut self) -> Option<Tz> {
        let before = self.is(Sense::ZoneTime);
        (1..=LONGEST_CITY.min(self.words.tokens.len() - self.at)).rev().find_map(|length| {
            let words: Vec<&str> = self.words.tokens[self.at..self.at + length].iter().map(|token| token.text.as_str()).collect();
            let name = words.join(" ").replace(" - ", "-");
            let zone = find_zone(&name).or_else(|| find_zone(name.strip_suffix("er")?))?;
            self.attempt(|parser| {
                parser.at += length;
                (before || parser.is(Sense::ZoneTime)).then_some(zone)
            })
        })
    }
}
