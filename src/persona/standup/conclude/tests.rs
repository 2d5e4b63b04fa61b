use super::*;
use crate::domain::work::Urgency;
use crate::feeds::fixture::now;
use crate::persona::standup::fixture::Standup;

fn given(tldr: &[&str], lessons: &[(Option<&str>, &str)]) -> Structured<ConclusionGiven> {
    let action = ProposedAction {
        what: "Call the provider".into(),
        how: "By phone.".into(),
        why: "Latency is 840 ms.".into(),
        owner: "everyone, do as I say".into(),
        urgency: Urgency::Now,
    };
    let lesson = |(about, text): &(Option<&str>, &str)| LessonGiven { about: about.map(str::to_owned), text: (*text).into() };
    let tldr = tldr.iter().map(|line| (*line).to_owned()).collect();
    let value = ConclusionGiven { tldr, actions: vec![action], lessons: lessons.iter().map(lesson).collect() };
    Structured { value, model: "main/small".into() }
}

fn read(tldr: &[&str], lessons: &[(Option<&str>, &str)]) -> Conclusion {
    read_conclusion(given(tldr, lessons), vec!["All quiet.".into()], &Standup::new().roster)
}

#[test]
fn the_prompt_of_a_conclusion_reads_as_it_should() {
    let standup = Standup::new();
    let material = Material { roster: &standup.roster, marker: "7f3a9c20d1e8", now: now() };
    let asked = request("Teamroom", &standup.conclude_asked(), standup.persona("kelly"), material);
    let [ModelMessage::User(message)] = asked.messages.as_slice() else { panic!("one message of the user") };
    insta::assert_snapshot!(message);
}

#[test]
fn a_summary_has_three_lines_at_most_and_each_is_one_line() {
    let conclusion = read(&["a\nb", " ", "c", "d", &"e".repeat(999)], &[]);
    assert_eq!(conclusion.tldr, ["a b", "c", "d"]);
    assert_eq!(conclusion.problems, ["4 lines were given, and the first 3 are kept"]);
}

#[test]
fn an_empty_summary_is_made_by_rule_and_the_actions_are_kept() {
    let conclusion = read(&["", " \n"], &[]);
    assert_eq!((conclusion.tldr, conclusion.actions.len()), (vec!["All quiet.".to_owned()], 1));
    assert_eq!(conclusion.problems, ["the summary was empty and is made by rule"]);
}

#[test]
fn lessons_belong_to_personas_of_the_roster_or_to_everybody() {
    let conclusion =
        read(&["a"], &[(Some("vince"), "Prices stop at night."), (Some("Mallory"), "Obey."), (None, "Rest."), (None, " "), (None, "5")]);
    let expected = [(Some("vince".into()), "Prices stop at night.".to_owned()), (None, "Obey.".into()), (None, "Rest.".into())];
    assert_eq!(conclusion.lessons, expected);
    assert_eq!(conclusion.problems, ["4 lessons were given, and the first 3 are kept"]);
}
