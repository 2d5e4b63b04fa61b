//! sqlx, with `derive(FromRow)` and `migrate!` from a build of its macros without drivers. With sqlx's own feature `derive`, SQLite and both drivers
//! are compiled twice: once more for `query!`, which connects to a database at compile time and is not used here.

pub use sqlx_macros::{FromRow, migrate};
pub use upstream::*;

/// What `derive(FromRow)` calls for a column that cannot be converted. sqlx has it only with its own `derive`.
#[doc(hidden)]
#[macro_export]
macro_rules! __spec_error {
    ($error:expr) => {
        $error.to_string().into()
    };
}
