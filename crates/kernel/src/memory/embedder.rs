//! Vectors by meaning, which a sentence model makes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::OnceCell;
use vectors::compact;

use crate::llm::ModelError;

/// A question waits no longer for its vector. Its words are searched either way.
const QUESTION: Duration = Duration::from_secs(3);

/// How many standard deviations the similarity of a memory must be above that of unrelated sentences: if the memory is about the question, and if it
/// may be about it. Models differ: one gives unrelated sentences 0.05, another one 0.75.
const ABOVE: f32 = 3.0;
const ABOVE_LOOSELY: f32 = 2.0;

/// The same limit for two facts about the same thing.
const ABOVE_CLOSELY: f32 = 7.0;

/// Sentences that have nothing to do with each other.
const UNRELATED: [&str; 12] = [
    "The heron stood at the weir all morning.",
    "Invoices are due thirty days after they arrive.",
    "Her violin needs new strings before the concert.",
    "The database was moved to a larger server.",
    "Bread should cool before it is cut.",
    "Our train to Lyon was cancelled because of snow.",
    "The jury found the contract void.",
    "Tomatoes grow badly in the shade.",
    "He broke his ankle on the football pitch.",
    "The museum shows maps from the sixteenth century.",
    "Please mute your microphone when somebody speaks.",
    "Two comets were seen above the desert last night.",
];

/// A sentence model.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Stored with each vector. A vector of another name is made again.
    fn name(&self) -> &str;

    /// One vector for each text, all of one length. `patience`: how long the caller waits at most.
    async fn embed(&self, texts: &[String], patience: Duration) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// A sentence model with what is known of it.
pub struct Meaning {
    embedder: Arc<dyn Embedder>,
    unrelated: OnceCell<Unrelated>,
    /// The last question, which is usually asked again by a tool or for another persona.
    last: Mutex<Option<(String, Vec<u8>)>>,
}

/// How similar unrelated sentences are.
#[derive(Debug, Clone, Copy)]
struct Unrelated {
    mean: f32,
    deviation: f32,
}

impl Unrelated {
    /// From this similarity on, a memory is told for a question.
    fn least(self, is_loose: bool) -> f32 {
        let above = if is_loose { ABOVE_LOOSELY } else { ABOVE };
        (self.mean + above * self.deviation).min(0.99)
    }
}

impl Meaning {
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, unrelated: OnceCell::new(), last: Mutex::new(None) }
    }

    pub fn name(&self) -> &str {
        self.embedder.name()
    }

    /// Vectors in their stored form. Empty for a text without any.
    ///
    /// # Errors
    /// The model does not answer.
    pub async fn embed(&self, texts: &[String], patience: Duration) -> Result<Vec<Vec<u8>>, ModelError> {
        let vectors = self.embedder.embed(texts, patience).await?;
        if vectors.len() != texts.len() {
            let reason = format!("it gave {} vectors for {} texts", vectors.len(), texts.len());
            return Err(ModelError::Garbled { provider: self.name().to_owned(), reason });
        }
        Ok(vectors.iter().map(|vector| compact(vector).unwrap_or_default()).collect())
    }

    /// Whether the model answers.
    ///
    /// # Errors
    /// It does not.
    pub async fn try_once(&self) -> Result<(), ModelError> {
        self.embed(&[UNRELATED[0].to_owned()], QUESTION).await.map(|_| ())
    }

    /// The vector of a question, and the least similarity of a memory that is told for it. None if the model does not answer. Then only words are
    /// searched.
    pub(super) async fn ask(&self, question: &str, is_loose: bool) -> Option<(Vec<u8>, f32)> {
        let least = self.unrelated.get_or_try_init(|| self.measure()).await.map(|unrelated| unrelated.least(is_loose));
        let known = self.last().clone().filter(|(asked, _)| asked == question).map(|(_, vector)| vector);
        let found = match (least, known) {
            (Ok(least), Some(vector)) => Ok((vector, least)),
            (Ok(least), None) => self.embed(&[question.to_owned()], QUESTION).await.map(|mut vectors| (vectors.remove(0), least)),
            (Err(error), _) => Err(error),
        };
        match found {
            Ok((vector, least)) => {
                *self.last() = Some((question.to_owned(), vector.clone()));
                Some((vector, least))
            }
            Err(error) => {
                tracing::warn!(model = self.name(), %error, "a question is searched without its meaning");
                None
            }
        }
    }

    /// The vector of a memory, and the least similarity of another one that is about the same thing.
    pub(super) async fn ask_closely(&self, text: &str) -> Option<(Vec<u8>, f32)> {
        let (vector, _) = self.ask(text, false).await?;
        let unrelated = self.unrelated.get()?;
        Some((vector, (unrelated.mean + ABOVE_CLOSELY * unrelated.deviation).min(0.99)))
    }

    #[expect(clippy::cast_precision_loss, reason = "there are 66 pairs")]
    async fn measure(&self) -> Result<Unrelated, ModelError> {
        let vectors = self.embedder.embed(&UNRELATED.map(str::to_owned), QUESTION).await?;
        let mut similarities = Vec::new();
        for (index, one) in vectors.iter().enumerate() {
            similarities.extend(vectors[..index].iter().map(|other| cosine(one, other)));
        }
        let mean = similarities.iter().sum::<f32>() / similarities.len().max(1) as f32;
        let variance = similarities.iter().map(|one| (one - mean).powi(2)).sum::<f32>() / similarities.len().max(1) as f32;
        Ok(Unrelated { mean, deviation: variance.sqrt() })
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<(String, Vec<u8>)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(one, other) / (product(one, one) * product(other, other)).sqrt().max(f32::MIN_POSITIVE)
}
