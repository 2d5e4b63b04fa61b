//! The names of threads. No platform shows markup there.

use std::collections::HashMap;

use crate::chat::markdown::bare;
use crate::chat::medium::shorten;
use crate::chat::text::{Markup, Part, parts};
use crate::db::{Database, Result};
use crate::ids::{ChannelId, UserId};
use crate::people::unnamed;
use crate::text::capital;

/// Discord takes 100 characters.
const LONGEST: usize = 90;

/// For a title of which nothing is left.
const UNTITLED: &str = "Thread";

/// The name of a thread for a title in Markdown: without marks, and with names in place of ids.
pub(super) async fn thread_name(store: &Database, title: &str) -> Result<String> {
    let mut names = Names::default();
    for part in parts(title) {
        match part {
            Part::Mention(id) => {
                let persona = store.read_accounts().await?.find(&id).map(|persona| capital(persona.as_str()));
                let name = if persona.is_some() { persona } else { store.find_name(&id).await? };
                names.accounts.extend(name.map(|name| (id, name)));
            }
            Part::Channel(id) => {
                let seen = store.list_channels().await?.into_iter().map(|seen| seen.channel).find(|channel| channel.id == id);
                names
                    .channels
                    .extend(seen.filter(|channel| !channel.private && !channel.name.is_empty()).map(|channel| (id, channel.name)));
            }
            Part::Markdown(_) => {}
        }
    }
    Ok(names.name(title))
}

#[derive(Default)]
struct Names {
    accounts: HashMap<UserId, String>,
    channels: HashMap<ChannelId, String>,
}

impl Names {
    fn name(&self, title: &str) -> String {
        let name = shorten(&bare(title, self), LONGEST);
        if name.chars().any(char::is_alphanumeric) { name } else { UNTITLED.to_owned() }
    }
}

impl Markup for Names {
    fn mention(&self, user: &UserId) -> String {
        self.accounts.get(user).cloned().unwrap_or_else(|| unnamed(user))
    }

    fn channel(&self, channel: &ChannelId) -> String {
        self.channels.get(channel).map_or_else(|| "another channel".to_owned(), |name| format!("#{name}"))
    }

    fn subtext(&self, line: &str) -> String {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names {
            accounts: HashMap::from([("discord:157".into(), "Ann_the_1st".to_owned())]),
            channels: HashMap::from([("discord:7".into(), "general".to_owned())]),
        }
    }

    #[test]
    fn a_name_is_plain_text() {
        for (title, name) in [
            ("should <user:discord:157> go?", "should Ann_the_1st go?"),
            ("**Plan** for `x_1` in <channel:discord:7> ~~not~~", "Plan for x_1 in #general not"),
            ("### A *big* [page](https://a.org) _now_\n- [ ] and more", "A big page now ☐ and more"),
            (r"snake\_case, 2 * 3 \*so\*", "snake_case, 2 * 3 *so*"),
            ("<b>Why?</b> $x^2$", "Why? x²"),
            ("ask <user:discord:123456789> in <channel:discord:8>", "ask member …456789 in another channel"),
            ("cut <user:discord:15…", "cut"),
            ("<@157> and https://a.org/x_y", "<@157> and https://a.org/x_y"),
            ("`` ` ``**", "Thread"),
            ("", "Thread"),
        ] {
            assert_eq!(names().name(title), name, "{title}");
        }
        let long = format!("{} end", "word ".repeat(30));
        assert_eq!(names().name(&long), format!("{}…", "word ".repeat(18).trim_end()));
    }

    proptest::proptest! {
        #[test]
        fn any_title_gives_a_name_that_platforms_take(title in "(\\PC|[-*_`~#>\\[\\]()\\\\<]|<user:a:1>|<user:disc){0,200}") {
            let name = names().name(&title);
            let length = name.chars().count();
            proptest::prop_assert!((1..=LONGEST).contains(&length) && !name.contains(['\n', '`']) && !name.contains("<user:"), "{name}");
        }
    }
}
