//! Ends every child if the benchmark takes too long, so that whoever waits for one sees its end.

use std::process::Child;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

type Children = Mutex<Vec<Weak<Mutex<Child>>>>;

/// Acts once, unless it is dropped before.
pub(crate) struct Watchdog {
    children: Arc<Children>,
    _ended: Sender<()>,
}

impl Watchdog {
    pub(crate) fn start(limit: Duration) -> Self {
        let children = Arc::new(Children::default());
        let (ended, end) = channel::<()>();
        let watched = Arc::clone(&children);
        thread::spawn(move || {
            if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                println!("the benchmark was stopped: it took longer than {limit:?}");
                end_all(&watched);
            }
        });
        Self { children, _ended: ended }
    }

    pub(crate) fn watch(&self, child: &Arc<Mutex<Child>>) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(child));
    }
}

fn end_all(children: &Children) {
    let children = children.lock().unwrap_or_else(PoisonError::into_inner);
    for child in children.iter().filter_map(Weak::upgrade) {
        child.lock().unwrap_or_else(PoisonError::into_inner).kill().ok();
    }
}
