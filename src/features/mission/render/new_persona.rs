//! What people are told about roles that nobody fills, and about personas that are drafted for them.

use std::path::Path;

use super::{TITLE, say, sentence, text_file};
use crate::features::mission::button::{Choice, MissionButton};
use crate::features::mission::model::Mission;
use crate::features::mission::model::new_persona::{NewPersona, NewPersonaStatus};
use crate::features::mission::model::plan::{MissingRole, Plan, Step};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, OutboundMessage};
use kernel::persona::add::{AddError, Added};
use kernel::persona::roster::Roster;
use kernel::text::join_with_and;

/// "Nobody on the team is a designer. I have drafted one: Dana."
pub(in crate::features::mission) fn missing(role: &MissingRole) -> String {
    let drafted = match &role.persona {
        None => String::new(),
        Some(persona) if persona.status == NewPersonaStatus::Approved => {
            format!(" I have drafted one, who joins the team now: {}.", persona.name)
        }
        Some(persona) => format!(" I have drafted one: {}.", persona.name),
    };
    format!("Nobody on the team is {}.{drafted}", with_article(role))
}

/// One line, for the warnings of the plan.
pub(in crate::features::mission) fn not_drafted(role: &MissingRole, faults: &[String]) -> String {
    format!("I could not draft {}: {}", with_article(role), faults.join("; "))
}

/// The drafted personas, each with its file. Those that are not added at once have buttons.
pub(in crate::features::mission) fn new_personas(mission: &Mission, plan: &Plan, roster: &Roster) -> Vec<OutboundMessage> {
    let drafted = plan.missing.iter().enumerate().filter_map(|(number, role)| Some((number, role, role.persona.as_ref()?)));
    drafted.map(|(number, role, persona)| new_persona(mission, plan, (number, role, persona), roster)).collect()
}

fn new_persona(
    mission: &Mission,
    plan: &Plan,
    (number, role, persona): (usize, &MissingRole, &NewPersona),
    roster: &Roster,
) -> OutboundMessage {
    let name = &persona.name;
    let is_asked = persona.status == NewPersonaStatus::Proposed;
    let steps: Vec<&Step> = role.steps.iter().filter_map(|step| plan.find_step(step)).collect();
    let mut owners: Vec<&str> = steps.iter().map(|step| roster.name_of(&step.owner)).collect();
    owners.sort_unstable();
    owners.dedup();
    let text = format!(
        "**{name}** {} the team as {}. {} {name} is good at {}, and takes over {}, which {} until then. {}",
        if is_asked { "could join" } else { "joins" },
        line(&role.role),
        sentence(&line(&role.why)),
        join_with_and(&role.good_at.iter().map(|subject| line(subject)).collect::<Vec<_>>()),
        quoted(steps.iter().map(|step| step.title.as_str())),
        format_args!("{} {}", join_with_and(&owners), if owners.len() == 1 { "does" } else { "do" }),
        if is_asked {
            "The attached file is all that makes the persona. Shall I add it? An operator decides.".to_owned()
        } else {
            format!("The attached file is all that makes the persona; without `personas/{}.md` it is gone again.", persona.slug)
        }
    );
    let message = OutboundMessage { id: mission.message_id(&format!("persona-{number}")), ..say(mission, roster, text) };
    with_file(message, mission, number, persona, is_asked)
}

fn with_file(message: OutboundMessage, mission: &Mission, number: usize, persona: &NewPersona, is_asked: bool) -> OutboundMessage {
    let mut message = message;
    message.files.push(text_file(&format!("{}.md", persona.slug), persona.file.clone()));
    if is_asked {
        let button = |adds, label: String| Button { label, ..MissionButton::of(Choice::Persona { number, adds }, &mission.id).render() };
        message.buttons = vec![button(true, format!("Add {} to the team", persona.name)), button(false, "No".to_owned())];
    }
    message
}

/// Reports what somebody has decided.
pub(in crate::features::mission) fn persona_answered(persona: &NewPersona, adds: bool, who: &str) -> String {
    let who = Medium::Chat.line_within(who, 40);
    if adds {
        format!("{who} adds {} to the team.", persona.name)
    } else {
        format!("{who} said no: {} does not join, and the plan stays as it is.", persona.name)
    }
}

/// Why there is nothing to decide.
pub(in crate::features::mission) fn persona_decided(persona: &NewPersona) -> String {
    let name = &persona.name;
    let by = persona.decided_by.as_ref().map_or(String::new(), |by| format!(" by {}", Medium::Chat.line_within(by, 40)));
    match persona.status {
        NewPersonaStatus::Declined => format!("This was decided already{by}: {name} does not join."),
        NewPersonaStatus::Joined => format!("{name} is on the team already."),
        _ => format!("This was decided already{by}: {name} joins the team."),
    }
}

pub(in crate::features::mission) fn persona_written(
    mission: &Mission,
    persona: &NewPersona,
    added: &Added,
    roster: &Roster,
) -> OutboundMessage {
    let built_in = if added.with_built_in { " The rest of the team, which was built in until now, has its files there too." } else { "" };
    let text = format!(
        "{} has a file now: `{}`.{built_in} The team takes it over in a few seconds.",
        persona.name,
        in_folder(&added.path).display()
    );
    say(mission, roster, text)
}

pub(in crate::features::mission) fn persona_not_written(
    mission: &Mission,
    number: usize,
    persona: &NewPersona,
    error: &AddError,
    roster: &Roster,
) -> OutboundMessage {
    let name = &persona.name;
    let text = format!(
        "{name} has not joined: {}. When that is solved, add {name} again, or put the attached file into the folder of the personas yourself.",
        Medium::Chat.line_within(&error.to_string(), 300)
    );
    with_file(say(mission, roster, text), mission, number, persona, true)
}

/// `taken`: the titles of the steps that the new persona takes over.
pub(in crate::features::mission) fn persona_joined(
    mission: &Mission,
    role: &MissingRole,
    persona: &NewPersona,
    taken: &[String],
    roster: &Roster,
) -> OutboundMessage {
    let effect = if taken.is_empty() {
        "The steps for this role have begun or are done, so the plan stays as it is.".to_owned()
    } else {
        format!("{} takes over {}.", persona.name, quoted(taken.iter().map(String::as_str)))
    };
    say(mission, roster, format!("{} has joined the team as {}. {effect}", persona.name, line(&role.role)))
}

fn line(text: &str) -> String {
    Medium::Chat.line_within(text, 200)
}

fn quoted<'a>(titles: impl Iterator<Item = &'a str>) -> String {
    join_with_and(&titles.map(|title| format!("\"{}\"", Medium::Chat.line_within(title, TITLE))).collect::<Vec<_>>())
}

fn with_article(role: &MissingRole) -> String {
    let article = if role.role.to_lowercase().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {}", line(&role.role))
}

/// The file name with its folder.
fn in_folder(path: &Path) -> &Path {
    path.parent().and_then(Path::parent).and_then(|above| path.strip_prefix(above).ok()).unwrap_or(path)
}
