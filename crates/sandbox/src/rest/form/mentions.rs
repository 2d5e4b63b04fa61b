//! Mentions in a text, limited by `allowed_mentions`.

use serde_json::Value;

use crate::rest::errors::ApiError;
use crate::snowflake::Snowflake;

/// "max size of 100"
const LIST_LIMIT: usize = 100;

/// The mentions in a text that ping somebody.
#[derive(Clone, Debug)]
pub(crate) struct AllowedMentions {
    everyone: bool,
    /// `None` means all users.
    users: Option<Vec<Snowflake>>,
    roles: Option<Vec<Snowflake>>,
    pub(crate) replied_user: bool,
}

/// What a text mentions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    pub(crate) everyone: bool,
    pub(crate) users: Vec<Snowflake>,
    pub(crate) roles: Vec<Snowflake>,
}

impl AllowedMentions {
    /// The default for messages.
    pub(crate) fn all() -> Self {
        Self { everyone: true, users: None, roles: None, replied_user: true }
    }

    /// The default for responses to interactions.
    pub(crate) fn users_only() -> Self {
        Self { everyone: false, users: None, roles: Some(Vec::new()), replied_user: true }
    }

    pub(crate) fn parse(value: &Value, default: Self) -> Result<Self, ApiError> {
        if value.is_null() {
            return Ok(default);
        }
        let kinds: Vec<&str> = value["parse"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (index, kind) in kinds.iter().enumerate() {
            if !["everyone", "users", "roles"].contains(kind) {
                let path = format!("allowed_mentions.parse.{index}");
                return Err(ApiError::bad_choice(&path, "('roles', 'users', 'everyone')"));
            }
        }
        let ids = |key: &str| -> Result<Option<Vec<Snowflake>>, ApiError> {
            let listed = value[key].as_array().map(Vec::as_slice).unwrap_or_default();
            let path = format!("allowed_mentions.{key}");
            if listed.len() > LIST_LIMIT {
                return Err(ApiError::too_long(&path, LIST_LIMIT));
            }
            if kinds.contains(&key) {
                if !listed.is_empty() {
                    let text = format!("parse:[\"{key}\"] and {key}: [ids...] are mutually exclusive.");
                    return Err(ApiError::invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", &text));
                }
                return Ok(None);
            }
            Ok(Some(listed.iter().filter_map(|id| serde_json::from_value(id.clone()).ok()).collect()))
        };
        Ok(Self {
            everyone: kinds.contains(&"everyone"),
            users: ids("users")?,
            roles: ids("roles")?,
            replied_user: value["replied_user"].as_bool().unwrap_or(false),
        })
    }

    /// The mentions in a text that are allowed. Code has no mentions.
    pub(crate) fn find_in(&self, text: &str) -> Mentions {
        let mut found = Mentions::default();
        // Splits at backticks, single or triple. Every second piece is code.
        for (index, piece) in text.replace("```", "`").split('`').enumerate() {
            if index % 2 == 0 {
                self.find_in_prose(piece, &mut found);
            }
        }
        found
    }

    fn find_in_prose(&self, text: &str, found: &mut Mentions) {
        found.everyone |= self.everyone && (text.contains("@everyone") || text.contains("@here"));
        for rest in text.split("<@").skip(1) {
            let Some((inside, _)) = rest.split_once('>') else { continue };
            let (list, allowed, id) = match inside.strip_prefix('&') {
                Some(role) => (&mut found.roles, &self.roles, role),
                None => (&mut found.users, &self.users, inside.strip_prefix('!').unwrap_or(inside)),
            };
            let Ok(id) = id.parse::<Snowflake>() else { continue };
            if !list.contains(&id) && allowed.as_ref().is_none_or(|allowed| allowed.contains(&id)) {
                list.push(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mentions(text: &str, allowed: &Value) -> (bool, usize, usize) {
        let allowed = AllowedMentions::parse(allowed, AllowedMentions::all()).expect("valid");
        let found = allowed.find_in(text);
        (found.everyone, found.users.len(), found.roles.len())
    }

    #[test]
    fn mentions_are_those_the_sender_allows() {
        let text = "<@1> <@!2> <@1> <@&3> @everyone <@x> <@4";
        for (allowed, expected) in [
            (Value::Null, (true, 2, 1)),
            (json!({ "parse": [] }), (false, 0, 0)),
            (json!({ "parse": ["users"] }), (false, 2, 0)),
            (json!({ "parse": ["everyone"], "users": ["2"] }), (true, 1, 0)),
            (json!({ "roles": ["3"] }), (false, 0, 1)),
        ] {
            assert_eq!(mentions(text, &allowed), expected, "{allowed}");
        }
    }

    #[test]
    fn code_mentions_nobody() {
        assert_eq!(mentions("`<@1>` ```\n@everyone <@2>\n``` <@3>", &Value::Null), (false, 1, 0));
    }

    #[test]
    fn contradicting_lists_are_refused() {
        let both = json!({ "parse": ["users"], "users": ["1"] });
        assert!(AllowedMentions::parse(&both, AllowedMentions::all()).is_err());
        assert!(AllowedMentions::parse(&json!({ "parse": ["cats"] }), AllowedMentions::all()).is_err());
        assert!(AllowedMentions::parse(&json!({ "users": vec!["1"; 101] }), AllowedMentions::all()).is_err());
    }
}
