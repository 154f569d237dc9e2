//! The connections of browsers: how many there may be, and how each is served.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use callgate_link::sync::lock;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::patience::PatientStream;
use crate::state::PageLimits;

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

    /// Accepts connections until the task is dropped, which ends them.
    pub(crate) async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        app: Router,
        limits: PageLimits,
    ) {
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => if let Some(holder) = self.take_seat() {
                        tasks.spawn(serve_one(stream, holder, app.clone(), limits));
                    },
                    Err(_) => sleep(NO_DESCRIPTOR).await,
                },
                Some(_) = tasks.join_next() => {}
            }
        }
    }

    /// Takes a seat. If all are taken, the oldest connection without a key has to go. Returns
    /// `None` if all have one.
    fn take_seat(self: &Arc<Self>) -> Option<SeatHolder> {
        let mut seats = self.seats();
        if seats.taken.len() >= self.most {
            let is_stranger = |seat: &BrowserSeat| !seat.has_key.load(Ordering::Relaxed);
            let oldest = seats.taken.iter().find(|(_, (seat, _))| is_stranger(seat));
            let oldest = oldest.map(|(number, _)| *number)?;
            seats.taken.remove(&oldest);
        }
        let number = seats.next;
        seats.next += 1;
        let (seat, (stay, stays)) = (BrowserSeat::default(), oneshot::channel());
        seats.taken.insert(number, (seat.clone(), stay));
        Some(SeatHolder { connections: Arc::clone(self), number, seat, stays })
    }

    fn seats(&self) -> MutexGuard<'_, BrowserSeats> {
        lock(&self.seats)
    }
}

impl Drop for SeatHolder {
    fn drop(&mut self) {
        self.connections.seats().taken.remove(&self.number);
    }
}

async fn serve_one(stream: TcpStream, mut holder: SeatHolder, app: Router, limits: PageLimits) {
    let seat = holder.seat.clone();
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(seat.clone());
        app.call(request)
    });
    let stream = TokioIo::new(PatientStream::new(stream, limits.read_within));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // This is also how long an idle connection stays.
        .header_read_timeout(limits.head_within)
        .max_header_size(LONGEST_HEAD)
        .serve_connection(stream, service);
    tokio::select! {
        // A connection that fails concerns nobody but its browser.
        _ = connection => {}
        // Nothing is ever sent: the end of the channel is the signal.
        _ = &mut holder.stays => {}
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
