//! Membership of channels, and direct conversations.

use super::{Person, Refused};

impl Person {
    /// Joins a channel. False if the person is in it already.
    pub fn join(&self, channel: &str) -> bool {
        self.invite(channel, &self.id)
    }

    pub fn leave(&self, channel: &str) -> bool {
        self.kick(channel, &self.id)
    }

    /// Takes somebody, or the bot user of an app, out of a channel. False if they are not in it.
    pub fn kick(&self, channel: &str, user: &str) -> bool {
        let mut core = self.core();
        let has_left = core.world.leave(channel, user);
        core.flush();
        has_left
    }

    /// Gives a channel another name. Apps get `channel_rename`.
    pub fn rename_channel(&self, channel: &str, name: &str) {
        let mut core = self.core();
        core.world.rename_channel(channel, name);
        core.flush();
    }

    /// Shares a channel with another company, or stops sharing it. Apps get `channel_shared` or `channel_unshared`.
    pub fn share_channel(&self, channel: &str, on: bool) {
        let mut core = self.core();
        core.world.share_channel(channel, on);
        core.flush();
    }

    /// Brings somebody, or the bot user of an app, into a channel. False if they are in it already.
    pub fn invite(&self, channel: &str, user: &str) -> bool {
        let mut core = self.core();
        let inviter = (user != self.id).then_some(self.id.as_str());
        let is_new = core.world.join(channel, user, inviter);
        core.flush();
        is_new
    }

    pub fn archive(&self, channel: &str, on: bool) {
        let mut core = self.core();
        core.world.archive(channel, &self.id, on);
        core.flush();
    }

    /// Like [`Person::open_direct`], but refuses unknown users, because a page may send any ids.
    pub(super) fn open_direct_with_known(&self, users: &[String]) -> Result<String, Refused> {
        let is_known = |id: &String| self.core().world.users.contains_key(id);
        if users.is_empty() || !users.iter().all(is_known) {
            return Err(Refused("user_not_found"));
        }
        Ok(self.open_direct(&users.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    /// Opens the direct conversation with one user, or the group conversation with several.
    pub fn open_direct(&self, users: &[&str]) -> String {
        let members = users.iter().map(|user| (*user).to_owned()).chain([self.id.clone()]).collect();
        let mut core = self.core();
        let id = core.world.open_direct(&members).0;
        core.flush();
        id
    }
}
