//! The modes of the terminal, while keys are read and while a shell has it.

use std::io::{self, IsTerminal};
use std::ops::Deref;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::process::ProcessStat;
use callgate_link::sync::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use tokio::signal::unix::{self, SignalKind, signal};

/// The sequences that switch bracketed paste on and off.
const TELL_PASTES: &str = "\x1b[?2004h";
const TELL_NO_PASTES: &str = "\x1b[?2004l";

/// What stands for no key among the special keys of a terminal.
const NO_KEY: u8 = 0;

/// Returns true if we are in the foreground of our terminal. A process that reads keys or changes
/// modes from the background is stopped.
pub(crate) fn is_in_foreground() -> bool {
    ProcessStat::own().is_some_and(ProcessStat::is_in_foreground)
}

/// Returns true if there is a terminal that we may read and write, because we are in its
/// foreground.
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && is_in_foreground()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalHolder {
    /// This program, which gets single keys.
    Program,
    /// A shell, until this program is in the foreground again.
    Shell,
    /// Somebody else, for good.
    Others,
}

/// The modes of a terminal that delivers single keys, or hidden lines. The original modes are
/// restored while the program is stopped, and at the end.
#[derive(Debug)]
pub(crate) struct KeyModes {
    before: Termios,
    single: Termios,
    /// Whether pastes are marked as such.
    tells_pastes: bool,
    holder: Mutex<TerminalHolder>,
}

/// The terminal while this program has it. Dropping this hands it over with its original modes,
/// also after an error; a thread that reads keys has a share of the modes and may outlive it.
#[derive(Debug)]
pub(crate) struct HeldTerminal(Arc<KeyModes>);

impl HeldTerminal {
    pub(crate) fn share_modes(&self) -> Arc<KeyModes> {
        Arc::clone(&self.0)
    }
}

impl Deref for HeldTerminal {
    type Target = KeyModes;

    fn deref(&self) -> &KeyModes {
        &self.0
    }
}

impl Drop for HeldTerminal {
    fn drop(&mut self) {
        self.0.hand_over(TerminalHolder::Others);
    }
}

impl KeyModes {
    /// Makes the terminal deliver each key at once and without echo; Ctrl-C still interrupts.
    pub(crate) fn start() -> io::Result<HeldTerminal> {
        Self::start_with(true, |single| {
            single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        })
    }

    /// Makes the terminal deliver every key unchanged: also Ctrl-C, Ctrl-Z and Ctrl-S, which then
    /// have no effect of their own, and Enter as a key other than Ctrl-J.
    pub(crate) fn start_with_all_keys() -> io::Result<HeldTerminal> {
        Self::start_with(true, |single| {
            let local = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            single.local_modes.remove(local | LocalModes::IEXTEN);
            single.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        })
    }

    /// Makes the terminal deliver whole lines, and show nothing of them but their end. Ctrl-C still
    /// interrupts; Ctrl-\ does nothing, since it would leave the terminal so.
    pub(crate) fn start_hidden_line() -> io::Result<HeldTerminal> {
        Self::start_with(false, |hidden| {
            hidden.local_modes.remove(LocalModes::ECHO);
            hidden.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHONL);
            hidden.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
        })
    }

    fn start_with(
        tells_pastes: bool,
        change: impl FnOnce(&mut Termios),
    ) -> io::Result<HeldTerminal> {
        let before = tcgetattr(io::stdin())?;
        let mut single = before.clone();
        change(&mut single);
        // `Now`, because the other actions drop keys that were typed ahead or wait for output that
        // a stopped terminal never takes.
        tcsetattr(io::stdin(), OptionalActions::Now, &single)?;
        let modes =
            Self { before, single, tells_pastes, holder: Mutex::new(TerminalHolder::Program) };
        modes.write_paste_mode(TELL_PASTES);
        Ok(HeldTerminal(Arc::new(modes)))
    }

    fn write_paste_mode(&self, pastes: &str) {
        if self.tells_pastes {
            write_to_terminal(pastes);
        }
    }

    /// Returns who has the terminal. A program that was continued takes it again as soon as it is
    /// in the foreground.
    pub(crate) fn holder(&self) -> TerminalHolder {
        let mut holder = lock(&self.holder);
        if *holder == TerminalHolder::Shell && is_in_foreground() {
            // A terminal that is gone has no modes.
            tcsetattr(io::stdin(), OptionalActions::Now, &self.single).ok();
            self.write_paste_mode(TELL_PASTES);
            *holder = TerminalHolder::Program;
        }
        *holder
    }

    /// Hands the terminal over with its original modes.
    fn hand_over(&self, to: TerminalHolder) {
        let mut holder = lock(&self.holder);
        if *holder == TerminalHolder::Program {
            self.write_paste_mode(TELL_NO_PASTES);
            tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
        }
        *holder = to;
    }
}

/// The signals with which a shell stops and continues a program.
#[derive(Debug)]
pub(crate) struct JobControl {
    stop: unix::Signal,
    go_on: unix::Signal,
}

impl JobControl {
    /// Starts to listen. This comes before the modes of the terminal are changed, because from then
    /// on no stop may be missed.
    pub(crate) fn listen() -> io::Result<Self> {
        let listen = |to: Signal| signal(SignalKind::from_raw(to.as_raw()));
        Ok(Self { stop: listen(Signal::TSTP)?, go_on: listen(Signal::CONT)? })
    }

    /// Follows Ctrl-Z and `fg`: hands the terminal back when the program is stopped, and takes it
    /// again when it is continued. Returns only if it cannot be stopped.
    pub(crate) async fn follow(&mut self, modes: &KeyModes) -> io::Result<()> {
        self.follow_with(modes, || ()).await
    }

    /// Does the same, and calls `returned` when the program has the terminal again.
    pub(crate) async fn follow_with(
        &mut self,
        modes: &KeyModes,
        mut returned: impl FnMut(),
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                _ = self.stop.recv() => {
                    // As the system does it: a process that nobody could continue is not stopped.
                    if can_be_continued() {
                        modes.hand_over(TerminalHolder::Shell);
                        // SIGTSTP is caught to get here, so only this signal stops the process.
                        kill_process(getpid(), Signal::STOP)?;
                        modes.holder();
                    }
                }
                // Also after a stop that could not be caught, when a shell has set its own modes.
                _ = self.go_on.recv() => {
                    *lock(&modes.holder) = TerminalHolder::Shell;
                    if modes.holder() == TerminalHolder::Program {
                        returned();
                    }
                }
            }
        }
    }
}

/// Writes to the terminal, unless it is stopped: this must not block. A terminal that is gone is
/// ignored.
fn write_to_terminal(text: &str) {
    let output = io::stdout();
    if is_ready(&output, PollFlags::OUT, Duration::ZERO) {
        rustix::io::write(&output, text.as_bytes()).ok();
    }
}

/// Returns true if the terminal can be read or written within this time.
pub(crate) fn is_ready(terminal: &impl AsFd, how: PollFlags, within: Duration) -> bool {
    // Whole seconds may be left out, because every caller waits for less than one.
    let within = Timespec { tv_sec: 0, tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::new(terminal, how)], Some(&within)).is_ok_and(|ready| ready > 0)
}

/// Returns true if there is a shell of our session that can continue us.
fn can_be_continued() -> bool {
    ProcessStat::own().is_some_and(|own| is_job_of(own, own.ancestors()))
}

/// Returns true if one of these ancestors belongs to the process's session and to another group:
/// the shell that has made the process a job of its own.
fn is_job_of(process: ProcessStat, mut ancestors: impl Iterator<Item = ProcessStat>) -> bool {
    let other_group = ancestors
        .find(|ancestor| ancestor.session != process.session || ancestor.group != process.group);
    // The session is compared, because a parent in another one, such as a terminal program, does no
    // job control.
    other_group.is_some_and(|ancestor| ancestor.session == process.session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_a_shell_of_its_session_above_it() {
        let process =
            |id, group, session| ProcessStat { id, parent: 1, group, session, foreground: None };
        let own = process(9, 8, 5);
        let is_job = |ancestors: &[ProcessStat]| is_job_of(own, ancestors.iter().copied());
        assert!(is_job(&[process(5, 5, 5)]), "started by the shell");
        assert!(is_job(&[process(8, 8, 5), process(5, 5, 5), process(1, 1, 1)]), "by a script");
        assert!(!is_job(&[process(1, 1, 1)]), "by another session");
        assert!(!is_job(&[process(8, 8, 5), process(1, 1, 1)]), "by a script of another session");
        assert!(!is_job(&[process(1, 0, 0)]), "by one from outside of the namespace");
        assert!(!is_job(&[]));
    }
}
