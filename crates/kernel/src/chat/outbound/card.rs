use serde::{Deserialize, Serialize};

/// A card below a message's text. A platform cuts what is over its limits: long texts at a word, and the last fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    pub title: String,
    pub text: String,
    /// The color of the card, `0xRRGGBB`.
    pub color: u32,
    pub fields: Vec<CardField>,
    pub footer: Option<String>,
    /// The link of the title.
    pub url: Option<String>,
    /// The name of an attached picture to show.
    pub image: Option<String>,
}

/// A named value in a [`Card`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardField {
    pub name: String,
    pub value: String,
    /// Shown next to other inline fields if there is room.
    pub inline: bool,
}
