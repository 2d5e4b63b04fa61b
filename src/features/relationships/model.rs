use chrono::{DateTime, TimeDelta, Utc};

use kernel::ids::PersonaSlug;

/// The time in which trust and tension fall by half.
const HALF_LIFE: TimeDelta = TimeDelta::days(30);

/// From this value on, a relationship shows in the tone. Five causes of the same kind in a row reach it.
pub const STRONG: f64 = 0.5;

/// Below this a relationship counts as neutral.
pub const NEUTRAL: f64 = 0.05;

/// The causes that move a relationship.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// One accepted a result of the other.
    Accepted,
    /// One rejected a result of the other, with the reason.
    Rejected,
    /// Both ended a board meeting on the same side.
    Agreed,
    /// Both ended a board meeting on different sides.
    Disagreed,
    /// A person found an insight of one for the other useful.
    Useful,
    NotUseful,
}

impl Cause {
    pub const ALL: [Self; 6] = [Self::Accepted, Self::Rejected, Self::Agreed, Self::Disagreed, Self::Useful, Self::NotUseful];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Agreed => "agreed",
            Self::Disagreed => "disagreed",
            Self::Useful => "useful",
            Self::NotUseful => "not_useful",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == word)
    }

    /// How far trust and tension grow towards 1, as a share of the remaining distance.
    fn steps(self) -> (f64, f64) {
        match self {
            Self::Accepted => (0.15, 0.0),
            Self::Rejected => (0.0, 0.15),
            Self::Agreed | Self::Useful => (0.1, 0.0),
            Self::Disagreed | Self::NotUseful => (0.0, 0.1),
        }
    }
}

/// Something that moves the relationship of two personas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub cause: Cause,
    pub by: PersonaSlug,
    pub with: PersonaSlug,
    /// What it was about, for people. None: it was private.
    pub about: Option<String>,
}

/// The relationship of two personas at the time of its last move.
#[derive(Debug, Clone, PartialEq)]
pub struct Relationship {
    /// In alphabetical order.
    pub pair: (PersonaSlug, PersonaSlug),
    /// From 0 to 1.
    pub trust: f64,
    pub tension: f64,
    /// The number of board meetings that they ended on the same side, and on different sides.
    pub agreed: u32,
    pub disagreed: u32,
    /// The cause of the last move.
    pub last: Move,
    pub moved_at: DateTime<Utc>,
}

impl Relationship {
    pub fn trust_at(&self, now: DateTime<Utc>) -> f64 {
        self.trust * self.left_at(now)
    }

    pub fn tension_at(&self, now: DateTime<Utc>) -> f64 {
        self.tension * self.left_at(now)
    }

    /// How far the relationship is from neutral. A persona that is in tension with another, or always agrees with it, is no good judge of its work.
    pub fn partiality_at(&self, now: DateTime<Utc>) -> f64 {
        self.trust_at(now).max(self.tension_at(now))
    }

    /// The share that is left after the elapsed time. A clock that is set back changes nothing.
    #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^52")]
    fn left_at(&self, now: DateTime<Utc>) -> f64 {
        let elapsed = (now - self.moved_at).max(TimeDelta::zero());
        0.5_f64.powf(elapsed.num_seconds() as f64 / HALF_LIFE.num_seconds() as f64)
    }

    #[must_use]
    pub fn moved(self, cause: Move, at: DateTime<Utc>) -> Self {
        let (trust, tension) = (self.trust_at(at), self.tension_at(at));
        let (more_trust, more_tension) = cause.cause.steps();
        Self {
            trust: (trust + (1.0 - trust) * more_trust).clamp(0.0, 1.0),
            tension: (tension + (1.0 - tension) * more_tension).clamp(0.0, 1.0),
            agreed: self.agreed + u32::from(cause.cause == Cause::Agreed),
            disagreed: self.disagreed + u32::from(cause.cause == Cause::Disagreed),
            last: cause,
            moved_at: self.moved_at.max(at),
            ..self
        }
    }
}

/// All relationships of a team at one time. At most one for each pair.
#[derive(Debug, Clone)]
pub struct Relationships {
    pub all: Vec<Relationship>,
    pub now: DateTime<Utc>,
}

impl Relationships {
    pub fn between(&self, one: &PersonaSlug, other: &PersonaSlug) -> Option<&Relationship> {
        let pair = pair_of(one, other);
        self.all.iter().find(|relationship| (&relationship.pair.0, &relationship.pair.1) == pair)
    }

    /// How far the relationship of two personas is from neutral, from 0 to 1.
    pub fn partiality(&self, one: &PersonaSlug, other: &PersonaSlug) -> f64 {
        self.between(one, other).map_or(0.0, |relationship| relationship.partiality_at(self.now))
    }

    /// One line for a prompt about the strongest relationship to somebody in `there`. None if no relationship is strong. `name` gives a persona's
    /// name.
    pub fn tone<'a>(
        &self,
        who: &PersonaSlug,
        there: impl Iterator<Item = &'a PersonaSlug>,
        name: impl Fn(&PersonaSlug) -> String,
    ) -> Option<String> {
        let others = there.filter(|other| *other != who).filter_map(|other| Some((other, self.between(who, other)?)));
        let (other, strongest) = others.max_by(|one, other| one.1.partiality_at(self.now).total_cmp(&other.1.partiality_at(self.now)))?;
        if strongest.partiality_at(self.now) < STRONG {
            return None;
        }
        let name = name(other);
        Some(if strongest.tension_at(self.now) > strongest.trust_at(self.now) {
            format!("There was friction between you and {name} lately, so stay courteous. That sets the tone only, never what you say.")
        } else {
            format!("You and {name} have worked well together lately, so a warm tone fits. That sets the tone only, never what you say.")
        })
    }
}

/// The two in alphabetical order.
pub fn pair_of<'a>(one: &'a PersonaSlug, other: &'a PersonaSlug) -> (&'a PersonaSlug, &'a PersonaSlug) {
    if one <= other { (one, other) } else { (other, one) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::feeds::now;

    fn neutral() -> Relationship {
        let pair = (PersonaSlug::from("solus"), PersonaSlug::from("vince"));
        Relationship { pair, trust: 0.0, tension: 0.0, agreed: 0, disagreed: 0, last: cause(Cause::Agreed), moved_at: now() }
    }

    fn cause(cause: Cause) -> Move {
        Move { cause, by: "solus".into(), with: "vince".into(), about: None }
    }

    fn after(causes: &[Cause]) -> Relationship {
        causes.iter().fold(neutral(), |relationship, of| relationship.moved(cause(*of), now()))
    }

    #[test]
    fn each_cause_moves_it_within_bounds() {
        for of in Cause::ALL {
            assert_eq!(Cause::parse(of.as_str()), Some(of));
            let often = after(&[of; 1000]);
            assert!((0.0..=1.0).contains(&often.trust) && (0.0..=1.0).contains(&often.tension), "{often:?}");
            let grows = |value: f64| value > 0.9;
            assert_eq!(grows(often.trust), matches!(of, Cause::Accepted | Cause::Agreed | Cause::Useful), "{often:?}");
            assert_eq!(grows(often.tension), !grows(often.trust), "{often:?}");
        }
        let both = after(&[Cause::Agreed, Cause::Disagreed, Cause::Agreed]);
        assert_eq!((both.agreed, both.disagreed, both.last.cause), (2, 1, Cause::Agreed));
    }

    #[test]
    fn it_returns_to_neutral_with_time_and_a_clock_that_is_set_back_changes_nothing() {
        let tense = after(&[Cause::Rejected; 5]);
        assert!(tense.tension > STRONG);
        let half = tense.tension_at(now() + HALF_LIFE);
        assert!((half * 2.0 - tense.tension).abs() < 1e-9, "{half}");
        assert!(tense.tension_at(now() + HALF_LIFE * 12) < NEUTRAL / 10.0);
        assert!((tense.tension_at(now() - HALF_LIFE) - tense.tension).abs() < 1e-9);
        let later = tense.clone().moved(cause(Cause::Accepted), now() - HALF_LIFE);
        assert_eq!(later.moved_at, now());
    }

    #[test]
    fn only_a_strong_one_sets_the_tone_and_the_strongest_is_told() {
        let mut strong = after(&[Cause::Rejected; 5]);
        strong.pair = ("echo".into(), "vince".into());
        let all = Relationships { all: vec![after(&[Cause::Agreed; 2]), strong], now: now() };
        let (vince, echo, solus) = ("vince".into(), "echo".into(), "solus".into());
        let name = |slug: &PersonaSlug| slug.as_str().to_uppercase();
        let told = all.tone(&vince, [&vince, &echo, &solus].into_iter(), name).unwrap();
        assert!(told.starts_with("There was friction between you and ECHO lately"), "{told}");
        assert_eq!(all.tone(&vince, [&vince, &solus].into_iter(), name), None);
        assert_eq!(all.tone(&solus, [&echo].into_iter(), name), None);
        let later = Relationships { now: now() + HALF_LIFE, ..all };
        assert_eq!(later.tone(&vince, [&echo].into_iter(), name), None);
    }
}
