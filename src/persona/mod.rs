//! Personas: how their files are read and what roster they make.
//!
//! `file` turns one file into a [`Persona`](crate::domain::persona::Persona) or says in which line it is wrong; `load` reads a folder, or
//! the team that is built in. Which feeds and tools there are is not decided here.

pub mod file;
pub mod load;
