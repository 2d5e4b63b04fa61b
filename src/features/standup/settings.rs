use std::collections::BTreeSet;
use std::time::Duration;

use chrono_tz::Tz;

use crate::features::standup::model::prediction::{EssentialQuestion, Expiry, Threshold};
use kernel::config::{Given, Section, Setting as _, hours, mins, secs, setting, settings};
use kernel::feeds::condition::Comparison;
use kernel::ids::{PersonaSlug, UserId};

settings! {
    /// `[standup]`: who speaks, how long, and what the team takes a position on.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StandupSettings {
        order: Vec<PersonaSlug> = Vec::new(), only "a list of personas by the names of their files, none twice", |order| is_each_once(order),
            "Who speaks, in this order. Empty: all but the coordinator, in the order of their names.";
        humans: Vec<(String, UserId)> = Vec::new(),
            only "a list of people as \"name:account id\", none twice", |humans| is_each_once(humans.iter().map(|(_, id)| id)),
            "People who are asked for a report after the personas, as \"Ann:80351110224678912\".";
        human_deadline: Duration = mins(10), in secs(10)..=hours(4), "How long each of them may take.";
        turn_timeout: Duration = secs(90), in secs(1)..=mins(10),
            "How long a persona may take for its report; what it had written by then is kept.";
        pause: Duration = secs(2), in Duration::ZERO..=mins(1), "The time between one report and the next.";
        session: Duration = mins(30), in mins(1)..=hours(24),
            "How long a standup may take in all; who has not spoken by then is skipped.";
        checkin_lead: Duration = hours(1), in Duration::ZERO..=hours(12),
            "How long before a scheduled standup people who want it are asked by direct message. \"0s\": nobody is.";
        delta_context: bool = true, "Whether a speaker is told only what it does not know from elsewhere, which costs fewer tokens.";
        /// None: the standup takes no position.
        question: Option<EssentialQuestion> = Some(default_question(Tz::UTC)), by read_question;
    }
}

const QUESTION: &str = "Will the repository have at least 10 more commits by next Friday?";
const EXPIRES: &str = "next friday 08:00";

/// A question that can be settled offline on any repository.
fn default_question(zone: Tz) -> EssentialQuestion {
    EssentialQuestion {
        text: QUESTION.to_owned(),
        feed: "repository".to_owned(),
        value: "commits".to_owned(),
        comparison: Comparison::AtLeast,
        threshold: Threshold::Change(10.0),
        expires: Expiry::parse(EXPIRES, zone).expect("the default expiry is a rule of expiry"),
        optional: true,
    }
}

/// `[standup.question]`. An invalid section gives the default and an error.
fn read_question(standup: &mut Section<'_>) -> Option<EssentialQuestion> {
    // A question without a time zone of its own expires in the team's.
    let zone = standup.peek(&["zone"]).unwrap_or(Tz::UTC);
    let mut section = standup.section("question");
    let default = default_question(zone);
    let text: Option<String> = section.read(
        "text",
        Some(default.text),
        "The essential question, on which each standup takes a position. \"none\": it takes none.",
    );
    let feed = section.read("feed", default.feed, "The feed by which it is settled: the name that a persona gives it.");
    let value = section.read("value", default.value, "The value of that feed.");
    let comparison = section.read(
        "comparison",
        default.comparison,
        "The answer is yes if, at the expiry, the value compares like this to the threshold.",
    );
    let threshold =
        section.read("threshold", default.threshold, "What the value is held against, as a number or as a change from the call on.");
    let expires = section.read_where(
        "expires",
        EXPIRES.to_owned(),
        Expiry::ALLOWED,
        "When a call on it is settled; at least a day after it is made where a day of the week is named.",
        |text: &String| Expiry::parse(text, zone).is_ok(),
    );
    let expires = Expiry::parse(&expires, zone).unwrap_or(default.expires);
    let question = EssentialQuestion { text: text?, feed, value, comparison, threshold, expires, optional: true };
    Some(EssentialQuestion { optional: question == default_question(zone), ..question })
}

fn is_each_once<T: Ord>(items: impl IntoIterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    items.into_iter().all(|item| seen.insert(item))
}

setting! {
    Threshold: Threshold::ALLOWED, read_threshold, |threshold| format!("\"{threshold}\"");
}

fn read_threshold(given: &Given) -> Option<Threshold> {
    let text = match given {
        // Without quotes the number is absolute, because TOML does not distinguish +10 from 10.
        Given::Integer(number) => format!("={number}"),
        Given::Float(number) => format!("={number}"),
        _ => String::parse(given)?,
    };
    Threshold::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::{loaded as load_text, refused};
    use crate::features::FeatureSection;
    use kernel::persona::Persona;
    use kernel::persona::roster::Roster;
    use kernel::testing::persona::persona;

    fn loaded(file: &str, env: &[(&str, &str)]) -> StandupSettings {
        load_text(file, env).features.get()
    }

    #[test]
    fn a_standup_is_set_in_the_file() {
        let file = r#"
            [standup]
            order = ["Vince", "oracle.md"]
            humans = ["Ann:80351110224678912", "Dr: No:7", "Bob:slack:U8"]
            pause = "0s"
            delta_context = false
            [standup.question]
            text = "Will checkout stay fast?"
            feed = "metrics"
            value = "p95"
            comparison = "<="
            threshold = 400.5
            expires = "tomorrow 08:00 Europe/Berlin"
        "#;
        let standup = loaded(file, &[]);
        assert_eq!(standup.order, [PersonaSlug::from("vince"), "oracle".into()]);
        assert_eq!(
            standup.humans,
            [
                ("Ann".to_owned(), UserId::new("discord:80351110224678912")),
                ("Dr: No".to_owned(), "discord:7".into()),
                ("Bob".to_owned(), "slack:U8".into())
            ]
        );
        assert_eq!((standup.pause, standup.delta_context, standup.session), (Duration::ZERO, false, Duration::from_mins(30)));
        let expires = Expiry::parse("tomorrow 08:00", Tz::Europe__Berlin).expect("an expiry");
        let question = EssentialQuestion {
            text: "Will checkout stay fast?".into(),
            feed: "metrics".into(),
            value: "p95".into(),
            comparison: Comparison::AtMost,
            threshold: Threshold::Fixed(400.5),
            expires,
            optional: false,
        };
        assert_eq!(standup.question, Some(question));
    }

    #[test]
    fn nothing_set_asks_a_question_that_any_repository_answers_and_none_asks_none() {
        assert_eq!(loaded("", &[]), StandupSettings::default());
        assert_eq!(loaded("[standup.question]\ntext = \"none\"\n", &[]).question, None);
        let from_variables = loaded("", &[("TEAMROOM_STANDUP_QUESTION_THRESHOLD", "-5"), ("TEAMROOM_STANDUP_ORDER", "vince, eliza")]);
        assert_eq!(from_variables.question.map(|question| question.threshold), Some(Threshold::Change(-5.0)));
        assert_eq!(from_variables.order.len(), 2);
    }

    #[test]
    fn a_speaker_that_is_not_on_the_team_is_a_warning_and_people_are_known() {
        let file = "[standup]\norder = [\"vince\", \"sentinal\"]\nhumans = [\"Ann:42\"]\n";
        let team = ["kelly", "sentinel", "vince"].map(|slug| Persona { coordinator: slug == "kelly", ..persona(slug, "", &[]) });
        let roster = Roster::new(team.to_vec()).expect("a roster");
        let expected = ["standup.order names a persona sentinal, which is not on the team; did you mean sentinel?"];
        assert_eq!(load_text(file, &[]).list_unknown_personas(&roster), expected);
        assert_eq!(loaded(file, &[]).list_people(), [("discord:42".into(), "Ann".to_owned())]);
    }

    #[test]
    fn what_is_wrong_is_told_with_what_is_allowed() {
        for (file, told) in [
            ("order = \"vince\"", "teamroom.toml:2: standup.order: \"vince\" is not allowed. Give a list of personas"),
            ("order = [\"vince\", \"Vince\"]", "Give a list of personas by the names of their files, none twice"),
            ("humans = [\"Ann\"]", "Give a list of people as \"name:account id\""),
            ("humans = [\":7\"]", "Give a list of people"),
            ("humans = [\"Ann:7\", \"Bob:7\"]", "none twice"),
            ("pause = \"2m\"", "from \"0ms\" to \"1m\""),
            ("session = \"0s\"", "from \"1m\" to \"24h\""),
            ("question = \"Will it?\"", "is a section; write [standup.question]"),
            ("[standup.question]\ncomparison = \"=>\"", "Give \">\", \">=\", \"<\", \"<=\", \"==\""),
            ("[standup.question]\nthreshold = \"many\"", "a change from now such as +10"),
            ("[standup.question]\nthreshold = 1e300", "a change from now such as +10"),
            (
                "[standup.question]\nexpires = \"someday\"",
                "standup.question.expires: \"someday\" is not allowed. Give \"next friday 08:00\"",
            ),
        ] {
            let errors = refused(&format!("[standup]\n{file}\n"), &[]);
            assert!(errors.len() == 1 && errors[0].contains(told), "{file}: {errors:#?}");
        }
    }
}
