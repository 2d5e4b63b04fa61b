//! How a standup looks: its kickoff, its shared page, its Day Report, its scoreboard and its health, as text, as an embed and as a picture.
//!
//! Pure functions of stored facts: no store, no clock, no I/O. They decide nothing and count nothing anew; every number that they show
//! comes from what they are given. Times are in UTC and say so.
//!
//! What comes from people, models, feeds and file names is foreign text: it reaches Markdown only through
//! [`Medium`](kernel::chat::medium::Medium). Removing secrets and withholding pings is not done here but where messages leave.

mod health;
mod kickoff;
mod lines;
mod messages;
mod page;
mod predictions;
mod report;
mod status;
mod words;

use kernel::chat::medium;

pub use health::{draw_health, render_health};
pub use kickoff::{Kickoff, render_kickoff};
pub use lines::{render_already_running, render_call, render_moved, render_settled, render_tension};
pub use page::render_page;
pub use predictions::{render_predictions, render_scoreboard};
pub use report::{render_report_embed, render_report_markdown, render_report_thread};
pub use status::render_standup_status;
