//! The button below a result. Its id holds which result.

use kernel::chat::outbound::{Button, ButtonStyle};

use crate::features::FeatureDeps;

/// Whether results can be heard here, so that they have a button for it.
#[derive(Debug, Clone, Copy)]
pub struct Plays(bool);

impl Plays {
    pub fn of(deps: &FeatureDeps<'_>) -> Self {
        Self(deps.speech.is_some())
    }

    /// None where nothing can speak.
    pub fn button(self, kind: &str, id: &str) -> Option<Button> {
        let id = PlayButton { kind: kind.to_owned(), id: id.to_owned() }.id();
        self.0.then(|| Button { id, label: "▶ Play".to_owned(), style: ButtonStyle::Secondary })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlayButton {
    pub(super) kind: String,
    pub(super) id: String,
}

impl PlayButton {
    pub(super) const PREFIX: &str = "play";

    fn id(&self) -> String {
        format!("{}:{}:{}", Self::PREFIX, self.kind, self.id)
    }

    /// None for buttons of others.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (kind, id) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        Some(Self { kind: kind.to_owned(), id: id.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_button_is_read_back_from_its_id_and_is_only_there_where_something_speaks() {
        let button = Plays(true).button("standup", "0192f0c1").expect("a button");
        assert_eq!(PlayButton::parse(&button.id), Some(PlayButton { kind: "standup".to_owned(), id: "0192f0c1".to_owned() }));
        assert_eq!(Plays(false).button("standup", "0192f0c1"), None);
        for id in ["", "play", "play:standup", "board:stop:1", "player:standup:1"] {
            assert_eq!(PlayButton::parse(id), None, "{id}");
        }
    }
}
