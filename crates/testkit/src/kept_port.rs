//! Ports that stay with a test while nothing listens on them.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// A port on loopback for a server that is started later, or started again: until this is dropped
/// the system gives the port to nobody who asks for any, also while nothing listens there.
///
/// The server has to allow that the address is in use (`SO_REUSEADDR`), as servers do that can be
/// restarted at once, among them all that use Rust's standard library.
#[derive(Debug)]
pub struct KeptPort {
    port: u16,
    /// Has the port, and never listens.
    _socket: OwnedFd,
}

impl KeptPort {
    #[must_use]
    pub fn choose() -> Self {
        let socket =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .expect("a socket");
        set_socket_reuseaddr(&socket, true).expect("an option that every socket has");
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = getsockname(&socket).expect("a bound socket has an address");
        let address = SocketAddrV4::try_from(address).expect("an address of its family");
        Self { port: address.port(), _socket: socket }
    }

    #[must_use]
    pub fn number(&self) -> u16 {
        self.port
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn servers_start_on_a_kept_port_again_and_again_and_it_is_never_free() {
        let kept = KeptPort::choose();
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, kept.number());
        for _ in 0..2 {
            let server = TcpListener::bind(address).unwrap();
            TcpStream::connect(address).unwrap();
            drop(server);
            // Whoever does not ask for a port that may be in use does not get it.
            let other =
                socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None);
            assert!(bind(other.unwrap(), &address).is_err(), "it is free");
        }
    }
}
