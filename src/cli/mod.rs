//! cli
pub mod init;
