//! How the program reaches other hosts: through the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, except for those in `NO_PROXY`, and with
//! the certificates of `SSL_CERT_FILE` and `SSL_CERT_DIR` besides the built-in ones. The same for every client and WebSocket.

use std::collections::HashSet;
use std::env;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use reqwest::{Certificate, ClientBuilder, Proxy, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::config::{ConfigError, ConfigErrors};
use crate::finding::Finding;

/// What is wrong with a variable that names no proxy that can be used.
const NO_PROXY_ADDRESS: &str = "is no address of a proxy that begins with http://";

/// What the environment says.
#[expect(clippy::disallowed_methods, reason = "the same variables as for other programs; what is wrong with them, doctor says")]
static NETWORK: LazyLock<Network> = LazyLock::new(|| {
    // Programs read both spellings. The lower-case one is older and wins.
    let read = |name: &str| {
        [name.to_lowercase(), name.to_owned()].iter().find_map(|name| env::var(name).ok().filter(|set| !set.trim().is_empty()))
    };
    Network { proxies: Proxies::read(read), certificates: Certificates::read(read) }
});

#[derive(Debug)]
struct Network {
    proxies: Proxies,
    certificates: Certificates,
}

/// A builder of HTTP clients with the proxies and certificates of the environment.
pub fn client() -> ClientBuilder {
    let builder = reqwest::Client::builder().no_proxy().proxy(Proxy::custom(|url| NETWORK.proxies.find(url).cloned()));
    NETWORK.certificates.list.iter().filter_map(|der| Certificate::from_der(der).ok()).fold(builder, ClientBuilder::add_root_certificate)
}

/// The proxy for an address.
pub fn find_proxy(url: &Url) -> Option<&'static Url> {
    NETWORK.proxies.find(url)
}

/// TLS for connections that are not made by [`client`]. None: the environment names no certificates, so the built-in ones are enough.
///
/// # Errors
/// TLS cannot be set up.
pub fn tls() -> Result<Option<Arc<ClientConfig>>, rustls::Error> {
    let extra = &NETWORK.certificates.list;
    if extra.is_empty() {
        return Ok(None);
    }
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(extra.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Some(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
}

/// Refuses proxies that cannot be used, because nothing may connect around a proxy that was configured.
///
/// # Errors
/// The variables of these proxies.
pub fn check() -> Result<(), ConfigErrors> {
    NETWORK.proxies.check()
}

/// What is used, for `teamroom doctor`. Without passwords.
pub fn describe() -> Vec<Finding> {
    NETWORK.proxies.describe().into_iter().chain(NETWORK.certificates.describe()).collect()
}

/// The proxies of the environment. Hosts on this machine are reached directly.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    /// Hosts that are reached directly: `example.org` with its subdomains, an address, or `*` for all.
    direct: Vec<String>,
    /// The variables that are set and cannot be used.
    faults: Vec<&'static str>,
}

impl Proxies {
    /// `read` gives the value of a variable.
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Self {
        let mut faults = Vec::new();
        let mut proxy = |names: [&'static str; 2]| {
            let (name, value) = names.into_iter().find_map(|name| Some((name, read(name)?)))?;
            let value = value.trim();
            let url = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
            let parsed = Url::parse(&url).ok().filter(|url| url.scheme() == "http" && url.has_host());
            if parsed.is_none() {
                faults.push(name);
            }
            parsed
        };
        let (http, https) = (proxy(["HTTP_PROXY", "ALL_PROXY"]), proxy(["HTTPS_PROXY", "ALL_PROXY"]));
        faults.dedup();
        let listed = read("NO_PROXY").unwrap_or_default();
        let direct = listed.split([',', ' ']).map(|host| host.trim().trim_start_matches("*.").trim_start_matches('.').to_lowercase());
        Self { http, https, direct: direct.filter(|host| !host.is_empty()).collect(), faults }
    }

    fn check(&self) -> Result<(), ConfigErrors> {
        let refuse = |name: &&str| {
            let problem = format!("{NO_PROXY_ADDRESS}; correct this variable, or remove it to connect directly");
            ConfigError { place: "environment".to_owned(), key: (*name).to_owned(), problem }
        };
        let is_unused = self.direct.iter().any(|host| host == "*");
        let errors: Vec<ConfigError> = self.faults.iter().filter(|_| !is_unused).map(refuse).collect();
        if errors.is_empty() { Ok(()) } else { Err(ConfigErrors(errors)) }
    }

    /// The proxy for an address. `wss://` has that of `https://`.
    pub fn find(&self, url: &Url) -> Option<&Url> {
        let proxy = if matches!(url.scheme(), "https" | "wss") { &self.https } else { &self.http }.as_ref()?;
        let host = url.host_str()?.trim_matches(['[', ']']).to_lowercase();
        (!is_here(&host) && !self.direct.iter().any(|direct| is_direct(direct, &host, url.port_or_known_default()))).then_some(proxy)
    }

    fn describe(&self) -> Vec<Finding> {
        let used = [("HTTPS", &self.https), ("HTTP", &self.http)];
        let direct = if self.direct.is_empty() { String::new() } else { format!(", except for {}", self.direct.join(", ")) };
        let used = used.iter().filter_map(|(what, proxy)| Some(format!("proxy for {what}: {}{direct}", show(proxy.as_ref()?))));
        let fault = |name: &&str| Finding::fault(format!("proxy: {name} {NO_PROXY_ADDRESS}"), "Correct this variable, or remove it.");
        let faults = self.faults.iter().map(fault);
        used.map(Finding::good).chain(faults).collect()
    }
}

/// An address without the password.
fn show(proxy: &Url) -> String {
    let user = if proxy.username().is_empty() { String::new() } else { format!(" as {}", proxy.username()) };
    let port = proxy.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}://{}{port}{user}", proxy.scheme(), proxy.host_str().unwrap_or_default())
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_direct(direct: &str, host: &str, port: Option<u16>) -> bool {
    if let Some((network, bits)) = direct.split_once('/') {
        return is_within(network, bits, host);
    }
    let named = match direct.rsplit_once(':') {
        Some((name, given)) if !name.contains(':') => (given.parse().ok() == port).then_some(name),
        _ => Some(direct),
    };
    let named = named.map(|name| name.trim_matches(['[', ']']));
    named.is_some_and(|name| name == "*" || name == host || host.strip_suffix(name).is_some_and(|before| before.ends_with('.')))
}

/// Whether an address is in a network such as `10.0.0.0/8`.
fn is_within(network: &str, bits: &str, host: &str) -> bool {
    let (Ok(network), Ok(bits), Ok(host)) = (network.parse(), bits.parse::<u32>(), host.parse()) else { return false };
    let prefix = |address: u128, length: u32| address.checked_shr(length.saturating_sub(bits)).unwrap_or_default();
    match (network, host) {
        (IpAddr::V4(network), IpAddr::V4(host)) => prefix(network.to_bits().into(), 32) == prefix(host.to_bits().into(), 32),
        (IpAddr::V6(network), IpAddr::V6(host)) => prefix(network.to_bits(), 128) == prefix(host.to_bits(), 128),
        _ => false,
    }
}

/// Certificates besides the built-in ones.
#[derive(Debug, Default)]
struct Certificates {
    list: Vec<CertificateDer<'static>>,
    /// Where they come from.
    from: Vec<PathBuf>,
    faults: Vec<String>,
}

impl Certificates {
    fn read(read: impl Fn(&str) -> Option<String>) -> Self {
        let mut certificates = Self::default();
        if let Some(file) = read("SSL_CERT_FILE") {
            certificates.add("SSL_CERT_FILE", Path::new(&file), |path| Ok(vec![path.to_owned()]));
        }
        for folder in read("SSL_CERT_DIR").iter().flat_map(env::split_paths) {
            certificates.add("SSL_CERT_DIR", &folder, |path| path.read_dir()?.map(|entry| Ok(entry?.path())).collect());
        }
        certificates
    }

    /// Adds the certificates of a file, or of the files in a folder.
    fn add(&mut self, variable: &str, place: &Path, list: impl Fn(&Path) -> std::io::Result<Vec<PathBuf>>) {
        let mut known: HashSet<CertificateDer<'static>> = self.list.iter().cloned().collect();
        let is_file = list(place).is_ok_and(|files| files == [place]);
        let files = match list(place) {
            Ok(files) => files,
            Err(error) => return self.faults.push(format!("{variable}: {} cannot be read: {error}", place.display())),
        };
        for file in files.iter().filter(|file| is_file || file.is_file()) {
            match std::fs::read(file) {
                // A certificate that TLS does not take must not keep the others from being used.
                Ok(bytes) => self.list.extend(
                    CertificateDer::pem_slice_iter(&bytes)
                        .flatten()
                        .filter(|der| RootCertStore::empty().add(der.clone()).is_ok() && known.insert(der.clone())),
                ),
                Err(error) => self.faults.push(format!("{variable}: {} cannot be read: {error}", file.display())),
            }
        }
        self.from.push(place.to_owned());
    }

    fn describe(&self) -> Vec<Finding> {
        let from = self.from.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
        let used = (!self.from.is_empty())
            .then(|| Finding::good(format!("certificates: {} from {from}, besides the built-in ones", self.list.len())));
        let faults =
            self.faults.iter().map(|fault| Finding::fault(format!("certificates: {fault}"), "Correct this variable, or remove it."));
        used.into_iter().chain(faults).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(set: &[(&str, &str)]) -> Proxies {
        Proxies::read(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    fn find(proxies: &Proxies, url: &str) -> Option<String> {
        proxies.find(&Url::parse(url).expect("an address")).map(ToString::to_string)
    }

    #[test]
    fn each_address_has_the_proxy_of_its_scheme() {
        let set = proxies(&[("HTTPS_PROXY", "http://ann:secret@proxy.example:3128"), ("HTTP_PROXY", "plain.example:80")]);
        for url in ["https://discord.com/api", "wss://gateway.discord.gg"] {
            assert_eq!(find(&set, url).as_deref(), Some("http://ann:secret@proxy.example:3128/"), "{url}");
        }
        for url in ["http://example.org", "ws://example.org"] {
            assert_eq!(find(&set, url).as_deref(), Some("http://plain.example/"), "{url}");
        }
        for url in ["http://127.0.0.1:8080", "ws://localhost:1", "https://[::1]/", "https://team.localhost"] {
            assert_eq!(find(&set, url), None, "{url}");
        }
        assert_eq!(find(&proxies(&[("ALL_PROXY", "http://all.example")]), "https://example.org").as_deref(), Some("http://all.example/"));
        assert_eq!(find(&proxies(&[]), "https://example.org"), None);
    }

    #[test]
    fn hosts_in_no_proxy_are_reached_directly() {
        let listed = "example.org, .corp.example,*.wild.example,10.0.0.0/8,192.168.1.5,port.example:8443,fd00::/8";
        let set = proxies(&[("ALL_PROXY", "http://proxy.example"), ("NO_PROXY", listed)]);
        for url in [
            "https://example.org",
            "https://api.example.org",
            "https://EXAMPLE.org",
            "https://git.corp.example",
            "https://a.wild.example",
            "http://10.20.30.40",
            "http://192.168.1.5:9000",
            "https://port.example:8443",
            "http://[fd00::1]",
        ] {
            assert_eq!(find(&set, url), None, "{url}");
        }
        for url in ["https://notexample.org", "http://11.0.0.1", "https://port.example", "https://discord.com", "http://[fe80::1]"] {
            assert!(find(&set, url).is_some(), "{url}");
        }
        assert_eq!(find(&proxies(&[("ALL_PROXY", "http://proxy.example"), ("NO_PROXY", "*")]), "https://example.org"), None);
    }

    #[test]
    fn doctor_says_what_is_used_without_the_password() {
        let set = proxies(&[("HTTPS_PROXY", "http://ann:secret@proxy.example:3128"), ("NO_PROXY", "example.org")]);
        let told: Vec<_> = set.describe().iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains("http://proxy.example:3128 as ann, except for example.org"), "{told:?}");
        assert!(!told[0].contains("secret"));
        let told: Vec<_> = proxies(&[("ALL_PROXY", "socks5://proxy.example")]).describe().iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains("ALL_PROXY is no address of a proxy"), "{told:?}");
    }

    #[test]
    fn nothing_connects_around_a_proxy_that_cannot_be_used() {
        for (name, value) in [("HTTPS_PROXY", "https://ann:secret@proxy.example:3129"), ("ALL_PROXY", "socks5://proxy.example")] {
            let told = proxies(&[(name, value)]).check().expect_err(value).to_string();
            assert!(told.contains(&format!("environment: {name}: {NO_PROXY_ADDRESS}")) && !told.contains("secret"), "{told}");
            assert_eq!(proxies(&[(name, value), ("NO_PROXY", "*")]).check(), Ok(()), "it would not be used");
        }
        assert_eq!(proxies(&[("HTTPS_PROXY", "http://proxy.example"), ("HTTP_PROXY", "proxy.example:80")]).check(), Ok(()));
        assert_eq!(proxies(&[]).check(), Ok(()));
    }

    #[test]
    fn certificates_that_cannot_be_read_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("broken.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").expect("a file");
        let folder = folder.path().display().to_string();
        let read = Certificates::read(|name| match name {
            "SSL_CERT_FILE" => Some("/nowhere/ca.pem".to_owned()),
            _ => Some(folder.clone()),
        });
        assert!(read.list.is_empty(), "what TLS does not take is left out");
        let told: Vec<_> = read.describe().iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|line| line.contains("SSL_CERT_FILE: /nowhere/ca.pem cannot be read")), "{told:?}");
    }
}
