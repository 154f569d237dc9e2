//! A network that can be cut: a proxy on loopback between a desk and its server.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// What the network does with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkState {
    Open,
    /// Nothing arrives, and nobody is told.
    Cut,
    /// What the desk sends arrives, and what the server answers does not.
    LosesAnswers,
    /// The same from the next end of a transaction on, which the server still gets.
    LosesCommits,
}

#[derive(Default)]
struct Shared {
    connections: Vec<TcpStream>,
    is_closing: bool,
}

/// A proxy that forwards as its state says.
pub struct NetworkProxy {
    pub address: SocketAddr,
    /// The port to which new connections are forwarded.
    port: Arc<AtomicU16>,
    state: Arc<(Mutex<NetworkState>, Condvar)>,
    shared: Arc<Mutex<Shared>>,
}

impl NetworkProxy {
    pub fn start(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new((Mutex::new(NetworkState::Open), Condvar::new()));
        let shared = Arc::new(Mutex::new(Shared::default()));
        let port = Arc::new(AtomicU16::new(port));
        let (for_thread, all) = (Arc::clone(&state), Arc::clone(&shared));
        let server_port = Arc::clone(&port);
        thread::spawn(move || {
            for desk in listener.incoming() {
                let desk = desk.unwrap();
                if all.lock().unwrap().is_closing {
                    return;
                }
                // While the network is cut, connections wait like everything else.
                let server = ("127.0.0.1", server_port.load(Ordering::Relaxed));
                let Ok(server) = TcpStream::connect(server) else { continue };
                let ends = [&desk, &server].map(|end| end.try_clone().unwrap());
                all.lock().unwrap().connections.extend(ends);
                forward(&desk, &server, &for_thread, |state| state != NetworkState::Cut);
                forward(&server, &desk, &for_thread, |state| {
                    matches!(state, NetworkState::Open | NetworkState::LosesCommits)
                });
            }
        });
        Self { address, port, state, shared }
    }

    /// Has new connections go to another server, as a load balancer does.
    pub fn forward_to(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }

    pub fn set(&self, state: NetworkState) {
        *self.state.0.lock().unwrap() = state;
        self.state.1.notify_all();
    }

    /// Closes all connections.
    pub fn drop_connections(&self) {
        for connection in self.shared.lock().unwrap().connections.drain(..) {
            connection.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Drop for NetworkProxy {
    fn drop(&mut self) {
        self.shared.lock().unwrap().is_closing = true;
        self.set(NetworkState::Open);
        self.drop_connections();
        TcpStream::connect(self.address).ok();
    }
}

/// Copies bytes while `passes` says so. Bytes that may not pass wait until they may.
fn forward(
    from: &TcpStream,
    to: &TcpStream,
    state: &Arc<(Mutex<NetworkState>, Condvar)>,
    passes: fn(NetworkState) -> bool,
) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let state = Arc::clone(state);
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let (state, changed) = &*state;
            let open = changed.wait_while(state.lock().unwrap(), |state| !passes(*state));
            let mut open = open.unwrap();
            let is_end = buffer[..count].windows(6).any(|word| word == b"COMMIT");
            if *open == NetworkState::LosesCommits && is_end {
                // Before the server can answer.
                *open = NetworkState::LosesAnswers;
            }
            drop(open);
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        to.shutdown(Shutdown::Both).ok();
    });
}
