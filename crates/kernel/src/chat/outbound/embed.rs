use serde::{Deserialize, Serialize};

/// The limits of Discord's embeds, in characters; <https://docs.discord.com/developers/resources/message#embed-object-embed-limits>.
const TITLE: usize = 256;
const TEXT: usize = 4096;
const FIELDS: usize = 25;
const FIELD_NAME: usize = 256;
const FIELD_VALUE: usize = 1024;
const FOOTER: usize = 2048;
/// The limit for all texts of an embed together.
const TOGETHER: usize = 6000;

/// Replaces a blank text, which a platform would reject: a zero-width space.
const BLANK: &str = "\u{200b}";

/// A card below a message's text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embed {
    pub title: String,
    pub text: String,
    /// The color of the left border, `0xRRGGBB`.
    pub color: u32,
    pub fields: Vec<EmbedField>,
    pub footer: Option<String>,
    /// The link of the title.
    pub url: Option<String>,
    /// The name of an attached picture to show.
    pub image: Option<String>,
}

/// A named value in an [`Embed`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedField {
    pub name: String,
    pub value: String,
    /// Shown next to other inline fields if there is room.
    pub inline: bool,
}

impl Embed {
    /// Cuts the embed to the platform's limits. Long texts end at a word with `…`; fields without room are dropped.
    #[must_use]
    pub fn fit(self) -> Self {
        let mut room = TOGETHER;
        let mut take = |text: &str, limit: usize| {
            let fitting = cut(text, limit.min(room));
            room -= fitting.chars().count();
            fitting
        };
        let title = take(&self.title, TITLE);
        // Room for the footer is reserved first, so that a long text does not remove it.
        let footer = self.footer.as_deref().map(|footer| take(footer, FOOTER)).filter(|footer| !footer.is_empty());
        let text = take(&self.text, TEXT);
        let mut fields = Vec::new();
        for field in self.fields.into_iter().take(FIELDS) {
            let (name, value) = (take(or_blank(&field.name), FIELD_NAME), take(or_blank(&field.value), FIELD_VALUE));
            // A field with an empty name or value would make the platform reject the whole embed.
            if name.is_empty() || value.is_empty() {
                break;
            }
            fields.push(EmbedField { name, value, inline: field.inline });
        }
        Self { title, text, fields, footer, color: self.color & 0x00ff_ffff, ..self }
    }
}

fn or_blank(text: &str) -> &str {
    if text.trim().is_empty() { BLANK } else { text }
}

/// Cuts at a line or word boundary if possible.
fn cut(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let Some(room) = limit.checked_sub(1) else { return String::new() };
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    // A boundary in the first half would lose more than cutting inside a word.
    let border = head.rfind(char::is_whitespace).filter(|border| *border >= end / 2);
    let ends_word = text[end..].starts_with(char::is_whitespace);
    let head = if ends_word { head } else { &head[..border.unwrap_or(end)] };
    format!("{}…", head.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn length(embed: &Embed) -> usize {
        let fields = embed.fields.iter().flat_map(|field| [&field.name, &field.value]);
        let texts = [&embed.title, &embed.text].into_iter().chain(&embed.footer).chain(fields);
        texts.map(|text| text.chars().count()).sum()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let field = EmbedField { name: "Owner".to_owned(), value: "Vince".to_owned(), inline: true };
        let embed = Embed {
            title: "Report".to_owned(),
            text: "All well.".to_owned(),
            color: 0x00ff_aa00,
            fields: vec![field; 3],
            footer: Some("standup".to_owned()),
            url: Some("https://example.org".to_owned()),
            image: Some("chart.png".to_owned()),
        };
        assert_eq!(embed.clone().fit(), embed);
    }

    #[test]
    fn a_long_text_ends_at_a_word_with_an_ellipsis() {
        assert_eq!(cut("one two three", 12), "one two…");
        assert_eq!(cut("one two three", 8), "one two…");
        assert_eq!(cut("one two three", 7), "one…");
        assert_eq!(cut("onetwothree", 7), "onetwo…");
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("éééé", 3), "éé…");
        assert_eq!(cut("one", 0), "");
    }

    #[test]
    fn a_blank_field_holds_its_place() {
        let fit = Embed { fields: vec![EmbedField { value: "7".to_owned(), ..EmbedField::default() }], ..Embed::default() }.fit();
        assert_eq!((fit.fields[0].name.as_str(), fit.fields[0].value.as_str()), (BLANK, "7"));
    }

    #[test]
    fn the_footer_outlives_a_text_that_fills_the_embed() {
        let field = EmbedField { name: "n".repeat(256), value: "v".repeat(1024), inline: false };
        let long = Embed { text: "x".repeat(9000), fields: vec![field; 30], footer: Some("standup".to_owned()), ..Embed::default() };
        let fit = long.fit();
        assert_eq!(fit.footer.as_deref(), Some("standup"));
        assert_eq!(fit.text.chars().count(), TEXT);
        assert!(!fit.fields.is_empty() && length(&fit) <= TOGETHER);
    }

    proptest! {
        #[test]
        fn no_embed_is_over_a_limit(
            title in ".{0,400}",
            text in "(\\PC{0,40} ?){0,200}",
            fields in prop::collection::vec(("\\PC{0,300}", "\\PC{0,1200}"), 0..30),
            footer in prop::option::of("\\PC{0,2500}"),
        ) {
            let fields = fields.into_iter().map(|(name, value)| EmbedField { name, value, inline: false }).collect();
            let fit = Embed { title, text, fields, footer, ..Embed::default() }.fit();
            prop_assert!(length(&fit) <= TOGETHER);
            prop_assert!(fit.title.chars().count() <= TITLE && fit.text.chars().count() <= TEXT);
            prop_assert!(fit.fields.len() <= FIELDS);
            for field in &fit.fields {
                prop_assert!((1..=FIELD_NAME).contains(&field.name.chars().count()));
                prop_assert!((1..=FIELD_VALUE).contains(&field.value.chars().count()));
            }
            prop_assert!(fit.footer.is_none_or(|footer| (1..=FOOTER).contains(&footer.chars().count())));
        }
    }
}
