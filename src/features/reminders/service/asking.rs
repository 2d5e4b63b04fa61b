//! Makes reminders of requests.

use crate::features::reminders::model::{Person, Reminder, ReminderState};
use crate::features::reminders::render::name;
use crate::features::reminders::request::{ForWhom, Request};
use crate::features::reminders::service::{Reminders, Result, refused};
use crate::features::reminders::whom::resolve;
use chrono_tz::Tz;
use kernel::chat::message::{Channel, InboundMessage, Place};
use kernel::ids::{MessageId, PersonaSlug, ReminderId};
use kernel::when::{Reading, When};
use sha2::{Digest as _, Sha256};

/// The most characters of a reminder's text.
const LONGEST: usize = 1000;

/// The most reminders that may wait in a channel.
const MOST: usize = 200;

/// A reminder as it is asked for.
pub(in crate::features::reminders) struct Asked<'a> {
    pub(in crate::features::reminders) whom: &'a ForWhom,
    pub(in crate::features::reminders) what: &'a str,
    pub(in crate::features::reminders) when: &'a When,
    /// The time zone of the person who asks.
    pub(in crate::features::reminders) zone: Tz,
    /// None: the command line.
    pub(in crate::features::reminders) by: Option<Person>,
    pub(in crate::features::reminders) channel: &'a Channel,
    /// The persona that tells the reminder.
    pub(in crate::features::reminders) persona: &'a PersonaSlug,
}

impl Reminders {
    /// Makes a reminder of a request. Writes nothing.
    ///
    /// # Errors
    /// The part of the request that is missing or impossible.
    pub(in crate::features::reminders) async fn draft(&self, asked: Asked<'_>) -> Result<Reminder> {
        let what = asked.what.trim();
        if what.is_empty() {
            return Err(refused("What should the reminder say? Try \"remind me tomorrow at 9 to pay the bill\"."));
        }
        if what.chars().count() > LONGEST {
            return Err(refused(format!("That is too long for a reminder: {LONGEST} characters are the most.")));
        }
        let whom = self.find_person(asked.whom, asked.by.as_ref()).await?;
        let private = asked.channel.place == Place::Direct;
        if private && asked.by.as_ref().is_none_or(|by| by.id != whom.id) {
            return Err(refused(format!("{} does not read this conversation. Ask me in a channel that you both read.", name(&whom))));
        }
        let Some(due) = asked.when.first_after(self.now()) else {
            return Err(refused("That time is over. Name one that is still to come."));
        };
        let open = self.store().list_open_reminders(std::slice::from_ref(&asked.channel.id)).await?;
        if open.iter().filter(|reminder| reminder.state == ReminderState::Waiting).count() >= MOST {
            return Err(refused(format!("{MOST} reminders wait in this channel already. Cancel some with `/remind cancel` first.")));
        }
        Ok(Reminder {
            id: ReminderId::generate(),
            what: what.to_owned(),
            whom,
            by: asked.by,
            channel: asked.channel.id.clone(),
            private,
            persona: asked.persona.clone(),
            due,
            repeat: match asked.when {
                When::Once(_) => None,
                When::Repeated(repetition) => Some((**repetition).clone()),
            },
            zone: asked.zone,
            state: ReminderState::Waiting,
            round: 0,
        })
    }

    /// Makes a reminder of a request in words. Writes nothing.
    ///
    /// # Errors
    /// As [`Self::draft`], or the time was not read.
    pub(in crate::features::reminders) async fn draft_request(
        &self,
        request: Request,
        zone: Tz,
        message: &InboundMessage,
        persona: &PersonaSlug,
    ) -> Result<(Reminder, Reading)> {
        let Request { whom, what, when } = request;
        let reading = when?;
        let by = Some(Person { id: message.author.id.clone(), name: message.author.name.clone() });
        let asked = Asked { whom: &whom, what: &what, when: &reading.when, zone, by, channel: &message.channel, persona };
        Ok((self.draft(asked).await?, reading))
    }

    async fn find_person(&self, whom: &ForWhom, author: Option<&Person>) -> Result<Person> {
        let name = if let ForWhom::Somebody(name) = whom { Some(name.as_str()) } else { None };
        let mut people = self.deps.people.directory_naming(name.as_slice(), &self.deps.roster).await?;
        if let Some(author) = author {
            people = people.with(&author.id, &author.name);
        }
        resolve(whom, author, &people, &self.deps.roster).map_err(refused)
    }
}

/// The id of a reminder for a message. `which` tells several for the same message apart, so that each is set once.
pub(in crate::features::reminders) fn reminder_id(message: &MessageId, which: &str) -> ReminderId {
    let digest = Sha256::digest(format!("{message}\n{which}"));
    ReminderId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}
