//! Ends that say anything, in any order: the other end does what a simple oracle says, and nothing
//! else. The oracle knows what a line means, because it knows how the line was made.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use callgate_relay::{LineArrival, LowerAct, LowerLine, UpperAct, UpperLine};
use callgate_wire::approval::{AllowDemands, Decision, RelayedAnswer, RequestId};
use callgate_wire::relay::{BoxHello, PROTOCOL, RelayOrder, RelayReport};
use proptest::prelude::*;
use serde_json::{Value, json};

/// How many wrong lines and errors of one connection are borne.
const MOST_WRONG: usize = 32;
/// How often the last words of a question are borne.
const MOST_WORDS: usize = 4;
const NOW: Duration = Duration::from_secs(1);

fn id(number: u8) -> String {
    format!("6f9619ff-8b86-4d01-b42d-{number:012}")
}

fn request_id(number: u8) -> RequestId {
    RequestId::parse(&id(number)).unwrap()
}

fn number_of(id: &RequestId) -> u8 {
    id.as_str()[24..].parse().unwrap()
}

/// What a line says, if nothing happens to it.
#[derive(Debug, Clone)]
enum Said {
    Hello { protocol: u64 },
    Question(u8),
    Closed { question: u8, allow: Option<bool>, is_by_ada: bool },
    Told { question: u8, done: bool },
    Words(u8),
    Synced(BTreeSet<u8>),
    Entry(u64),
    Anew,
    Error,
    Beat,
    Granted,
    Waiting,
    Answer(u8),
    Ack(u64),
    Rules,
    Unknown(String),
}

/// What happens to a line on its way. Whatever it is, the line cannot be read any more.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    BadByte(prop::sample::Index),
    NoKind,
    Trailing,
    Deep(usize),
    TooLong,
}

#[derive(Debug, Clone)]
enum Step {
    Line(Said, Option<Damage>),
    /// A person answers.
    Press(u8, bool),
    /// Nobody answers in time.
    Expire(u8),
    /// The line is cut and made again.
    Reconnect,
}

fn question_number() -> impl Strategy<Value = u8> {
    0..6_u8
}

fn said() -> impl Strategy<Value = Said> {
    let closed = (question_number(), any::<Option<bool>>(), any::<bool>());
    prop_oneof![
        2 => prop_oneof![9 => Just(PROTOCOL), 1 => any::<u64>()]
            .prop_map(|protocol| Said::Hello { protocol }),
        5 => question_number().prop_map(Said::Question),
        3 => closed.prop_map(|(question, allow, is_by_ada)| {
            Said::Closed { question, allow, is_by_ada }
        }),
        3 => (question_number(), any::<bool>())
            .prop_map(|(question, done)| Said::Told { question, done }),
        1 => question_number().prop_map(Said::Words),
        2 => prop::collection::btree_set(question_number(), 0..6).prop_map(Said::Synced),
        1 => any::<u64>().prop_map(Said::Entry),
        1 => Just(Said::Anew),
        1 => Just(Said::Error),
        1 => Just(Said::Beat),
        1 => Just(Said::Granted),
        1 => Just(Said::Waiting),
        2 => question_number().prop_map(Said::Answer),
        1 => any::<u64>().prop_map(Said::Ack),
        1 => Just(Said::Rules),
        1 => "[a-z]{9,12}".prop_map(Said::Unknown),
    ]
}

fn damage() -> impl Strategy<Value = Option<Damage>> {
    let one = prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        any::<prop::sample::Index>().prop_map(Damage::BadByte),
        Just(Damage::NoKind),
        Just(Damage::Trailing),
        (1..5_000_usize).prop_map(Damage::Deep),
        Just(Damage::TooLong),
    ];
    prop_oneof![8 => Just(None), 1 => one.prop_map(Some)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (said(), damage()).prop_map(|(said, damage)| Step::Line(said, damage)),
        3 => (question_number(), any::<bool>()).prop_map(|(it, allow)| Step::Press(it, allow)),
        1 => question_number().prop_map(Step::Expire),
        1 => Just(Step::Reconnect),
    ];
    prop::collection::vec(step, 0..120)
}

impl Said {
    fn to_json(&self) -> Value {
        match self {
            Self::Hello { protocol } => json!({ "kind": "hello", "protocol": protocol,
                "version": "9", "host": "b", "user": "bo", "home": "/", "name": "desk" }),
            Self::Question(it) => json!({ "kind": "question", "ruling": "ask", "seconds": 60,
                "request": { "request_id": id(*it), "tool_name": "Bash",
                    "tool_input": { "command": "make" }, "cwd": "/w", "session_id": "s",
                    "machine": { "name": "other", "user": "u", "home": "/" } } }),
            Self::Closed { question, allow, is_by_ada } => {
                let by = if *is_by_ada { "Ada at desk" } else { "Eve" };
                let decision = allow.map(|allow| if allow { "allow" } else { "deny" });
                json!({ "kind": "closed", "question": id(*question), "decision": decision,
                    "by": by, "text": "over" })
            }
            Self::Told { question, done } => {
                json!({ "kind": "told", "question": id(*question), "done": done, "text": "x" })
            }
            Self::Words(it) => {
                json!({ "kind": "said", "question": id(*it), "last_words": "w" })
            }
            Self::Synced(open) => {
                json!({ "kind": "synced", "open": open.iter().map(|it| id(*it)).collect::<Vec<_>>() })
            }
            Self::Entry(seq) => json!({ "kind": "entry", "entry": { "seq": seq, "at_ms": 1,
                "kind": "started", "question": null, "hash": "0".repeat(64), "body": {} } }),
            Self::Anew => json!({ "kind": "anew", "text": "pruned" }),
            Self::Error => json!({ "kind": "error", "text": "no" }),
            Self::Beat => json!({ "kind": "beat" }),
            Self::Granted => json!({ "kind": "granted", "token": "t" }),
            Self::Waiting => json!({ "kind": "waiting", "text": "w" }),
            Self::Answer(it) => json!({ "kind": "answer", "question": id(*it),
                "answer": { "decision": "allow", "by": "Ada" } }),
            Self::Ack(seq) => json!({ "kind": "ack", "seq": seq }),
            Self::Rules => json!({ "kind": "rules", "bundle": "{}" }),
            Self::Unknown(kind) => json!({ "kind": kind }),
        }
    }

    fn arrive(&self, damage: Option<&Damage>) -> LineArrival {
        let mut value = self.to_json();
        let mut line = value.to_string().into_bytes();
        match damage {
            None => {}
            Some(Damage::Cut(at)) => line.truncate(at.index(line.len())),
            Some(Damage::BadByte(at)) => line.insert(at.index(line.len()), 0xff),
            Some(Damage::NoKind) => {
                value.as_object_mut().unwrap().remove("kind");
                line = value.to_string().into_bytes();
            }
            Some(Damage::Trailing) => line.push(b'}'),
            Some(Damage::Deep(depth)) => line = vec![b'['; *depth],
            Some(Damage::TooLong) => return LineArrival::TooLong { size: usize::MAX },
        }
        LineArrival::Line(line)
    }
}

/// What has to come of lines at the desk above.
#[derive(Debug, Default)]
struct UpperOracle {
    is_greeted: bool,
    /// The questions that are open, each with its answer and whether this line has named it.
    held: BTreeMap<u8, (Option<bool>, bool)>,
    /// Those that this line has named, also if they are over.
    named: BTreeSet<u8>,
    /// How often the last words of each open question have come.
    said: BTreeMap<u8, usize>,
    wrong: usize,
    is_copying: bool,
    has_copy: bool,
}

fn words(acts: &[&str]) -> Vec<String> {
    acts.iter().map(|&act| act.to_owned()).collect()
}

impl UpperOracle {
    fn reconnect(&mut self) {
        let (held, said) = (std::mem::take(&mut self.held), std::mem::take(&mut self.said));
        *self = Self { held, said, has_copy: self.has_copy, ..Self::default() };
    }

    fn wrong(&mut self, acts: &[&str]) -> Vec<String> {
        self.wrong += 1;
        words(if self.wrong > MOST_WRONG { &["end"] } else { acts })
    }

    fn end_question(&mut self, question: u8, is_delivered: bool) -> Vec<String> {
        match self.held.remove(&question) {
            None => Vec::new(),
            Some((None, _)) => vec![format!("withdraw {question}")],
            Some(_) if is_delivered => vec![format!("delivered {question}")],
            Some(_) => vec![format!("lost {question}")],
        }
    }

    fn expect(&mut self, said: &Said, is_damaged: bool) -> Vec<String> {
        const REFUSED: [&str; 2] = ["error", "warn"];
        if is_damaged {
            return self.wrong(&REFUSED);
        }
        match said {
            Said::Error => self.wrong(&["warn"]),
            Said::Hello { protocol } if !self.is_greeted => {
                self.is_greeted = *protocol == PROTOCOL;
                words(if self.is_greeted { &["connected"] } else { &["end"] })
            }
            _ if !self.is_greeted => self.wrong(&REFUSED),
            Said::Question(it) => {
                let is_new = self.named.insert(*it);
                match self.held.get(it).copied() {
                    None => {
                        self.held.insert(*it, (None, true));
                        self.said.remove(it);
                        vec![format!("ask {it}")]
                    }
                    Some(_) if !is_new => self.wrong(&REFUSED),
                    Some((answer, _)) => {
                        self.held.insert(*it, (answer, true));
                        answer.map(|allow| format!("answer {it} {allow}")).into_iter().collect()
                    }
                }
            }
            Said::Closed { question, allow, is_by_ada } => {
                let answer = self.held.get(question).and_then(|held| held.0);
                let is_it = *is_by_ada && answer.is_some() && answer == *allow;
                self.end_question(*question, is_it)
            }
            Said::Told { question, done } => match self.held.get(question) {
                Some((Some(_), _)) => self.end_question(*question, *done),
                _ => Vec::new(),
            },
            Said::Words(it) if self.held.contains_key(it) => {
                let times = self.said.entry(*it).or_default();
                *times += 1;
                if *times > MOST_WORDS { self.wrong(&REFUSED) } else { vec![format!("words {it}")] }
            }
            Said::Words(_) | Said::Beat | Said::Granted => Vec::new(),
            Said::Synced(open) => {
                let over: Vec<u8> =
                    self.held.keys().filter(|it| !open.contains(it)).copied().collect();
                let ended = over.into_iter().flat_map(|it| self.end_question(it, false));
                words(&["synced"]).into_iter().chain(ended.collect::<Vec<_>>()).collect()
            }
            Said::Entry(_) if self.has_copy => {
                self.is_copying = true;
                Vec::new()
            }
            Said::Anew if self.has_copy && !self.is_copying => {
                self.is_copying = true;
                words(&["warn"])
            }
            Said::Waiting => words(&["waiting"]),
            Said::Hello { .. }
            | Said::Entry(_)
            | Said::Anew
            | Said::Answer(_)
            | Said::Ack(_)
            | Said::Rules
            | Said::Unknown(_) => self.wrong(&REFUSED),
        }
    }

    fn press(&mut self, question: u8, allow: bool) -> Vec<String> {
        let Some((answer, is_named)) = self.held.get_mut(&question) else { return Vec::new() };
        *answer = Some(allow);
        let act = if *is_named { format!("answer {question} {allow}") } else { defer(question) };
        vec![act]
    }

    /// What is said of the answers that wait when a line ends.
    fn deferred(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        for (question, (answer, is_named)) in &mut self.held {
            *is_named = false;
            all.extend(answer.is_some().then(|| defer(*question)));
        }
        all
    }
}

fn defer(question: u8) -> String {
    format!("defer {question}")
}

fn told(acts: &[UpperAct]) -> Vec<String> {
    let short = |act: &UpperAct| match act {
        UpperAct::Send(RelayOrder::Answer { question, answer }) => {
            format!("answer {} {}", number_of(question), answer.decision == Decision::Allow)
        }
        UpperAct::Send(RelayOrder::Error { .. }) => "error".to_owned(),
        UpperAct::Connected(_) => "connected".to_owned(),
        UpperAct::Waiting(_) => "waiting".to_owned(),
        UpperAct::Synced(_) => "synced".to_owned(),
        UpperAct::Ask(question) => format!("ask {}", number_of(&question.request.request_id)),
        UpperAct::AddWords { question, .. } => format!("words {}", number_of(question)),
        UpperAct::Withdraw { question, .. } => format!("withdraw {}", number_of(question)),
        UpperAct::Defer(question) => defer(number_of(question)),
        UpperAct::Delivered(question) => format!("delivered {}", number_of(question)),
        UpperAct::Lost { question, .. } => format!("lost {}", number_of(question)),
        UpperAct::Warn(_) => "warn".to_owned(),
        UpperAct::End(_) => "end".to_owned(),
        UpperAct::Send(order) => format!("{order:?}"),
    };
    acts.iter().map(short).collect()
}

fn answer(allow: bool) -> RelayedAnswer {
    RelayedAnswer {
        decision: if allow { Decision::Allow } else { Decision::Deny },
        by: "Ada".to_owned(),
        members: Vec::new(),
        message: None,
        offer: None,
        picks: None,
        words: None,
        edited: None,
        interrupt: false,
        met: AllowDemands::default(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_hostile_box_reaches_only_its_own_questions(steps in steps(), has_copy: bool) {
        let mut upper = UpperLine::new("desk");
        if !has_copy {
            upper = upper.without_copy();
        }
        let mut oracle = UpperOracle { has_copy, ..UpperOracle::default() };
        upper.connect(NOW, None);
        for step in &steps {
            let (acts, expected) = match step {
                Step::Line(said, damage) => (
                    told(&upper.handle_arrival(NOW, &said.arrive(damage.as_ref()))),
                    oracle.expect(said, damage.is_some()),
                ),
                Step::Press(question, allow) => (
                    told(&upper.answer_question(&request_id(*question), Some(answer(*allow)))),
                    oracle.press(*question, *allow),
                ),
                Step::Expire(question) => {
                    oracle.held.remove(question);
                    (told(&upper.answer_question(&request_id(*question), None)), Vec::new())
                }
                Step::Reconnect => (words(&["end"]), words(&["end"])),
            };
            prop_assert_eq!(&acts, &expected, "{:?}", step);
            if acts.iter().any(|act| act == "end") {
                prop_assert_eq!(told(&upper.disconnect()), oracle.deferred());
                oracle.reconnect();
                upper.connect(NOW, None);
            }
            for question in 0..6 {
                let is_held = oracle.held.contains_key(&question);
                prop_assert_eq!(upper.holds(&request_id(question)), is_held, "{:?}", step);
            }
        }
    }

    #[test]
    fn a_hostile_desk_above_can_only_answer(steps in steps()) {
        let hello = BoxHello { protocol: PROTOCOL, version: "1".to_owned(), host: "b".to_owned(),
            user: "bo".to_owned(), home: "/".to_owned() };
        let (mut lower, _) = LowerLine::begin(NOW, hello);
        let mut is_joined = false;
        for step in &steps {
            let Step::Line(said, damage) = step else { continue };
            let acts = lower.handle_arrival(NOW, &said.arrive(damage.as_ref()));
            let short = |act: &LowerAct| match act {
                LowerAct::Send(RelayReport::Error { .. }) => "error".to_owned(),
                LowerAct::Join(_) => "join".to_owned(),
                LowerAct::Answer { question, .. } => format!("answer {}", number_of(question)),
                LowerAct::AskAgain(_) => "ask again".to_owned(),
                LowerAct::TakeRules(_) => "rules".to_owned(),
                LowerAct::Warn(_) => "warn".to_owned(),
                LowerAct::End(_) => "end".to_owned(),
                LowerAct::Send(report) => format!("{report:?}"),
            };
            let acts: Vec<String> = acts.iter().map(short).collect();
            let expected = match said {
                _ if damage.is_some() => words(&["error", "warn"]),
                Said::Hello { protocol } if !is_joined => {
                    is_joined = *protocol == PROTOCOL;
                    words(if is_joined { &["join"] } else { &["error", "end"] })
                }
                _ if !is_joined => words(&["error", "warn"]),
                Said::Answer(question) => vec![format!("answer {question}")],
                Said::Rules => words(&["rules"]),
                Said::Error => words(&["warn"]),
                Said::Ack(_) | Said::Beat => Vec::new(),
                _ => words(&["error", "warn"]),
            };
            prop_assert_eq!(&acts, &expected, "{:?}", step);
        }
    }
}
