//! The host of the page: finds a port, and puts the parts together.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, post};
use tokio::task::JoinSet;

use crate::address::{AddressFile, PageAddress};
use crate::chat::RuntimeCommand;
use crate::connections::BrowserConnections;
use crate::origin::PageHosts;
use crate::page_limits::PageLimits;
use crate::refusal::HttpRefusal;
use crate::sessions::PageSessions;
use crate::state::{PageState, StreamPlaces};
use crate::{chat, desk_relay, events, files, origin, pairing};

/// How many ports are tried, from the wanted one on.
const PORTS: u16 = 20;

#[derive(Debug, Clone)]
pub struct PageOptions {
    /// The desk's socket for viewers. The file with the address is beside it.
    pub desk_socket: PathBuf,
    /// The first port to try; 0 takes any free one.
    pub port: u16,
    pub limits: PageLimits,
    /// How the runtime of the chat is started; without it there is no chat.
    pub runtime: Option<RuntimeCommand>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageHostError {
    #[error("the ports {first} to {last} are taken: set `page.port` to a free one")]
    NoPort { first: u16, last: u16 },
    #[error("cannot listen on port {port}: {source}")]
    Listen { port: u16, source: io::Error },
    /// The address could not be written.
    #[error("cannot write {path}: {source}")]
    AddressFile { path: PathBuf, source: io::Error },
}

/// A page that is served until this is dropped.
#[derive(Debug)]
pub struct PageHost {
    address: PageAddress,
    tasks: JoinSet<()>,
    _file: AddressFile,
}

impl PageHost {
    /// Starts serving on this machine's loopback. Needs a running tokio runtime.
    pub fn start(options: PageOptions) -> Result<Self, PageHostError> {
        let PageOptions { desk_socket, port, limits, runtime } = options;
        let listener = listen_on_free_port(port)?;
        let failed = |source| PageHostError::Listen { port, source };
        let address = PageAddress::new(listener.local_addr().map_err(failed)?.port());
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        // Only now, so that whoever reads the address finds a port that listens.
        let file = AddressFile::write_for_desk(&desk_socket, address).map_err(|source| {
            PageHostError::AddressFile { path: crate::address_path(&desk_socket), source }
        })?;
        let streams = StreamPlaces::new(limits.streams);
        let sessions = Arc::new(PageSessions::new(desk_socket, None));
        let home = runtime.as_ref().and_then(|command| command.home.clone());
        let chats = runtime.map(|command| Arc::new(command.runtimes(limits.linger)));
        let app = build_router(address, PageState { limits, sessions, chats, home, streams });
        let mut tasks = JoinSet::new();
        tasks.spawn(BrowserConnections::new(limits.connections).serve(listener, None, app, limits));
        Ok(Self { address, tasks, _file: file })
    }

    /// Stops serving, and waits until the port is free.
    pub async fn close(mut self) {
        self.tasks.shutdown().await;
    }

    pub fn address(&self) -> PageAddress {
        self.address
    }
}

fn listen_on_free_port(port: u16) -> Result<TcpListener, PageHostError> {
    // Several ports are tried, because the page of another user or of another desk may have the
    // first one.
    let last = if port == 0 { 0 } else { port.saturating_add(PORTS - 1) };
    for port in port..=last {
        // Never another address: whoever reaches the page could try keys and codes.
        match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            bound => return bound.map_err(|source| PageHostError::Listen { port, source }),
        }
    }
    Err(PageHostError::NoPort { first: port, last })
}

fn build_router(address: PageAddress, state: PageState) -> Router {
    let routes = shared_routes()
        .route("/api/pair", post(pairing::pair_page))
        .route("/api/chat", post(chat::send_request))
        .route("/api/chat/start", post(chat::start_runtime))
        .route("/api/chat/restart", post(chat::restart_runtime))
        .route("/api/chat/events", get(chat::stream_chat_events));
    guard_routes(routes, PageHosts::on_loopback(address.port())).with_state(state)
}

pub(crate) fn shared_routes() -> Router<PageState> {
    Router::new()
        .route("/", get(files::serve_index_page))
        .route("/ui/{*name}", get(files::serve_named_file))
        .route("/api/desk", post(desk_relay::relay_request))
        .route("/api/events", get(events::stream_desk_events))
}

/// Refuses what is not for these routes, or does not come from the page.
pub(crate) fn guard_routes(routes: Router<PageState>, hosts: PageHosts) -> Router<PageState> {
    let guard = middleware::from_fn_with_state(Arc::new(hosts), origin::guard_request);
    routes
        .method_not_allowed_fallback(|| async {
            HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "this method has no meaning here")
        })
        .fallback(|| async { HttpRefusal::new(StatusCode::NOT_FOUND, "there is nothing here") })
        // It comes last, because a layer guards only what was added before it, the fallbacks
        // included.
        .layer(guard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_passed_over() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let found = listen_on_free_port(port).unwrap().local_addr().unwrap();
        assert!(found.port() > port && found.port() < port.saturating_add(PORTS), "{found}");
        assert!(found.ip().is_loopback());
    }
}
