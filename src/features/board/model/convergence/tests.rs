//! Sixty transcripts with the round in which a person sees that nothing new comes (`../transcripts`).

use std::path::Path;

use serde::Deserialize;

use super::*;
use crate::features::board::model::discussion::{Given, GivenComment};
use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use kernel::money::TokenUsage;

#[derive(Deserialize)]
struct Transcript {
    name: String,
    #[serde(rename = "trait")]
    about: String,
    question: String,
    converges: Option<u32>,
    rounds: Vec<Vec<Turn>>,
}

#[derive(Deserialize)]
struct Turn {
    who: String,
    side: String,
    comments: Vec<GivenComment>,
}

impl Transcript {
    fn seats(&self) -> Vec<Seat> {
        let mut seats = Vec::new();
        for (round, turns) in (0..).zip(&self.rounds) {
            for (position, turn) in (0..).zip(turns) {
                let given =
                    Given { side: turn.side.clone(), position: turn.side.clone(), comments: turn.comments.clone(), ..Given::default() };
                let contribution = Contribution {
                    text: String::new(),
                    signals: Vec::new(),
                    model: None,
                    usage: TokenUsage::default(),
                    partial: false,
                    problems: Vec::new(),
                    details: Some(serde_json::to_value(given).unwrap()),
                };
                let seat = Seat::waiting(&"m".into(), round, position, Participant::Persona(turn.who.as_str().into()));
                seats.push(Seat { state: SeatState::Spoke, contribution: Some(contribution), ..seat });
            }
        }
        seats
    }

    /// The round after which the rule ends the meeting.
    fn find_end(&self, threshold: f64) -> Option<u32> {
        let discussion = Discussion::of(&self.question, &self.seats(), &[]);
        let last = u32::try_from(self.rounds.len()).unwrap();
        // The first round is about who agrees with whom, and has its own rule.
        (1..last).find(|round| find_end(&discussion, *round, threshold).is_some())
    }
}

fn read() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/features/board/model/transcripts");
    let number = |number: u32| std::fs::read_to_string(folder.join(format!("{number:02}.json"))).unwrap();
    (1..=10).flat_map(|part| serde_json::from_str::<Vec<Transcript>>(&number(part)).unwrap()).collect()
}

/// The most rounds that anybody would allow.
const FIXED: usize = 5;

#[test]
fn it_ends_within_one_round_of_where_nothing_new_comes() {
    let (mut right, mut halves, mut wrong, mut saved, mut calls) = (0, [0, 0], Vec::new(), 0, 0);
    for (number, transcript) in read().iter().enumerate() {
        let found = transcript.find_end(0.2);
        let last = u32::try_from(transcript.rounds.len()).unwrap() - 1;
        // A transcript that never converges must run until the last round.
        let is_right = match (found, transcript.converges) {
            (None, None) => true,
            (Some(found), Some(label)) => found.abs_diff(label) <= 1,
            (None, Some(_)) => false,
            (Some(found), None) => found == last,
        };
        if is_right {
            right += 1;
            halves[number / 6 % 2] += 1;
        } else {
            wrong.push(format!("{} ({}): {found:?}, not {:?}", transcript.name, transcript.about, transcript.converges));
        }
        let speakers = transcript.rounds[0].len();
        let rounds = found.map_or(FIXED, |round| (round as usize + 1).min(FIXED));
        (saved, calls) = (saved + speakers * (FIXED - rounds), calls + speakers * FIXED);
    }
    println!(
        "{right} of 60 right ({halves:?} of 30 in each half of the files), {saved} of {calls} calls saved against {FIXED} fixed rounds; wrong: {wrong:#?}"
    );
    assert!(right >= 54, "{right} of 60: {wrong:#?}");
    assert!(saved * 6 >= calls, "{saved} of {calls} calls saved");
}

#[test]
fn long_discussions_are_shortened_without_a_lost_number_or_dissent() {
    let mut all = read();
    all.sort_by_key(|transcript| std::cmp::Reverse(transcript.rounds.iter().flatten().map(|turn| turn.comments.len()).sum::<usize>()));
    let mut sum = (0, 0);
    for transcript in all.iter().take(10) {
        let discussion = Discussion::of(&transcript.question, &transcript.seats(), &[]);
        let compressed = crate::features::board::model::compression::compress(&discussion);
        let loss = compressed.loss;
        println!("{}: {loss:?}", transcript.name);
        assert_eq!((loss.numbers, loss.dissents), (0, 0), "{}: {loss:?}", transcript.name);
        assert_eq!(loss.comments, discussion.comments.len());
        sum = (sum.0 + loss.comments, sum.1 + loss.points);
    }
    println!("{} comments became {} points", sum.0, sum.1);
    assert!(sum.1 < sum.0);
}

fn given(side: &str, comments: &[(&str, &str)]) -> Given {
    let comment = |(kind, text): &(&str, &str)| serde_json::from_value(serde_json::json!({"kind": kind, "text": text})).unwrap();
    Given { side: side.to_owned(), position: side.to_owned(), comments: comments.iter().map(comment).collect(), ..Given::default() }
}

fn seat(round: u32, position: u32, who: &str, given: &Given) -> Seat {
    let transcript = Transcript {
        name: String::new(),
        about: String::new(),
        question: String::new(),
        converges: None,
        rounds: vec![vec![Turn { who: who.to_owned(), side: given.side.clone(), comments: given.comments.clone() }]],
    };
    Seat { round, position, ..transcript.seats().remove(0) }
}

#[test]
fn who_agree_independently_and_leave_nothing_open_are_done_after_one_round() {
    let end = |seats: &[Seat]| find_end(&Discussion::of("Should we move?", seats, &[]), 0, 0.2);
    let plain = given("yes", &[("detail", "The lease of the old office ends in March anyway.")]);
    assert_eq!(end(&[seat(0, 0, "vince", &plain), seat(0, 1, "echo", &plain)]), Some(Ending::Agreed));
    let risky = given("yes", &[("risk", "Nobody has asked the landlord about the second floor yet.")]);
    assert_eq!(end(&[seat(0, 0, "vince", &plain), seat(0, 1, "echo", &risky)]), None);
    assert_eq!(end(&[seat(0, 0, "vince", &plain), seat(0, 1, "echo", &given("no", &[]))]), None);
    // One answer alone is no agreement. No answer at all is a reason of its own.
    assert_eq!(end(&[seat(0, 0, "vince", &plain)]), None);
    assert_eq!(end(&[]), Some(Ending::Silent));
}

#[test]
fn once_all_are_on_one_side_a_round_without_a_new_comment_ends_it() {
    let (yes, no) = (given("yes", &[("detail", "The lease of the old office ends in March anyway.")]), given("no", &[]));
    let first = [seat(0, 0, "vince", &yes), seat(0, 1, "echo", &no)];
    let end = |vince: &[(&str, &str)], side: &str| {
        let second = [seat(1, 0, "vince", &given("yes", vince)), seat(1, 1, "echo", &given(side, &[]))];
        find_end(&Discussion::of("Should we move?", &[first.to_vec(), second.to_vec()].concat(), &[]), 1, 0.2)
    };
    assert_eq!(end(&[], "Yes"), Some(Ending::United));
    assert_eq!(end(&[("detail", "The landlord of the new building takes dogs and bicycles.")], "Yes"), None);
    assert_eq!(end(&[], "wait a year"), None, "it moved, but not to the same side");
}

#[test]
fn a_changed_side_keeps_it_going_and_a_calm_round_ends_it() {
    let (yes, no) = (given("yes", &[("detail", "The lease of the old office ends in March anyway.")]), given("no", &[]));
    let mut seats = vec![
        seat(0, 0, "vince", &yes),
        seat(0, 1, "echo", &no),
        seat(0, 2, "solus", &no),
        seat(1, 0, "vince", &given("yes", &[])),
        seat(1, 1, "echo", &given("Yes", &[])),
        seat(1, 2, "solus", &no),
    ];
    let end = |seats: &[Seat], round| find_end(&Discussion::of("Should we move?", seats, &[]), round, 0.2);
    assert_eq!(end(&seats, 1), None);
    seats.extend([
        seat(2, 0, "vince", &given("yes", &[("support", "Thanks, Echo, for saying so.")])),
        seat(2, 1, "echo", &given("yes", &[])),
        seat(2, 2, "solus", &no),
    ]);
    assert_eq!(end(&seats, 2), Some(Ending::Converged));
}
