use crate::chat::message::{Channel, Place};
use crate::ids::ChannelId;

/// The place where something happens. It decides which memories are told there, and where memories from there are told (MEM-8).
///
/// Public memories are told everywhere. Memories of a private place are told only there. Memories of a private channel are also told in its threads,
/// which nobody else can read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    place: Option<ChannelId>,
    /// The channel of a private thread.
    parent: Option<ChannelId>,
}

impl Scope {
    /// A place that the whole team reads.
    pub const TEAM: Self = Self { place: None, parent: None };

    /// The same as an owned value.
    pub fn team() -> Self {
        Self::TEAM
    }

    pub fn of(channel: &Channel) -> Self {
        // A direct conversation always is private.
        if !channel.private && channel.place != Place::Direct {
            return Self::TEAM;
        }
        let parent = match &channel.place {
            Place::Thread { parent, .. } => Some(parent.clone()),
            Place::Server | Place::Direct => None,
        };
        Self { place: Some(channel.id.clone()), parent }
    }

    /// A private place, or the whole team.
    pub fn private(place: Option<ChannelId>) -> Self {
        Self { place, parent: None }
    }

    /// Where memories from here may be told. None: everywhere.
    pub fn place(&self) -> Option<&ChannelId> {
        self.place.as_ref()
    }

    pub fn is_private(&self) -> bool {
        self.place.is_some()
    }

    /// Whether a memory of `place` may be told here.
    pub fn hears(&self, place: Option<&ChannelId>) -> bool {
        place.is_none() || place == self.place.as_ref() || place == self.parent.as_ref()
    }

    /// The private places whose memories are told here, for statements. An empty text is none.
    pub fn heard(&self) -> [&str; 2] {
        [&self.place, &self.parent].map(|place| place.as_ref().map_or("", ChannelId::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(id: &str, place: Place, private: bool) -> Channel {
        Channel { id: id.into(), name: "x".into(), place, private, shared: false }
    }

    fn thread(private: bool) -> Scope {
        let place = Place::Thread { parent: "c".into(), parent_name: "c".into(), owner: None, starter: None };
        Scope::of(&channel("t", place, private))
    }

    #[test]
    fn a_public_channel_and_its_threads_are_the_teams() {
        assert_eq!(Scope::of(&channel("c", Place::Server, false)), Scope::team());
        assert_eq!(thread(false), Scope::team());
        assert!(!Scope::team().hears(Some(&"c".into())));
    }

    #[test]
    fn a_private_place_hears_itself_and_what_is_public() {
        for place in [Place::Server, Place::Direct] {
            let scope = Scope::of(&channel("c", place, true));
            assert_eq!(scope.place(), Some(&"c".into()));
            assert!(scope.hears(None) && scope.hears(Some(&"c".into())) && !scope.hears(Some(&"d".into())));
        }
        assert!(Scope::of(&channel("c", Place::Direct, false)).is_private(), "a direct conversation always is");
    }

    #[test]
    fn a_private_thread_hears_its_channel_and_keeps_its_own() {
        let scope = thread(true);
        assert_eq!(scope.place(), Some(&"t".into()));
        assert!(scope.hears(Some(&"t".into())) && scope.hears(Some(&"c".into())) && !scope.hears(Some(&"d".into())));
        assert!(!Scope::of(&channel("c", Place::Server, true)).hears(Some(&"t".into())));
    }
}
