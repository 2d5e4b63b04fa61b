use std::fmt::{Display, Write as _};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::NaiveTime;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::features::backlog::action::{AcceptedAction, KnownOwners, MOST_ACTIONS, check_actions};
use crate::features::backlog::model::{Execution, Origin, Owner, ProposedAction, Wait, WorkItem, WorkStatus, short_id};
use crate::features::backlog::render::name_of_owner;
use crate::features::backlog::said::read_background;
use crate::features::backlog::service::describe_pause;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::{Author, AuthorKind, Place};
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug, WorkItemId};
use kernel::memory::{MemorySource, Scope};
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::text::fold_name;
use kernel::tools::approval::Risk;
use kernel::tools::{AskedBy, Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};
use kernel::when::parse_instant;

pub(super) const NAME: &str = "backlog_add";

/// Adds an item: a follow-up of the current one, or a request in a chat.
///
/// An item may add as many as a standup may, and those may not add further ones. Otherwise work could multiply without end.
pub(super) struct BacklogAdd {
    pub store: Store,
    pub roster: Arc<Roster>,
    pub people: People,
    /// When a day without a time ends.
    pub closes: NaiveTime,
}

#[async_trait]
impl Tool for BacklogAdd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> String {
        "Puts something into the team's backlog that has to be done and is not part of your own item. It is planned and done later. What a person asks \
         you to add is given in exactly the person's words, and added at once; anything else a person may have to allow."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "list item task todo put plan prepare write fix make create ticket later Aufgabe Liste erledigen schreib mach vorbereiten ajoute añade tarea tâche"
    }

    fn parameters(&self) -> Value {
        let personas: Vec<_> = self.roster.personas().iter().map(|persona| persona.name.as_str()).collect();
        let owner = format!("One persona ({}), or one person by name or mention.", personas.join(", "));
        json!({
            "type": "object",
            "properties": {
                "what": {"type": "string", "description": "What is to be done, in one sentence. The message in which a person asks for it, and its files, go with the item."},
                "how": {"type": "string", "description": "How to go about it, in one sentence."},
                "why": {"type": "string", "description": "Why it is worth doing, in one sentence."},
                "owner": {"type": "string", "description": owner},
                "urgency": {"type": "string", "enum": ["now", "today", "this_week", "backlog"]},
                "needs": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Ids (#a1b2c3) or titles of items that have to be done before it.",
                },
                "reviewer": {"type": "string", "description": "Only if somebody is named who checks the result: one persona or one person."},
                "question": {"type": "string", "description": "Only if the owner is a person who just has to answer something: the question, as one puts it to them."},
                "due": {"type": "string", "description": "Only if a time is said by which it is to be done, such as \"2026-12-04\" or \"friday 15:00\"."},
            },
            "required": ["what", "how", "why", "owner", "urgency"],
            "additionalProperties": false,
        })
    }

    /// A request in a person's own words is that person's act and needs no approval.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        match serde_json::from_value(arguments.clone()) {
            Ok(proposed) if self.is_asked_for(&proposed, context.asked_by) => Risk::Read,
            _ => Risk::Write,
        }
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Adding to the backlog".into())
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        let Trace::Stored { id, .. } = trace else { return None };
        Some(format!("Added `#{}` to the backlog", short_id(&id.as_str().into())))
    }

    fn describe_wish(&self, arguments: &Value) -> String {
        let line = |key: &str| Medium::Chat.line(arguments[key].as_str().unwrap_or_default());
        let urgency = arguments["urgency"].as_str().unwrap_or_default().replace('_', " ");
        let mut wish = format!(
            "May I add this to the backlog?\n**{}**\nHow: {}\nWhy: {}\nFor: {}, {urgency}",
            line("what"),
            line("how"),
            line("why"),
            line("owner")
        );
        for (label, key) in [("Reviewed by", "reviewer"), ("Due", "due")] {
            if !line(key).is_empty() {
                let _ = write!(wish, "\n{label}: {}", line(key));
            }
        }
        wish
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let proposed: ProposedAction = parse_arguments(arguments)?;
        // Fields that the model is not asked for are cleared.
        let mut proposed = ProposedAction { execution: None, watch: None, ..proposed };
        let Terms { needs, reviewer, due, question } = parse_arguments(arguments)?;
        // After text from outside, a person is asked only what the asker's own words ask.
        let is_own = |question: &String| !context.tainted || context.asked_by.is_some_and(|asked| asked.has_words_of(question));
        let question = question.filter(is_own);
        let notes = if context.tainted && self.is_asked_for(&proposed, context.asked_by) {
            take_notes(&mut proposed, context.asked_by)
        } else {
            Vec::new()
        };
        let id = item_id(context.get_source()?, context.persona, &proposed);
        if let Some(id) = &id
            && let Some(known) = self.store.find_item(id).await.map_err(|error| unavailable(&error))?
        {
            return self.tell_added(&known).await;
        }
        let names: Vec<&str> = std::iter::once(proposed.owner.as_str()).chain(reviewer.as_deref()).collect();
        let Asked { origin, channel, background } = self.find_origin(context.get_source()?).await?;
        let depends_on = self.find_needs(&needs, context.scope).await?;
        let people = self.people.directory_naming(&names, &self.roster).await.map_err(|error| unavailable(&error))?;
        let known = KnownOwners { roster: &self.roster, people: &people };
        let alike = self.store.list_alike(&[known.title_of(&proposed)], context.scope).await.map_err(|error| unavailable(&error))?;
        // A person is asked about an item that looks like an open one. An agent's item is rejected.
        let private_to = context.scope.place().cloned();
        let asks = origin.is_of_a_person() && (channel.is_some() || private_to.is_some());
        let reviewer = reviewer.map(|reviewer| known.resolve(&reviewer)).transpose().map_err(|why| not_added("reviewer", &why))?;
        let due = due.map(|due| parse_instant(&due, context.now, self.roster.zone(), self.closes)).transpose();
        let due = due.map_err(|why| not_added("due time", &why))?;
        let AcceptedAction { what, how, why, owner, urgency, execution } = check(proposed, &known, if asks { &[] } else { &alike })?;
        let said = context.asked_by.filter(|_| origin.is_of_a_person()).map_or_else(String::new, |asked| asked.text.trim().to_owned());
        let noted = (!notes.is_empty()).then(|| format!("Noted by {}:\n{}", self.roster.name_of(context.persona), notes.join("\n")));
        let background = std::iter::once(background).chain(noted).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        let is_person = matches!(owner, Owner::Person { .. });
        let execution = question.filter(|_| is_person).map(|question| Execution::ask(owner.clone(), question)).or(execution);
        let item = WorkItem::new(what, owner, origin, context.now);
        let mut item = WorkItem { how, why, said, background, urgency, due, reviewer, execution, channel, private_to, depends_on, ..item };
        item.id = id.unwrap_or(item.id);
        let alike = alike.first();
        if let Some((of, what)) = alike {
            item.status = WorkStatus::Waiting;
            item.wait = Some(Wait::Duplicate { of: of.clone(), what: what.clone() });
        }
        self.store.insert_items(std::slice::from_ref(&item), context.now).await.map_err(|error| ToolError::Failed(error.to_string()))?;
        match alike {
            Some(_) => Ok(held(&item)),
            None => self.tell_added(&item).await,
        }
    }
}

/// Nothing was added, so there is no trace.
fn held(item: &WorkItem) -> ToolOutput {
    let like = match &item.wait {
        Some(Wait::Duplicate { of, what }) => format!("#{}, \"{what}\"", short_id(of)),
        _ => "an open item".to_owned(),
    };
    ToolOutput {
        text: format!("Not added yet: it looks like {like}. The person is asked whether to add it anyway."),
        outside: false,
        trace: None,
    }
}

/// A request in a conversation always has the same id, so that its item is added once.
fn item_id(source: &MemorySource, persona: &PersonaSlug, proposed: &ProposedAction) -> Option<WorkItemId> {
    let MemorySource::Message(message) = source else { return None };
    let digest = Sha256::digest(format!("{message}\n{persona}\n{}\n{}", proposed.what, proposed.owner));
    Some(WorkItemId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))))
}

impl BacklogAdd {
    /// What the model may say of an item that is there now.
    async fn tell_added(&self, item: &WorkItem) -> Result<ToolOutput, ToolError> {
        if let Some(Wait::Duplicate { .. }) = &item.wait {
            return Ok(held(item));
        }
        let pause = describe_pause(&self.store, &item.owner, &self.roster).await.map_err(|error| unavailable(&error))?;
        let owner = format!(", for {}", name_of_owner(&item.owner, &self.roster));
        let due = item.due.map(|due| format!(", due {}", self.roster.show_time(due)));
        let reviewer = item.reviewer.as_ref().map(|reviewer| format!(", reviewed by {}", name_of_owner(reviewer, &self.roster)));
        let pause = pause.map(|pause| format!(". {pause}"));
        let terms: String = [owner].into_iter().chain(due).chain(reviewer).chain(pause).collect();
        let trace = Trace::Stored { kind: "work_item".into(), id: item.id.to_string() };
        let text = format!("Added to the backlog as #{}: {}{terms}", item.short_id(), item.what);
        Ok(ToolOutput { text, outside: false, trace: Some(trace) })
    }

    /// Whether a person asks for it in their own words: for a persona, for themselves, or for somebody whom they name.
    fn is_asked_for(&self, proposed: &ProposedAction, asked_by: Option<&AskedBy>) -> bool {
        let Some(asked) = asked_by else { return false };
        let is_own = |owner: &str| {
            self.roster.find_named(&fold_name(owner)).is_some() || fold_name(owner) == fold_name(&asked.person.name) || asked.says(owner)
        };
        (asked.says(&proposed.what) || asked.has_words_of(&proposed.what)) && is_own(&proposed.owner)
    }

    /// The items that a new one needs, by their ids or titles.
    async fn find_needs(&self, needs: &[String], scope: &Scope) -> Result<Vec<WorkItemId>, ToolError> {
        let mut found = Vec::new();
        for need in needs {
            let by_id =
                self.store.find_items_by_suffix(need.trim().trim_start_matches('#'), 2).await.map_err(|error| unavailable(&error))?;
            let id = match by_id.as_slice() {
                [item] if scope.hears(item.private_to.as_ref()) => Some(item.id.clone()),
                _ => self.store.find_same(need, scope).await.map_err(|error| unavailable(&error))?.map(|(id, _)| id),
            };
            let id = id.ok_or_else(|| ToolError::Refused(format!("not added: it needs \"{need}\", which is no item here. Give its id")))?;
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Ok(found)
    }

    async fn find_origin(&self, source: &MemorySource) -> Result<Asked, ToolError> {
        match source {
            MemorySource::WorkItem(id) => {
                let adding = self.store.find_item(id).await.map_err(|error| unavailable(&error))?;
                let adding = adding.ok_or_else(|| ToolError::Failed("the item that you work on is not in the backlog any more".into()))?;
                let added = self.store.count_added_by(id).await.map_err(|error| unavailable(&error))?;
                check_origin(&adding, added)?;
                Ok(Asked { origin: Origin::WorkItem(adding.id), channel: adding.channel, background: String::new() })
            }
            MemorySource::Message(id) => {
                let message = self.store.find_message(id).await.map_err(|error| unavailable(&error))?;
                let message = message.map(|row| row.message).filter(|message| message.author.kind == AuthorKind::Person);
                let message =
                    message.ok_or_else(|| ToolError::Refused("only what a person asks for is added from a conversation".into()))?;
                let background = read_background(&self.store, &self.roster, &message).await.map_err(|error| unavailable(&error))?;
                let Author { id: by, name, .. } = message.author;
                let channel = Some(message.channel).filter(|channel| channel.place != Place::Direct).map(|channel| channel.id);
                Ok(Asked { origin: Origin::Person { id: by, name, message: Some(id.clone()) }, channel, background })
            }
            MemorySource::Meeting(id) => Ok(Asked { origin: Origin::Meeting(id.clone().into()), channel: None, background: String::new() }),
            MemorySource::Command => Err(ToolError::Refused("nothing can be added from here".into())),
        }
    }
}

/// Where a new item comes from.
struct Asked {
    origin: Origin,
    channel: Option<ChannelId>,
    /// What was said before the message that asks for it.
    background: String,
}

/// What a new item has besides an action of a standup.
#[derive(Deserialize)]
struct Terms {
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default, deserialize_with = "read_named")]
    reviewer: Option<String>,
    #[serde(default, deserialize_with = "read_named")]
    due: Option<String>,
    #[serde(default, deserialize_with = "read_named")]
    question: Option<String>,
}

/// Models write empty texts for what they leave out.
fn read_named<'de, D: Deserializer<'de>>(given: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(given)?.filter(|text| !text.trim().is_empty()))
}

fn not_added(what: &str, why: &dyn Display) -> ToolError {
    ToolError::Refused(format!("not added: its {what} cannot be used. {why}"))
}

/// Takes out how and why, as far as the person did not say them: they may come from outside, so they are only kept as notes.
fn take_notes(proposed: &mut ProposedAction, asked_by: Option<&AskedBy>) -> Vec<String> {
    let fields = [("How", &mut proposed.how), ("Why", &mut proposed.why)];
    let foreign = fields.into_iter().filter(|(_, text)| !text.trim().is_empty() && !asked_by.is_some_and(|asked| asked.says(text)));
    foreign.map(|(label, text)| format!("{label}: {}", std::mem::take(text).trim())).collect()
}

/// The same checks as for a standup's actions.
fn check(proposed: ProposedAction, known: &KnownOwners<'_>, alike: &[(WorkItemId, String)]) -> Result<AcceptedAction, ToolError> {
    let checked = check_actions(&[proposed], known, alike, 1);
    checked.accepted.into_iter().next().ok_or_else(|| {
        let reason = checked.refused.first().map_or("it could not be read", |refused| refused.reason.as_str());
        ToolError::Refused(format!("not added: {reason}"))
    })
}

fn check_origin(adding: &WorkItem, added: u64) -> Result<(), ToolError> {
    if matches!(adding.origin, Origin::WorkItem(_)) {
        let why = "not added: your item came up in the course of another one, and such items add no more; name it in your result instead";
        return Err(ToolError::Refused(why.into()));
    }
    if added >= MOST_ACTIONS as u64 {
        let why = format!("not added: {added} items that you added are still open; name it in your result instead");
        return Err(ToolError::Refused(why));
    }
    Ok(())
}

pub(super) fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not use the backlog");
    ToolError::Failed("the backlog is not available right now".into())
}
