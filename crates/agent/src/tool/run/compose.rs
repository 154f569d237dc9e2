//! The results of a command for the model and for the front end.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use super::watch::EndedCommand;
use crate::tool::{CallOutcome, raw_json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedEnd {
    AnyCode,
    /// The exit code 0 only.
    Success,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CommandReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'static str>,
    stdout: &'a str,
    stderr: &'a str,
    timed_out: bool,
    duration_ms: u128,
    truncated: bool,
}

pub(super) fn command_outcome(
    ended: &mut EndedCommand,
    limit: Duration,
    most: usize,
    expected: ExpectedEnd,
) -> CallOutcome {
    let [(stdout, is_stdout_cut), (stderr, is_stderr_cut)] = divide_output(ended, most);
    let exit_code = ended.status.and_then(|status| status.code());
    let signal = ended.signal().map(signal_name);
    let error = match (ended.status.is_none(), signal) {
        (true, _) => Some(format!("ended by the time limit of {} s", seconds_text(limit))),
        (_, Some(signal)) => Some(format!("ended by the signal {signal}")),
        _ if expected == ExpectedEnd::Success && exit_code != Some(0) => {
            Some(format!("failed with exit code {}", exit_code.unwrap_or(0)))
        }
        _ => None,
    };
    let report = CommandReport {
        error: error.as_deref(),
        exit_code,
        signal,
        stdout: &stdout,
        stderr: &stderr,
        timed_out: ended.status.is_none(),
        duration_ms: ended.took.as_millis(),
        truncated: is_stdout_cut || is_stderr_cut,
    };
    let mut text = error.clone().unwrap_or_else(|| format!("exit code {}", exit_code.unwrap_or(0)));
    if ended.left_running {
        text.push_str("\nwhat it left running in the background was ended");
    }
    append_section(&mut text, "stdout", &stdout);
    append_section(&mut text, "stderr", &stderr);
    if stdout.is_empty() && stderr.is_empty() {
        text.push_str("\n(no output)");
    }
    CallOutcome { result: raw_json(&report), text, images: Vec::new(), is_error: error.is_some() }
}

fn append_section(text: &mut String, name: &str, output: &str) {
    if !output.is_empty() {
        // A `String` takes everything.
        write!(text, "\n{name}:\n{output}").ok();
    }
}

fn seconds_text(limit: Duration) -> String {
    let seconds = format!("{:.3}", limit.as_secs_f64());
    seconds.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Divides `most` bytes between both streams: half for each, plus what the other does not need.
fn divide_output(ended: &mut EndedCommand, most: usize) -> [(String, bool); 2] {
    let half = most / 2;
    let mut stderr = ended.stderr.text(half);
    let stdout = ended.stdout.text(most - stderr.0.len().min(half));
    // Only now is it known that standard output needs less than its half.
    if stderr.1 && stdout.0.len() < half {
        stderr = ended.stderr.text(most - stdout.0.len());
    }
    [stdout, stderr]
}

pub(super) fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => "another one",
    }
}
