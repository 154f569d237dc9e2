//! The task with a runtime in memory, on a clock that stands still.

use std::sync::atomic::Ordering;
use std::time::Duration;

use callgate_wire::frame::DecodedLine;
use callgate_wire::session::{
    SessionCommand, SessionEvent, SessionReply, SessionRequest as Asked, SessionResponse,
    UserMessage,
};
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::*;
use crate::settings::{MOST_TURNS, MOST_UNSENT};
use crate::{
    Client, ClientError, ClientSettings, RequestEvent, RuntimeState, SentRequest, SessionWatch,
    WatchStart, WatchedItem,
};

/// How much the pipes hold.
const PIPE: usize = 64 * 1024;
/// How much may be unread.
const MOST_UNREAD: usize = 1024 * 1024;

/// The runtime's side of one process.
struct Runtime {
    stdin: DuplexStream,
    stdout: DuplexStream,
    lines: LineDecoder,
    exit: oneshot::Sender<RuntimeExit>,
    leash: mpsc::Receiver<()>,
}

/// Sends a message in the conversation with this id.
async fn message_in(client: &Client, conversation: &str, text: &str) -> SentRequest {
    let metadata = serde_json::json!({ "conversationId": conversation });
    let metadata = serde_json::value::to_raw_value(&metadata).ok();
    let message = UserMessage { metadata, ..UserMessage::new(text) };
    client.send(SessionCommand::UserMessage(message)).await
}

/// Returns a client, and the processes that it starts.
fn start(settings: ClientSettings) -> (Client, mpsc::Receiver<Runtime>) {
    let (started, processes) = mpsc::channel(8);
    let launch = Box::new(move || -> PumpFuture<io::Result<RuntimePipes>> {
        let started = started.clone();
        Box::pin(async move {
            let (stdin, far_stdin) = tokio::io::duplex(PIPE);
            let (stdout, far_stdout) = tokio::io::duplex(PIPE);
            let (exit, exited) = oneshot::channel();
            let (leash, slack) = mpsc::channel(1);
            let (stdin_far, lines) = (far_stdin, LineDecoder::new(MAX_LINE));
            let far = Runtime { stdin: stdin_far, stdout: far_stdout, lines, exit, leash: slack };
            started.send(far).await.map_err(io::Error::other)?;
            Ok(RuntimePipes {
                stdin: Some(Box::new(stdin)),
                stdout: Some(Box::new(stdout)),
                exit: Some(Box::pin(async { exited.await.unwrap_or_default() })),
                leash: Some(Box::new(leash)),
            })
        })
    });
    (Client::start_by(settings, launch).unwrap(), processes)
}

fn settings() -> ClientSettings {
    ClientSettings { unread: MOST_UNREAD, ..ClientSettings::new("runtime") }
}

/// Returns a client whose runtime is ready, and knows the extensions.
async fn ready(settings: ClientSettings) -> (Client, mpsc::Receiver<Runtime>, Runtime) {
    let (client, mut processes) = start(settings);
    let mut runtime = processes.recv().await.unwrap();
    runtime.greet().await;
    (client, processes, runtime)
}

impl Runtime {
    async fn greet(&mut self) {
        self.write(&SessionResponse::Ready(callgate_wire::session::RuntimeReady::at(1)).to_line())
            .await;
        assert!(matches!(self.asked().await.unwrap().command, SessionCommand::Hello { .. }));
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stdout.write_all(bytes).await.unwrap();
    }

    async fn say(&mut self, id: &str, event: SessionEvent) {
        let reply = SessionReply { id: Some(id.to_owned()), event, timestamp: 1, seq: None };
        self.write(&SessionResponse::Reply(reply).to_line()).await;
    }

    /// Returns the next request; `None` when stdin was closed.
    async fn asked(&mut self) -> Option<Asked> {
        loop {
            if let Some(DecodedLine::Whole(line)) = self.lines.next_frame() {
                return Some(Asked::decode(line).unwrap());
            }
            let count = fill_lines(&mut self.stdin, &mut self.lines).await.unwrap();
            if count == 0 {
                return None;
            }
        }
    }

    fn die(self) {
        self.exit.send((None, Some("I am gone".to_owned()))).unwrap();
    }
}

fn token(size: usize) -> SessionEvent {
    SessionEvent::Token("x".repeat(size))
}

/// Returns all that happens until the end: `t` for tokens, then the end.
async fn rest(request: &mut SentRequest) -> String {
    let mut tokens = 0;
    while let Some(happened) = request.next().await {
        let end = match happened {
            RequestEvent::Said(reply) => match &reply.event {
                SessionEvent::Token(_) => {
                    tokens += 1;
                    continue;
                }
                event => event.kind().to_owned(),
            },
            RequestEvent::Failed(error) => error.to_string(),
        };
        assert!(request.next().await.is_none());
        return format!("{tokens} tokens, {end}");
    }
    "nothing".to_owned()
}

async fn next_state(watch: &mut SessionWatch) -> RuntimeState {
    let state = |seen: &WatchedItem| match seen {
        WatchedItem::State(state) => Some(state.clone()),
        _ => None,
    };
    watch.wait_for_item(state).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_request_is_written_answered_and_ended() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut request = client.user_message("hi").await;
    let asked = runtime.asked().await.unwrap();
    assert_eq!(asked.id, request.id());
    assert!(asked.id.starts_with(client.name()));
    runtime.say(&asked.id, token(1)).await;
    runtime.say(&asked.id, SessionEvent::Done(None)).await;
    runtime.say(&asked.id, token(1)).await;
    assert_eq!(rest(&mut request).await, "1 tokens, done");
    let other = client.user_message("hi").await;
    assert_ne!(other.id(), asked.id);
}

#[tokio::test(start_paused = true)]
async fn silence_is_cancelled() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut request = client.user_message("hi").await;
    let id = runtime.asked().await.unwrap().id;
    assert_eq!(rest(&mut request).await, "0 tokens, no event for 60 s");
    let cancel = runtime.asked().await.unwrap().command;
    assert!(matches!(cancel, SessionCommand::Cancel { target } if target == id));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_is_cancelled_unless_it_was_let_go() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let request = client.user_message("one").await;
    let first = runtime.asked().await.unwrap().id;
    drop(request);
    let cancel = runtime.asked().await.unwrap().command;
    assert!(matches!(cancel, SessionCommand::Cancel { target } if target == first));
    let detached = client.user_message("two").await.detach();
    let mut watch = client.watch(WatchStart::Oldest);
    let _last = client.user_message("three").await.detach();
    for _ in ["two", "three"] {
        assert!(matches!(runtime.asked().await.unwrap().command, SessionCommand::UserMessage(_)));
    }
    runtime.say(&detached, SessionEvent::Done(None)).await;
    let is_end = |seen: &WatchedItem| match seen {
        WatchedItem::Happened { id, happened } if happened.is_end() => Some(id.clone()),
        _ => None,
    };
    assert_eq!(watch.wait_for_item(is_end).await, Some(detached));
}

#[tokio::test(start_paused = true)]
async fn a_runtime_that_dies_is_replaced() {
    let (client, mut processes, mut runtime) = ready(settings()).await;
    let mut watch = client.watch(WatchStart::Oldest);
    let mut request = client.user_message("hi").await;
    let id = runtime.asked().await.unwrap().id;
    runtime.say(&id, token(1)).await;
    runtime.die();
    let died = "the runtime has ended (killed); its last output was: I am gone";
    let again = "it is being restarted: send the request again";
    assert_eq!(rest(&mut request).await, format!("1 tokens, {died}; {again}"));
    let waiting = client.user_message("again").await;
    let mut runtime = processes.recv().await.unwrap();
    runtime.greet().await;
    assert_eq!(runtime.asked().await.unwrap().id, waiting.id());
    let mut states = Vec::new();
    while states.len() < 6 {
        let watched = watch.next().await.unwrap();
        if let WatchedItem::State(state) = watched.what {
            let name = format!("{state:?}");
            let end = name.find([' ', '(', '{']).unwrap_or(name.len());
            states.push(format!("{} {}", watched.epoch, &name[..end]));
        }
    }
    let expected = ["1 Starting", "1 Ready", "1 Died", "1 Restarting", "2 Starting", "2 Ready"];
    assert_eq!(states, expected);
    assert!(matches!(client.state(), RuntimeState::Ready(_)));
}

#[tokio::test(start_paused = true)]
async fn a_late_watcher_goes_on_where_it_stopped() {
    let mut settings = settings();
    settings.kept = 64 * 1024;
    let (client, _processes, mut runtime) = ready(settings).await;
    let request = client.user_message("hi").await;
    let id = runtime.asked().await.unwrap().id;
    runtime.say(&id, token(1)).await;
    let mut watch = client.watch(WatchStart::Oldest);
    let is_token = |seen: &WatchedItem| matches!(seen, WatchedItem::Happened { .. }).then_some(());
    watch.wait_for_item(is_token).await.unwrap();
    let mut last = client.watch(WatchStart::Oldest);
    let mut stopped = 0;
    while let Some(watched) = last.next().await {
        stopped = watched.seq;
        if is_token(&watched.what).is_some() {
            break;
        }
    }
    assert_eq!(stopped, 4, "starting, ready, asked, token");
    runtime.say(&id, token(2)).await;
    let watched = client.watch(WatchStart::After(stopped)).next().await.unwrap();
    assert_eq!((watched.epoch, watched.seq), (1, 5));
    for _ in 0..3 {
        runtime.say(&id, token(40 * 1024)).await;
    }
    runtime.say(&id, SessionEvent::Done(None)).await;
    assert_eq!(rest(&mut { request }).await, "5 tokens, done");
    let mut late = client.watch(WatchStart::After(stopped));
    let missed = late.next().await.unwrap();
    assert!(matches!(missed.what, WatchedItem::Missed { from: 5, to: 7 }), "{missed:?}");
    assert_eq!(missed.seq, 7);
    assert_eq!(late.next().await.unwrap().seq, 8);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_slow_gets_everything() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut request = client.user_message("hi").await;
    let id = runtime.asked().await.unwrap().id;
    let flood = tokio::spawn(async move {
        // Three times what may wait.
        for _ in 0..48 {
            runtime.say(&id, token(MOST_UNREAD / 16)).await;
        }
        runtime.say(&id, SessionEvent::Done(None)).await;
        runtime
    });
    let mut count = 0;
    while let Some(happened) = request.next().await {
        assert!(
            client.handle.shared.unread.load(Ordering::Relaxed) < MOST_UNREAD + MOST_UNREAD / 8
        );
        sleep(Duration::from_millis(200)).await;
        count += usize::from(!happened.is_end());
    }
    assert_eq!(count, 48);
    flood.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_loses_its_request_and_no_other() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut slow = message_in(&client, "one", "hi").await;
    let mut other = message_in(&client, "two", "hi").await;
    let slow_id = runtime.asked().await.unwrap().id;
    let other_id = runtime.asked().await.unwrap().id;
    let flood = tokio::spawn(async move {
        for _ in 0..100 {
            runtime.say(&slow_id, token(MOST_UNREAD / 16)).await;
        }
        runtime.say(&other_id, SessionEvent::Done(None)).await;
        runtime
    });
    assert_eq!(rest(&mut other).await, "0 tokens, done");
    let end = rest(&mut slow).await;
    assert!(end.starts_with("0 tokens, the request was cancelled, because its events"), "{end}");
    assert_eq!(client.handle.shared.unread.load(Ordering::Relaxed), 0);
    let cancel = flood.await.unwrap().asked().await.unwrap().command;
    assert!(matches!(cancel, SessionCommand::Cancel { target } if target == slow.id()));
}

#[tokio::test(start_paused = true)]
async fn a_runtime_that_does_not_read_keeps_nobody_for_ever() {
    let (client, _processes, runtime) = ready(settings()).await;
    let large = "x".repeat(MOST_UNSENT / 2 - 1024);
    let mut first = client.user_message(large.clone()).await;
    let mut second = client.user_message(large.clone()).await;
    // There is no room for a third before the time of the first two is up.
    let mut third = client.user_message(large.clone()).await;
    let not_taken = "0 tokens, the runtime did not read the request within 30 s";
    assert_eq!(rest(&mut third).await, not_taken);
    assert_eq!(rest(&mut first).await, not_taken);
    assert_eq!(rest(&mut second).await, not_taken);
    let mut huge = client.user_message("x".repeat(MAX_LINE)).await;
    let end = rest(&mut huge).await;
    assert!(end.contains("but 10485760 is the limit"), "{end}");
    // When it reads again, what was half written is cancelled, and the rest never comes.
    let mut runtime = runtime;
    let request = client.user_message("at last").await;
    assert_eq!(runtime.asked().await.unwrap().id, first.id());
    let next = runtime.asked().await.unwrap();
    assert_eq!(next.id, request.id());
    let cancel = runtime.asked().await.unwrap().command;
    assert!(matches!(cancel, SessionCommand::Cancel { target } if target == first.id()));
}

#[tokio::test(start_paused = true)]
async fn too_many_turns_wait_and_answers_do_not() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut open = Vec::new();
    for _ in 0..MOST_TURNS {
        open.push(client.user_message("hi").await);
        runtime.asked().await.unwrap();
    }
    let status = client.send(SessionCommand::GetStatus).await;
    assert!(matches!(runtime.asked().await.unwrap().command, SessionCommand::GetStatus));
    drop(status);
    let mut surplus = client.user_message("one more").await;
    let end = rest(&mut surplus).await;
    assert!(end.contains("192 requests are open"), "{end}");
    runtime.say(open[0].id(), SessionEvent::Done(None)).await;
    let next = client.user_message("one more").await;
    assert_eq!(runtime.asked().await.unwrap().id, next.id());
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_lets_the_process_go() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut watch = client.watch(WatchStart::Now);
    drop(client);
    sleep(Duration::from_hours(1)).await;
    assert!(runtime.leash.try_recv().is_err_and(|error| error == mpsc::error::TryRecvError::Empty));
    let watched = tokio::time::timeout(Duration::from_secs(1), watch.next()).await;
    assert!(watched.is_err(), "{watched:?}");
    drop(watch);
    assert!(runtime.asked().await.is_none(), "stdin is closed");
    assert!(runtime.leash.recv().await.is_none(), "the leash is dropped");
    runtime.die();
}

#[tokio::test(start_paused = true)]
async fn closing_ends_requests_and_watchers_of_all() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut watch = client.watch(WatchStart::Now);
    let mut request = client.user_message("hi").await;
    runtime.asked().await.unwrap();
    let closing = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    assert_eq!(rest(&mut request).await, "0 tokens, the session is closed");
    assert!(runtime.asked().await.is_none());
    runtime.die();
    closing.await.unwrap();
    assert!(matches!(next_state(&mut watch).await, RuntimeState::Ended));
    assert!(watch.next().await.is_none());
    assert_eq!(
        rest(&mut client.user_message("late").await).await,
        "0 tokens, the session is closed"
    );
    client.close().await;
}

#[test]
fn without_tokio_there_is_an_error_and_its_end_is_the_end() {
    let error = Client::start(settings()).unwrap_err();
    assert!(matches!(error, ClientError::NoTokio));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (client, request, _far) = runtime.block_on(async {
        let (client, processes, far) = ready(settings()).await;
        let request = client.user_message("hi").await;
        (client, request, (processes, far))
    });
    drop(runtime);
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    other.block_on(async {
        let (mut request, mut watch) = (request, client.watch(WatchStart::Now));
        let end = tokio::time::timeout(Duration::from_secs(30), rest(&mut request)).await;
        assert_eq!(end.unwrap(), "0 tokens, the session is closed");
        client.close().await;
        assert!(watch.next().await.is_none());
    });
}

#[tokio::test(start_paused = true)]
async fn garbage_is_counted_and_nothing_else() {
    let (client, _processes, mut runtime) = ready(settings()).await;
    let mut updates = client.passed_over_updates();
    let message = UserMessage::new("hi");
    let mut request = client.send(SessionCommand::UserMessage(message)).await;
    let id = runtime.asked().await.unwrap().id;
    assert!(!updates.has_changed().unwrap(), "nothing was ignored yet");
    runtime.write(b"no json\n\xff\xfe\n\n{\"type\":\"dance\",\"id\":\"1\"}\n").await;
    runtime.write(&vec![b' '; MAX_LINE]).await;
    runtime.write(b"xx\n").await;
    runtime.say("nobody", token(1)).await;
    runtime.say(&id, SessionEvent::Done(None)).await;
    assert_eq!(rest(&mut request).await, "0 tokens, done");
    let passed = *client.passed_over_updates().borrow();
    let counts = (passed.unreadable, passed.unknown, passed.too_long, passed.stray);
    assert_eq!(counts, (2, 1, 1, 1));
    assert!(updates.has_changed().unwrap());
    assert_eq!(*updates.borrow_and_update(), passed);
}
