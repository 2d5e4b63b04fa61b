use serde::{Deserialize, Serialize};

/// A button below a message. A click runs the command in its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// The complete command, at most 100 characters, which every platform takes. Nothing else about a button is stored, so it works after a restart.
    pub id: String,
    /// A platform cuts long ones.
    pub label: String,
    pub style: ButtonStyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ButtonStyle {
    /// The most common choice.
    Primary,
    Secondary,
    /// Accepts something.
    Success,
    /// Refuses something, or cannot be undone.
    Danger,
}
