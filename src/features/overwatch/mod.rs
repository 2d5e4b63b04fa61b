//! Overwatch: when a mission is over, each persona that took part looks back at the whole run (OVER-1 to OVER-7). The same happens after a meeting
//! when somebody asks for it. `record` reads the turns and the result of the meeting.
//!
//! `jobs` asks all at once, on the cheapest model, within 30 seconds. `model` limits the insights and marks those that the run does not support. The
//! insights are posted in the mission's thread and rated by people. A button makes one a work item, and later plans are told about them. Missions
//! hand a run over with [`look_back`] in the transaction that delivers it, so that a look back never delays a delivery.
//!
//! | the process dies after | stored state | what follows |
//! | --- | --- | --- |
//! | the mission was delivered | the job with the record of the run: one transaction | it is looked back at |
//! | somebody asked about a meeting | the job with its id | the record is read, and it is looked back at |
//! | all have answered | the step of the job | nothing is asked again |
//! | the insights were stored | the rows, the messages, the end of the job: one transaction | nothing |
//! | an insight was made a work item | the item, and its id in the insight: one transaction | a second click adds nothing |

mod button;
mod commands;
mod feature;
mod jobs;
pub mod model;
mod playing;
mod prompts;
mod record;
mod render;
mod settings;
mod store;
mod tools;

pub use feature::OverwatchFeature;
pub use settings::OverwatchSettings;
pub use store::look_back;
