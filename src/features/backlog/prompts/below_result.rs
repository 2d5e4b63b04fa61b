use serde::Serialize;

use kernel::agent::Prompt;
use kernel::agent::context::{Cleaner, new_marker};
use kernel::agent::prompt::Template;

static BELOW_RESULT: Template = Template::new(include_str!("below_result.md.j2"));

/// Maximum length of the message, and of the item with its result.
const TEXT: usize = 1500;
const ITEM: usize = 4000;

/// The prompt that asks what somebody wants who writes below a result. `decides`: people are asked to decide about it.
pub(crate) fn ask_below_result(text: &str, item: &str, decides: bool) -> Prompt {
    #[derive(Serialize)]
    struct Below<'a> {
        marker: &'a str,
        text: String,
        item: String,
        decides: bool,
    }
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let message = BELOW_RESULT.render(Below { marker: &marker, text: cleaner.text(text, TEXT), item: cleaner.text(item, ITEM), decides });
    Prompt { system: String::new(), message, holds_outside: true, remarks: Vec::new() }
}
