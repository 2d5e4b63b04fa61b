use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use serenity::model::id::UserId as SnowflakeUser;
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::avatars::{data_uri, digest, picture_of};
use crate::adapters::discord::ports::Registrations;
use crate::adapters::discord::rest::{Call, Credential, Failure, Rest};
use kernel::persona::Persona;

/// Gives an account the picture of its persona.
///
/// Discord allows only few changes an hour. So a process tries it once, and never with the picture that was set last. If somebody chose an avatar in
/// the developer portal, only a picture that the persona's file names replaces it.
pub(crate) struct AccountAvatar {
    change: Arc<Change>,
    tried: AtomicBool,
}

pub(crate) struct Change {
    pub(crate) persona: Persona,
    pub(crate) credential: Arc<Credential>,
    pub(crate) rest: Arc<Rest>,
    pub(crate) registrations: Arc<dyn Registrations>,
    /// How long to wait after the login.
    pub(crate) wait: Duration,
    pub(crate) stop: CancellationToken,
}

impl AccountAvatar {
    pub(crate) fn new(change: Change) -> Self {
        Self { change: Arc::new(change), tried: AtomicBool::new(false) }
    }

    /// Called when the account is online. Nothing waits for its picture, and a refusal is only logged.
    pub(crate) fn came_online(&self, runtime: &tokio::runtime::Handle, account: SnowflakeUser, has_avatar: bool) {
        let chosen = has_avatar && self.change.persona.avatar.is_none();
        if chosen || self.tried.swap(true, Ordering::Relaxed) {
            return;
        }
        let change = Arc::clone(&self.change);
        runtime.spawn(async move {
            if change.stop.run_until_cancelled(tokio::time::sleep(change.wait)).await.is_some() {
                change.make(account).await;
            }
        });
    }
}

impl Change {
    async fn make(&self, account: SnowflakeUser) {
        let (picture, scope) = (picture_of(&self.persona), format!("/users/{account}/avatar"));
        let persona = &self.persona.slug;
        let digest = digest(&picture.bytes);
        match self.registrations.find(&scope).await {
            Ok(Some(known)) if known == digest => return,
            Ok(_) => {}
            Err(error) => return tracing::warn!(%persona, %error, "whether the avatar is set cannot be read; it is left alone"),
        }
        let call = Call::patch("/users/@me".to_owned()).body(json!({ "avatar": data_uri(&picture) }), &[]).needs("a bot account");
        if let Err(failure) = self.rest.call(&self.credential, call).await {
            return self.note(&failure);
        }
        tracing::info!(%persona, "avatar set");
        if let Err(error) = self.registrations.record(&scope, &digest).await {
            tracing::warn!(%persona, %error, "that the avatar is set could not be recorded");
        }
    }

    fn note(&self, failure: &Failure) {
        tracing::warn!(persona = %self.persona.slug, %failure, "the avatar could not be set; it is tried again at the next start");
    }
}
