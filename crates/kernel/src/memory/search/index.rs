//! What the search keeps of all memories in this process: who may hear each, its words and its vectors. About 500 bytes for each, and nothing before
//! the first question.
//!
//! The index only proposes rows. They are read from the database under the same conditions, so a row that has changed since is never told wrongly.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use vectors::Vectors;

use crate::memory::retrieval::words_of;
use crate::memory::search::Recall;
use crate::memory::search::vector::DIMENSIONS;
use crate::memory::{MemoryKind, Teacher};

/// A row as it is read from the database.
pub(in crate::memory) struct Entry {
    pub number: i64,
    pub kind: MemoryKind,
    pub persona: Option<String>,
    pub place: Option<String>,
    pub person: Option<Teacher>,
    /// The message that it comes from.
    pub message: Option<String>,
    pub at: DateTime<Utc>,
    pub significance: f64,
    /// It may be told: not ended and not held.
    pub is_live: bool,
    pub words: String,
    pub hashed: Vec<u8>,
    /// The vector by meaning, with the name of its model.
    pub meaning: Option<(String, Vec<u8>)>,
}

/// A row of the index.
pub(super) struct Row {
    pub(super) number: i64,
    kind: MemoryKind,
    persona: Name,
    place: Name,
    pub(super) person: Name,
    /// The hash of the id of its message. 0: none.
    message: u64,
    pub(super) at: DateTime<Utc>,
    pub(super) significance: f64,
    is_live: bool,
    terms: std::ops::Range<usize>,
}

/// The number of a text. 0: none.
pub(super) type Name = u32;

/// Which rows a question may see.
pub(super) struct Admission {
    kinds: &'static [MemoryKind],
    persona: Option<Name>,
    places: [Name; 2],
    /// The hashes of messages from which none may come.
    except: HashSet<u64>,
}

#[derive(Default)]
struct Names(HashMap<String, Name>);

impl Names {
    fn add(&mut self, text: &str) -> Name {
        if text.is_empty() {
            return 0;
        }
        let next = Name::try_from(self.0.len() + 1).unwrap_or(Name::MAX);
        *self.0.entry(text.to_owned()).or_insert(next)
    }

    /// The number of a text. A text that no row has gets a number that no row has.
    fn find(&self, text: &str) -> Name {
        if text.is_empty() { 0 } else { self.0.get(text).copied().unwrap_or(Name::MAX) }
    }
}

pub(in crate::memory) struct Index {
    pub(in crate::memory) cursor: i64,
    pub(super) rows: Vec<Row>,
    by_number: HashMap<i64, usize>,
    names: Names,
    /// The words of people's names.
    people: HashMap<String, Vec<Name>>,
    terms: Vec<u32>,
    /// In how many live rows a term occurs.
    frequency: HashMap<u32, usize>,
    live: usize,
    pub(super) hashed: Vectors,
    /// The vectors of one sentence model.
    pub(super) meaning: Option<(String, Vectors)>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            cursor: -1,
            rows: Vec::new(),
            by_number: HashMap::new(),
            names: Names::default(),
            people: HashMap::new(),
            terms: Vec::new(),
            frequency: HashMap::new(),
            live: 0,
            hashed: Vectors::new(DIMENSIONS),
            meaning: None,
        }
    }
}

impl Index {
    /// Adds a row, or replaces it if it has changed.
    pub(in crate::memory) fn set(&mut self, entry: &Entry, model: Option<&str>) {
        let index = self.by_number.get(&entry.number).copied().unwrap_or(self.rows.len());
        let terms = self.replace_terms(index, if entry.is_live { &entry.words } else { "" });
        let was_live = self.rows.get(index).is_some_and(|row| row.is_live);
        self.live = self.live + usize::from(entry.is_live) - usize::from(was_live);
        let row = Row {
            number: entry.number,
            kind: entry.kind,
            persona: self.names.add(entry.persona.as_deref().unwrap_or_default()),
            place: self.names.add(entry.place.as_deref().unwrap_or_default()),
            person: self.add_person(entry.person.as_ref()),
            message: entry.message.as_deref().map_or(0, hash),
            at: entry.at,
            significance: entry.significance,
            is_live: entry.is_live,
            terms,
        };
        if index == self.rows.len() {
            self.by_number.insert(entry.number, index);
            self.rows.push(row);
        } else {
            self.rows[index] = row;
        }
        self.hashed.set(index, if entry.is_live { &entry.hashed } else { &[] });
        let vector =
            entry.meaning.as_ref().filter(|(of, _)| entry.is_live && Some(of.as_str()) == model).map(|(_, vector)| vector.as_slice());
        self.set_meaning(index, vector, model);
    }

    fn set_meaning(&mut self, index: usize, vector: Option<&[u8]>, model: Option<&str>) {
        match (&mut self.meaning, vector, model) {
            (Some((of, vectors)), vector, Some(model)) if of == model => vectors.set(index, vector.unwrap_or_default()),
            (_, Some(vector), Some(model)) => {
                let mut vectors = Vectors::new(vector.len());
                vectors.set(index, vector);
                self.meaning = Some((model.to_owned(), vectors));
            }
            _ => {}
        }
    }

    /// Removes a row that does not exist any more.
    pub(super) fn remove(&mut self, number: i64) {
        let Some(index) = self.by_number.get(&number).copied().filter(|index| self.rows[*index].is_live) else { return };
        let terms = self.replace_terms(index, "");
        let row = &mut self.rows[index];
        (row.is_live, row.terms) = (false, terms);
        self.live -= 1;
        self.hashed.set(index, &[]);
        if let Some((_, vectors)) = &mut self.meaning {
            vectors.set(index, &[]);
        }
    }

    /// Sets the terms of a row. Its earlier terms stay unused in the list, unless they are the same.
    fn replace_terms(&mut self, index: usize, words: &str) -> std::ops::Range<usize> {
        let mut new: Vec<u32> = Vec::new();
        for term in words.split(' ').filter(|word| !word.is_empty()).map(term) {
            if !new.contains(&term) {
                new.push(term);
            }
        }
        let old = self.rows.get(index).map_or(0..0, |row| row.terms.clone());
        if self.terms[old.clone()] == new {
            return old;
        }
        for term in &self.terms[old] {
            if let Some(count) = self.frequency.get_mut(term) {
                *count = count.saturating_sub(1);
            }
        }
        for term in &new {
            *self.frequency.entry(*term).or_default() += 1;
        }
        let start = self.terms.len();
        self.terms.extend(new);
        start..self.terms.len()
    }

    fn add_person(&mut self, person: Option<&Teacher>) -> Name {
        let Some(person) = person else { return 0 };
        let name = self.names.add(person.id.as_ref().map_or(person.name.as_str(), |id| id.as_str()));
        for word in words_of(&person.name) {
            let named = self.people.entry(word).or_default();
            if !named.contains(&name) {
                named.push(name);
            }
        }
        name
    }

    /// The people who are called by one of the words.
    pub(super) fn find_people(&self, word: &str) -> &[Name] {
        self.people.get(word).map_or(&[], Vec::as_slice)
    }

    pub(super) fn find_person(&self, id: &str) -> Name {
        self.names.find(id)
    }

    pub(super) fn admission(&self, asked: &Recall<'_>) -> Admission {
        Admission {
            kinds: asked.kinds,
            persona: asked.persona.map(|persona| self.names.find(persona.as_str())),
            places: asked.scope.heard().map(|place| self.names.find(place)),
            except: asked.except.iter().map(|message| hash(message.as_str())).collect(),
        }
    }

    pub(super) fn admits(&self, admission: &Admission, index: usize) -> bool {
        let row = &self.rows[index];
        row.is_live
            && (row.place == 0 || admission.places.contains(&row.place))
            && (row.persona == 0 || admission.persona.is_none_or(|persona| persona == row.persona))
            && admission.kinds.contains(&row.kind)
            && !admission.except.contains(&row.message)
    }

    pub(super) fn find_row(&self, number: i64) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    pub(super) fn has_term(&self, index: usize, term: u32) -> bool {
        self.terms[self.rows[index].terms.clone()].contains(&term)
    }

    pub(super) fn count_terms(&self, index: usize) -> usize {
        self.rows[index].terms.len()
    }

    pub(super) fn frequency_of(&self, term: u32) -> usize {
        self.frequency.get(&term).copied().unwrap_or(0)
    }

    pub(super) fn count_live(&self) -> usize {
        self.live
    }
}

/// A number for a word. Two words with the same number count as one word, which only affects the order of results.
pub(super) fn term(word: &str) -> u32 {
    let hash = hash(word);
    u32::try_from((hash ^ (hash >> 32)) & u64::from(u32::MAX)).unwrap_or_default()
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
