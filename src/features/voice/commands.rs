//! `/play`, `teamroom play` and the button. In a chat they enqueue the job; at the terminal the file is made at once.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::features::voice::audio::ENDING;
use crate::features::voice::button::PlayButton;
use crate::features::voice::jobs::{audio_id, describe_left_out, enqueue, show_length};
use crate::features::voice::player::{PlayError, Player, SILENT};
use crate::features::voice::script::{Playable, Script};
use kernel::chat::medium::Medium;
use kernel::chat::outbox::Delivery;
use kernel::commands::{ArgumentSpec, Choice, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Surface, Topic, refuse};

const KINDS: &[Choice] = &[
    Choice::new("standup", "the last standup"),
    Choice::new("board", "the last board meeting"),
    Choice::new("overwatch", "what was noticed about the last mission"),
    Choice::new("voices", "how each persona sounds"),
];

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let player = services.late::<Player>();
    let spec = CommandSpec::new("play", "Listen to a standup, a board meeting or a look back, each speaker in their own voice.")
        .listed_under(Topic::Meetings)
        .example("standup --output monday.ogg")
        .changes()
        .argument(ArgumentSpec::choice("what", KINDS, "What you want to hear").required())
        .argument(ArgumentSpec::text(
            "id",
            100,
            "Which one: the day of a standup, the end of a board meeting's id or words of its question",
        ))
        .argument(
            ArgumentSpec::text("output", 400, "The file to write; by default one in this folder")
                .completed_by("file")
                .only_in(Surface::CommandLine),
        );
    registry.command(spec, &player, |player, call| Box::pin(play(player, call)));
    registry.button(PlayButton::PREFIX, &player, |player, call| Box::pin(press(player, call)));
}

async fn play(player: &Player, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let kind = call.arguments.get_text("what")?;
    let playable = find_playable(player, kind)?;
    let id = playable.find_asked(call).await?;
    let script = get_script(playable.as_ref(), &id).await?;
    if call.caller.is_command_line() { save(player, call, &script).await } else { request(player, kind, &script).await }
}

async fn press(player: &Player, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let Some(PlayButton { kind, id }) = PlayButton::parse(&call.name) else { return Ok(refuse("this button is not known any more")?) };
    let playable = find_playable(player, &kind)?;
    request(player, &kind, &get_script(playable.as_ref(), &id).await?).await
}

fn find_playable<'a>(player: &'a Player, kind: &str) -> Result<&'a Arc<dyn Playable>, Refused> {
    if player.speech.is_none() {
        return refuse(SILENT);
    }
    player.find_playable(kind).ok_or_else(|| Refused::new("that cannot be heard here"))
}

async fn get_script(playable: &dyn Playable, id: &str) -> anyhow::Result<Script> {
    let script = playable.find_script(id).await?.ok_or_else(|| Refused::new("it is gone"))?;
    if script.chapters.is_empty() {
        refuse("nothing was said")?;
    }
    Ok(script)
}

/// Has the audio made once, also if several people ask for it.
async fn request(player: &Player, kind: &str, script: &Script) -> anyhow::Result<CommandReply> {
    let title = Medium::Chat.line_within(&script.title, 120);
    match player.store.find_delivery(&audio_id(kind, script)).await? {
        None => {}
        Some(Delivery::Failed { why }) => {
            let why = Medium::Chat.line_within(&why, 200);
            return Ok(CommandReply::refused(format!("The audio of {title} was made but could not be posted: {why}")));
        }
        Some(_) => return Ok(CommandReply::private(format!("The audio of {title} is already in its thread."))),
    }
    let now = player.clock.now();
    let mut transaction = player.store.db().begin().await?;
    enqueue(&mut transaction, kind, script, now).await?;
    transaction.commit().await?;
    Ok(CommandReply::private(format!("Making the audio of {title}. It will be in its thread in a minute or two.")))
}

async fn save(player: &Player, call: &CommandCall, script: &Script) -> anyhow::Result<CommandReply> {
    let made = player.make(script, &|| false).await;
    let recording = made.map_err(|error| match error {
        PlayError::Store(error) => anyhow::Error::from(error),
        error => Refused::new(error.to_string()).into(),
    })?;
    let name = call.arguments.find_text("output").map_or_else(|| format!("{}.{ENDING}", script.file), str::to_owned);
    tokio::fs::write(Path::new(&name), &recording.audio.bytes).await.with_context(|| format!("cannot write {name}"))?;
    let audio = &recording.audio;
    let chapters: Vec<String> = audio.chapters.iter().map(|(start, name)| format!("- {} {name}", show_start(start.as_secs()))).collect();
    let left_out = describe_left_out(recording.left_out).map_or(String::new(), |note| format!(" {note}"));
    let text = format!("{}: {} in {name}.{left_out}\n{}", script.title, show_length(audio.length), chapters.join("\n"));
    let listed: Vec<Value> = audio.chapters.iter().map(|(start, name)| json!({ "start": start.as_secs_f64(), "title": name })).collect();
    let data = json!({
        "title": script.title, "file": name, "seconds": audio.length.as_secs_f64(), "chapters": listed, "left_out": recording.left_out,
    });
    Ok(CommandReply::private(text).with_data(data))
}

/// `1:05`
fn show_start(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
