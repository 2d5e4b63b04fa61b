//! The JSON body of a message.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::adapters::discord::ids::to_discord;
use crate::adapters::discord::markup::written;
use crate::adapters::discord::rest::card::embed;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundMessage};
use kernel::ids::OutboxId;

/// <https://docs.discord.com/developers/components/reference>: five rows of five buttons.
const ROWS: usize = 5;
const BUTTONS_PER_ROW: usize = 5;
const LABEL: usize = 80;

/// The body of a new message. Pings only the accounts named in the row.
pub(super) fn payload(message: &OutboundMessage) -> Value {
    let mut payload = said(message);
    payload.as_object_mut().expect("it was made as an object").retain(|key, value| key == "content" || *value != json!([]));
    payload
}

/// The body of an edit. Parts that the message does not have are removed.
pub(super) fn revision(message: &OutboundMessage) -> Value {
    said(message)
}

fn said(message: &OutboundMessage) -> Value {
    let files: Vec<_> =
        message.files.iter().enumerate().map(|(index, file)| json!({ "id": index.to_string(), "filename": file.name })).collect();
    let pings: Vec<_> = message.pings.iter().filter_map(|user| Some(to_discord(user.as_str()).ok()?.to_string())).collect();
    json!({
        "content": written(&message.text),
        "allowed_mentions": { "parse": [], "users": pings, "replied_user": false },
        "attachments": files,
        "embeds": message.card.iter().map(embed).collect::<Vec<_>>(),
        "components": message.buttons.chunks(BUTTONS_PER_ROW).take(ROWS).map(row).collect::<Vec<_>>(),
    })
}

/// The key for Discord's deduplication. The same row always has the same nonce, so a retry after a crash is recognised. Discord accepts at
/// most 25 characters, and some ids differ only after those. The nonce is therefore 100 bits of a digest of the id.
pub(super) fn nonce(message: &OutboxId) -> String {
    let digest = Sha256::digest(message.as_str());
    let hex = digest.iter().take(13).fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    hex.chars().take(25).collect()
}

fn row(buttons: &[Button]) -> Value {
    json!({ "type": 1, "components": buttons.iter().map(button).collect::<Vec<_>>() })
}

fn button(button: &Button) -> Value {
    let style = match button.style {
        ButtonStyle::Primary => 1,
        ButtonStyle::Secondary => 2,
        ButtonStyle::Success => 3,
        ButtonStyle::Danger => 4,
    };
    let label: String = button.label.chars().take(LABEL).collect();
    json!({ "type": 2, "style": style, "label": label, "custom_id": button.id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::chat::outbound::{Card, CardField, FileContent, OutboundFile, OutboundKind};

    fn row(text: &str) -> OutboundMessage {
        OutboundMessage {
            pings: vec!["discord:5".into(), "slack:6".into()],
            ..OutboundMessage::new(&"vince".into(), &"discord:10".into(), OutboundKind::Answer, text)
        }
    }

    #[test]
    fn nobody_is_pinged_but_the_named_accounts() {
        let mut message = row("@everyone <@7>");
        message.files.push(OutboundFile { name: "a.md".to_owned(), content: FileContent::Text("x".to_owned()) });
        for said in [payload(&message), revision(&message)] {
            assert_eq!(said["allowed_mentions"], json!({"parse": [], "users": ["5"], "replied_user": false}));
            assert_eq!(said["attachments"], json!([{"id": "0", "filename": "a.md"}]));
        }
    }

    #[test]
    fn an_embed_shows_a_file_of_its_message() {
        let mut message = row("");
        let field = CardField { name: "Owner".to_owned(), value: "Vince".to_owned(), inline: true };
        let image = Some("chart.png".to_owned());
        message.card = Some(Card { title: "Report".to_owned(), color: 0x00ff_0000, fields: vec![field], image, ..Card::default() });
        let expected = json!([{"title": "Report", "color": 0x00ff_0000, "fields": [{"name": "Owner", "value": "Vince", "inline": true}],
            "image": {"url": "attachment://chart.png"}}]);
        assert_eq!(payload(&message)["embeds"], expected);
    }

    #[test]
    fn messages_whose_ids_differ_at_their_ends_only_are_two_to_discord() {
        let nonce = |id: &str| nonce(&OutboxId::new(id));
        let reminder = nonce("work-01a202228a4875989368a4abdd2e334e-0");
        assert_eq!(reminder.len(), 25);
        assert_eq!(reminder, nonce("work-01a202228a4875989368a4abdd2e334e-0"));
        assert_ne!(reminder, nonce("work-01a202228a4875989368a4accaffe7f6-0"), "noted in the same millisecond");
        assert_ne!(reminder, nonce("work-01a202228a4875989368a4abdd2e334e-0-waiting"), "another message about the same item");
    }

    #[test]
    fn buttons_stand_five_in_a_row() {
        let mut message = row("which?");
        let button = |n| Button { id: format!("b{n}"), label: "x".repeat(90), style: ButtonStyle::Danger };
        message.buttons = (0..27).map(button).collect();
        let rows = payload(&message)["components"].clone();
        let lengths: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["components"].as_array().unwrap().len()).collect();
        assert_eq!(lengths, [5; 5]);
        let first = json!({"type": 2, "style": 4, "label": "x".repeat(80), "custom_id": "b0"});
        assert_eq!(rows[0]["components"][0], first);
    }

    #[test]
    fn a_revision_takes_away_what_it_does_not_have() {
        let bare = row("only text");
        for key in ["attachments", "embeds", "components"] {
            assert_eq!(revision(&bare)[key], json!([]));
            assert_eq!(payload(&bare).get(key), None);
        }
    }
}
