//! Teamroom: a team of AI personas in a chat server, in one process, with one account each.
//!
//! # Bird's-eye view
//!
//! A message reaches the team through as many gateway identities as there are personas. It is claimed once in the store, one decision is made about
//! who answers, each answer is one *turn* of a persona, and each message to a platform goes through the outbox. The process may die between any two
//! of these steps: the next start reads its progress from the store. Who speaks, who may, how often and at what cost is decided by code; a language
//! model only writes what a persona says, and without a model a composer quotes feeds and files instead.
//!
//! # Packages
//!
//! | package | what it holds |
//! | --- | --- |
//! | `crates/async-trait`, `crates/sqlx`, `crates/vectors` | a macro, the database drivers and vectors of texts: packages of their own, so that they build or run faster |
//! | `crates/local-server` | what both local servers stand on: listener, journal, state file, chat page. Knows no protocol |
//! | `crates/sandbox` | a local Discord: server, line client. Knows nothing of the team |
//! | `crates/slack-sandbox` | a local Slack: server. Knows nothing of the team |
//! | `crates/kernel` | what every feature stands on. Knows no feature and no platform |
//! | `teamroom` | features, platform adapters, app, command line |
//! | `crates/licenses`, `crates/test-runner` | tools for `deploy/release` and `tests/run`; not part of the program |
//!
//! # Kernel
//!
//! | module | what it offers |
//! | --- | --- |
//! | [`kernel::ids`], [`kernel::money`], [`kernel::time`], [`kernel::text`] | typed ids, money and usage, `Clock`, rules about text |
//! | [`kernel::when`] | the one reader of times, repetitions and ranges in people's words: pure, whole or not at all, words by language as data |
//! | [`kernel::actor`] | who does something: a persona or a person |
//! | [`kernel::config`] | how sections of `teamroom.toml` and the environment are read and checked |
//! | [`kernel::db`] | SQLite or PostgreSQL: pools, transactions, `sql!`, migrations |
//! | [`kernel::jobs`] | durable jobs: enqueued in a transaction, claimed, heart-beaten, fenced by a token, retried |
//! | [`kernel::events`] | the log of what happened: who, what, when, who may see it; wakes those who wait for it |
//! | [`kernel::llm`] | providers, tiers, retry, breaker, structured answers, speech, transcription, ledger, budgets |
//! | [`kernel::agent`] | asking a persona: context and its budget, passages of documents, what colleagues found today, prompt, tools, the offline composer |
//! | [`kernel::tools`] | the tool trait, policy, built-in tools |
//! | [`kernel::chat`] | messages in and out without any platform's markup: mentions, cards, files, buttons and small print as values; splitting, redaction, attachments, outbox and relay |
//! | [`kernel::commands`] | the registry of commands and buttons, from which Discord, Slack, the command line, help and README are generated |
//! | [`kernel::persona`] | persona, expert and skill files, and the roster |
//! | [`kernel::repository`] | work in a git repository: worktrees, commits, tests as they were before |
//! | [`kernel::feeds`] | live data sources and their samples |
//! | [`kernel::memory`] | what the team remembers, where it may be told, and how it is found again |
//!
//! # Features
//!
//! One folder each in [`features`], in this order: `relationships, chat ← memory ← backlog ← schedule ← meeting, reminders, backup, voice ← standup,
//! board, overwatch ← mission`. A feature imports the kernel and public functions of features before it; `tests/tidy.rs` checks it. Each declares its
//! additions to the team with [`Feature`](features::Feature), and the rest of the program knows it only through this trait. The SQL statements of a
//! feature are in its `store`, as methods of [`store::Store`]. [`adapters`] translate between the kernel and a protocol: a platform's markup and
//! limits are known to its adapter alone, and to the relay as a [`TextFormat`](kernel::chat::format::TextFormat). [`app`] puts the team together.
//! `cli` runs the registered commands beside it, and has a file for each command that only makes sense at a terminal.
//!
//! # Flows
//!
//! **A message.** `adapters::discord::gateway` or `adapters::slack::hub` makes an `InboundMessage` of an event → `features::chat::intake` claims it in the inbox → the channel's task
//! collects a burst, reads its files, and asks `features::chat::rules::router` → one transaction: the decision, its turns, and a job for each → a job runs its turn
//! through [`kernel::agent`] with a model or the offline composer → one transaction: the answer, its outbox rows, and the turns of agents it addresses as
//! far as the guard allows → the relay → the platform. A sentence that is a command as a whole has a job that carries it out instead of a turn; what people want in other words is a command that the
//! persona carries out for them by a tool (`features::chat::commands`).
//!
//! **A standup.** A person's words, a command, the schedule or another process writes a called meeting with its job → the job's run,
//! `features::meeting::engine`, opens it with the kickoff, gathers the shared page of all feeds, gives each seat its turn
//! (`features::standup::turns`), every step stored with what it posts → `features::standup` cross-checks the signals, takes a position, checks the
//! actions → one transaction: report, work items, prediction, memories, outbox, the end of the job.
//! At its expiry a firing of the schedule has the prediction settled against its feed; one that is decided earlier is settled with the report.
//!
//! **A board meeting.** A person's command or words write a called meeting with its question → the same engine opens it, and restates the question →
//! a round in which no speaker sees the others, then rounds in which each speaker gets only what is new to them (`features::board::speaking`) → after
//! each round code decides by the discussion whether there is another one (`features::board::rounds`) → one transaction: the document, the memory,
//! outbox, the end of the job.
//!
//! **A work item.** A meeting, a person or another item writes it, and wakes the planner's job → that says how, by whom, and by which criteria → one
//! transaction: the item is ready, and has a job in its persona's queue → the job lets an executor make something, each step in the item's journal
//! before the next rests on it → the verifier checks every claim, and the files become artefacts → what code cannot judge goes to the job of a review, by somebody who is not the
//! author and grades each criterion, or to a person → one transaction: evidence, learning, announcement, the jobs of what waited for it, and the end
//! of its own. An item with parts is graded by what they gave. A change by a person cancels the job.
//! Any number of processes on one PostgreSQL share the jobs. A process without a heartbeat loses its own, and a lower token writes nothing.
//!
//! **A mission.** A person hands over a document and asks for it to be carried out → `features::mission` cuts it into numbered parts and stores the
//! mission with its job → a model says what it is about and plans steps, which code checks: owners, needs, criteria, and which parts each serves →
//! one transaction: the plan, its card in a thread, and a work item for each step, as above → each change of a step wakes the job, which shows the
//! progress, and finds another way once if a step cannot be done → with the last step one transaction: the delivery, with what was served and what
//! was not. Meanwhile the persona of a step may ask a colleague and continue with the answer, or tell the mission something that may change the plan.
//!
//! **A reminder.** A sentence, a command or a button writes it together with a job for its time → the job marks it as told, enqueues the next time of a
//! repeated one and puts the mention into the outbox, in one transaction → the relay → the platform.
//!
//! **A memory.** A person's "remember: …", a command, a persona's tool, a standup or the end of an item writes it, with its words, its vector and the
//! private place that it comes from → prompts for answers, plans and reports recall the memories that may be told there: first what people taught,
//! then matches by words and by vector. A memory that comes from text from outside waits until a person confirms it.
//!
//! **A meeting is heard.** A button or a command enqueues the one job of a result → the job asks the feature for what was said, speaks each part or takes
//! it from the cache, and joins them → one transaction: the message with the audio, the end of the job → the relay → the platform.
//!
//! **A stop of the process.** No new turns, running ones get 20 s, the outbox is drained, identities are closed. Unfinished work stays in the store.
//!
//! # Invariants
//!
//! 1. Pure code does no I/O and reads no clock. Time comes in as a value or through [`kernel::time::Clock`].
//! 2. Only the relay sends messages to a platform. A flow writes its result and its message in one transaction. Every outbound message names
//!    its identity; there is no default one. Answers to slash commands are the one exception: platforms take them only as the reply to the
//!    interaction, so the adapter gives them and nothing durable rests on them.
//! 3. Features do not call each other across a running job: they write rows and enqueue jobs, or wake the loop that handles them.
//! 4. Everything that can run twice may run twice without harm.
//! 5. One inbound message is handled once, however many identities see it.
//! 6. Model text is data until it is parsed into a type; who speaks, who may, how often and how much it may cost is decided by code.
//! 7. No transaction stays open over a model call or any other network call.
//! 8. Adapters are named only in [`app`]; a meeting at the terminal has one of its own in `cli`, which prints.
//! 9. One `authorize` for messages, commands and buttons.
//! 10. No item is done without evidence that code found, or the judgement of somebody other than its author.
//! 11. A run with text from outside in it changes nothing outside its workspace unless a person allowed exactly that call, or a run that reads only what
//!     people wrote finds that they ask for it.
//! 12. Secrets live in a type that does not print.
//! 13. What is remembered from a private place is told nowhere else: a memory knows its place, and each reading says where it is told
//!     ([`Scope`](kernel::memory::Scope)).

// Unit tests share code with the integration tests, which know this crate as `teamroom`.
#[cfg(test)]
extern crate self as teamroom;

pub mod adapters;
pub mod app;
mod canvas;
pub mod cli;
pub mod config;
pub mod features;
pub mod store;
