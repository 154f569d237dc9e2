//! The terminal of `callgate up`: prints what the channel says, and reads single keys.

mod decoder;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::channel::Order;
use callgate_approval::daemon::ToDesk;
use callgate_approval::terminal::{Key, Terminal};
use decoder::Decoder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};
use tokio::sync::mpsc;

/// How long the rest of an arrow key may take after its escape before the escape is the key.
const REST: Duration = Duration::from_millis(50);
/// Makes the terminal tell what is pasted from what is typed, and lets it be again.
const TELL_PASTES: &str = "\x1b[?2004h";
const TELL_NO_PASTES: &str = "\x1b[?2004l";

/// Whether there is a terminal that we may read and write: one whose foreground we are in. Whoever
/// reads keys from the background is stopped.
pub(super) fn has_terminal() -> bool {
    let is_ours = || tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground == getpgrp());
    io::stdin().is_terminal() && io::stdout().is_terminal() && is_ours()
}

/// A terminal that gives keys one by one; as it was before when this is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    before: Termios,
}

impl Keyboard {
    /// Begins to read keys and to print orders.
    pub(super) fn start(orders: mpsc::Receiver<Order>, desk: ToDesk) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut single = before.clone();
        // Keys come at once and are not printed by themselves; Ctrl-C still interrupts.
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &single)?;
        let keyboard = Self { before };
        print(TELL_PASTES);
        let start = Instant::now();
        let name = env::var("USER").unwrap_or_else(|_| "you".to_owned());
        let colours = env::var_os("NO_COLOR").is_none();
        let terminal = Arc::new(Mutex::new(Terminal::new(&name, colours)));
        let shown = Arc::clone(&terminal);
        // Printing waits for as long as somebody stops the terminal, so it has a thread of its own.
        thread::Builder::new()
            .name("screen".to_owned())
            .spawn(move || show(&shown, orders, start))?;
        let keys = Keys { terminal, desk, start };
        thread::Builder::new().name("keys".to_owned()).spawn(move || keys.read())?;
        Ok(keyboard)
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // Nobody waits for a terminal that somebody has stopped, nor for the thread that prints
        // there. A terminal that is gone needs no restoring.
        let output = io::stdout();
        if is_ready(&output, PollFlags::OUT, Duration::ZERO) {
            rustix::io::write(&output, TELL_NO_PASTES.as_bytes()).ok();
        }
        tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
    }
}

fn show(terminal: &Mutex<Terminal>, mut orders: mpsc::Receiver<Order>, start: Instant) {
    while let Some(order) = orders.blocking_recv() {
        let mut terminal = terminal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(size) = tcgetwinsize(io::stdout())
            && size.ws_col > 0
        {
            terminal.set_width(size.ws_col.into());
        }
        print(&terminal.order(start.elapsed(), order));
        terminal.printed(start.elapsed());
    }
}

/// Prints while the terminal's state is held, so that what is printed is what keys refer to.
fn print(text: &str) {
    let mut output = io::stdout();
    // A terminal that is gone shows nothing.
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}

/// Whether a terminal can be read or written within this time.
fn is_ready(terminal: &impl AsFd, how: PollFlags, within: Duration) -> bool {
    let within = Timespec { tv_sec: 0, tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::new(terminal, how)], Some(&within)).is_ok_and(|ready| ready > 0)
}

/// Reads keys, and tells the desk what they mean.
struct Keys {
    terminal: Arc<Mutex<Terminal>>,
    desk: ToDesk,
    start: Instant,
}

impl Keys {
    fn read(&self) {
        let input = io::stdin();
        let mut bytes = [0; 256];
        let mut decoder = Decoder::default();
        loop {
            // Not by way of the standard library, which would keep bytes that a poll does not see.
            let count = match rustix::io::read(&input, &mut bytes) {
                Err(Errno::INTR) => continue,
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            };
            // Before the terminal is free: what is printed until then was not seen.
            let now = self.start.elapsed();
            for key in decoder.keys(&bytes[..count]) {
                self.press(now, key);
            }
            if decoder.is_waiting() && !is_ready(&input, PollFlags::IN, REST) {
                let now = self.start.elapsed();
                decoder.silence().into_iter().for_each(|key| self.press(now, key));
            }
        }
    }

    fn press(&self, now: Duration, key: Key) {
        let mut terminal = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, news) = terminal.key(now, key);
        print(&text);
        terminal.printed(self.start.elapsed());
        drop(terminal);
        if let Some(news) = news {
            self.desk.blocking_news(news);
        }
    }
}
