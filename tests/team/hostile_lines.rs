//! What a hostile member says: lines that a seed determines.

use callgate_store::{EntryDraft, EntryFilter, LedgerEntry, Sha256Hash, Store};
use callgate_wire::ledger::{LedgerEvent, MemberInvited, MemberKind};
use serde_json::{Value, json};

/// Clears the screen of a terminal, and renames its window.
const ESCAPES: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";

/// One of how many lines has a text that is too long.
const OVERLONG_IN: usize = 100;

/// The numbers of a seed (`SplitMix64`).
pub(crate) struct SeededNumbers(pub(crate) u64);

impl SeededNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

/// One line, with what is known of it.
pub(crate) struct HostileLine {
    pub(crate) bytes: Vec<u8>,
    /// The question that it asks, if it is a question that the member may ask.
    pub(crate) asks: Option<String>,
    /// Whether the desk has to say that it is wrong.
    pub(crate) is_wrong: bool,
}

/// A hostile member: what it has, and what it knows of others.
pub(crate) struct HostileMember {
    pub(crate) name: &'static str,
    /// Questions of others that are open.
    pub(crate) foreign: Vec<String>,
    /// The questions that it has asked.
    pub(crate) own: Vec<String>,
    /// A ledger of its own, which says what it likes.
    pub(crate) ledger: Vec<LedgerEntry>,
}

impl HostileMember {
    pub(crate) fn new(name: &'static str, foreign: Vec<String>) -> Self {
        Self { name, foreign, own: Vec::new(), ledger: invented_ledger() }
    }

    pub(crate) fn hello(numbers: &mut SeededNumbers) -> Vec<u8> {
        let name = *numbers.one_of(&["build-7", ESCAPES, "", "../../etc"]);
        let hello = json!({ "kind": "hello", "protocol": 1, "version": name, "host": name,
            "user": name, "home": format!("/home/{name}") });
        format!("{hello}\n").into_bytes()
    }

    /// Returns the next line. `seed` makes ids that no other seed makes.
    pub(crate) fn next_line(&mut self, numbers: &mut SeededNumbers, seed: u64) -> HostileLine {
        let mut asks = None;
        let known = self.known_id(numbers);
        let (value, is_wrong) = match numbers.below(20) {
            _ if numbers.chance(OVERLONG_IN) => (overlong_line(numbers, &known), true),
            0..3 => {
                let id = format!("{:08x}-0000-4000-8000-{:012}", seed, self.own.len());
                asks = Some(id.clone());
                (invented_question(numbers, &id), false)
            }
            // Another machine's, or one of its own a second time.
            3..6 => (invented_question(numbers, &known), false),
            6 => (
                json!({ "kind": "closed", "question": known, "decision": "allow", "by": "Ada",
                    "text": ESCAPES }),
                false,
            ),
            7 => {
                (json!({ "kind": "told", "question": known, "done": true, "text": ESCAPES }), false)
            }
            8 => (json!({ "kind": "said", "question": known, "last_words": ESCAPES }), false),
            9 => (json!({ "kind": "synced", "open": vec![known; numbers.below(3)] }), false),
            10 => (json!({ "kind": "synced", "open": vec![known; 3000] }), true),
            11 | 12 => (self.invented_entry(numbers), false),
            13 => (json!({ "kind": "anew", "text": ESCAPES }), false),
            14 => (json!({ "kind": "waiting", "text": ESCAPES }), false),
            15 => (json!({ "kind": "error", "text": ESCAPES }), false),
            16 => (json!({ "kind": "granted", "token": "x".repeat(400) }), true),
            17 => (
                json!({ "kind": "answer", "question": known,
                    "answer": { "decision": "allow", "by": "Ada" } }),
                true,
            ),
            18 => (json!({ "kind": "rules", "bundle": "{}" }), true),
            _ => {
                let kinds = [json!("launch"), json!(7), json!(null), json!(["hello"])];
                (json!({ "kind": numbers.one_of(&kinds), "question": known }), true)
            }
        };
        let mut bytes = value.to_string().into_bytes();
        let is_mangled = numbers.chance(6);
        if is_mangled {
            asks = None;
            match numbers.below(5) {
                0 => bytes.truncate(numbers.below(bytes.len())),
                1 => bytes.insert(numbers.below(bytes.len()), 0xff),
                2 => bytes = vec![b'['; 1 + numbers.below(100_000)],
                3 => bytes.push(b'}'),
                _ => bytes = vec![b'x'; 1 + numbers.below(200_000)],
            }
        }
        if bytes.is_empty() {
            bytes.push(b'{');
        }
        bytes.push(b'\n');
        HostileLine { bytes, asks, is_wrong: is_wrong || is_mangled }
    }

    fn known_id(&self, numbers: &mut SeededNumbers) -> String {
        let all: Vec<&String> = self.foreign.iter().chain(&self.own).collect();
        (*numbers.one_of(&all)).clone()
    }

    /// An entry that follows the one before, or that does not.
    fn invented_entry(&self, numbers: &mut SeededNumbers) -> Value {
        let entry = numbers.one_of(&self.ledger);
        let mut value = json!({ "seq": entry.seq, "at_ms": entry.at_ms, "kind": entry.kind,
            "question": entry.question, "hash": Sha256Hash(entry.hash).to_string(),
            "body": serde_json::from_str::<Value>(&entry.body).unwrap() });
        match numbers.below(8) {
            0 => value["hash"] = json!("0".repeat(64)),
            1 => value["hash"] = json!("none"),
            2 => value["seq"] = json!(u64::MAX),
            3 => value["at_ms"] = json!(i64::MIN),
            4 => value["kind"] = json!(ESCAPES),
            5 => value["question"] = json!(self.known_id(numbers)),
            _ => {}
        }
        json!({ "kind": "entry", "entry": value })
    }
}

/// A question with much that is not for a member to say.
fn invented_question(numbers: &mut SeededNumbers, id: &str) -> Value {
    let events = ["PermissionRequest", "PreToolUse", "PermissionDenied", "SessionEnd", ESCAPES];
    json!({
        "kind": "question",
        "ruling": numbers.one_of(&["ask", "guard", "confirm"]),
        "because": ESCAPES,
        "seconds": numbers.one_of(&[0, 1, 300, u64::MAX]) | 16,
        "request": {
            "request_id": id,
            "kind": numbers.one_of(&["ask", "check", "settle", "notify"]),
            "tool_name": numbers.one_of(&["Bash", "Edit", "AskUserQuestion", ESCAPES]),
            "tool_input": { "command": numbers.one_of(&["make one", "make desk", ESCAPES]) },
            "cwd": numbers.one_of(&["/", "~", ESCAPES]),
            "session_id": "34fb81ac-7029-49d7-a308-5c29182e1dc2",
            "agent": numbers.one_of(&["claude-code", "copilot", "callgate"]),
            "machine": { "name": "build-7", "user": "bo", "home": "/" },
            "context": {
                "event": numbers.one_of(&events), "mode": "bypassPermissions", "prompt_id": "p1",
                "answers": true, "gated": "x", "timeout_seconds": 1, "takes": ["edit", "stop"],
                "hook_of": "claude", "tool_use_id": "t",
            },
        },
    })
}

/// A line with 1 to 17 MiB of text in one place.
fn overlong_line(numbers: &mut SeededNumbers, known: &str) -> Value {
    const IN_REQUEST: [&str; 4] = ["cwd", "tool_name", "session_id", "agent"];
    const IN_CONTEXT: [&str; 6] =
        ["event", "mode", "prompt_id", "agent_id", "tool_use_id", "settings_folder"];
    let text = "x".repeat((1 + numbers.below(17)) << 20);
    let mut question = invented_question(numbers, known);
    match numbers.below(9) {
        0..2 => json!({ "kind": "said", "question": known, "last_words": text }),
        2 => json!({ "kind": "closed", "question": known, "text": text }),
        3 => json!({ "kind": "closed", "question": known, "by": text, "text": "x" }),
        4 => json!({ "kind": "told", "question": known, "done": true, "text": text }),
        5 => json!({ "kind": "waiting", "text": text }),
        6 => {
            question["because"] = json!(text);
            question
        }
        7 => {
            question["request"][*numbers.one_of(&IN_REQUEST)] = json!(text);
            question
        }
        _ => {
            question["request"]["context"][*numbers.one_of(&IN_CONTEXT)] = json!(text);
            question
        }
    }
}

/// A ledger that is whole, and in which somebody is linked and somebody belongs to a team.
fn invented_ledger() -> Vec<LedgerEntry> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("callgate.db")).unwrap();
    let invited = LedgerEvent::Invited(MemberInvited {
        name: "evil".to_owned(),
        member: Some(MemberKind::Person),
        owner: None,
        secret: "0".repeat(64),
        until_ms: None,
        by: ESCAPES.to_owned(),
    });
    let entries: Vec<_> = (1..6).map(|at| EntryDraft::new(at, None, &invited)).collect();
    store.append_entries(&entries).unwrap();
    store.entries_after(&EntryFilter::default(), 0, 100).unwrap()
}
