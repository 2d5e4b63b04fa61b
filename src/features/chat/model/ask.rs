//! Which persona may ask which.

use crate::features::chat::model::decision::Block;
use kernel::ids::PersonaSlug;

/// Whether the persona at the end of `path` may ask `askee`.
///
/// # Errors
/// The guard's reason: too deep, or `askee` is already in the path.
pub fn may_ask(path: &[PersonaSlug], askee: &PersonaSlug, max_depth: usize) -> Result<(), Block> {
    if path.contains(askee) {
        Err(Block::AskedAlready)
    } else if path.len() > max_depth {
        Err(Block::AskDepth)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(slugs: &[&str]) -> Vec<PersonaSlug> {
        slugs.iter().map(|slug| PersonaSlug::new(*slug)).collect()
    }

    #[test]
    fn an_ask_never_returns_to_somebody_on_its_way() {
        assert_eq!(may_ask(&path(&["kelly", "vince"]), &"kelly".into(), 5), Err(Block::AskedAlready));
        assert_eq!(may_ask(&path(&["kelly"]), &"kelly".into(), 5), Err(Block::AskedAlready));
    }

    #[test]
    fn an_ask_goes_no_deeper_than_the_limit() {
        assert_eq!(may_ask(&path(&["kelly"]), &"vince".into(), 2), Ok(()));
        assert_eq!(may_ask(&path(&["kelly", "vince"]), &"solus".into(), 2), Ok(()));
        assert_eq!(may_ask(&path(&["kelly", "vince", "solus"]), &"echo".into(), 2), Err(Block::AskDepth));
    }
}
