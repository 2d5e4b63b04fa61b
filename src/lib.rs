//! Teamroom: a team of AI personas in a chat server, in one process, with one account each.
//!
//! # Bird's-eye view
//!
//! A message reaches the team through as many gateway identities as there are personas. It is claimed once in the store, one decision is made
//! about who answers, each answer is one *turn* of a persona, and what is to be said leaves through the outbox. Between any two of these steps
//! the process may die: the next start reads from the store where it was. Who speaks, who may, how often and at what cost is decided by code;
//! a language model only writes what a persona says, and where none is configured a composer quotes feeds and files instead.
//!
//! # Entry points
//!
//! * [`app`] wires everything together and is the only place that names concrete adapters. `cli` has one file per command.
//! * [`conversation`] is the first flow below, [`meeting`] the second and [`work`] the third; each module documentation says what a crash at each
//!   step leaves behind.
//! * [`sandbox`] is a local Discord that knows nothing of the team. Through it a person, a test or another client talks to the real adapter.
//!
//! # Map, in reading order
//!
//! `domain ← config ← {store, llm, chat} ← {outbox, schedule, tools, feeds} ← persona ← {conversation, meeting, work} ← {discord, http} ←
//! app ← cli`: a module imports only from its left, and modules inside one brace do not import each other. `clock`, `telemetry`, `containment` and
//! `shutdown` stand beside it; `sandbox` stands alone.
//! `tests/tidy.rs` checks it.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`domain`] | messages, personas, turns, meetings, signals, predictions, work items, money: plain types and rules, no I/O |
//! | [`config`] | `teamroom.toml` and the environment, validated, all errors at once |
//! | [`store`] | SQLite or PostgreSQL behind one set of functions, and all SQL there is |
//! | [`llm`] | providers, retry, breaker, structured answers |
//! | [`chat`] | what a platform can do; splitting, formatting, redaction, files to text |
//! | [`outbox`] | the relay: the only code that sends |
//! | [`schedule`] | jobs by the clock: which there are, what fires when |
//! | [`tools`] | what a model may have done besides writing: workspace, web, git, memory; and what needs a person |
//! | [`feeds`] | live data of personas: git, files, numbers and news of the web, the team's own doings |
//! | [`persona`] | persona files, prompts, context, the offline composer, the turn, what is said in a standup |
//! | [`conversation`] | the rules of talk (router, guard), intake, one task per channel, halts, commands |
//! | [`meeting`] | the engine of meetings, and the standup: its steps, its report, its predictions |
//! | [`work`] | the backlog loop: planner, leases, executors, verifier, review, learnings, the desk |
//! | [`discord`] | identities, REST, slash commands |
//! | [`http`] | health, metrics, the live board of the backlog |
//!
//! # Flows
//!
//! **A message.** `discord::gateway` makes an `InboundMessage` of an event → `conversation::intake` claims it in `store::inbox` → the channel's task
//! collects a burst, reads its files, and asks `conversation::rules::router` → decision and turns are stored in one transaction → each turn runs
//! through `persona::turn` with `llm` or the offline composer → one transaction: the answer, its outbox rows, and the turns of agents it addresses as
//! far as `conversation::rules::guard` allows → `outbox::relay` → `discord::send`.
//!
//! **A standup.** A person's words, a command, the schedule or another process writes a called meeting → `meeting::engine` opens it with the kickoff,
//! gathers the shared page of all feeds, gives each seat the floor (`persona::standup`), every step stored with what it posts → `meeting::standup`
//! cross-checks the signals, takes a position, checks the actions → one transaction: report, work items, prediction, memories, outbox. At its expiry
//! a firing of the schedule has the prediction settled against its feed.
//!
//! **A work item.** A meeting, a person or another item writes it → `work::planner` says how and by whom → a shift claims it by a lease → an executor
//! makes something, each step in the item's journal before the next rests on it → `work::verifier` holds every claim against the world → what code
//! cannot judge goes to a reviewer who is not the author, or to a person → one transaction: evidence, learning, announcement, and what waited for it.
//! Any number of processes on one PostgreSQL share the items; whoever shows no sign of life loses its lease, and a lower token writes nothing.
//!
//! **A stop of the process.** `shutdown`: no new turns, running ones get 20 s, the outbox is drained, identities are closed. What did not end stands
//! in the store.
//!
//! # Invariants
//!
//! 1. `domain` does no I/O and reads no clock. Time comes in as a value or through [`clock::Clock`].
//! 2. Only `outbox::relay` sends messages to a platform. A flow writes its result and its message in one transaction. Every outbound message names
//!    its identity; there is no default one. Answers to slash commands are the one exception: Discord takes them only as the reply to the
//!    interaction, so the adapter gives them and nothing durable rests on them.
//! 3. Flows do not call each other: they write rows and wake whoever handles them.
//! 4. Everything that can run twice may run twice without harm.
//! 5. One inbound message is handled once, however many identities see it.
//! 6. Model text is data until it is parsed into a type; who speaks, who may, how often and how much it may cost is decided by code.
//! 7. SQL stands only in [`store`]. No transaction stays open over a model call.
//! 8. Concrete adapters are named only in [`app`]; a standup at the terminal has one of its own in `cli`, which prints.
//! 9. One `authorize` for messages, commands and buttons.
//! 10. No item is done without evidence that code found, or the judgement of somebody other than its author.
//! 11. A run with text from outside in it changes nothing outside its workspace unless a person allowed exactly that call.
//! 12. Secrets live in a type that does not print.

// The scripted model of the integration tests names the crate by its name, and unit tests use it too.
#[cfg(test)]
extern crate self as teamroom;

pub mod app;
pub mod chat;
pub mod cli;
pub mod clock;
pub mod config;
pub mod containment;
pub mod conversation;
pub mod discord;
pub mod domain;
pub mod feeds;
pub mod http;
pub mod llm;
pub mod meeting;
pub mod outbox;
pub mod persona;
pub mod sandbox;
pub mod schedule;
pub mod shutdown;
pub mod store;
pub mod telemetry;
pub mod tools;
pub mod work;
