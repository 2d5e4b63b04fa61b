//! Converts Slack's names of emojis to the emojis that people see.

/// An emoji as people see it: "👍" for `+1` or `thumbsup::skin-tone-3`. One of the workspace's own stays a name.
pub(super) fn shown(name: &str) -> String {
    let base = name.split("::").next().unwrap_or(name);
    // Slack calls some colors large: `large_green_circle`.
    let known = || emojis::get_by_shortcode(base.strip_prefix("large_")?);
    emojis::get_by_shortcode(base).or_else(known).map_or_else(|| format!(":{base}:"), |emoji| emoji.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_what_people_see() {
        for (name, emoji) in [("+1", "👍"), ("thumbsup::skin-tone-3", "👍"), ("large_green_circle", "🟢"), ("our_logo", ":our_logo:")]
        {
            assert_eq!(shown(name), emoji);
        }
    }
}
