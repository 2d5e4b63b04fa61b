//! Finds the memories that a question is about: by words, by vectors of letters and, with a sentence model, by vectors of meaning, joined by
//! reciprocal rank (MEM-2).
//!
//! The full text search of the database finds the rows that share a word, and the [`Index`] of this process compares all vectors. Both give a few
//! candidates, which are then read from the database.

#[cfg(test)]
mod figures;
mod index;
mod question;
mod ranking;
mod recall;
mod texts;
mod vector;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use futures_util::future;

use crate::db::{Database, Result};
use crate::ids::{MessageId, PersonaSlug};
use crate::memory::embedder::Meaning;
use crate::memory::{Memory, MemoryKind, Scope};

use index::{Index, term};
use question::Question;
pub use question::speak_of_oneself;
use ranking::Search;

pub(in crate::memory) use index::Entry;
pub use recall::Recall;
pub use texts::TextSearch;
pub use vector::Vector;
pub use words::{Wanted, to_store};
pub(in crate::memory) use words::{for_postgres, for_sqlite};

/// The most rows that share a word with a question and are looked at. Words that many memories have are left out if other words give fewer rows.
const SHARING: usize = 3000;

/// The most taught facts in a prompt.
const TAUGHT: usize = 8;

/// The most approaches in a prompt.
const APPROACHES: usize = 2;

/// The kinds for what people taught and what the team has learnt.
pub const LEARNT: &[MemoryKind] = &[MemoryKind::Fact, MemoryKind::Lesson];

/// The kinds for what was said and posted.
const HEARD: &[MemoryKind] = &[MemoryKind::Conversation, MemoryKind::Document];

/// The kinds that may answer a question.
pub const EVERYTHING: &[MemoryKind] = &[MemoryKind::Fact, MemoryKind::Lesson, MemoryKind::Conversation, MemoryKind::Document];

/// The kinds that people find when they search.
pub const SEARCHABLE: &[MemoryKind] =
    &[MemoryKind::Fact, MemoryKind::Lesson, MemoryKind::Approach, MemoryKind::Conversation, MemoryKind::Document];

/// The search of a database in this process. Clones of the database share it.
#[derive(Default)]
pub(crate) struct Searching {
    pub(in crate::memory) index: RwLock<Index>,
    /// One caller reads what has changed, the others wait for it.
    refreshing: tokio::sync::Mutex<()>,
    /// Set once the rows from before there were words have theirs.
    pub(in crate::memory) derived: tokio::sync::OnceCell<()>,
    meaning: OnceLock<Arc<Meaning>>,
}

impl Database {
    /// From now on, questions and memories are also compared by meaning. Only the first model is used.
    pub fn use_sentence_model(&self, meaning: Arc<Meaning>) {
        let _ = self.searching().meaning.set(meaning);
    }

    pub fn sentence_model(&self) -> Option<&Arc<Meaning>> {
        self.searching().meaning.get()
    }

    /// The memories that a question is about, best first. Empty if none is, or if it names no subject.
    pub async fn recall(&self, asked: &Recall<'_>) -> Result<Vec<Memory>> {
        let [found] = self.recall_together([asked]).await?;
        Ok(found)
    }

    /// Answers questions that differ only in their kinds, none of which two share, in their limits and in what is left out. The database is read
    /// as often as for one.
    async fn recall_together<const N: usize>(&self, questions: [&Recall<'_>; N]) -> Result<[Vec<Memory>; N]> {
        let asked = questions[0];
        let began = Instant::now();
        self.refresh_index().await?;
        let (question, admissions, groups) = {
            let index = self.read_index();
            let question = Question::parse(asked, &index);
            let groups = question.wanted.as_ref().map(|wanted| index.choose_words(wanted)).unwrap_or_default();
            (question, questions.map(|asked| index.admission(asked)), groups)
        };
        if question.wanted.is_none() && question.people.is_empty() {
            return Ok(questions.map(|_| Vec::new()));
        }
        let meaning = match self.sentence_model() {
            Some(model) if question.wanted.is_some() => model.ask(asked.subject, asked.is_loose).await,
            _ => None,
        };
        let letters = question.wanted.is_some().then(|| Vector::of(asked.subject).to_bytes());
        let searches = admissions.each_ref().map(|admission| Search {
            question: &question,
            admission,
            letters: letters.as_deref(),
            meaning: meaning.as_ref(),
            is_loose: asked.is_loose,
        });
        let by_words = async { if groups.is_empty() { Ok(Vec::new()) } else { self.find_numbers_by_words(&groups, SHARING).await } };
        // Compares vectors while the database looks for words.
        let near = async { searches.each_ref().map(|search| self.read_index().find_near(search)) };
        let (by_words, near) = future::join(by_words, near).await;
        let by_words = by_words?;
        let ranked: [Vec<i64>; N] = std::array::from_fn(|at| {
            let mut numbers = self.read_index().rank(&searches[at], &near[at], &by_words);
            numbers.truncate(questions[at].limit);
            numbers
        });
        let mut found = self.read_ranked(&ranked.concat(), asked).await?;
        metrics::histogram!("teamroom_recall_seconds").record(began.elapsed());
        Ok(std::array::from_fn(|at| {
            let fits = |memory: &Memory| questions[at].kinds.contains(&memory.kind);
            ranked[at].iter().filter_map(|number| found.remove(number).filter(fits)).collect()
        }))
    }

    /// Reads the best rows that are still there and still may be told, and drops the others from the index.
    async fn read_ranked(&self, numbers: &[i64], asked: &Recall<'_>) -> Result<HashMap<i64, Memory>> {
        if numbers.is_empty() {
            return Ok(HashMap::new());
        }
        let found: HashMap<i64, Memory> = self.list_by_numbers(numbers, asked).await?.into_iter().collect();
        if found.len() < numbers.len() {
            let there: Vec<i64> = self.list_existing(numbers).await?;
            let mut index = self.searching().index.write().unwrap_or_else(PoisonError::into_inner);
            numbers.iter().filter(|number| !there.contains(number)).for_each(|number| index.remove(*number));
        }
        Ok(found)
    }

    /// Reads what has changed since the last question.
    pub(in crate::memory) async fn refresh_index(&self) -> Result<()> {
        let _guard = self.searching().refreshing.lock().await;
        self.derive_missing().await?;
        let model = self.sentence_model().map(|model| model.name().to_owned());
        let (mut cursor, mut horizon) = (self.read_index().cursor, None);
        loop {
            let page = self.list_changed_entries(cursor).await?;
            (cursor, horizon) = (page.next, horizon.or(page.horizon));
            let mut index = self.searching().index.write().unwrap_or_else(PoisonError::into_inner);
            page.entries.iter().for_each(|entry| index.set(entry, model.as_deref()));
            if !page.has_more {
                index.cursor = horizon.unwrap_or(cursor);
                return Ok(());
            }
        }
    }

    fn read_index(&self) -> std::sync::RwLockReadGuard<'_, Index> {
        self.searching().index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memories for a prompt: what people taught, whether it fits or not, then up to `limit` lessons on the subject.
    pub async fn recall_for_prompt(&self, asked: &Recall<'_>) -> Result<Vec<Memory>> {
        let fitting = fitting(asked);
        let ([found], taught) = future::try_join(self.recall_together([&fitting]), self.list_taught(asked.scope, TAUGHT)).await?;
        Ok(choose_lessons(asked, found, taught))
    }

    /// The same, and what was said and posted on the subject.
    pub async fn recall_for_answer(&self, asked: &Recall<'_>, limit: usize, except: &[&MessageId]) -> Result<(Vec<Memory>, Vec<Memory>)> {
        let (fitting, heard) = (fitting(asked), Recall { limit, kinds: HEARD, except, ..asked.loosely() });
        let ([found, heard], taught) =
            future::try_join(self.recall_together([&fitting, &heard]), self.list_taught(asked.scope, TAUGHT)).await?;
        Ok((choose_lessons(asked, found, taught), heard))
    }

    /// How something similar was done before: by the persona that asks, then by others.
    pub async fn recall_approaches(&self, subject: &str, scope: &Scope, persona: &PersonaSlug) -> Result<Vec<Memory>> {
        let asked = Recall { kinds: &[MemoryKind::Approach], ..Recall::new(subject, scope, APPROACHES) };
        let mut found = self.recall(&asked.of(persona)).await?;
        if found.len() < APPROACHES {
            let others = self.recall(&asked).await?;
            found.extend(others.into_iter().filter(|other| other.persona.as_ref() != Some(persona)));
            found.truncate(APPROACHES);
        }
        Ok(found)
    }
}

/// Asks for what was taught and learnt, with room for what was taught.
fn fitting<'a>(asked: &Recall<'a>) -> Recall<'a> {
    Recall { limit: asked.limit + TAUGHT, kinds: LEARNT, ..asked.loosely() }
}

fn choose_lessons(asked: &Recall<'_>, found: Vec<Memory>, taught: Vec<Memory>) -> Vec<Memory> {
    let (mut told, mut lessons): (Vec<Memory>, Vec<Memory>) = found.into_iter().partition(|memory| memory.kind == MemoryKind::Fact);
    told.truncate(TAUGHT);
    for fact in taught {
        if told.len() < TAUGHT && !told.iter().any(|known| known.id == fact.id) {
            told.push(fact);
        }
    }
    lessons.truncate(asked.limit);
    told.extend(lessons);
    told
}

impl Index {
    /// The words that the database is asked for: the rarest ones, as long as they do not give too many rows. If the rarest word alone gives too many,
    /// the two rarest together.
    fn choose_words(&self, wanted: &Wanted) -> Vec<Vec<String>> {
        let mut words: Vec<(usize, &str)> = wanted.terms.iter().map(|(word, _)| (self.frequency_of(term(word)), word.as_str())).collect();
        words.retain(|(frequency, _)| *frequency > 0);
        words.sort_unstable();
        if let [(rarest, first), (_, second), ..] = words.as_slice()
            && *rarest > SHARING
        {
            return vec![vec![(*first).to_owned(), (*second).to_owned()]];
        }
        let mut all = 0;
        let fits = |(frequency, _): &&(usize, &str)| {
            all += frequency;
            all <= SHARING || all == *frequency
        };
        words.iter().take_while(fits).map(|(_, word)| vec![(*word).to_owned()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::memory::{MemorySource, Origin, Teacher};
    use crate::testing::feeds::{now, today};

    fn memory(text: &str, significance: f64, days_ago: i64) -> Memory {
        let source = MemorySource::WorkItem("item".into());
        Memory { significance, ..Memory::new(MemoryKind::Lesson, text, source, now() - TimeDelta::days(days_ago)) }
    }

    fn found_by(asked: &Recall<'_>, memories: &[Memory]) -> Vec<String> {
        let mut index = Index::default();
        for (memory, number) in memories.iter().zip(0..) {
            let text = memory.searched();
            let entry = Entry {
                number,
                kind: memory.kind,
                persona: memory.persona.as_ref().map(ToString::to_string),
                place: memory.place.as_ref().map(ToString::to_string),
                person: memory.person().cloned(),
                message: memory.message().map(ToString::to_string),
                at: memory.created_at,
                significance: memory.significance,
                is_live: true,
                words: to_store(&text),
                hashed: Vector::of(&text).to_bytes(),
                meaning: None,
            };
            index.set(&entry, None);
        }
        let question = Question::parse(asked, &index);
        let admission = index.admission(asked);
        let letters = Vector::of(asked.subject).to_bytes();
        let search = Search { question: &question, admission: &admission, letters: Some(&letters), meaning: None, is_loose: false };
        let all: Vec<i64> = memories.iter().zip(0..).map(|(_, number)| number).collect();
        let ranked = index.rank(&search, &index.find_near(&search), &all);
        ranked.iter().take(3).map(|number| memories[usize::try_from(*number).unwrap()].text.clone()).collect()
    }

    fn found(subject: &str, memories: &[Memory]) -> Vec<String> {
        found_by(&Recall::new(subject, &Scope::TEAM, 3), memories)
    }

    #[test]
    fn what_is_on_the_subject_is_found_and_other_things_are_not() {
        let memories = [
            memory("The cache of the queue is cold after each deployment.", 0.4, 3),
            memory("Prices of scanners change on Mondays.", 0.9, 1),
            memory("The weekly cleaning needs a second pair of hands.", 0.4, 2),
        ];
        assert_eq!(found("Why is the queue slow after deploying?", &memories), [memories[0].text.clone()]);
        assert_eq!(found("Compare the prices of three scanners", &memories), [memories[1].text.clone()]);
        assert_eq!(found("Book a room for Friday", &memories), Vec::<String>::new());
        assert_eq!(found("and what about that?", &memories), Vec::<String>::new());
    }

    #[test]
    fn what_comes_from_messages_that_are_left_out_takes_no_place() {
        let said = |text, message: &str| Memory { source: MemorySource::Message(message.into()), ..memory(text, 0.4, 1) };
        let memories =
            [said("The queue one.", "1"), said("The queue two.", "2"), said("The queue three.", "3"), memory("The queue four.", 0.1, 9)];
        let shown: [MessageId; 2] = ["1".into(), "3".into()];
        let asked = Recall { except: &shown.each_ref(), ..Recall::new("queue", &Scope::TEAM, 3) };
        assert_eq!(found_by(&asked, &memories), ["The queue two.", "The queue four."]);
    }

    #[test]
    fn what_says_more_of_the_subject_comes_first_then_the_more_significant_then_the_newer() {
        let memories = [
            memory("The queue: old.", 0.4, 9),
            memory("The queue: new.", 0.4, 1),
            memory("The queue: big.", 0.8, 5),
            memory("The queue and its latency.", 0.1, 9),
        ];
        assert_eq!(found("queue latency", &memories), ["The queue and its latency.", "The queue: big.", "The queue: new."]);
    }

    #[test]
    fn other_forms_of_a_word_and_other_languages_are_found() {
        for (question, text) in [
            ("what did I say about deployments?", "we deploy on Thursdays"),
            ("when do we deploy?", "we deploy on Thursdays"),
            ("Wann deployen wir?", "Wir deployen donnerstags"),
            ("¿Cuándo desplegamos?", "Desplegamos los jueves"),
            ("什么时候部署?", "我们周四部署"),
            ("Когда мы выкатываем релиз?", "Релиз выкатываем по четвергам"),
        ] {
            assert_eq!(found(question, &[memory(text, 0.9, 1)]), [text], "{question}");
        }
    }

    #[test]
    fn tags_are_searched_like_words() {
        let tagged = Memory { tags: vec!["scanner".into(), "price".into()], ..memory("Ask for the quote in writing.", 0.4, 1) };
        assert_eq!(found("Compare prices of scanners", &[tagged]).len(), 1);
    }
    #[test]
    fn who_and_when_come_first_and_others_are_not_left_out() {
        let by = |id: &str, text: &str, days_ago: i64| {
            let person = Teacher { id: Some(id.into()), name: id[..1].to_uppercase() + &id[1..] };
            let origin = Origin { by: person, channel: "c".into(), channel_name: "general".into(), part: None };
            Memory { kind: MemoryKind::Conversation, origin: Some(Box::new(origin)), ..memory(text, 0.2, days_ago) }
        };
        let memories = [
            by("ben", "The launch waits for the legal check.", 0),
            by("ann", "The launch should move to May.", 6),
            by("ann", "The launch party was nice.", 200),
            by("ann", "Lunch is on me today.", 5),
        ];
        let asked = |subject| Recall { today: Some(today()), ..Recall::new(subject, &Scope::TEAM, 3).everything() };
        // Now is a Saturday.
        let told = found_by(&asked("what did Ann say the last two weeks about the launch?"), &memories);
        assert_eq!((told[0].as_str(), told.len()), ("The launch should move to May.", 3), "{told:?}");
        let me = "ben".into();
        let told = found_by(&Recall { asker: Some(&me), ..asked("what did I say about the launch?") }, &memories);
        assert_eq!(told[0], "The launch waits for the legal check.");
        let told = found_by(&asked("what did Ann say in the last 7 days?"), &memories);
        assert_eq!(told, ["Lunch is on me today.", "The launch should move to May."]);
    }
}
