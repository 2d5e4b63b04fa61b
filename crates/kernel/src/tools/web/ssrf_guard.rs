//! The SSRF guard: decides which addresses may be fetched.
//!
//! Every IP address of a name is checked, and the connection uses only those checked addresses, so a changed DNS answer (DNS rebinding) has
//! no effect. Each redirect is checked again. A proxy resolves names by itself, so a name that does not resolve here cannot be checked and is
//! refused, unless the operator listed it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::network::find_proxy;
use crate::tools::ToolError;
use crate::tools::settings::ListedHost;
use crate::tools::web::address::why_inside;

/// Names that are internal wherever they resolve to, including subdomains: RFC 6761, 6762, 8375 and ICANN's private-use domain, which cloud
/// metadata services use.
const NAMES_INSIDE: [&str; 5] = ["localhost", "local", "home.arpa", "internal", "localdomain"];

/// Resolves names.
#[async_trait]
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of a name. An empty list is treated as an error.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// The address to connect to for a checked address. Tests redirect it to their own server. Port 0 means the scheme's default.
    fn route(&self, judged: IpAddr) -> SocketAddr {
        SocketAddr::new(judged, 0)
    }
}

/// The system's resolver.
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// The hosts that a tool may fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public hosts and those listed by the operator.
    Public,
    Listed,
}

pub(super) struct SsrfGuard {
    pub hosts: Vec<ListedHost>,
    pub lookup: Arc<dyn Lookup>,
}

impl SsrfGuard {
    pub(super) fn is_listed(&self, url: &Url) -> bool {
        self.hosts.iter().any(|host| host.matches(url))
    }

    /// The addresses that a connection for `url` may use.
    ///
    /// # Errors
    /// [`ToolError::Refused`] if the address is not allowed, [`ToolError::Failed`] if the name does not resolve.
    pub(super) async fn admit(&self, url: &Url, reach: Reach) -> Result<CheckedAddresses, ToolError> {
        self.admit_through(find_proxy(url).is_some(), url, reach).await
    }

    async fn admit_through(&self, has_proxy: bool, url: &Url, reach: Reach) -> Result<CheckedAddresses, ToolError> {
        let refused = |why: &str| Err(ToolError::Refused(why.to_owned()));
        if !matches!(url.scheme(), "http" | "https") {
            return refused("only addresses that begin with http:// or https:// can be read");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("an address with a user or a password in it is not read");
        }
        let is_listed = self.is_listed(url);
        if !is_listed && reach == Reach::Listed {
            return refused("the host is not among those that the operator listed");
        }
        let host = url.host_str().unwrap_or_default();
        // A literal address is not resolved, so it is checked directly. The URL parser has already normalised octal, hexadecimal and
        // single-number forms.
        let addresses = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(literal) => vec![literal],
            Err(_) if !is_listed && is_name_inside(host) => {
                return refused("the name is one of an internal network, which cannot be read");
            }
            Err(_) => self.lookup.lookup(host).await.unwrap_or_default(),
        };
        // The proxy would resolve the name, perhaps to an address inside the network.
        if addresses.is_empty() && !has_proxy {
            return Err(ToolError::Failed("the name of the host is not known".into()));
        }
        if addresses.is_empty() && !is_listed {
            return refused(
                "its name does not resolve here, so nobody knows whether the proxy finds it inside the network. If it may be read, an \
                 operator has to list it in tools.hosts",
            );
        }
        match addresses.iter().find_map(|address| why_inside(*address)).filter(|_| !is_listed) {
            Some(why) => refused(&format!("the address {why}, so it cannot be read")),
            None => Ok(CheckedAddresses(addresses.into_iter().map(|address| self.lookup.route(address)).collect())),
        }
    }
}

fn is_name_inside(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    NAMES_INSIDE.iter().any(|inside| name.strip_suffix(inside).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

/// Checked addresses. As a resolver it returns only these, for every name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedAddresses(Vec<SocketAddr>);

impl Resolve for CheckedAddresses {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves no name, as in a network behind a proxy.
    struct NoLookup;

    #[async_trait]
    impl Lookup for NoLookup {
        async fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Err(io::Error::other("no such name"))
        }
    }

    #[tokio::test]
    async fn a_name_that_only_the_proxy_resolves_is_refused_unless_it_is_listed() {
        let hosts = vec![ListedHost::parse("listed.corp.example").expect("a host")];
        let guard = SsrfGuard { hosts, lookup: Arc::new(NoLookup) };
        let admit = async |has_proxy, url: &str| {
            let url = Url::parse(url).expect("an address");
            guard.admit_through(has_proxy, &url, Reach::Public).await
        };
        for url in ["http://169.254.169.254.nip.io/latest", "http://wiki/", "https://grafana.corp.example", "https://example.org"] {
            let refused = admit(true, url).await.expect_err(url);
            assert!(matches!(&refused, ToolError::Refused(why) if why.contains("list it in tools.hosts")), "{url}: {refused}");
            assert!(matches!(admit(false, url).await, Err(ToolError::Failed(_))), "{url}");
        }
        assert_eq!(admit(true, "https://listed.corp.example").await.expect("it is listed"), CheckedAddresses(Vec::new()));
        assert!(matches!(admit(false, "https://listed.corp.example").await, Err(ToolError::Failed(_))));
        assert!(admit(true, "https://93.184.215.14").await.is_ok(), "an address needs no name");
    }
}
