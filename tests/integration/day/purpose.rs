//! What a model call is for, and how many tokens such calls take.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::support::model::Asked;

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    Chat,
    ForWhom,
    Claims,
    Prepare,
    Questions,
    Work,
    Critique,
    Review,
    AnswerCheck,
    Amendment,
    Classify,
    Understand,
    Plan,
    Feasible,
    Wish,
    Change,
    Replan,
    Colleague,
    Restate,
    Turn,
    Document,
    Report,
    Call,
    Conclude,
    Look,
    Span,
    Other,
}

/// Words of the prompts, those of one purpose only.
const WORDS: [(&str, Purpose); 24] = [
    ("You prepare a task of a team", Purpose::Prepare),
    ("You are about to find something out", Purpose::Questions),
    ("You are about to hand in a work item", Purpose::Critique),
    ("and you judge what came of it", Purpose::Review),
    ("and you judge what they give together", Purpose::Review),
    ("You judge whether a reply answers a question", Purpose::AnswerCheck),
    ("Draft what", Purpose::Amendment),
    ("You say whether the author of the last message wants", Purpose::ForWhom),
    ("Somebody writes to a team of AI colleagues", Purpose::Classify),
    ("Before it is planned, say what it is about", Purpose::Understand),
    ("Plan a mission for the team", Purpose::Plan),
    ("List in `doubts` only steps", Purpose::Feasible),
    ("Somebody writes in the thread of a mission", Purpose::Wish),
    ("A mission is under way", Purpose::Change),
    ("A step of a mission could not be done", Purpose::Replan),
    ("works on a step of a mission, and asks you", Purpose::Colleague),
    ("A team is about to discuss a question", Purpose::Restate),
    ("take part in a board meeting", Purpose::Turn),
    ("A board meeting is over", Purpose::Document),
    ("it is your turn", Purpose::Report),
    ("you make the call", Purpose::Call),
    ("you conclude it", Purpose::Conclude),
    ("Look at the whole run", Purpose::Look),
    ("You summarise a stretch", Purpose::Span),
];

impl Purpose {
    pub(super) fn of(asked: &Asked) -> Self {
        if asked.tools.iter().any(|tool| tool == "finish") {
            return Self::Work;
        }
        let schema = asked.schema.as_ref().map(ToString::to_string);
        if schema.as_ref().is_some_and(|schema| schema.contains("\"acts\"")) {
            return Self::Claims;
        }
        // What people said may have such words too, but later.
        let (first, text) = (asked.messages.first().map_or("", |said| &said.text), &asked.system);
        let found = WORDS.into_iter().filter_map(|(words, purpose)| Some((first.find(words).or(text.find(words))?, purpose)));
        match found.min_by_key(|(at, _)| *at) {
            Some((_, purpose)) => purpose,
            None if schema.is_none() => Self::Chat,
            None => Self::Other,
        }
    }
}

/// Calls and estimated tokens of prompts.
#[derive(Default, Clone, Copy)]
struct Count {
    calls: usize,
    system: usize,
    tools: usize,
    schema: usize,
    rest: usize,
}

impl Count {
    fn join(&mut self, other: &Self) {
        self.calls += other.calls;
        self.system += other.system;
        self.tools += other.tools;
        self.schema += other.schema;
        self.rest += other.rest;
    }
}

#[derive(Default)]
pub(super) struct Counts(BTreeMap<Purpose, Count>);

impl Counts {
    pub(super) fn add(&mut self, asked: &Asked) {
        let count = self.0.entry(Purpose::of(asked)).or_default();
        let tokens = |text: &str| text.len().div_ceil(4);
        count.calls += 1;
        count.system += tokens(&asked.system);
        count.tools += asked.body.get("tools").map_or(0, |tools| tokens(&tools.to_string()));
        count.schema += asked.body.get("response_format").map_or(0, |format| tokens(&format.to_string()));
        count.rest += asked.messages.iter().map(|said| tokens(&said.text)).sum::<usize>();
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (purpose, count) in &other.0 {
            self.0.entry(*purpose).or_default().join(count);
        }
    }

    pub(super) fn table(&self) -> String {
        let mut table =
            format!("{:12} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "purpose", "calls", "tokens", "system", "tools", "schema", "rest");
        let mut line = |name: &str, count: &Count| {
            let Count { calls, system, tools, schema, rest } = *count;
            let all = system + tools + schema + rest;
            writeln!(table, "{name:12} {calls:>5} {all:>8} {system:>8} {tools:>8} {schema:>8} {rest:>8}").unwrap();
        };
        let mut sum = Count::default();
        for (purpose, count) in &self.0 {
            line(&format!("{purpose:?}"), count);
            sum.join(count);
        }
        line("all", &sum);
        table
    }
}
