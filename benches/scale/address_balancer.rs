//! One address before several desks: each connection goes to the next desk, as with a load balancer
//! that looks at TCP alone.

use std::net::SocketAddr;
use std::thread;

use tokio::net::{TcpListener, TcpStream};

/// The name of the thread, by which its processor time is told apart.
pub(crate) const THREAD: &str = "balancer";

/// Forwards connections on a thread of its own, until the process ends. Returns its address.
pub(crate) fn balance(desks: Vec<SocketAddr>) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let forward_all = async move {
        let listener = TcpListener::from_std(listener).unwrap();
        for desk in desks.iter().cycle() {
            let (near, _) = listener.accept().await.unwrap();
            tokio::spawn(forward(near, *desk));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let serve = move || runtime.block_on(forward_all);
    thread::Builder::new().name(THREAD.to_owned()).spawn(serve).unwrap();
    address
}

async fn forward(mut near: TcpStream, desk: SocketAddr) {
    let Ok(mut far) = TcpStream::connect(desk).await else { return };
    near.set_nodelay(true).unwrap();
    far.set_nodelay(true).unwrap();
    // An end that is closed is the end of a connection.
    tokio::io::copy_bidirectional(&mut near, &mut far).await.ok();
}
