//! Bad input from a box changes nothing and is reported: a box that a seed plays, and the exact
//! words for single faults.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use callgate_store::{LedgerEntry, Store};
use callgate_testkit::leaks::resident_kib;
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_testkit::until::until;
use callgate_wire::desk::{InboxRow, RemoteState};
use callgate_wire::relay::MAX_LINE;
use serde_json::{Value, json};

use super::fixture::{BOX, Hook, House, Person, verify_ledger};
use super::hostile_lines::{HostileLine, HostileMember, SeededNumbers};

/// How many lines a seed has at most.
const LINES: usize = 40;
/// How many seeds are played; the variable `CALLGATE_ATTACKS` sets another number.
const SEEDS: u64 = 20;
/// What the desk may have in memory while it is attacked, in KiB.
const MOST_MEMORY: u64 = 256 * 1024;
/// How often one connection may be warned of.
const MOST_WARNINGS: usize = 40;
/// In one of how many seeds the box tells entries of its ledger.
const ENTRIES_IN: u64 = 4;
/// In one of how many seeds the box begins with a line that is too long.
const ENDLESS_IN: u64 = 8;
/// How many of the lines before are kept for replays.
const MOST_REPLAYED: usize = 200;

/// The box's end of the line, and everything that has come on it.
struct BoxLine {
    stream: TcpStream,
    heard: Vec<u8>,
    is_over: bool,
    /// How much the desk had written when the line began.
    log_before: usize,
}

impl BoxLine {
    /// Sends bytes, unless the desk has ended the line.
    fn send(&mut self, bytes: &[u8]) {
        self.is_over = self.is_over || self.stream.write_all(bytes).is_err();
    }

    /// Takes what has come, or comes within a moment.
    fn listen(&mut self, moment: Duration) {
        let mut part = [0; 16 * 1024];
        self.stream.set_read_timeout(Some(moment)).unwrap();
        match self.stream.read(&mut part) {
            Ok(count) => {
                self.heard.extend(&part[..count]);
                self.is_over |= count == 0;
            }
            Err(error) => self.is_over |= error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }

    /// Reads until something was said, or the desk has ended the line.
    fn read_until(&mut self, what: &str, is_heard: impl Fn(&Self) -> bool) {
        until(what, || {
            let is_done = is_heard(self) || self.is_over;
            if !is_done {
                self.listen(Duration::from_millis(20));
            }
            is_done
        });
    }

    /// Waits until the desk has handled everything that was sent.
    fn settle(&mut self, mark: &str) {
        self.send(format!("{{\"kind\":\"{mark}\"}}\n").as_bytes());
        self.read_until(mark, |line| String::from_utf8_lossy(&line.heard).contains(mark));
    }

    fn orders(&self, kind: &str) -> Vec<Value> {
        let lines = self.heard.split(|byte| *byte == b'\n');
        let orders = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        orders.filter(|order| order["kind"] == kind).collect()
    }
}

/// A laptop, and a box that the test plays.
struct AttackedLaptop {
    house: House,
    listener: TcpListener,
    member: HostileMember,
    line: Option<BoxLine>,
    /// What the box has said before.
    said: Vec<Vec<u8>>,
    /// A question of an agent on the laptop, which stays open.
    victim: InboxRow,
    /// What Ada has answered, by question.
    answered: BTreeMap<String, &'static str>,
    /// How many good questions were answered between the bad lines.
    served: u64,
}

impl AttackedLaptop {
    fn start() -> (Self, Person, Hook) {
        let house = House::over_pipe();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        house.write_ssh(&format!(
            "exec bash -c 'exec 4<&0 3<>/dev/tcp/127.0.0.1/{port}; cat <&4 >&3 & exec cat <&3 4<&-'"
        ));
        house.up();
        let mut ada = house.person("Ada");
        let hook = ask_here(&house, "make desk");
        let victim = ada.question(&house, "make desk");
        let member = HostileMember::new(BOX, vec![victim.question.clone()]);
        let attacked = Self {
            house,
            listener,
            member,
            line: None,
            said: Vec::new(),
            victim,
            answered: BTreeMap::new(),
            served: 0,
        };
        (attacked, ada, hook)
    }

    /// Waits for the laptop, says hello mostly, and that no question is open, so that the laptop
    /// does not wait longer and longer before it connects again.
    fn connect(&mut self, numbers: &mut SeededNumbers) -> BoxLine {
        let log_before = self.house.laptop.text("up.log").len();
        let (stream, _) = self.house.until("the laptop connects", || self.listener.accept().ok());
        stream.set_nonblocking(false).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        let mut line = BoxLine { stream, heard: Vec::new(), is_over: false, log_before };
        if numbers.chance(8) {
            line.send(b"{\"kind\":\"beat\"}\n");
        }
        line.send(&HostileMember::hello(numbers));
        line.send(b"{\"kind\":\"synced\",\"open\":[]}\n");
        line
    }

    /// Returns the next line: an invented one, one that was said before, or a question that looks
    /// like that of the laptop's agent.
    fn next_line(&mut self, numbers: &mut SeededNumbers, seed: u64) -> HostileLine {
        let plain = |bytes: Vec<u8>| HostileLine { bytes, asks: None, is_wrong: false };
        match numbers.below(24) {
            0..3 if !self.said.is_empty() => plain(numbers.one_of(&self.said).clone()),
            3 => {
                let id = format!("{:08x}-0000-4000-8000-{:012}", seed, self.member.own.len());
                let cwd = self.house.laptop.folder().display().to_string();
                let question = question(&id, "make desk", &cwd);
                HostileLine {
                    bytes: format!("{question}\n").into(),
                    asks: Some(id),
                    is_wrong: false,
                }
            }
            _ => loop {
                let line = self.member.next_line(numbers, seed);
                // Each wrong entry ends the line, so few seeds have any.
                if seed.is_multiple_of(ENTRIES_IN)
                    || !line.bytes.starts_with(b"{\"kind\":\"entry\"")
                {
                    break line;
                }
            },
        }
    }

    fn play_seed(&mut self, ada: &mut Person, seed: u64) {
        let mut numbers = SeededNumbers(seed);
        let line = self.line.take().filter(|line| !line.is_over);
        let mut line = line.unwrap_or_else(|| self.connect(&mut numbers));
        let mut is_told = false;
        if seed % ENDLESS_IN == 1 {
            line.send(&vec![b'x'; MAX_LINE + numbers.below(MAX_LINE)]);
            line.send(b"\n");
            is_told = true;
        }
        for _ in 0..numbers.below(LINES) {
            let HostileLine { bytes, asks, is_wrong } = self.next_line(&mut numbers, seed);
            is_told |= is_wrong;
            self.member.own.extend(asks);
            let (first, rest) = bytes.split_at(numbers.below(bytes.len()));
            line.send(first);
            if numbers.chance(LINES) {
                // The rest drips while the laptop has other things to do.
                self.serve_the_laptop(ada, seed);
                rest.iter().take(64).for_each(|byte| line.send(&[*byte]));
                line.send(rest.get(64..).unwrap_or_default());
            } else {
                line.send(rest);
            }
            let is_entry = bytes.starts_with(b"{\"kind\":\"entry\"");
            if bytes.len() < 4096 && self.said.len() < MOST_REPLAYED && !is_entry {
                self.said.push(bytes);
            }
        }
        if numbers.chance(5) {
            // It goes away in the middle of a line.
            line.send(b"{\"kind\":\"question\",");
        } else {
            line.settle(&format!("mark-{seed}"));
            let errors = line.orders("error").len();
            assert!(!is_told || line.is_over || errors > 0, "seed {seed}: nothing was told");
            self.ask_well(ada, &mut line, &mut numbers, seed);
            if !line.is_over {
                self.line = Some(line);
                self.check_seed(ada, seed);
                return;
            }
        }
        self.check_line(&line, seed);
        drop(line);
        self.check_seed(ada, seed);
    }

    /// Asks something on the laptop itself, and has Ada allow it.
    fn serve_the_laptop(&mut self, ada: &mut Person, seed: u64) {
        let command = format!("make local-{seed}-{}", self.answered.len());
        let hook = ask_here(&self.house, &command);
        let row = ada.question(&self.house, &command);
        assert_eq!(row.machine, None, "seed {seed}");
        self.answered.insert(row.question.clone(), "allow");
        assert!(ada.allow(&row).0, "seed {seed}");
        assert_eq!(hook.decision()["behavior"], "allow", "seed {seed}");
    }

    /// Asks a good question between the bad lines. Ada answers it, and the box gets that answer.
    fn ask_well(
        &mut self,
        ada: &mut Person,
        line: &mut BoxLine,
        numbers: &mut SeededNumbers,
        seed: u64,
    ) {
        let id = format!("{seed:08x}-0000-4000-9000-000000000000");
        let command = format!("make good-{seed}");
        self.member.own.push(id.clone());
        line.send(format!("{}\n", question(&id, &command, "/w")).as_bytes());
        let row = self.house.until("the good question, or the end of the line", || {
            line.listen(Duration::from_millis(1));
            let row = ada.inbox().into_iter().find(|row| row.summary == command);
            (row.is_some() || line.is_over).then_some(row)
        });
        let Some(row) = row else { return };
        assert_eq!(row.machine.as_deref(), Some(BOX), "seed {seed}");
        let is_allowed = numbers.chance(2);
        self.answered.insert(id.clone(), if is_allowed { "allow" } else { "deny" });
        let told = json!({ "kind": "told", "question": id, "done": true, "text": "x" });
        std::thread::scope(|scope| {
            scope.spawn(|| if is_allowed { ada.allow(&row) } else { ada.deny(&row) });
            line.read_until("the answer", |line| {
                line.orders("answer").iter().any(|answer| answer["question"] == id.as_str())
            });
            line.send(format!("{told}\n{told}\n").as_bytes());
            line.settle(&format!("mark-{seed}-answered"));
        });
        self.served += u64::from(!line.is_over);
        self.check_line(line, seed);
    }

    /// Checks what the box received: answers of Ada to its own questions, each once, and that its
    /// faults were told here without flooding the log.
    fn check_line(&self, line: &BoxLine, seed: u64) {
        let mut heard = Vec::new();
        for answer in line.orders("answer") {
            let question = answer["question"].as_str().unwrap().to_owned();
            let given = self.answered.get(&question).copied();
            assert_eq!(answer["answer"]["decision"].as_str(), given, "seed {seed}: {answer}");
            assert!(self.member.own.contains(&question), "seed {seed}: {answer}");
            assert!(!heard.contains(&question), "seed {seed}: answered twice: {answer}");
            heard.push(question);
        }
        let log = self.house.laptop.text("up.log");
        let warnings = log[line.log_before..].lines().count();
        assert!(warnings <= MOST_WARNINGS, "seed {seed}: {warnings} warnings");
    }

    /// Checks what there is on the laptop.
    fn check_seed(&self, ada: &mut Person, seed: u64) {
        let rows = ada.inbox();
        let same: Vec<_> = rows.iter().filter(|row| row.question == self.victim.question).collect();
        assert_eq!(same, [&self.victim], "seed {seed}");
        for row in rows.iter().filter(|row| row.question != self.victim.question) {
            assert_eq!(row.machine.as_deref(), Some(self.member.name), "seed {seed}: {row:?}");
            assert!(self.member.own.contains(&row.question), "seed {seed}: never asked: {row:?}");
        }
        let copied = self.house.copied_entries();
        let genuine = &self.member.ledger;
        let is_genuine = |(at, entry): (usize, &LedgerEntry)| {
            // The first entry after pruned ones cannot be checked.
            at == 0 && entry.seq > 1 || genuine.contains(entry)
        };
        assert!(copied.iter().enumerate().all(is_genuine), "seed {seed}: {copied:#?}");
        let is_chained = |both: &[LedgerEntry]| both[1].follows(&both[0].head());
        assert!(copied.windows(2).all(is_chained), "seed {seed}: {copied:#?}");
    }

    /// Checks that nothing was pressed or decided but what Ada has answered, and nobody has got a
    /// right.
    fn check_ledger(&self) {
        for entry in self.house.laptop_entries() {
            let body: Value = serde_json::from_str(&entry.body).unwrap();
            let given = entry.question.as_ref().and_then(|id| self.answered.get(id)).copied();
            match entry.kind.as_str() {
                "pressed" => assert!(given.is_some(), "{entry:?}"),
                // Nobody has answered in time.
                "decided" if body["decision"] == "timeout" => {}
                "decided" => assert_eq!(body["decision"].as_str(), given, "{entry:?}"),
                "joined" | "invited" | "unpaired" | "saved" => panic!("{entry:?}"),
                _ => {}
            }
        }
        let database = self.house.laptop.path(".local/share/callgate/callgate.db");
        let copied = Store::open_read_only(&database).unwrap().copied_machines().unwrap();
        assert!(copied.iter().all(|name| name == BOX), "{copied:?}");
    }

    /// Checks that no face shows what a terminal would act on.
    fn check_faces(&self) {
        let is_bad = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
        let log = self.house.laptop.text("up.log");
        assert!(!log.contains(is_bad), "{log:?}");
        assert!(log.contains("it sent something wrong") && log.contains("is too long"), "{log}");
        for arguments in [&["status"][..], &["remote", "list"], &["log"], &["log", "--verify"]] {
            let told = self.house.run_on_laptop(arguments).success();
            assert!(!told.stdout.contains(is_bad), "{arguments:?}: {:?}", told.stdout);
        }
    }
}

/// An agent on the laptop asks for permission to run a command.
fn ask_here(house: &House, command: &str) -> Hook {
    House::start_hook(house.on_laptop(&["hook"]), command, house.laptop.folder())
}

fn question(id: &str, command: &str, cwd: &str) -> Value {
    json!({ "kind": "question", "ruling": "ask", "seconds": 60, "request": {
        "request_id": id, "tool_name": "Bash", "tool_input": { "command": command }, "cwd": cwd,
        "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2" } })
}

#[test]
fn a_hostile_box_changes_nothing_here_and_is_told() {
    let (mut attacked, mut ada, hook) = AttackedLaptop::start();
    let desk = attacked.house.desk_pid();
    let seeds = std::env::var("CALLGATE_ATTACKS").ok().and_then(|it| it.parse().ok());
    let seeds = seeds.unwrap_or(SEEDS);
    for seed in 0..seeds {
        attacked.play_seed(&mut ada, seed);
        assert!(resident_kib(desk) < MOST_MEMORY, "seed {seed}");
    }
    assert!(attacked.served * 3 >= seeds, "of {seeds} good questions only {}", attacked.served);
    attacked.check_ledger();
    attacked.check_faces();
    verify_ledger(&attacked.house.laptop);
    // The question here has waited for its own answer.
    assert!(ada.allow(&attacked.victim).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

/// A box that says this, and then waits.
fn house_with_box(lines: &[String]) -> House {
    let house = House::over_pipe();
    let said: Vec<String> = lines.iter().map(|line| format!("printf '%s\\n' '{line}'")).collect();
    house.write_ssh(&format!("{}\nexec cat >/dev/null", said.join("\n")));
    house.up();
    house
}

fn hello(protocol: u64) -> String {
    json!({ "kind": "hello", "protocol": protocol, "version": "9", "host": "b", "user": "bo",
        "home": "/home/bo" })
    .to_string()
}

#[test]
fn forged_entries_answers_and_kinds_are_refused() {
    let forged = json!({ "kind": "entry", "entry": { "seq": 1, "at_ms": 1, "kind": "started",
        "question": null, "hash": "0".repeat(64), "body": {} } });
    let told = json!({ "kind": "told", "question": "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
        "done": true, "text": "" });
    let allowed = json!({ "kind": "question", "ruling": "allow", "seconds": 1, "request": {} });
    let house = house_with_box(&[
        hello(1),
        json!({ "kind": "launch" }).to_string(),
        told.to_string(),
        allowed.to_string(),
        "not JSON".to_owned(),
        forged.to_string(),
    ]);
    let view = house.wait_for_state(RemoteState::Failed);
    assert_eq!(
        view.text.as_deref(),
        Some("entry 1 of its ledger does not follow the one before"),
        "{view:?}"
    );
    let log = house.laptop.text("up.log");
    for expected in ["unknown kind of message", "`ruling` must be", "not one JSON object"] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert!(house.copied_entries().is_empty());
    assert!(house.laptop_entries().iter().all(|entry| entry.question.is_none()));
}

#[test]
fn another_version_is_refused_with_what_to_do() {
    let house = house_with_box(&[hello(7)]);
    let view = house.wait_for_state(RemoteState::Failed);
    let text = view.text.unwrap();
    assert!(text.contains("version 7 of the relay protocol"), "{text}");
    assert!(text.contains("run `callgate remote add` again"), "{text}");
}

#[test]
fn the_relay_refuses_what_it_does_not_understand() {
    let house = House::over_pipe();
    let mut relay = Piped::spawn(house.on_box(&["relay"]));
    assert_eq!(relay.recv()["kind"], "hello");
    relay.send(r#"{"kind":"answer","question":"x"}"#);
    assert_eq!(relay.recv()["kind"], "error");
    relay.send(r#"{"kind":"hello","protocol":2,"version":"9","name":"laptop"}"#);
    let error = relay.recv();
    assert!(error["text"].as_str().unwrap().contains("install the same callgate on both"));
    assert!(!relay.wait_exit(DEADLINE).success());
}
