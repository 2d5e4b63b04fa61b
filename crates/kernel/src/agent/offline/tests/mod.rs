use crate::agent::{AnswerVerdict, PlaceNote, SpeechAct};
use std::path::Path;

use chrono::TimeDelta;

use crate::agent::files::{File, Files};
use crate::agent::offline::{FOOTER, OfflineAnswer, OfflineQuestion, compose};
use crate::chat::message::{Speaker, Spoken};
use crate::feeds::{ActivityLine, Backlog, Feed, WorkLine};
use crate::ids::UserId;
use crate::memory::{Memory, MemoryKind, MemorySource, Teacher};
use crate::money::{CostLine, Money, TokenUsage};
use crate::testing::feeds::{Told, feed, now, sources};
use crate::testing::persona::roster;

mod files;

/// A question with its material.
#[derive(Default)]
struct Asked {
    feeds: Vec<Feed>,
    /// The files of the question's message.
    files: Vec<File>,
    /// The files of the last hours.
    channel_files: Vec<File>,
    older: Vec<File>,
    transcript: Vec<Spoken>,
    act: SpeechAct,
    asker: Option<&'static str>,
    notes: Vec<PlaceNote>,
    memories: Vec<Memory>,
}

impl Asked {
    async fn of(&self, persona: &str, text: &str) -> OfflineAnswer {
        let roster = roster();
        let persona = roster.find_named(persona).expect("on the roster");
        let is_meant = !self.files.is_empty();
        let is_closed = is_meant && self.files.iter().all(|file| file.text.is_none());
        let given = if is_meant { 0 } else { self.channel_files.len().min(1) };
        let (newest, near) = self.channel_files.split_at(given);
        let (focus, near) = (if is_meant { self.files.clone() } else { newest.to_vec() }, near.to_vec());
        let files = Files { focus, is_meant, in_thread: false, is_closed, near, older: self.older.clone() };
        let Self { feeds, transcript, .. } = self;
        let (act, notes, memories) = (self.act, &self.notes, &self.memories);
        let asker = self.asker.map(UserId::from);
        let asker = asker.as_ref();
        compose(&OfflineQuestion {
            persona,
            roster: &roster,
            text,
            act,
            asker,
            notes,
            files: &files,
            transcript,
            memories,
            feeds,
            now: now(),
        })
        .await
    }
}

fn file(name: &str, text: &str) -> File {
    File {
        name: name.into(),
        by: "Ann".into(),
        at: now() - TimeDelta::hours(1),
        text: Some(text.into()),
        is_shown: false,
        is_heard: false,
        note: None,
    }
}

fn refused(name: &str, note: &str) -> File {
    File { text: None, note: Some(note.into()), ..file(name, "") }
}

fn told(kind: &str, told: Told) -> Vec<Feed> {
    vec![feed(kind, &sources(Path::new("/nowhere"), told))]
}

const NOTES: &str =
    "# Notes\n\n## Database\n\nWe chose PostgreSQL because two processes share it.\n\n## Queue\n\nThe queue holds 40 jobs.\n";

#[tokio::test]
async fn a_follow_up_is_about_what_was_asked_before() {
    let before = Spoken {
        message: None,
        speaker: Speaker::Person { id: "1".into(), name: "Ann".into() },
        answers: None,
        text: "which PostgreSQL do we run?".into(),
        at: now(),
        in_meeting: false,
    };
    let asked = Asked { channel_files: vec![file("notes.md", NOTES)], transcript: vec![before], ..Asked::default() };
    let answer = asked.of("Kelly", "why?").await;
    assert_eq!(answer.sources, ["notes.md, Database, line 5"]);
}

#[tokio::test]
async fn a_judgement_is_left_to_minds_and_what_can_be_answered_is_named() {
    let asked = Asked { channel_files: vec![file("notes.md", "The reviewer was right to reject it.\n")], ..Asked::default() };
    insta::assert_snapshot!(asked.of("Vince", "@Vince @Solus which of you is right?").await.text, @r#"
    I can't judge that without a language model. As Vince (data) I can answer "what did we spend?", or a question about a text file you post here.
    <small>from feeds and files, generated without AI</small>
    "#);
}

#[tokio::test]
async fn costs_come_from_the_ledger_by_persona_and_model() {
    let line = |dollars| CostLine {
        key: String::new(),
        estimated: 0,
        calls: 2,
        usage: TokenUsage { input: 900, cached: 0, output: 100 },
        cost: Money::from_dollars(dollars),
    };
    let costs = vec![
        (now() - TimeDelta::hours(1), "Vince", "small-1", line(0.0123)),
        (now() - TimeDelta::days(2), "Kelly", "small-1", line(0.1)),
        (now() - TimeDelta::days(9), "Kelly", "large-1", line(3.0)),
    ];
    let asked = Asked { feeds: told("ledger", Told { costs, ..Told::default() }), ..Asked::default() };
    insta::assert_snapshot!(asked.of("Vince", "What do you think about our costs?").await.text, @r"
    **today**: $0.01 for 2 model calls, 1000 tokens `[ledger]`
    - by persona: Vince $0.01
    - by model: small-1 $0.01
    **the last 7 days**: $0.11 for 4 model calls, 2000 tokens `[ledger]`
    - by persona: Kelly $0.10, Vince $0.01
    - by model: small-1 $0.11
    <small>from feeds and files, generated without AI</small>
    ");
    insta::assert_snapshot!(asked.of("Vince", "what did we spend last month?").await.text, @r"
    **last month**: $0.00, no model call `[ledger]`
    <small>from feeds and files, generated without AI</small>
    ");
}

#[tokio::test]
async fn zero_is_said_as_zero_and_a_ledger_that_cannot_be_read_is_not_zero() {
    let asked = Asked { feeds: told("ledger", Told::default()), ..Asked::default() };
    insta::assert_snapshot!(asked.of("Vince", "costs?").await.text, @r"
    **today**: $0.00, no model call `[ledger]`
    **the last 7 days**: $0.00, no model call `[ledger]`
    <small>from feeds and files, generated without AI</small>
    ");
    let asked = Asked { feeds: told("ledger", Told { broken: true, ..Told::default() }), ..Asked::default() };
    insta::assert_snapshot!(asked.of("Vince", "costs?").await.text, @r"
    ledger: no data; cannot read the ledger: the database is locked
    <small>from feeds and files, generated without AI</small>
    ");
}

#[tokio::test]
async fn activity_is_reported_and_nothing_is_reported_quietly() {
    let lines = |whose: &str, count| ActivityLine { what: "answers".into(), whose: whose.into(), count, last_at: Some(now()) };
    let activity = vec![lines("Vince", 3), lines("Kelly", 0)];
    let asked = Asked { feeds: told("activity", Told { activity, ..Told::default() }), ..Asked::default() };
    insta::assert_snapshot!(asked.of("Kelly", "what happened today?").await.text, @r"
    **Today**, the team's own activity
    - Vince: 3 answers, last 22:50
    <small>from feeds and files, generated without AI</small>
    ");
    let asked = Asked { feeds: told("activity", Told::default()), ..Asked::default() };
    insta::assert_snapshot!(asked.of("Kelly", "what's new?").await.text, @r"
    Nothing to report, last 7 days: the team's own activity since Sat 14 Nov, 22:50, as of 22:50.
    <small>from feeds and files, generated without AI</small>
    ");
}

#[tokio::test]
async fn a_question_that_names_a_feed_is_answered_with_what_it_shows() {
    let line = |reference: &str, status: &str, text: &str, waits: Option<&str>| WorkLine {
        reference: reference.into(),
        text: text.into(),
        owner: Some("Kelly".into()),
        status: status.into(),
        waits: waits.map(str::to_owned),
        at: now() - TimeDelta::days(2),
    };
    let stuck = line("#c8f041", "waiting", "Renew the certificate", Some("for an answer from Ann"));
    let backlog =
        Backlog { open: vec![("waiting".into(), 1)], changed: vec![stuck.clone()], stuck: vec![stuck], total: 1, ..Backlog::default() };
    let asked = Asked { feeds: told("backlog", Told { backlog, ..Told::default() }), ..Asked::default() };
    let answer = asked.of("Kelly", "kelly, what is in the backlog?").await;
    insta::assert_snapshot!(answer.text, @r#"
    **the backlog**, 22:50: open 1, waiting 1
    Stuck: "Renew the certificate" (Kelly) waits for an answer from Ann, for 2 days.
    - `#c8f041` waiting: Renew the certificate (Thu 19 Nov, 22:50)
    <small>from feeds and files, generated without AI</small>
    "#);
    assert_eq!(answer.verdict, AnswerVerdict::Answers);
    let other = asked.of("Kelly", "is the harbour in the backlog?").await;
    assert_ne!(other.verdict, AnswerVerdict::Answers);
}

#[tokio::test]
async fn who_has_no_feed_names_who_has() {
    let asked = Asked::default();
    insta::assert_snapshot!(asked.of("Solus", "what did we spend?").await.text, @r"
    I don't have access to costs. Ask Vince (reads ledger).
    <small>from feeds and files, generated without AI</small>
    ");
    assert!(asked.of("Solus", "what happened today?").await.text.contains("Sentinel (reads git)"));
}

#[tokio::test]
async fn greetings_team_and_help_come_from_the_roster() {
    let asked = Asked::default();
    insta::assert_snapshot!(asked.of("Sentinel", "hello sentinel!").await.text, @r#"
    Hello, Sentinel here (code). You can ask me "what happened this week?" in the repository, or a question about a text file you post here.
    <small>from feeds and files, generated without AI</small>
    "#);
    insta::assert_snapshot!(asked.of("Kelly", "who is on the team?").await.text, @r#"
    The team:
    - **Kelly** (coordination, coordinator): coordination questions
    - **Sentinel** (code): code questions
    - **Solus** (the call): the call questions
    - **Vince** (data): data questions
    Say a name first ("Kelly, …") to ask one of us.
    <small>from feeds and files, generated without AI</small>
    "#);
    let help = asked.of("Solus", "what can you do?").await.text;
    assert!(help.contains("- a question about a text file you post here\n"), "{help}");
    assert!(help.contains("- **Sentinel**: reads git\n"), "{help}");
}

#[tokio::test]
async fn every_question_gets_a_text_and_the_same_one_each_time() {
    let asked = Asked { channel_files: vec![file("notes.md", NOTES)], ..Asked::default() };
    for question in ["", "?", "\u{200b}", "🤷", "why", "last week", "zzz", "@everyone", "help me with the queue", &"queue ".repeat(5000)]
    {
        let first = asked.of("Kelly", question).await;
        assert!(first.text.ends_with(FOOTER) && first.text.len() > FOOTER.len() + 10, "{question}: {}", first.text);
        assert!(first.text.chars().count() < 4000, "{question}");
        assert_eq!(asked.of("Kelly", question).await, first);
    }
}

#[tokio::test]
async fn the_composer_says_by_type_what_its_answer_is_worth() {
    let notes = Asked { channel_files: vec![file("notes.md", NOTES)], ..Asked::default() };
    let nothing = Asked::default();
    let quiet = Asked { feeds: told("activity", Told::default()), ..Asked::default() };
    let broken = Asked { feeds: told("ledger", Told { broken: true, ..Told::default() }), ..Asked::default() };
    for (asked, whom, question, verdict) in [
        (&notes, "Kelly", "which processes share PostgreSQL?", AnswerVerdict::Answers),
        (&notes, "Kelly", "which processes share PostgreSQL in spring?", AnswerVerdict::InPart),
        (&notes, "Kelly", "how do kubernetes pods restart?", AnswerVerdict::DoesNotKnow),
        (&notes, "Vince", "which of you is right?", AnswerVerdict::DoesNotKnow),
        (&nothing, "Kelly", "which database did we choose?", AnswerVerdict::DoesNotKnow),
        (&nothing, "Solus", "what did we spend?", AnswerVerdict::DoesNotKnow),
        (&nothing, "Solus", "what happened today?", AnswerVerdict::DoesNotKnow),
        (&broken, "Vince", "costs?", AnswerVerdict::DoesNotKnow),
        (&quiet, "Kelly", "what's new?", AnswerVerdict::Answers),
        (&nothing, "Kelly", "who is on the team?", AnswerVerdict::Answers),
    ] {
        assert_eq!(asked.of(whom, question).await.verdict, verdict, "{question}");
    }
}

#[tokio::test]
async fn what_is_only_told_is_acknowledged_and_nothing_is_looked_up() {
    let asked = Asked { channel_files: vec![file("notes.md", NOTES)], act: SpeechAct::Statement, ..Asked::default() };
    let answer = asked.of("Kelly", "kelly, this stays here: the budget for the queue is 40000").await;
    assert_eq!(answer.text, "I have read that. Without a language model I can't act on it.");
    let asked = Asked { act: SpeechAct::Question, ..asked };
    assert!(asked.of("Kelly", "how many jobs does the queue hold?").await.text.contains("40 jobs"));
}

#[tokio::test]
async fn what_cannot_be_done_is_said_and_not_answered_with_a_quotation() {
    let asked = Asked { channel_files: vec![file("notes.md", NOTES)], act: SpeechAct::Request, ..Asked::default() };
    let answer = asked.of("Kelly", "kelly, empty the queue of jobs").await;
    assert!(answer.text.starts_with("I can't do that") && answer.verdict == AnswerVerdict::DoesNotKnow, "{}", answer.text);
    assert!(asked.of("Kelly", "kelly, show me the jobs of the queue").await.text.contains("40 jobs"));
}

#[tokio::test]
async fn a_question_about_the_channel_is_answered_with_what_is_known_about_it() {
    let note = |text: &str, asked_by, is_of_place| PlaceNote { text: text.into(), asked_by, is_of_place };
    let notes = vec![
        note("The next standup here starts 09:00.", "next standup daily start begin when", true),
        note("The last standup here: Fri 20 Nov. It said:\n- all is well", "last previous standup day report go went say said", true),
    ];
    let asked = Asked { notes, feeds: told("activity", Told::default()), ..Asked::default() };
    for (question, told) in [
        ("when does it start?", "The next standup here starts 09:00."),
        ("when is it?", "The next standup here starts 09:00."),
        ("when does the standup begin?", "The next standup here starts 09:00."),
        ("how did the last standup go?", "- all is well"),
        ("how did the last one go?", "- all is well"),
        ("what did the day report say?", "- all is well"),
    ] {
        let answer = asked.of("Kelly", question).await;
        assert!(answer.text.contains(told) && answer.verdict == AnswerVerdict::Answers, "{question}: {}", answer.text);
        assert_eq!(answer.text.contains("starts 09:00"), told.contains("starts 09:00"), "{question}: {}", answer.text);
    }
    for question in ["what happened this week?", "when did the launch start?", "why?"] {
        let answer = asked.of("Kelly", question).await;
        assert!(!answer.text.contains("standup here"), "{question}: {}", answer.text);
    }
    let elsewhere = Asked { notes: vec![PlaceNote { is_of_place: false, ..asked.notes[0].clone() }], ..Asked::default() };
    assert!(elsewhere.of("Kelly", "when is the next standup?").await.text.contains("starts 09:00"));
    assert!(!elsewhere.of("Kelly", "when does it start?").await.text.contains("starts 09:00"), "another thing is meant");
}

fn by(speaker: Speaker, text: &str) -> Spoken {
    Spoken { message: None, speaker, answers: None, text: text.into(), at: now(), in_meeting: false }
}

#[tokio::test]
async fn a_follow_up_goes_on_with_what_was_asked_and_not_with_other_talk() {
    let ann = || Speaker::Person { id: "1".into(), name: "Ann".into() };
    let asked_costs =
        vec![by(ann(), "vince, what did we spend this week?"), by(Speaker::Persona("vince".into()), "$0.00"), by(ann(), "oh no")];
    let asked = Asked { feeds: told("ledger", Told::default()), transcript: asked_costs, ..Asked::default() };
    assert!(asked.of("Vince", "and last week?").await.text.starts_with("**last week**: $0.00"));
    let answer = asked.of("Vince", "what happened last week?").await;
    assert!(!answer.text.contains("$0.00"), "{}", answer.text);
    let talk = vec![by(ann(), "PostgreSQL is a database")];
    let asked = Asked { channel_files: vec![file("notes.md", NOTES)], transcript: talk, ..Asked::default() };
    assert!(asked.of("Kelly", "why?").await.sources.is_empty(), "nobody asked about it");
}

#[tokio::test]
async fn what_was_said_is_told_only_about_the_subject_of_the_question() {
    let said = |text: &str| Memory::new(MemoryKind::Conversation, text, MemorySource::Message("1".into()), now());
    let memories = vec![said("Big thanks to Kelly for yesterday"), said("the printer is on holiday")];
    let asked = Asked { memories, ..Asked::default() };
    let answer = asked.of("Kelly", "kelly, any news from the printer?").await;
    assert!(answer.text.contains("on holiday") && !answer.text.contains("thanks"), "{}", answer.text);
    assert!(!asked.of("Kelly", "kelly, what is the merger called?").await.text.contains("thanks"));
}

const PLAN: &str =
    "# Plan\n\nWe open the harbour cafe in May.\n\n## Budget\n\nThe total is 40,000: 12,000 for marketing, 28,000 for the kitchen.\n";

#[tokio::test]
async fn a_plan_is_asked_about_in_other_words_than_it_has() {
    let below = Asked { files: vec![file("plan.md", PLAN)], feeds: told("ledger", Told::default()), ..Asked::default() };
    let later = Asked { channel_files: vec![file("plan.md", PLAN)], ..Asked::default() };
    for asked in [&below, &later] {
        for question in
            ["what is the total budget?", "money marketing", "how much is planned for marketing?", "what will the kitchens cost?"]
        {
            let answer = asked.of("Vince", question).await;
            assert!(answer.text.contains("12,000 for marketing"), "{question}: {}", answer.text);
            assert_eq!(answer.sources, ["plan.md, Budget, line 7"], "{question}");
        }
        let answer = asked.of("Vince", "who won the football match?").await;
        assert_eq!(answer.verdict, AnswerVerdict::DoesNotKnow, "{}", answer.text);
    }
    let spent = later.of("Vince", "what did we spend this week?").await;
    assert!(!spent.text.contains("12,000"), "the ledger is asked: {}", spent.text);
}

#[tokio::test]
async fn a_line_of_a_feed_with_the_same_word_is_no_opinion() {
    let line = WorkLine {
        reference: "#c8f041".into(),
        text: "Rewrite the plan of the cellar".into(),
        owner: Some("Kelly".into()),
        status: "open".into(),
        waits: None,
        at: now() - TimeDelta::days(2),
    };
    let backlog = Backlog { changed: vec![line], total: 1, ..Backlog::default() };
    let asked = Asked { feeds: told("backlog", Told { backlog, ..Told::default() }), ..Asked::default() };
    for question in ["kelly, what do you think about the plan?", "should we keep the plan?", "do you agree with the plan?"] {
        let answer = asked.of("Kelly", question).await;
        assert!(answer.text.starts_with("I can't judge that"), "{question}: {}", answer.text);
    }
    assert!(asked.of("Kelly", "who rewrites the plan of the cellar?").await.text.contains("Rewrite the plan"));
}

#[tokio::test]
async fn what_somebody_said_a_moment_ago_is_told() {
    let person = |id: &str, name: &str| Speaker::Person { id: id.into(), name: name.into() };
    let transcript = vec![
        by(person("1", "Ann"), "the crane comes on Monday"),
        by(person("2", "Ben"), "I would sell the crane"),
        by(person("1", "Ann"), "and lunch is at noon"),
    ];
    let asked = Asked { transcript, act: SpeechAct::Question, ..Asked::default() };
    for (question, told, untold) in [
        ("what did Ann say about the crane?", "Ann said on Saturday, 21 November 2026 at 22:50: the crane comes on Monday", "sell"),
        ("kelly, what was said about the crane?", "Ben said on Saturday, 21 November 2026 at 22:50: I would sell the crane", "lunch"),
        ("what did Ben say?", "I would sell the crane", "Monday"),
    ] {
        let answer = asked.of("Kelly", question).await;
        assert!(answer.text.contains(told) && !answer.text.contains(untold), "{question}: {}", answer.text);
    }
    let answer = asked.of("Kelly", "what did Ann say about the merger?").await;
    assert_eq!(answer.verdict, AnswerVerdict::DoesNotKnow, "{}", answer.text);
}

#[tokio::test]
async fn a_house_is_no_horse() {
    let said = |text: &str| Memory::new(MemoryKind::Conversation, text, MemorySource::Message("1".into()), now());
    let taught = |text: &str| Memory { kind: MemoryKind::Fact, ..said(text) };
    let (house, animal) = ("the house is red", "the horse is red");
    let both = Asked { memories: vec![said(house), said(animal)], act: SpeechAct::Question, ..Asked::default() };
    let answer = both.of("Kelly", "what was said about the horse?").await;
    assert!(answer.text.contains(animal) && !answer.text.contains(house), "{}", answer.text);
    assert_eq!(answer.verdict, AnswerVerdict::Answers);
    let fact = Asked { memories: vec![taught(house)], act: SpeechAct::Question, ..Asked::default() };
    assert_eq!(fact.of("Kelly", "is the house red?").await.verdict, AnswerVerdict::Answers);
    assert_eq!(fact.of("Kelly", "is the horse red?").await.verdict, AnswerVerdict::InPart);
    let ann = || Speaker::Person { id: "1".into(), name: "Ann".into() };
    let talk = Asked { transcript: vec![by(ann(), house), by(ann(), animal)], act: SpeechAct::Question, ..Asked::default() };
    let answer = talk.of("Kelly", "what did Ann say about the horse?").await;
    assert!(answer.text.contains(animal) && !answer.text.contains(house), "{}", answer.text);
    let talk = Asked { transcript: vec![by(ann(), house)], act: SpeechAct::Question, ..Asked::default() };
    assert_eq!(talk.of("Kelly", "what did Ann say about the horse?").await.verdict, AnswerVerdict::InPart);
}

#[tokio::test]
async fn two_questions_in_one_message_are_searched_each_on_its_own() {
    let plan = "# Plan\n\n## Money\n\n12,000 for marketing.\n\n3,000 for the printer.\n\n## People\n\nBen runs the office in Thun.";
    let ann = Speaker::Person { id: "1".into(), name: "Ann".into() };
    let transcript = vec![by(ann, "the crane comes on Monday")];
    let asked = Asked { transcript, channel_files: vec![file("plan.md", plan)], act: SpeechAct::Question, ..Asked::default() };
    let answer = asked.of("Kelly", "money marketing, kelly?\nwhat did Ann say about the crane?").await;
    assert!(answer.text.contains("12,000 for marketing") && answer.text.contains("the crane comes on Monday"), "{}", answer.text);
    let answer = asked.of("Kelly", "money marketing, kelly?\nwhat did Ann say about the aquarium?").await;
    assert!(answer.text.contains("12,000 for marketing"), "{}", answer.text);
    assert_eq!(answer.verdict, AnswerVerdict::InPart);
    let answer = asked.of("Kelly", "who runs the office in Thun? and why?").await;
    assert!(answer.text.contains("Ben runs the office") && answer.text.matches("Ben runs").count() == 1, "{}", answer.text);
    let answer = asked.of("Kelly", "is there a submarine? or a zeppelin?").await;
    assert_eq!(answer.verdict, AnswerVerdict::DoesNotKnow, "{}", answer.text);
    let answer = asked.of("Kelly", "kelly? how much for marketng?").await;
    assert!(answer.text.contains("12,000 for marketing"), "{}", answer.text);
}

#[tokio::test]
async fn a_greeting_in_any_language_is_greeted() {
    let asked = Asked { act: SpeechAct::Greeting, channel_files: vec![file("notes.md", NOTES)], ..Asked::default() };
    for greeting in ["hallo", "bonjour", "добрый день", "merhaba kelly", "hola kelly", "guten Morgen zusammen"] {
        assert!(asked.of("Kelly", greeting).await.text.starts_with("Hello, Kelly here"), "{greeting}");
    }
}

#[tokio::test]
async fn the_newer_fact_comes_first_and_mine_is_not_yours() {
    let taught = |id: &str, name: &str, text: &str, days_ago| Memory {
        taught_by: Some(Teacher { id: Some(id.into()), name: name.into() }),
        ..Memory::new(MemoryKind::Fact, text, MemorySource::Message("1".into()), now() - TimeDelta::days(days_ago))
    };
    let memories = vec![
        taught("1", "Ann", "we deploy on Thursday", 9),
        taught("2", "Ben", "we deploy on Tuesday", 1),
        taught("2", "Ben", "a deploy costs 400 dollars", 3),
    ];
    let asked = Asked { memories, asker: Some("2"), ..Asked::default() };
    let answer = asked.of("Kelly", "when do we deploy?").await.text;
    let (newer, older) = (answer.find("Ben taught me on 20 November 2026: we deploy on Tuesday"), answer.find("Older: Ann taught me on"));
    assert!(newer.is_some() && older.is_some() && newer < older, "{answer}");
    assert!(answer.contains("\nBen taught me on 18 November 2026: a deploy costs"), "another fact is not older: {answer}");
    let asked = Asked { memories: vec![taught("1", "Ann", "my birthday is 3 May", 2)], asker: Some("2"), ..Asked::default() };
    let answer = asked.of("Kelly", "when is my birthday?").await.text;
    assert!(!answer.contains("3 May"), "it is Ann's: {answer}");
    assert!(
        asked.of("Kelly", "when is the birthday of Ann?").await.text.contains("Ann taught me on 19 November 2026: my birthday is 3 May")
    );
    let asked = Asked { asker: Some("1"), ..asked };
    assert!(asked.of("Kelly", "when is my birthday?").await.text.contains("3 May"));
}
