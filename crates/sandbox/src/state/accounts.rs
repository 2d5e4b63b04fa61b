//! Users: people, and one bot per persona.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::options::BotAccount;
use crate::snowflake::{Snowflake, now_ms};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) id: Snowflake,
    /// Set for bots. Stable, unlike the display name.
    pub(crate) slug: Option<String>,
    pub(crate) name: String,
    pub(crate) nick: Option<String>,
    pub(crate) token: String,
    pub(crate) color: Option<u32>,
    /// The hash of its picture.
    #[serde(default)]
    pub(crate) avatar: Option<String>,
    /// A bot's own role, with its colour and permissions.
    pub(crate) role: Option<Snowflake>,
    /// The message-content intent in the developer portal.
    pub(crate) intents_content: bool,
    /// Whether the account is in the options of this run. Other accounts are authors of old messages and cannot log in.
    #[serde(skip)]
    pub(crate) active: bool,
    #[serde(skip)]
    pub(crate) revoked: bool,
}

impl Account {
    pub(crate) fn person(id: Snowflake, name: &str, known: Option<Self>) -> Self {
        Self {
            id,
            slug: None,
            name: name.to_owned(),
            nick: known.as_ref().and_then(|account| account.nick.clone()),
            avatar: known.as_ref().and_then(|account| account.avatar.clone()),
            token: known.map_or_else(|| new_token(id), |account| account.token),
            color: None,
            role: None,
            intents_content: true,
            active: true,
            revoked: false,
        }
    }

    pub(crate) fn bot(id: Snowflake, role: Snowflake, bot: &BotAccount, known: Option<Self>) -> Self {
        Self {
            slug: Some(bot.slug.clone()),
            color: bot.color,
            role: Some(role),
            intents_content: bot.intents_content,
            ..Self::person(id, &bot.name, known)
        }
    }

    pub(crate) fn is_bot(&self) -> bool {
        self.slug.is_some()
    }

    /// Discord's user names are lower case; the display name keeps its case.
    pub(crate) fn username(&self) -> String {
        self.slug.clone().unwrap_or_else(|| self.name.to_lowercase().replace(char::is_whitespace, "_"))
    }
}

/// A token in Discord's form: the id, a time and a signature, each in base64. Some clients read the id from it.
///
/// Folders of earlier versions have tokens in another form. Those stay valid.
fn new_token(id: Snowflake) -> String {
    let seconds = u32::try_from(now_ms() / 1000).unwrap_or(u32::MAX);
    let random = Sha256::new().chain_update(Uuid::now_v7()).chain_update(Uuid::now_v7()).finalize();
    let parts =
        [URL_SAFE_NO_PAD.encode(id.to_string()), URL_SAFE_NO_PAD.encode(seconds.to_be_bytes()), URL_SAFE_NO_PAD.encode(&random[..28])];
    parts.join(".")
}

#[derive(Debug, Default)]
pub(crate) struct Accounts {
    by_id: BTreeMap<Snowflake, Account>,
    by_token: HashMap<String, Snowflake>,
}

impl Accounts {
    pub(crate) fn put(&mut self, account: Account) {
        self.by_token.insert(account.token.clone(), account.id);
        self.by_id.insert(account.id, account);
    }

    pub(crate) fn get(&self, id: Snowflake) -> Option<&Account> {
        self.by_id.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: Snowflake) -> Option<&mut Account> {
        self.by_id.get_mut(&id)
    }

    /// The account that may log in with this token.
    pub(crate) fn find_by_token(&self, token: &str) -> Option<&Account> {
        let account = self.by_id.get(self.by_token.get(token)?)?;
        (account.active && !account.revoked).then_some(account)
    }

    pub(crate) fn find_bot(&self, slug: &str) -> Option<&Account> {
        self.by_id.values().find(|account| account.slug.as_deref() == Some(slug))
    }

    pub(crate) fn find_person(&self, name: &str) -> Option<&Account> {
        self.by_id.values().find(|account| !account.is_bot() && account.name == name)
    }

    /// All accounts, also those of earlier runs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Account> {
        self.by_id.values()
    }

    /// The members of the guild in this run.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Account> {
        self.by_id.values().filter(|account| account.active)
    }

    /// The first person owns the guild.
    pub(crate) fn owner(&self) -> Snowflake {
        self.members().find(|account| !account.is_bot()).map(|account| account.id).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_begins_with_the_id_in_base64() {
        let id: Snowflake = "1443000000000000001".parse().expect("an id");
        let token = new_token(id);
        let parts: Vec<&str> = token.split('.').collect();
        assert_eq!(parts[0], "MTQ0MzAwMDAwMDAwMDAwMDAwMQ");
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [26, 6, 38], "{token}");
        assert_ne!(new_token(id), token);
    }
}
