use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::task::spawn_blocking;

use crate::features::voice::VoiceSettings;
use crate::features::voice::audio::{self, Audio, Track};
use crate::features::voice::cache::{Cache, Part};
use crate::features::voice::script::{Chapter, Playable, Script};
use crate::features::voice::speakable::{speakable, split};
use crate::store::Store;
use kernel::chat::redact::Redactor;
use kernel::db::StoreError;
use kernel::ids::{PersonaSlug, UserId};
use kernel::llm::{ModelError, Speech, Utterance};
use kernel::people::People;
use kernel::persona::Voice;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

/// The reason that people are told if there is no speech engine.
pub(super) const SILENT: &str = if cfg!(feature = "sound") {
    "nothing can speak here. Install espeak-ng where the team runs, or set models.speech in teamroom.toml to a speech model"
} else {
    "this program was built without sound. Build it with the feature \"sound\""
};

/// Makes audio of results.
pub(super) struct Player {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) people: People,
    /// None: nothing can speak.
    pub(super) speech: Option<Arc<Speech>>,
    pub(super) redactor: Redactor,
    pub(super) settings: VoiceSettings,
    pub(super) cache: Arc<Cache>,
    pub(super) playables: Vec<Arc<dyn Playable>>,
    pub(super) clock: SharedClock,
}

/// Why there is no audio. The text is for people.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlayError {
    #[error("{SILENT}")]
    Silent,
    #[error("nothing was said that can be spoken")]
    Nothing,
    #[error("{}", in_words(.0))]
    Engine(ModelError),
    #[error("the sound could not be put together: {0}")]
    Audio(String),
    #[error("the process stops")]
    Stopping,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PlayError {
    /// Whether another attempt may help.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Engine(error) => !matches!(error, ModelError::Refused { .. } | ModelError::Declined { .. } | ModelError::OutOfBudget(_)),
            Self::Silent | Self::Nothing => false,
            Self::Audio(_) | Self::Stopping | Self::Store(_) => true,
        }
    }
}

/// Never quotes an endpoint: its words are in the log.
fn in_words(error: &ModelError) -> String {
    match error {
        ModelError::OutOfBudget(refused) => refused.to_string(),
        ModelError::TimedOut { provider } => format!("{provider} took too long"),
        ModelError::Busy { provider, cause, .. } | ModelError::Refused { provider, cause, .. } => cause.in_words(provider),
        ModelError::Garbled { provider, .. } | ModelError::Empty { provider } | ModelError::Truncated { provider } => {
            format!("{provider} sent no sound that can be used")
        }
        other => other.to_string(),
    }
}

/// The audio of a result.
pub(super) struct Recording {
    pub(super) audio: Audio,
    /// How many chapters did not fit.
    pub(super) left_out: usize,
}

/// A chapter, ready to be spoken.
struct Spoken {
    who: Option<PersonaSlug>,
    name: String,
    voice: Voice,
    parts: Vec<String>,
}

impl Player {
    pub(super) fn find_playable(&self, kind: &str) -> Option<&Arc<dyn Playable>> {
        self.playables.iter().find(|playable| playable.kind() == kind)
    }

    /// Makes the audio. Parts that were spoken before come from the cache. `is_stopping` is asked before each part.
    pub(super) async fn make(&self, script: &Script, is_stopping: &(dyn Fn() -> bool + Send + Sync)) -> Result<Recording, PlayError> {
        let speech = self.speech.as_ref().ok_or(PlayError::Silent)?;
        let (spoken, left_out) = self.prepare(script).await?;
        let subject = format!("play-{}", script.id);
        let mut tracks = Vec::new();
        for chapter in spoken {
            let mut parts = Vec::new();
            for text in &chapter.parts {
                if is_stopping() {
                    return Err(PlayError::Stopping);
                }
                let utterance = Utterance { text, voice: &chapter.voice, persona: chapter.who.as_ref(), subject: &subject };
                parts.push(self.speak(speech, &utterance).await?);
            }
            tracks.push(Track { name: chapter.name, parts });
        }
        let title = script.title.clone();
        let joined = spawn_blocking(move || audio::join(&title, &tracks)).await;
        let audio = joined.map_err(|error| PlayError::Audio(error.to_string()))?.map_err(|error| PlayError::Audio(error.to_string()))?;
        if let Err(error) = self.cache.shrink(self.now()) {
            tracing::warn!(%error, "old spoken parts are not removed");
        }
        Ok(Recording { audio, left_out })
    }

    /// The speakers with their words. An error if there are none.
    async fn prepare(&self, script: &Script) -> Result<(Vec<Spoken>, usize), PlayError> {
        let names = self.list_names().await?;
        let words = |chapter: &Chapter| {
            let (text, _) = self.redactor.redact(&chapter.text);
            speakable(&text, &|id| names.get(id).cloned())
        };
        let said = script.chapters.iter().map(|chapter| (chapter, words(chapter))).filter(|(_, words)| !words.is_empty());
        let (said, left_out) = shorten(said.collect(), self.settings.characters as usize);
        if said.is_empty() {
            return Err(PlayError::Nothing);
        }
        let spoken = |(chapter, words): (&Chapter, String)| Spoken {
            who: chapter.who.clone(),
            name: chapter.name.clone(),
            voice: self.voice_of(chapter),
            parts: split(&words, Speech::CHARACTERS),
        };
        Ok((said.into_iter().map(spoken).collect(), left_out))
    }

    fn voice_of(&self, chapter: &Chapter) -> Voice {
        let persona = chapter.who.as_ref().and_then(|who| self.roster.find(who));
        persona.map_or_else(|| Voice::of(&chapter.name), |persona| persona.voice.clone())
    }

    /// The names of accounts.
    async fn list_names(&self) -> Result<HashMap<UserId, String>, StoreError> {
        let people = self.people.directory().await?;
        let mut names: HashMap<UserId, String> = people.people().map(|person| (person.id.clone(), person.name.clone())).collect();
        for identity in self.store.list_identities().await? {
            names.insert(identity.account, self.roster.name_of(&identity.persona).to_owned());
        }
        Ok(names)
    }

    /// An encoded part. It is in the cache before anything else is spoken, so that it is paid once.
    async fn speak(&self, speech: &Speech, utterance: &Utterance<'_>) -> Result<Vec<u8>, PlayError> {
        let voice = speech.describe(utterance.voice);
        let part = Part { engine: speech.name(), voice: &voice, text: utterance.text };
        if let Some(known) = self.cache.find(&part, self.now()) {
            return Ok(known);
        }
        let sound = speech.speak(utterance).await.map_err(|error| {
            tracing::warn!(engine = speech.name(), %error, "a part is not spoken");
            PlayError::Engine(error)
        })?;
        let encoded = spawn_blocking(move || audio::encode(&sound)).await.map_err(|error| PlayError::Audio(error.to_string()))?;
        let encoded = encoded.map_err(|error| PlayError::Audio(error.to_string()))?;
        if let Err(error) = self.cache.keep(&part, &encoded, self.now()) {
            tracing::warn!(%error, "a spoken part is not kept");
        }
        Ok(encoded)
    }

    fn now(&self) -> SystemTime {
        self.clock.now().into()
    }
}

/// Shortens to `limit` characters: keeps the first chapters and always the last one, which is the result. Also returns how many chapters were left
/// out.
fn shorten(mut said: Vec<(&Chapter, String)>, limit: usize) -> (Vec<(&Chapter, String)>, usize) {
    let length = |(_, words): &(&Chapter, String)| words.chars().count();
    let Some((last, result)) = said.pop() else { return (Vec::new(), 0) };
    let room = if said.is_empty() { limit } else { limit / 3 };
    let result = split(&result, room).into_iter().next().unwrap_or_default();
    let mut left = limit.saturating_sub(result.chars().count());
    let fits = |one: &(&Chapter, String)| {
        let fits = length(one) <= left;
        left = if fits { left - length(one) } else { 0 };
        fits
    };
    let taken = said.iter().take_while({
        let mut fits = fits;
        move |one| fits(one)
    });
    let taken = taken.count();
    let left_out = said.len() - taken;
    said.truncate(taken);
    let note = match left_out {
        0 => String::new(),
        1 => "One contribution is left out here. It is in the text.\n".to_owned(),
        more => format!("{more} contributions are left out here. They are in the text.\n"),
    };
    said.push((last, note + &result));
    (said, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapters(count: usize) -> Vec<Chapter> {
        (0..count).map(|number| Chapter { who: None, name: format!("c{number}"), text: String::new() }).collect()
    }

    fn names<'a>(said: &'a [(&Chapter, String)]) -> Vec<&'a str> {
        said.iter().map(|(chapter, _)| chapter.name.as_str()).collect()
    }

    #[test]
    fn a_long_meeting_keeps_its_beginning_and_its_result() {
        let all = chapters(5);
        let said = |words: &str| all.iter().map(|chapter| (chapter, words.to_owned())).collect::<Vec<_>>();
        let (short, left_out) = shorten(said("Ten chars."), 50);
        assert_eq!((names(&short), left_out), (vec!["c0", "c1", "c2", "c3", "c4"], 0));
        let (short, left_out) = shorten(said("Ten chars."), 35);
        assert_eq!((names(&short), left_out), (vec!["c0", "c1", "c4"], 2));
        assert_eq!(short[2].1, "2 contributions are left out here. They are in the text.\nTen chars.");
    }

    #[test]
    fn a_single_long_text_is_cut_after_a_sentence() {
        let all = chapters(1);
        let (short, left_out) = shorten(vec![(&all[0], "One. Two. Three.".to_owned())], 10);
        assert_eq!((short[0].1.as_str(), left_out), ("One. Two.", 0));
        assert!(shorten(Vec::new(), 10).0.is_empty());
    }
}
