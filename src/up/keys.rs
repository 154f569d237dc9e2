//! The terminal of `callgate up`: prints what the channel says, and reads single keys.

use std::env;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use callgate_approval::channel::Order;
use callgate_approval::daemon::ToDesk;
use callgate_approval::terminal::{Key, Terminal};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use tokio::sync::mpsc;

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
        let name = env::var("USER").unwrap_or_else(|_| "you".to_owned());
        let colours = env::var_os("NO_COLOR").is_none();
        let terminal = Arc::new(Mutex::new(Terminal::new(&name, colours)));
        let shown = Arc::clone(&terminal);
        // Printing waits for as long as somebody stops the terminal, so it has a thread of its own.
        thread::Builder::new().name("screen".to_owned()).spawn(move || show(&shown, orders))?;
        thread::Builder::new().name("keys".to_owned()).spawn(move || read(&terminal, &desk))?;
        Ok(keyboard)
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
    }
}

fn show(terminal: &Mutex<Terminal>, mut orders: mpsc::Receiver<Order>) {
    while let Some(order) = orders.blocking_recv() {
        let mut terminal = terminal.lock().unwrap_or_else(PoisonError::into_inner);
        print(&terminal.order(order));
    }
}

/// Prints while the terminal's state is held, so that what is printed is what keys refer to.
fn print(text: &str) {
    let mut output = io::stdout();
    // A terminal that is gone shows nothing.
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}

fn read(terminal: &Mutex<Terminal>, desk: &ToDesk) {
    let mut bytes = [0; 256];
    let mut decoder = Decoder::default();
    loop {
        let count = match io::stdin().read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        for key in decoder.keys(&bytes[..count]) {
            let mut terminal = terminal.lock().unwrap_or_else(PoisonError::into_inner);
            let (text, news) = terminal.key(key);
            print(&text);
            drop(terminal);
            if let Some(news) = news {
                desk.blocking_news(news);
            }
        }
    }
}

/// Makes keys of bytes, which may end in the middle of a character.
#[derive(Debug, Default)]
struct Decoder {
    begun: Vec<u8>,
}

impl Decoder {
    fn keys(&mut self, bytes: &[u8]) -> Vec<Key> {
        // Arrow keys and the like come as an escape with more behind it: they mean nothing here.
        if bytes.len() > 1 && bytes[0] == 0x1b {
            return Vec::new();
        }
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // What is no text at all is dropped.
            Err(_) => {
                self.begun.clear();
                return Vec::new();
            }
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        String::from_utf8(text).unwrap_or_default().chars().filter_map(key).collect()
    }
}

fn key(c: char) -> Option<Key> {
    match c {
        '\r' | '\n' => Some(Key::Enter),
        '\u{7f}' | '\u{8}' => Some(Key::Backspace),
        '\u{1b}' => Some(Key::Escape),
        c if c.is_control() => None,
        c => Some(Key::Char(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_whole_and_arrows_mean_nothing() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.keys(b"a\n"), [Key::Char('a'), Key::Enter]);
        assert_eq!(decoder.keys("ä".as_bytes().split_at(1).0), []);
        assert_eq!(decoder.keys("ä".as_bytes().split_at(1).1), [Key::Char('ä')]);
        assert_eq!(decoder.keys(b"\x1b[A"), []);
        assert_eq!(decoder.keys(b"\x1b"), [Key::Escape]);
        assert_eq!(decoder.keys(b"\x7f\x01"), [Key::Backspace]);
        assert_eq!(decoder.keys(b"\xff\xfe"), []);
        assert_eq!(decoder.keys(b"d"), [Key::Char('d')]);
    }
}
