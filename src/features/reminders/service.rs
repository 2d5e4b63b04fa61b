//! What people do to reminders, whether by a sentence, a command or a button.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::button::{Press, RemindButton};
use super::model::{Person, Reminder, ReminderState};
use super::render::{name, render_cancelled, render_done, render_settled, render_snoozed, what};
use super::request::ForWhom;
use super::when::{When, parse_when};
use super::whom::Known;
use crate::store::Store;
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbox::Relay;
use kernel::commands::{Caller, CommandCall, CommandReply, Right};
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug, ReminderId, UserId};
use kernel::persona::roster::{Accounts, Roster};
use kernel::time::SharedClock;

/// The most characters of what a reminder says.
const LONGEST: usize = 1000;

/// The most reminders that may wait in a channel.
const MOST: usize = 200;

/// The most reminders that a question back lists.
const NAMED: usize = 5;

/// What reminders work with.
pub struct Parts {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// People of the team, who are known by name before they have said anything.
    pub people: Vec<(UserId, String)>,
    /// The team's zone, in which people's times are.
    pub zone: Tz,
    /// None beside a team that runs: its own relay finds the rows.
    pub relay: Option<Relay>,
    pub clock: SharedClock,
}

/// The team's reminders.
pub struct Reminders {
    parts: Parts,
}

/// Why something was not done, in words for whoever asked.
#[derive(Debug, thiserror::Error)]
pub enum RemindError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(super) type Result<T, E = RemindError> = std::result::Result<T, E>;

/// A reminder as it is asked for.
pub(super) struct Asked<'a> {
    pub(super) whom: &'a ForWhom,
    pub(super) what: &'a str,
    pub(super) when: &'a When,
    /// None: the command line.
    pub(super) by: Option<Person>,
    pub(super) channel: &'a Channel,
    /// Who is to tell.
    pub(super) persona: &'a PersonaSlug,
}

/// Who wants something of a reminder, and where.
pub(super) struct Asker {
    pub(super) person: Option<Person>,
    operates: bool,
    channel: Option<ChannelId>,
}

impl Asker {
    pub(super) fn of(call: &CommandCall) -> Self {
        let person = match &call.caller {
            Caller::Person { id, name, .. } => Some(Person { id: id.clone(), name: name.clone() }),
            Caller::CommandLine => None,
        };
        let operates = person.is_none() || call.right == Right::Operator;
        Self { person, operates, channel: call.channel.as_ref().map(|channel| channel.id.clone()) }
    }

    pub(super) fn id(&self) -> Option<&UserId> {
        self.person.as_ref().map(|person| &person.id)
    }

    /// An operator, whoever asked for it, and whoever is reminded.
    fn may_change(&self, reminder: &Reminder) -> bool {
        let is = |person: &Person| Some(&person.id) == self.id();
        self.operates || is(&reminder.whom) || reminder.by.as_ref().is_some_and(is)
    }

    fn check(&self, reminder: &Reminder) -> Result<()> {
        if self.may_change(reminder) {
            return Ok(());
        }
        let asked = reminder.by.as_ref().filter(|by| by.id != reminder.whom.id).map_or(String::new(), |by| format!(", {}", name(by)));
        Err(refused(format!("Only {}{asked} or an operator can change this reminder.", name(&reminder.whom))))
    }
}

impl Reminders {
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.parts.clock.now()
    }

    pub(super) fn zone(&self) -> Tz {
        self.parts.zone
    }

    pub(super) fn store(&self) -> &Store {
        &self.parts.store
    }

    pub(super) fn roster(&self) -> &Roster {
        &self.parts.roster
    }

    /// Who tells: the persona that was asked; the coordinator where that has left the team.
    pub(super) fn speaker_of<'a>(&'a self, reminder: &'a Reminder) -> &'a PersonaSlug {
        let roster = &self.parts.roster;
        roster.find(&reminder.persona).map_or(&roster.coordinator().slug, |persona| &persona.slug)
    }

    /// Tells the relay in which channel rows wait.
    pub(super) fn wake(&self, channel: &ChannelId) {
        if let Some(relay) = &self.parts.relay {
            relay.wake(channel);
        }
    }

    /// Makes a reminder of what was asked for. Writes nothing.
    ///
    /// # Errors
    /// What is missing or cannot be.
    pub(super) async fn draft(&self, asked: Asked<'_>) -> Result<Reminder> {
        let what = asked.what.trim();
        if what.is_empty() {
            return Err(refused("Remind of what? Write it like \"remind me tomorrow at 9 to pay the bill\"."));
        }
        if what.chars().count() > LONGEST {
            return Err(refused(format!("That is too long for a reminder: {LONGEST} characters are the most.")));
        }
        let whom = self.find_person(asked.whom, asked.by.as_ref(), &asked.channel.id).await?;
        let private = asked.channel.place == Place::Direct;
        if private && asked.by.as_ref().is_none_or(|by| by.id != whom.id) {
            return Err(refused(format!("{} does not read this conversation. Ask me in a channel that you both read.", name(&whom))));
        }
        let Some(due) = asked.when.first_after(self.now()) else {
            return Err(refused("That time is over. Name one that is still to come."));
        };
        let open = self.store().list_open_reminders(Some(&asked.channel.id)).await?;
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
                When::Repeated(timetable) => Some((**timetable).clone()),
            },
            zone: self.parts.zone,
            state: ReminderState::Waiting,
            round: 0,
        })
    }

    /// Those that wait in a channel, or in all of them.
    pub(super) async fn list(&self, channel: Option<&ChannelId>) -> Result<Vec<Reminder>> {
        let open = self.store().list_open_reminders(channel).await?;
        Ok(open.into_iter().filter(|reminder| reminder.state == ReminderState::Waiting).collect())
    }

    /// Has a reminder told at `until` instead, or once more.
    pub(super) async fn snooze(&self, named: &str, until: DateTime<Utc>, asker: &Asker) -> Result<Reminder> {
        let reminder = self.get(named, asker).await?;
        if reminder.repeat.is_some() {
            let again = reminder.once_more(ReminderId::generate(), until);
            self.store().add_reminder(&again, self.now()).await?;
            return Ok(again);
        }
        self.change(reminder, |reminder| reminder.snoozed(until).ok()).await?.map_err(|over| refused(render_settled(&over, self.now())))
    }

    pub(super) async fn cancel(&self, named: &str, asker: &Asker) -> Result<Reminder> {
        let reminder = self.get(named, asker).await?;
        self.change(reminder, |reminder| reminder.cancelled().ok()).await?.map_err(|over| refused(render_settled(&over, self.now())))
    }

    /// What a press of a button does. Everything is read anew: the button may be days old, pressed twice, or by somebody else before.
    pub(super) async fn press(&self, button: &RemindButton, asker: &Asker) -> Result<CommandReply> {
        let Some(reminder) = self.store().find_reminder(&button.reminder).await? else {
            return Ok(CommandReply::refused("This reminder is not there any more.").retiring_buttons());
        };
        asker.check(&reminder)?;
        let (now, is_over, round) = (self.now(), reminder.state.is_over(), reminder.round);
        let until = if button.press == Press::Hour { now + TimeDelta::hours(1) } else { self.parse_time("tomorrow")? };
        let changed = match button.press {
            Press::Cancel => self.change(reminder, |reminder| reminder.cancelled().ok()).await?,
            _ if is_over => Err(reminder),
            // The other times of a repeated one go on as they are.
            Press::Done if reminder.repeat.is_some() => Ok(reminder),
            Press::Hour | Press::Tomorrow if reminder.repeat.is_some() => {
                let again = reminder.once_more(ReminderId::generate(), until);
                let added = self.store().add_reminder_again(&again, &format!("{}:{}", reminder.id, button.round), now).await?;
                if !added {
                    return Ok(CommandReply::refused("This reminder was snoozed already.").retiring_buttons());
                }
                Ok(again)
            }
            _ if round != button.round => Err(reminder),
            Press::Done => self.change_round(reminder, button.round, |reminder| reminder.done().ok()).await?,
            Press::Hour | Press::Tomorrow => self.change_round(reminder, button.round, |reminder| reminder.snoozed(until).ok()).await?,
        };
        let reader = asker.id();
        Ok(match changed {
            Ok(reminder) => CommandReply::private(match button.press {
                Press::Done => render_done(&reminder, now),
                Press::Cancel => render_cancelled(&reminder, reader),
                Press::Hour | Press::Tomorrow => render_snoozed(&reminder, reader, now),
            }),
            Err(reminder) => CommandReply::refused(render_settled(&reminder, now)),
        }
        .retiring_buttons())
    }

    /// An instant that somebody gives for a snooze.
    ///
    /// # Errors
    /// It is no time, or one that repeats.
    pub(super) fn parse_time(&self, text: &str) -> Result<DateTime<Utc>> {
        let parse = |text: &str| parse_when(text, self.now(), self.parts.zone);
        // "20 minutes" is as good as "in 20 minutes".
        match parse(text).or_else(|error| parse(&format!("in {text}")).map_err(|_| error)) {
            Ok(When::Once(at)) => Ok(at),
            Ok(When::Repeated(_)) => Err(refused("A reminder is snoozed to one time, such as \"tomorrow at 9\" or \"in 2 hours\".")),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// The reminder that somebody means, by the end of its id or by words of it, where it belongs and if they may change it.
    async fn get(&self, named: &str, asker: &Asker) -> Result<Reminder> {
        let wanted = named.trim().trim_start_matches('#').to_lowercase();
        let open = self.store().list_open_reminders(asker.channel.as_ref()).await?;
        let mut found: Vec<Reminder> = open.iter().filter(|reminder| reminder.short_id() == wanted).cloned().collect();
        if found.is_empty() && !wanted.is_empty() {
            let says = |reminder: &&Reminder| reminder.what.to_lowercase().contains(&wanted);
            // Words find nothing of a private conversation from outside of it.
            found = open.iter().filter(|reminder| !reminder.private || asker.channel.is_some()).filter(says).cloned().collect();
        }
        match found.len() {
            0 => Err(refused(format!("There is no open reminder \"{}\" here. `/remind list` shows those there are.", named.trim()))),
            1 => {
                let reminder = found.remove(0);
                asker.check(&reminder)?;
                Ok(reminder)
            }
            _ => {
                let named: Vec<_> =
                    found.iter().take(NAMED).map(|reminder| format!("`{}` ({})", reminder.short_id(), what(reminder))).collect();
                Err(refused(format!("Several reminders match. Give the id of one: {}.", named.join(", "))))
            }
        }
    }

    /// Changes a reminder, again if somebody else changed it meanwhile. The reminder as it is where the change cannot be made (any more).
    async fn change(&self, reminder: Reminder, change: impl Fn(Reminder) -> Option<Reminder>) -> Result<Result<Reminder, Reminder>> {
        let mut current = reminder;
        loop {
            let Some(changed) = change(current.clone()) else { return Ok(Err(current)) };
            if self.store().change_reminder(&current, &changed, self.now()).await? {
                return Ok(Ok(changed));
            }
            match self.store().find_reminder(&current.id).await? {
                Some(again) => current = again,
                None => return Err(refused("This reminder is not there any more.")),
            }
        }
    }

    /// The same for one round.
    async fn change_round(
        &self,
        reminder: Reminder,
        round: i64,
        change: impl Fn(Reminder) -> Option<Reminder>,
    ) -> Result<Result<Reminder, Reminder>> {
        self.change(reminder, |reminder| if reminder.round == round { change(reminder) } else { None }).await
    }

    async fn find_person(&self, whom: &ForWhom, author: Option<&Person>, channel: &ChannelId) -> Result<Person> {
        let store = self.store();
        let mut accounts = Accounts::default();
        for identity in store.list_identities().await? {
            accounts.record(identity.account, identity.persona);
        }
        let private: Vec<_> =
            store.list_channels().await?.into_iter().map(|seen| seen.channel).filter(|seen| seen.place == Place::Direct).collect();
        let team = self.parts.people.iter().map(|(id, name)| Person { id: id.clone(), name: name.clone() });
        let (mut here, mut elsewhere): (Vec<Person>, Vec<Person>) = (author.cloned().into_iter().collect(), team.collect());
        for (spoke_in, person) in store.list_recent_people().await? {
            if spoke_in == *channel {
                here.push(person);
            } else if private.iter().all(|private| private.id != spoke_in) {
                elsewhere.push(person);
            }
        }
        let known = Known { roster: &self.parts.roster, accounts: &accounts, here: &here, elsewhere: &elsewhere };
        known.resolve(whom, author).map_err(refused)
    }
}

pub(super) fn refused(why: impl Into<String>) -> RemindError {
    RemindError::Refused(why.into())
}
