//! The results of standups: reports, predictions, ratings, figures.

mod closing;
mod figures;
mod predictions;
mod ratings;
mod reports;

pub use closing::StandupClosing;
pub use reports::StoredReport;
