//! A limit on the number of connections. When it is reached, the oldest connection has to go, so
//! that nobody keeps others waiting by doing nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

/// How long a connection keeps its seat at least.
const STAY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Room {
    most: usize,
    seats: Mutex<RoomSeats>,
    left: Notify,
}

#[derive(Debug, Default)]
struct RoomSeats {
    next: u64,
    /// The taken seats, the oldest first.
    taken: BTreeMap<u64, TakenSeat>,
}

#[derive(Debug)]
struct TakenSeat {
    since: Instant,
    /// Dropping it tells the connection to go.
    _stays: oneshot::Sender<()>,
}

/// A seat, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct RoomSeat {
    room: Arc<Room>,
    number: u64,
    stays: oneshot::Receiver<()>,
}

impl Room {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, seats: Mutex::default(), left: Notify::new() })
    }

    /// Takes a seat. While all are taken, waits until one is free or the oldest may be cleared.
    pub(super) async fn enter(self: &Arc<Self>) -> RoomSeat {
        loop {
            let left = self.left.notified();
            tokio::pin!(left);
            // From here on, no departure is missed.
            left.as_mut().enable();
            let oldest = match self.try_enter() {
                Ok(seat) => return seat,
                Err(oldest) => oldest,
            };
            tokio::select! {
                () = left => {}
                () = sleep_until(oldest + STAY) => self.clear_oldest(),
            }
        }
    }

    /// Takes a seat, or returns when the oldest one was taken.
    fn try_enter(self: &Arc<Self>) -> Result<RoomSeat, Instant> {
        let mut seats = lock(&self.seats);
        if seats.taken.len() >= self.most
            && let Some((_, oldest)) = seats.taken.first_key_value()
        {
            return Err(oldest.since);
        }
        let (sender, stays) = oneshot::channel();
        let number = seats.next;
        seats.next += 1;
        seats.taken.insert(number, TakenSeat { since: Instant::now(), _stays: sender });
        Ok(RoomSeat { room: Arc::clone(self), number, stays })
    }

    pub(super) fn clear_oldest(&self) {
        drop(lock(&self.seats).taken.pop_first());
    }
}

impl RoomSeat {
    pub(super) async fn wait_until_cleared(&mut self) {
        // Nothing is ever sent: the end of the channel is the signal.
        let _ = (&mut self.stays).await;
    }
}

impl Drop for RoomSeat {
    fn drop(&mut self) {
        lock(&self.room.seats).taken.remove(&self.number);
        self.room.left.notify_one();
    }
}

#[cfg(test)]
mod tests;
