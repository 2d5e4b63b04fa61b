//! Several processes and crooked clocks around a standup.
