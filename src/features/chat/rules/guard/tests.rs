use proptest::prelude::*;

use crate::features::chat::rules::guard::*;
use kernel::ids::UserId;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn persona(slug: &str) -> Speaker {
    Speaker::Persona(slug.into())
}

fn person() -> Speaker {
    Speaker::Person { id: "9".into(), name: "Ann".into() }
}

fn line(speaker: Speaker, answers: Option<Speaker>, text: &str, seconds: i64) -> Spoken {
    Spoken { message: None, speaker, answers, text: text.into(), at: at(seconds), in_meeting: false }
}

/// A text that is unlike the other texts of these tests.
fn fresh(number: i64) -> String {
    (0..8).map(|word| format!("word{}", number * 8 + word)).collect::<Vec<_>>().join(" ")
}

/// Vince has spoken to Solus, last in `recent`; everything else allows an answer.
struct Case {
    from: Speaker,
    text: String,
    status: bool,
    recent: Vec<Spoken>,
    chain_turns: u32,
    cooldown_until: Option<DateTime<Utc>>,
    halted: bool,
    standup: bool,
    now: i64,
}

impl Case {
    fn after(earlier: Vec<Spoken>) -> Self {
        let text = fresh(1000);
        let now = earlier.last().map_or(0, |line| line.at.timestamp()) + 1;
        let mut recent = earlier;
        recent.push(line(persona("vince"), None, &text, now));
        Self {
            from: persona("vince"),
            text,
            status: false,
            recent,
            chain_turns: 1,
            cooldown_until: None,
            halted: false,
            standup: false,
            now,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn check(&self) -> Result<(), Block> {
        check(&Exchange {
            from: &self.from,
            to: &"solus".into(),
            text: &self.text,
            status: self.status,
            recent: &self.recent,
            chain_turns: self.chain_turns,
            cooldown_until: self.cooldown_until,
            halted: self.halted,
            standup: self.standup,
            now: at(self.now),
            limits: &GuardLimits::default(),
        })
    }
}

fn asked() -> Vec<Spoken> {
    vec![line(person(), None, "vince, what does solus say?", 0)]
}

#[test]
fn an_agent_may_answer_an_agent() {
    assert_eq!(Case::after(asked()).check(), Ok(()));
}

#[test]
fn nobody_answers_while_halted_or_to_themselves() {
    assert_eq!(Case::after(asked()).with(|case| case.halted = true).check(), Err(Block::Halted));
    let own = Case::after(asked()).with(|case| {
        case.from = persona("solus");
        case.recent.push(line(persona("solus"), None, "me again", 2));
    });
    assert_eq!(own.check(), Err(Block::OwnMessage));
}

#[test]
fn nobody_answers_what_says_nothing() {
    for text in ["", " \u{200B}\n", ".", "…", "👍"] {
        assert_eq!(Case::after(asked()).with(|case| case.text = text.into()).check(), Err(Block::EmptyOrStatus), "{text:?}");
    }
    assert_eq!(Case::after(asked()).with(|case| case.status = true).check(), Err(Block::EmptyOrStatus));
    assert_eq!(Case::after(asked()).with(|case| case.text = "是".into()).check(), Ok(()));
}

#[test]
fn agents_let_a_person_speak() {
    let interrupted = Case::after(asked()).with(|case| case.recent.push(line(person(), None, "wait", 2)));
    assert_eq!(interrupted.check(), Err(Block::PersonSpoke));
}

#[test]
fn without_the_message_in_sight_the_answer_is_no() {
    assert_eq!(Case::after(asked()).with(|case| case.recent.clear()).check(), Err(Block::Unknown));
    assert_eq!(Case::after(asked()).with(|case| drop(case.recent.pop())).check(), Err(Block::Unknown));
}

#[test]
fn a_chain_ends_at_its_limit_however_slow() {
    assert_eq!(Case::after(asked()).with(|case| case.chain_turns = 7).check(), Ok(()));
    assert_eq!(Case::after(asked()).with(|case| case.chain_turns = 8).check(), Err(Block::Chain));
}

#[test]
fn four_agent_messages_in_a_row_are_the_end_whoever_wrote_them() {
    let bot = || Speaker::ForeignBot { id: UserId::new("55"), name: "Rss".into() };
    let run = |others: i64| {
        let mut earlier = asked();
        earlier.extend((1..=others).map(|n| line(if n % 2 == 0 { bot() } else { persona("solus") }, None, &fresh(n), n * 100)));
        Case::after(earlier)
    };
    assert_eq!(run(2).check(), Ok(()));
    assert_eq!(run(3).check(), Err(Block::AgentRun), "the own messages and those of foreign bots count");
    let with_person = run(3).with(|case| case.recent.insert(3, line(person(), None, "go on", 250)));
    assert_eq!(with_person.check(), Ok(()), "a person between ends the run");
}

/// Solus has answered Vince `times` times, a person speaking after each, `every` seconds apart.
fn answered(times: i64, every: i64) -> Vec<Spoken> {
    (0..times)
        .flat_map(|n| [line(persona("solus"), Some(persona("vince")), &fresh(n), n * every), line(person(), None, "go on", n * every + 1)])
        .collect()
}

#[test]
fn two_replies_to_one_sender_in_the_window_are_enough_and_one_in_a_standup() {
    assert_eq!(Case::after(answered(1, 100)).check(), Ok(()));
    assert_eq!(Case::after(answered(2, 100)).check(), Err(Block::SameSender));
    assert_eq!(Case::after(answered(1, 100)).with(|case| case.standup = true).check(), Err(Block::SameSender));
    let mut long_ago = answered(2, 100);
    long_ago.extend((0..9).map(|n| line(person(), None, "talk", 300 + n)));
    assert_eq!(Case::after(long_ago).check(), Ok(()));
}

#[test]
fn a_foreign_bot_is_the_same_sender_under_another_name() {
    let bot = |name: &str| Speaker::ForeignBot { id: "55".into(), name: name.into() };
    let mut earlier = Vec::new();
    for n in 0..2 {
        earlier.push(line(persona("solus"), Some(bot("Old")), &fresh(n), n * 100));
        earlier.push(line(person(), None, "go on", n * 100 + 1));
    }
    let case = Case::after(earlier).with(|case| {
        case.from = bot("New");
        case.recent.pop();
        case.recent.push(line(bot("New"), None, &fresh(1000), 300));
        case.now = 300;
    });
    assert_eq!(case.check(), Err(Block::SameSender));
}

#[test]
fn three_messages_a_minute_between_two_are_enough_and_they_cool_down() {
    let talk = |seconds_ago: i64| {
        vec![
            line(persona("vince"), Some(persona("solus")), &fresh(1), 100 - seconds_ago),
            line(person(), None, "go on", 100 - seconds_ago),
            line(persona("solus"), Some(persona("vince")), &fresh(2), 100 - seconds_ago),
            line(person(), None, "go on", 99),
        ]
    };
    assert_eq!(Case::after(talk(20)).check(), Err(Block::PairRate));
    assert_eq!(Case::after(talk(70)).check(), Ok(()), "a minute later");
    let limits = GuardLimits::default();
    assert_eq!(cooldown_after(Block::PairRate, at(100), &limits), Some(at(160)));
    assert_eq!(cooldown_after(Block::Chain, at(100), &limits), None);
}

#[test]
fn a_pair_that_cools_down_is_silent_until_the_end_of_it() {
    assert_eq!(Case::after(asked()).with(|case| case.cooldown_until = Some(at(2))).check(), Err(Block::PairCooldown));
    assert_eq!(Case::after(asked()).with(|case| case.cooldown_until = Some(at(1))).check(), Ok(()));
}

#[test]
fn nearly_the_same_text_is_not_answered() {
    let said = |text: &str, times: i64| {
        let mut lines = vec![line(persona("eliza"), None, text, 0), line(person(), None, "go on", 1)];
        for n in 0..times {
            lines.push(line(persona("kelly"), None, &fresh(n), 2 + n));
            lines.push(line(person(), None, "go on", 2 + n));
        }
        Case::after(lines).with(|case| case.text = "Thank you, that was very helpful indeed!".into())
    };
    assert_eq!(said("thank you that was very helpful indeed", 0).check(), Err(Block::Repetition));
    assert_eq!(said("thank you that was very helpful indeed", 4).check(), Err(Block::Repetition));
    assert_eq!(said("thank you that was very helpful indeed", 5).check(), Ok(()), "six agent messages ago");
    assert_eq!(said("the build is red", 0).check(), Ok(()));
}

#[test]
fn a_persons_words_may_be_repeated() {
    let text = "what does the cache cost us a month";
    let case = Case::after(vec![line(person(), None, text, 0)]).with(|case| case.text = text.into());
    assert_eq!(case.check(), Ok(()));
}

/// Agents in a ring. Each one answers the agent that addressed it and addresses the next. Returns how many messages they wrote before the guard
/// stopped them, and its reason. With `person_every`, a person who addresses nobody posts at that interval.
fn ring(agents: i64, seconds: i64, person_every: Option<i64>) -> (i64, Block) {
    let speaker = |n: i64| persona(&format!("agent{}", n % agents));
    let limits = GuardLimits::default();
    let mut recent = vec![line(person(), None, "agent0, talk", 0), line(speaker(0), Some(person()), &fresh(0), 1)];
    for turn in 1..1000 {
        let now = at(1 + turn * seconds);
        if person_every.is_some_and(|every| turn % every == 0) {
            let last = recent.len() - 1;
            recent.insert(last, line(person(), None, "nice weather", now.timestamp() - 1));
        }
        let verdict = check(&Exchange {
            from: &speaker(turn - 1),
            to: &format!("agent{}", turn % agents).into(),
            text: &recent[recent.len() - 1].text,
            status: false,
            recent: &recent,
            chain_turns: u32::try_from(turn).expect("small"),
            cooldown_until: None,
            halted: false,
            standup: false,
            now,
            limits: &limits,
        });
        if let Err(block) = verdict {
            return (turn, block);
        }
        recent.push(line(speaker(turn), Some(speaker(turn - 1)), &fresh(turn), now.timestamp()));
    }
    panic!("{agents} agents never stopped");
}

#[test]
fn agents_that_always_answer_end_fast_and_slow() {
    assert_eq!(ring(2, 1, None), (3, Block::PairRate));
    assert_eq!(ring(2, 300, None), (4, Block::AgentRun));
    assert_eq!(ring(5, 1, None), (4, Block::AgentRun));
    assert_eq!(ring(5, 86_400, None), (4, Block::AgentRun));
}

#[test]
fn a_person_who_chats_along_does_not_keep_a_loop_alive() {
    assert_eq!(ring(5, 300, Some(1)), (8, Block::Chain));
    assert!(ring(2, 300, Some(1)).0 <= 8);
}

proptest! {
    #[test]
    fn no_ring_writes_more_than_a_chain_allows(agents in 2..9_i64, seconds in 0..100_000_i64, person_every in prop::option::of(1..5_i64)) {
        prop_assert!(ring(agents, seconds, person_every).0 <= 8);
    }
}
