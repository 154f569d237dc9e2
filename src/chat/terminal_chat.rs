//! The chat in a terminal: reads keys, draws frames, and carries out what the chat wants.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use callgate_chat::{ChatPage, INTERRUPTED, InlineScreen, KeyStroke};
use callgate_client::{RequestEvent, RuntimeState, WatchStart};
use callgate_wire::session::SessionEvent;
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::tcgetwinsize;
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use super::running_chat::{ChatEvent, ChatParts, RunningChat, next_state};
use crate::terminal::key_reader::read_keys;
use crate::terminal::modes::{JobControl, KeyModes, TerminalHolder};

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(40);
/// The shortest time between two frames that differ only in a tool's input, which nobody reads word
/// by word.
const DRAFT_FRAME: Duration = Duration::from_millis(125);
/// How often to look for the terminal while a shell has it.
const AWAY: Duration = Duration::from_millis(250);
/// How often the elapsed time is drawn while an answer is being written.
const SECOND: Duration = Duration::from_secs(1);
/// How many events may wait to be drawn.
pub(super) const MOST_EVENTS: usize = 1024;
/// The size of a terminal that does not report one.
const USUAL_SIZE: (u16, u16) = (80, 24);

pub(super) struct TerminalChat {
    pub(super) start: ChatParts,
    pub(super) colours: bool,
}

/// The signals that matter to a program in a terminal.
struct TerminalSignals {
    resized: unix::Signal,
    continued: unix::Signal,
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
}

impl TerminalSignals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            continued: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}

impl TerminalChat {
    /// Runs until the user quits. Returns the exit code.
    pub(super) async fn run(self) -> io::Result<u8> {
        // Everything is listened to before the modes change: a signal would leave the terminal in
        // them.
        let mut job_control = JobControl::listen()?;
        let mut signals = TerminalSignals::listen()?;
        let mut watch = self.start.client.watch(WatchStart::Oldest);
        let modes = KeyModes::start_with_all_keys()?;
        let (pressed, mut keys) = mpsc::channel(64);
        let reader = modes.share_modes();
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            // A chat that has ended reads no keys.
            read_keys(&reader, |batch| drop(pressed.blocking_send(batch)));
        })?;
        let (events, mut coming) = mpsc::channel(MOST_EVENTS);
        let mut running = DrawnChat::new(self, events);
        running.draw()?;
        let code = loop {
            if let Some(code) = running.carry_out()? {
                break code;
            }
            let next_frame = running.next_frame();
            tokio::select! {
                batch = keys.recv() => match batch {
                    Some(batch) => running.handle_keys(batch),
                    // The terminal is gone.
                    None => break INTERRUPTED,
                },
                Some(event) = coming.recv() => {
                    running.handle(event);
                    // What has arrived together is drawn together.
                    while let Ok(event) = coming.try_recv() {
                        running.handle(event);
                    }
                }
                Some(state) = next_state(&mut watch) => running.runtime_is(&state),
                () = sleep_until(next_frame.into()) => match modes.holder() {
                    TerminalHolder::Program => running.draw()?,
                    // Whatever is drawn now would be in the midst of the shell's lines.
                    TerminalHolder::Shell | TerminalHolder::Others => running.stay_away(),
                },
                _ = signals.resized.recv() => match modes.holder() {
                    TerminalHolder::Program => running.handle_resize()?,
                    TerminalHolder::Shell | TerminalHolder::Others => running.start_anew(),
                },
                _ = signals.continued.recv() => running.start_anew(),
                result = job_control.follow(&modes) => result?,
                _ = signals.interrupt.recv() => running.handle_keys(vec![KeyStroke::Ctrl('c')]),
                _ = signals.terminate.recv() => break INTERRUPTED,
                _ = signals.hangup.recv() => break INTERRUPTED,
            }
        };
        running.leave_terminal();
        drop(modes);
        running.chat.stop_runtime().await;
        Ok(code)
    }
}

struct DrawnChat {
    chat: RunningChat,
    screen: InlineScreen,
    /// The size for which it is drawn.
    page: ChatPage,
    colours: bool,
    drawn: Instant,
    /// How long after the last frame the next one is due, if something has changed.
    pause: Option<Duration>,
    /// Whether a shell had the terminal when the last frame was due.
    is_away: bool,
}

impl DrawnChat {
    fn new(chat: TerminalChat, events: mpsc::Sender<ChatEvent>) -> Self {
        let TerminalChat { start, colours } = chat;
        let page = terminal_page(colours);
        Self {
            chat: RunningChat::new(start, page, events),
            screen: InlineScreen::default(),
            page,
            colours,
            drawn: Instant::now(),
            pause: Some(FRAME),
            is_away: false,
        }
    }

    fn handle_keys(&mut self, batch: Vec<KeyStroke>) {
        let now = self.chat.now();
        for key in batch {
            self.chat.core.handle_key(now, key);
        }
        self.schedule_frame(FRAME);
    }

    /// Makes the next frame due at most `pause` after the last one.
    fn schedule_frame(&mut self, pause: Duration) {
        self.pause = Some(self.pause.map_or(pause, |due| due.min(pause)));
    }

    fn handle(&mut self, event: ChatEvent) {
        let pause = if is_tool_input(&event) { DRAFT_FRAME } else { FRAME };
        self.chat.handle(event);
        self.schedule_frame(pause);
    }

    fn runtime_is(&mut self, state: &RuntimeState) {
        self.chat.core.runtime_state(state);
        self.schedule_frame(FRAME);
    }

    /// Returns when the next frame is due.
    fn next_frame(&self) -> Instant {
        let pause = match (self.pause, self.chat.core.is_working()) {
            _ if self.is_away => AWAY,
            (Some(pause), _) => pause,
            (None, true) => SECOND,
            // Nothing changes by itself.
            (None, false) => Duration::from_hours(1),
        };
        self.drawn + pause
    }

    fn draw(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_away) {
            self.start_anew();
        }
        // The signal may come later than the size.
        if terminal_page(self.colours) != self.page {
            self.handle_resize()?;
        }
        let frame = self.chat.core.next_frame(self.chat.now());
        let text = self.screen.draw(frame);
        (self.drawn, self.pause) = (Instant::now(), None);
        print_at_once(&text)?;
        // A key counts for a question only after this, when it can be seen.
        self.chat.core.mark_printed(self.chat.now());
        Ok(())
    }

    fn handle_resize(&mut self) -> io::Result<()> {
        self.page = terminal_page(self.colours);
        self.chat.core.resize(self.page);
        self.schedule_frame(FRAME);
        print_at_once(&self.screen.wipe(self.page.width))
    }

    /// Draws nothing until the terminal is back.
    fn stay_away(&mut self) {
        (self.drawn, self.is_away) = (Instant::now(), true);
    }

    /// Draws everything again below whatever the shell has printed.
    fn start_anew(&mut self) {
        self.screen = InlineScreen::default();
        self.page = terminal_page(self.colours);
        self.chat.core.resize(self.page);
        self.schedule_frame(FRAME);
    }

    /// Carries out what the chat wants. Returns the exit code if it wants to end.
    fn carry_out(&mut self) -> io::Result<Option<u8>> {
        let screen = &mut self.screen;
        self.chat.carry_out(|| {
            // The cursor goes below what is drawn, where the shell prints next.
            print_at_once(&screen.leave())?;
            // `JobControl` catches it and gives the terminal back before the process stops.
            Ok(kill_process(getpid(), Signal::TSTP)?)
        })
    }

    fn leave_terminal(&mut self) {
        self.chat.say_how_to_continue();
        let mut frame = self.chat.core.next_frame(self.chat.now());
        // The input and the status line go, and what was said stays.
        frame.live_rows = vec![String::new()];
        frame.cursor = (0, 0);
        let text = self.screen.draw(frame) + &self.screen.leave();
        // A terminal that is gone shows nothing.
        print_at_once(&text).ok();
    }
}

fn is_tool_input(event: &ChatEvent) -> bool {
    matches!(event, ChatEvent::Turn(_, RequestEvent::Said(reply))
        if matches!(reply.event, SessionEvent::ToolInput(_)))
}

/// Returns a page of the terminal's size, or of the usual one if the terminal does not say its own.
pub(super) fn terminal_page(colours: bool) -> ChatPage {
    let size = tcgetwinsize(io::stdout()).map(|size| (size.ws_col, size.ws_row));
    let or = |value: u16, usual: u16| usize::from(if value == 0 { usual } else { value });
    let (width, height) = size.unwrap_or(USUAL_SIZE);
    ChatPage { width: or(width, USUAL_SIZE.0), height: or(height, USUAL_SIZE.1), colours }
}

/// Writes to the terminal at once.
pub(super) fn print_at_once(text: &str) -> io::Result<()> {
    let mut output = io::stdout();
    output.write_all(text.as_bytes())?;
    output.flush()
}
