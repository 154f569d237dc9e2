//! What the kernel reports about the processes of the site: processor time and memory.

use std::fs;
use std::time::Instant;

use callgate_testkit::proc;

use crate::address_balancer;

/// Who uses the machine.
pub(crate) const PARTIES: [&str; 6] =
    ["desk-1", "desk-2", "PostgreSQL", "balancer", "generator", "the whole machine"];

/// How many ticks the kernel counts in a second of a processor, for programs.
const TICKS: f64 = 100.0;

/// The processes that are measured beside this one.
pub(crate) struct MeasuredProcesses {
    pub(crate) desks: [u32; 2],
    pub(crate) server: u32,
}

/// The processor time that every party has used, at one moment.
pub(crate) struct ProcessorUse {
    at: Instant,
    ticks: [f64; 6],
}

impl ProcessorUse {
    pub(crate) fn read(of: &MeasuredProcesses) -> Self {
        let [one, other] = of.desks.map(|desk| ticks_of(&format!("/proc/{desk}/stat"), 2));
        // Sessions that have ended are children for whom the server has waited.
        let sessions: f64 = sessions_of(of.server)
            .into_iter()
            .map(|pid| ticks_of(&format!("/proc/{pid}/stat"), 2))
            .sum();
        let server = sessions + ticks_of(&format!("/proc/{}/stat", of.server), 4);
        let balancer = ticks_of_thread(address_balancer::THREAD);
        let generator = ticks_of("/proc/self/stat", 2) - balancer;
        Self { at: Instant::now(), ticks: [one, other, server, balancer, generator, busy_ticks()] }
    }

    /// Returns the share of one processor that every party has used since `before`, in per cent.
    pub(crate) fn since(&self, before: &Self) -> [f64; 6] {
        let available = (self.at - before.at).as_secs_f64() * TICKS;
        std::array::from_fn(|party| {
            (self.ticks[party] - before.ticks[party]).max(0.0) / available * 100.0
        })
    }
}

/// Returns the processes whose parent is the server.
fn sessions_of(server: u32) -> Vec<u32> {
    let is_session = |process: &proc::ProcessEntry| process.parent == server;
    proc::all().into_iter().filter(is_session).map(|process| process.pid).collect()
}

/// Returns the sum of the first fields of processor time: of the user and of the kernel, and of the
/// children that have ended. A process that has ended has none.
fn ticks_of(path: &str, fields: usize) -> f64 {
    let stat = fs::read_to_string(path).unwrap_or_default();
    let after_name = stat.rfind(')').map_or("", |end| &stat[end + 1..]);
    let times = after_name.split_ascii_whitespace().skip(11).take(fields);
    times.filter_map(|field| field.parse::<f64>().ok()).sum()
}

fn ticks_of_thread(name: &str) -> f64 {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let is_it = |path: &std::path::PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim() == name)
    };
    let mut found = threads.map(|thread| thread.path()).filter(is_it);
    found.next().map_or(0.0, |path| ticks_of(&path.join("stat").display().to_string(), 2))
}

/// Returns the time for which the processors of the machine were busy.
fn busy_ticks() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap();
    let line = stat.lines().next().unwrap();
    let times = line.split_ascii_whitespace().skip(1).map(|field| field.parse::<f64>().unwrap());
    // user, nice, system, idle, iowait, irq, softirq
    times
        .take(7)
        .enumerate()
        .filter(|(field, _)| !matches!(field, 3 | 4))
        .map(|(_, time)| time)
        .sum()
}

/// Returns the memory of the server in megabytes: what its processes share is counted once.
pub(crate) fn server_memory(server: u32) -> f64 {
    let share_of = |pid: u32| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find(|line| line.starts_with("Pss:")).unwrap_or_default();
        let kib = line.split_ascii_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok());
        kib.unwrap_or_default() * 1024.0 / 1e6
    };
    sessions_of(server).into_iter().chain([server]).map(share_of).sum()
}
