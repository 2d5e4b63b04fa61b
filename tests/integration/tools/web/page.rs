use std::net::SocketAddr;
use std::sync::Arc;

use kernel::tools::approval::Risk;
use kernel::tools::{Decision, ToolError, Trace};
use serde_json::json;

use super::{Names, PUBLIC, Run, now};
use crate::feeds::web::{Answer, Site};

fn html(body: &'static str) -> Answer {
    Answer::Body("text/html; charset=utf-8", body.into())
}

/// A site reachable as public.test, and a run that may read public pages.
async fn public_site() -> (Site, Run) {
    let site = Site::start().await;
    let names = Names::leading_to(address_of(&site));
    names.tell("public.test", &[&[PUBLIC]]);
    (site, Run::new(&[], None, Arc::new(names)))
}

pub(super) fn address_of(site: &Site) -> SocketAddr {
    site.shown("").parse().unwrap()
}

#[tokio::test]
async fn a_public_page_is_read_through_its_redirects_and_leaves_its_trace() {
    let (site, run) = public_site().await;
    site.tell("/", html("<title>News</title><p>See <a href='/more'>more</a>."));
    for hop in 0..5 {
        let target = if hop == 4 { "http://public.test/#top".to_owned() } else { format!("/hop{}", hop + 1) };
        site.tell(&format!("/hop{hop}"), Answer::Redirect(target));
    }
    let page = run.fetch("http://public.test/hop0").await.unwrap();
    assert_eq!((page.text.as_str(), page.outside), ("# News\n\nSee [more](http://public.test/more).", true));
    let Some(Trace::Fetched { url, from, at, links, sha256 }) = page.trace else { panic!("no trace") };
    assert_eq!((url.as_str(), from.as_str(), at), ("http://public.test/hop0", "http://public.test/", now()));
    assert_eq!((links, sha256.len()), (vec!["http://public.test/more".to_owned()], 64));

    site.tell("/far", Answer::Redirect("/hop0".into()));
    assert_eq!(run.told("http://public.test/far").await, Err("it sends on more than 5 times".into()));
}

#[tokio::test]
async fn what_cannot_be_read_is_told_in_the_words_of_the_tool() {
    let (site, run) = public_site().await;
    site.tell("/gone", Answer::Status(404));
    site.tell("/pdf", Answer::Body("application/pdf", "%PDF-1.7".into()));
    site.tell("/lost", Answer::Redirect("http://".into()));
    site.tell("/broken", Answer::Broken);
    site.tell("/long", Answer::Body("text/plain", vec![b'x'; (4 << 20) + 1].into()));
    site.tell("/full", Answer::Body("text/plain", vec![b'x'; 4 << 20].into()));
    for (path, told) in [
        ("/gone", "it answered 404 Not Found"),
        ("/pdf", "it is a PDF file; only web pages, plain text, Markdown, JSON and XML are read"),
        ("/lost", "it sends on to something that is no address"),
        ("/broken", "the answer broke off"),
        ("/long", "it is longer than 4 MiB"),
    ] {
        assert_eq!(run.told(&format!("http://public.test{path}")).await, Err(told.into()), "{path}");
    }
    assert!(run.told("http://public.test/full").await.unwrap().ends_with("\n[cut here: the first 20000 of 4194304 characters]"));
    assert_eq!(run.told("http://nowhere.test/").await, Err("the name of the host is not known".into()));
    assert_eq!(run.told("no address").await, Err("that is no whole address; give one that begins with https:// or http://".into()));
}

#[tokio::test]
async fn a_page_that_hangs_is_given_up() {
    let (site, run) = public_site().await;
    site.tell("/hangs", Answer::Hangs);
    let run_out = async {
        while site.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        run.clock.advance(std::time::Duration::from_secs(20));
    };
    let (told, ()) = tokio::join!(run.told("http://public.test/hangs"), run_out);
    assert_eq!(told, Err("fetch_page took longer than 20 s".into()));
}

#[tokio::test]
async fn listed_hosts_are_read_wherever_they_are_and_no_others() {
    let site = Site::start().await;
    site.json("/status", r#"{"queue": 12}"#);
    let other = Site::start().await;
    site.tell("/away", Answer::Redirect(other.json("/", "{}")));
    let host = site.shown("");
    let run = Run::new(&[&host], None, Arc::new(Names::default()));
    let get = async |url: String| run.perform("http_get", &json!({"url": url})).await;
    let output = get(format!("http://{host}/status")).await.unwrap();
    assert_eq!((output.text.as_str(), output.outside), (r#"{"queue": 12}"#, true));
    assert_eq!(run.told(&format!("http://{host}/status")).await.unwrap(), r#"{"queue": 12}"#);

    let refused = "the host is not among those that the operator listed";
    assert_eq!(get("https://example.org/".into()).await, Err(ToolError::Refused(refused.into())));
    assert_eq!(get(format!("http://{}/", other.shown(""))).await, Err(ToolError::Refused(refused.into())));
    assert!(matches!(get(format!("http://{host}/away")).await, Err(ToolError::Refused(_))));
    assert!(matches!(run.fetch(&format!("http://{host}/away")).await, Err(ToolError::Refused(_))));
    assert_eq!(other.asked(), [""; 0]);
    // Without listed hosts the tool does not exist.
    assert!(Run::new(&[], None, Arc::new(Names::default())).toolbox.names().eq(["fetch_page"]));
}

#[tokio::test]
async fn a_tainted_run_fetches_what_it_saw_and_asks_for_what_it_composed() {
    let mut run = Run::new(&["status.test"], None, Arc::new(Names::default()));
    run.seen = vec!["https://Example.org:443/a?b=c#d".into(), "not an address".into()];
    let allowed = Decision::Allowed { risk: Risk::Read };
    assert_eq!(run.decide_tainted("fetch_page", "https://example.org/a?b=c"), allowed);
    assert_eq!(run.decide_tainted("fetch_page", "https://status.test/anything?x=1"), allowed);
    assert_eq!(run.decide_tainted("http_get", "https://status.test/anything?x=1"), allowed);
    for composed in ["https://example.org/a?b=secret", "https://example.org/", "https://sub.example.org/a?b=c"] {
        let decision = run.decide_tainted("fetch_page", composed);
        assert!(matches!(decision, Decision::NeedsApproval { risk: Risk::ReachOut, .. }), "{composed}: {decision:?}");
    }
    // No approval is requested for calls that are refused anyway.
    for impossible in ["not an address", "ftp://example.org/a?b=c"] {
        assert_eq!(run.decide_tainted("fetch_page", impossible), allowed, "{impossible}");
        assert!(run.fetch(impossible).await.is_err(), "{impossible}");
    }
}
