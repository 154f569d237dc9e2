//! Runs a measurement on one processor.

use std::fs;

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// Runs `work` with every thread of this process, and every process that is started meanwhile, on
/// one processor. Waking a thread there costs little, while between processors it costs as much as
/// the kernel and the machine happen to need, up to several times the work that is measured.
pub(crate) fn on_one_processor<T>(work: impl FnOnce() -> T) -> T {
    let all = sched_getaffinity(None).expect("the kernel tells the processors");
    let first = (0..CpuSet::MAX_CPU).find(|place| all.is_set(*place)).expect("there is one");
    let mut one = CpuSet::new();
    one.set(first);
    bind(&one);
    let outcome = work();
    bind(&all);
    outcome
}

fn bind(processors: &CpuSet) {
    for thread in fs::read_dir("/proc/self/task").expect("Linux lists the threads") {
        let name = thread.expect("a thread has a name").file_name();
        let id = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        // A thread that has ended meanwhile needs no processor.
        sched_setaffinity(id, processors).ok();
    }
}
