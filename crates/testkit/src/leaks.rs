//! Checks that a test leaves nothing behind: no files, no processes; and what a process holds
//! while it runs: descriptors and memory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::proc::{self, ProcessEntry};
use crate::process::DEADLINE;

/// Remembers what was there at the start, and fails at the end if there is more.
///
/// Make it before everything else in the test: it then checks when it is dropped, after all that
/// the test started is dropped. [`Leaks::check`] does it earlier.
///
/// ```
/// use callgate_testkit::leaks::Leaks;
///
/// let folder = tempfile::tempdir().unwrap();
/// let leaks = Leaks::watch(folder.path(), &["callgate-"]).marker(folder.path().to_str().unwrap());
/// // … run the program under test in `folder` …
/// leaks.check();
/// ```
#[derive(Debug)]
pub struct Leaks {
    folder: PathBuf,
    prefixes: Vec<String>,
    files: BTreeSet<PathBuf>,
    markers: Vec<String>,
    descendants: bool,
    processes: BTreeSet<(u32, u64)>,
    deadline: Duration,
    armed: bool,
}

impl Leaks {
    /// Watches the entries of `folder` whose names start with one of `prefixes`; the prefix `""`
    /// stands for all.
    #[must_use]
    pub fn watch(folder: impl AsRef<Path>, prefixes: &[&str]) -> Self {
        let folder = folder.as_ref().to_owned();
        let prefixes: Vec<String> = prefixes.iter().map(ToString::to_string).collect();
        Self {
            files: entries(&folder, &prefixes),
            folder,
            prefixes,
            markers: Vec::new(),
            descendants: false,
            processes: proc::all().iter().map(|process| (process.pid, process.start)).collect(),
            deadline: DEADLINE,
            armed: true,
        }
    }

    /// Watches all processes with `text` in their arguments or environment, whoever started
    /// them: the path of the test's own temporary folder is a good one.
    #[must_use]
    pub fn marker(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        assert!(!text.is_empty(), "an empty marker is in every process");
        self.markers.push(text);
        self
    }

    /// Watches all descendants of the test process, zombies included. For a test that runs alone
    /// in its process: the children of a test in another thread would count.
    #[must_use]
    pub fn descendants(mut self) -> Self {
        self.descendants = true;
        self
    }

    /// Sets how long what is on its way out may take.
    #[must_use]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// Waits until nothing new is left and fails with a list if that does not happen in time.
    pub fn check(mut self) {
        self.assert_clean();
    }

    /// Returns what is there now that was not there at the start, one line each.
    pub fn left(&self) -> Vec<String> {
        let now = entries(&self.folder, &self.prefixes);
        let files = now.difference(&self.files).map(|path| format!("file {}", path.display()));
        let all = proc::all();
        let processes = all.iter().filter(|process| self.counts(process, &all));
        files.chain(processes.map(describe)).collect()
    }

    fn assert_clean(&mut self) {
        self.armed = false;
        let end = Instant::now() + self.deadline;
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "left behind:\n  {}", left.join("\n  "));
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn counts(&self, process: &ProcessEntry, all: &[ProcessEntry]) -> bool {
        let own = std::process::id();
        if process.pid == own || self.processes.contains(&(process.pid, process.start)) {
            return false;
        }
        (self.descendants && descends_from(process, own, all)) || self.is_marked(process.pid)
    }

    fn is_marked(&self, pid: u32) -> bool {
        if self.markers.is_empty() {
            return false;
        }
        let text = format!("{} {}", proc::command_line(pid), proc::environment(pid));
        self.markers.iter().any(|marker| text.contains(marker))
    }
}

impl Drop for Leaks {
    fn drop(&mut self) {
        if self.armed && !thread::panicking() {
            self.assert_clean();
        }
    }
}

fn entries(folder: &Path, prefixes: &[String]) -> BTreeSet<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else { return BTreeSet::new() };
    let matches = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    found.flatten().map(|entry| entry.path()).filter(matches).collect()
}

pub(crate) fn descends_from(process: &ProcessEntry, ancestor: u32, all: &[ProcessEntry]) -> bool {
    let mut parent = process.parent;
    // A tree is no deeper than its number of nodes; the count ends a loop made by reused ids.
    for _ in all {
        if parent == ancestor {
            return true;
        }
        let Some(next) = all.iter().find(|other| other.pid == parent) else { return false };
        parent = next.parent;
    }
    false
}

fn describe(process: &ProcessEntry) -> String {
    let ProcessEntry { pid, parent, state, .. } = process;
    format!("process {pid} (parent {parent}, {state}) {}", proc::command_line(*pid))
}

/// Returns how many file descriptors a process has open.
pub fn open_descriptors(pid: u32) -> usize {
    let path = format!("/proc/{pid}/fd");
    fs::read_dir(&path).unwrap_or_else(|error| panic!("cannot read {path}: {error}")).count()
}

/// Returns the memory of a process that is in RAM now, in KiB.
pub fn resident_kib(pid: u32) -> u64 {
    status_kib(pid, "VmRSS:")
}

/// Returns the most memory that a process ever had in RAM, in KiB.
pub fn peak_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM:")
}

/// Returns a field of `/proc/PID/status` that counts memory, such as `VmRSS:`, in KiB.
pub fn status_kib(pid: u32, field: &str) -> u64 {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let line = line.unwrap_or_else(|| panic!("{path} has no {field}; has the process ended?"));
    line.trim().trim_end_matches(" kB").parse().expect("a number of kB")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::process::Group;

    fn sleeper(marker: &str) -> Group {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec sleep 1000"]).env("MARK", marker).stdin(Stdio::null());
        Group::spawn(command)
    }

    fn soon(leaks: Leaks) -> Leaks {
        leaks.deadline(Duration::from_millis(50))
    }

    fn panic_text(action: impl FnOnce()) -> String {
        let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action)).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap()
    }

    #[test]
    fn files_count_by_prefix_and_only_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("callgate-old"), "").unwrap();
        let leaks = soon(Leaks::watch(folder.path(), &["callgate-"]));
        fs::write(folder.path().join("other"), "").unwrap();
        assert_eq!(leaks.left(), Vec::<String>::new());
        fs::write(folder.path().join("callgate-new"), "").unwrap();
        let text = panic_text(|| leaks.check());
        assert!(text.contains("callgate-new") && !text.contains("callgate-old"), "{text}");
    }

    #[test]
    fn a_marked_process_counts_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().to_str().unwrap();
        let leaks = Leaks::watch(folder.path(), &[""]).marker(marker);
        let child = sleeper(marker);
        while proc::command_line(child.pid()) != "sleep 1000" {
            thread::sleep(Duration::from_millis(2));
        }
        assert!(leaks.left()[0].contains("sleep 1000"), "{:?}", leaks.left());
        drop(child);
        leaks.check();
    }

    #[test]
    fn a_descendant_counts_without_a_marker() {
        let child = sleeper("none");
        let all = proc::all();
        let found = all.iter().find(|process| process.pid == child.pid()).unwrap();
        assert!(descends_from(found, std::process::id(), &all));
        assert!(!descends_from(found, u32::MAX, &all));
    }

    #[test]
    fn dropping_checks_too() {
        let folder = tempfile::tempdir().unwrap();
        let text = panic_text(|| {
            let _leaks = soon(Leaks::watch(folder.path(), &[""]));
            fs::write(folder.path().join("left"), "").unwrap();
        });
        assert!(text.contains("left behind"), "{text}");
    }

    #[test]
    fn descriptors_and_memory_of_this_process() {
        let own = std::process::id();
        assert!(open_descriptors(own) >= 3);
        assert!(resident_kib(own) > 0 && peak_kib(own) >= resident_kib(own) / 2);
    }
}
