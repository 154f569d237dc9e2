//! The connections of browsers: how many there may be, and how each is served.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use callgate_link::sync::lock;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::page_limits::PageLimits;
use crate::patience::PatientStream;
use crate::tls_door::TlsDoor;

/// How long to wait when the system has no descriptor for one more connection.
const NO_DESCRIPTOR: Duration = Duration::from_millis(100);
/// The most bytes of a request before its body.
const LONGEST_HEAD: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct BrowserConnections {
    most: usize,
    seats: Mutex<BrowserSeats>,
}

#[derive(Debug, Default)]
struct BrowserSeats {
    next: u64,
    /// The taken seats, the oldest first.
    taken: BTreeMap<u64, (BrowserSeat, oneshot::Sender<()>)>,
}

/// The place of one connection. It is an extension of each request on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct BrowserSeat {
    has_key: Arc<AtomicBool>,
}

impl BrowserSeat {
    /// Notes that a request on this connection had the key of a session. The connection does not
    /// have to make room for others any more.
    pub(crate) fn has_shown_key(&self) {
        self.has_key.store(true, Ordering::Relaxed);
    }
}

/// A taken seat, which is free again when this is dropped.
struct SeatHolder {
    connections: Arc<BrowserConnections>,
    number: u64,
    seat: BrowserSeat,
    /// Ends when the connection has to make room.
    stays: oneshot::Receiver<()>,
}

impl BrowserConnections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, seats: Mutex::default() })
    }

    /// Accepts connections until the task is dropped, which ends them. With a door, they speak TLS.
    pub(crate) async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        door: Option<Arc<TlsDoor>>,
        app: Router,
        limits: PageLimits,
    ) {
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => if let Some(holder) = self.take_seat() {
                        let visit = BrowserVisit { app: app.clone(), limits };
                        tasks.spawn(visit.serve(stream, door.clone(), holder));
                    },
                    // The connection stays in the queue: without a pause this would spin until a
                    // descriptor is free.
                    Err(_) => sleep(NO_DESCRIPTOR).await,
                },
                // Without this, the set would keep every connection that has ended.
                Some(_) = tasks.join_next() => {}
            }
        }
    }

    /// Takes a seat. If all are taken, the oldest connection without a key has to go. Returns
    /// `None` if all have one.
    fn take_seat(self: &Arc<Self>) -> Option<SeatHolder> {
        let mut seats = lock(&self.seats);
        if seats.taken.len() >= self.most {
            let is_stranger = |seat: &BrowserSeat| !seat.has_key.load(Ordering::Relaxed);
            let oldest = seats.taken.iter().find(|(_, (seat, _))| is_stranger(seat));
            let oldest = oldest.map(|(number, _)| *number)?;
            // Dropping its sender is what ends the connection.
            seats.taken.remove(&oldest);
        }
        let number = seats.next;
        seats.next += 1;
        let (seat, (stay, stays)) = (BrowserSeat::default(), oneshot::channel());
        seats.taken.insert(number, (seat.clone(), stay));
        Some(SeatHolder { connections: Arc::clone(self), number, seat, stays })
    }
}

impl Drop for SeatHolder {
    fn drop(&mut self) {
        lock(&self.connections.seats).taken.remove(&self.number);
    }
}

/// One connection, and what serves it.
struct BrowserVisit {
    app: Router,
    limits: PageLimits,
}

impl BrowserVisit {
    async fn serve(self, stream: TcpStream, door: Option<Arc<TlsDoor>>, mut holder: SeatHolder) {
        let seat = holder.seat.clone();
        // Small answers follow one another here. With Nagle's algorithm the second waits until the
        // other end acknowledges the first, which takes it 40 ms. Without this it is only slower.
        stream.set_nodelay(true).ok();
        let serving = async {
            match door {
                None => self.serve_stream(stream, seat).await,
                // A handshake that fails or takes too long concerns nobody but the other end.
                Some(door) => {
                    let opened = timeout(self.limits.head_within, door.open(stream)).await;
                    if let Ok(Ok(stream)) = opened {
                        self.serve_stream(stream, seat).await;
                    }
                }
            }
        };
        tokio::select! {
            () = serving => {}
            // Nothing is ever sent: the end of the channel is the signal.
            _ = &mut holder.stays => {}
        }
    }

    async fn serve_stream(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        seat: BrowserSeat,
    ) {
        let app = TowerToHyperService::new(self.app);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(seat.clone());
            app.call(request)
        });
        let stream = TokioIo::new(PatientStream::new(stream, self.limits.read_within));
        // An upgrade to a line of a machine ends this future, so a line takes no seat: lines have a
        // limit of their own.
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // This is also how long an idle connection stays.
            .header_read_timeout(self.limits.head_within)
            .max_header_size(LONGEST_HEAD)
            .serve_connection(stream, service)
            .with_upgrades();
        // A connection that fails concerns nobody but its browser.
        connection.await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_without_a_key_makes_room() {
        let connections = BrowserConnections::new(2);
        let page = connections.take_seat().unwrap();
        page.seat.has_shown_key();
        let mut stranger = connections.take_seat().unwrap();
        let next = connections.take_seat().unwrap();
        assert!((&mut stranger.stays).await.is_err(), "it has to go");
        // It is gone already, so its end frees no seat of another.
        drop(stranger);
        next.seat.has_shown_key();
        assert!(connections.take_seat().is_none(), "those with a key stay");
        drop(page);
        assert!(connections.take_seat().is_some());
    }
}
