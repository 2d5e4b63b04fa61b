//! Which addresses may be asked, and where a connection to them may go.
//!
//! A name is judged by every address it has, and the connection goes to the addresses that were judged: a name that changes its address in
//! between (DNS rebinding) leads nowhere else. Whoever follows a redirect comes back here with each hop.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::tools::ToolError;
use crate::tools::settings::ListedHost;
use crate::tools::web::address::why_inside;

/// Names that mean something inside wherever they are asked for, whatever they resolve to, each with all below it: RFC 6761, 6762, 8375 and
/// the domain that ICANN keeps for private use, in which the clouds' metadata services are.
const NAMES_INSIDE: [&str; 5] = ["localhost", "local", "home.arpa", "internal", "localdomain"];

/// How names become addresses.
#[async_trait]
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of a name; none is as good as an error.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// Where the connection to an address goes that was judged: there. Tests lead it to a server of their own. Port 0 is the one of the scheme.
    fn route(&self, judged: IpAddr) -> SocketAddr {
        SocketAddr::new(judged, 0)
    }
}

/// The machine's own.
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Which hosts a tool may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public ones and those that the operator listed.
    Public,
    Listed,
}

pub(super) struct Door {
    pub hosts: Vec<ListedHost>,
    pub lookup: Arc<dyn Lookup>,
}

impl Door {
    pub(super) fn is_listed(&self, url: &Url) -> bool {
        self.hosts.iter().any(|host| host.matches(url))
    }

    /// The only addresses to which a connection for `url` may go.
    ///
    /// # Errors
    /// [`ToolError::Refused`] where nobody may go, [`ToolError::Failed`] where nothing is.
    pub(super) async fn admit(&self, url: &Url, reach: Reach) -> Result<Way, ToolError> {
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
        // A literal never comes to a resolver, so it is judged by itself. The parser of addresses has written it out by now, whether it was
        // octal, hexadecimal or one number.
        let addresses = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(literal) => vec![literal],
            Err(_) if !is_listed && is_name_inside(host) => {
                return refused("the name is one of an internal network, which cannot be read");
            }
            Err(_) => self.lookup.lookup(host).await.unwrap_or_default(),
        };
        if addresses.is_empty() {
            return Err(ToolError::Failed("the name of the host is not known".into()));
        }
        match addresses.iter().find_map(|address| why_inside(*address)).filter(|_| !is_listed) {
            Some(why) => refused(&format!("the address {why}, so it cannot be read")),
            None => Ok(Way(addresses.into_iter().map(|address| self.lookup.route(address)).collect())),
        }
    }
}

fn is_name_inside(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    NAMES_INSIDE.iter().any(|inside| name.strip_suffix(inside).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

/// Addresses that were judged. As a resolver it knows no others, whatever name it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way(Vec<SocketAddr>);

impl Resolve for Way {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
