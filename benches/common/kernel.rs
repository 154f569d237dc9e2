//! What the kernel reports about a process: its memory and its processor time.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Returns a number of `/proc/PID/status`, which is in KiB, in megabytes.
pub(crate) fn memory(pid: u32, field: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find(|line| line.starts_with(field)).expect("Linux knows this field");
    let kib = line.split_ascii_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kib.expect("a field of memory has a number") * 1024.0 / 1e6
}

/// Reads the processor time of processes (`benches/peers/cpu_clock.c`).
pub(crate) struct CpuClock {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl CpuClock {
    pub(crate) fn start(program: &Path) -> Self {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the clock starts");
        let input = child.stdin.take().expect("stdin is piped");
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { child, input, output }
    }

    /// Returns what a process has used so far, in microseconds.
    pub(crate) fn used(&mut self, pid: u32) -> f64 {
        self.input.write_all(format!("{pid}\n").as_bytes()).expect("the clock reads");
        let digits =
            (&mut self.output).bytes().map_while(Result::ok).take_while(|byte| *byte != b'\n');
        let digits = String::from_utf8(digits.collect()).expect("a number is text");
        digits.parse::<f64>().expect("the clock tells nanoseconds") / 1e3
    }
}

impl Drop for CpuClock {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
