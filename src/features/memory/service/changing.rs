use chrono::TimeDelta;

use crate::features::memory::button::{Choice, MemoryButton};
use crate::features::memory::quoting::repeats;
use crate::features::memory::render::{render_confirmed, render_forgotten, render_replaced};
use crate::features::memory::service::{Asker, Memories, Result, refused};
use crate::features::memory::store::Forget;
use kernel::commands::CommandReply;
use kernel::ids::{ChannelId, MessageId};
use kernel::memory::{Memory, MemoryKind};

/// "Forget that" means what was said within this time.
const LATELY: TimeDelta = TimeDelta::minutes(10);

/// The most taught facts that are searched for the one in an answer.
const TAUGHT: usize = 200;

/// What is to be forgotten.
pub(in crate::features::memory) enum Meant<'a> {
    /// As written.
    Id(&'a str),
    /// What was said with a message, or what a message of the team confirmed.
    Message(&'a MessageId),
    Last {
        channel: &'a ChannelId,
    },
}

impl Memories {
    /// Forgets a memory and the ones that it replaced, as far as the asker may.
    ///
    /// # Errors
    /// It is not there, or somebody else's.
    pub(in crate::features::memory) async fn forget(&self, written: &str, asker: &Asker) -> Result<String> {
        let memory = self.get(written, &asker.scope).await?;
        self.forget_with_older(memory, asker).await
    }

    async fn forget_with_older(&self, memory: Memory, asker: &Asker) -> Result<String> {
        asker.check(&memory)?;
        if memory.forgotten_by.is_some() {
            return Err(refused(format!("`{}` was forgotten before.", memory.short_id())));
        }
        let id = memory.short_id();
        let older = self.list_older(&memory, &asker.scope).await?;
        let mut all: Vec<Memory> = vec![memory];
        all.extend(older.into_iter().filter(|older| asker.may_forget(older)));
        let forgotten = self.store().forget(&self.draft_forget(all, asker).await?).await?;
        Ok(render_forgotten(&id, forgotten.saturating_sub(1)))
    }

    async fn draft_forget(&self, memories: Vec<Memory>, asker: &Asker) -> Result<Forget> {
        Ok(self.store().draft_forget(memories, &asker.person, self.now()).await?)
    }

    /// What "forget that" means, and what it forgets: a message that is replied to, or else the last thing that the asker said or taught here. Writes
    /// nothing. None: there is nothing that it could mean.
    ///
    /// # Errors
    /// It is somebody else's.
    pub(in crate::features::memory) async fn draft_forget_that(
        &self,
        meant: &Meant<'_>,
        asker: &Asker,
    ) -> Result<Option<(String, Forget)>> {
        let found = match meant {
            Meant::Id(id) => vec![self.get(id, &asker.scope).await?],
            Meant::Message(message) => {
                let cause = self.store().find_cause(message).await?;
                let mut found = self.store().list_memories_of(cause.as_ref().unwrap_or(message)).await?;
                found.retain(|memory| memory.kind != MemoryKind::Document);
                if found.iter().all(|memory| memory.kind == MemoryKind::Conversation) {
                    found = self.find_told(message, asker).await?.map_or(found, |told| vec![told]);
                }
                found
            }
            Meant::Last { channel } => {
                let last = self.store().list_last_of(channel, self.now() - LATELY).await?;
                last.into_iter().filter(|memory| memory.person().is_some_and(|by| by.id == asker.person.id)).take(1).collect()
            }
        };
        let is_here = |memory: &Memory| memory.forgotten_by.is_none() && asker.scope.hears(memory.place.as_ref());
        let mut found: Vec<Memory> = found.into_iter().filter(is_here).collect();
        let Some(first) = found.first().cloned() else { return Ok(None) };
        for memory in &found {
            asker.check(memory)?;
        }
        let older = self.list_older(&first, &asker.scope).await?;
        let older: Vec<Memory> = older.into_iter().filter(|older| asker.may_forget(older)).collect();
        let told = render_forgotten(&first.short_id(), older.len());
        found.extend(older);
        Ok(Some((told, self.draft_forget(found, asker).await?)))
    }

    /// Does what a button offers.
    ///
    /// # Errors
    /// It is not there, or not for this person.
    pub(in crate::features::memory) async fn press(&self, button: &MemoryButton, asker: &Asker) -> Result<CommandReply> {
        let found = self.store().find_memory(&button.memory).await?;
        // A button that is used in another place reveals nothing of the memory.
        let Some(memory) = found.filter(|memory| asker.scope.hears(memory.place.as_ref())) else {
            return Ok(CommandReply::refused("This memory is not here any more.").retiring_buttons());
        };
        match button.choice {
            Choice::Forget if memory.forgotten_by.is_some() => Ok(CommandReply::refused("It was forgotten before.").retiring_buttons()),
            Choice::Forget => Ok(CommandReply::public(self.forget_with_older(memory, asker).await?).retiring_buttons()),
            Choice::Replace => self.press_replace(button, &memory, asker).await,
            Choice::Confirm => Ok(if self.store().confirm(&memory, &asker.person, self.now()).await? {
                CommandReply::public(render_confirmed(&memory, &asker.person)).retiring_buttons()
            } else {
                CommandReply::refused("Nothing waits for this any more.").retiring_buttons()
            }),
        }
    }

    /// The taught fact that a message of the team repeats.
    async fn find_told(&self, message: &MessageId, asker: &Asker) -> Result<Option<Memory>> {
        let Some(posted) = self.store().find_by_platform_id(message).await? else { return Ok(None) };
        let taught = self.store().list_taught(&asker.scope, TAUGHT).await?;
        let mut told: Vec<Memory> = taught.into_iter().filter(|memory| repeats(&posted.text, &memory.text)).collect();
        if told.len() > 1 {
            let ids: Vec<String> = told.iter().take(5).map(|memory| format!("`{}`", memory.short_id())).collect();
            let first = told[0].short_id();
            return Err(refused(format!("That tells several things: {}. Say which one, such as \"forget #{first}\".", ids.join(", "))));
        }
        Ok(told.pop())
    }

    async fn press_replace(&self, button: &MemoryButton, newer: &Memory, asker: &Asker) -> Result<CommandReply> {
        let older = match &button.older {
            Some(older) => self.store().find_memory(older).await?.filter(|older| older.place == newer.place),
            None => None,
        };
        let Some(older) = older else { return Ok(CommandReply::refused("The older one is not here any more.").retiring_buttons()) };
        Ok(if self.store().replace(newer, &older, &asker.person, self.now()).await? {
            CommandReply::public(render_replaced(newer, &older, &asker.person)).retiring_buttons()
        } else {
            CommandReply::refused("One of the two is not in use any more.").retiring_buttons()
        })
    }
}
