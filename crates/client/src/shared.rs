//! The state that the handles of a client share with its task.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::core::{ClientCore, CoreInput, CoreOutput, OVERHEAD};
use crate::event::{PassedOver, RuntimeState, WatchedEvent, WatchedItem};
use crate::outbox::{LineOutbox, OutgoingLine};
use crate::queue::EventQueue;
use crate::ring::{EventRing, WatchStart};
use crate::settings::{MOST_OTHER_REQUESTS, MOST_TURNS, MOST_UNSENT};
use crate::{ClientError, ClientSettings};

#[derive(Debug)]
pub(crate) struct ClientShared {
    inner: Mutex<ClientInner>,
    begin: Instant,
    /// Notified when the task has something to do.
    pub(crate) work: Arc<Notify>,
    /// The number of the last item for watchers.
    seen: watch::Sender<u64>,
    passed_over: watch::Sender<PassedOver>,
    pub(crate) unread: Arc<AtomicUsize>,
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) other_requests: Arc<Semaphore>,
    pub(crate) unsent: Arc<Semaphore>,
    pub(crate) settings: ClientSettings,
}

/// A handle that keeps the process alive.
#[derive(Debug)]
pub(crate) struct ClientHandle {
    pub(crate) shared: Arc<ClientShared>,
    pub(crate) name: String,
    pub(crate) requests: AtomicU64,
}

impl Drop for ClientHandle {
    fn drop(&mut self) {
        self.shared.handle_and_wake(CoreInput::Leave);
    }
}

#[derive(Debug)]
struct ClientInner {
    core: ClientCore,
    ring: EventRing,
    outbox: LineOutbox,
    /// The queues of the requests that somebody reads.
    queues: HashMap<Arc<str>, Arc<EventQueue>>,
    rooms: HashMap<Arc<str>, RequestPermits>,
    orders: PumpOrders,
    seen: u64,
}

/// The permits of a request, until it is written and until it ends.
#[derive(Debug)]
pub(crate) struct RequestPermits {
    pub(crate) unsent: Option<OwnedSemaphorePermit>,
    pub(crate) _open: OwnedSemaphorePermit,
}

/// What the task has to do with the process.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct PumpOrders {
    pub(crate) start: bool,
    pub(crate) end: bool,
    pub(crate) is_over: bool,
}

impl ClientShared {
    pub(crate) fn new(settings: ClientSettings, name: String) -> Self {
        let inner = ClientInner {
            core: ClientCore::new(settings.clone(), name),
            ring: EventRing::new(settings.kept),
            outbox: LineOutbox::default(),
            queues: HashMap::new(),
            rooms: HashMap::new(),
            orders: PumpOrders::default(),
            seen: 0,
        };
        Self {
            inner: Mutex::new(inner),
            begin: Instant::now(),
            work: Arc::default(),
            seen: watch::Sender::new(0),
            passed_over: watch::Sender::default(),
            unread: Arc::default(),
            turns: Arc::new(Semaphore::new(MOST_TURNS)),
            other_requests: Arc::new(Semaphore::new(MOST_OTHER_REQUESTS)),
            unsent: Arc::new(Semaphore::new(MOST_UNSENT)),
            settings,
        }
    }

    /// Passes an input to the core, and carries out its outputs.
    pub(crate) fn handle_input(&self, input: CoreInput<'_>) {
        let mut inner = lock(&self.inner);
        let now = self.begin.elapsed();
        // Under the same lock: outputs are carried out in the order in which the core has made
        // them.
        for output in inner.core.handle_input(now, input) {
            inner.apply_output(output);
        }
        let (seen, passed_over) = (inner.seen, inner.core.passed_over);
        // Whoever is woken by what follows looks at this state at once.
        drop(inner);
        self.passed_over
            .send_if_modified(|last| std::mem::replace(last, passed_over) != passed_over);
        self.seen.send_if_modified(|last| std::mem::replace(last, seen) != seen);
    }

    /// Like [`handle_input`](Self::handle_input), and wakes the task.
    pub(crate) fn handle_and_wake(&self, input: CoreInput<'_>) {
        self.handle_input(input);
        self.work.notify_one();
    }

    pub(crate) fn send(
        &self,
        request: session::SessionRequest,
        line: Vec<u8>,
        rooms: RequestPermits,
    ) {
        // Before the core learns of the request: it may end at once, and permits that are added
        // after the end would never be released.
        lock(&self.inner).rooms.insert(Arc::from(request.id.as_str()), rooms);
        self.handle_and_wake(CoreInput::Ask { request: Arc::new(request), line });
    }

    pub(crate) fn new_queue(&self, id: &Arc<str>) -> Arc<EventQueue> {
        let queue = Arc::new(EventQueue::new(Arc::clone(&self.work), Arc::clone(&self.unread)));
        lock(&self.inner).queues.insert(Arc::clone(id), Arc::clone(&queue));
        queue
    }

    /// Removes the queue of a request that nobody reads.
    pub(crate) fn leave_queue(&self, id: &str) {
        if let Some(queue) = lock(&self.inner).queues.remove(id) {
            queue.mark_left();
        }
    }

    pub(crate) fn state(&self) -> RuntimeState {
        lock(&self.inner).core.state.clone()
    }

    pub(crate) fn passed_over_updates(&self) -> watch::Receiver<PassedOver> {
        self.passed_over.subscribe()
    }

    pub(crate) fn take_orders(&self) -> PumpOrders {
        let mut inner = lock(&self.inner);
        let orders = inner.orders;
        // The end of the session is not carried out once like the other orders: the task asks for
        // it each time.
        inner.orders = PumpOrders { is_over: orders.is_over, ..PumpOrders::default() };
        orders
    }

    pub(crate) fn next_line(&self) -> Option<OutgoingLine> {
        lock(&self.inner).outbox.pop()
    }

    /// Returns when the next tick is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let deadline = lock(&self.inner).core.deadline()?;
        self.begin.checked_add(deadline)
    }

    /// Returns true if too much is unread. Once it is, half of it has to be read.
    pub(crate) fn is_crowded(&self, was_crowded: bool) -> bool {
        // With one mark, reading would stop and go on with every event.
        let most = self.settings.unread / if was_crowded { 2 } else { 1 };
        // Relaxed, because an estimate is enough here: a look that is too early is made up for by
        // the next event.
        let in_all = self.unread.load(Ordering::Relaxed);
        // No queue holds more than all do.
        in_all > most.saturating_mul(4)
            || (in_all > most
                && lock(&self.inner).queues.values().any(|queue| queue.bytes() > most))
    }

    /// Fails the requests with the most unread events until there is room.
    pub(crate) fn end_slow(&self) {
        while self.is_crowded(true) {
            // Copied, because the core needs the lock in this loop.
            let queues = lock(&self.inner).queues.clone();
            let Some((id, queue)) = queues.iter().max_by_key(|(_, queue)| queue.bytes()) else {
                return;
            };
            // Before the core fails the request: what the queue then gets comes after its end, and
            // is dropped.
            queue.give_up(ClientError::NotRead { after: self.settings.patience });
            self.handle_input(CoreInput::NotRead { id });
        }
    }

    /// Returns the first number for a watcher, and the receiver of new numbers.
    pub(crate) fn start_watch(&self, since: WatchStart) -> (u64, watch::Receiver<u64>) {
        (lock(&self.inner).ring.start_number(since), self.seen.subscribe())
    }

    /// Returns the item with the number `wanted`, and whether more may follow.
    pub(crate) fn find_item(&self, wanted: u64) -> (Option<WatchedEvent>, bool) {
        // Under one lock: between two looks the session could end with a last item, which the
        // watcher would miss.
        let inner = lock(&self.inner);
        (inner.ring.get(wanted), !inner.orders.is_over)
    }

    /// Ends everything when the task is gone, so that nobody is left waiting.
    pub(crate) fn abandon(&self) {
        // Whatever state the core is in, one of these three ends it.
        self.handle_input(CoreInput::Leave);
        // The thread of the process ends it, should it still run.
        self.handle_input(CoreInput::Exited { status: None, last_words: None });
        self.handle_input(CoreInput::NotStarted { reason: "the session is closed".to_owned() });
    }
}

impl ClientInner {
    fn apply_output(&mut self, output: CoreOutput) {
        match output {
            CoreOutput::Start => self.orders.start = true,
            CoreOutput::End => {
                self.orders.end = true;
                // These requests have failed together with the process, and dropping the lines
                // releases their permits.
                self.outbox.clear();
            }
            CoreOutput::Over => self.orders.is_over = true,
            CoreOutput::Write { line, of } => {
                let rooms = of.as_ref().and_then(|id| self.rooms.get_mut(id));
                self.outbox.push(line, of, rooms.and_then(|rooms| rooms.unsent.take()));
            }
            CoreOutput::Withdraw { id } => self.outbox.withdraw(&id),
            CoreOutput::Seen { what, size } => self.add_watched_item(what, size),
            CoreOutput::Happened { id, happened, size } => {
                if happened.is_end() {
                    self.rooms.remove(&id);
                }
                if let Some(queue) = self.queues.get(&id) {
                    queue.push(happened.clone(), size);
                }
                self.add_watched_item(WatchedItem::Happened { id, happened }, size.max(OVERHEAD));
            }
        }
    }

    fn add_watched_item(&mut self, what: WatchedItem, size: usize) {
        self.ring.push(self.core.epoch, what, size);
        self.seen += 1;
    }
}
