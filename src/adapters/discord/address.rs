//! Discord's addresses, and the HTTP client for them.
//!
//! Fails closed: once an address is configured, no other host is called. Two defaults of serenity are avoided here: it falls back to
//! `wss://gateway.discord.gg` when `GET /gateway` fails, and it ignores its proxy while its rate limiter is on.

use std::time::Duration;

use serde::Deserialize;
use serenity::model::id::EmojiId;

use crate::adapters::discord::ConnectError;
use crate::adapters::discord::rest::read_wait;
use crate::adapters::discord::settings::DiscordSettings;

const DISCORD: &str = "https://discord.com";
/// Hosts of Discord's attachments.
const DISCORD_FILES: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];

/// The addresses of a Discord server, real or local.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// The API's address without `/api/v10` and without a trailing slash.
    base: String,
    /// Host and port of the API, if configured.
    own: Option<reqwest::Url>,
}

impl Address {
    pub(crate) fn parse(settings: &DiscordSettings) -> Result<Self, ConnectError> {
        match (&settings.api_url, &settings.gateway_url) {
            (None, None) => Ok(Self { base: DISCORD.to_owned(), own: None }),
            // Tokens for a local server must not be sent to Discord.
            (None, Some(_)) => Err(ConnectError::GatewayWithoutApi),
            (Some(api), _) => {
                let own = reqwest::Url::parse(api)
                    .ok()
                    .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
                    .ok_or_else(|| ConnectError::Malformed(api.clone()))?;
                Ok(Self { base: api.trim_end_matches('/').to_owned(), own: Some(own) })
            }
        }
    }

    /// The address of an API path. `path` begins with a slash.
    pub(crate) fn api(&self, path: &str) -> String {
        format!("{}/api/v10{path}", self.base)
    }

    /// The address of an emoji's picture, which needs no token and does not expire.
    pub(crate) fn emoji(&self, id: EmojiId) -> String {
        let host = if self.own.is_some() { self.base.clone() } else { format!("https://{}", DISCORD_FILES[0]) };
        format!("{host}/emojis/{id}.png?size=128")
    }

    /// Asks the API for the gateway's address, unless the settings have one.
    pub(crate) async fn find_gateway(&self, http: &reqwest::Client, settings: &DiscordSettings) -> Result<String, ConnectError> {
        #[derive(Deserialize)]
        struct Gateway {
            url: String,
        }
        if let Some(url) = &settings.gateway_url {
            return checked_gateway(url);
        }
        let unreachable = |error: reqwest::Error| ConnectError::Unreachable { base: self.base.clone(), reason: plain(&error) };
        let response = http.get(self.api("/gateway")).send().await.map_err(unreachable)?;
        if response.status() == reqwest::StatusCode::TOO_MANY_REQUESTS {
            let wait = response.headers().get(reqwest::header::RETRY_AFTER).and_then(|value| read_wait(value.to_str().ok()?));
            return Err(ConnectError::Limited { base: self.base.clone(), wait });
        }
        let gateway: Gateway = response.error_for_status().map_err(unreachable)?.json().await.map_err(unreachable)?;
        let url = checked_gateway(&gateway.url)?;
        if let (Some(own), Ok(answered)) = (&self.own, reqwest::Url::parse(&url))
            && own.host_str() != answered.host_str()
        {
            return Err(ConnectError::ForeignGateway { base: self.base.clone(), gateway: url });
        }
        Ok(url)
    }

    /// Whether `url` is on this Discord server's own host.
    pub(crate) fn keeps(&self, url: &reqwest::Url) -> bool {
        match &self.own {
            Some(own) => {
                own.scheme() == url.scheme()
                    && own.host_str() == url.host_str()
                    && own.port_or_known_default() == url.port_or_known_default()
            }
            None => url.scheme() == "https" && url.host_str().is_some_and(|host| DISCORD_FILES.contains(&host)),
        }
    }
}

/// The address of the gateway, asked for until it is known.
pub(crate) struct GatewayAddress {
    address: Address,
    http: reqwest::Client,
    settings: DiscordSettings,
    found: tokio::sync::OnceCell<String>,
}

impl GatewayAddress {
    pub(crate) fn new(address: Address, http: reqwest::Client, settings: DiscordSettings) -> Self {
        Self { address, http, settings, found: tokio::sync::OnceCell::new() }
    }

    pub(crate) async fn get(&self) -> Result<String, ConnectError> {
        self.found.get_or_try_init(|| self.address.find_gateway(&self.http, &self.settings)).await.cloned()
    }
}

/// The address for RESUME: `wanted`, which the gateway gave, unless its host is neither ours nor Discord's.
pub(crate) fn resume_at(gateway: &str, wanted: &str) -> String {
    let parts = |url: &str| {
        let url = reqwest::Url::parse(url).ok()?;
        Some((url.scheme().to_owned(), url.host_str()?.to_owned()))
    };
    let is_ours = match (parts(gateway), parts(wanted)) {
        (Some((scheme, host)), Some((wanted_scheme, wanted_host))) => {
            let of_discord = |host: &str| host == "discord.gg" || host.ends_with(".discord.gg");
            scheme == wanted_scheme && (host == wanted_host || of_discord(&host) && of_discord(&wanted_host))
        }
        _ => false,
    };
    if is_ours { wanted } else { gateway }.to_owned()
}

fn checked_gateway(url: &str) -> Result<String, ConnectError> {
    match reqwest::Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "ws" | "wss") && parsed.has_host() => Ok(url.trim_end_matches('/').to_owned()),
        _ => Err(ConnectError::Malformed(url.to_owned())),
    }
}

/// The HTTP client for all calls to Discord. It follows no redirects, so a token is sent only to the configured host.
pub(crate) fn http_client(call: Duration) -> Result<reqwest::Client, ConnectError> {
    kernel::network::client()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(call.min(Duration::from_secs(5)))
        .timeout(call)
        .user_agent(concat!("DiscordBot (https://crates.io/crates/teamroom, ", env!("CARGO_PKG_VERSION"), ")"))
        .build()
        .map_err(|error| ConnectError::Client(plain(&error)))
}

/// Describes an error of the HTTP client. Leaves out the address, which may contain the token of a webhook or an interaction.
pub(crate) fn plain(error: &reqwest::Error) -> String {
    use std::error::Error as _;
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else if error.is_decode() {
        "an answer that cannot be read"
    } else {
        "the connection broke"
    };
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    match (error.status(), cause) {
        (Some(status), _) => format!("HTTP {status}"),
        // The innermost cause comes from the operating system or the parser. It contains no address.
        (None, Some(cause)) => format!("{what} ({cause})"),
        (None, None) => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(api: Option<&str>, gateway: Option<&str>) -> DiscordSettings {
        DiscordSettings { api_url: api.map(str::to_owned), gateway_url: gateway.map(str::to_owned), ..DiscordSettings::default() }
    }

    #[test]
    fn a_configured_address_is_the_only_one_files_come_from() {
        let address = Address::parse(&settings(Some("http://127.0.0.1:4100/"), None)).unwrap();
        let keeps = |url: &str| address.keeps(&reqwest::Url::parse(url).unwrap());
        assert!(keeps("http://127.0.0.1:4100/attachments/1/2/a.txt"));
        assert!(!keeps("http://127.0.0.1:4101/attachments/1/2/a.txt"));
        assert!(!keeps("https://cdn.discordapp.com/attachments/1/2/a.txt"));
        assert_eq!(address.api("/gateway"), "http://127.0.0.1:4100/api/v10/gateway");
    }

    #[test]
    fn a_session_is_taken_up_at_the_gateways_own_hosts_only() {
        let discord = "wss://gateway.discord.gg";
        assert_eq!(resume_at(discord, "wss://gateway-us-east1-b.discord.gg"), "wss://gateway-us-east1-b.discord.gg");
        for foreign in ["ws://gateway-us-east1-b.discord.gg", "wss://discord.gg.evil.example", "wss://evildiscord.gg", "nonsense"] {
            assert_eq!(resume_at(discord, foreign), discord, "{foreign}");
        }
        let local = "ws://127.0.0.1:4100";
        assert_eq!(resume_at(local, "ws://127.0.0.1:4101"), "ws://127.0.0.1:4101");
        assert_eq!(resume_at(local, discord), local);
    }

    #[test]
    fn discord_itself_keeps_files_on_its_two_hosts_over_tls_only() {
        let address = Address::parse(&settings(None, None)).unwrap();
        let keeps = |url: &str| address.keeps(&reqwest::Url::parse(url).unwrap());
        assert!(keeps("https://cdn.discordapp.com/attachments/1/2/a.txt"));
        assert!(!keeps("http://cdn.discordapp.com/attachments/1/2/a.txt"));
        assert!(!keeps("https://cdn.discordapp.com.evil.example/a.txt"));
        assert!(!keeps("https://127.0.0.1/a.txt"));
    }

    #[test]
    fn a_gateway_without_an_api_or_a_malformed_address_is_refused() {
        assert!(matches!(Address::parse(&settings(None, Some("ws://127.0.0.1:1"))), Err(ConnectError::GatewayWithoutApi)));
        for bad in ["", "127.0.0.1:80", "ftp://x", "http://"] {
            assert!(matches!(Address::parse(&settings(Some(bad), None)), Err(ConnectError::Malformed(_))), "{bad}");
        }
        assert!(matches!(checked_gateway("http://127.0.0.1"), Err(ConnectError::Malformed(_))));
    }
}
