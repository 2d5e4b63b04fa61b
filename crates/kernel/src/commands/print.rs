//! Output of commands at a terminal. `println!` panics if nobody reads any more, for example after `| head`.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write as _};
use std::process::exit;

/// Prints a line, like `println!`. The program ends if that is not possible: quietly if nobody reads any more.
#[macro_export]
macro_rules! print_line {
    ($($text:tt)*) => { $crate::commands::print_text(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints a text. Ends the program as [`print_line!`](crate::print_line) does.
pub fn print_text(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => {
            eprintln!("teamroom: cannot write the output: {error}");
            exit(1);
        }
    }
}
