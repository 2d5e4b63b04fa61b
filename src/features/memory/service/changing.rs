use chrono::TimeDelta;

use crate::features::memory::button::{MemoryButton, Press};
use crate::features::memory::render::{render_confirmed, render_forgotten};
use crate::features::memory::service::{Asker, Memories, Result, refused};
use kernel::chat::message::InboundMessage;
use kernel::commands::CommandReply;
use kernel::db::StoreError;
use kernel::memory::Memory;

/// How long after it was taught "forget that" means it, and how many facts are looked at.
const LATELY: TimeDelta = TimeDelta::minutes(10);
const LOOKED_AT: usize = 50;

impl Memories {
    /// Forgets a memory and the ones that it replaced, as far as the asker may.
    ///
    /// # Errors
    /// It is not there, or somebody else's.
    pub(in crate::features::memory) async fn forget(&self, written: &str, asker: &Asker) -> Result<String> {
        let memory = self.get(written, &asker.scope).await?;
        self.forget_with_older(memory, asker).await
    }

    /// What a person means with "forget that": what the message that they reply to taught or confirms, else what they taught here a moment ago.
    pub(in crate::features::memory) async fn find_meant(
        &self,
        message: &InboundMessage,
        asker: &Asker,
    ) -> Result<Option<Memory>, StoreError> {
        let store = self.store();
        let found = match &message.reply_to {
            Some(reply) => {
                // The team confirms by a reply to the message that taught.
                let confirmed = store.find_by_platform_id(&reply.message).await?.and_then(|post| post.reply_to);
                self.list_taught_in(confirmed.as_ref().unwrap_or(&reply.message)).await?
            }
            None => {
                let lately = self.now() - LATELY;
                store.list_taught(&asker.scope, LOOKED_AT).await?.into_iter().filter(|memory| memory.created_at >= lately).collect()
            }
        };
        let own = found.into_iter().filter(|memory| memory.place.as_ref() == asker.scope.place() && asker.may_forget(memory));
        Ok(own.max_by_key(|memory| memory.created_at))
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
        let forgotten = self.store().forget(&all, &asker.person, self.now()).await?;
        Ok(render_forgotten(&id, forgotten.saturating_sub(1)))
    }

    /// What a press of a button does.
    ///
    /// # Errors
    /// It is not there, or not for this person.
    pub(in crate::features::memory) async fn press(&self, button: &MemoryButton, asker: &Asker) -> Result<CommandReply> {
        let found = self.store().find_memory(&button.memory).await?;
        // A button in another place shows nothing of it.
        let Some(memory) = found.filter(|memory| asker.scope.hears(memory.place.as_ref())) else {
            return Ok(CommandReply::refused("This memory is not here any more.").retiring_buttons());
        };
        match button.press {
            Press::Forget if memory.forgotten_by.is_some() => Ok(CommandReply::refused("It was forgotten before.").retiring_buttons()),
            Press::Forget => Ok(CommandReply::public(self.forget_with_older(memory, asker).await?).retiring_buttons()),
            Press::Confirm => Ok(if self.store().confirm(&memory, &asker.person, self.now()).await? {
                CommandReply::public(render_confirmed(&memory, &asker.person)).retiring_buttons()
            } else {
                CommandReply::refused("Nothing waits for this any more.").retiring_buttons()
            }),
        }
    }
}
