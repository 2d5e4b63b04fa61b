//! Summaries of messages in long channels that are too old for the transcript (MEM-10).
//!
//! One job makes them for all channels and sleeps between its rounds: with a model of the cheap tier within the budgets, or from the lines that say most.
//! A summary knows its messages. Where one is edited, deleted or forgotten, its summaries are emptied in that transaction, and made again by the job.
//!
//! | the process dies | the row that says so | the next start |
//! | --- | --- | --- |
//! | before a summary is stored | messages that no summary has | makes it; what the model charged stays in the ledger |
//! | after that | the summary with its messages | goes on with the next stretch |
//! | after a message was deleted | the summary, empty | makes it again without that message |

mod extract;
mod job;

pub(super) use job::SummariseChannels;
