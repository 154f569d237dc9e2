//! Whatever happens in whatever order: exactly one end per request, and nothing after it.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;

use callgate_wire::frame::OverlongLine;

use super::super::*;
use super::{Bench, message};

/// So many sessions, of so many steps each.
const SESSIONS: u64 = 400;
const STEPS: usize = 300;

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap()]
    }
}

/// One session, and what it was seen to do.
struct Trial {
    bench: Bench,
    dice: Dice,
    asked: u64,
    ends: HashMap<String, u32>,
    /// Written, as far as the core knows, or withdrawn.
    outbox: Vec<String>,
    is_over: bool,
    seq: u64,
}

impl Trial {
    fn new(seed: u64) -> Self {
        Self {
            bench: Bench::new(),
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            asked: 0,
            ends: HashMap::new(),
            outbox: Vec::new(),
            is_over: false,
            seq: 0,
        }
    }

    fn tell(&mut self, input: CoreInput<'_>) {
        for output in self.bench.core.handle_input(self.bench.now, input) {
            assert!(
                !self.is_over
                    || matches!(output, CoreOutput::Happened { .. } | CoreOutput::Seen { .. })
            );
            match output {
                CoreOutput::Happened { id, happened, .. } => self.happened(&id, &happened),
                CoreOutput::Write { of: Some(id), .. } => self.outbox.push(id.to_string()),
                CoreOutput::Withdraw { id } => self.outbox.retain(|waiting| **waiting != *id),
                CoreOutput::End => self.outbox.clear(),
                CoreOutput::Over => self.is_over = true,
                _ => {}
            }
        }
        assert!(self.bench.core.open.len() <= usize::try_from(self.asked).unwrap());
    }

    fn happened(&mut self, id: &str, happened: &RequestEvent) {
        let ends = self.ends.get_mut(id).expect("a request that was asked");
        assert_eq!(*ends, 0, "{id} has ended, and then {happened:?}");
        *ends += u32::from(happened.is_end());
    }

    fn ask(&mut self) {
        let id = format!("r{}", self.asked);
        self.asked += 1;
        self.ends.insert(id.clone(), 0);
        let command = match self.dice.roll(6) {
            0 => SessionCommand::GetStatus,
            1 => SessionCommand::ListConversations { limit: None, before: None, search: None },
            2 => message(Some("one")),
            3 => message(Some("two")),
            _ => message(None),
        };
        let request = SessionRequest { id, command };
        let line = request.to_line();
        self.tell(CoreInput::Ask { request: Arc::new(request), line });
    }

    /// Returns the id of a request that may be there, or of none.
    fn some_id(&mut self) -> String {
        match self.dice.roll(12) {
            0 => "nobody".to_owned(),
            1 => format!("c-own-{}", self.dice.roll(20)),
            _ => format!("r{}", self.asked.saturating_sub(1 + self.dice.roll(6))),
        }
    }

    fn line(&mut self) -> String {
        let id = self.some_id();
        self.seq = match self.dice.roll(20) {
            0 => self.dice.roll(u64::MAX),
            1 => self.seq.saturating_sub(self.dice.roll(5)),
            2 => self.seq.saturating_add(2),
            _ => self.seq.saturating_add(1),
        };
        let kind = self.dice.pick(&[
            "token",
            "token",
            "thinking",
            "done",
            "error",
            "status",
            "notice",
            "permission_request",
            "permission_resolved",
            "unheard_of",
            "ready",
            "tool_use",
        ]);
        let data = match kind {
            "notice" => r#"{"kind":"queued","text":""}"#,
            "permission_request" => {
                r#"{"question":"q","toolId":"","toolName":"","input":{},"title":""}"#
            }
            "permission_resolved" => r#"{"question":"q","decision":"allow","text":""}"#,
            "status" => r#"{"state":"idle","conversationLength":0,"uptime":0}"#,
            "error" => "null",
            _ => "{}",
        };
        let seq = match self.dice.roll(3) {
            0 => String::new(),
            _ => format!(r#","seq":{}"#, self.seq),
        };
        let capabilities = r#"["hello","cancel","replay"]"#;
        let broken = self.dice.pick(&["}", "}", "}", "}", "}", "}", "", "}}"]);
        format!(
            r#"{{"type":"{kind}","id":"{id}","token":"","thinking":"","error":"","data":{data},"capabilities":{capabilities},"timestamp":1{seq}{broken}"#
        )
    }

    fn step(&mut self) {
        let status = Some(ExitStatus::from_raw(9));
        match self.dice.roll(40) {
            0..6 => self.ask(),
            6..12 if !self.outbox.is_empty() => {
                let id = self.outbox.remove(0);
                self.tell(CoreInput::Written { id: &id });
            }
            6..26 => {
                let line = self.line();
                self.tell(CoreInput::Line(DecodedLine::Whole(line.as_bytes())));
            }
            26 => {
                self.tell(CoreInput::Line(DecodedLine::TooLong(OverlongLine {
                    size: 1,
                    id: None,
                })));
            }
            27 => {
                let id = Some(format!("{:?}", self.some_id()));
                self.tell(CoreInput::Line(DecodedLine::TooLong(OverlongLine { size: 1, id })));
            }
            28 => self.tell(CoreInput::PipeClosed),
            29 => self.tell(CoreInput::Exited { status, last_words: None }),
            30 => {
                let id = self.some_id();
                self.tell(CoreInput::Cancel { id: &id });
            }
            31 => {
                let id = self.some_id();
                self.tell(CoreInput::NotRead { id: &id });
            }
            32 => self.tell(CoreInput::NotStarted { reason: String::new() }),
            33 => self.tell(CoreInput::Paused),
            34 => self.tell(CoreInput::Resumed),
            35 if self.dice.roll(4) == 0 => self.tell(CoreInput::Restart),
            36 => self.wait_for_deadline(),
            37 => {
                self.bench.now += Duration::from_millis(self.dice.roll(20_000));
                self.tell(CoreInput::Tick);
            }
            _ => self.tell(CoreInput::Started),
        }
    }

    /// Time passes until there is something to do; then it is done, and is not due again.
    fn wait_for_deadline(&mut self) {
        let Some(deadline) = self.bench.core.deadline() else { return };
        self.bench.now = self.bench.now.max(deadline);
        self.tell(CoreInput::Tick);
        let next = self.bench.core.deadline();
        assert!(next.is_none_or(|next| next > self.bench.now), "{next:?} {:?}", self.bench.core);
    }

    fn assert_all_ended(&self) {
        assert!(self.ends.values().all(|ends| *ends == 1), "{:?}", self.ends);
    }
}

#[test]
fn exactly_one_end_per_request_whatever_happens() {
    for seed in 0..SESSIONS {
        let mut trial = Trial::new(seed);
        trial.tell(CoreInput::Begin);
        for _ in 0..STEPS {
            trial.step();
        }
        trial.tell(CoreInput::Leave);
        trial.assert_all_ended();
        // A last request, after the end of all.
        trial.ask();
        trial.assert_all_ended();
        for input in [CoreInput::Started, CoreInput::PipeClosed] {
            trial.tell(input);
        }
        trial.tell(CoreInput::Exited { status: None, last_words: None });
        assert!(trial.is_over, "{:?}", trial.bench.core);
        assert_eq!(trial.bench.core.deadline(), None);
    }
}

#[test]
fn nothing_waits_for_ever_for_a_runtime_that_is_silent() {
    for seed in 0..SESSIONS {
        let mut trial = Trial::new(seed);
        trial.tell(CoreInput::Begin);
        for _ in 0..STEPS {
            trial.step();
        }
        trial.tell(CoreInput::Resumed);
        // Only what queues or waits for the user may be open after a day.
        let until = trial.bench.now + Duration::from_hours(24);
        while trial.bench.core.deadline().is_some_and(|deadline| deadline < until) {
            trial.wait_for_deadline();
        }
        let waits =
            |open: &PendingRequest| open.stage == RequestStage::Written && !open.is_at_work();
        let core = &trial.bench.core;
        let is_behind = |index: usize| {
            core.open[..index].iter().any(|earlier| earlier.is_before(&core.open[index]))
        };
        for (index, open) in core.open.iter().enumerate() {
            assert!(waits(open) || is_behind(index), "{open:?}");
        }
    }
}
