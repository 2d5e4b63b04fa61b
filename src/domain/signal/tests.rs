//! How reports are taken apart, in all the ways they are written.
