//! Files and links in knowledge channels: split, remembered with their place, and cited when used (MEM-5).
//!
//! The decision on the message writes a job. The job reads the files that were stored with the message, fetches the links under the rules for pages,
//! and says in one line what it has read.
//!
//! # A crash at any step
//!
//! | the process dies | the row that says so | the next start |
//! | --- | --- | --- |
//! | before the message is decided on | inbox, not decided on | decides, and writes the job |
//! | before a document is stored | the job, without its step | reads it once more; the same parts have the same ids |
//! | after that | the job with the step | goes on with the next document |
//! | before the line is in the outbox | the job with all steps | says it |

mod job;
mod listener;

pub(super) use job::{Outcome, ReadKnowledge};
pub(super) use listener::KnowledgeListener;
