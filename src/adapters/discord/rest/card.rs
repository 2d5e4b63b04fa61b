//! A card as one of Discord's embeds.

use serde_json::{Value, json};

use crate::adapters::discord::markup::written;
use kernel::chat::outbound::{Card, CardField};

/// The limits of Discord's embeds, in characters; <https://docs.discord.com/developers/resources/message#embed-object-embed-limits>.
const TITLE: usize = 256;
const TEXT: usize = 4096;
const FIELDS: usize = 25;
const FIELD_NAME: usize = 256;
const FIELD_VALUE: usize = 1024;
const FOOTER: usize = 2048;
/// The limit for all texts of an embed together.
const TOGETHER: usize = 6000;

/// Replaces a blank text, which Discord would reject: a zero-width space.
const BLANK: &str = "\u{200b}";

/// The card in Discord's JSON format.
pub(super) fn embed(card: &Card) -> Value {
    let card = fit(card);
    let mut out = json!({ "color": card.color });
    let texts = [("title", card.title), ("description", card.text), ("url", card.url.unwrap_or_default())];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        out[key] = json!(text);
    }
    if !card.fields.is_empty() {
        let fields = card.fields.iter().map(|field| json!({ "name": field.name, "value": field.value, "inline": field.inline }));
        out["fields"] = fields.collect();
    }
    if let Some(footer) = card.footer {
        out["footer"] = json!({ "text": footer });
    }
    if let Some(name) = card.image {
        out["image"] = json!({ "url": format!("attachment://{name}") });
    }
    out
}

/// The card in Discord's markup, cut to its limits. Long texts end at a word with `…`; fields without room are dropped.
pub(super) fn fit(card: &Card) -> Card {
    let mut room = TOGETHER;
    let mut take = |text: &str, limit: usize| {
        let fitting = cut(&written(text), limit.min(room));
        room -= fitting.chars().count();
        fitting
    };
    let title = take(&card.title, TITLE);
    // Room for the footer is reserved first, so that a long text does not remove it.
    let footer = card.footer.as_deref().map(|footer| take(footer, FOOTER)).filter(|footer| !footer.is_empty());
    let text = take(&card.text, TEXT);
    let mut fields = Vec::new();
    for field in card.fields.iter().take(FIELDS) {
        let (name, value) = (take(or_blank(&field.name), FIELD_NAME), take(or_blank(&field.value), FIELD_VALUE));
        // A field with an empty name or value would make Discord reject the whole embed.
        if name.is_empty() || value.is_empty() {
            break;
        }
        fields.push(CardField { name, value, inline: field.inline });
    }
    Card { title, text, fields, footer, color: card.color & 0x00ff_ffff, url: card.url.clone(), image: card.image.clone() }
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

    fn length(card: &Card) -> usize {
        let fields = card.fields.iter().flat_map(|field| [&field.name, &field.value]);
        let texts = [&card.title, &card.text].into_iter().chain(&card.footer).chain(fields);
        texts.map(|text| text.chars().count()).sum()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let field = CardField { name: "Owner".to_owned(), value: "Vince".to_owned(), inline: true };
        let card = Card {
            title: "Report".to_owned(),
            text: "All well.".to_owned(),
            color: 0x00ff_aa00,
            fields: vec![field; 3],
            footer: Some("standup".to_owned()),
            url: Some("https://example.org".to_owned()),
            image: Some("chart.png".to_owned()),
        };
        assert_eq!(fit(&card), card);
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
        let fit = fit(&Card { fields: vec![CardField { value: "7".to_owned(), ..CardField::default() }], ..Card::default() });
        assert_eq!((fit.fields[0].name.as_str(), fit.fields[0].value.as_str()), (BLANK, "7"));
    }

    #[test]
    fn the_footer_outlives_a_text_that_fills_the_embed() {
        let field = CardField { name: "n".repeat(256), value: "v".repeat(1024), inline: false };
        let long = Card { text: "x".repeat(9000), fields: vec![field; 30], footer: Some("standup".to_owned()), ..Card::default() };
        let fit = fit(&long);
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
            let fields = fields.into_iter().map(|(name, value)| CardField { name, value, inline: false }).collect();
            let fit = fit(&Card { title, text, fields, footer, ..Card::default() });
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
