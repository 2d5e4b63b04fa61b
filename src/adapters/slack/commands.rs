//! `/team …` and buttons. The team has one slash command in Slack. Its text is a command of the registry, written as on the command line.

use std::sync::Arc;
use std::time::Duration;

use kernel::chat::PlatformEvent;
use kernel::chat::message::{Author, Channel};
use kernel::chat::outbound::{OutboundFile, OutboundKind, OutboundMessage};
use kernel::chat::redact::Redactor;
use kernel::commands::{ArgumentKind, ArgumentSpec, Audience, Caller, CommandReply, CommandRequest, Invoked, Registry, Typed};
use serde_json::{Value, json};

use crate::adapters::slack::accounts::App;
use crate::adapters::slack::api::{Arguments, Failure};
use crate::adapters::slack::form::{self, Asked, Order, form, handed_in};
use crate::adapters::slack::home::{self, HOME, Home};
use crate::adapters::slack::hub::Hub;
use crate::adapters::slack::ids::to_spot;
use crate::adapters::slack::markup::{TEXT, read, written};
use crate::adapters::slack::posting::upload;
use crate::adapters::slack::render::{as_ours, link_of};

/// The slash command of the app.
pub(super) const COMMAND: &str = "/team";

/// Slack takes five answers to a command, within half an hour.
const ANSWERS: usize = 5;

/// How often an answer is tried, and the longest pause between, while Slack asks to wait.
const TRIES: u32 = 5;
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The prefix of the command's path in the id of a message shortcut.
pub(super) const ON_MESSAGE: &str = "message ";

/// What the home tab shows, and how many items it asks for.
const LIST: &str = "backlog list";
const ASKED_FOR: usize = 500;

pub(super) struct Commands {
    pub(super) hub: Arc<Hub>,
    pub(super) registry: Arc<Registry>,
    pub(super) redactor: Redactor,
}

/// Where the answer to a command goes.
struct Destination<'a> {
    app: &'a App,
    /// The address that Slack gave with the command.
    respond: &'a str,
    ephemeral: bool,
    channel: Option<&'a Channel>,
    /// The account of the person.
    person: &'a str,
}

/// Something that a person invoked, and where the answer goes.
struct Call {
    author: Author,
    /// The channel, or the thread of it.
    channel: Channel,
    respond: String,
    audience: Audience,
    /// The message whose button was pressed.
    pressed: Option<Value>,
}

impl Commands {
    /// Carries out a slash command.
    pub(super) async fn take_command(self: &Arc<Self>, app: &Arc<App>, payload: &Value) {
        let text = |name: &str| payload[name].as_str().unwrap_or_default();
        let Typed { path, given } = match self.registry.parse(&read(text("text"))) {
            Ok(typed) => typed,
            Err(help) => return self.answer(app, text("response_url"), &CommandReply::private(help), text("user_id"), None).await,
        };
        // Slack takes slash commands only outside of threads.
        let order = Order { path, given, channel: text("channel_id").to_owned(), thread: None, respond: text("response_url").to_owned() };
        let (author, channel) = self.who_and_where(app, text("user_id"), &order).await;
        if let Some(command) = self.registry.find(&order.path)
            && let Some(missing) = form::missing(command, &order.given)
            && self.ask(app, text("trigger_id"), &order, self.prepare(&missing, &author, &channel).await).await
        {
            return;
        }
        self.take_order(app, author, channel, order).await;
    }

    async fn who_and_where(&self, app: &App, user: &str, order: &Order) -> (Author, Channel) {
        let author = self.hub.directory.find_person(&self.hub.api, &app.speaking, user, None).await;
        (author, self.hub.channel_of(app, &order.channel, order.thread.as_deref(), None).await)
    }

    /// The missing arguments, each with the choices for it.
    async fn prepare<'c>(&self, missing: &[&'c ArgumentSpec], author: &Author, channel: &Channel) -> Vec<Asked<'c>> {
        let caller = caller_of(author.clone());
        let mut asked = Vec::new();
        for argument in missing.iter().copied() {
            let choices = match argument.kind {
                ArgumentKind::Reference(kind) => self.registry.complete(kind, "", &caller, Some(channel)).await,
                _ => Vec::new(),
            };
            asked.push(Asked { argument, choices, filled_in: None });
        }
        asked
    }

    /// Shows a form for the missing arguments. False if Slack does not show it.
    async fn ask(&self, app: &App, trigger: &str, order: &Order, asked: Vec<Asked<'_>>) -> bool {
        let arguments = Arguments::default().with("trigger_id", trigger).json("view", &form(order, &asked));
        let shown = self.hub.api.call(&app.speaking, "views.open", arguments).await;
        if let Err(failure) = &shown {
            tracing::debug!(%failure, "a form could not be shown");
        }
        shown.is_ok()
    }

    async fn take_order(self: &Arc<Self>, app: &Arc<App>, author: Author, channel: Channel, order: Order) {
        let Order { path, given, respond, .. } = order;
        let audience = self.registry.audience_of(&path, &given);
        self.carry_out(app, Call { author, channel, respond, audience, pressed: None }, Invoked::Command { path, given }).await;
    }

    /// Carries out a pressed button or a submitted form.
    pub(super) async fn take_interaction(self: &Arc<Self>, app: &Arc<App>, payload: &Value) {
        match payload["type"].as_str() {
            Some("shortcut" | "message_action") => return self.take_shortcut(app, payload).await,
            Some("view_submission") => {}
            _ => return self.take_press(app, payload).await,
        }
        if let Some(order) = handed_in(payload) {
            let user = payload.pointer("/user/id").and_then(Value::as_str).unwrap_or_default();
            let (author, channel) = self.who_and_where(app, user, &order).await;
            self.take_order(app, author, channel, order).await;
        }
    }

    /// Shows the form of a command that was chosen in a menu: the menu of a message, whose text goes into the form, or the general menu of shortcuts.
    async fn take_shortcut(&self, app: &App, payload: &Value) {
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let id = text("/callback_id");
        let wanted = id.strip_prefix(ON_MESSAGE).unwrap_or(id);
        let Some((path, shortcut)) = self.registry.list_shortcuts().into_iter().find(|(path, _)| path == wanted) else { return };
        let (channel, respond) = (text("/channel/id").to_owned(), text("/response_url").to_owned());
        let thread =
            Some(text("/message/thread_ts")).filter(|thread| !thread.is_empty() && *thread != text("/message/ts")).map(str::to_owned);
        let order = Order { path, given: Vec::new(), channel, thread, respond };
        let Some(command) = self.registry.find(&order.path) else { return };
        let open: Vec<&ArgumentSpec> = command.arguments.iter().filter(|argument| argument.surface.is_in_chat()).collect();
        let (author, channel) = self.who_and_where(app, text("/user/id"), &order).await;
        let mut asked = self.prepare(&open, &author, &channel).await;
        let said = read(text("/message/text"));
        if let Some(filled) = asked.iter_mut().find(|asked| asked.argument.name == shortcut.takes && !said.trim().is_empty()) {
            filled.filled_in = Some(said.trim().to_owned());
        }
        self.ask(app, text("/trigger_id"), &order, asked).await;
    }

    /// Carries out the command of a button. It holds everything needed, so that buttons from earlier runs still work.
    async fn take_press(self: &Arc<Self>, app: &Arc<App>, payload: &Value) {
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let button = payload.pointer("/actions/0/value").or_else(|| payload.pointer("/actions/0/action_id")).and_then(Value::as_str);
        let (Some(button), "block_actions") = (button, text("/type")) else { return };
        if let Some(line) = button.strip_prefix(HOME) {
            return self.take_home_press(app, payload, line).await;
        }
        let home = payload.pointer("/user/team_id").and_then(Value::as_str);
        let author = self.hub.directory.find_person(&self.hub.api, &app.speaking, text("/user/id"), home).await;
        let thread = Some(text("/container/thread_ts")).filter(|thread| !thread.is_empty() && *thread != text("/container/message_ts"));
        let channel = self.hub.channel_of(app, text("/channel/id"), thread, None).await;
        let pressed = Some(payload["message"].clone());
        let call = Call { author, channel, respond: text("/response_url").to_owned(), audience: Audience::Everybody, pressed };
        self.carry_out(app, call, Invoked::Button(button.to_owned())).await;
    }

    async fn carry_out(self: &Arc<Self>, app: &Arc<App>, call: Call, invoked: Invoked) {
        let request = CommandRequest { invoked, caller: caller_of(call.author.clone()), channel: Some(call.channel.clone()) };
        let seen = PlatformEvent::Seen { author: Box::new(call.author.clone()), channel: Box::new(call.channel.clone()) };
        self.hub.announce(seen).await;
        let (commands, app) = (Arc::clone(self), Arc::clone(app));
        // Other requests do not wait for this one.
        tokio::spawn(async move {
            let registry = Arc::clone(&commands.registry);
            // A task of its own, so that a panic in a command still produces an answer.
            let mut reply = tokio::spawn(async move { registry.run(request).await }).await.unwrap_or_else(|_| fault());
            reply.ephemeral |= call.audience == Audience::Caller;
            if let Some(pressed) = call.pressed.as_ref().filter(|_| reply.retire_buttons)
                && let Err(failure) = commands.hub.api.respond(&call.respond, &without_buttons(pressed)).await
            {
                tracing::warn!(%failure, "the buttons of a message could not be taken away");
            }
            commands.answer(&app, &call.respond, &reply, call.author.id.bare(), Some(&call.channel)).await;
        });
    }

    async fn answer(&self, app: &App, respond: &str, reply: &CommandReply, person: &str, channel: Option<&Channel>) {
        let here = channel.map_or_else(|| "".into(), |channel| channel.id.clone());
        let mut message = OutboundMessage::new(&app.persona, &here, OutboundKind::Notice, as_ours(&reply.text, &self.hub.commands));
        message.files.clone_from(&reply.files);
        let redacted = self.redactor.redact_message(&mut message);
        if redacted > 0 {
            metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
            tracing::warn!(persona = %app.persona, redacted, "secrets were taken out of the answer to a command");
        }
        let mut pieces = TEXT.split(&TEXT.lay_out(message.text.trim()));
        if pieces.len() > ANSWERS {
            pieces.truncate(ANSWERS);
            pieces.last_mut().expect("there are some").push_str("\n…");
        }
        let to = Destination { app, respond, ephemeral: reply.ephemeral, channel, person };
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            if let Err(failure) = self.deliver(&to, &written(piece)).await {
                tracing::warn!(%failure, "the answer to a command could not be posted");
                return;
            }
        }
        for file in &message.files {
            if let Err(failure) = self.hand_over(&to, file).await {
                tracing::warn!(%failure, "the file of an answer could not be posted");
            }
        }
    }

    /// Uploads a file and answers with a link to it.
    async fn hand_over(&self, to: &Destination<'_>, file: &OutboundFile) -> Result<(), Failure> {
        for file in upload(&self.hub.api, to.app, std::slice::from_ref(file)).await? {
            self.deliver(to, &link_of(&file)).await?;
        }
        Ok(())
    }

    /// Posts an answer where Slack takes answers to this command. That ends after half an hour, or after five: then it is a message of the app, to the
    /// person alone if it is for nobody else.
    async fn deliver(&self, to: &Destination<'_>, text: &str) -> Result<(), Failure> {
        let spot = to.channel.and_then(|channel| to_spot(&channel.id).ok());
        let thread = spot.and_then(|spot| spot.thread);
        let mut answer = json!({
            "response_type": if to.ephemeral { "ephemeral" } else { "in_channel" }, "replace_original": false, "text": text,
            "unfurl_links": false,
        });
        if let Some(thread) = thread {
            answer["thread_ts"] = thread.into();
        }
        for _ in 0..TRIES {
            match self.hub.api.respond(to.respond, &answer).await {
                Err(Failure::RateLimited(wait)) => tokio::time::sleep(wait.min(LONGEST_WAIT)).await,
                Err(Failure::Refused(_)) => break,
                // If it may have been posted, it is not posted again.
                ended => return ended,
            }
        }
        let message = Arguments::default().with("text", text).with("unfurl_links", "false");
        let message = match spot {
            // A message to an account goes into the direct conversation with it.
            _ if to.ephemeral => message.with("channel", to.person),
            Some(spot) => message.with("channel", spot.channel).with_some("thread_ts", spot.thread),
            None => message.with("channel", to.person),
        };
        self.hub.api.call(&to.app.speaking, "chat.postMessage", message).await.map(drop)
    }

    fn without_secrets(&self, mut item: Value) -> Value {
        if let Some(what) = item["what"].as_str() {
            item["what"] = self.redactor.redact(what).0.into();
        }
        item
    }

    /// Carries out the command of a button on the home tab, after a form for what it lacks. The answer is a direct message, and the tab is updated.
    async fn take_home_press(self: &Arc<Self>, app: &Arc<App>, payload: &Value, line: &str) {
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let Ok(Typed { path, given }) = self.registry.parse(line) else { return };
        let (user, dm) = (text("/user/id"), text("/view/private_metadata"));
        let order = Order { path, given, channel: dm.to_owned(), thread: None, respond: String::new() };
        let (author, channel) = self.who_and_where(app, user, &order).await;
        if let Some(command) = self.registry.find(&order.path)
            && let Some(missing) = form::missing(command, &order.given)
            && self.ask(app, text("/trigger_id"), &order, self.prepare(&missing, &author, &channel).await).await
        {
            return;
        }
        self.take_order(app, author, channel, order).await;
        self.show_home(app, user, dm).await;
    }

    /// Shows the person's open items, those of the team, and the available commands on the app's page.
    ///
    /// `dm` is the direct conversation behind the page. The page shows only what may be told there.
    pub(super) async fn show_home(&self, app: &App, user: &str, dm: &str) {
        let author = self.hub.directory.find_person(&self.hub.api, &app.speaking, user, None).await;
        let channel = self.hub.channel_of(app, dm, None, None).await;
        let list = async |given: &[(&str, &str)]| {
            let limit = ASKED_FOR.to_string();
            let given =
                given.iter().chain(&[("limit", limit.as_str())]).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let invoked = Invoked::Command { path: LIST.to_owned(), given };
            let request = CommandRequest { invoked, caller: caller_of(author.clone()), channel: Some(channel.clone()) };
            let data = self.registry.run(request).await.data.unwrap_or_default();
            data.as_array().cloned().unwrap_or_default().into_iter().map(|item| self.without_secrets(item)).collect::<Vec<Value>>()
        };
        let (mine, all) = (list(&[("owner", "me")]).await, list(&[]).await);
        let shortcuts: Vec<_> = self.registry.list_shortcuts().into_iter().map(|(path, shortcut)| (path, shortcut.label)).collect();
        let name_of = |owner: &Value| match owner["persona"].as_str() {
            Some(slug) => self.hub.roster.name_of(&slug.into()).to_owned(),
            None => owner["person"]["name"].as_str().unwrap_or("somebody").to_owned(),
        };
        let help = format!("`{COMMAND} help` lists everything that you can ask for.");
        let view = home::view(&Home {
            mine: &mine,
            all: &all,
            limit: ASKED_FOR,
            shortcuts: &shortcuts,
            channel: dm,
            name_of: &name_of,
            help: &help,
        });
        let arguments = Arguments::default().with("user_id", user).json("view", &view);
        if let Err(failure) = self.hub.api.call(&app.speaking, "views.publish", arguments).await {
            tracing::debug!(%failure, "the home tab could not be shown");
        }
    }
}

fn caller_of(author: Author) -> Caller {
    let Author { id, name, roles, .. } = author;
    Caller::Person { id, name, roles }
}

fn fault() -> CommandReply {
    CommandReply::refused("Something went wrong. Please try again. The details are in the log.")
}

/// The message of a pressed button as it is without its buttons.
fn without_buttons(message: &Value) -> Value {
    let without =
        |blocks: &Value| blocks.as_array().into_iter().flatten().filter(|block| block["type"] != "actions").cloned().collect::<Value>();
    let mut cards = message["attachments"].as_array().cloned().unwrap_or_default();
    cards.iter_mut().filter(|card| card["blocks"].is_array()).for_each(|card| card["blocks"] = without(&card["blocks"]));
    json!({ "replace_original": true, "text": message["text"], "blocks": without(&message["blocks"]), "attachments": cards })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_go_and_the_rest_stays() {
        let blocks = json!([{"type": "section"}, {"type": "actions"}]);
        let message = json!({"text": "Shall I?", "blocks": blocks, "attachments": [{"color": "#123456", "blocks": blocks}]});
        let shown = without_buttons(&message);
        assert_eq!(shown["blocks"], json!([{"type": "section"}]));
        assert_eq!(shown["attachments"], json!([{"color": "#123456", "blocks": [{"type": "section"}]}]));
    }
}
