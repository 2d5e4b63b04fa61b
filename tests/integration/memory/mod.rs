//! What people teach: it is said, searched, shown, replaced and forgotten, and told only where it may be told, even if processes die.

mod changes;
mod crashes;
mod findings;
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
