//! `/remind`, `teamroom remind` and the buttons below reminders.

use std::fmt::Write as _;

use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::button::{DateButton, RemindButton};
use super::model::Reminder;
use super::render::{render_cancelled, render_list, render_set, render_snoozed, render_undelivered};
use super::request::ForWhom;
use super::service::{Asked, Asker, RemindError, Reminders};
use crate::features::schedule::get_channel;
use kernel::chat::medium::shorten;
use kernel::chat::message::{Channel, Place};
use kernel::commands::{
    ArgumentSpec, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, Surface, Topic, refuse,
};
use kernel::when::Repetition;

/// The longest text of a suggestion.
const SUGGESTED: usize = 60;

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let reminders = services.late::<Reminders>();
    let which = || ArgumentSpec::text("which", 100, "Its id from the list, or words of it").required().completed_by("reminder");
    registry
        .group(CommandSpec::new("remind", "Reminders, once or repeated.").listed_under(Topic::Work), &reminders)
        .command(
            CommandSpec::new("new", "Set a reminder.")
                .example("\"tomorrow at 9\" \"pay the hosting bill\" --whom ann --channel general")
                .people_only()
                .public()
                .offered_as("Set a reminder", "what")
                .argument(
                    ArgumentSpec::text("when", 100, "When: tomorrow at 9, in 1.5 hours, Friday 14:30, every other Monday at 8").required(),
                )
                .argument(ArgumentSpec::text("what", 1000, "What to be reminded of").required())
                .argument(
                    ArgumentSpec::name_or_id("whom", 100, "Whom to remind: a name or a mention; you by default")
                        .completed_by("person")
                        .caller_by_default(),
                )
                .argument(
                    ArgumentSpec::name_or_id("channel", 100, "The channel to say it in, by name or id")
                        .completed_by("channel")
                        .only_in(Surface::CommandLine),
                ),
            |reminders, call| Box::pin(add(reminders, call)),
        )
        .command(CommandSpec::new("list", "The reminders that wait in this channel."), |reminders, call| Box::pin(list(reminders, call)))
        .command(
            CommandSpec::new("snooze", "Move a reminder to a later time.")
                .example("a1b2c3 --until \"in 2 hours\"")
                .public()
                .argument(which())
                .argument(ArgumentSpec::text("until", 100, "Until when: tomorrow at 9, 2 hours; one hour by default")),
            |reminders, call| Box::pin(snooze(reminders, call)),
        )
        .command(CommandSpec::new("cancel", "Cancel a reminder.").example("a1b2c3").public().argument(which()), |reminders, call| {
            Box::pin(cancel(reminders, call))
        })
        .command(
            CommandSpec::new("zone", "Show or choose the time zone of your reminders.")
                .changes()
                .only_in(Surface::Chat)
                .argument(ArgumentSpec::text("zone", 60, "Such as Europe/Berlin; team for the team's")),
            |reminders, call| Box::pin(choose_zone(reminders, call)),
        );
    registry.completion("reminder", &reminders, |reminders, typed| Box::pin(complete(reminders, typed)));
    registry.button(RemindButton::PREFIX, &reminders, |reminders, call| Box::pin(press(reminders, call)));
    registry.button(DateButton::PREFIX, &reminders, |reminders, call| Box::pin(answer_date(reminders, call)));
}

async fn add(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (asker, now) = (Asker::of(call), reminders.now());
    let channel = find_place(reminders, call).await?;
    let whom = call.arguments.find_text("whom").map_or(ForWhom::Me, ForWhom::parse);
    if asker.person.is_none() && whom == ForWhom::Me {
        refuse("whom? Add --whom with the name or the id of a person, or set TEAMROOM_ME to your own name")?;
    }
    let says = reminders.asker_of(asker.id()).await?;
    let reading = Reminders::read(call.arguments.get_text("when")?, &says).map_err(explain)?;
    let what = call.arguments.get_text("what")?;
    // The coordinator answers commands, also in a direct conversation, so it tells these reminders.
    let persona = &reminders.roster().coordinator().slug;
    let request = Asked { whom: &whom, what, when: &reading.when, zone: says.zone, by: asker.person.clone(), channel: &channel, persona };
    let reminder = reminders.draft(request).await.map_err(explain)?;
    reminders.store().add_reminder(&reminder, now).await?;
    let text = format!("{} (`{}`)", render_set(&reminder, &reading, asker.id(), now), reminder.short_id());
    Ok(CommandReply::public(text).with_data(json!({ "reminder": describe(&reminder) })))
}

async fn list(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let asker = Asker::of(call);
    let mut listed = reminders.list(&asker).await.map_err(explain)?;
    let mut undelivered = reminders.list_undelivered(&asker).await.map_err(explain)?;
    if call.caller.is_command_line() {
        hide_private(reminders, listed.iter_mut().chain(undelivered.iter_mut().map(|(reminder, _)| reminder))).await?;
    }
    let now = reminders.now();
    let mut text = render_list(&listed, now, call.caller.is_command_line());
    if !undelivered.is_empty() {
        let _ = write!(text, "\n\n{}", render_undelivered(&undelivered, now, call.caller.is_command_line()));
    }
    let lost = undelivered.iter().map(|(reminder, why)| {
        let mut data = describe(reminder);
        data["not_delivered"] = why.as_str().into();
        data
    });
    let data = listed.iter().filter(|reminder| undelivered.iter().all(|(lost, _)| lost.id != reminder.id)).map(describe).chain(lost);
    Ok(CommandReply::private(text).with_data(data.collect()))
}

/// For the command line alone, so what people asked for in private channels is not shown.
async fn complete(reminders: &Reminders, typed: &str) -> Vec<Suggestion> {
    let mut listed = reminders.list(&Asker::at_terminal()).await.unwrap_or_default();
    if hide_private(reminders, listed.iter_mut()).await.is_err() {
        return Vec::new();
    }
    let fits = listed.iter().filter(|reminder| reminder.short_id().starts_with(typed));
    let label = |reminder: &Reminder| format!("{}: {}", reminder.whom.name, shorten(&reminder.what, SUGGESTED));
    fits.map(|reminder| Suggestion { value: reminder.short_id().to_owned(), label: label(reminder) }).collect()
}

/// At the command line, who reads is not known. What people asked for in a private channel is shown by the channel's name alone.
async fn hide_private(reminders: &Reminders, listed: impl Iterator<Item = &mut Reminder>) -> anyhow::Result<()> {
    let seen: Vec<Channel> = reminders.store().list_channels().await?.into_iter().map(|seen| seen.channel).collect();
    // What was set at the command line was never private.
    for reminder in listed.filter(|reminder| reminder.by.is_some()) {
        let channel = seen.iter().find(|channel| channel.id == reminder.channel);
        if channel.is_none_or(|channel| channel.private) {
            let name = channel.map_or("", |channel| channel.name.as_str());
            reminder.what = if name.is_empty() { "(private)".to_owned() } else { format!("(private, in #{name})") };
        }
    }
    Ok(())
}

async fn snooze(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let asker = Asker::of(call);
    let says = reminders.asker_of(asker.id()).await?;
    let until = Reminders::parse_instant(call.arguments.find_text("until").unwrap_or("in 1 hour"), &says).map_err(explain)?;
    let reminder = reminders.snooze(call.arguments.get_text("which")?, until, &asker).await.map_err(explain)?;
    let text = render_snoozed(&reminder, asker.id(), reminders.now());
    Ok(CommandReply::public(text).with_data(json!({ "reminder": describe(&reminder) })))
}

async fn cancel(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let asker = Asker::of(call);
    let reminder = reminders.cancel(call.arguments.get_text("which")?, &asker).await.map_err(explain)?;
    Ok(CommandReply::public(render_cancelled(&reminder, asker.id())).with_data(json!({ "reminder": describe(&reminder) })))
}

async fn choose_zone(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let Some(person) = Asker::of(call).person else {
        return Ok(refuse("whose? Choose it with `/remind zone` in the chat. The team's is `zone` in `[schedules]`")?);
    };
    let zone = match call.arguments.find_text("zone") {
        Some(name) => reminders.choose_zone(&person.id, name).await.map_err(explain)?,
        None => reminders.zone_of(Some(&person.id)).await?,
    };
    let now = reminders.now().with_timezone(&zone).format("%H:%M");
    Ok(CommandReply::private(format!("Times of your reminders are in {}, where it is {now} now.", zone.name())))
}

async fn press(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    match RemindButton::parse(&call.name) {
        Some(button) => reminders.press(&button, &Asker::of(call)).await.map_err(explain),
        None => Ok(refuse("this button is not known any more")?),
    }
}

async fn answer_date(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<CommandReply> {
    match DateButton::parse(&call.name) {
        Some(button) => reminders.answer_date(&button, &Asker::of(call)).await.map_err(explain),
        None => Ok(refuse("this button is not known any more")?),
    }
}

/// The channel of the reminder: that of the call, or at the command line the one in `--channel`.
async fn find_place(reminders: &Reminders, call: &CommandCall) -> anyhow::Result<Channel> {
    if let Some(channel) = &call.channel {
        return Ok(channel.clone());
    }
    let Some(asked) = call.arguments.find_text("channel") else {
        return Ok(refuse("where? Add --channel with the name or the id of a channel")?);
    };
    let channel = get_channel(reminders.store(), asked).await?;
    if channel.place == Place::Direct {
        refuse(format!("{asked} is a direct conversation. Give a channel"))?;
    }
    Ok(channel)
}

/// Shows a refusal to the person. An error of the store stays an internal error.
fn explain(error: RemindError) -> anyhow::Error {
    match error {
        RemindError::Refused(why) => Refused::new(why).into(),
        RemindError::Store(error) => error.into(),
    }
}

fn describe(reminder: &Reminder) -> Value {
    json!({
        "id": reminder.short_id(), "what": reminder.what, "whom": reminder.whom, "by": reminder.by, "channel": reminder.channel,
        "due": reminder.due.to_rfc3339_opts(SecondsFormat::Secs, true), "repeat": reminder.repeat.as_ref().map(Repetition::describe),
        "zone": reminder.zone.name(), "state": reminder.state,
    })
}
