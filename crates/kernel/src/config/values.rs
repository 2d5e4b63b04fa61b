use chrono_tz::Tz;

use super::{Given, Setting as _, choice, setting};
use crate::chat::message::ChannelKind;
use crate::feeds::condition::Comparison;
use crate::ids::{PersonaSlug, UserId};

choice!(ChannelKind {
    "chat" => Self::Chat,
    "standup" => Self::Standup,
    "knowledge" => Self::Knowledge,
    "work" => Self::Work,
    "ops" => Self::Ops,
    "ignore" => Self::Ignore,
});

choice!(Comparison {
    ">" => Self::Above,
    ">=" => Self::AtLeast,
    "<" => Self::Below,
    "<=" => Self::AtMost,
    "==" => Self::Equals,
});

setting! {
    PersonaSlug: "a persona by the name of its file",
        |given| String::parse(given).map(|slug| Self::new(slug.trim_end_matches(".md").to_lowercase())), |slug| format!("{:?}", slug.as_str());
    // A person with an account: `Ann:80351110224678912` or `Ann:discord:80351110224678912`.
    (String, UserId): "a person as \"name:account id\"", parse_person, |(name, id)| format!("\"{name}:{id}\"");
    Tz: "an IANA time zone such as \"Europe/Berlin\"", |given| String::parse(given)?.trim().parse().ok(), |zone| format!("{:?}", zone.name());
}

fn parse_person(given: &Given) -> Option<(String, UserId)> {
    let text = String::parse(given)?;
    let is_platform = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let (before, _) = text.rsplit_once(':')?;
    let (name, _) = before.rsplit_once(':').filter(|(_, word)| is_platform(word)).unwrap_or((before, ""));
    let id = &text[name.len() + 1..];
    let name = String::parse(&Given::Text(name.to_owned()))?;
    UserId::parse(&Given::Text(id.to_owned())).map(|id| (name, id))
}
