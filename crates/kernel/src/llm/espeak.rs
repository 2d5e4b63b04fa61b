use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::llm::sound::Sound;
use crate::llm::{Cause, ModelError};
use crate::persona::Voice;
use crate::program::find_program;

pub(super) const NAME: &str = "espeak-ng";

/// Its variants of a voice. They differ more than voices of another pitch and speed.
const VARIANTS: [&str; 10] = ["m1", "f1", "m3", "f2", "m4", "f3", "m7", "f4", "m5", "f5"];

/// Words a minute at the usual speed.
const WORDS: u32 = 165;

/// The program `espeak-ng` on this machine.
pub(super) struct Espeak {
    program: PathBuf,
}

impl Espeak {
    /// None if it is not installed.
    pub(super) fn find() -> Option<Self> {
        let program = find_program(NAME, &std::env::var_os("PATH")?)?;
        Some(Self { program })
    }

    /// The arguments for a voice, as one text.
    pub(super) fn describe(voice: &Voice) -> String {
        Self::arguments_of(voice, &voice.accent).join(" ")
    }

    fn arguments_of(voice: &Voice, accent: &str) -> [String; 6] {
        let variant = VARIANTS[voice.seed % VARIANTS.len()];
        let words = WORDS * u32::from(voice.speed) / 100;
        ["-v".into(), format!("{accent}+{variant}"), "-p".into(), voice.pitch.to_string(), "-s".into(), words.to_string()]
    }

    /// Speaks with the language alone if the program does not have the accent.
    pub(super) async fn speak(&self, text: &str, voice: &Voice, limit: Duration) -> Result<Sound, ModelError> {
        match self.attempt(text, (voice, &voice.accent), limit).await {
            Err(ModelError::Refused { .. }) if voice.accent.contains('-') => {
                let language = voice.accent.split('-').next().unwrap_or_default();
                self.attempt(text, (voice, language), limit).await
            }
            done => done,
        }
    }

    async fn attempt(&self, text: &str, voice: (&Voice, &str), limit: Duration) -> Result<Sound, ModelError> {
        let provider = || NAME.to_owned();
        match tokio::time::timeout(limit, self.run(text, voice)).await {
            Err(_) => Err(ModelError::TimedOut { provider: provider() }),
            Ok(Err(error)) => {
                let reason = format!("{} does not run: {error}", self.program.display());
                Err(ModelError::Busy { provider: provider(), reason, cause: Cause::Other, retry_after: None })
            }
            Ok(Ok((_, bytes))) if !bytes.is_empty() => {
                Sound::from_wav(&bytes).map_err(|reason| ModelError::Garbled { provider: provider(), reason })
            }
            // The program says on stderr what is wrong, for example that it does not have an accent.
            Ok(Ok((told, _))) => {
                let reason = if told.is_empty() { "it sent no sound".to_owned() } else { told };
                Err(ModelError::Refused { provider: provider(), reason, cause: Cause::Other })
            }
        }
    }

    /// The text on stderr, and the sound.
    async fn run(&self, text: &str, (voice, accent): (&Voice, &str)) -> std::io::Result<(String, Vec<u8>)> {
        let mut command = Command::new(&self.program);
        command.args(Self::arguments_of(voice, accent)).args(["-b", "1", "--stdin", "--stdout"]).env_clear().kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut input = child.stdin.take();
        let write = async {
            if let Some(input) = &mut input {
                // The program may end before it has read everything, and then says why.
                let _ = input.write_all(text.as_bytes()).await;
            }
            drop(input);
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output?;
        let told = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().chars().take(200).collect();
        Ok((told, output.stdout))
    }
}
