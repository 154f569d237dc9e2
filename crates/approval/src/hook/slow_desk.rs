//! Decides by the rules alone while a desk accepts connections and reads no questions.
//!
//! A desk that was stopped, or whose machine is busy, keeps its socket. The rules that it would
//! apply are in files, which the hook can read: the answer is the same. They are read on another
//! thread, because a disk may not respond, and the desk has a time limit for that.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_link::sync::lock;
use callgate_wire::approval::ApprovalResponse;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::write;

/// Decides about one check by the rules alone. Returns `None` if they neither allow nor deny it.
pub type RulesOnly = Box<dyn FnOnce() -> Option<ApprovalResponse> + Send>;

/// The decision of the rules, once there is one.
pub(super) struct SlowDesk(Arc<RulesDecision>);

struct RulesDecision {
    /// Becomes readable when there is a decision.
    made: OwnedFd,
    response: Mutex<Option<ApprovalResponse>>,
}

impl SlowDesk {
    pub(super) fn new() -> io::Result<Self> {
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(RulesDecision { made, response: Mutex::new(None) })))
    }

    /// Begins to decide. The thread is not waited for.
    pub(super) fn start_deciding(&self, rules: RulesOnly) {
        let decision = Arc::clone(&self.0);
        let work = move || {
            if let Some(response) = rules() {
                *lock(&decision.response) = Some(response);
                // After the response is in its place, which the other thread takes as soon as it is
                // woken.
                write(&decision.made, &1_u64.to_ne_bytes()).ok();
            }
        };
        // Without a thread the desk is waited for, as if the rules did not decide.
        thread::Builder::new().name("rules".to_owned()).spawn(work).ok();
    }

    pub(super) fn take_decision(&self) -> Option<ApprovalResponse> {
        lock(&self.0.response).take()
    }
}

impl AsFd for SlowDesk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.made.as_fd()
    }
}
