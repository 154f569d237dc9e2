//! `kill -9` at any moment of a conversation with tools: nothing that was shown is lost, nothing
//! runs twice, and the strict service accepts the conversation that continues from what is left, in
//! which the model reads what was interrupted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use callgate_store::{ChainReport, Store};
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::DEADLINE;
use callgate_testkit::until::until;
use rusqlite::Connection;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, notices, words};

const SEED: u64 = 20_261_115;
/// How many processes are killed after a line of their output, and how many at each moment of a
/// tool's run: 200 in all.
const BY_LINE: usize = 158;
const BY_MOMENT: usize = 14;
/// How many are at it at once.
const WORKERS: usize = 4;

const ASKED: [&str; 4] = ["look around", "write it down", "run it", "and then?"];
const BACK: &str = "are you back?";
/// What the model reads about a call, and about an answer, whose process was killed.
const UNKNOWN: &str = "it is unknown whether the call finished";
const CUT_OFF: &str = "Your answer was cut off here";
const RULES: &str = "[[rule]]\nname = \"run\"\ndecide = \"allow\"\ncommand = \"*\"\n
[[rule]]\nname = \"write\"\ndecide = \"allow\"\nclass = \"write\"\npath = \"/**\"\n";
const CONFIG: &str = "[agent]\nthinking_tokens = 1024\n";
const APART: &str = "history = \"~/.local/share/callgate/history.db\"\n";

/// When a process is killed.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// When so many lines of its output were read; the messages were sent at once, or each after
    /// the end of the one before; after this time.
    Line { count: usize, at_once: bool, after: Duration },
    /// While a command runs that has said something.
    Running { is_first: bool },
    /// When a command has ended, and nobody could note it yet.
    Ended { is_first: bool },
    /// When the ledger has its end, and the conversation has not.
    Recorded { is_first: bool },
}

/// What is left of a conversation whose process was killed.
struct Left {
    setup: Setup,
    fake: Messages,
    /// All lines that its front end has read.
    seen: Vec<Value>,
}

/// Gives the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn whenever_it_is_killed_the_conversation_goes_on() {
    let (whole, lines) = uncut();
    let points = points(lines);
    assert_eq!(points.len(), 200);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A thread of its own, so that a failure names the point.
                    let thread = thread::Builder::new().name(format!("{point:?}"));
                    let run = || go_on(*point, killed(*point), &whole);
                    thread.spawn_scoped(scope, run).unwrap().join().unwrap();
                }
            });
        }
    });
}

fn points(lines: usize) -> Vec<Point> {
    let mut random = Random(SEED);
    let mut points: Vec<Point> = (0..BY_LINE)
        .map(|number| Point::Line {
            // Every part of the output is met.
            count: 1 + (number * lines + random.below(lines)) / BY_LINE,
            at_once: random.below(2) == 0,
            after: Duration::from_micros(random.below(3).pow(2) as u64 * 500),
        })
        .collect();
    for number in 0..BY_MOMENT {
        let is_first = number % 2 == 0;
        points.push(Point::Running { is_first });
        points.push(Point::Ended { is_first });
        points.push(Point::Recorded { is_first });
    }
    points
}

/// The conversation: tools side by side, a change, a failure, a command, thoughts, long texts.
fn script() -> Vec<Turn> {
    let long = "Thirty-one words, or so, that come in many small pieces. ".repeat(4);
    let redacted = json!({"type": "redacted_thinking", "data": "EuYBCkQYAiJA"});
    vec![
        Turn::new()
            .thinking("Which files are there?")
            .and_text("I look.")
            .tool_with_id("t1", "list_files", json!({"path": "."}))
            .tool_with_id("t2", "read_file", json!({"path": "a.txt"}))
            .tool_with_id("t3", "search_text", json!({"pattern": "needle"})),
        Turn::text(long.clone()),
        Turn::new().thinking("Now I write.").tool_with_id(
            "t4",
            "write_file",
            json!({"path": "made.txt", "content": "one\ntwo\n"}),
        ),
        Turn::text("And I change it.")
            .tool_with_id(
                "t5",
                "edit_file",
                json!({"path": "made.txt", "oldText": "two", "newText": "three"}),
            )
            .tool_with_id("t6", "read_file", json!({"path": "missing.txt"})),
        Turn::text(long.clone()),
        Turn::new().tool_with_id("t7", "run_shell_command", json!({"command": "./say"})),
        Turn::new().raw(redacted).tool_with_id("t8", "read_file", json!({"path": "made.txt"})),
        Turn::text("It said three things."),
        Turn::new().thinking("All is done.").and_text(long),
    ]
}

fn fake(turns: impl IntoIterator<Item = Turn>) -> Messages {
    let fake = Messages::start(turns);
    let again = Turn::new().tool_with_id("t99", "read_file", json!({"path": "a.txt"}));
    fake.conversation(BACK, [again, Turn::text("I am back.")]);
    fake
}

fn setup(fake: &Messages, config: &str) -> Setup {
    let setup = Setup::on(fake).rules(RULES).config(config);
    let setup = setup.file("a.txt", "hay\nneedle\n");
    let setup = setup.script("say", "echo ran >> effect; echo one; echo two; echo three");
    mkfifoat(CWD, setup.work().join("gate"), Mode::from_raw_mode(0o600)).unwrap();
    setup.script("job", "echo started; cat gate; echo ran >> effect")
}

/// The whole conversation as it is kept, and how many lines its runtime wrote.
fn uncut() -> (Vec<Value>, usize) {
    let fake = fake(script());
    let mut agent = setup(&fake, CONFIG).start();
    agent.hello();
    let mut lines = 2;
    for (number, message) in ASKED.iter().enumerate() {
        let id = number.to_string();
        agent.say_in("it", &id, message);
        let all = agent.all(&id);
        assert_eq!(all.last().unwrap()["data"]["stopReason"], "end_turn", "{all:#?}");
        lines += all.len();
    }
    let whole = agent.load("it");
    assert!(whole.len() > 15, "{whole:#?}");
    (whole, lines)
}

/// Starts a conversation and kills its process.
fn killed(point: Point) -> Left {
    match point {
        Point::Line { count, at_once, after } => killed_at_line(count, at_once, after),
        Point::Running { is_first } => killed_in_tool(
            is_first,
            CONFIG,
            |_, _| Vec::new(),
            |ledger| {
                assert!(ledger.contains("running") && !ledger.contains("ran"), "{ledger:?}");
            },
        ),
        Point::Ended { is_first } => {
            let config = CONFIG;
            let moment = |agent: &mut Runtime, setup: &Setup| {
                let lock = write_lock(&setup.database());
                open_gate(&setup.work().join("gate"));
                until("the effect", || setup.work().join("effect").exists());
                end(agent, Some(lock))
            };
            killed_in_tool(is_first, config, moment, |ledger| {
                assert!(ledger.contains("running") && !ledger.contains("ran"), "{ledger:?}");
            })
        }
        Point::Recorded { is_first } => {
            let config = format!("{CONFIG}{APART}");
            let moment = |agent: &mut Runtime, setup: &Setup| {
                let lock = write_lock(&setup.database().with_file_name("history.db"));
                open_gate(&setup.work().join("gate"));
                until("the run", || kinds_of(setup, "job").contains("ran"));
                end(agent, Some(lock))
            };
            killed_in_tool(is_first, &config, moment, |ledger| {
                assert!(ledger.contains("ran"), "{ledger:?}");
            })
        }
    }
}

fn killed_at_line(count: usize, at_once: bool, after: Duration) -> Left {
    let fake = fake(script());
    let setup = setup(&fake, CONFIG);
    let mut agent = setup.start();
    let capabilities = ["thinking", "tool_progress", "permission", "notice"];
    agent.send(&json!({"id": "hello", "kind": "hello", "capabilities": capabilities}));
    let mut unsent = ASKED.iter().enumerate();
    let first = if at_once { ASKED.len() } else { 1 };
    for (number, message) in unsent.by_ref().take(first) {
        agent.say_in("it", &number.to_string(), message);
    }
    let mut seen = Vec::new();
    let is_over = |seen: &[Value]| ends(seen).len() > ASKED.len();
    while seen.len() + 1 < count && !is_over(&seen) {
        seen.push(agent.next());
        let has_ended = seen.last().is_some_and(|line| line["type"] == "done");
        if has_ended && seen.last().unwrap()["id"] != "hello" {
            for (number, message) in unsent.by_ref().take(1) {
                agent.say_in("it", &number.to_string(), message);
            }
        }
    }
    let until = Instant::now() + after;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    seen.extend(end(&mut agent, None));
    Left { setup, fake, seen }
}

/// A turn that ends, then one that is killed in its command: the first tool, or the second.
fn killed_in_tool(
    is_first: bool,
    config: &str,
    moment: impl FnOnce(&mut Runtime, &Setup) -> Vec<Value>,
    check_ledger: impl FnOnce(BTreeSet<String>),
) -> Left {
    let mut turns = script();
    turns.truncate(2);
    if !is_first {
        turns.push(Turn::new().tool_with_id("t4", "read_file", json!({"path": "a.txt"})));
    }
    let job = json!({"command": "./job"});
    turns.push(Turn::text("I run it.").tool_with_id("job", "run_shell_command", job));
    // The model is asked while the round is being kept; what it says then is never seen.
    turns.push(Turn::text("Never seen."));
    let fake = fake(turns);
    let setup = setup(&fake, config);
    let mut agent = setup.start();
    agent.hello();
    agent.say_in("it", "0", ASKED[0]);
    let mut seen = agent.all("0");
    assert_eq!(seen.last().unwrap()["type"], "done");
    agent.say_in("it", "1", ASKED[1]);
    while seen.last().unwrap()["type"] != "tool_progress" {
        seen.push(agent.next_of("1"));
    }
    seen.extend(moment(&mut agent, &setup));
    seen.extend(end(&mut agent, None));
    // Whoever still waits there may go.
    drop(File::options().read(true).write(true).open(setup.work().join("gate")));
    check_ledger(kinds_of(&setup, "job"));
    Left { setup, fake, seen }
}

/// Kills the process and gives what it had still written; then the lock is let go.
fn end(agent: &mut Runtime, lock: Option<Connection>) -> Vec<Value> {
    agent.piped.signal(Signal::KILL);
    agent.piped.wait_exit(DEADLINE);
    drop(lock);
    let mut rest = Vec::new();
    while let Some(line) = agent.piped.recv_line_or_end() {
        // The last one may be half a line.
        rest.extend(serde_json::from_str::<Value>(&line));
    }
    rest
}

/// The ids of the requests that have ended.
fn ends(lines: &[Value]) -> BTreeSet<String> {
    let ended = lines.iter().filter(|line| line["type"] == "done");
    ended.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

/// Goes on with what is left, and looks whether all is right.
fn go_on(point: Point, left: Left, whole: &[Value]) {
    let Left { setup, fake, seen } = left;
    // The conversation that was used last is the one, or none is there yet.
    let setup = setup.arg("--resume");
    let mut agent = setup.start();
    agent.hello();
    let listed = agent.ask(&json!({"id": "c", "kind": "list_conversations"}));
    let conversation = listed["data"]["current"].as_str().unwrap().to_owned();
    let (mut kept, mut shown) = (Vec::new(), Vec::new());
    if conversation == "it" {
        agent.send(&json!({"id": "e", "kind": "load_conversation", "conversationId": "it",
            "as": "events"}));
        shown = agent.all("e");
        kept = agent.load("it");
    }
    if matches!(point, Point::Line { .. }) {
        is_beginning(&kept, whole);
    }
    assert_nothing_lost(&seen, &shown);
    let is_unfinished = shown.last().is_some_and(|done| done["data"]["isUnfinished"] == true);
    let has_ended = kept.last().is_none_or(is_last_answer);
    assert_eq!(is_unfinished, !has_ended, "{kept:#?}");
    agent.say("back", BACK);
    let all = agent.all("back");
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    assert_eq!(words(&all), "I am back.");
    assert_eq!(notices(&all).contains(&"interrupted"), is_unfinished, "{all:#?}");
    let requests = fake.requests();
    let refusals: Vec<_> = requests.iter().filter_map(|request| request.refusal.clone()).collect();
    assert!(refusals.is_empty(), "{refusals:#?}");
    assert_told(&shown, &requests.last().unwrap().body.to_string());
    assert_eq!(agent.load(&conversation).len(), kept.len() + 4);
    let effect = fs::read_to_string(setup.work().join("effect")).unwrap_or_default();
    assert!(["", "ran\n"].contains(&&*effect), "a command has run twice");
    let verified = Store::open_read_only(&setup.database()).unwrap().verify().unwrap();
    assert!(matches!(verified, ChainReport::Whole { .. }), "{verified:?}");
}

/// What is kept is what would have been kept, up to the messages of an unfinished round.
fn is_beginning(kept: &[Value], whole: &[Value]) {
    let shapes = |messages: &[Value]| messages.iter().map(shape).collect::<Vec<_>>();
    let finished = kept.len().saturating_sub(2);
    assert_eq!(shapes(&kept[..finished]), shapes(&whole[..finished]));
}

/// Everything that a front end has read about its messages is in the conversation.
fn assert_nothing_lost(seen: &[Value], shown: &[Value]) {
    let turns: Vec<&[Value]> = shown.split(|line| line["type"] == "user_message").collect();
    let asked = shown.iter().filter(|line| line["type"] == "user_message");
    let asked: Vec<&Value> = asked.map(|line| &line["data"]["message"]).collect();
    for (number, message) in ASKED.iter().enumerate() {
        let id = number.to_string();
        let seen: Vec<&Value> = seen.iter().filter(|line| line["id"] == *id).collect();
        if seen.iter().all(|line| line["type"] == "notice") {
            continue;
        }
        let at = asked.iter().position(|asked| **asked == json!(message));
        let shown = turns[1 + at.unwrap_or_else(|| panic!("{message:?} is gone"))];
        for kind in ["token", "thinking"] {
            let joined = |lines: &mut dyn Iterator<Item = &Value>| -> String {
                lines.filter_map(|line| line[kind].as_str()).collect()
            };
            let (was, is) = (joined(&mut seen.iter().copied()), joined(&mut shown.iter()));
            assert!(is.starts_with(&was), "{kind}: {was:?} was shown, and {is:?} is left");
            if seen.iter().any(|line| line["type"] == "done") {
                assert_eq!(is, was, "the answer to {message:?} is not what was shown");
            }
        }
        for was in seen {
            let fields = match was["type"].as_str().unwrap() {
                "tool_use" => ["toolName", "input"],
                "tool_result" => ["result", "isError"],
                _ => continue,
            };
            let is_it = |line: &&Value| {
                line["type"] == was["type"] && line["data"]["toolId"] == was["data"]["toolId"]
            };
            let Some(is) = shown.iter().find(is_it) else { panic!("{was} is gone: {shown:#?}") };
            for field in fields {
                assert_eq!(is["data"][field], was["data"][field], "{was}");
            }
        }
    }
}

/// The model reads of each call, and of an answer, that they were interrupted.
fn assert_told(shown: &[Value], sent: &str) {
    let interrupted = shown.iter().filter(|line| line["data"]["result"]["interrupted"] == true);
    assert_eq!(sent.matches(UNKNOWN).count(), interrupted.count(), "{shown:#?}\n{sent}");
    let is_cut = notices(shown).contains(&"interrupted");
    assert_eq!(sent.contains(CUT_OFF), is_cut, "{shown:#?}\n{sent}");
}

fn is_last_answer(message: &Value) -> bool {
    let blocks = message["content"].as_array().unwrap();
    let is_open = |block: &Value| block["type"] == "tool_use" || block["type"] == "interrupted";
    message["role"] == "assistant" && !blocks.iter().any(is_open)
}

/// A message without what differs from run to run.
fn shape(message: &Value) -> Value {
    let mut message = message.clone();
    for block in message["content"].as_array_mut().unwrap() {
        if block["type"] == "tool_result" {
            block["content"] = json!("");
        }
    }
    message
}

/// The kinds of all entries in the ledger about a call.
fn kinds_of(setup: &Setup, call: &str) -> BTreeSet<String> {
    let connection = Connection::open(setup.database()).unwrap();
    let mut entries =
        connection.prepare("SELECT kind FROM entries WHERE body ->> 'call' = ?").unwrap();
    entries.query_map([call], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Nobody else writes to the file until this is dropped.
fn write_lock(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.busy_timeout(DEADLINE).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

/// Lets go whoever waits at the gate, once somebody does.
fn open_gate(gate: &Path) {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    until("somebody at the gate", || {
        File::options().write(true).custom_flags(flags).open(gate).is_ok()
    });
}
