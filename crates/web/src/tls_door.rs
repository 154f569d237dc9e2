//! The TLS side of a listener: shows the newest certificate.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::tls_authority::{TlsError, TlsIdentity};

/// How often the certificate is asked for again: files are replaced, and a certificate expires. If
/// it were asked for at each connection, strangers could have keys made or files read without end.
const RENEW_EVERY: Duration = Duration::from_mins(1);

/// Returns the identity of a server. It is called again while the server runs.
pub(crate) type IdentitySource = Box<dyn Fn() -> Result<TlsIdentity, TlsError> + Send + Sync>;

pub(crate) struct TlsDoor {
    source: IdentitySource,
    current: Mutex<(TlsAcceptor, Instant)>,
}

impl fmt::Debug for TlsDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsDoor").finish_non_exhaustive()
    }
}

impl TlsDoor {
    pub(crate) fn new(source: IdentitySource) -> Result<Self, TlsError> {
        let acceptor = acceptor_of(source()?)?;
        Ok(Self { source, current: Mutex::new((acceptor, Instant::now())) })
    }

    pub(crate) async fn open(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let acceptor = self.newest_acceptor();
        acceptor.accept(stream).await
    }

    /// Returns the acceptor, with another certificate if there is one. While a new one cannot be
    /// used, the one before stays.
    fn newest_acceptor(&self) -> TlsAcceptor {
        let mut current = lock(&self.current);
        if current.1.elapsed() >= RENEW_EVERY {
            // Also if that fails: files that are broken are not read again for every connection.
            current.1 = Instant::now();
            if let Ok(acceptor) = (self.source)().and_then(acceptor_of) {
                current.0 = acceptor;
            }
        }
        current.0.clone()
    }
}

fn acceptor_of(identity: TlsIdentity) -> Result<TlsAcceptor, TlsError> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(identity.chain, identity.key)?;
    // Nothing else is served: the lines of machines are upgrades of HTTP/1.1.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
