//! No address, name or redirect lets a model reach the internal network (P19).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel::tools::ToolError;
use tokio::net::TcpListener;

use super::page::address_of;
use super::{Names, PUBLIC, Run};
use crate::feeds::web::{Answer, Site};

/// A server inside the network, on all loopback addresses of a port. Nothing may connect to it.
struct Trap {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Trap {
    async fn set() -> Self {
        let connections = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // Skipped on machines without IPv6.
        let six = TcpListener::bind(("::1", port)).await.ok();
        for listener in [Some(listener), six].into_iter().flatten() {
            let connections = connections.clone();
            tokio::spawn(async move {
                while listener.accept().await.is_ok() {
                    connections.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Self { port, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Internal hosts in all spellings.
#[rustfmt::skip] // One a line would bury the list.
const HOSTS: [&str; 96] = [
    // This machine: decimal, short, octal, hexadecimal, one number, percent-encoded, full-width, with a trailing dot.
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "017700000001", "0x7f000001", "0x7F.1", "0177.0.0.1", "0x7f.0.0.0x1",
    "127.0.0.1.", "127.1.", "0", "0.0.0.0", "0.1", "0x0", "00000000000", "0.0.0.1", "%31%32%37.0.0.1", "127%2e0%2e0%2e1",
    "１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "0000177.0.0.1", "127.0.0.0x1", "127.00000.1", "0x7f.0x0.0x0.0x1",
    // Metadata services and link-local addresses.
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.16689662", "169.254.0.1", "169.254.170.2",
    "100.100.100.200", "168.63.129.16", "192.0.0.192",
    // Private, shared, reserved and multicast addresses.
    "10.0.0.1", "10.1", "167772161", "0xa000001", "012.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "0xac.16.1", "192.168.0.1",
    "192.168.1", "3232235777", "0300.0250.1.1", "100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.255.255", "192.0.2.1", "198.51.100.7",
    "203.0.113.9", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "4294967295", "037777777777",
    // IPv6 addresses, also with embedded IPv4.
    "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:FFFF:7F00:0001]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:10.0.0.1]",
    "[::ffff:192.168.1.1]", "[::ffff:0.0.0.0]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:7f00:1::1]",
    "[2002:a00:1::1]", "[2001:0:7f00:1::1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]",
    "[100::1]",
    // Internal names.
    "localhost", "LOCALHOST.", "any.localhost", "printer.local",
];

/// Names under an attacker's control.
const NAMES: [(&str, &[&str]); 16] = [
    ("loopback.test", &["127.0.0.1"]),
    ("loopback6.test", &["::1"]),
    ("mapped.test", &["::ffff:127.0.0.1"]),
    ("any.test", &["0.0.0.0"]),
    ("any6.test", &["::"]),
    ("metadata.google.internal", &["169.254.169.254"]),
    ("meta.test", &["169.254.169.254"]),
    ("meta6.test", &["fd00:ec2::254"]),
    ("private.test", &["10.1.2.3"]),
    ("lan.test", &["192.168.1.1"]),
    ("nat64.test", &["64:ff9b::7f00:1"]),
    ("sixtofour.test", &["2002:7f00:1::"]),
    ("mixed.test", &[PUBLIC, "127.0.0.1"]),
    ("mixed-first.test", &["127.0.0.1", PUBLIC]),
    ("mixed6.test", &[PUBLIC, "::1"]),
    ("xn--bcher-kva.test", &["127.0.0.1"]),
];

/// Invalid or non-web addresses.
#[rustfmt::skip] // One a line would bury the list.
const OTHERS: [&str; 14] = [
    "file:///etc/passwd", "FILE:/etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_INFO", "data:text/plain,hello", "ws://127.0.0.1/",
    "javascript:alert(1)", "unix:/var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/info", "dict://127.0.0.1:11211/stats",
    "http://user@public.test/", "http://user:secret@public.test/", "http://:secret@public.test/", "http://public.test:80@127.0.0.1/",
];

fn names(site: &Site) -> Names {
    let names = Names::leading_to(address_of(site));
    for (name, addresses) in NAMES {
        names.tell(name, &[addresses]);
    }
    names.tell("bücher.test", &[&["127.0.0.1"]]);
    names.tell("public.test", &[&[PUBLIC]]);
    names
}

/// All addresses, with the trap's port where possible.
fn forms(port: u16) -> Vec<String> {
    let hosts = HOSTS.iter().copied().chain(NAMES.iter().map(|(name, _)| *name)).chain(["bücher.test"]);
    let plain: Vec<_> = hosts.map(|host| format!("http://{host}:{port}/")).collect();
    let odd = [
        "http:\\\\127.0.0.1:PORT/",
        "http:127.0.0.1:PORT",
        "HTTP://127.0.0.1:PORT",
        " http://127.0.0.1:PORT/ ",
        "ht\ttp://127.0.0.1:PORT/",
        "https://127.0.0.1:PORT/",
        "http://public.test@127.0.0.1:PORT/",
        "http:/127.0.0.1:PORT/",
        "http:///127.0.0.1:PORT/",
    ];
    plain.into_iter().chain(odd.map(|form| form.replace("PORT", &port.to_string()))).chain(OTHERS.map(Into::into)).collect()
}

#[tokio::test]
async fn no_form_of_an_address_leads_inside() {
    let (site, trap) = (Site::start().await, Trap::set().await);
    let run = Run::new(&[], None, Arc::new(names(&site)));
    let forms = forms(trap.port);
    assert!(forms.len() >= 120, "{}", forms.len());
    for form in &forms {
        let told = run.fetch(form).await;
        assert!(matches!(told, Err(ToolError::Refused(_))), "{form}: {told:?}");
    }
    assert_eq!((trap.connections(), site.asked().len()), (0, 0), "of {} forms", forms.len());
    // The counterpart: public pages are read, and the trap works.
    site.json("/", "{}");
    assert!(run.fetch("http://public.test/").await.is_ok());
    let listed = Run::new(&[&format!("127.0.0.1:{}", trap.port)], None, Arc::new(Names::default()));
    let url = format!("http://127.0.0.1:{}/", trap.port);
    let sprung = async {
        while trap.connections() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        told = listed.fetch(&url) => panic!("the trap answered: {told:?}"),
        () = sprung => {}
    }
}

#[tokio::test]
async fn no_redirect_leads_inside() {
    let (site, trap) = (Site::start().await, Trap::set().await);
    let run = Run::new(&[], None, Arc::new(names(&site)));
    for form in forms(trap.port).iter().filter(|form| form.is_ascii() && !form.contains(['\t', '\\'])) {
        site.tell("/on", Answer::Redirect(form.trim().into()));
        site.tell("/hop", Answer::Redirect("/on".into()));
        for start in ["on", "hop"] {
            let told = run.fetch(&format!("http://public.test/{start}")).await;
            assert!(told.is_err(), "{form}: {told:?}");
        }
    }
    assert_eq!(trap.connections(), 0);
    site.tell("/on", Answer::Redirect("http://public.test/page".into()));
    site.json("/page", "{}");
    assert!(run.fetch("http://public.test/on").await.is_ok());
}

#[tokio::test]
async fn a_name_that_changes_its_address_leads_nowhere_else() {
    let (site, trap) = (Site::start().await, Trap::set().await);
    let names = Arc::new(names(&site));
    let run = Run::new(&[], None, names.clone());
    let inside: &[&str] = &["127.0.0.1"];
    site.json("/page", "{}");
    // Resolved once, and connected to the checked address. The second answer is never requested.
    names.tell("rebind.test", &[&[PUBLIC], inside]);
    assert!(run.fetch("http://rebind.test/page").await.is_ok());
    assert_eq!(names.asked.lock().unwrap().as_slice(), ["rebind.test"]);
    // A page that redirects to its own name is checked again.
    names.tell("rebind.test", &[&[PUBLIC], inside]);
    site.tell("/back", Answer::Redirect("http://rebind.test/page".into()));
    let told = run.told("http://rebind.test/back").await;
    assert_eq!(told, Err("it sends on to another address, and the address is this machine, so it cannot be read".into()));
    assert_eq!((trap.connections(), site.asked()), (0, vec!["/page".to_owned(), "/back".to_owned()]));
}
