//! The results of standups: reports, predictions, ratings, figures.

mod absences;
mod checkins;
mod closing;
mod figures;
mod predictions;
mod ratings;
mod reports;

pub use absences::AbsenceChange;
pub use checkins::{AddReply, KeepReport, OpenCheckIn, retention};
pub use closing::StandupClosing;
pub use reports::StoredReport;
