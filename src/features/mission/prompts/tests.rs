use super::*;
use crate::features::backlog::model::{Origin, Owner};
use crate::features::mission::model::Asked;
use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::message::MessageKind;
use kernel::agent::budget::prompt_tokens;
use kernel::chat::message::{Channel, Place};
use kernel::testing::feeds::now;
use kernel::testing::persona::roster;

/// 60 kB of long parts, with a request that is long, too.
fn mission() -> Mission {
    let part = |number: usize| {
        format!("- field_{number}[2] {}must be in test_cases.csv, rule {number}\n", "is as long as it has to be, ".repeat(20))
    };
    let document = format!("# Shop\n\n{}", (1..=100).map(part).collect::<String>());
    let channel = Channel { id: "c".into(), name: "general".into(), place: Place::Server, private: false, shared: false };
    let request = format!("Please build this. {}Never call it as_json.", "Ann has said why. ".repeat(400));
    Mission::new(
        Asked {
            title: "Shop".into(),
            request,
            directive: Directive::read(&[("shop.md".to_owned(), document)], ""),
            by: None,
            channel: &channel,
            message: None,
        },
        now(),
    )
}

type Write<'a> = &'a dyn Fn(Frame<'_>) -> Prompt;

fn frame<'a>(mission: &'a Mission, roster: &'a Roster, window: usize) -> Frame<'a> {
    Frame { system: "You are Kelly.".into(), roster, mission, tokens: prompt_tokens(window) }
}

#[test]
fn who_plans_reads_the_whole_request_and_directive_in_a_large_window_and_what_is_left_out_in_a_small_one() {
    let (mission, roster) = (mission(), roster());
    let wish = Wish {
        mission: mission.id.clone(),
        by: "Ann".into(),
        text: "Leave out rule 7.".into(),
        message: None,
        colleague: None,
        is_told: false,
    };
    let understood = Understanding::default();
    let prompts: [(&str, Write<'_>); 3] = [
        ("understand", &understand),
        ("plan", &|frame| plan(frame, (&understood, &[]), &no_draft(), "")),
        ("change", &|frame| change(frame, &[], &wish, &no_draft())),
    ];
    for (name, write) in prompts {
        let large = write(frame(&mission, &roster, 128_000)).message;
        assert!(large.contains(&mission.request), "{name}");
        for (number, part) in mission.directive.numbers().zip(&mission.directive.parts) {
            assert!(large.contains(&format!("[{number}] {}", part.render(usize::MAX))), "{name}: part {number}");
        }
        assert!(!large.contains("left out"), "{name}");
        let small = write(frame(&mission, &roster, 8000)).message;
        assert!(small.len() < 8000 * BYTES_PER_TOKEN, "{name}: {}", small.len());
        assert!(small.contains("(left out here: ") && small.contains(" characters left out)"), "{name}");
    }
}

#[test]
fn a_colleague_reads_the_same_task_as_the_worker() {
    let (mission, roster) = (mission(), roster());
    let how = format!("{}Ann answered: 24 hours, in `sla_hours`.", "One more rule. ".repeat(2000));
    let owner = Owner::Persona("eliza".into());
    let step = WorkItem {
        how,
        criteria: vec!["It says 24 hours".into()],
        ..WorkItem::new("Write it", owner, Origin::WorkItem(mission.id.clone()), now())
    };
    let message = ColleagueMessage { from: "eliza".into(), to: "vince".into(), kind: MessageKind::Question, text: "How long?".into() };
    let known = Known { step: &step, results: &[], feeds: &[], passages: &[] };
    let large = colleague(frame(&mission, &roster, 128_000), &message, &known).message;
    assert!(large.contains(&step.describe_task()) && large.contains(&mission.request));
    let small = colleague(frame(&mission, &roster, 8000), &message, &known).message;
    assert!(small.contains("How long?") && small.contains("(left out here: "), "{small}");
}

#[test]
fn a_message_is_whole_for_whoever_says_what_it_wants_and_its_documents_make_room() {
    let text = format!("{}and leave the coupons out.", "We have talked about it for a while. ".repeat(200));
    let documents = "A roadmap with many parts. ".repeat(2000);
    for message in [classify(&text, &documents).message, wish(&text, &documents).message] {
        assert!(message.contains(&text), "the message is whole");
        assert!(message.contains("(left out here: ") && message.len() < 8000 * 4, "{message}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(10_000))]

    /// Words with all marks of Markdown, as in `features::board::marks`.
    #[test]
    fn a_text_with_marks_is_the_same_in_a_step(text in r"[a-v][a-v0-9_*~|\\\[\](){}<>#.=+&$!-]{0,12}( [a-v0-9_*~|\\\[\](){}<>#.=+&$!-]{1,12}){0,6}") {
        let given = serde_json::json!({
            "item": "0f3a11", "title": text, "instructions": text, "kind": "write", "owner": "vince", "criteria": [text], "needs": [], "serves": [1],
        });
        let step: crate::features::mission::model::plan::Step = serde_json::from_str(&given.to_string()).expect("a step");
        let again: crate::features::mission::model::plan::Step = serde_json::from_str(&serde_json::json!(step).to_string()).expect("a step");
        for said in [&again.title, &again.instructions, &again.criteria[0]] {
            proptest::prop_assert_eq!(said, &text);
        }
        proptest::prop_assert!(wish(&text, "").message.contains(&text));
    }
}

#[test]
fn tools_that_everybody_has_are_named_once() {
    let mission = mission();
    let personas = roster().personas().to_vec();
    let with_tools = |index: usize, own: &[&str]| {
        let tools = ["backlog_add", "web_search"].iter().chain(own).map(|tool| (*tool).to_owned()).collect();
        Persona { tools, ..personas[index].clone() }
    };
    let roster = Roster::new(vec![with_tools(0, &[]), with_tools(1, &["git_log"])]).expect("a roster");
    let wish = Wish { mission: mission.id.clone(), by: "Ann".into(), text: String::new(), message: None, colleague: None, is_told: false };
    for message in [
        plan(frame(&mission, &roster, 128_000), (&Understanding::default(), &[]), &no_draft(), "").message,
        change(frame(&mission, &roster, 128_000), &[], &wish, &no_draft()).message,
    ] {
        assert!(message.contains("\nEverybody has these tools: backlog_add, web_search.\n"), "{message}");
        let own: Vec<&str> = message.lines().filter(|line| line.contains("Tools of its own: git_log.")).collect();
        assert_eq!((own.len(), message.matches("web_search").count()), (1, 1), "{message}");
    }
}

fn no_draft<T>() -> RefusedDraft<'static, T> {
    RefusedDraft { draft: None, faults: &[] }
}

#[test]
fn a_draft_that_was_refused_is_shown_with_its_faults() {
    let (mission, roster) = (mission(), roster());
    let draft = PlanDraft { criteria: vec!["Each letter has a date".into()], ..PlanDraft::default() };
    let faults = ["step cart: it needs itself".to_owned()];
    let refused = RefusedDraft { draft: Some(&draft), faults: &faults };
    let message = plan(frame(&mission, &roster, 128_000), (&Understanding::default(), &[]), &refused, "").message;
    assert!(message.contains("| your last plan>>\n{\"criteria\":[\"Each letter has a date\"]"), "{message}");
    assert!(message.contains("- step cart: it needs itself\nIt stands above. Mend exactly that"), "{message}");
    let unread = RefusedDraft { draft: None, faults: &faults };
    let unread = plan(frame(&mission, &roster, 128_000), (&Understanding::default(), &[]), &unread, "").message;
    assert!(unread.contains("it needs itself\nGive the whole plan again.") && !unread.contains("stands above"), "{unread}");
    assert!(!message.contains("say so in `learnt`"), "without insights nothing can be learnt from them");
}
