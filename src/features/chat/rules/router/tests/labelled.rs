//! Messages as people really write them. Somebody who had not read the rules labelled each one with who should answer it.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde::Deserialize;

use crate::features::chat::model::talk::{Answered, RecentTalk, Said};
use crate::features::chat::rules::router::tests::*;
use kernel::chat::message::ReplyTo;
use kernel::ids::UserId;
use kernel::text::capital;

const SET: &str = include_str!("labelled.jsonl");

/// The team in the labelled messages. Oracle is called Orakel on the server.
const TEAM: [(&str, &str); 7] =
    [("kelly", ""), ("vince", "v"), ("eliza", ""), ("echo", "big ear"), ("oracle", ""), ("solus", ""), ("sentinel", "")];

/// The least share of right decisions. Besides, messages between people must never be answered.
const RIGHT: f64 = 0.97;

#[derive(Deserialize)]
struct Message {
    topic: String,
    text: String,
    place: String,
    before: Vec<Before>,
    reply_to: Option<String>,
    /// Who answers. A bar separates answers that are equally right.
    expect: String,
}

#[derive(Deserialize)]
struct Before {
    who: String,
    ago: i64,
    text: String,
    to: Option<String>,
}

fn is_persona(name: &str) -> bool {
    TEAM.iter().any(|(slug, _)| *slug == name)
}

fn account(name: &str) -> UserId {
    UserId::on("discord", name)
}

impl Message {
    fn case(&self) -> Case {
        let mut text = self.text.clone();
        for (slug, _) in TEAM {
            text = text.replace(&format!("<@&{slug}>"), &format!("<user:discord:{slug}>"));
        }
        let text = text.replace("<@sofía>", "<@sofia>").replace("<@wei zhang>", "<@wei>").replace("<@", "<user:discord:");
        Case::says(&text).with(|case| {
            let personas = TEAM.map(|(slug, alias)| sample::persona(slug, &capital(slug), alias));
            case.roster = Roster::new(personas.into()).unwrap();
            case.accounts = Accounts::default();
            for (slug, _) in TEAM {
                case.accounts.record(account(slug), slug.into());
            }
            case.accounts.record_nickname("oracle".into(), Some("Orakel".to_owned()));
            case.people = ["Bob Miller", "Carla", "Deniz", "Priya", "Wei Zhang", "Omar", "Sofía", "Ann"].map(str::to_owned).into();
            case.message.author.id = account("ann");
            let now = case.message.sent_at;
            let said: Vec<Said> = self.before.iter().map(|before| before.said(now)).collect();
            case.recent = RecentTalk::before(&said, &account("ann"), now);
            case.replied_to = self.reply_to.as_deref().filter(|name| is_persona(name)).map(PersonaSlug::new);
            case.message.reply_to = self.reply_to.as_deref().map(|name| ReplyTo { message: "2".into(), author: Some(account(name)) });
            self.place(case);
        })
    }

    fn place(&self, case: &mut Case) {
        match self.place.split_once(':') {
            Some(("dm", persona)) => {
                case.message.channel.place = Place::Direct;
                case.message.seen_by = persona.into();
                case.settings.direct_messages = true;
            }
            Some(("thread", of)) => {
                case.message.channel.place =
                    Place::Thread { parent: "3".into(), parent_name: "general".into(), owner: None, starter: Some("2".into()) };
                case.thread = Some(if is_persona(of) { ThreadOf::Persona(of.into()) } else { ThreadOf::Person });
            }
            _ if self.place == "standup" => case.kind = ChannelKind::Standup,
            _ => {}
        }
    }
}

impl Before {
    /// A persona's message counts as its answer to a person's message.
    fn said(&self, now: DateTime<Utc>) -> Said {
        let at = now - TimeDelta::seconds(self.ago);
        if is_persona(&self.who) {
            let by = account(self.to.as_deref().unwrap_or("nobody"));
            return Said {
                by,
                at,
                among_people: false,
                names_author: false,
                answer: Some(Answered { by: self.who.as_str().into(), at, asks: self.text.contains('?') }),
            };
        }
        let names_author =
            self.text.contains("<@ann>") || self.text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == "ann");
        Said { by: account(&self.who), at, among_people: self.to.is_none(), names_author, answer: None }
    }
}

#[test]
fn nearly_all_of_what_people_write_goes_to_whom_it_is_for_and_their_talk_is_left_alone() {
    let messages: Vec<Message> = SET.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut intrusions = Vec::new();
    for message in &messages {
        let decision = message.case().route();
        let answer = decision.responders.iter().map(PersonaSlug::as_str).collect::<Vec<_>>().join(" ");
        let is_right = message.expect.split('|').any(|expected| match expected {
            "stop" => decision.reason == Reason::Stop,
            "nobody" => answer.is_empty() && decision.reason != Reason::Stop,
            // The phrase is for another feature, so the persona that would answer otherwise does not matter.
            "standup" => decision.reason != Reason::ForOthers,
            expected => answer == expected,
        });
        if !is_right {
            let line = format!("{:?} → {answer:?} ({:?}), not {}", message.text, decision.reason, message.expect);
            if message.topic == "people" && !answer.is_empty() {
                intrusions.push(line.clone());
            }
            wrong.entry(&message.topic).or_default().push(line);
        }
    }
    let count: usize = wrong.values().map(Vec::len).sum();
    #[expect(clippy::cast_precision_loss, reason = "some hundred messages")]
    let right = 1.0 - count as f64 / messages.len() as f64;
    println!("{count} of {} wrong", messages.len());
    assert!(
        right >= RIGHT && intrusions.is_empty(),
        "{:.1} % right, into people's talk: {intrusions:#?}, wrong: {wrong:#?}",
        right * 100.0
    );
}
