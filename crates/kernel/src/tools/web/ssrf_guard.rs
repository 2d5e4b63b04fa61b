//! The SSRF guard: decides which addresses may be fetched.
//!
//! Every IP address of a name is checked, and the connection uses only those checked addresses, so a changed DNS answer (DNS rebinding) has
//! no effect. Each redirect is checked again.

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
        // A network behind a proxy may resolve no public names. The proxy resolves them, and reaches only what its owner allows.
        if addresses.is_empty() && find_proxy(url).is_none() {
            return Err(ToolError::Failed("the name of the host is not known".into()));
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
