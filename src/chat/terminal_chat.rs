//! The chat in a terminal: reads keys, draws frames, and carries out what the chat wants.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::{
    Client, ClientError, RequestEvent, RuntimeState, SessionWatch, WatchStart, WatchedItem,
};
use callgate_wire::session::{SessionCommand, SessionEvent, SessionReply};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::tcgetwinsize;
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep_until, timeout};

use super::chat_core::{ChatAction, ChatCore, Errand, INTERRUPTED};
use super::inline_screen::InlineScreen;
use super::input_history::{InputHistory, InputHistoryFile};
use super::styled_text::ChatPage;
use super::wanted_conversation::WantedConversation;
use crate::key_decoder::KeyStroke;
use crate::key_reader::read_keys;
use crate::terminal_modes::{JobControl, KeyModes, TerminalHolder};

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
const MOST_EVENTS: usize = 1024;
/// How long the runtime may take to end before the chat ends without it. It is killed then.
const ENDS_WITHIN: Duration = Duration::from_secs(5);
/// The size of a terminal that does not report one.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// What the chat in a terminal needs.
pub(super) struct TerminalChat {
    pub(super) client: Client,
    pub(super) folder: PathBuf,
    pub(super) wanted: WantedConversation,
    /// Whether conversations are kept.
    pub(super) is_kept: bool,
    pub(super) history: Option<InputHistoryFile>,
    pub(super) colours: bool,
}

/// What happens while the chat runs.
enum ChatEvent {
    Turn(u64, RequestEvent),
    Errand(Errand, Result<Arc<SessionReply>, ClientError>),
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
        let mut job_control = JobControl::listen()?;
        let mut signals = TerminalSignals::listen()?;
        let mut watch = self.client.watch(WatchStart::Oldest);
        let modes = Arc::new(KeyModes::start_with_all_keys()?);
        let (pressed, mut keys) = mpsc::channel(64);
        let reader = Arc::clone(&modes);
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
                    Some(batch) => running.pressed(batch),
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
                    TerminalHolder::Program => running.resized()?,
                    TerminalHolder::Shell | TerminalHolder::Others => running.start_anew(),
                },
                _ = signals.continued.recv() => running.start_anew(),
                result = job_control.follow(&modes) => result?,
                _ = signals.interrupt.recv() => running.pressed(vec![KeyStroke::Ctrl('c')]),
                _ = signals.terminate.recv() => break INTERRUPTED,
                _ = signals.hangup.recv() => break INTERRUPTED,
            }
        };
        running.leave();
        modes.hand_over(TerminalHolder::Others);
        // A runtime that does not end in time is killed when this process ends.
        timeout(ENDS_WITHIN, running.client.close()).await.ok();
        Ok(code)
    }
}

/// Returns the next state of the runtime, ignoring all other events.
async fn next_state(watch: &mut SessionWatch) -> Option<RuntimeState> {
    watch
        .find(|item| match item {
            WatchedItem::State(state) => Some(state.clone()),
            _ => None,
        })
        .await
}

/// A chat on the screen of a terminal.
struct DrawnChat {
    core: ChatCore,
    screen: InlineScreen,
    client: Client,
    is_kept: bool,
    history: Option<InputHistoryFile>,
    colours: bool,
    events: mpsc::Sender<ChatEvent>,
    /// What cancels each open request.
    cancels: HashMap<u64, Arc<Notify>>,
    start: Instant,
    drawn: Instant,
    /// How long after the last frame the next one is due, if something has changed.
    pause: Option<Duration>,
    /// Whether a shell had the terminal when the last frame was due.
    is_away: bool,
}

impl DrawnChat {
    fn new(chat: TerminalChat, events: mpsc::Sender<ChatEvent>) -> Self {
        let TerminalChat { client, folder, wanted, is_kept, history, colours } = chat;
        let (entries, problem) = match history.as_ref().map(InputHistoryFile::read) {
            Some(Ok(entries)) => (entries, None),
            Some(Err(error)) => (Vec::new(), Some(error)),
            None => (Vec::new(), None),
        };
        let mut core = ChatCore::new(page(colours), folder, InputHistory::new(entries), wanted);
        if let Some(problem) = problem {
            core.note(&format!("What you typed before cannot be read: {problem}"));
        }
        let (start, screen) = (Instant::now(), InlineScreen::default());
        let cancels = HashMap::new();
        Self {
            core,
            screen,
            client,
            is_kept,
            history,
            colours,
            events,
            cancels,
            start,
            drawn: start,
            pause: Some(FRAME),
            is_away: false,
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn pressed(&mut self, batch: Vec<KeyStroke>) {
        let now = self.now();
        for key in batch {
            self.core.key(now, key);
        }
        self.changed(FRAME);
    }

    /// Makes the next frame due at most `pause` after the last one.
    fn changed(&mut self, pause: Duration) {
        self.pause = Some(self.pause.map_or(pause, |due| due.min(pause)));
    }

    fn handle(&mut self, event: ChatEvent) {
        let mut pause = FRAME;
        match event {
            ChatEvent::Turn(turn, event) => {
                if event.is_end() {
                    self.cancels.remove(&turn);
                }
                if is_tool_input(&event) {
                    pause = DRAFT_FRAME;
                }
                self.core.event(turn, &event);
            }
            ChatEvent::Errand(errand, result) => {
                let now = self.now();
                self.core.errand_done(now, errand, result);
            }
        }
        self.changed(pause);
    }

    fn runtime_is(&mut self, state: &RuntimeState) {
        self.core.runtime_state(state);
        self.changed(FRAME);
    }

    /// Returns when the next frame is due.
    fn next_frame(&self) -> Instant {
        let pause = match (self.pause, self.core.is_working()) {
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
        let frame = self.core.frame(self.now());
        let text = self.screen.draw(frame);
        (self.drawn, self.pause) = (Instant::now(), None);
        print(&text)?;
        self.core.printed(self.now());
        Ok(())
    }

    fn resized(&mut self) -> io::Result<()> {
        let page = page(self.colours);
        self.core.resize(page);
        self.changed(FRAME);
        print(&self.screen.wipe(page.width))
    }

    /// Draws nothing until the terminal is back.
    fn stay_away(&mut self) {
        (self.drawn, self.is_away) = (Instant::now(), true);
    }

    /// Draws everything again below whatever the shell has printed.
    fn start_anew(&mut self) {
        self.screen = InlineScreen::default();
        self.core.resize(page(self.colours));
        self.changed(FRAME);
    }

    /// Carries out what the chat wants. Returns the exit code if it wants to end.
    fn carry_out(&mut self) -> io::Result<Option<u8>> {
        for action in self.core.take_actions() {
            match action {
                ChatAction::Turn(number, command) => self.send(number, command),
                ChatAction::Errand(errand, command) => self.run_errand(errand, command),
                ChatAction::Cancel(number) => {
                    if let Some(cancel) = self.cancels.get(&number) {
                        cancel.notify_one();
                    }
                }
                ChatAction::Remember(text) => self.remember(&text),
                ChatAction::Restart => self.client.restart(),
                ChatAction::Suspend => {
                    print(&self.screen.leave())?;
                    kill_process(getpid(), Signal::TSTP)?;
                }
                ChatAction::Quit(code) => return Ok(Some(code)),
            }
        }
        Ok(None)
    }

    fn send(&mut self, number: u64, command: SessionCommand) {
        let (client, events, cancel) =
            (self.client.clone(), self.events.clone(), Arc::new(Notify::new()));
        self.cancels.insert(number, Arc::clone(&cancel));
        tokio::spawn(async move {
            let mut request = client.send(command).await;
            loop {
                let event = tokio::select! {
                    event = request.next() => event,
                    () = cancel.notified() => {
                        request.cancel();
                        continue;
                    }
                };
                let Some(event) = event else { return };
                // A chat that has ended shows nothing.
                if events.send(ChatEvent::Turn(number, event)).await.is_err() {
                    return;
                }
            }
        });
    }

    fn run_errand(&self, errand: Errand, command: SessionCommand) {
        let (client, events) = (self.client.clone(), self.events.clone());
        tokio::spawn(async move {
            let result = client.request(command).await;
            // A chat that has ended waits for nothing.
            events.send(ChatEvent::Errand(errand, result)).await.ok();
        });
    }

    fn remember(&mut self, text: &str) {
        let Some(Err(error)) = self.history.as_ref().map(|history| history.append(text)) else {
            return;
        };
        self.core.note(&format!("What you type cannot be kept for the next time: {error}"));
        self.history = None;
    }

    fn leave(&mut self) {
        if self.is_kept {
            self.core.say_how_to_continue();
        }
        let mut frame = self.core.frame(self.now());
        // The input and the status line go, and what was said stays.
        frame.live_rows = vec![String::new()];
        frame.cursor = (0, 0);
        let text = self.screen.draw(frame) + &self.screen.leave();
        // A terminal that is gone shows nothing.
        print(&text).ok();
    }
}

fn is_tool_input(event: &RequestEvent) -> bool {
    matches!(event, RequestEvent::Said(reply) if matches!(reply.event, SessionEvent::ToolInput(_)))
}

fn page(colours: bool) -> ChatPage {
    let size = tcgetwinsize(io::stdout()).map(|size| (size.ws_col, size.ws_row));
    let or = |value: u16, usual: u16| usize::from(if value == 0 { usual } else { value });
    let (width, height) = size.unwrap_or(USUAL_SIZE);
    ChatPage { width: or(width, USUAL_SIZE.0), height: or(height, USUAL_SIZE.1), colours }
}

fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout();
    output.write_all(text.as_bytes())?;
    output.flush()
}
