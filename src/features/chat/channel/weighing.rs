//! Asks a cheap model whether a message wants an answer, and of whom, where the rules cannot tell. The number of questions a day is limited, and no
//! model is asked about messages that are clearly between people. If the model fails or takes too long, the decision of the rules stays: nobody
//! answers, or the persona that has just answered.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::chat::Conversation;
use crate::features::chat::model::decision::{Decision, Reason};
use kernel::agent::context::{Cleaner, flat_name, new_marker};
use kernel::agent::prompt::Template;
use kernel::agent::{Prompt, Run, RunError};
use kernel::chat::message::{InboundMessage, Speaker, Spoken};
use kernel::db::{StoreError, sql};
use kernel::ids::{ChainId, PersonaSlug};
use kernel::money::Purpose;
use kernel::persona::{Persona, Tier};

use crate::store::Store;

static PROMPT: Template = Template::new(include_str!("../prompts/for_whom.md.j2"));

/// How long a quick model may think about it.
const LIMIT: Duration = Duration::from_secs(8);

const OUTPUT_TOKENS: u32 = 200;

/// The most lines of what was said before, and the most characters of each and of the message.
const LINES: u32 = 8;
const LINE: usize = 200;
const TEXT: usize = 1500;

/// The most characters of the reason that is stored.
const WHY: usize = 160;

/// What the model says.
#[derive(Debug, Deserialize, JsonSchema)]
struct ForWhom {
    /// Whether the author wants an answer or an action of an assistant.
    wants_an_assistant: bool,
    /// Which assistant, if their fields are given.
    #[serde(default)]
    assistant: String,
    /// Why, in a few words.
    why: String,
}

#[derive(Serialize)]
struct Asked<'a> {
    marker: &'a str,
    place: String,
    team: Vec<&'a str>,
    candidate: Option<&'a str>,
    /// Who knows what, if the message may be for another assistant than the candidate.
    fields: Vec<Field<'a>>,
    lines: Vec<String>,
    author: String,
    text: String,
}

#[derive(Serialize)]
struct Field<'a> {
    name: &'a str,
    role: &'a str,
    expertise: String,
}

fn field_of(persona: &Persona) -> Field<'_> {
    Field { name: &persona.name, role: &persona.role, expertise: persona.expertise.join(", ") }
}

impl Conversation {
    /// Decides on a message about which the rules are unsure, with the model's reason. Leaves any other decision as it is.
    pub(super) async fn weigh(&self, message: &InboundMessage, decision: Decision) -> Decision {
        let Some(candidate) = decision.unsure.clone() else { return decision };
        match self.ask_for_whom(message, &candidate, decision.rival.as_ref()).await {
            Ok(Some(ForWhom { wants_an_assistant, assistant, why })) => {
                let because = Some(kernel::text::flatten(&why, WHY));
                metrics::counter!("teamroom_unsure_messages_total", "wants" => if wants_an_assistant { "yes" } else { "no" }).increment(1);
                let goes_on = decision.reason == Reason::FollowUp;
                // Any of the team may be named, if there is a doubt.
                let named = decision.rival.and_then(|_| self.deps().roster.find_named(&assistant));
                let other = named.map(|persona| persona.slug.clone()).filter(|slug| *slug != candidate);
                let decided = match other {
                    _ if !wants_an_assistant => Decision::nobody(if goes_on { Reason::Silence } else { decision.reason }),
                    Some(other) => Decision::one(other, Reason::Weighed),
                    None => Decision::one(candidate, if goes_on { Reason::FollowUp } else { Reason::Weighed }),
                };
                Decision { because, ..decided }
            }
            Ok(None) => Decision { unsure: None, ..decision },
            Err(error) => {
                tracing::warn!(id = %message.id, %error, "whom a message is for could not be asked");
                Decision { unsure: None, ..decision }
            }
        }
    }

    /// None if no model may be asked, or if it took too long.
    async fn ask_for_whom(
        &self,
        message: &InboundMessage,
        candidate: &PersonaSlug,
        rival: Option<&PersonaSlug>,
    ) -> Result<Option<ForWhom>, RunError> {
        let deps = self.deps();
        let most = deps.chat.unsure_per_day;
        if most == 0 || deps.agents.is_offline() || self.inner.halts.is_paused(candidate) {
            return Ok(None);
        }
        let now = deps.clock.now();
        let midnight = now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc();
        if deps.store.count_weighed_since(midnight).await? >= most {
            return Ok(None);
        }
        let lines = deps.store.list_spoken(&message.channel.id, LINES + 1).await?;
        let prompt = self.render_for_whom(message, candidate, rival, &lines);
        let cancel = deps.stop.child_token();
        let mut run = Box::pin(deps.agents.run_structured::<ForWhom>(Run {
            persona: None,
            purpose: Purpose::Routing,
            subject: message.id.as_str(),
            tier: Tier::T1,
            allowance: Some(self.allowance(&ChainId::new(message.id.as_str()), 0)),
            pictures: Vec::new(),
            prompt: Box::pin(std::future::ready(Ok(prompt))),
            max_output_tokens: OUTPUT_TOKENS,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel: &cancel,
        }));
        let limit = deps.agents.runner.models.limit((Tier::T1, Purpose::Routing), LIMIT);
        let asked = tokio::select! {
            asked = &mut run => asked,
            () = deps.clock.sleep(limit) => {
                // Cancelled instead of dropped, so that the call is settled.
                cancel.cancel();
                run.await
            }
        };
        match asked {
            Ok(asked) => Ok(Some(asked.value)),
            Err(RunError::Cancelled) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn render_for_whom(&self, message: &InboundMessage, candidate: &PersonaSlug, rival: Option<&PersonaSlug>, lines: &[Spoken]) -> Prompt {
        let roster = &self.deps().roster;
        let marker = new_marker();
        let cleaner = Cleaner { marker: &marker };
        let name = |speaker: &Speaker| match speaker {
            Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => flat_name(name),
            Speaker::Persona(slug) => format!("assistant {}", flat_name(roster.name_of(slug))),
        };
        let before = lines.iter().filter(|line| line.message.as_ref() != Some(&message.id));
        let asked = Asked {
            marker: &marker,
            place: flat_name(&message.channel.name),
            team: roster.personas().iter().map(|persona| persona.name.as_str()).collect(),
            candidate: (rival.is_some() || *candidate != roster.coordinator().slug).then(|| roster.name_of(candidate)),
            fields: if rival.is_some() { roster.personas().iter().map(field_of).collect() } else { Vec::new() },
            lines: before.map(|line| format!("{}: {}", name(&line.speaker), cleaner.line(&line.text, LINE))).collect(),
            author: flat_name(&message.author.name),
            text: cleaner.text(&message.text, TEXT),
        };
        Prompt { system: String::new(), message: PROMPT.render(asked), holds_outside: true, remarks: Vec::new() }
    }
}

impl Store {
    /// The number of calls since `since` that asked whom a message is for.
    async fn count_weighed_since(&self, since: chrono::DateTime<chrono::Utc>) -> Result<u32, StoreError> {
        let (count,): (i64,) =
            sql!(self.db().read(), fetch_one, "SELECT COUNT(*) FROM ledger WHERE at >= $1 AND purpose = 'routing'", since)?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}
