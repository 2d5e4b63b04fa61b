//! A day of everyday situations as data: what the team knows must be in the prompt of whoever needs it.
//!
//! `tests/data/day/` has the situations, one file for each part of the day. The model answers from its prompt alone. `--nocapture` prints how many
//! situations of each kind had their facts, and the tokens of the day by purpose, so that two versions can be compared.

mod data;
mod model;
mod purpose;
mod stage;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use data::{Part, Situation};
use futures_util::future::join_all;
use purpose::Counts;
use stage::Stage;

use crate::support::team::{Backing, on_one_store};

on_one_store!(what_is_needed_is_in_the_prompt, what_nobody_gave_is_missed);

/// At least so many are played.
const SITUATIONS: usize = 60;

/// What came of a situation.
struct Seen {
    situation: Situation,
    faults: Vec<String>,
}

/// A part of the day, and its model calls.
async fn play(backing: Backing, name: &str, part: &Part) -> (Vec<Seen>, Counts) {
    let mut stage = Box::pin(Stage::open(backing, part)).await;
    let mut seen = Vec::new();
    for situation in &part.situations {
        let faults = match Box::pin(stage.play(situation)).await {
            Ok((prompt, told)) => {
                let mut faults = judge(situation, &prompt, &told);
                if !faults.is_empty() && shows_prompts() {
                    faults.push(prompt);
                }
                faults
            }
            Err(fault) => vec![fault],
        };
        println!("{name}: {}: {}", situation.name, if faults.is_empty() { "found" } else { "MISSING" });
        seen.push(Seen { situation: situation.clone(), faults });
    }
    let mut counts = Counts::default();
    stage.team.model.requests().iter().for_each(|asked| counts.add(asked));
    (seen, counts)
}

/// Whether faults are told with their prompt.
fn shows_prompts() -> bool {
    std::env::var_os("TEAMROOM_TEST_DAY_PROMPTS").is_some()
}

/// What is wrong with the prompt, and with what people were told.
fn judge(situation: &Situation, prompt: &str, told: &[String]) -> Vec<String> {
    let lacking = situation.needs.iter().filter(|fact| fact.find(prompt).is_none()).map(|fact| format!("no {:?}", fact.ways()[0]));
    let stale = situation.not.iter().filter(|words| prompt.contains(*words)).map(|words| format!("still {words:?}"));
    let said = told.iter().filter(|text| text.contains(model::LACKS)).map(|text| format!("people read {text:?}"));
    lacking.chain(stale).chain(said).collect()
}

/// How many situations of each kind had their facts.
fn table(seen: &[Seen]) -> String {
    let mut kinds = BTreeMap::<&str, (usize, usize)>::new();
    for seen in seen {
        let (found, all) = kinds.entry(&seen.situation.kind).or_default();
        *found += usize::from(seen.faults.is_empty());
        *all += 1;
    }
    kinds.iter().fold(String::new(), |mut table, (kind, (found, all))| {
        writeln!(table, "{kind:12} {found:>3} of {all:>3}").unwrap();
        table
    })
}

/// All parts at the same time.
async fn play_all(backing: Backing, parts: &[(&'static str, Part)]) -> (Vec<Seen>, Counts) {
    let played = join_all(parts.iter().map(|(name, part)| Box::pin(play(backing, name, part)))).await;
    let (mut seen, mut counts) = (Vec::new(), Counts::default());
    for (of_part, counted) in played {
        seen.extend(of_part);
        counts.join(&counted);
    }
    (seen, counts)
}

async fn what_is_needed_is_in_the_prompt(backing: Backing) {
    let (seen, counts) = play_all(backing, &data::parts()).await;
    println!("{}\n{}", table(&seen), counts.table());
    let wrong: Vec<String> = seen
        .iter()
        .filter(|seen| !seen.faults.is_empty())
        .map(|seen| format!("{}: {}", seen.situation.name, seen.faults.join("; ")))
        .collect();
    assert!(wrong.is_empty(), "{} of {} lack facts:\n{}", wrong.len(), seen.len(), wrong.join("\n"));
    assert!(std::env::var_os("TEAMROOM_TEST_DAY").is_some() || seen.len() >= SITUATIONS, "only {}", seen.len());
}

/// The day finds fault where there is one: each fact that somebody gives is missed if nobody gives it.
async fn what_nobody_gave_is_missed(backing: Backing) {
    let (seen, _) = play_all(backing, &data::parts_without_facts()).await;
    let is_missed = |seen: &&Seen| seen.faults.iter().any(|fault| fault.starts_with("no "));
    let unmissed: Vec<&str> = seen.iter().filter(|seen| !is_missed(seen)).map(|seen| seen.situation.name.as_str()).collect();
    assert!(unmissed.is_empty(), "nobody misses what was not given: {unmissed:#?}");
}
