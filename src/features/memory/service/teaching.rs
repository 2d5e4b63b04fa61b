use crate::features::memory::service::{Asker, Memories, Result, refused};
use kernel::ids::MemoryId;
use kernel::memory::{Memory, MemoryKind, MemorySource};
use kernel::text::without_invisible;

/// The most characters of a fact.
const LONGEST: usize = 500;

/// What somebody teaches.
pub(in crate::features::memory) struct Lesson<'a> {
    pub(in crate::features::memory) text: &'a str,
    /// The id of the memory that it replaces, as written.
    pub(in crate::features::memory) replaces: Option<&'a str>,
    pub(in crate::features::memory) source: MemorySource,
}

/// A fact to be stored, or one that is known already.
pub(in crate::features::memory) struct Taught {
    pub(in crate::features::memory) memory: Memory,
    /// A known fact that says the same, into which the new one is merged.
    pub(in crate::features::memory) known: Option<Memory>,
    /// Another fact about the same thing, which the new one may outdate.
    pub(in crate::features::memory) rival: Option<Memory>,
    pub(in crate::features::memory) replaced: Option<Memory>,
}

impl Taught {
    /// The id under which the fact is kept.
    pub(in crate::features::memory) fn kept(&self) -> &MemoryId {
        self.known.as_ref().map_or(&self.memory.id, |known| &known.id)
    }
}

impl Memories {
    /// Makes a fact of what a person says. Writes nothing.
    ///
    /// # Errors
    /// What is missing or cannot be.
    pub(in crate::features::memory) async fn draft(&self, lesson: Lesson<'_>, asker: &Asker) -> Result<Taught> {
        let text = without_invisible(lesson.text).split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.contains(char::is_alphanumeric) {
            return Err(refused("What should I remember? Try \"remember: we deploy on Thursdays\"."));
        }
        if text.chars().count() > LONGEST {
            return Err(refused(format!("That is too long to remember: {LONGEST} characters are the most. Post it as a file instead.")));
        }
        let replaced = match lesson.replaces {
            Some(written) => Some(self.find_replaced(written, asker).await?),
            None => None,
        };
        let memory = Memory {
            significance: Memory::TAUGHT,
            place: asker.scope.place().cloned(),
            taught_by: Some(asker.person.clone()),
            replaces: replaced.as_ref().map(|older| older.id.clone()),
            ..Memory::new(MemoryKind::Fact, text, lesson.source, self.now())
        };
        let known = self.store().find_duplicate(&memory).await?;
        let rival = if known.is_none() && replaced.is_none() { self.store().find_rival(&memory).await? } else { None };
        Ok(Taught { memory, known, rival, replaced })
    }

    /// Stores what a person teaches by a command.
    ///
    /// # Errors
    /// See [`Self::draft`].
    pub(in crate::features::memory) async fn teach(&self, lesson: Lesson<'_>, asker: &Asker) -> Result<Taught> {
        let taught = self.draft(lesson, asker).await?;
        self.store().teach(&taught.memory, taught.known.as_ref().map(|known| &known.id)).await?;
        Ok(taught)
    }

    /// The fact to be replaced. It must belong to the same place: a private fact cannot end a public one, nor the other way round.
    async fn find_replaced(&self, written: &str, asker: &Asker) -> Result<Memory> {
        let older = self.get(written, &asker.scope).await?;
        if older.place.as_ref() != asker.scope.place() {
            return Err(refused("That memory is public. Replace it in a channel that everybody reads."));
        }
        if older.ended_at.is_some() {
            return Err(refused(format!("`{}` is not in use any more. Teach the new one without it.", older.short_id())));
        }
        Ok(older)
    }
}
