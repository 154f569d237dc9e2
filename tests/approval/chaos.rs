//! Everything at once: hooks that die, a daemon that is killed, a Telegram that fails, and people
//! who press whatever they see. In the end every hook got the right answer or fell back correctly.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use callgate_testkit::telegram::{Fault, Message, Seen};
use serde_json::Value;

use crate::fixture::{ADA, Stage, bash};

/// How many questions, unless `CALLGATE_CHAOS` says otherwise.
const QUESTIONS: usize = 500;
/// How many hooks run at once.
const AT_ONCE: usize = 12;
/// Another number, another history.
const SEED: u64 = 20_261_115;
/// Somebody who may not answer.
const MALLORY: i64 = 66;

/// How a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Allowed,
    Denied,
    FellBack,
    Killed,
}

/// A button that Ada pressed.
struct Pressed {
    callback: String,
    data: String,
}

/// What happened, by the number of the question or in order.
#[derive(Default)]
struct History {
    ends: Mutex<HashMap<usize, End>>,
    presses: Mutex<Vec<Pressed>>,
    next: AtomicUsize,
    is_over: AtomicBool,
}

/// Gives the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn whatever_happens_every_hook_is_rightly_answered_or_rightly_sent_back() {
    let count = std::env::var("CALLGATE_CHAOS").map_or(QUESTIONS, |text| text.parse().unwrap());
    let stage = Stage::new();
    stage.phone.add_private(MALLORY, "Mallory");
    let history = History::default();
    thread::scope(|scope| {
        let (stage, history) = (&stage, &history);
        let hooks: Vec<_> = (0..AT_ONCE as u64)
            .map(|worker| scope.spawn(move || ask(stage, history, count, Random(SEED ^ worker))))
            .collect();
        scope.spawn(move || people(stage, history, Random(!SEED)));
        let mut random = Random(SEED);
        while hooks.iter().any(|hooks| !hooks.is_finished()) {
            trouble(stage, &mut random);
            thread::sleep(Duration::from_millis(200 + random.below(400)));
        }
        history.is_over.store(true, Ordering::SeqCst);
    });
    stage.phone.heal();
    settle(&stage);
    check(&stage, &history, count);
}

/// One after the other, hooks ask until all questions are asked. Now and then one is killed.
fn ask(stage: &Stage, history: &History, count: usize, mut random: Random) {
    loop {
        let number = history.next.fetch_add(1, Ordering::SeqCst);
        if number >= count {
            return;
        }
        // Without a daemon a hook falls back at once; that is asked often enough by accident.
        stage.home.wait_for_desk();
        let mut hook = stage.hook(&bash(&command(number)));
        let end = if random.below(15) == 0 {
            thread::sleep(Duration::from_millis(random.below(200)));
            hook.group.kill();
            End::Killed
        } else {
            let ended = hook.end();
            match ended.code {
                Some(0) => decision(&ended.stdout),
                Some(1) => {
                    assert_eq!(ended.stdout, "", "a hook that falls back prints nothing");
                    End::FellBack
                }
                other => panic!("hook {number} ended with {other:?}: {ended:?}"),
            }
        };
        history.ends.lock().unwrap().insert(number, end);
    }
}

fn command(number: usize) -> String {
    format!("make step-{number}.")
}

fn decision(printed: &str) -> End {
    let printed: Value = serde_json::from_str(printed).unwrap();
    match printed["hookSpecificOutput"]["decision"]["behavior"].as_str() {
        Some("allow") => End::Allowed,
        Some("deny") => End::Denied,
        other => panic!("a strange decision: {other:?}"),
    }
}

/// Ada answers whatever is open, now and then twice; Mallory tries too.
fn people(stage: &Stage, history: &History, mut random: Random) {
    while !history.is_over.load(Ordering::SeqCst) {
        let open: Vec<Message> = stage.phone.look(|seen| {
            seen.chat(ADA).filter(|message| message.button("Allow").is_some()).cloned().collect()
        });
        for message in open {
            let button = if random.below(3) == 0 { "❌ Deny" } else { "Allow" };
            let data = message.button(button).unwrap().data.clone();
            if random.below(5) == 0 {
                let allow = &message.button("Allow").unwrap().data;
                stage.phone.press_data(MALLORY, MALLORY, message.id, allow);
            }
            for _ in 0..=u64::from(random.below(10) == 0) {
                let callback = stage.phone.press_data(ADA, ADA, message.id, &data);
                history.presses.lock().unwrap().push(Pressed { callback, data: data.clone() });
            }
        }
        // Faster than people, but not so fast that a slow desk would only ever read late presses.
        thread::sleep(Duration::from_millis(100));
    }
}

fn trouble(stage: &Stage, random: &mut Random) {
    // One fault at a time: a Telegram that never works answers no question.
    stage.phone.heal();
    match random.below(16) {
        0 => {
            stage.kill();
            thread::sleep(Duration::from_millis(random.below(300)));
            stage.up();
        }
        2 => stage.phone.fault("sendMessage", Fault::TooMany { seconds: 1 }),
        3 => stage.phone.fault("*", Fault::Status(502)),
        4 => stage.phone.fault("*", Fault::BreakBefore),
        5 => stage.phone.fault("sendMessage", Fault::BreakAfter),
        6 => stage.phone.fault("answerCallbackQuery", Fault::Status(500)),
        7 => stage.phone.deliver_twice(),
        8 => stage.phone.fault("getUpdates", Fault::Garbage),
        _ => {}
    }
}

/// Waits until nothing is open any more.
fn settle(stage: &Stage) {
    stage.until("every question is closed", || {
        let entries = stage.entries();
        let count = |kind: &str| entries.iter().filter(|entry| entry.kind == kind).count();
        (count("asked") == count("closed")).then_some(())
    });
}

fn check(stage: &Stage, history: &History, count: usize) {
    stage.assert_chain();
    let entries = stage.entries();
    let mut books: HashMap<String, Book> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.question.is_some()) {
        let book = books.entry(entry.question.clone().unwrap()).or_default();
        let body: Value = serde_json::from_str(&entry.body).unwrap();
        match entry.kind.as_str() {
            "asked" => book.number = Some(number_of(body["summary"].as_str().unwrap())),
            "decided" => book.decided.push(body["decision"].as_str().unwrap().to_owned()),
            "closed" => book.closed += 1,
            _ => {}
        }
    }
    let ends = history.ends.lock().unwrap();
    assert_eq!(ends.len(), count);
    let presses = history.presses.lock().unwrap();
    let mut by_number: HashMap<usize, &str> = HashMap::new();
    for (id, book) in &books {
        let Some(number) = book.number else { continue };
        assert_eq!(book.closed, 1, "{id} was not closed once");
        assert!(book.decided.len() <= 1, "{id} was decided twice: {:?}", book.decided);
        let was_pressed = |action: &str| presses.iter().any(|p| p.data == format!("{id}:{action}"));
        match ends[&number] {
            End::Allowed => {
                assert!(was_pressed("allow"), "step {number} was allowed by nobody");
                assert_eq!(book.decided, ["allow"], "step {number}");
            }
            End::Denied => {
                assert!(was_pressed("deny"), "step {number} was denied by nobody");
                assert_eq!(book.decided, ["deny"], "step {number}");
            }
            End::FellBack | End::Killed => {}
        }
        by_number.insert(number, id);
    }
    let answered = ends.values().filter(|end| matches!(end, End::Allowed | End::Denied)).count();
    let sent_back = ends.values().filter(|end| **end == End::FellBack).count();
    let log = || std::fs::read_to_string(stage.path("up.log")).unwrap_or_default();
    assert!(answered > count / 2, "only {answered} of {count} were answered\n{}", log());
    assert!(sent_back < count / 4, "{sent_back} of {count} were sent back");
    stage.phone.look(|seen| check_phone(seen, &ends, &presses, &by_number));
}

/// What people were told and shown is what happened.
fn check_phone(
    seen: &Seen,
    ends: &HashMap<usize, End>,
    presses: &[Pressed],
    by_number: &HashMap<usize, &str>,
) {
    for message in seen.chat(ADA).filter(|message| message.shape.text.contains("make step-")) {
        let number = number_of(&message.shape.text);
        if message.shape.text.contains("Allowed by Ada") && !message.shape.text.contains("had gone")
        {
            let is_waiting = message.shape.text.contains("when it is back");
            assert!(
                is_waiting || may_be_allowed(ends[&number]),
                "step {number}: {:?}",
                ends[&number]
            );
        }
    }
    for press in presses {
        let Some(toast) = seen.toast(&press.callback) else { continue };
        if toast.text == "Allowed by Ada" {
            let id = &press.data[..36];
            let (number, _) = by_number.iter().find(|(_, found)| **found == id).unwrap();
            assert!(may_be_allowed(ends[number]), "step {number}: {:?}", ends[number]);
        }
    }
}

/// Whether a hook may have read an allow: one that was killed may have done so just before.
fn may_be_allowed(end: End) -> bool {
    matches!(end, End::Allowed | End::Killed)
}

#[derive(Default)]
struct Book {
    number: Option<usize>,
    decided: Vec<String>,
    closed: usize,
}

fn number_of(text: &str) -> usize {
    let digits = text.split("make step-").nth(1).unwrap();
    digits.split('.').next().unwrap().parse().unwrap()
}
