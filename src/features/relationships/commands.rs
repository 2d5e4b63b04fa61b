//! `/team relationships`.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;

use crate::features::relationships::model::{Cause, NEUTRAL, Relationship, Relationships, STRONG};
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::commands::{ArgumentSpec, CommandCall, CommandReply, CommandSpec, Registry, Services};
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub(super) struct RelationshipCommands {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) clock: SharedClock,
}

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let relationships = services.late::<RelationshipCommands>();
    registry.more_of("team", &relationships).command(
        CommandSpec::new("relationships", "Who trusts whom, where there is tension, and why.")
            .example("--persona vince")
            .argument(ArgumentSpec::persona("persona", "Only those of this persona")),
        |relationships, call| Box::pin(relationships.show(call)),
    );
}

impl RelationshipCommands {
    async fn show(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let persona = call.arguments.find_text("persona").map(|name| self.roster.resolve(name)).transpose()?;
        let known = self.store.list_relationships(self.clock.now()).await?;
        Ok(render(&known, persona, &self.roster))
    }
}

/// The strongest first.
fn render(known: &Relationships, only: Option<&Persona>, roster: &Roster) -> CommandReply {
    let now = known.now;
    let is_shown = |relationship: &&Relationship| {
        let (one, other) = &relationship.pair;
        let is_there = roster.find(one).is_some() && roster.find(other).is_some();
        is_there && only.is_none_or(|persona| *one == persona.slug || *other == persona.slug)
    };
    let mut shown: Vec<&Relationship> = known.all.iter().filter(is_shown).collect();
    shown.sort_by(|one, other| other.partiality_at(now).total_cmp(&one.partiality_at(now)));
    let text = if shown.is_empty() {
        let whose = only.map_or(String::new(), |persona| format!(" of {}", persona.name));
        format!("No relationships{whose} yet. They grow from reviews, from board meetings, and from your ratings of insights.")
    } else {
        shown.iter().map(|relationship| line(relationship, now, roster)).collect::<Vec<_>>().join("\n")
    };
    let data = shown.iter().map(|relationship| {
        json!({
            "personas": [relationship.pair.0, relationship.pair.1], "trust": round(relationship.trust_at(now)),
            "tension": round(relationship.tension_at(now)), "agreed": relationship.agreed, "disagreed": relationship.disagreed,
            "last": { "cause": relationship.last.cause.as_str(), "by": relationship.last.by, "about": relationship.last.about, "at": relationship.moved_at },
        })
    });
    CommandReply::private(text).with_data(data.collect())
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn line(relationship: &Relationship, now: chrono::DateTime<chrono::Utc>, roster: &Roster) -> String {
    let name = |slug| roster.name_of(slug).to_owned();
    let (one, other) = (name(&relationship.pair.0), name(&relationship.pair.1));
    let amount = |value: f64, what: &str| match value {
        value if value < NEUTRAL => None,
        value if value < STRONG => Some(format!("some {what}")),
        _ => Some(format!("much {what}")),
    };
    let felt = [amount(relationship.trust_at(now), "trust"), amount(relationship.tension_at(now), "tension")];
    let felt: Vec<String> = felt.into_iter().flatten().collect();
    let felt = if felt.is_empty() { "neutral".to_owned() } else { felt.join(", ") };
    let last = &relationship.last;
    let (by, with) = (name(&last.by), name(&last.with));
    let happened = match last.cause {
        Cause::Accepted => format!("{by} accepted a result of {with}"),
        Cause::Rejected => format!("{by} rejected a result of {with}"),
        Cause::Agreed => format!("{by} and {with} were on the same side of a board meeting"),
        Cause::Disagreed => format!("{by} and {with} were on different sides of a board meeting"),
        Cause::Useful => format!("what {by} noticed for {with} was rated useful"),
        Cause::NotUseful => format!("what {by} noticed for {with} was rated not useful"),
    };
    let about = last.about.as_ref().map_or(String::new(), |about| format!(" (\"{}\")", Medium::Chat.line_within(about, 80)));
    let mut text = format!("- **{one} and {other}**: {felt}. Last: {happened}{about}, {}.", roster.show_time(relationship.moved_at));
    let (agreed, all) = (relationship.agreed, relationship.agreed + relationship.disagreed);
    if all > 0 {
        let meetings = if all == 1 { "1 board meeting".to_owned() } else { format!("{all} board meetings") };
        let _ = write!(text, " On the same side in {agreed} of {meetings}.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::relationships::model::Move;
    use kernel::testing::feeds::now;
    use kernel::testing::persona::roster;

    #[test]
    fn it_is_told_in_words_with_what_moved_it_last() {
        let last = Move { cause: Cause::Rejected, by: "vince".into(), with: "solus".into(), about: Some("Compare *prices*".into()) };
        let tense = Relationship {
            pair: ("solus".into(), "vince".into()),
            trust: 0.2,
            tension: 0.6,
            agreed: 1,
            disagreed: 2,
            last,
            moved_at: now(),
        };
        let private = Move { cause: Cause::Accepted, by: "kelly".into(), with: "vince".into(), about: None };
        let faint = Relationship {
            pair: ("kelly".into(), "vince".into()),
            trust: 0.01,
            tension: 0.0,
            agreed: 0,
            disagreed: 0,
            last: private,
            ..tense.clone()
        };
        let gone = Relationship { pair: ("gone".into(), "vince".into()), ..tense.clone() };
        let known = Relationships { all: vec![gone, faint, tense], now: now() };
        let roster = roster();
        let at = roster.show_time(now());
        let told = render(&known, None, &roster).text;
        assert_eq!(
            told,
            format!(
                "- **Solus and Vince**: some trust, much tension. Last: Vince rejected a result of Solus (\"Compare \\*prices\\*\"), {at}. On the same side in \
                 1 of 3 board meetings.\n- **Kelly and Vince**: neutral. Last: Kelly accepted a result of Vince, {at}."
            )
        );
        let solus = roster.find(&"solus".into());
        assert!(!render(&known, solus, &roster).text.contains("Kelly"));
        let sentinel = roster.find(&"sentinel".into());
        assert!(render(&known, sentinel, &roster).text.starts_with("No relationships of Sentinel yet."));
    }
}
