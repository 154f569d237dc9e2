//! Ends what a command has left behind: no longer below it nor in its group, but known by the mark
//! that it has inherited.

use std::fs;

use memchr::memmem::Finder;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The variable by which the descendants of a command are known.
pub(super) const MARK: &str = "CALLGATE_RUN";
/// How often they are looked for: one that was starting another meanwhile is found the next time.
const ROUNDS: usize = 3;

/// Ends all processes with this mark.
pub(super) fn end(mark: &str) {
    let entry = format!("{MARK}={mark}");
    let finder = Finder::new(&entry);
    for _ in 0..ROUNDS {
        let Ok(processes) = fs::read_dir("/proc") else { return };
        let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        if ids.filter(|id| end_if_marked(*id, &finder)).count() == 0 {
            return;
        }
    }
}

fn end_if_marked(id: i32, finder: &Finder<'_>) -> bool {
    let is_marked =
        || fs::read(format!("/proc/{id}/environ")).is_ok_and(|env| finder.find(&env).is_some());
    if !is_marked() {
        return false;
    }
    // Still marked once it is held: then it is the one that was meant.
    let held = Pid::from_raw(id).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    if let Some(held) = held.filter(|_| is_marked()) {
        // An error means that it has ended by itself.
        pidfd_send_signal(&held, Signal::KILL).ok();
    }
    true
}
