//! Web tools with correct and faulty servers.

mod inside;
mod page;
mod search;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::ids::PersonaSlug;
use kernel::memory::Scope;
use kernel::time::ManualClock;
use kernel::tools::settings::{ListedHost, SearchSettings, ToolSettings};
use kernel::tools::web::{Lookup, web_tools};
use kernel::tools::{Decision, ToolContext, ToolError, ToolOutput, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A public address. Nothing is sent there: lookups are redirected to the test's server.
const PUBLIC: &str = "93.184.216.34";

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

/// Scripted DNS answers. Addresses that are not public are connected on the `site`'s port, so that a hole would be detected.
#[derive(Default)]
struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
    site: Option<SocketAddr>,
}

impl Names {
    fn leading_to(site: SocketAddr) -> Self {
        Self { site: Some(site), ..Self::default() }
    }

    /// Sets the answers for a name in order. The last one stays.
    fn tell(&self, name: &str, answers: &[&[&str]]) {
        let answers = answers.iter().map(|list| list.iter().map(|address| address.parse().unwrap()).collect()).collect();
        self.answers.lock().unwrap().insert(name.into(), answers);
    }
}

#[async_trait]
impl Lookup for Names {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.into());
        let mut answers = self.answers.lock().unwrap();
        let answers = answers.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        let last = answers.len() == 1;
        if last { Ok(answers[0].clone()) } else { Ok(answers.pop_front().unwrap_or_default()) }
    }

    fn route(&self, judged: IpAddr) -> SocketAddr {
        match self.site {
            Some(site) if judged.to_string() == PUBLIC => site,
            site => SocketAddr::new(judged, site.map_or(0, |site| site.port())),
        }
    }
}

/// A team's web tools, and a run that calls them.
struct Run {
    toolbox: Toolbox,
    clock: ManualClock,
    persona: PersonaSlug,
    seen: Vec<String>,
    cancel: CancellationToken,
}

impl Run {
    fn new(hosts: &[&str], search: Option<SearchSettings>, names: Arc<Names>) -> Self {
        let hosts = hosts.iter().map(|host| ListedHost::parse(host).unwrap()).collect();
        let clock = ManualClock::new(now());
        let tools = web_tools(&ToolSettings { search, hosts }, names).unwrap();
        Self {
            toolbox: Toolbox::new(tools, Arc::new(clock.clone())),
            clock,
            persona: "vince".into(),
            seen: Vec::new(),
            cancel: CancellationToken::new(),
        }
    }

    fn context(&self) -> ToolContext<'_> {
        ToolContext {
            persona: &self.persona,
            workspace: None,
            source: None,
            scope: const { &Scope::TEAM },
            asked_by: None,
            seen: &self.seen,
            tainted: false,
            now: now(),
            cancel: &self.cancel,
        }
    }

    async fn perform(&self, tool: &str, arguments: &Value) -> Result<ToolOutput, ToolError> {
        self.toolbox.perform(tool, arguments, &self.context()).await
    }

    async fn fetch(&self, url: &str) -> Result<ToolOutput, ToolError> {
        self.perform("fetch_page", &json!({"url": url})).await
    }

    /// Like `fetch`, as text.
    async fn told(&self, url: &str) -> Result<String, String> {
        self.fetch(url).await.map(|output| output.text).map_err(|error| error.to_string())
    }

    fn decide_tainted(&self, tool: &str, url: &str) -> Decision {
        self.toolbox.decide(&[tool.to_owned()], tool, &json!({"url": url}), &ToolContext { tainted: true, ..self.context() })
    }
}
