//! Voice: what was said in a standup, a board meeting or a look back, as one audio file with a chapter for each speaker (VOICE-1, VOICE-2).
//!
//! A feature whose results can be heard is [`Playable`], and puts the button of [`Plays`] below them. `player` makes the audio: `speakable` turns
//! Markdown into words, the engine of the kernel speaks, `opus` encodes and joins, and `cache` keeps what was spoken by its text, its voice and its
//! engine. `jobs` does so for a click or a command, `commands` also at the terminal. Voice messages of people are read in the intake of chats.
//!
//! | the process dies after | stored state | what follows |
//! | --- | --- | --- |
//! | somebody asked for it | the job, of which only one is open for a result | it is made |
//! | a part was spoken | its file in the cache | it is taken from there, and not paid again |
//! | the audio was made | nothing more | it is put together again from the cache |
//! | the audio was stored | its message by an id that follows from the result, and the end of the job: one transaction | nothing; who asks again is told that it is there |

mod audio;
mod button;
mod cache;
mod commands;
mod feature;
mod jobs;
#[cfg(feature = "sound")]
mod opus;
mod player;
mod samples;
mod script;
mod settings;
mod speakable;

pub use button::Plays;
pub use feature::VoiceFeature;
pub use script::{Chapter, Playable, Script};
pub use settings::VoiceSettings;
