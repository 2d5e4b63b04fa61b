//! Earlier messages of a channel, as far as they show whom a message is for.

use std::time::Duration;

use chrono::{DateTime, Utc};

use kernel::ids::{PersonaSlug, UserId};

/// How long after an answer a person's next message counts as a follow-up.
const FOLLOW_UP: Duration = Duration::from_mins(3);
/// How long two people count as talking to each other after the last message.
const AMONG_PEOPLE: Duration = Duration::from_mins(2);
/// How long a room is busy after somebody spoke.
pub(crate) const BUSY: Duration = Duration::from_mins(10);

/// A person's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub by: UserId,
    pub at: DateTime<Utc>,
    /// The message was for people, or for nobody.
    pub among_people: bool,
    /// The message names or mentions the author of the current message.
    pub names_author: bool,
    pub answer: Option<Answered>,
}

/// A persona's answer to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub by: PersonaSlug,
    pub at: DateTime<Utc>,
    /// The answer asks something.
    pub asks: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RecentTalk {
    /// The persona that has just answered the author.
    pub with: Option<PersonaSlug>,
    /// The last answer to the author asked nothing back.
    pub is_told: bool,
    /// Another person has written something since that answer.
    pub is_interrupted: bool,
    /// Another person has just said something that was not for the team.
    pub is_among_people: bool,
    /// Another person spoke in the last minutes.
    pub is_busy: bool,
}

impl RecentTalk {
    /// Summarises the messages before `author` speaks at `now`.
    pub fn before(said: &[Said], author: &UserId, now: DateTime<Utc>) -> Self {
        // Message times are the platform's, but the times of answers are ours. The clocks may differ.
        let within = |at: DateTime<Utc>, limit: Duration| (now - at).abs().to_std().unwrap_or(Duration::MAX) <= limit;
        let others = || said.iter().filter(|said| said.by != *author);
        let answers = said.iter().filter(|said| said.by == *author).filter_map(|said| said.answer.as_ref());
        let last = answers.max_by_key(|answer| answer.at);
        let put_in = |after: DateTime<Utc>| others().filter(move |said| said.among_people && said.at > after);
        let answer = last.filter(|answer| within(answer.at, FOLLOW_UP) && !put_in(answer.at).any(|said| said.names_author));
        Self {
            with: answer.map(|answer| answer.by.clone()),
            is_told: last.is_some_and(|answer| !answer.asks),
            is_interrupted: answer.is_some_and(|answer| put_in(answer.at).next().is_some()),
            is_among_people: others().any(|said| said.among_people && within(said.at, AMONG_PEOPLE)),
            is_busy: others().any(|said| within(said.at, BUSY)),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn said(by: &str, ago: i64, among_people: bool, answer: Option<(&str, i64)>) -> Said {
        let at = |ago: i64| DateTime::UNIX_EPOCH - TimeDelta::seconds(ago);
        Said {
            by: by.into(),
            at: at(ago),
            among_people,
            names_author: false,
            answer: answer.map(|(persona, ago)| Answered { by: persona.into(), at: at(ago), asks: false }),
        }
    }

    fn before(said: &[Said]) -> (Option<String>, bool, bool) {
        let talk = RecentTalk::before(said, &"ann".into(), DateTime::UNIX_EPOCH);
        (talk.with.map(|persona| persona.as_str().to_owned()), talk.is_among_people, talk.is_busy)
    }

    #[test]
    fn a_person_goes_on_with_the_persona_that_answered_last() {
        let asked = |ago| said("ann", ago + 10, false, Some(("vince", ago)));
        assert_eq!(before(&[asked(60)]), (Some("vince".into()), false, false));
        assert_eq!(before(&[asked(181)]), (None, false, false), "too long ago");
        assert_eq!(before(&[asked(90), said("ann", 40, false, Some(("eliza", 30)))]).0.as_deref(), Some("eliza"));
    }

    #[test]
    fn another_talk_with_a_persona_changes_nothing_and_talk_among_people_does() {
        let asked = said("ann", 70, false, Some(("vince", 60)));
        assert_eq!(before(&[asked.clone(), said("bob", 50, false, Some(("echo", 40)))]), (Some("vince".into()), false, true));
        let put_in = said("bob", 50, true, None);
        assert_eq!(before(&[asked.clone(), put_in.clone()]), (Some("vince".into()), true, true));
        assert_eq!(before(&[asked, Said { names_author: true, ..put_in }]), (None, true, true), "Bob speaks to Ann");
    }

    #[test]
    fn a_talk_is_over_after_minutes_of_silence() {
        assert_eq!(before(&[said("bob", 119, true, None)]), (None, true, true));
        assert_eq!(before(&[said("bob", 121, true, None)]), (None, false, true));
        assert_eq!(before(&[said("bob", 601, true, None), said("ann", 5, true, None)]), (None, false, false));
    }
}
