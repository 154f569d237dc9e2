//! The listener of a team's desk: other machines, jobs and people's browsers reach it over TLS.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use tokio::task::JoinSet;

use crate::connections::BrowserConnections;
use crate::page_limits::PageLimits;
use crate::tls_authority::{TlsError, TlsIdentity};
use crate::tls_door::TlsDoor;

pub struct TeamHostOptions {
    pub listen: SocketAddr,
    /// Returns the certificates. It is called again while the listener runs, so that a renewed
    /// certificate is used.
    pub identity: Box<dyn Fn() -> Result<TlsIdentity, TlsError> + Send + Sync>,
    /// The limits for connections that have shown no key, and for the handshake.
    pub limits: PageLimits,
    pub routes: Router,
}

impl fmt::Debug for TeamHostOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamHostOptions").field("listen", &self.listen).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeamHostError {
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A listener that serves until this is dropped.
#[derive(Debug)]
pub struct TeamHost {
    address: SocketAddr,
    tasks: JoinSet<()>,
}

impl TeamHost {
    /// Starts listening. Needs a running tokio runtime.
    pub fn start(options: TeamHostOptions) -> Result<Self, TeamHostError> {
        let TeamHostOptions { listen, identity, limits, routes } = options;
        // Wrong certificates are reported at the start, before a port is taken.
        let door = TlsDoor::new(identity)?;
        let failed = |source| TeamHostError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        let connections = BrowserConnections::new(limits.connections);
        let mut tasks = JoinSet::new();
        tasks.spawn(connections.serve(listener, Some(Arc::new(door)), routes, limits));
        Ok(Self { address, tasks })
    }

    /// Stops listening, and waits until the port is free.
    pub async fn close(mut self) {
        self.tasks.shutdown().await;
    }

    /// Returns the address, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use axum::routing::get;
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;

    use super::*;
    use crate::tls_authority::TlsAuthority;

    fn start_host(authority: TlsAuthority, limits: PageLimits) -> TeamHost {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let routes = Router::new().route("/", get(|| async { "the desk" }));
        let identity = Box::new(move || authority.issue(vec!["desk.test".to_owned()]));
        TeamHost::start(TeamHostOptions { listen, identity, limits, routes }).unwrap()
    }

    /// Connects as a client that trusts one authority.
    async fn connect(
        host: &TeamHost,
        trusted: &[u8],
        name: &'static str,
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.to_vec().into()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(host.address()).await?;
        let name = ServerName::try_from(name).unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// Fetches `/` as a client that trusts one authority.
    async fn fetch(host: &TeamHost, trusted: &[u8], name: &'static str) -> io::Result<String> {
        let mut stream = connect(host, trusted, name).await?;
        let request = "GET / HTTP/1.1\r\nHost: desk.test\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut said = String::new();
        stream.read_to_string(&mut said).await?;
        Ok(said)
    }

    #[tokio::test]
    async fn only_who_trusts_the_authority_talks_to_the_desk() {
        let authority = TlsAuthority::generate().unwrap();
        let stored = TlsAuthority::from_stored(authority.key(), authority.certificate()).unwrap();
        let trusted = authority.certificate().to_vec();
        // What was stored issues certificates like the authority itself.
        let host = start_host(stored, PageLimits::default());
        let said = fetch(&host, &trusted, "desk.test").await.unwrap();
        assert!(said.ends_with("the desk"), "{said}");
        assert!(fetch(&host, &trusted, "other.test").await.is_err(), "it has another name");
        let other = TlsAuthority::generate().unwrap();
        assert!(fetch(&host, other.certificate(), "desk.test").await.is_err());
        let port = host.address();
        host.close().await;
        assert!(TcpListener::bind(port).is_ok());
    }

    #[tokio::test]
    async fn connections_that_say_nothing_make_room() {
        let authority = TlsAuthority::generate().unwrap();
        let trusted = authority.certificate().to_vec();
        let limits = PageLimits {
            connections: 4,
            head_within: Duration::from_mins(10),
            ..PageLimits::default()
        };
        let host = start_host(authority, limits);
        let mut silent = Vec::new();
        for _ in 0..8 {
            silent.push(TcpStream::connect(host.address()).await.unwrap());
        }
        assert!(fetch(&host, &trusted, "desk.test").await.unwrap().ends_with("the desk"));
    }

    /// Bytes that keep coming do not keep a connection whose head never ends.
    #[tokio::test]
    async fn a_head_that_drips_is_cut_off() {
        const MOST_BYTES: usize = 10_000;
        let authority = TlsAuthority::generate().unwrap();
        let trusted = authority.certificate().to_vec();
        let limits =
            PageLimits { head_within: Duration::from_millis(300), ..PageLimits::default() };
        let host = start_host(authority, limits);
        let stream = connect(&host, &trusted, "desk.test").await.unwrap();
        let (mut said, mut drips) = tokio::io::split(stream);
        let drip = async {
            drips.write_all(b"GET / HTTP/1.1\r\nX-Drip: ").await.ok()?;
            for _ in 0..MOST_BYTES {
                drips.write_all(b"x").await.ok()?;
                drips.flush().await.ok()?;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Some(())
        };
        let mut rest = Vec::new();
        tokio::select! {
            dripped = drip => assert_eq!(dripped, None, "the desk has read all of it"),
            // However it ends, it ends.
            _ = said.read_to_end(&mut rest) => {}
        }
        assert!(!String::from_utf8_lossy(&rest).contains("the desk"));
    }

    #[test]
    fn wrong_files_are_named() {
        let check = |certificates: &[u8], key: &[u8]| {
            TlsIdentity::from_pem(certificates, key).map(drop).unwrap_err().to_string()
        };
        assert!(check(b"", b"").starts_with("the file with the certificates has none"));
        let pem = b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        assert!(check(pem, b"x").starts_with("the file with the key has none"));
    }
}
