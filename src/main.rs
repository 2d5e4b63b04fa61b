use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    match teamroom::cli::Cli::parse().run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("teamroom: {error:#}");
            ExitCode::FAILURE
        }
    }
}
