use crate::features::backlog::Work;
use crate::features::backlog::executor::item_journal::ItemJournal;
use crate::features::backlog::executor::{Assignment, Outcome, failure};
use crate::features::backlog::model::{Claim, Owner, Product};
use kernel::agent::{Question, Reply};
use kernel::chat::message::Speaker;
use kernel::chat::text::is_subtext;
use kernel::ids::PersonaSlug;
use kernel::memory::MemorySource;
use kernel::memory::retrieval::cut;
use kernel::money::Purpose;

/// The most characters of an answer in the backlog. The journal has the whole text.
const SUMMARY: usize = 240;

impl Work {
    pub(crate) async fn ask(&self, assignment: &Assignment<'_>, whom: &Owner, question: &str) -> anyhow::Result<Outcome> {
        match whom {
            // A person is reminded and answers with a button.
            Owner::Person { .. } => self.remind(assignment).await,
            Owner::Persona(askee) => self.ask_persona(assignment, askee, question).await,
        }
    }

    async fn ask_persona(&self, assignment: &Assignment<'_>, askee: &PersonaSlug, question: &str) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.parts(), assignment.item);
        let began = deps.clock.now();
        let channel = self.find_channel(item).await?;
        let coordinator = Speaker::Persona(deps.roster.coordinator().slug.clone());
        let journal = ItemJournal::new(&deps.store, assignment);
        let request = Question {
            channel: channel.as_ref(),
            source: Some(MemorySource::WorkItem(item.id.clone())),
            journal: Some(&journal),
            ..Question::new(askee, (Purpose::Step, item.id.as_str()), &coordinator, question)
        };
        let Reply { text, model, .. } = match deps.agents.answer(&request, assignment.cancel).await {
            Ok(reply) => reply,
            Err(error) => return failure::outcome(error, journal.idle_before(began), deps.clock.now()),
        };
        let by = deps.roster.name_of(askee).to_owned();
        // The footer of a composed answer does not belong into the summary.
        let line = text.lines().filter(|line| !is_subtext(line)).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        let summary = format!("{by}: {}", cut(&line, SUMMARY));
        let at = journal.last().unwrap_or(began);
        Ok(Outcome::Made(Product { summary, claims: vec![Claim::Answer { by, text, at }], lesson: None, model }))
    }
}
