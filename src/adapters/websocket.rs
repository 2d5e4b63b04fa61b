//! Connections of gateways to platforms, through the proxy of the environment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::UrlError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config};

use kernel::network::{find_proxy, tls};

/// The longest answer of a proxy.
const ANSWER: usize = 8192;

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connects. The caller limits the time.
pub(super) async fn connect(url: &str, config: Option<WebSocketConfig>) -> Result<Socket, Error> {
    let parsed = Url::parse(url).map_err(|_| Error::Url(UrlError::UnsupportedUrlScheme))?;
    connect_through(find_proxy(&parsed), &parsed, config).await
}

async fn connect_through(proxy: Option<&Url>, url: &Url, config: Option<WebSocketConfig>) -> Result<Socket, Error> {
    let host = url.host_str().ok_or(Error::Url(UrlError::NoHostName))?;
    let port = match url.scheme() {
        "wss" => url.port().unwrap_or(443),
        _ => url.port().unwrap_or(80),
    };
    let stream = match proxy {
        Some(proxy) => open_tunnel(proxy, &format!("{host}:{port}")).await?,
        None => TcpStream::connect((host.trim_matches(['[', ']']), port)).await?,
    };
    stream.set_nodelay(true)?;
    let connector = tls().map_err(std::io::Error::other)?.map(Connector::Rustls);
    Ok(client_async_tls_with_config(url.as_str(), stream, config, connector).await?.0)
}

/// A connection to `target` through a proxy.
async fn open_tunnel(proxy: &Url, target: &str) -> std::io::Result<TcpStream> {
    let failed = |why: String| std::io::Error::other(format!("the proxy {why}"));
    let address = (proxy.host_str().unwrap_or_default().trim_matches(['[', ']']), proxy.port_or_known_default().unwrap_or(80));
    let mut stream = TcpStream::connect(address).await.map_err(|error| failed(format!("cannot be reached: {error}")))?;
    let credentials = [Some(proxy.username()), proxy.password()].into_iter().flatten().map(decode).collect::<Vec<_>>().join(":");
    let credentials = match proxy.username() {
        "" => String::new(),
        _ => format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(credentials)),
    };
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credentials}\r\n").as_bytes()).await?;
    // Byte by byte, because what follows the answer belongs to the connection behind the proxy.
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == ANSWER {
            return Err(failed("gave no answer that can be read".to_owned()));
        }
        answer.push(stream.read_u8().await.map_err(|_| failed("closed the connection".to_owned()))?);
    }
    let status = String::from_utf8_lossy(&answer).split_whitespace().nth(1).unwrap_or_default().to_owned();
    if status.starts_with('2') { Ok(stream) } else { Err(failed(format!("answered {status}"))) }
}

/// Without percent encoding.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        if let Some(byte) = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(b'%');
            rest = after;
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use futures_util::{SinkExt as _, StreamExt as _};
    use tokio::net::TcpListener;
    use tokio_tungstenite::tungstenite::Message;

    use super::*;

    /// A proxy that connects everything to `target`, and gives the head of the first request.
    async fn proxy(target: Option<std::net::SocketAddr>) -> (Url, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = Url::parse(&format!("http://ann:p%40ss@{}", listener.local_addr().expect("an address"))).expect("an address");
        let served = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.expect("a client");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.expect("a request"));
            }
            if let Some(target) = target {
                let mut server = TcpStream::connect(target).await.expect("the target");
                client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.expect("a client");
                tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut server).await });
            } else {
                client.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await.expect("a client");
            }
            String::from_utf8(head).expect("text")
        });
        (url, served)
    }

    #[tokio::test]
    async fn a_socket_goes_through_the_proxy() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let target = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("a client");
            let mut socket = tokio_tungstenite::accept_async(stream).await.expect("a socket");
            socket.send(Message::text("hello")).await.expect("a client");
        });
        let (through, served) = proxy(Some(target)).await;
        // No resolver knows this name: the proxy does.
        let url = Url::parse("ws://gateway.invalid/?v=10").expect("an address");
        let mut socket = connect_through(Some(&through), &url, None).await.expect("a connection");
        assert_eq!(socket.next().await.expect("a frame").expect("a text"), Message::text("hello"));
        let head = served.await.expect("a request");
        assert!(head.starts_with("CONNECT gateway.invalid:80 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode("ann:p@ss"))), "{head}");
    }

    #[tokio::test]
    async fn a_proxy_that_refuses_is_named() {
        let (through, _served) = proxy(None).await;
        let url = Url::parse("wss://gateway.invalid").expect("an address");
        let error = connect_through(Some(&through), &url, None).await.expect_err("a refusal").to_string();
        assert!(error.contains("the proxy answered 407") && !error.contains("p@ss"), "{error}");
    }
}
