//! The terminal of `callgate up`: prints what the channel orders, and reads single keys.

mod decoder;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::channel::ChannelOrder;
use callgate_approval::daemon::DeskHandle;
use callgate_approval::terminal::{Terminal, TerminalKey};
use callgate_link::sync::lock;
use callgate_web::PageAddress;
use decoder::KeyDecoder;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use tokio::sync::mpsc;

use super::modes::{JobControl, KeyModes, TerminalHolder, is_in_foreground, is_ready};
use super::page::PageLinks;

/// How long the rest of an arrow key may take after its escape before the escape is the key.
const REST: Duration = Duration::from_millis(50);
/// How often to check the terminal again while a shell has it.
const AWAY: Duration = Duration::from_millis(100);

/// The key that prints a link to the page.
const PAGE_KEY: TerminalKey = TerminalKey::Char('o');
/// How often it does.
const ONE_LINK_PER: Duration = Duration::from_secs(1);

/// Returns true if there is a terminal that we may read and write, because we are in its
/// foreground.
pub(super) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && is_in_foreground()
}

/// A terminal that delivers single keys; restored when this is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    modes: Arc<KeyModes>,
    job_control: JobControl,
}

impl Keyboard {
    /// Starts to read keys and to print orders. A key prints a link to the page, if there is one;
    /// with `opens_page` it is also opened at once.
    pub(super) fn start(
        orders: mpsc::Receiver<ChannelOrder>,
        desk: DeskHandle,
        page: Option<PageAddress>,
        opens_page: bool,
    ) -> io::Result<Self> {
        let job_control = JobControl::listen()?;
        let keyboard = Self { modes: Arc::new(KeyModes::start()?), job_control };
        let start = Instant::now();
        let name = env::var("USER").unwrap_or_else(|_| "you".to_owned());
        let colours = env::var_os("NO_COLOR").is_none();
        let terminal = Arc::new(Mutex::new(Terminal::new(&name, colours)));
        let shown = Arc::clone(&terminal);
        // Printing blocks while the terminal is stopped, so it has a thread of its own.
        thread::Builder::new()
            .name("screen".to_owned())
            .spawn(move || show(&shown, orders, start))?;
        let modes = Arc::clone(&keyboard.modes);
        let page = page.map(|address| PageLinks { address, desk: desk.clone(), name });
        let mut keys = KeyReader { terminal, desk, page, linked: None, modes, start };
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            if opens_page {
                keys.show_link(PageLinks::first_line);
            }
            keys.read();
        })?;
        Ok(keyboard)
    }

    /// Follows Ctrl-Z and `fg`. Returns only if that cannot be done.
    pub(super) async fn follow_job_control(&mut self) -> io::Result<()> {
        self.job_control.follow(&self.modes).await
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.modes.hand_over(TerminalHolder::Others);
    }
}

fn show(terminal: &Mutex<Terminal>, mut orders: mpsc::Receiver<ChannelOrder>, start: Instant) {
    while let Some(order) = orders.blocking_recv() {
        let mut terminal = lock(terminal);
        if let Ok(size) = tcgetwinsize(io::stdout())
            && size.ws_col > 0
        {
            terminal.set_width(size.ws_col.into());
        }
        print(&terminal.order(start.elapsed(), order));
        terminal.printed(start.elapsed());
    }
}

/// Prints while the terminal's state is locked, so that keys refer to what is printed.
fn print(text: &str) {
    let mut output = io::stdout();
    // A terminal that is gone shows nothing.
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}

/// A reader of keys, which passes their meaning to the desk.
struct KeyReader {
    terminal: Arc<Mutex<Terminal>>,
    desk: DeskHandle,
    page: Option<PageLinks>,
    /// When the last link to the page was printed.
    linked: Option<Instant>,
    modes: Arc<KeyModes>,
    start: Instant,
}

/// Waits for a key without reading it: a process that blocks in a read is stopped when a shell
/// takes the terminal back.
fn is_there(input: &io::Stdin) -> bool {
    poll(&mut [PollFd::new(input, PollFlags::IN)], None).is_ok_and(|ready| ready > 0)
}

impl KeyReader {
    fn read(&mut self) {
        let input = io::stdin();
        let mut bytes = [0; 256];
        let mut decoder = KeyDecoder::default();
        loop {
            match self.modes.holder() {
                // The key belongs to whoever has the terminal when it comes.
                TerminalHolder::Desk if is_there(&input) && self.may_read() => {}
                TerminalHolder::Others => return,
                // A terminal that is gone has no foreground. One whose foreground is outside of
                // our process namespace is not gone.
                _ if tcgetpgrp(&input).is_err_and(|error| error != Errno::OPNOTSUPP) => return,
                // While a shell has the terminal the keys are for the shell.
                _ => {
                    thread::sleep(AWAY);
                    continue;
                }
            }
            // Not through the standard library, which buffers bytes that a poll does not see.
            let count = match rustix::io::read(&input, &mut bytes) {
                Err(Errno::INTR) => continue,
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            };
            // While the terminal is locked: what is printed later was not seen.
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

    fn may_read(&self) -> bool {
        self.modes.holder() == TerminalHolder::Desk && is_in_foreground()
    }

    fn press(&mut self, now: Duration, key: TerminalKey) {
        if key == PAGE_KEY && self.terminal().is_free() {
            // A key that is held down prints one link.
            if self.linked.is_none_or(|last| last.elapsed() > ONE_LINK_PER) {
                self.show_link(PageLinks::blocking_line);
            }
            return;
        }
        let mut terminal = self.terminal();
        let (text, news) = terminal.key(now, key);
        print(&text);
        terminal.printed(self.start.elapsed());
        drop(terminal);
        if let Some(news) = news {
            self.desk.blocking_news(news);
        }
    }
    /// Prints a link to the page. The terminal is not locked while the desk makes it.
    fn show_link(&mut self, line: impl Fn(&PageLinks) -> String) {
        let Some(page) = &self.page else { return };
        let line = line(page);
        let terminal = self.terminal();
        print(&line);
        drop(terminal);
        self.linked = Some(Instant::now());
    }

    fn terminal(&self) -> MutexGuard<'_, Terminal> {
        lock(&self.terminal)
    }
}
