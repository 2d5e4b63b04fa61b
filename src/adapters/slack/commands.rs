//! `/team …` and buttons. Slack has one slash command for us; what follows it is a command of the registry, written as on the command line.

use std::fmt::Write as _;
use std::sync::Arc;

use kernel::chat::PlatformEvent;
use kernel::chat::message::{Author, Channel};
use kernel::chat::outbound::{OutboundFile, OutboundKind, OutboundMessage};
use kernel::chat::redact::Redactor;
use kernel::commands::{ArgumentKind, ArgumentSpec, Audience, Caller, CommandReply, CommandRequest, CommandSpec, Invoked, Registry};
use serde_json::{Value, json};

use crate::adapters::slack::accounts::App;
use crate::adapters::slack::api::{Arguments, Failure};
use crate::adapters::slack::form::{self, Order, form, handed_in};
use crate::adapters::slack::hub::Hub;
use crate::adapters::slack::markup::{TEXT, read, written};
use crate::adapters::slack::posting::upload;
use crate::adapters::slack::render::{SECTION, as_ours, link_of, pieces, section};

/// The slash command of the app.
pub(super) const COMMAND: &str = "/team";

/// Slack takes five answers to a command, within half an hour.
const ANSWERS: usize = 5;

/// What the home tab shows.
const LIST: &str = "backlog list";

pub(super) struct Commands {
    pub(super) hub: Arc<Hub>,
    pub(super) registry: Arc<Registry>,
    pub(super) redactor: Redactor,
}

/// Something that a person invoked, and where the answer goes.
struct Call {
    author: Author,
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
        let (path, given) = match parse(&self.registry, &read(text("text"))) {
            Ok(parsed) => parsed,
            Err(help) => return self.answer(app, text("response_url"), &CommandReply::private(help), None).await,
        };
        let order = Order { path, given, channel: text("channel_id").to_owned(), respond: text("response_url").to_owned() };
        let (author, channel) = self.who_and_where(app, text("user_id"), &order.channel).await;
        if let Some(command) = self.registry.find(&order.path)
            && let Some(missing) = form::missing(command, &order.given)
            && self.ask(app, text("trigger_id"), &order, &missing, (&author, &channel)).await
        {
            return;
        }
        self.take_order(app, author, channel, order).await;
    }

    async fn who_and_where(&self, app: &App, user: &str, channel: &str) -> (Author, Channel) {
        let author = self.hub.directory.find_person(&self.hub.api, &app.speaking, user).await;
        (author, self.hub.channel_of(app, channel, None, None).await)
    }

    /// Shows a form for what is missing. False if Slack shows none.
    async fn ask(
        &self,
        app: &App,
        trigger: &str,
        order: &Order,
        missing: &[&ArgumentSpec],
        (author, channel): (&Author, &Channel),
    ) -> bool {
        let caller = caller_of(author.clone());
        let mut asked = Vec::new();
        for argument in missing {
            let choices = match argument.kind {
                ArgumentKind::Reference(kind) => self.registry.complete(kind, "", &caller, Some(channel)).await,
                _ => Vec::new(),
            };
            asked.push((*argument, choices));
        }
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

    /// Carries out what is pressed or handed in.
    pub(super) async fn take_interaction(self: &Arc<Self>, app: &Arc<App>, payload: &Value) {
        if payload["type"] != "view_submission" {
            return self.take_press(app, payload).await;
        }
        if let Some(order) = handed_in(&payload["view"]) {
            let user = payload.pointer("/user/id").and_then(Value::as_str).unwrap_or_default();
            let (author, channel) = self.who_and_where(app, user, &order.channel).await;
            self.take_order(app, author, channel, order).await;
        }
    }

    /// Carries out the command of a button. It holds everything needed, so that buttons from earlier runs still work.
    async fn take_press(self: &Arc<Self>, app: &Arc<App>, payload: &Value) {
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let button = payload.pointer("/actions/0/value").or_else(|| payload.pointer("/actions/0/action_id")).and_then(Value::as_str);
        let (Some(button), "block_actions") = (button, text("/type")) else { return };
        let author = self.hub.directory.find_person(&self.hub.api, &app.speaking, text("/user/id")).await;
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
        // What others want does not wait for it.
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
            commands.answer(&app, &call.respond, &reply, Some(&call.channel)).await;
        });
    }

    async fn answer(&self, app: &App, respond: &str, reply: &CommandReply, channel: Option<&Channel>) {
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
        let kind = if reply.ephemeral { "ephemeral" } else { "in_channel" };
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            let answer = json!({ "response_type": kind, "replace_original": false, "text": written(piece), "unfurl_links": false });
            if let Err(failure) = self.hub.api.respond(respond, &answer).await {
                tracing::warn!(%failure, "the answer to a command could not be posted");
            }
        }
        for file in &message.files {
            if let Err(failure) = self.hand_over(app, respond, kind, file).await {
                tracing::warn!(%failure, "the file of an answer could not be posted");
            }
        }
    }

    /// Uploads a file and answers with a link to it.
    async fn hand_over(&self, app: &App, respond: &str, kind: &str, file: &OutboundFile) -> Result<(), Failure> {
        let uploaded = upload(&self.hub.api, app, std::slice::from_ref(file)).await?;
        for file in uploaded {
            let answer = json!({ "response_type": kind, "replace_original": false, "text": link_of(&file) });
            self.hub.api.respond(respond, &answer).await?;
        }
        Ok(())
    }

    /// Shows the open items that the person may see, and what there is to ask for, on the app's page.
    ///
    /// `channel` is the direct conversation behind the page: what may not be told there does not stand on it.
    pub(super) async fn show_home(&self, app: &App, user: &str, channel: &str) {
        let (author, channel) = self.who_and_where(app, user, channel).await;
        let mut text = String::new();
        for (title, given) in [("What waits for me", vec![("owner", "me")]), ("What is to be done", Vec::new())] {
            let given = given.into_iter().map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned())).collect();
            let invoked = Invoked::Command { path: LIST.to_owned(), given };
            let request = CommandRequest { invoked, caller: caller_of(author.clone()), channel: Some(channel.clone()) };
            let reply = self.registry.run(request).await;
            let _ = writeln!(text, "**{title}**\n{}\n", reply.text.trim());
        }
        let text = written(&as_ours(&TEXT.lay_out(&self.redactor.redact(&text).0), &self.hub.commands));
        let groups = self.registry.commands().iter().filter(|command| command.surface.is_in_chat());
        let lines: Vec<String> = groups.map(|command| format!("• `{COMMAND} {}` {}", command.name, command.description)).collect();
        let text = format!("{text}\n*What you can ask for*\n{}", lines.join("\n"));
        let blocks: Vec<Value> = pieces(&text, SECTION).iter().map(|piece| section(piece)).collect();
        let view = json!({ "type": "home", "blocks": blocks });
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

/// A command and its arguments as text.
type Parsed = (String, Vec<(String, String)>);

/// Reads `backlog add Fix the lamp --owner vince` or `owner:vince`. Words without a name are the first text that the command takes.
///
/// # Errors
/// There is no such command. Says what there is, with the names of the registry.
fn parse(registry: &Registry, typed: &str) -> Result<Parsed, String> {
    let words = split(typed);
    let first = words.first().map(String::as_str).unwrap_or_default();
    let commands = || registry.commands().iter().filter(|command| command.surface.is_in_chat());
    let Some(group) = commands().find(|command| command.name == first) else {
        let names: Vec<String> = commands().map(|command| format!("- `/{}`: {}", command.name, command.description)).collect();
        let unknown = if first.is_empty() || first == "help" { String::new() } else { format!("There is no command `{first}`. ") };
        return Err(format!("{unknown}There are:\n{}", names.join("\n")));
    };
    if group.subcommands.is_empty() {
        return Ok((group.name.to_owned(), arguments(group, &words[1..])));
    }
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    let inner = || group.subcommands.iter().filter(|command| command.surface.is_in_chat());
    let Some(command) = inner().find(|command| command.name == second) else {
        let names: Vec<String> = inner().map(|command| format!("- `/{} {}`: {}", group.name, command.name, command.description)).collect();
        return Err(format!("`/{}` goes on with one of:\n{}", group.name, names.join("\n")));
    };
    Ok((format!("{} {}", group.name, command.name), arguments(command, &words[2..])))
}

fn arguments(command: &CommandSpec, words: &[String]) -> Vec<(String, String)> {
    let mut given: Vec<(String, String)> = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some(argument) = word.strip_prefix("--").and_then(|name| command.find_argument(name)) {
            given.push((argument.name.to_owned(), words.next().unwrap_or_default().to_owned()));
        } else if let Some((argument, value)) = word.split_once(':').and_then(|(name, value)| Some((command.find_argument(name)?, value))) {
            given.push((argument.name.to_owned(), value.to_owned()));
        } else {
            rest.push(word);
        }
    }
    let is_open = |argument: &&ArgumentSpec| !given.iter().any(|(name, _)| name == argument.name);
    let open: Vec<&ArgumentSpec> = command.arguments.iter().filter(is_open).collect();
    // Several short ones in order, and the last takes what is left.
    let wanted: Vec<&&ArgumentSpec> = open.iter().filter(|argument| argument.required).collect();
    let wanted: Vec<&ArgumentSpec> =
        if wanted.is_empty() { open.into_iter().take(1).collect() } else { wanted.into_iter().copied().collect() };
    for (place, argument) in wanted.iter().enumerate() {
        if rest.is_empty() {
            break;
        }
        let is_last = place + 1 == wanted.len();
        let taken: Vec<&str> = if is_last { std::mem::take(&mut rest) } else { vec![rest.remove(0)] };
        given.push((argument.name.to_owned(), taken.join(" ")));
    }
    // What no argument takes is told as one that does not exist.
    given.extend(rest.first().map(|word| ((*word).to_owned(), String::new())));
    given
}

/// Words, of which those in quotation marks are one.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match (c, quote) {
            ('"' | '“' | '”' | '\'', None) if !begun || word.ends_with(':') => (quote, begun) = (Some(c), true),
            ('"' | '“' | '”', Some('"' | '“' | '”')) | ('\'', Some('\'')) => quote = None,
            (c, None) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use kernel::commands::{Services, permit_all};

    use super::*;

    fn registry() -> Registry {
        let mut registry = Registry::new("slack", permit_all());
        let service = Services::new("not yet").late::<()>();
        registry
            .command(CommandSpec::new("status", "How the team is"), &service, |(), _| Box::pin(async { Ok(CommandReply::private("ok")) }));
        let add = CommandSpec::new("add", "Add an item")
            .argument(ArgumentSpec::text("what", 200, "What").required())
            .argument(ArgumentSpec::persona("owner", "Who"));
        registry
            .group(CommandSpec::new("backlog", "The backlog"), &service)
            .command(add, |(), _| Box::pin(async { Ok(CommandReply::private("ok")) }));
        registry
    }

    fn parsed(typed: &str) -> Result<Parsed, String> {
        parse(&registry(), typed)
    }

    #[test]
    fn a_command_is_written_as_on_the_command_line() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(parsed("status"), Ok(("status".to_owned(), vec![])));
        let wanted = Ok(("backlog add".to_owned(), vec![pair("owner", "vince"), pair("what", "Fix the lamp")]));
        for typed in
            ["backlog add Fix the lamp --owner vince", "backlog add owner:vince Fix the lamp", "backlog add \"Fix the lamp\" --owner vince"]
        {
            assert_eq!(parsed(typed), wanted, "{typed}");
        }
        assert_eq!(parsed("backlog add what:\"it's late\"").unwrap().1, [pair("what", "it's late")]);
    }

    #[test]
    fn what_is_no_command_is_told_with_what_is() {
        assert!(parsed("").unwrap_err().starts_with("There are:\n- `/status`: How the team is"));
        assert!(parsed("stauts").unwrap_err().starts_with("There is no command `stauts`. There are:"));
        assert_eq!(parsed("backlog").unwrap_err(), "`/backlog` goes on with one of:\n- `/backlog add`: Add an item");
    }

    #[test]
    fn buttons_go_and_the_rest_stays() {
        let blocks = json!([{"type": "section"}, {"type": "actions"}]);
        let message = json!({"text": "Shall I?", "blocks": blocks, "attachments": [{"color": "#123456", "blocks": blocks}]});
        let shown = without_buttons(&message);
        assert_eq!(shown["blocks"], json!([{"type": "section"}]));
        assert_eq!(shown["attachments"], json!([{"color": "#123456", "blocks": [{"type": "section"}]}]));
    }
}
