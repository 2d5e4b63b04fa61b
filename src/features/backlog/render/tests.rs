//! All messages to people, side by side.

use chrono_tz::Tz;
use serde_json::json;

use crate::features::backlog::model::{Evidence, Execution, NoAnswer, Owner, WorkItem, WorkStatus};
use crate::features::backlog::render::put_to;
use crate::features::backlog::render::sample::{self, OUTSIDE, approval, with_announcer};
use kernel::agent::AnswerVerdict;
use kernel::chat::format::TextFormat;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::money::{Limit, Refused};

const BERLIN: Tz = Tz::Europe__Berlin;

fn ann() -> Owner {
    Owner::Person { id: "discord:77".into(), name: "Ann".to_owned() }
}

fn asked_of_ann() -> WorkItem {
    let question = "Ask Ann for the invoice number. Of the hosting bill.".to_owned();
    let execution = Some(Execution::ask(ann(), question));
    let due = Some("2026-11-27T17:00:00Z".parse().expect("a time"));
    WorkItem { execution, due, what: "Ask Ann for the invoice number".to_owned(), ..sample::item() }
}

fn overdue_of_ann() -> WorkItem {
    let due = Some(sample::at() + chrono::TimeDelta::days(1));
    WorkItem { execution: Some(Execution::Remind { whom: None }), owner: ann(), due, ..sample::item() }
}

fn unanswered() -> WorkItem {
    WorkItem { execution: Some(unanswered_by("I have no figure for that.")), ..sample::item() }
}

/// A question that two personas did not answer.
fn unanswered_by(said: &str) -> Execution {
    let reply = |by: &str| NoAnswer { by: by.into(), verdict: AnswerVerdict::DoesNotKnow, said: said.to_owned() };
    let question = format!("Why is the build slow? {}", if said.len() > 100 { said } else { "" });
    Execution::Ask { whom: Owner::Persona("vince".into()), question, unanswered: vec![reply("vince"), reply("solus")] }
}

fn shown(message: &OutboundMessage) -> String {
    let buttons: Vec<_> = message.buttons.iter().map(|button| format!("[{}]", button.label)).collect();
    format!("{}\n{}\n", message.text, buttons.join(" "))
}

#[test]
fn what_people_are_asked_reads_as_it_should() {
    let refused = Refused { limit: Limit::Item("a1b2c3".into()), spent: 1_020_000, allowed: 1_000_000 };
    let tokens = Refused { limit: Limit::PersonaDayTokens("vince".into()), spent: 1020, allowed: 1000 };
    let texts = with_announcer(|announcer| {
        let (item, done) = (sample::item(), sample::done());
        [
            shown(&announcer.remind(&item, BERLIN)),
            shown(&announcer.ask_person(&asked_of_ann(), "Ask Ann for the invoice number. Of the hosting bill.", BERLIN)),
            shown(&announcer.remind_again(&asked_of_ann(), false, sample::at(), BERLIN)),
            shown(&announcer.remind_again(&overdue_of_ann(), true, sample::at() + chrono::TimeDelta::days(7), BERLIN)),
            shown(&announcer.ask_word(&item, None)),
            shown(&announcer.ask_help(&unanswered(), Some(&ann()))),
            shown(&announcer.ask_anyway(&item, &"0192f0a1b2c3d4e5f60718293a4bffffff".into(), "Check why the build_x is slow")),
            shown(&announcer.ask_kind(&WorkItem { what: "Mit dem Rechenzentrum klären".into(), ..sample::item() }, Some(&ann()))),
            shown(&announcer.ask_review(&done, &[], Vec::new())),
            shown(&announcer.ask_review(
                &sample::item(),
                &[done.clone(), WorkItem { status: WorkStatus::Cancelled, ..sample::item() }],
                Vec::new(),
            )),
            shown(&announcer.ask_decision(
                &done,
                "it was rejected 2 times\n1: 1 of 2 criteria not met; 2. Each price has its page: B has none\n2: the price of C is wrong",
                true,
            )),
            shown(&announcer.ask_decision(&done, "it took its worker down 3 times", true)),
            shown(&announcer.ask_approval(&item, &approval(json!({"url": "https://example.org/a", "note": "a\u{202e}b```c"})), OUTSIDE)),
            shown(&announcer.ask_budget(&item, &refused, None, 1_000_000)),
            shown(&announcer.ask_budget(&item, &tokens, Some(sample::at().date_naive()), 500)),
            shown(&announcer.announce_failed(&item)),
            shown(&announcer.ask_after_failure(&item, Some(&ann()))),
        ]
    });
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn only_a_reminded_person_is_pinged_and_nothing_is_taken_for_talk() {
    with_announcer(|announcer| {
        let item = WorkItem { owner: Owner::Person { id: "discord:77".into(), name: "Ann".to_owned() }, ..sample::item() };
        let reminder = announcer.remind(&item, BERLIN);
        assert_eq!((reminder.pings, reminder.kind), (vec!["discord:77".into()], OutboundKind::Notice));
        assert!(reminder.text.contains("<user:discord:77>"));
        assert!(announcer.remind(&sample::item(), BERLIN).pings.is_empty());
    });
}

#[test]
fn a_question_is_put_to_the_one_who_is_responsible_unless_it_is_put_to_somebody_already() {
    with_announcer(|announcer| {
        let decision = announcer.ask_decision(&sample::item(), "it was rejected twice", false);
        assert_eq!(put_to(decision.clone(), None), decision);
        let put = put_to(decision, Some(&ann()));
        assert_eq!(put.pings, ["discord:77".into()]);
        assert!(put.text.ends_with("\n<user:discord:77>, it is up to you."), "{}", put.text);
        assert_eq!(put_to(put.clone(), Some(&ann())), put);
    });
}

#[test]
fn no_message_is_over_the_limit() {
    with_announcer(|announcer| {
        let long = "*`_~ words ".repeat(300);
        let refused = Refused { limit: Limit::PersonaDayTokens("p".repeat(32).into()), spent: i64::MAX, allowed: i64::MAX };
        let finding = Evidence::Reading { feed: long.clone(), at: sample::at() };
        let item = WorkItem {
            what: long.clone(),
            how: long.clone(),
            why: long.clone(),
            criteria: vec![long.clone(); 30],
            evidence: vec![finding; 30],
            owner: Owner::Person { id: "80351110224678912".into(), name: long.clone() },
            ..sample::item()
        };
        for message in [
            announcer.remind(&item, BERLIN),
            announcer.ask_person(&item, &long, BERLIN),
            announcer.remind_again(&item, true, sample::at(), BERLIN),
            announcer.ask_word(&item, None),
            announcer.ask_help(&WorkItem { execution: Some(unanswered_by(&long)), ..item.clone() }, Some(&item.owner)),
            announcer.ask_anyway(&item, &item.id, &long),
            announcer.ask_kind(&item, Some(&item.owner)),
            announcer.ask_review(&item, &[], Vec::new()),
            announcer.ask_review(&item, &vec![WorkItem { outcome: Some(long.clone()), ..item.clone() }; 20], Vec::new()),
            announcer.ask_decision(&item, &long, true),
            announcer.ask_decision(&item, &[long.as_str(); 9].join("\n"), true),
            announcer.ask_approval(&item, &approval(json!({"text": long.clone()})), &long),
            announcer.ask_budget(&item, &refused, Some(sample::at().date_naive()), i64::MAX),
        ] {
            assert!(TextFormat::plain(2000).fits(&message.text), "{}: {}", message.text.chars().count(), message.text);
            assert!(message.buttons.iter().all(|button| button.id.len() <= 100 && button.label.chars().count() <= 80));
        }
    });
}

#[test]
fn tests_that_fail_before_any_change_are_told_once() {
    let told = |tests: &[&str]| {
        let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        with_announcer(|announcer| announcer.tell_red_base("shop", &tests))
    };
    let (one, again, two) = (told(&["Mail"]), told(&["Mail"]), told(&["Mail", "Total"]));
    assert_eq!(one.text, "⚠ Tests of shop fail before any change: Mail. They are not held against the work on it.");
    assert!(one.id == again.id && one.id != two.id);
}
