//! All connections to other hosts go through the proxy of the environment.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that refuses every connection and notes its target.
fn proxy() -> (u16, Arc<Mutex<BTreeSet<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let noted = asked.clone();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let noted = noted.clone();
            thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let Some(first) = lines.next() else { return };
                if let Some(target) = first.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()) {
                    noted.lock().unwrap().insert(target.to_owned());
                }
                while lines.next().is_some_and(|line| !line.is_empty()) {}
                let _ = stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
            });
        }
    });
    (port, asked)
}

#[test]
fn every_client_uses_the_proxy_and_doctor_says_so_without_its_password() {
    let dir = tempfile::tempdir().unwrap();
    let (port, asked) = proxy();
    std::fs::write(dir.path().join("teamroom.toml"), "").unwrap();
    let personas = dir.path().join("personas");
    std::fs::create_dir(&personas).unwrap();
    let feed = "---\nname: Kelly\nrole: coordinator\ncoordinator: true\nfeeds:\n  - {kind: rss, url: \"https://feeds.invalid/rss\"}\n---\nYou are Kelly.\n";
    std::fs::write(personas.join("kelly.md"), feed).unwrap();
    let run = |no_proxy: &str| {
        asked.lock().unwrap().clear();
        let output = Command::new(env!("CARGO_BIN_EXE_teamroom"))
            .arg("doctor")
            .current_dir(dir.path())
            .env_clear()
            .env("HTTPS_PROXY", format!("http://ann:s3cret@127.0.0.1:{port}"))
            .env("NO_PROXY", no_proxy)
            .env("DISCORD_TOKEN_KELLY", "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n")
            .env("SLACK_BOT_TOKEN", "xoxb-123456789012-abcdefABCDEF")
            .env("SLACK_APP_TOKEN", "xapp-1-A0123-456-abcdef")
            .env("OPENAI_API_KEY", "sk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n")
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), asked.lock().unwrap().clone())
    };
    let (said, targets) = run("");
    assert!(said.contains(&format!("proxy for HTTPS: http://127.0.0.1:{port} as ann")) && !said.contains("s3cret"), "{said}");
    for target in ["discord.com:443", "slack.com:443", "api.openai.com:443", "feeds.invalid:443"] {
        assert!(targets.contains(target), "{target} is not among {targets:?}\n{said}");
    }
    let (said, targets) = run("feeds.invalid");
    assert!(said.contains("except for feeds.invalid") && !targets.contains("feeds.invalid:443"), "{targets:?}\n{said}");
}

#[test]
fn nothing_starts_with_a_proxy_that_cannot_be_used() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .arg("run")
        .current_dir(dir.path())
        .env_clear()
        .env("HTTPS_PROXY", "https://ann:s3cret@127.0.0.1:9")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(78), "{said}");
    assert!(said.contains("HTTPS_PROXY: is no address of a proxy that begins with http://") && !said.contains("s3cret"), "{said}");
}
