use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serenity::model::id::{ApplicationId, EmojiId};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::adapters::discord::avatars::{data_uri, digest, picture_of};
use crate::adapters::discord::rest::{Call, Credential, Failure, Rest};
use kernel::ids::PersonaSlug;
use kernel::persona::Persona;

/// A message does not wait longer for its picture.
const PATIENCE: Duration = Duration::from_secs(4);
/// The pause after a failure.
const PAUSE: Duration = Duration::from_mins(10);
/// The longest part of an emoji's name that stands for a persona. Discord allows 32 characters in all.
const SLUG: usize = 16;
/// How much of the picture's digest an emoji's name contains.
const MARK: usize = 6;

/// The pictures of personas that post through webhooks.
///
/// A webhook's message names an address for its picture. Discord has no place for such files but the emojis of the application, whose addresses
/// are public and do not expire. Nobody uses them as emojis.
#[derive(Default)]
pub(crate) struct Emojis {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By the account whose application has the emoji, and the persona.
    addresses: HashMap<(PersonaSlug, PersonaSlug), String>,
    /// Accounts whose last upload failed, and when they may try again. Until then no message waits for a picture.
    failed: HashMap<PersonaSlug, Instant>,
}

#[derive(Deserialize)]
struct Listed {
    items: Vec<Emoji>,
}

#[derive(Deserialize)]
struct Emoji {
    id: EmojiId,
    name: String,
}

impl Emojis {
    /// The address of a persona's picture. None if there cannot be one at the moment.
    pub(crate) async fn find_address(
        &self,
        rest: &Rest,
        owner: &Credential,
        application: ApplicationId,
        persona: &Persona,
    ) -> Option<String> {
        // Held across the calls, so that two concurrent posts do not upload a picture twice.
        let mut known = self.known.lock().await;
        let key = (owner.persona.clone(), persona.slug.clone());
        if let Some(address) = known.addresses.get(&key) {
            return Some(address.clone());
        }
        if known.failed.get(&owner.persona).is_some_and(|again| *again > Instant::now()) {
            return None;
        }
        let failure = match tokio::time::timeout(PATIENCE, provide(rest, owner, application, persona)).await {
            Ok(Ok(id)) => {
                let address = rest.address().emoji(id);
                known.addresses.insert(key, address.clone());
                return Some(address);
            }
            Ok(Err(failure)) => failure.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(persona = %persona.slug, failure, "the picture could not be uploaded; messages go without it");
        known.failed.insert(owner.persona.clone(), Instant::now() + PAUSE);
        None
    }
}

/// Finds the emoji, or uploads it and deletes those with earlier pictures of the persona.
async fn provide(rest: &Rest, owner: &Credential, application: ApplicationId, persona: &Persona) -> Result<EmojiId, Failure> {
    let path = format!("/applications/{application}/emojis");
    let picture = picture_of(persona);
    let (stem, mark) = (stem(&persona.slug), &digest(&picture.bytes)[..MARK]);
    let name = format!("{stem}{mark}");
    let Listed { items } = rest.fetch(owner, Call::get(path.clone()).needs("a bot account")).await?;
    if let Some(found) = items.iter().find(|emoji| emoji.name == name) {
        return Ok(found.id);
    }
    let call = Call::post(path.clone()).body(json!({ "name": name, "image": data_uri(&picture) }), &[]).needs("a bot account");
    let made: Emoji = rest.fetch(owner, call).await?;
    // Earlier messages keep their pictures, which Discord has copied.
    for outdated in items.iter().filter(|emoji| is_of(&emoji.name, &stem)) {
        let call = Call::delete(format!("{path}/{}", outdated.id)).needs("a bot account");
        if let Err(failure) = rest.call(owner, call).await {
            tracing::warn!(persona = %persona.slug, %failure, "an outdated picture could not be deleted");
        }
    }
    Ok(made.id)
}

/// What the names of a persona's emojis begin with. Discord allows letters, digits and underscores.
fn stem(slug: &PersonaSlug) -> String {
    let plain = slug.as_str().replace('-', "_");
    let part =
        if plain.len() <= SLUG { plain } else { format!("{}_{}", &plain[..SLUG - MARK - 1], &digest(slug.as_str().as_bytes())[..MARK]) };
    format!("teamroom_{part}_")
}

fn is_of(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|mark| mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_named_after_its_persona_within_discords_limits() {
        let long = stem(&"the-very-long-name-of-somebody".into());
        assert_eq!(stem(&"big-ear".into()), "teamroom_big_ear_");
        assert!(long.starts_with("teamroom_the_very__") && long.len() + MARK == 32, "{long}");
        assert_ne!(long, stem(&"the-very-long-name-of-another".into()));
    }

    #[test]
    fn only_pictures_of_the_same_persona_are_outdated() {
        let stem = stem(&"big".into());
        assert!(is_of("teamroom_big_00ff12", &stem));
        for other in ["teamroom_big_ear_00ff12", "teamroom_big_party", "big_00ff12", "teamroom_big_00ff123"] {
            assert!(!is_of(other, &stem), "{other}");
        }
    }
}
