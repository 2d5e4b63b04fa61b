//! The rules that decide who answers. They are pure, each in its own file.
//!
//! [`router`] decides who answers a person, [`guard`] whether an agent may answer an agent, [`authorize`] who may do what. The router reads a text as
//! `sentence`s and asks [`addressing`] (whom it addresses; `names` finds who is called), [`ask_phrase`] ("ask Vince what he thinks") and `intent` (a
//! question, a request, thanks). Where several people write, it also asks `clarity`: a fragment or small talk is not for the team. `words` has the
//! vocabulary. Nothing here reads a database or a clock, calls a model, or relies on a display name.

pub mod addressing;
pub mod ask_phrase;
pub(crate) mod authorize;
mod clarity;
pub mod guard;
mod intent;
mod names;
pub mod router;
mod sentence;
mod words;
