//! What people teach: said, searched, shown, replaced and forgotten, told where it may be told, whatever happens to processes.

mod changes;
mod crashes;
mod forgetting;
mod knowledge;
mod leaks;
mod meaning;
mod person;
mod recall;
mod saying;
mod spans;
mod stage;
mod teaching;
mod upgrade;
