use std::net::{Ipv4Addr, SocketAddr};

use teamroom::sandbox::{BotAccount, Options, Sandbox};

/// Runs a sandbox without a team until Ctrl-C: `teamroom [DIR] [PORT]`.
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options::new(arguments.next().unwrap_or_else(|| ".teamroom/sandbox".to_owned()));
    let port = arguments.next().map_or(Ok(0), |port| port.parse())?;
    options.addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    options.bots = [("kelly", "Kelly", 0xe8_6a_33), ("vince", "Vince", 0x3b_82_f6), ("oracle", "Oracle", 0x8b_5c_f6)]
        .map(|(slug, name, color)| BotAccount { slug: slug.to_owned(), name: name.to_owned(), color: Some(color), intents_content: true })
        .to_vec();
    let sandbox = Sandbox::start(options).await?;
    println!("{}", sandbox.info());
    tokio::signal::ctrl_c().await?;
    sandbox.stop().await;
    Ok(())
}
