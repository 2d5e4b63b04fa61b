//! What people teach: said, searched, shown, replaced and forgotten, told where it may be told, whatever happens to processes.

mod crashes;
mod leaks;
mod meaning;
mod recall;
mod stage;
mod teaching;
mod upgrade;
