use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match teamroom::cli::run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("teamroom: {error:#}");
            ExitCode::FAILURE
        }
    }
}
