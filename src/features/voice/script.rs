use async_trait::async_trait;

use kernel::chat::outbound::OutboundMessage;
use kernel::commands::CommandCall;
use kernel::ids::PersonaSlug;

/// A kind of result that can be heard.
#[async_trait]
pub trait Playable: Send + Sync {
    /// A name in one word, such as `standup`.
    fn kind(&self) -> &'static str;

    /// The id of the result that a command names by its argument `id`, or of the last result in the command's place. Only results that may be told
    /// there.
    ///
    /// # Errors
    /// There is none.
    async fn find_asked(&self, call: &CommandCall) -> anyhow::Result<String>;

    /// None if the result is gone.
    async fn find_script(&self, id: &str) -> anyhow::Result<Option<Script>>;
}

/// The text of a result that can be heard.
#[derive(Debug, Clone)]
pub struct Script {
    /// Always the same for a result, also if it is asked for by another id.
    pub id: String,
    /// `Standup of Fri 27 Nov`
    pub title: String,
    /// The name of the file, without its ending.
    pub file: String,
    /// In the order in which it was said.
    pub chapters: Vec<Chapter>,
    /// The message that carries the audio: by whom and where. Its text and its files are not read.
    pub message: OutboundMessage,
}

/// What one speaker said in one go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// None: not a persona. The voice then follows from the name.
    pub who: Option<PersonaSlug>,
    pub name: String,
    /// As posted.
    pub text: String,
}
