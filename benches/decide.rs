//! Benchmarks a routing decision: `cargo bench --bench decide`. Targets: router and guard under 20 µs per message, splitting 100 kB under 1
//! ms.

use std::collections::BTreeMap;
use std::hint::black_box;

use chrono::{DateTime, TimeDelta};
use divan::Bencher;
use kernel::chat::message::{Author, AuthorKind, Channel, ChannelKind, InboundMessage, Place, Speaker, Spoken};
use kernel::chat::redact::Redactor;
use kernel::chat::split::split;
use kernel::persona::roster::{Accounts, Roster};
use kernel::persona::{Persona, StandupRole, Tier, Voice};
use secrecy::SecretString;
use teamroom::features::chat::rules::{guard, router};
use teamroom::features::chat::settings::{ChatSettings, FallbackAnswer, GuardLimits};

const NAMES: [&str; 8] = ["Kelly", "Vince", "Eliza", "Echo", "Oracle", "Solus", "Sentinel", "Clio"];

/// A typical message of about 300 characters.
const TALK: &str = "I had a look at the numbers of last week and they do not fit what the report says: the costs went up by four percent, \
    while the traffic went down. Vince told me that the cache was cold after the deployment on Monday, but then the effect should be gone by \
    Tuesday. Could somebody have a second look at it?";

fn main() {
    divan::main();
}

#[divan::bench(args = ["mention", "names", "nobody", "ask", "long", "list"])]
fn route(bencher: Bencher<'_, '_>, case: &str) {
    let text = match case {
        "mention" => format!("<user:discord:106> {TALK}"),
        "names" => format!("hey Vince and Solus: {TALK}"),
        "ask" => "kelly, could you ask vince what he thinks about our costs?".to_owned(),
        "list" => format!("what do you think, {}vince?", "vince, solus, ".repeat(140)),
        "long" => TALK.repeat(7).chars().take(2000).collect(),
        _ => TALK.to_owned(),
    };
    let (message, roster, accounts, settings) = (message(text), roster(), accounts(), ChatSettings::default());
    let people: Vec<String> = (0..200).map(|n| format!("Person{n} Family{n}")).collect();
    let arrival = router::Arrival {
        message: &message,
        kind: ChannelKind::Chat,
        binding: None,
        fallback: FallbackAnswer::WhenAddressed,
        halted: false,
        is_command: false,
        is_offline: false,
        replied_to: None,
        replied_for: None,
        thread: None,
        voices: &[],
        roster: &roster,
        accounts: &accounts,
        settings: &settings,
        talk: router::Talk { people: &people, recent: None },
        now: message.sent_at,
    };
    bencher.bench_local(|| router::route(black_box(&arrival)));
}

#[divan::bench]
fn check(bencher: Bencher<'_, '_>) {
    let speaker = |name: &str| Speaker::Persona(name.into());
    let mut recent: Vec<Spoken> = (0..18)
        .map(|n| Spoken {
            message: None,
            speaker: speaker(["kelly", "eliza", "echo"][n % 3]),
            answers: None,
            text: format!("{n} {TALK}").replace("costs", ["sales", "hopes", "fears"][n % 3]).replace(' ', &format!(" {n}")),
            at: DateTime::UNIX_EPOCH,
            in_meeting: false,
        })
        .collect();
    let person = Speaker::Person { id: "9".into(), name: "Ann".into() };
    recent.push(Spoken {
        message: None,
        speaker: person,
        answers: None,
        text: "go on".into(),
        at: DateTime::UNIX_EPOCH,
        in_meeting: false,
    });
    recent.push(Spoken {
        message: None,
        speaker: speaker("vince"),
        answers: None,
        text: TALK.into(),
        at: DateTime::UNIX_EPOCH,
        in_meeting: false,
    });
    let (from, to, limits) = (speaker("vince"), "solus".into(), GuardLimits::default());
    let exchange = guard::Exchange {
        from: &from,
        to: &to,
        text: TALK,
        status: false,
        recent: &recent,
        chain_turns: 1,
        cooldown_until: None,
        halted: false,
        standup: false,
        now: DateTime::UNIX_EPOCH + TimeDelta::minutes(5),
        limits: &limits,
    };
    assert_eq!(guard::check(&exchange), Ok(()), "the bench is to take the longest way");
    bencher.bench_local(|| guard::check(black_box(&exchange)));
}

#[divan::bench(args = ["prose", "code", "accents", "no_blanks"])]
fn split_100_kb(bencher: Bencher<'_, '_>, case: &str) {
    let unit = match case {
        "prose" => format!("{TALK}\n\n"),
        "code" => "Look:\n```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n".to_owned(),
        "accents" => "Äpfel, Öl und Übermut: größer als süß. ".to_owned(),
        _ => "x".to_owned(),
    };
    let text = unit.repeat(100_000 / unit.len());
    bencher.bench_local(|| split(black_box(&text), 2000));
}

#[divan::bench]
fn redact_a_message(bencher: Bencher<'_, '_>) {
    let secrets: Vec<SecretString> = (0..10).map(|n| SecretString::from(format!("a-known-secret-value-number-{n}"))).collect();
    let (redactor, text) = (Redactor::new(&secrets), TALK.repeat(6));
    bencher.bench_local(|| redactor.redact(black_box(&text)).1);
}

fn message(text: String) -> InboundMessage {
    InboundMessage {
        id: "1".into(),
        channel: Channel { id: "7".into(), name: "general".into(), place: Place::Server, private: false, shared: false },
        author: Author { id: "9".into(), name: "Ann".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() },
        text,
        mentions: Vec::new(),
        reply_to: None,
        attachments: Vec::new(),
        sent_at: DateTime::UNIX_EPOCH,
        seen_by: "kelly".into(),
        complete: true,
    }
}

fn roster() -> Roster {
    let personas = NAMES.map(|name| Persona {
        slug: name.to_lowercase().into(),
        name: name.to_owned(),
        aliases: vec![format!("{name}bot")],
        role: String::new(),
        expertise: Vec::new(),
        color: 0,
        avatar: None,
        tier: Tier::T1,
        coordinator: name == "Kelly",
        tools: Vec::new(),
        feeds: Vec::new(),
        channels: BTreeMap::new(),
        standup: StandupRole { role: String::new(), cap: 800, duty: None },
        voice: Voice::of(&name.to_lowercase()),
        prompt: String::new(),
    });
    Roster::new(personas.into()).expect("a roster of eight")
}

fn accounts() -> Accounts {
    let mut accounts = Accounts::default();
    for (id, name) in (101..).zip(NAMES) {
        accounts.record(id.to_string().into(), name.to_lowercase().into());
    }
    accounts
}
