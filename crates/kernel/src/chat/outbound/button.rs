use serde::{Deserialize, Serialize};

/// A button below a message. Who presses it gives the command that its id says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// Says everything that the press means, since nothing about a button is remembered: it works after a restart. At most 100 characters.
    pub id: String,
    /// At most 80 characters.
    pub label: String,
    pub style: ButtonStyle,
}

/// How a button looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ButtonStyle {
    /// What most people want.
    Primary,
    Secondary,
    /// Agrees to something.
    Success,
    /// Refuses something, or cannot be undone.
    Danger,
}
