//! A connection between a team and its database that can be cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A proxy between a team and PostgreSQL.
pub(crate) struct Wire {
    address: SocketAddr,
    cut: Arc<Cut>,
}

#[derive(Default)]
struct Cut {
    is_cut: AtomicBool,
    happens: Notify,
}

impl Wire {
    /// Connects to a database server.
    pub(crate) async fn to(database: &SecretString) -> Self {
        let server = Url::parse(database.expose_secret()).unwrap();
        let server = format!("{}:{}", server.host_str().unwrap(), server.port().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, cut) = (listener.local_addr().unwrap(), Arc::<Cut>::default());
        tokio::spawn(accept(listener, server, cut.clone()));
        Self { address, cut }
    }

    /// The database's address through this proxy.
    pub(crate) fn lead(&self, database: &SecretString) -> SecretString {
        let mut url = Url::parse(database.expose_secret()).unwrap();
        url.set_port(Some(self.address.port())).unwrap();
        url.to_string().into()
    }

    /// Closes all connections and refuses new ones.
    pub(crate) fn cut(&self) {
        self.cut.is_cut.store(true, Ordering::Relaxed);
        self.cut.happens.notify_waiters();
    }

    pub(crate) fn mend(&self) {
        self.cut.is_cut.store(false, Ordering::Relaxed);
    }
}

async fn accept(listener: TcpListener, server: String, cut: Arc<Cut>) {
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let (cut, server) = (cut.clone(), server.clone());
        tokio::spawn(async move {
            let happens = cut.happens.notified();
            if cut.is_cut.load(Ordering::Relaxed) {
                return;
            }
            let Ok(mut server) = TcpStream::connect(server).await else { return };
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                () = happens => {}
            }
        });
    }
}
