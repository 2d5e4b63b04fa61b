//! Posts, edits and reads back.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, Utc};
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundMessage, Posted};
use kernel::chat::{PlatformEvent, SendError};
use kernel::ids::{MessageId, UserId};
use kernel::persona::Persona;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::adapters::slack::Slack;
use crate::adapters::slack::accounts::App;
use crate::adapters::slack::api::{Api, Arguments, Failure};
use crate::adapters::slack::connect::report;
use crate::adapters::slack::directory::next_cursor;
use crate::adapters::slack::ids::{Spot, message_id, to_message, to_spot, to_user};
use crate::adapters::slack::inbound::{SlackMessage, instant, stamp};
use crate::adapters::slack::render::{Rendered, UploadedFile, render, render_beside, render_plainly, words};

/// Slack takes about one message a second in a channel.
const PACE: Duration = Duration::from_secs(1);

/// Marks our messages, so that a post can be found again. Slack does not drop repeated posts.
const MARK: &str = "teamroom_message";

/// The longest text that Slack recommends for a message without blocks.
const PLAIN: usize = 4000;

/// Writes a message for Slack, with the names of commands and of people.
type Form = fn(&OutboundMessage, &[UploadedFile], &[&str], &dyn Fn(&UserId) -> Option<String>) -> Rendered;

/// Messages of a page, and the most pages that are read back.
pub(super) const PAGE: &str = "200";
const PAGES: usize = 10;

/// When the next message may be posted in each channel.
#[derive(Default)]
pub(super) struct Pace(Mutex<HashMap<String, Instant>>);

impl Pace {
    /// Waits for the channel's turn.
    async fn wait(&self, channel: &str) {
        let turn = {
            let mut next = self.0.lock().expect("no code panics while it holds the times");
            let now = Instant::now();
            next.retain(|_, at| *at > now);
            let turn = next.get(channel).copied().unwrap_or(now);
            next.insert(channel.to_owned(), turn + PACE);
            turn
        };
        tokio::time::sleep_until(turn).await;
    }
}

impl Slack {
    pub(super) async fn post(&self, app: &App, message: &OutboundMessage) -> Result<Posted, SendError> {
        let spot = to_spot(&message.channel).map_err(Failure::from)?;
        let files = upload(&self.api, app, &message.files).await?;
        let mark = json!({ "event_type": MARK, "event_payload": { "id": message.id.as_str() } });
        // Files are shown by their links.
        let shows_files = if files.is_empty() { "false" } else { "true" };
        let arguments = Arguments::default()
            .with("channel", spot.channel)
            .with_some("thread_ts", spot.thread)
            .json("metadata", &mark)
            .with("unfurl_links", shows_files)
            .with("unfurl_media", shows_files);
        let guest = self.guest(message);
        let arguments = match guest {
            Some(persona) => arguments.with("username", &persona.name).with("icon_emoji", icon_of(persona)),
            None => arguments,
        };
        self.pace.wait(spot.channel).await;
        let answer = self.call_in_a_form_it_takes(app, "chat.postMessage", &arguments, message, &files).await?;
        if let Some(persona) = guest {
            self.check_name(app, persona, &answer).await;
        }
        Ok(posted(message, spot, &answer)?)
    }

    /// Posts or edits a message. If Slack refuses its form, it is sent as plain text, and then as a file.
    async fn call_in_a_form_it_takes(
        &self,
        app: &App,
        method: &'static str,
        arguments: &Arguments,
        message: &OutboundMessage,
        files: &[UploadedFile],
    ) -> Result<Map<String, Value>, Failure> {
        let with = |form: &Rendered| {
            let arguments = arguments.clone().with("text", &*form.text);
            arguments.json("blocks", &form.blocks).json("attachments", &form.attachments)
        };
        let mut ended = self.call(app, method, with(&self.render(message, files, render))).await;
        if let Err(failure) = &ended
            && failure.is_about_form()
        {
            tracing::warn!(outbox = %message.id, %failure, "a message is sent as plain text");
            let plainly = self.render(message, files, render_plainly);
            if plainly.text.chars().count() <= PLAIN {
                ended = self.call(app, method, with(&plainly)).await;
            }
        }
        if let Err(failure) = &ended
            && failure.is_about_form()
        {
            tracing::warn!(outbox = %message.id, %failure, "a message is sent as a file");
            let form = self.as_file(app, message, files).await?;
            ended = self.call(app, method, with(&form)).await;
        }
        ended
    }

    /// A message whose words are in a file.
    async fn as_file(&self, app: &App, message: &OutboundMessage, files: &[UploadedFile]) -> Result<Rendered, Failure> {
        let words = words(message, &self.hub.commands, &|user| self.name_of(user));
        let file = OutboundFile { name: "message.md".to_owned(), content: FileContent::Text(words.clone()) };
        let uploaded = upload(&self.api, app, &[file]).await?;
        Ok(render_beside(message, &words, &[&*uploaded, files].concat()))
    }

    /// Calls Slack for what the team says. Operators hear of a token that is no longer accepted.
    async fn call(&self, app: &App, method: &'static str, arguments: Arguments) -> Result<Map<String, Value>, Failure> {
        let answer = self.api.call(&app.speaking, method, arguments).await;
        match &answer {
            Ok(_) => app.note_refused(false),
            Err(failure @ Failure::Revoked { .. }) => {
                report(&self.hub, app, failure, false).await;
                app.note_refused(true);
            }
            Err(_) => {}
        }
        answer
    }

    /// Checks the name that Slack shows. If the app may not use other names, Slack silently posts under the app's own.
    async fn check_name(&self, app: &App, persona: &Persona, answer: &Map<String, Value>) {
        let shown = answer.get("message").and_then(|message| message["username"].as_str());
        if shown == Some(persona.name.as_str()) {
            return;
        }
        let text = "What personas without an app of their own say appears under the app's name. Give the app the scope chat:write.customize, and install it again.";
        if app.note_trouble(text, false) {
            tracing::warn!(persona = %persona.slug, "{text}");
            self.hub.announce(PlatformEvent::Trouble { persona: app.persona.clone(), text: text.to_owned() }).await;
        }
    }

    pub(super) async fn replace(&self, app: &App, message: &OutboundMessage, old: &MessageId) -> Result<Posted, SendError> {
        let spot = to_spot(&message.channel).map_err(Failure::from)?;
        let (channel, old) = to_message(old).map_err(Failure::from)?;
        let files = upload(&self.api, app, &message.files).await?;
        let arguments = Arguments::default().with("channel", channel).with("ts", old);
        let answer = self.call_in_a_form_it_takes(app, "chat.update", &arguments, message, &files).await.map_err(Failure::of_edit)?;
        Ok(posted(message, spot, &answer)?)
    }

    /// Looks for our message among those posted since `since`.
    pub(super) async fn find_again(&self, app: &App, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, Failure> {
        let spot = to_spot(&message.channel)?;
        // The clocks of the two sides may differ a little.
        let since = stamp(since - chrono::Duration::seconds(30));
        let ours = |found: &SlackMessage| {
            let mark = found.metadata.as_ref().filter(|mark| mark.event_type == MARK);
            mark.is_some_and(|mark| mark.event_payload["id"] == message.id.as_str())
        };
        let found = self.list_since(app, spot, &since).await?.into_iter().find(ours);
        Ok(found.map(|found| Posted {
            channel: message.channel.clone(),
            message: message_id(spot.channel, &found.ts),
            at: instant(&found.ts),
        }))
    }

    /// The messages of a channel or a thread after a time stamp, oldest first.
    pub(super) async fn list_since(&self, app: &App, spot: Spot<'_>, since: &str) -> Result<Vec<SlackMessage>, Failure> {
        let (mut found, mut cursor): (Vec<SlackMessage>, _) = (Vec::new(), String::new());
        for _ in 0..PAGES {
            let page;
            let wanted = Arguments::default()
                .with("oldest", since)
                .with("limit", PAGE)
                .with("include_all_metadata", "true")
                .with_some("cursor", Some(cursor.as_str()).filter(|cursor| !cursor.is_empty()));
            (page, cursor) = self.read_page(app, spot, wanted).await?;
            // A thread begins with the message on which it hangs, however old.
            found.extend(page.into_iter().filter(|message| message.ts.as_str() > since && Some(message.ts.as_str()) != spot.thread));
            if cursor.is_empty() {
                break;
            }
        }
        found.sort_by(|one, other| one.ts.cmp(&other.ts));
        Ok(found)
    }

    /// A page of a channel or a thread, and the cursor of the next one. A channel's newest page comes first. `wanted`: which part, and how much of it.
    pub(super) async fn read_page(&self, app: &App, spot: Spot<'_>, wanted: Arguments) -> Result<(Vec<SlackMessage>, String), Failure> {
        let arguments = wanted.with("channel", spot.channel).with_some("ts", spot.thread);
        let method = if spot.thread.is_some() { "conversations.replies" } else { "conversations.history" };
        let page = self.api.call(&app.speaking, method, arguments).await?;
        let messages = page.get("messages").and_then(Value::as_array).into_iter().flatten();
        let read = |message: &Value| match serde_json::from_value::<SlackMessage>(message.clone()) {
            Ok(message) => Some(SlackMessage { channel: spot.channel.to_owned(), ..message }),
            Err(error) => {
                tracing::warn!(channel = spot.channel, %error, "a message of the history cannot be read");
                None
            }
        };
        Ok((messages.filter_map(read).collect(), next_cursor(&page)))
    }

    fn render(&self, message: &OutboundMessage, files: &[UploadedFile], form: Form) -> Rendered {
        form(message, files, &self.hub.commands, &|user| self.name_of(user))
    }

    fn name_of(&self, user: &UserId) -> Option<String> {
        let id = to_user(user).ok()?;
        let persona = self.hub.apps.find_account(id).and_then(|slug| self.hub.roster.find(slug));
        persona.map(|persona| persona.name.clone()).or_else(|| self.hub.directory.name_of(id))
    }

    /// The persona of a message, if it speaks through an app that it shares.
    fn guest(&self, message: &OutboundMessage) -> Option<&Persona> {
        self.hub.roster.find_speaker(&message.persona).filter(|persona| self.hub.apps.shares_an_app(&persona.slug))
    }
}

/// Uploads files without posting them, so that they show only through a link. A repeated upload after a crash is therefore visible to nobody.
pub(super) async fn upload(api: &Api, app: &App, files: &[OutboundFile]) -> Result<Vec<UploadedFile>, Failure> {
    let mut uploaded = Vec::new();
    for file in files {
        let content = file.content.as_bytes().to_vec();
        let arguments = Arguments::default().with("filename", &file.name).with("length", content.len().to_string());
        let place = api.call(&app.speaking, "files.getUploadURLExternal", arguments).await?;
        let text = |name: &str| place.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text("file_id");
        api.upload(&text("upload_url"), content).await?;
        let complete = Arguments::default().json("files", &json!([{ "id": id, "title": file.name }]));
        let answer = api.call(&app.speaking, "files.completeUploadExternal", complete).await?;
        let permalink = answer.get("files").and_then(|files| files.pointer("/0/permalink")).and_then(Value::as_str);
        let permalink = permalink.ok_or_else(|| Failure::Unreachable("a file without an address".to_owned()))?.to_owned();
        uploaded.push(UploadedFile { id, name: file.name.clone(), permalink });
    }
    Ok(uploaded)
}

fn posted(message: &OutboundMessage, spot: Spot<'_>, answer: &Map<String, Value>) -> Result<Posted, Failure> {
    let stamp =
        answer.get("ts").and_then(Value::as_str).ok_or_else(|| Failure::Unreachable("an answer without a time stamp".to_owned()))?;
    // A post to a person is answered with the id of the direct conversation.
    let channel = answer.get("channel").and_then(Value::as_str).unwrap_or(spot.channel);
    Ok(Posted { channel: message.channel.clone(), message: message_id(channel, stamp), at: instant(stamp) })
}

/// An icon in a color like the persona's, to tell apart personas that speak through one app.
pub(super) fn icon_of(persona: &Persona) -> &'static str {
    /// Slack's emojis, each with its color.
    const SIGNS: [(&str, [i32; 3]); 8] = [
        (":red_circle:", [221, 46, 68]),
        (":large_orange_circle:", [244, 144, 12]),
        (":large_yellow_circle:", [253, 203, 88]),
        (":large_green_circle:", [120, 177, 89]),
        (":large_blue_circle:", [85, 172, 238]),
        (":large_purple_circle:", [170, 142, 214]),
        (":large_brown_circle:", [193, 105, 79]),
        (":black_circle:", [49, 55, 61]),
    ];
    let [_, red, green, blue] = persona.color.to_be_bytes().map(i32::from);
    let distance = |sign: &[i32; 3]| sign.iter().zip([red, green, blue]).map(|(one, other)| (one - other).pow(2)).sum::<i32>();
    SIGNS.iter().min_by_key(|(_, color)| distance(color)).map_or(":robot_face:", |(sign, _)| sign)
}
