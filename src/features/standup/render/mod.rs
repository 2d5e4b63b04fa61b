//! Renders standups: kickoff, shared page, Day Report, scoreboard and health, as text, card and picture.
//!
//! Pure. All numbers come from stored data. Times are in the team's zone. Text from people, models, feeds and file names is escaped by
//! [`Medium`](kernel::chat::medium::Medium). Secrets and pings are removed later, in the outbox.

mod checkins;
mod health;
mod kickoff;
mod labels;
mod lines;
mod messages;
mod page;
mod predictions;
mod report;
mod result;
mod status;

use kernel::chat::medium;

pub use checkins::{
    render_away, render_away_first, render_back, render_checkin_noted, render_checkin_off, render_checkin_on, render_checkin_question,
    render_kept_report,
};
pub use health::{draw_health, render_health};
pub use kickoff::{Kickoff, render_kickoff};
pub use lines::{render_already_running, render_call, render_moved, render_revised, render_settled, render_tension};
pub use page::render_page;
pub use predictions::{render_predictions, render_scoreboard};
pub use report::{render_report_card, render_report_markdown, render_report_sections, render_report_thread};
pub use result::render_result;
pub use status::render_standup_status;
