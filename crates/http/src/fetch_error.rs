//! Why something could not be fetched.

use std::error::Error;
use std::io;

use reqwest::StatusCode;

/// Why a text could not be fetched. No error contains the address, which may have a secret in it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("the address has to begin with https://, or be on this machine")]
    Address,
    #[error("the proxy is not a valid address")]
    Proxy,
    #[error("the authority of the certificates cannot be read")]
    Certificate,
    #[error("the server's certificate is not the one that is expected")]
    Untrusted,
    #[error("{0}")]
    Failed(String),
    #[error("the server answered {0}")]
    Status(StatusCode),
    #[error("the text is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the server took too long")]
    TooSlow,
    #[error("it is not UTF-8 text")]
    NotText,
}

/// Says in a few words why a request failed.
pub(crate) fn explain_failure(error: &reqwest::Error) -> FetchError {
    if is_about_certificate(error) {
        return FetchError::Untrusted;
    }
    let why = if error.is_connect() {
        "the server cannot be reached"
    } else if error.is_timeout() {
        "the server does not answer"
    } else {
        "the connection was broken off"
    };
    FetchError::Failed(why.to_owned())
}

fn is_about_certificate(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // The source of an `io::Error` is the source of the error within it, so that one would be
        // left out.
        let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = within.map(|error| error as &dyn Error).or_else(|| error.source());
    }
    false
}
