//! What `/proc` says about processes: the ground for leak checks and for killing whole groups.

use std::fs;

/// One process as `/proc/PID/stat` shows it.
#[derive(Clone, Debug)]
pub struct ProcessEntry {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    /// `Z` is a zombie: ended, and nobody has waited for it.
    pub state: char,
    /// Start time in clock ticks: with the pid it names a process for good.
    pub start: u64,
}

/// Returns all processes that can be seen now.
pub fn all() -> Vec<ProcessEntry> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

/// Reads one process; `None` if it is gone.
pub fn read(pid: u32) -> Option<ProcessEntry> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns true if the process is there and no zombie.
pub fn is_running(pid: u32) -> bool {
    read(pid).is_some_and(|process| process.state != 'Z')
}

/// Parses a line of `stat`. The program's name is in parentheses and may contain anything, so
/// fields count from the last parenthesis.
fn parse(pid: u32, stat: &str) -> Option<ProcessEntry> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_ascii_whitespace().collect();
    Some(ProcessEntry {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// Returns the arguments of a process joined by spaces; empty for a zombie.
pub fn command_line(pid: u32) -> String {
    zero_separated(&format!("/proc/{pid}/cmdline"))
}

/// Returns the environment a process was started with, joined by spaces.
pub fn environment(pid: u32) -> String {
    zero_separated(&format!("/proc/{pid}/environ"))
}

fn zero_separated(path: &str) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat = "7 (a) b (c) S 3 5 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let process = parse(7, stat).unwrap();
        assert_eq!((process.parent, process.group, process.state), (3, 5, 'S'));
        assert_eq!(process.start, 4242);
    }

    #[test]
    fn this_process_is_among_all() {
        assert!(all().iter().any(|process| process.pid == std::process::id()));
    }
}
