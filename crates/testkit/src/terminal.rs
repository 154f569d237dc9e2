//! A program in a terminal of its own, with somebody who reads and types there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::leaks::descends_from;
use crate::proc::{self, ProcessEntry};
use crate::process::{Collected, DEADLINE, Group};
use crate::until::{Sighting, until_or};

/// How long keys may take until they are pressed again: longer than those of a key that is held
/// down.
const AGAIN: Duration = Duration::from_millis(400);

/// A pseudo-terminal, made by `script` of util-linux. Dropping it kills all that runs in it.
///
/// ```no_run
/// use std::process::Command;
/// use callgate_testkit::terminal::Terminal;
///
/// let mut terminal = Terminal::spawn(&Command::new("/bin/sh"));
/// terminal.press("echo $((6 * 7))\r");
/// terminal.wait_for("42");
/// terminal.press("exit\r");
/// assert!(terminal.end().success());
/// ```
#[derive(Debug)]
pub struct Terminal {
    group: Group,
    keys: ChildStdin,
    screen: Collected,
}

impl Terminal {
    /// Starts `command` in a terminal of 50 lines and 150 columns. Its environment is what the
    /// command sets, and the kind of the terminal.
    #[must_use]
    pub fn spawn(command: &Command) -> Self {
        Self::spawn_sized(command, 150, 50)
    }

    /// Does the same in a terminal of this size.
    #[must_use]
    pub fn spawn_sized(command: &Command, columns: usize, lines: usize) -> Self {
        let line = format!("stty rows {lines} cols {columns}; exec {}", words(command));
        let mut script = Command::new("/usr/bin/script");
        script.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        script.env_clear().env("TERM", "xterm").envs(set);
        if let Some(folder) = command.get_current_dir() {
            script.current_dir(folder);
        }
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = Group::spawn(script);
        let (keys, screen) = (group.take_stdin(), Collected::from(group.take_stdout()));
        Self { group, keys, screen }
    }

    /// Presses keys, as a terminal sends them: `\r` is Enter, `\x1b` is Escape.
    pub fn press(&mut self, keys: &str) {
        let pressed = self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush());
        pressed.unwrap_or_else(|error| self.fail(&format!("cannot press {keys:?}: {error}")));
    }

    /// Gives the terminal another size, of which the program in its foreground is notified.
    pub fn resize(&self, columns: u16, lines: u16) {
        // The terminal must not become our own.
        let no_tty = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
        let device = self.device();
        let opened = File::options().read(true).write(true).custom_flags(no_tty).open(&device);
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let resized = opened.and_then(|file| Ok(tcsetwinsize(file, size)?));
        resized.unwrap_or_else(|error| {
            self.fail(&format!("cannot resize {}: {error}", device.display()))
        });
    }

    /// Returns the device that is the terminal of the program.
    fn device(&self) -> PathBuf {
        let all = proc::all();
        let below = all.iter().filter(|process| descends_from(process, self.group.pid(), &all));
        let inputs =
            below.filter_map(|process| fs::read_link(format!("/proc/{}/fd/0", process.pid)).ok());
        let device = inputs.into_iter().find(|input| input.starts_with("/dev/pts/"));
        device.unwrap_or_else(|| self.fail("nothing runs in the terminal"))
    }

    /// Waits until this text was written.
    pub fn wait_for(&self, text: &str) {
        let otherwise = || format!("{text:?}\n--- the screen ---\n{:?}", self.written());
        until_or(otherwise, || self.written().contains(text));
    }

    /// Presses keys, again and again, until `look` finds something in what was written, and returns
    /// it: a key that comes too soon after a question does not count.
    pub fn press_until<S: Sighting>(
        &mut self,
        keys: &str,
        mut look: impl FnMut(&str) -> S,
    ) -> S::Found {
        let Self { keys: input, screen, .. } = self;
        let otherwise = || format!("what {keys:?} does\n--- the screen ---\n{:?}", screen.text());
        let mut next = Instant::now();
        until_or(otherwise, || {
            if Instant::now() >= next {
                input.write_all(keys.as_bytes()).expect("the program reads keys");
                next = Instant::now() + AGAIN;
            }
            look(&screen.text())
        })
    }

    /// Returns all that was written so far, what was wiped away later included.
    pub fn written(&self) -> String {
        self.screen.text()
    }

    /// Waits for the end of the program.
    pub fn end(mut self) -> ExitStatus {
        match self.group.wait(2 * DEADLINE) {
            Some(status) => status,
            None => self.fail("the program did not end"),
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n--- the screen ---\n{:?}", self.written());
    }
}

impl Drop for Terminal {
    /// The program leads a session of its own, which the death of `script` does not have to end.
    fn drop(&mut self) {
        let all = proc::all();
        let runs_here = |process: &&ProcessEntry| descends_from(process, self.group.pid(), &all);
        let below: Vec<&ProcessEntry> = all.iter().filter(runs_here).collect();
        self.group.kill();
        for process in below {
            let still = proc::read(process.pid).is_some_and(|now| now.start == process.start);
            let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| still) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Returns the program and its arguments for a shell.
fn words(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_str().expect("a command in plain text");
        format!("'{}'", word.replace('\'', r"'\''"))
    };
    let all = [command.get_program()].into_iter().chain(command.get_args());
    all.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).env("GREETING", "it's me").current_dir("/usr");
        command
    }

    #[test]
    fn a_program_sees_a_terminal_and_reads_keys() {
        let script = "test -t 0 && test -t 1 && stty size; pwd; echo \"$GREETING${HOME-.}\"; \
                      read a; echo \"got $a\"; exit 7";
        let mut terminal = Terminal::spawn(&shell(script));
        terminal.wait_for("me.\r\n");
        assert_eq!(terminal.written(), "50 150\r\n/usr\r\nit's me.\r\n");
        terminal.press("keys\r");
        terminal.wait_for("got keys");
        assert_eq!(terminal.end().code(), Some(7));
    }

    #[test]
    fn a_program_is_notified_of_another_size() {
        let script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done";
        let terminal = Terminal::spawn(&shell(script));
        terminal.wait_for("ready");
        terminal.resize(40, 12);
        terminal.wait_for("12 40");
        assert!(terminal.end().success());
    }

    #[test]
    fn dropping_kills_what_runs_in_it() {
        let terminal = Terminal::spawn(&shell("trap '' HUP; sleep 1000 & echo at $!.; wait"));
        terminal.wait_for(".");
        let pid: u32 =
            terminal.written().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        let start = proc::read(pid).unwrap().start;
        drop(terminal);
        let runs = || proc::read(pid).is_some_and(|now| now.start == start && now.state != 'Z');
        until_or(|| "its end".to_owned(), || !runs());
    }
}
