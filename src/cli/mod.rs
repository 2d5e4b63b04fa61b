//! The commands, one file each. They read arguments, call what does the work and print for people; they decide nothing themselves.

pub mod init;
