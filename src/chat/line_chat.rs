//! The chat in a terminal that cannot be drawn on (`TERM=dumb`): lines are read, and lines are
//! printed.

use std::io::{self, Read};
use std::thread;

use callgate_chat::{INTERRUPTED, KeyStroke};
use callgate_client::WatchStart;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::running_chat::{ChatEvent, ChatParts, RunningChat, next_state};
use super::terminal_chat::{MOST_EVENTS, print_at_once, terminal_page};

/// The longest line that is read, in bytes. What is beyond it is another line.
const LONGEST_LINE: usize = 1024 * 1024;

pub(super) struct LineChat {
    pub(super) start: ChatParts,
}

impl LineChat {
    /// Runs until the user quits or the input ends. Returns the exit code.
    pub(super) async fn run(self) -> io::Result<u8> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut watch = self.start.client.watch(WatchStart::Oldest);
        let (typed, mut lines) = mpsc::channel(64);
        thread::Builder::new().name("lines".to_owned()).spawn(move || {
            // A chat that has ended reads no lines, and a terminal that is gone has no more.
            read_lines(io::stdin(), |line| drop(typed.blocking_send(line))).ok();
        })?;
        let (events, mut coming) = mpsc::channel::<ChatEvent>(MOST_EVENTS);
        let mut running = RunningLineChat {
            chat: RunningChat::new(self.start, terminal_page(false), events),
            asked: None,
            is_prompted: false,
        };
        running.chat.core.print_lines();
        let code = loop {
            // Nothing is done to suspend, because the terminal has its own modes here and stops the
            // program by itself.
            if let Some(code) = running.chat.carry_out(|| Ok(()))? {
                break code;
            }
            running.print()?;
            tokio::select! {
                line = lines.recv() => match line {
                    Some(line) => running.handle_line(&line),
                    None => break 0,
                },
                Some(event) = coming.recv() => {
                    running.chat.handle(event);
                    while let Ok(event) = coming.try_recv() {
                        running.chat.handle(event);
                    }
                }
                Some(state) = next_state(&mut watch) => running.chat.core.runtime_state(&state),
                _ = interrupt.recv() => running.handle_interrupt(),
                _ = terminate.recv() => break INTERRUPTED,
            }
        };
        running.chat.say_how_to_continue();
        running.print_rest()?;
        running.chat.stop_runtime().await;
        Ok(code)
    }
}

struct RunningLineChat {
    chat: RunningChat,
    /// The question that was printed last.
    asked: Option<String>,
    /// Whether the prompt is on the last line.
    is_prompted: bool,
}

impl RunningLineChat {
    fn handle_line(&mut self, line: &str) {
        // The terminal has begun another line.
        self.is_prompted = false;
        let now = self.chat.now();
        self.chat.core.typed_line(now, line);
    }

    fn handle_interrupt(&mut self) {
        let now = self.chat.now();
        self.chat.core.handle_key(now, KeyStroke::Ctrl('c'));
    }

    /// Prints what is new, and the prompt if something can be typed.
    fn print(&mut self) -> io::Result<()> {
        self.print_rest()?;
        if let Some(prompt) = self.chat.core.line_prompt()
            && !self.is_prompted
        {
            self.is_prompted = true;
            print_at_once(prompt)?;
        }
        let now = self.chat.now();
        self.chat.core.mark_printed(now);
        Ok(())
    }

    fn print_rest(&mut self) -> io::Result<()> {
        let now = self.chat.now();
        let rows = self.chat.core.new_lines(now, &mut self.asked);
        if rows.is_empty() {
            return Ok(());
        }
        let begin = if std::mem::take(&mut self.is_prompted) { "\n" } else { "" };
        print_at_once(&format!("{begin}{}\n", rows.join("\n")))
    }
}

/// Reads lines to the end of the input, and passes each of them on.
fn read_lines(mut input: impl Read, mut each: impl FnMut(String)) -> io::Result<()> {
    let (mut line, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let count = input.read(&mut bytes)?;
        for byte in &bytes[..count] {
            if *byte == b'\n' || line.len() >= LONGEST_LINE {
                each(String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned());
            }
            if *byte != b'\n' {
                line.push(*byte);
            }
        }
        if count == 0 {
            if !line.is_empty() {
                each(String::from_utf8_lossy(&line).into_owned());
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_to_the_end_and_none_is_longer_than_allowed() {
        let read = |text: &str| {
            let mut lines = Vec::new();
            read_lines(text.as_bytes(), |line| lines.push(line)).unwrap();
            lines
        };
        assert_eq!(read("one\n\ntwo"), ["one", "", "two"]);
        assert!(read("").is_empty());
        let long = read(&"x".repeat(LONGEST_LINE + 1));
        assert_eq!(long.iter().map(String::len).collect::<Vec<_>>(), [LONGEST_LINE, 1]);
    }
}
