//! The ports of a sandbox, remembered in its folder, so that an open page and a bookmark work after the next start.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

const FILE: &str = "ports.json";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Ports {
    pub(super) page: Option<u16>,
    /// The backlog, health and metrics.
    pub(super) backlog: Option<u16>,
}

impl Ports {
    /// The ports of the last start. None where the file is missing or unreadable, so that any port is taken.
    pub(super) fn read(dir: &Path) -> Self {
        std::fs::read(dir.join(FILE)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    pub(super) fn write(self, dir: &Path) -> anyhow::Result<()> {
        let path = dir.join(FILE);
        std::fs::write(&path, serde_json::to_vec(&self)?).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The remembered port, or 0 for any. Prints a note if another program has it.
pub(super) fn choose(remembered: Option<u16>, what: &str) -> u16 {
    match remembered {
        Some(port) if is_free(port) => port,
        Some(port) => {
            eprintln!("Port {port} is used by another program, so {what} gets a new address.");
            0
        }
        None => 0,
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_kept_in_the_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(Ports::read(dir.path()), Ports::default());
        let ports = Ports { page: Some(4801), backlog: Some(9999) };
        ports.write(dir.path()).expect("written");
        assert_eq!(Ports::read(dir.path()), ports);
        for broken in ["", "{", "7", r#"{"page": 70000}"#] {
            std::fs::write(dir.path().join(FILE), broken).expect("written");
            assert_eq!(Ports::read(dir.path()), Ports::default(), "{broken}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_not_chosen() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = taken.local_addr().expect("an address").port();
        assert_eq!((choose(Some(port), "the page"), choose(None, "the page")), (0, 0));
        drop(taken);
        assert_eq!(choose(Some(port), "the page"), port);
    }
}
