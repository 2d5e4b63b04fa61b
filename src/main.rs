use std::process::ExitCode;

// One worker is enough, because the team mostly waits for networks and for the database. A second one would mostly be woken up to find nothing to do.
#[tokio::main(worker_threads = 1)]
async fn main() -> ExitCode {
    match teamroom::cli::run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("teamroom: {error:#}");
            teamroom::cli::exit_code(&error)
        }
    }
}
