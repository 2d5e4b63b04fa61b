use std::time::Duration;

/// How long a test waits for something before it says that it never came. A guard against a hang, the only one in all tests, and nothing that a test
/// measures: on a good day the slowest wait takes a minute, and machines differ by ten times.
pub(crate) const PATIENCE: Duration = Duration::from_mins(15);
