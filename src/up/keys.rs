//! The terminal of `callgate up`: prints what the channel orders, and reads single keys.

use std::env;
use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::channel::ChannelOrder;
use callgate_approval::daemon::DeskHandle;
use callgate_approval::terminal::{Terminal, TerminalKey};
use callgate_chat::KeyStroke;
use callgate_link::sync::lock;
use callgate_web::PageAddress;
use rustix::termios::tcgetwinsize;
use tokio::sync::mpsc;

use super::page::PageLinks;
use crate::terminal::colours::wants_colours;
use crate::terminal::key_reader::read_keys;
use crate::terminal::modes::{HeldTerminal, JobControl, KeyModes};

/// The key that prints a link to the page.
const PAGE_KEY: TerminalKey = TerminalKey::Char('o');
/// The shortest time between two links.
const ONE_LINK_PER: Duration = Duration::from_secs(1);

/// A terminal that delivers single keys; restored when this is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    modes: HeldTerminal,
    job_control: JobControl,
    terminal: Arc<Mutex<Terminal>>,
    /// Makes the screen show the current question again.
    redraw: SyncSender<()>,
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
        // Before the modes are changed, so that no stop comes in between.
        let job_control = JobControl::listen()?;
        let modes = KeyModes::start()?;
        let start = Instant::now();
        let name = env::var("USER").unwrap_or_else(|_| "you".to_owned());
        let colours = wants_colours();
        let terminal = Arc::new(Mutex::new(Terminal::new(&name, colours)));
        // There is room for one, because a second redraw would show the same.
        let (redraw, redraws) = sync_channel(1);
        let keyboard = Self { modes, job_control, terminal: Arc::clone(&terminal), redraw };
        // Printing blocks while the terminal is stopped, so it has threads of its own.
        let shown = Arc::clone(&terminal);
        let screen = || thread::Builder::new().name("screen".to_owned());
        screen().spawn(move || print_orders(&shown, orders, start))?;
        let shown = Arc::clone(&terminal);
        screen().spawn(move || {
            for () in redraws {
                print_change(&shown, start, Terminal::redraw);
            }
        })?;
        let modes = keyboard.modes.share_modes();
        let page = page.map(|address| PageLinks { address, desk: desk.clone(), name });
        let mut keys = KeyReader { terminal, desk, page, linked: None, modes, start };
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            if opens_page {
                keys.show_link(PageLinks::first_line);
            }
            keys.read_all_keys();
        })?;
        Ok(keyboard)
    }

    /// Follows Ctrl-Z and `fg`, after which the current question is shown again. Returns only if
    /// that cannot be done.
    pub(super) async fn follow_job_control(&mut self) -> io::Result<()> {
        let Self { modes, job_control, redraw, .. } = self;
        job_control
            .follow_with(modes, || {
                // If one waits already, it will show the question.
                redraw.try_send(()).ok();
            })
            .await
    }

    pub(super) fn open_questions(&self) -> Vec<String> {
        lock(&self.terminal).open_questions().collect()
    }
}

fn print_orders(
    terminal: &Mutex<Terminal>,
    mut orders: mpsc::Receiver<ChannelOrder>,
    start: Instant,
) {
    while let Some(order) = orders.blocking_recv() {
        print_change(terminal, start, |terminal, now| terminal.handle_order(now, order));
    }
}

/// Prints what a change of the terminal's state returns, as wide as the terminal is now.
fn print_change(
    terminal: &Mutex<Terminal>,
    start: Instant,
    change: impl FnOnce(&mut Terminal, Duration) -> String,
) {
    let mut terminal = lock(terminal);
    // The size is asked for each time, so that no signal has to be followed.
    if let Ok(size) = tcgetwinsize(io::stdout())
        && size.ws_col > 0
    {
        terminal.set_width(size.ws_col.into());
    }
    print_to_terminal(&change(&mut terminal, start.elapsed()));
    terminal.mark_printed(start.elapsed());
}

/// Prints while the terminal's state is locked, so that keys refer to what is printed.
fn print_to_terminal(text: &str) {
    let mut output = io::stdout();
    // A terminal that is gone shows nothing.
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}

/// Returns what a key means to the desk. A reply is one line, and only Enter sends it, so a pasted
/// line end is a blank. The modes of the desk's terminal turn Enter into a line feed.
fn desk_key(key: KeyStroke) -> Option<TerminalKey> {
    match key {
        KeyStroke::Char(c) => Some(TerminalKey::Char(c)),
        KeyStroke::Pasted('\r' | '\n' | '\t') => Some(TerminalKey::Pasted(' ')),
        KeyStroke::Pasted(c) => Some(TerminalKey::Pasted(c)),
        KeyStroke::Enter | KeyStroke::LineFeed => Some(TerminalKey::Enter),
        KeyStroke::Backspace => Some(TerminalKey::Backspace),
        KeyStroke::Escape => Some(TerminalKey::Escape),
        _ => None,
    }
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

impl KeyReader {
    fn read_all_keys(&mut self) {
        let modes = Arc::clone(&self.modes);
        read_keys(&modes, |keys| {
            // While the terminal is locked: what is printed later was not seen.
            let now = self.start.elapsed();
            keys.into_iter().filter_map(desk_key).for_each(|key| self.handle_key(now, key));
        });
    }

    fn handle_key(&mut self, now: Duration, key: TerminalKey) {
        if key == PAGE_KEY && self.terminal().is_free() {
            // A key that is held down prints one link.
            if self.linked.is_none_or(|last| last.elapsed() > ONE_LINK_PER) {
                self.show_link(PageLinks::blocking_line);
            }
            return;
        }
        let mut terminal = self.terminal();
        let (text, news) = terminal.handle_key(now, key);
        print_to_terminal(&text);
        terminal.mark_printed(self.start.elapsed());
        // The terminal is unlocked first, because the desk may take its time and orders are printed
        // meanwhile.
        drop(terminal);
        if let Some(news) = news {
            self.desk.blocking_news(news);
        }
    }

    /// Prints a link to the page. The terminal is not locked while the desk makes it, so that
    /// questions are shown meanwhile.
    fn show_link(&mut self, line: impl Fn(&PageLinks) -> String) {
        let Some(page) = &self.page else { return };
        let line = line(page);
        let terminal = self.terminal();
        print_to_terminal(&line);
        drop(terminal);
        // Noted after the link is made, so that the keys that came meanwhile make no further one.
        self.linked = Some(Instant::now());
    }

    fn terminal(&self) -> MutexGuard<'_, Terminal> {
        lock(&self.terminal)
    }
}

#[cfg(test)]
mod tests;
