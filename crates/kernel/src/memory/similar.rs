//! Memories that say the same, and memories about the same thing that say something else (MEM-7).

use std::sync::PoisonError;

use crate::db::{Database, Result};
use crate::memory::retrieval::{stem, words_of};
use crate::memory::search::{LEARNT, Recall, Vector};
use crate::memory::{Memory, Scope};

/// From this similarity of letters on, a person is asked whether a new fact replaces an older one.
const CLOSE: f32 = 0.45;

/// Rows that are compared.
const MOST: usize = 20;

/// Words that change nothing: a fact with "the" is the same without it.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Whether two texts say the same: each word of one is in the other, perhaps in another form. A slip of the pen may be another name, so a person is asked.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> { words_of(text).into_iter().filter(|word| !ARTICLES.contains(&word.as_str())).collect() };
    let (one, mut other) = (words(one), words(other));
    if one.is_empty() || one.len() != other.len() {
        return false;
    }
    one.iter().all(|word| {
        let found = other.iter().position(|candidate| candidate == word || stem(candidate) == stem(word));
        found.map(|at| other.swap_remove(at)).is_some()
    })
}

/// Whether two texts are about the same thing by their letters, so that the newer one may replace the other.
pub fn are_alike(one: &str, other: &str) -> bool {
    Vector::of(one).similarity(&Vector::of(other).to_bytes()) >= f64::from(CLOSE)
}

impl Database {
    /// A memory in use that says the same, in the same place and of the same persona.
    pub async fn find_duplicate(&self, memory: &Memory) -> Result<Option<Memory>> {
        if let Some(same) = self.find_same_memory(memory).await? {
            return Ok(Some(same));
        }
        let near = self.list_close(memory).await?;
        Ok(near.into_iter().find(|near| is_same(&near.text, &memory.text)))
    }

    /// The taught fact in use that is nearest to a new one, and may be outdated by it.
    pub async fn find_rival(&self, memory: &Memory) -> Result<Option<Memory>> {
        let near = self.list_close(memory).await?;
        Ok(near.into_iter().find(|near| near.taught_by.is_some() && !is_same(&near.text, &memory.text)))
    }

    /// Memories near to one, by letters or by meaning, in the same place and of the same persona, the nearest first.
    async fn list_close(&self, memory: &Memory) -> Result<Vec<Memory>> {
        let scope = Scope::private(memory.place.clone());
        let asked = Recall { persona: memory.persona.as_ref(), ..Recall::new(&memory.text, &scope, MOST) };
        self.refresh_index().await?;
        let meaning = match self.sentence_model() {
            Some(model) => model.ask_closely(&memory.text).await,
            None => None,
        };
        let numbers = {
            let index = self.searching().index.read().unwrap_or_else(PoisonError::into_inner);
            index.list_nearest(&asked, &Vector::of(&memory.text).to_bytes(), CLOSE, meaning.as_ref())
        };
        let mut found = self.list_by_numbers(&numbers, &asked).await?;
        found.sort_by_key(|(number, _)| numbers.iter().position(|known| known == number));
        let is_beside = |near: &Memory| {
            near.id != memory.id && near.place == memory.place && near.persona == memory.persona && LEARNT.contains(&near.kind)
        };
        Ok(found.into_iter().map(|(_, near)| near).filter(is_beside).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_slips_and_order_change_nothing() {
        for (one, other) in [
            ("we deploy on Thursdays", "On Thursdays, we deploy!"),
            ("we deploy on Thursdays", "we deploy on the Thursday"),
            ("the queue is cleared after deploys", "The queues is cleared after deploy."),
            ("Der Urlaub wird im Januar geplant", "der urlaub wird im januar geplant."),
        ] {
            assert!(is_same(one, other) && is_same(other, one), "{one} | {other}");
        }
    }

    #[test]
    fn another_day_number_name_or_negation_is_another_fact() {
        for (one, other) in [
            ("we deploy on Thursdays", "we deploy on Fridays"),
            ("we meet on Monday", "we meet on Sunday"),
            ("the code is 4711", "the code is 4712"),
            ("room 12b is free", "room 12a is free"),
            ("we deploy on Fridays", "we do not deploy on Fridays"),
            ("invoices go to Carla", "invoices go to Nora"),
            ("invoices go to Martin", "invoices go to Martina"),
            ("the form is blue", "the from is blue"),
            ("the gate is in the yard", "the gate is on the yard"),
            ("it is enabled", "it is disabled"),
            ("", ""),
        ] {
            assert!(!is_same(one, other), "{one} | {other}");
        }
    }
}
