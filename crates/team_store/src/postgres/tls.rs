//! TLS to the server, by rustls. The certificate is always checked.

use std::fs;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

#[derive(Clone)]
pub(super) struct TlsMaker(TlsConnector);

impl TlsMaker {
    /// Trusts the authorities in the file `roots`, or those of the system if there is none.
    pub(super) fn new(roots: Option<&Path>) -> io::Result<Self> {
        // Passed explicitly, so that nothing depends on a provider that the process has installed.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = match roots {
            None => {
                builder.with_platform_verifier().map_err(io::Error::other)?.with_no_client_auth()
            }
            Some(file) => builder.with_root_certificates(read_roots(file)?).with_no_client_auth(),
        };
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

fn read_roots(file: &Path) -> io::Result<RootCertStore> {
    let text = fs::read(file)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    // Without this a wrong file would make every certificate untrusted, with a message that blames
    // the server.
    if roots.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no certificate"));
    }
    Ok(roots)
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for TlsMaker {
    type Stream = TlsChannel<S>;
    type TlsConnect = HostConnector;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<HostConnector> {
        let host = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(HostConnector { connector: self.0.clone(), host })
    }
}

pub(super) struct HostConnector {
    connector: TlsConnector,
    host: ServerName<'static>,
}

type ConnectFuture<S> = Pin<Box<dyn Future<Output = io::Result<TlsChannel<S>>> + Send>>;

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for HostConnector {
    type Stream = TlsChannel<S>;
    type Error = io::Error;
    type Future = ConnectFuture<S>;

    fn connect(self, stream: S) -> ConnectFuture<S> {
        Box::pin(async move { Ok(TlsChannel(self.connector.connect(self.host, stream).await?)) })
    }
}

pub(super) struct TlsChannel<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for TlsChannel<S> {
    fn channel_binding(&self) -> ChannelBinding {
        // Not needed: it protects those who do not check the certificate, which is always checked
        // here.
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsChannel<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsChannel<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
