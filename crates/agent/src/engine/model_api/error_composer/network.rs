//! Errors of the connection to the server.

use std::error::Error;
use std::io;

use super::ErrorComposer;
use crate::engine::{EngineError, EngineErrorKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NetworkCause {
    Certificates,
    Address,
    Other,
}

impl ErrorComposer {
    pub(in crate::engine::model_api) fn network(&self, error: reqwest::Error) -> EngineError {
        let (about, reason) = network_reason(error);
        let (origin, reason) = (&self.origin, self.quoted(&reason));
        let next = match about {
            NetworkCause::Certificates => {
                "Check the clock of this machine and its root certificates (the package \
                 ca-certificates)"
            }
            NetworkCause::Address => {
                &*format!("Check the address ({}) and the network", self.words.base_url)
            }
            NetworkCause::Other => "Check the network",
        };
        EngineError::new(
            EngineErrorKind::Network,
            format!("{origin} cannot be reached: {reason}. {next}"),
        )
    }

    pub(in crate::engine::model_api) fn no_client(&self, error: reqwest::Error) -> EngineError {
        let reason = self.quoted(&network_reason(error).1);
        EngineError::new(
            EngineErrorKind::Network,
            format!(
                "No connection can be made: {reason}. Are the machine's root certificates installed \
                 (the package ca-certificates)?"
            ),
        )
    }
}

/// Returns the cause of an error in words, without the address.
pub(super) fn network_reason(error: reqwest::Error) -> (NetworkCause, String) {
    let (is_dns, is_timeout) = (error.is_dns(), error.is_timeout());
    let error = error.without_url();
    // The outer errors say only that a request has failed.
    let mut deepest: &dyn Error = &error;
    let mut system: Option<&io::Error> = None;
    loop {
        system = deepest.downcast_ref().or(system);
        match deepest.source() {
            Some(source) => deepest = source,
            None => break,
        }
    }
    // An `io::Error` does not return the error that it wraps as its source.
    while let Some(inner) = system.and_then(io::Error::get_ref).and_then(|e| e.downcast_ref()) {
        system = Some(inner);
    }
    let words = deepest.to_string();
    match system.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref()) {
        _ if is_dns => (NetworkCause::Address, "its name is not known".to_owned()),
        Some(rustls::Error::InvalidCertificate(_)) => {
            (NetworkCause::Certificates, format!("it is not trusted ({words})"))
        }
        Some(_) => (NetworkCause::Address, format!("it does not speak TLS as it should ({words})")),
        None if system.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) => {
            (NetworkCause::Address, "nothing listens there".to_owned())
        }
        None if is_timeout => (NetworkCause::Other, "no connection in time".to_owned()),
        None => (NetworkCause::Other, words),
    }
}
