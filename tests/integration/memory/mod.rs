//! What people teach: said, searched, shown, replaced and forgotten, told where it may be told, whatever happens to processes.

mod changes;
mod crashes;
mod leaks;
mod recall;
mod stage;
mod teaching;
mod upgrade;
