use std::process::ExitCode;

// The team waits for networks and for the database. A second worker would mostly be woken up to find nothing left to do.
#[tokio::main(worker_threads = 1)]
async fn main() -> ExitCode {
    match teamroom::cli::run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("teamroom: {error:#}");
            ExitCode::FAILURE
        }
    }
}
