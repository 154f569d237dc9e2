//! A chat in a pseudo-terminal, and what its screen shows.

use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::drawn_screen::DrawnScreen;
use callgate_testkit::process::DEADLINE;
use callgate_testkit::terminal::Terminal;
use callgate_testkit::until::until_or;

use crate::fixture::Setup;

/// The lines of the terminal at the start.
const LINES: usize = 30;
/// How long a key or a line that came too early is waited for before it is sent again.
const AGAIN: Duration = Duration::from_millis(400);

/// A chat, and somebody in front of it.
pub(crate) struct Chat {
    terminal: Terminal,
    columns: usize,
    /// The later sizes of the terminal, and how much was written before each.
    resized: Vec<(usize, usize, usize)>,
    /// Keeps its home.
    _setup: Setup,
}

impl Chat {
    pub(crate) fn start(setup: &Setup, columns: usize) -> Self {
        let chat = Self::run(setup, &setup.program(&["chat"]), columns);
        chat.see("/help lists");
        chat
    }

    /// Runs another program, such as a shell in which a chat is started.
    pub(crate) fn run(setup: &Setup, program: &Command, columns: usize) -> Self {
        let terminal = Terminal::spawn_sized(program, columns, LINES);
        Self { terminal, columns, resized: Vec::new(), _setup: setup.clone() }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.terminal.press(keys);
    }

    /// Types a line and sends it.
    pub(crate) fn say(&mut self, line: &str) {
        self.press(&format!("{line}\r"));
    }

    pub(crate) fn resize(&mut self, columns: u16, lines: u16) {
        let written = self.terminal.written().len();
        self.terminal.resize(columns, lines);
        self.resized.push((written, columns.into(), lines.into()));
    }

    pub(crate) fn screen(&self) -> DrawnScreen {
        let written = self.terminal.written();
        let mut screen = DrawnScreen::new(self.columns, LINES);
        let mut from = 0;
        for (until, columns, lines) in &self.resized {
            screen.feed(&written[from..*until]);
            screen.resize(*columns, *lines);
            from = *until;
        }
        screen.feed(&written[from..]);
        screen
    }

    /// Everything on the screen and above it, with each paragraph on one line.
    pub(crate) fn text(&self) -> String {
        self.screen().text().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// Waits until the screen shows this text, wherever it is wrapped.
    pub(crate) fn see(&self, text: &str) {
        self.wait(text, |shown| shown.contains(text));
    }

    /// Waits until the screen shows this text so many times.
    pub(crate) fn see_times(&self, times: usize, text: &str) {
        self.wait(text, |shown| shown.matches(text).count() == times);
    }

    /// Waits until the screen no longer shows this text.
    pub(crate) fn see_gone(&self, text: &str) {
        self.wait(&format!("the end of {text}"), |shown| !shown.contains(text));
    }

    fn wait(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        until_or(|| format!("{what:?}:\n{}", self.screen().text()), || is_so(&self.text()));
    }

    /// Presses a key until the screen shows this text: a question counts no key at first.
    pub(crate) fn press_until(&mut self, key: &str, text: &str) {
        let end = Instant::now() + 2 * DEADLINE;
        let is_letter = key.len() == 1;
        while !self.shows(text) {
            assert!(Instant::now() < end, "{text:?} never came:\n{}", self.screen().text());
            // Once the question is answered, a letter would begin the next message.
            if !is_letter || self.shows("deny") {
                self.press(key);
            }
            self.give_a_while(text);
        }
    }

    /// Answers a question by a line: one that comes too early does not count, and the prompt comes
    /// again.
    pub(crate) fn answer_line(&mut self, line: &str, text: &str) {
        let end = Instant::now() + 2 * DEADLINE;
        while !self.shows(text) {
            assert!(Instant::now() < end, "{text:?} never came:\n{}", self.screen().text());
            if self.text().ends_with("answer>") {
                self.say(line);
            }
            self.give_a_while(text);
        }
    }

    /// Waits until the screen shows this text, or so long that the next attempt counts.
    fn give_a_while(&self, text: &str) {
        let end = Instant::now() + AGAIN;
        while !self.shows(text) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What the program has written.
    pub(crate) fn written(&self) -> String {
        self.terminal.written()
    }

    /// Waits for the end of the program.
    pub(crate) fn end(self) -> ExitStatus {
        self.terminal.end()
    }

    pub(crate) fn quit(mut self) -> ExitStatus {
        self.press("\x04");
        self.end()
    }
}
