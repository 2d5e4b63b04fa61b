//! Missions: from a dropped document to an accepted delivery (WORK-10 to WORK-21).
//!
//! `listener` tells a directive from a question about a file. What is handed in becomes numbered parts (`model::directive`). `planning` asks a model
//! what it is about and for a plan, which `model::plan` checks: who does what, in which order, by which criteria, and which part each step serves.
//! Without a model `by_rule` makes a step of each section. The mission is then a work item whose parts are its steps, so that the backlog runs,
//! verifies and reviews them. `follow` looks after them: it shows the progress in the mission's thread, finds another way for a step that cannot be
//! done, and delivers where the mission was asked for. Its planning and its steps share a `budget`, which the meter enforces and people raise.
//! `changing` changes the plan as people want, `telling` gives the steps more information, `colleagues` lets personas at work ask and tell each other
//! something, and `new_personas` adds personas for roles that nobody fills.
//!
//! | the process dies after | stored state | what follows |
//! | --- | --- | --- |
//! | the message was decided on | mission `planning`, its job, the messages that open its thread: one transaction | it is planned |
//! | a model answered while it was planned | the step of the job | the next question is asked; nothing is paid twice |
//! | a persona was drafted | the step of the job | the plan is stored with it; nothing is asked again |
//! | the plan was stored | mission `running`, the items of the steps, the plan's message: one transaction; or `proposed`, without items | the steps run; or a person decides |
//! | a step changed | the item, and its mission's job woken: one transaction | the mission is looked at |
//! | the progress was shown | what was shown, and the edit in the outbox: one transaction | nothing |
//! | a step could not be done | item `waiting` for another plan, the job woken | another way is asked for, or the step is given up |
//! | another way was found | the step of the job | the plan, the message and the item follow; nothing is asked again |
//! | the plan was changed, not yet the item | item `waiting` as before, the step of the job | the item is changed when the job runs again |
//! | it was paused or resumed | mission `paused` or `running`, the job woken | the steps rest, or go on |
//! | a question was answered | the answer in the plan, the steps that know it, the job that looks for what contradicts it: one transaction | a model is asked |
//! | a delivered mission was taken up again | mission `running`, the steps that are done again, the reply, the end of the job: one transaction | the steps run |
//! | the last step was accepted | the mission's item over, the job woken | it is delivered |
//! | the budget was raised | the raise | the steps that wait for it go on, at the latest when the backlog looks at what waits |
//! | somebody wanted something else | the job of the wish, with the decision on the message | a change is drafted |
//! | a model took too long to understand what somebody said | the job that asks it again, with the decision that a persona answers | what it understands is a wish as above, once |
//! | a change was drafted | the step of the job | it is checked again and carried out; nothing is asked again |
//! | the plan was changed | the plan, the items of the steps, the answer, the end of the job: one transaction | nothing |
//! | people told the steps something, or answered a question | the plan and the items of the steps: one transaction | nothing |
//! | a colleague answered a question of a step, or did not in time | journal entry of the step's run | it is posted, and the step goes on; nothing is asked again |
//! | the answer was posted | the message, by the number of the call | the step goes on with the answer of the journal |
//! | a step sent a flag, a suggestion or a hand-over | the message in the thread, and the job of the wish: one transaction | the step goes on; as if somebody wanted something else |
//! | it was handed over | the plan, the item of the step, the message, the end of the job: one transaction | nothing |
//! | somebody decided on a new persona | the plan says `approved` or `declined`, the job woken: one transaction | its file is written, or nothing |
//! | its file was written | the file; the plan still says `approved` | the same text counts as written; or the team has restarted with it, and it has joined |
//! | that was stored | the plan says `written`, the message: one transaction | the team restarts with the file, and looks at all missions |
//! | it is on the team | the plan says `joined`, its steps that have not begun are its own, the message: one transaction | nothing |
//! | it was delivered | mission `done`, the message with its files, the job that looks back at it: one transaction | nothing |

mod budget;
mod button;
mod by_rule;
mod cancelling;
mod changing;
mod colleagues;
mod commands;
mod feature;
mod follow;
mod hearing;
mod listener;
mod look_back;
pub mod model;
mod new_personas;
mod picture;
mod planning;
mod prompts;
mod render;
mod service;
mod settings;
mod store;
mod telling;

pub use feature::MissionFeature;
pub use settings::{MissionSettings, NewPersonas};
