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
    pub text: String,
    /// The message was for people, or for nobody.
    pub among_people: bool,
    /// The message names or mentions the author of the current message.
    pub names_author: bool,
    /// The message asks something.
    pub asks: bool,
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

/// How much the other people of a channel are talking when somebody writes there.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Company {
    /// Nobody else has written here.
    #[default]
    Alone,
    /// Others have written here, but not in the last ten minutes.
    Quiet,
    /// Somebody else wrote in the last ten minutes.
    Lately,
    /// Somebody has just said something to people.
    Speaking,
    /// People are talking to each other.
    Talking,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RecentTalk {
    /// The persona that has just answered the author.
    pub with: Option<PersonaSlug>,
    /// The last answer to the author asked nothing back.
    pub is_told: bool,
    /// The answer was still being made when the author wrote.
    pub is_under_way: bool,
    /// Another person has written something since that answer.
    pub is_interrupted: bool,
    /// The last message for people, if it was just said.
    pub remark: String,
    pub company: Company,
}

impl RecentTalk {
    /// Summarises the messages before `author` speaks at `now`. `is_shared`: another person has written in the channel at some time.
    pub fn before(said: &[Said], author: &UserId, now: DateTime<Utc>, is_shared: bool) -> Self {
        let own = || said.iter().filter(|said| said.by == *author);
        let answered = own().filter_map(|said| Some((said.at, said.answer.as_ref()?))).max_by_key(|(_, answer)| answer.at);
        let last = answered.map(|(_, answer)| answer);
        let put_in = |after: DateTime<Utc>| said.iter().filter(move |said| said.by != *author && said.among_people && said.at > after);
        // What was said while the answer was being written came in between, too.
        let since = |asked_at: DateTime<Utc>, answered_at: DateTime<Utc>| if answered_at > now { asked_at } else { answered_at };
        let is_open = |(asked_at, answer): &(DateTime<Utc>, &Answered)| {
            is_within(FOLLOW_UP, answer.at, now) && !put_in(since(*asked_at, answer.at)).any(|said| said.names_author)
        };
        let answer = answered.filter(is_open).map(|(_, answer)| answer);
        Self {
            with: answer.map(|answer| answer.by.clone()),
            is_told: last.is_some_and(|answer| !answer.asks),
            is_under_way: answer.is_some_and(|answer| answer.at > now),
            is_interrupted: answer.is_some_and(|answer| put_in(answer.at).next().is_some()),
            remark: find_remark(said, author, now).map_or_else(String::new, |said| said.text.clone()),
            company: find_company(said, author, now).unwrap_or(if is_shared { Company::Quiet } else { Company::Alone }),
        }
    }
}

fn find_remark<'a>(said: &'a [Said], author: &UserId, now: DateTime<Utc>) -> Option<&'a Said> {
    let for_people = said.iter().filter(|said| said.by != *author && said.among_people && is_within(AMONG_PEOPLE, said.at, now));
    for_people.max_by_key(|said| said.at)
}

/// None if no other person has written in the last minutes.
fn find_company(said: &[Said], author: &UserId, now: DateTime<Utc>) -> Option<Company> {
    let (own, others): (Vec<&Said>, Vec<&Said>) =
        said.iter().filter(|said| is_within(BUSY, said.at, now)).partition(|said| said.by == *author);
    let just_said: Vec<&Said> = others.iter().copied().filter(|said| said.among_people && is_within(AMONG_PEOPLE, said.at, now)).collect();
    let takes_part = own.iter().any(|said| said.among_people && is_within(FOLLOW_UP, said.at, now));
    let is_asked = just_said.iter().any(|said| said.names_author || said.asks);
    // Who turns to the team ends the talk.
    let goes_on = said.iter().max_by_key(|said| said.at).is_some_and(|last| last.among_people);
    let are_several = just_said.iter().any(|said| said.by != just_said[0].by);
    match () {
        () if others.is_empty() => None,
        () if just_said.is_empty() => Some(Company::Lately),
        () if goes_on && (takes_part || is_asked || are_several) => Some(Company::Talking),
        () => Some(Company::Speaking),
    }
}

/// Message times are the platform's, but the times of answers are ours. The clocks may differ.
fn is_within(limit: Duration, at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    (now - at).abs().to_std().is_ok_and(|age| age <= limit)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::Company::{Alone, Lately, Quiet, Speaking, Talking};
    use super::*;

    fn said(by: &str, ago: i64, among_people: bool, answer: Option<(&str, i64)>) -> Said {
        let at = |ago: i64| DateTime::UNIX_EPOCH - TimeDelta::seconds(ago);
        Said {
            by: by.into(),
            at: at(ago),
            text: String::new(),
            among_people,
            names_author: false,
            asks: false,
            answer: answer.map(|(persona, ago)| Answered { by: persona.into(), at: at(ago), asks: false }),
        }
    }

    fn before(said: &[Said]) -> (Option<String>, Company) {
        let talk = RecentTalk::before(said, &"ann".into(), DateTime::UNIX_EPOCH, false);
        (talk.with.map(|persona| persona.as_str().to_owned()), talk.company)
    }

    #[test]
    fn a_person_goes_on_with_the_persona_that_answered_last() {
        let asked = |ago| said("ann", ago + 10, false, Some(("vince", ago)));
        assert_eq!(before(&[asked(60)]), (Some("vince".into()), Alone));
        assert_eq!(before(&[asked(181)]), (None, Alone), "too long ago");
        assert_eq!(before(&[asked(90), said("ann", 40, false, Some(("eliza", 30)))]).0.as_deref(), Some("eliza"));
        let is_under_way = |ago| RecentTalk::before(&[asked(ago)], &"ann".into(), DateTime::UNIX_EPOCH, false).is_under_way;
        assert!(is_under_way(-5) && !is_under_way(5), "the answer came after what Ann added");
    }

    #[test]
    fn another_talk_with_a_persona_changes_nothing_and_talk_among_people_does() {
        let asked = said("ann", 70, false, Some(("vince", 60)));
        assert_eq!(before(&[asked.clone(), said("bob", 50, false, Some(("echo", 40)))]), (Some("vince".into()), Lately));
        let put_in = said("bob", 50, true, None);
        assert_eq!(before(&[asked.clone(), put_in.clone()]), (Some("vince".into()), Speaking));
        assert_eq!(before(&[asked, Said { names_author: true, ..put_in }]), (None, Talking), "Bob speaks to Ann");
    }

    #[test]
    fn who_is_spoken_to_while_an_answer_is_being_written_does_not_go_on_with_it() {
        // Vince answers twenty seconds after this message, which Ann wrote two seconds after Bob's.
        let asked = said("ann", 50, false, Some(("vince", -20)));
        let lunch = Said { names_author: true, asks: true, ..said("bob", 2, true, None) };
        assert_eq!(before(&[asked.clone(), lunch]).0, None);
        assert_eq!(before(&[asked]).0.as_deref(), Some("vince"), "nobody came in between");
    }

    #[test]
    fn a_talk_is_over_after_minutes_of_silence() {
        assert_eq!(before(&[said("bob", 119, true, None)]), (None, Speaking));
        assert_eq!(before(&[said("bob", 121, true, None)]), (None, Lately));
        assert_eq!(before(&[said("bob", 601, true, None), said("ann", 5, true, None)]), (None, Alone));
    }

    #[test]
    fn people_talk_to_each_other_once_one_asks_or_answers_the_other() {
        let (ann, bob) = (said("ann", 80, true, None), said("bob", 40, true, None));
        assert_eq!(before(std::slice::from_ref(&bob)).1, Speaking);
        assert_eq!(before(&[Said { asks: true, ..bob.clone() }]).1, Talking);
        assert_eq!(before(&[ann.clone(), bob.clone()]).1, Talking);
        assert_eq!(before(&[Said { among_people: false, ..ann.clone() }, bob]).1, Speaking, "Ann spoke to the team");
        assert_eq!(before(&[ann]).1, Alone, "only Ann wrote");
        assert_eq!(RecentTalk::before(&[], &"ann".into(), DateTime::UNIX_EPOCH, true).company, Quiet);
    }
}
