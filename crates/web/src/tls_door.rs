//! The TLS side of a listener: shows the newest certificate.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::tls_authority::{TlsError, TlsIdentity};

/// How often the certificate is asked for again: files are replaced, and a certificate expires. If
/// it were asked for at each connection, strangers could have keys made or files read without end.
const RENEW_EVERY: Duration = Duration::from_mins(1);
/// How long a connection waits for another certificate: the one before may have expired, and the
/// files may be on a disk that does not answer.
const RENEWED_WITHIN: Duration = Duration::from_millis(500);

/// Returns the identity of a server. It is called again while the server runs.
pub(crate) type IdentitySource = Box<dyn Fn() -> Result<TlsIdentity, TlsError> + Send + Sync>;

pub(crate) struct TlsDoor {
    source: Arc<IdentitySource>,
    current: Arc<Mutex<CurrentAcceptor>>,
}

struct CurrentAcceptor {
    acceptor: TlsAcceptor,
    /// When the certificate was last asked for.
    asked: Instant,
    /// Whether that has no answer yet.
    is_asked: bool,
}

impl fmt::Debug for TlsDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsDoor").finish_non_exhaustive()
    }
}

impl TlsDoor {
    pub(crate) fn new(source: IdentitySource) -> Result<Self, TlsError> {
        let acceptor = acceptor_of(source()?)?;
        let current = CurrentAcceptor { acceptor, asked: Instant::now(), is_asked: false };
        Ok(Self { source: Arc::new(source), current: Arc::new(Mutex::new(current)) })
    }

    pub(crate) async fn open(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let acceptor = self.newest_acceptor().await;
        acceptor.accept(stream).await
    }

    /// Returns the acceptor, with another certificate if there is one. While a new one cannot be
    /// used, the one before stays.
    async fn newest_acceptor(&self) -> TlsAcceptor {
        if let Some(answered) = self.ask_for_certificate() {
            // One that comes later is for later connections.
            timeout(RENEWED_WITHIN, answered).await.ok();
        }
        lock(&self.current).acceptor.clone()
    }

    /// Asks for the certificate again if it is time. The result comes when that has an answer.
    fn ask_for_certificate(&self) -> Option<oneshot::Receiver<()>> {
        let mut current = lock(&self.current);
        if current.is_asked || current.asked.elapsed() < RENEW_EVERY {
            return None;
        }
        let (answered_in, answered) = oneshot::channel();
        let (source, renewed) = (Arc::clone(&self.source), Arc::clone(&self.current));
        let ask = move || {
            let acceptor = source().and_then(acceptor_of);
            let mut current = lock(&renewed);
            if let Ok(acceptor) = acceptor {
                current.acceptor = acceptor;
            }
            current.is_asked = false;
            // Whoever has waited may be gone.
            answered_in.send(()).ok();
        };
        // Also if that fails: files that are broken are not read again for every connection.
        current.asked = Instant::now();
        // A thread of its own, which may be left behind: all lines wait while files are read on
        // theirs, and a runtime does not end before its blocking tasks.
        current.is_asked = thread::Builder::new().name("certificate".to_owned()).spawn(ask).is_ok();
        Some(answered)
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::tls_authority::TlsAuthority;

    /// A runtime of one thread would serve nobody while the thread reads.
    #[tokio::test]
    async fn a_certificate_on_a_disk_that_does_not_answer_holds_up_nobody() {
        let authority = TlsAuthority::generate().unwrap();
        let (first, more) = mpsc::channel();
        first.send(()).unwrap();
        let more = Mutex::new(more);
        let (asked_in, asked) = mpsc::channel();
        let source = move || {
            asked_in.send(()).unwrap();
            lock(&more).recv().map_err(|_| TlsError::Unread(io::Error::other("gone")))?;
            authority.issue(vec!["desk.test".to_owned()])
        };
        let door = TlsDoor::new(Box::new(source)).unwrap();
        lock(&door.current).asked -= RENEW_EVERY;
        door.newest_acceptor().await;
        assert_eq!(asked.iter().take(2).count(), 2, "it is asked for again");
        lock(&door.current).asked -= RENEW_EVERY;
        assert!(door.ask_for_certificate().is_none(), "once at a time");
        drop(first);
        while lock(&door.current).is_asked {
            thread::yield_now();
        }
        lock(&door.current).asked -= RENEW_EVERY;
        assert!(door.ask_for_certificate().is_some());
    }
}
