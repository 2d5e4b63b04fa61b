//! Lets a form act once, however often it is sent.
//!
//! Each form carries a key that this process made. The same content with the same key gets the first answer again, even if the first request is still
//! being handled. A key of an earlier process, or one that is too old to be remembered, is refused, because nobody knows whether its form has acted.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tokio::sync;

use crate::adapters::http::kanban::acts::Form;
use kernel::ids::WorkItemId;

/// How many answers are kept. People read an answer at once.
const KEPT: usize = 256;

/// The outcome of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::adapters::http::kanban) struct Answer {
    pub(in crate::adapters::http::kanban) text: String,
    /// Nothing was done, so the same form may be sent again.
    pub(in crate::adapters::http::kanban) is_error: bool,
    /// Where the answer is shown.
    pub(in crate::adapters::http::kanban) page: String,
    /// The name of the form.
    pub(in crate::adapters::http::kanban) act: &'static str,
    /// What was typed.
    pub(in crate::adapters::http::kanban) form: Form,
}

struct Submission {
    /// A digest of the address and the content.
    id: String,
    /// The number in its key.
    number: u64,
    answer: sync::Mutex<Option<Answer>>,
}

#[derive(Default)]
struct Kept {
    submissions: VecDeque<Arc<Submission>>,
    /// The highest number of a key that was forgotten.
    forgotten: u64,
}

pub(in crate::adapters::http::kanban) struct Submissions {
    /// Differs in every process.
    process: String,
    issued: AtomicU64,
    kept: Mutex<Kept>,
}

impl Submissions {
    pub(in crate::adapters::http::kanban) fn new() -> Self {
        Self { process: WorkItemId::generate().to_string(), issued: AtomicU64::new(0), kept: Mutex::default() }
    }

    /// A key for the forms of a page.
    pub(in crate::adapters::http::kanban) fn issue(&self) -> String {
        format!("{}-{}", self.process, self.issued.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Runs `act`, unless the same form was sent before. `stale` is the answer for an old key. Returns the id of the answer, and its page.
    pub(in crate::adapters::http::kanban) async fn run(
        &self,
        path: &str,
        form: &Form,
        stale: Answer,
        act: impl Future<Output = Answer>,
    ) -> (String, String) {
        let known = self.read_key(form.get("key"));
        let (submission, is_fresh) = self.find_or_keep(id_of(path, form), known);
        let mut answer = submission.answer.lock().await;
        if answer.as_ref().is_none_or(|before| before.is_error) {
            *answer = Some(if is_fresh { act.await } else { stale });
        }
        (submission.id.clone(), answer.as_ref().map(|answer| answer.page.clone()).unwrap_or_default())
    }

    /// The answer to show. None if it is not known here.
    pub(in crate::adapters::http::kanban) async fn find(&self, id: &str) -> Option<Answer> {
        let found = self.lock().submissions.iter().find(|known| known.id == id).cloned()?;
        let answer = found.answer.lock().await;
        answer.clone()
    }

    /// The number of a key that this process made.
    fn read_key(&self, key: &str) -> Option<u64> {
        let number = key.strip_prefix(&self.process)?.strip_prefix('-')?.parse().ok()?;
        (1..=self.issued.load(Ordering::Relaxed)).contains(&number).then_some(number)
    }

    /// The submission with this id, and whether its key may still act.
    fn find_or_keep(&self, id: String, number: Option<u64>) -> (Arc<Submission>, bool) {
        let mut kept = self.lock();
        if let Some(known) = kept.submissions.iter().find(|known| known.id == id) {
            let is_fresh = number.is_some_and(|number| number > kept.forgotten || number == known.number);
            return (Arc::clone(known), is_fresh);
        }
        let is_fresh = number.is_some_and(|number| number > kept.forgotten);
        let number = if is_fresh { number.unwrap_or_default() } else { 0 };
        let submission = Arc::new(Submission { id, number, answer: sync::Mutex::default() });
        kept.submissions.push_back(Arc::clone(&submission));
        if kept.submissions.len() > KEPT
            && let Some(oldest) = kept.submissions.pop_front()
        {
            kept.forgotten = kept.forgotten.max(oldest.number);
        }
        (submission, is_fresh)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id_of(path: &str, form: &Form) -> String {
    let mut digest = Sha256::new();
    digest.update(path);
    for (name, text) in form.fields() {
        // Lengths keep fields apart.
        digest.update(format!("\n{} {}\n{name}{text}", name.len(), text.len()));
    }
    digest.finalize().iter().take(12).fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, is_error: bool) -> Answer {
        Answer { text: text.into(), is_error, page: "/backlog".into(), act: "add", form: Form::default() }
    }

    fn form(key: &str, what: &str) -> Form {
        Form::from(&[("key", key), ("what", what)][..])
    }

    async fn send(submissions: &Submissions, form: &Form, is_error: bool) -> String {
        let (id, _) = submissions.run("/backlog/items", form, answer("stale", true), async { answer("acted", is_error) }).await;
        submissions.find(&id).await.expect("an answer").text
    }

    #[tokio::test]
    async fn a_form_acts_once_and_again_only_if_it_changed_or_failed() {
        let submissions = Submissions::new();
        let key = submissions.issue();
        let (mut times, first) = (0, form(&key, "a"));
        for _ in 0..2 {
            submissions
                .run("/x", &first, answer("stale", true), async {
                    times += 1;
                    answer("acted", false)
                })
                .await;
        }
        assert_eq!(times, 1);
        assert_eq!(send(&submissions, &form(&key, "b"), true).await, "acted");
        let again =
            submissions.run("/backlog/items", &form(&key, "b"), answer("stale", true), async { answer("now it works", false) }).await;
        assert_eq!(submissions.find(&again.0).await.expect("an answer").text, "now it works", "an error has done nothing");
    }

    #[tokio::test]
    async fn a_key_that_is_not_of_this_process_does_not_act() {
        let submissions = Submissions::new();
        let other = Submissions::new().issue();
        let future = format!("{}-7", submissions.process);
        for key in ["", "x", "1", &other, &future] {
            assert_eq!(send(&submissions, &form(key, "a"), false).await, "stale", "{key}");
            assert_eq!(send(&submissions, &form(key, "a"), false).await, "stale", "{key} again");
        }
    }

    #[tokio::test]
    async fn what_was_forgotten_does_not_act_again() {
        let submissions = Submissions::new();
        let first = form(&submissions.issue(), "first");
        assert_eq!(send(&submissions, &first, false).await, "acted");
        for number in 0..KEPT {
            let key = submissions.issue();
            assert_eq!(send(&submissions, &form(&key, &number.to_string()), false).await, "acted");
        }
        assert_eq!(send(&submissions, &first, false).await, "stale");
        assert!(submissions.lock().submissions.len() <= KEPT);
    }
}
