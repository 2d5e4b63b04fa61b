use kernel::chat::PlatformEvent;
use kernel::commands::{ArgumentKind, ArgumentSpec, CommandSpec, Registry};
use serde_json::{Value, json};
use serenity::all::ApplicationId;
use sha2::{Digest, Sha256};

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::commands::duty::Duty;
use crate::adapters::discord::rest::{Call, Failure};

/// Discord's numbers for option types.
const SUBCOMMAND: u8 = 1;
const STRING: u8 = 3;
const INTEGER: u8 = 4;
const NUMBER: u8 = 10;

/// Registers all commands with the account that has them, or removes them from an account that had them before, in one call. Does nothing if the same
/// set is registered already: Discord allows 200 registrations a day, and clients take a while to pick up each one. Tries again while Discord does
/// not answer.
pub(super) async fn settle(interactions: &Interactions, application: ApplicationId) {
    let _one_at_a_time = interactions.registering.lock().await;
    let path = match &interactions.server {
        Some(server) => format!("/applications/{application}/guilds/{server}/commands"),
        None => format!("/applications/{application}/commands"),
    };
    let Interactions { credential, duty, registrations, timing, .. } = interactions;
    let mut pause = timing.first_pause;
    loop {
        let payload = match duty.find(&credential.persona) {
            Duty::Has => payload(&interactions.registry),
            Duty::Gave => json!([]),
            Duty::Waits => return,
        };
        let digest = digest(&payload);
        match registrations.find(&path).await {
            Ok(Some(registered)) if registered == digest => return,
            Ok(None) if payload == json!([]) => return,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "whether the commands are registered cannot be read; they are registered again"),
        }
        match put(interactions, path.clone(), payload).await {
            Ok(()) => {
                tracing::info!(persona = %credential.persona, "commands registered");
                if let Err(error) = registrations.record(&path, &digest).await {
                    tracing::warn!(%error, "that the commands are registered could not be recorded");
                }
                return;
            }
            Err(Failure::Unreachable(reason)) => {
                tracing::warn!(reason, ?pause, "the commands could not be registered; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(timing.longest_pause);
            }
            Err(Failure::RateLimited(wait)) => tokio::time::sleep(wait).await,
            Err(failure) => {
                let name = &credential.name;
                let text = format!(
                    "Discord does not let {name} have the slash commands: {failure}. Another of us has them meanwhile, if one can."
                );
                tracing::error!(persona = %credential.persona, "{text}");
                interactions.hub.announce(PlatformEvent::Trouble { persona: credential.persona.clone(), text });
                return duty.gave_up(&credential.persona);
            }
        }
    }
}

/// The commands in Discord's JSON format.
fn payload(registry: &Registry) -> Value {
    registry.commands().iter().filter(|command| command.surface.is_in_chat()).map(describe_command).collect()
}

fn describe_command(command: &CommandSpec) -> Value {
    json!({ "type": 1, "name": command.name, "description": command.description, "options": describe_options(command) })
}

fn describe_options(command: &CommandSpec) -> Value {
    let subcommands = command.subcommands.iter().filter(|command| command.surface.is_in_chat()).map(|subcommand| {
        json!({ "type": SUBCOMMAND, "name": subcommand.name, "description": subcommand.description, "options": describe_options(subcommand) })
    });
    subcommands.chain(command.arguments.iter().filter(|argument| argument.surface.is_in_chat()).map(describe_argument)).collect()
}

fn describe_argument(argument: &ArgumentSpec) -> Value {
    /// The length limit for names given as options.
    const NAME: u16 = 100;
    let ArgumentSpec { name, description, required, .. } = argument;
    let common = json!({ "name": name, "description": description, "required": required });
    let special = match argument.kind {
        ArgumentKind::Text(most) | ArgumentKind::NameOrId(most) => json!({ "type": STRING, "max_length": most }),
        ArgumentKind::Reference(_) => json!({ "type": STRING, "max_length": NAME, "autocomplete": true }),
        ArgumentKind::Choice(choices) => {
            let choices: Vec<_> = choices.iter().map(|choice| json!({ "name": choice.label, "value": choice.value })).collect();
            json!({ "type": STRING, "choices": choices })
        }
        ArgumentKind::Number { min, max } => json!({ "type": NUMBER, "min_value": min, "max_value": max }),
        ArgumentKind::Integer { min, max } => json!({ "type": INTEGER, "min_value": min, "max_value": max }),
        ArgumentKind::Duration | ArgumentKind::Date => json!({ "type": STRING, "max_length": NAME }),
    };
    let (Value::Object(mut option), Value::Object(special)) = (common, special) else { return Value::Null };
    option.extend(special);
    Value::Object(option)
}

async fn put(interactions: &Interactions, path: String, payload: Value) -> Result<(), Failure> {
    interactions.rest.call(&interactions.credential, Call::put(path).body(payload, &[])).await?;
    Ok(())
}

fn digest(payload: &Value) -> String {
    use std::fmt::Write as _;
    Sha256::digest(payload.to_string()).iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_follows_the_set() {
        let set = serde_json::json!([{"name": "ask"}]);
        assert_eq!(digest(&set), digest(&set.clone()));
        assert_ne!(digest(&set), digest(&serde_json::json!([{"name": "ask", "description": "x"}])));
        assert_eq!(digest(&set).len(), 64);
    }
}
