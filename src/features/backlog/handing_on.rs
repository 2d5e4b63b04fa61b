//! Hands a question on that its persona could not answer: once to another persona with matching expertise, then to a person.

use crate::features::backlog::Work;
use crate::features::backlog::expertise::find_fitting;
use crate::features::backlog::model::{Execution, NoAnswer, Owner, Wait, WorkItem, WorkStatus, name_of_helper};
use crate::features::backlog::store::End;
use kernel::agent::AnswerVerdict;
use kernel::agent::halts::HaltScope;
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::Query;
use kernel::people::Directory;
use kernel::persona::roster::Roster;

/// The most personas that are asked.
const ASKED: usize = 2;

impl Work {
    /// Decides how the run of a question ends after its persona gave no answer. The run is never done.
    pub(super) async fn hand_on(&self, item: &WorkItem, reply: NoAnswer) -> Result<End, StoreError> {
        let roster = &self.deps().roster;
        let Some(Execution::Ask { whom, question, unanswered }) = item.execution.clone() else {
            return Ok(End::Failed { why: "nobody was asked".into(), memory: None });
        };
        let why = describe(&reply, roster);
        let mut unanswered = unanswered;
        unanswered.push(reply);
        // A question back is for the person who asked, and not for a colleague.
        let asks_back = unanswered.last().is_some_and(|reply| reply.verdict == AnswerVerdict::AsksBack);
        let next = if unanswered.len() < ASKED && !asks_back { self.find_colleague(item, &question, &unanswered).await? } else { None };
        if let Some(next) = next {
            let note = format!("{why}. {} is asked", roster.name_of(&next));
            let execution = Execution::Ask { whom: Owner::Persona(next), question, unanswered };
            return Ok(End::HandedOn { execution, wait: None, note });
        }
        let of = self.find_person(item).await?;
        let note = format!("{why}. Asked for help: {}", name_of_helper(of.as_ref()));
        Ok(End::HandedOn { execution: Execution::Ask { whom, question, unanswered }, wait: Some(Wait::Help { of }), note })
    }

    /// Another persona whose expertise or feeds match the question.
    async fn find_colleague(&self, item: &WorkItem, question: &str, asked: &[NoAnswer]) -> Result<Option<PersonaSlug>, StoreError> {
        let halts = self.deps().store.list_halts().await?;
        let is_paused = |slug: &PersonaSlug| halts.iter().any(|halt| halt.scope == HaltScope::Persona(slug.clone()));
        let query = Query::parse(&format!("{} {question}", item.why), &[]);
        let free = self.deps().roster.personas().iter().filter(|persona| !asked.iter().any(|before| before.by == persona.slug));
        Ok(find_fitting(&query, free.filter(|persona| !is_paused(&persona.slug))).map(|persona| persona.slug.clone()))
    }

    /// The person who is responsible for an item: its owner, who asked for it, or the first person in the configuration.
    pub(super) async fn find_person(&self, item: &WorkItem) -> Result<Option<Owner>, StoreError> {
        self.find_person_among(item, &self.deps().people.directory().await?).await
    }

    /// As [`Self::find_person`], among people who were read before.
    pub(super) async fn find_person_among(&self, item: &WorkItem, people: &Directory) -> Result<Option<Owner>, StoreError> {
        if let (WorkStatus::InReview, Some(reviewer @ Owner::Person { .. })) = (item.status, &item.reviewer) {
            return Ok(Some(reviewer.clone()));
        }
        if let Owner::Person { .. } = &item.owner {
            return Ok(Some(item.owner.clone()));
        }
        if let Some((id, name)) = self.deps().store.find_author(item).await? {
            return Ok(Some(Owner::Person { id, name }));
        }
        Ok(people.configured().map(|person| Owner::Person { id: person.id.clone(), name: person.name.clone() }))
    }
}

/// `Vince does not know: "I have no figure for that."`
pub(super) fn describe(reply: &NoAnswer, roster: &Roster) -> String {
    let verb = match reply.verdict {
        AnswerVerdict::Refuses => "refuses to answer",
        AnswerVerdict::AsksBack => "asks back",
        _ => "does not know",
    };
    format!("{} {verb}: \"{}\"", roster.name_of(&reply.by), reply.said)
}
