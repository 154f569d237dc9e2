//! What viewers ask about the rules: it takes its time on a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use callgate_approval::rule_desk::{RecordedCall, RuleDesk, SavedRules, WorkMonitor};
use callgate_wire::approval::{Action, Decision};
use callgate_wire::desk::{
    AnswerChannel, BacktestReport, CardContent, CommandSegment, DeskAnswer, DeskCommand,
    DeskHistory, DeskMessage, ExplainQuery, ExplainedDecision, HistoryDecision, HistoryFilter,
    ProposalSource, ProposedRule, RiskKind, RiskNote, RuleDecision, RuleExplanation, RuleProblem,
    RulesView, SegmentStyle, SuggestedRules,
};

use crate::house::{DEADLINE, House, button, next_of, request, told};

/// The text of rules whose check waits for the test.
const SLOW: &str = "slow";

/// Rules whose backtest waits for the test.
#[derive(Debug)]
struct SlowRules {
    go: Mutex<Receiver<()>>,
    begun: Sender<()>,
    /// Whether it goes on until nobody wants its result.
    waits_for_cancel: AtomicBool,
    saved: Mutex<Vec<String>>,
}

impl SlowRules {
    fn new() -> (Arc<Self>, Sender<()>, Receiver<()>) {
        let ((go_in, go), (begun, is_begun)) = (channel(), channel());
        let (waits_for_cancel, saved) = (AtomicBool::new(false), Mutex::default());
        let rules = Self { go: Mutex::new(go), begun, waits_for_cancel, saved };
        (Arc::new(rules), go_in, is_begun)
    }
}

impl RuleDesk for SlowRules {
    fn current_rules(&self) -> Result<RulesView, String> {
        Err("the file cannot be read: look at its mode".to_owned())
    }

    fn check_rules(&self, text: &str) -> Vec<RuleProblem> {
        if text == SLOW {
            self.begun.send(()).unwrap();
            self.go.lock().unwrap().recv().ok();
        }
        Vec::new()
    }

    fn explain_call(&self, query: &ExplainQuery) -> Result<RuleExplanation, String> {
        Ok(RuleExplanation {
            decision: ExplainedDecision::Undecided,
            because: query.command.clone().unwrap_or_default(),
            considered: Vec::new(),
            segments: None,
        })
    }

    fn backtest_rules(
        &self,
        _text: &str,
        monitor: &WorkMonitor<'_>,
    ) -> Result<BacktestReport, String> {
        self.begun.send(()).unwrap();
        monitor.report_progress(1, 2);
        // Until the test lets it go on, or has gone.
        self.go.lock().unwrap().recv().ok();
        let end = Instant::now() + DEADLINE;
        while self.waits_for_cancel.load(Ordering::Relaxed) && !monitor.is_cancelled() {
            assert!(Instant::now() < end, "it was never cancelled");
            monitor.report_progress(1, 2);
        }
        self.begun.send(()).unwrap();
        Ok(BacktestReport { judged: 2, ..BacktestReport::default() })
    }

    fn save_rules(&self, text: &str, hash: &str) -> Result<SavedRules, String> {
        if hash != "now" {
            return Err("The file has changed since.".to_owned());
        }
        self.saved.lock().unwrap().push(text.to_owned());
        Ok(SavedRules { count: 1, hash: "5eeda1b2c3".to_owned() })
    }

    fn propose_rule(
        &self,
        call: &RecordedCall,
        decide: RuleDecision,
        seconds: Option<u64>,
    ) -> Result<ProposedRule, String> {
        let name = format!("{decide} {} {} {seconds:?}", call.tool, call.input);
        Ok(ProposedRule { toml: call.project.clone(), name })
    }

    fn suggest_rules(&self, _monitor: &WorkMonitor<'_>) -> Result<SuggestedRules, String> {
        Ok(SuggestedRules::default())
    }

    fn split_command(&self, command: &str) -> Vec<CommandSegment> {
        let (program, rest) = command.split_at(command.find(' ').unwrap_or(command.len()));
        let segment =
            |text: &str, style| CommandSegment { text: text.into(), style, breaks: false };
        vec![segment(program, SegmentStyle::Program), segment(rest, SegmentStyle::Word)]
    }

    fn risks_of_call(&self, call: &RecordedCall) -> Vec<RiskNote> {
        vec![RiskNote { kind: RiskKind::Network, text: call.tool.clone() }]
    }
}

fn backtest() -> DeskCommand {
    DeskCommand::Backtest { text: String::new() }
}

#[test]
fn a_slow_backtest_delays_no_press_and_tells_its_progress() {
    let (rules, go, is_begun) = SlowRules::new();
    let house = House::with_rules(rules);
    let (mut ada, _) = house.paired("Ada");
    let slow = ada.send(backtest()).unwrap();
    is_begun.recv_timeout(DEADLINE).unwrap();
    let progress = ada.next(Instant::now() + DEADLINE).unwrap();
    assert!(
        matches!(&progress, Some(DeskMessage::Progress { id, done: 1, total: 2 }) if *id == slow),
        "{progress:?}"
    );
    // The same connection is served meanwhile.
    ada.watch(None).unwrap();
    let asked = request("make all");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    next_of(&mut ada, "asked");
    let card = ada.ask(DeskCommand::Card { question: id.clone() }, DEADLINE).unwrap();
    let DeskAnswer::Card { card } = card else { panic!("{card:?}") };
    assert_eq!(card.row.risks[0].kind, RiskKind::Network);
    let CardContent::Command { segments, .. } = &card.body else { panic!("{card:?}") };
    assert_eq!((segments[0].style, &*segments[0].text), (SegmentStyle::Program, "make"));
    assert!(told(&mut ada, button(&id, Action::Allow)).0);
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
    go.send(()).unwrap();
    let report = loop {
        match ada.next(Instant::now() + DEADLINE).unwrap().expect("an answer in time") {
            DeskMessage::Answer { id, answer: DeskAnswer::Backtested(report) } if id == slow => {
                break report;
            }
            _ => {}
        }
    };
    assert_eq!(report.judged, 2);
}

#[test]
fn whoever_hangs_up_cancels_the_work() {
    let (rules, go, is_begun) = SlowRules::new();
    rules.waits_for_cancel.store(true, Ordering::Relaxed);
    let house = House::with_rules(rules);
    let mut viewer = house.viewer();
    viewer.send(backtest()).unwrap();
    is_begun.recv_timeout(DEADLINE).unwrap();
    go.send(()).unwrap();
    drop(viewer);
    is_begun.recv_timeout(DEADLINE).expect("it was cancelled");
}

#[test]
fn rules_are_saved_by_linked_viewers_alone() {
    let (rules, ..) = SlowRules::new();
    let house = House::with_rules(Arc::clone(&rules) as Arc<dyn RuleDesk>);
    let save =
        |hash: &str| DeskCommand::SaveRules { text: "[[rule]]".to_owned(), hash: hash.to_owned() };
    let (done, text) = told(&mut house.viewer(), save("now"));
    assert!(!done && text.starts_with("Only a linked viewer may do that"), "{text}");
    assert!(rules.saved.lock().unwrap().is_empty());
    let (mut ada, _) = house.paired("Ada");
    assert_eq!(told(&mut ada, save("before")), (false, "The file has changed since.".to_owned()));
    let words = "Saved 1 rule (hash 5eeda1b2). They apply from now on.";
    assert_eq!(told(&mut ada, save("now")), (true, words.to_owned()));
    assert_eq!(*rules.saved.lock().unwrap(), ["[[rule]]"]);
    // The ledger knows who did it, and the history shows it.
    let filter = HistoryFilter::default();
    let history = DeskCommand::History { filter: filter.clone(), before: None, limit: None };
    let answer = ada.ask(history, DEADLINE).unwrap();
    let DeskAnswer::History(DeskHistory { rows, .. }) = answer else { panic!("{answer:?}") };
    let row = &rows[0];
    assert_eq!((row.decision, row.by.as_deref()), (HistoryDecision::Saved, Some("Ada")));
    assert_eq!(
        (row.channel, &*row.summary),
        (Some(AnswerChannel::Viewer), "Saved 1 rule (hash 5eeda1b2)")
    );
    assert_eq!(rows.len(), 1, "what was refused is not recorded: {rows:?}");
    let answer = ada.ask(DeskCommand::Figures { filter }, DEADLINE).unwrap();
    let DeskAnswer::Figures(figures) = answer else { panic!("{answer:?}") };
    assert!(figures.hours.is_empty() && figures.by_tool.is_empty(), "{figures:?}");
}

/// What waits for its turn when its viewer is unlinked is not done any more.
#[test]
fn rules_are_not_saved_for_whoever_was_unlinked_meanwhile() {
    let (rules, go, is_begun) = SlowRules::new();
    let house = House::with_rules(Arc::clone(&rules) as Arc<dyn RuleDesk>);
    let (mut ada, _) = house.paired("Ada");
    let (mut bob, _) = house.paired("Bob");
    // So many are worked on at once.
    for _ in 0..4 {
        bob.send(DeskCommand::CheckRules { text: SLOW.to_owned() }).unwrap();
        is_begun.recv_timeout(DEADLINE).unwrap();
    }
    let save = DeskCommand::SaveRules { text: "[[rule]]".to_owned(), hash: "now".to_owned() };
    let save = ada.send(save).unwrap();
    // Read after it on the same connection.
    let links = ada.links().unwrap();
    let link = links.into_iter().find(|link| link.name == "Ada").unwrap().link;
    assert!(told(&mut house.paired("Eve").0, DeskCommand::Unpair { link }).0);
    for _ in 0..4 {
        go.send(()).unwrap();
    }
    let outcome = loop {
        match ada.next(Instant::now() + DEADLINE).unwrap().expect("an answer in time") {
            DeskMessage::Answer { id, answer: DeskAnswer::Told { done, .. } } if id == save => {
                break done;
            }
            _ => {}
        }
    };
    assert!(!outcome && rules.saved.lock().unwrap().is_empty());
}

#[test]
fn a_rule_is_proposed_for_a_question_or_a_row() {
    let (rules, ..) = SlowRules::new();
    let house = House::with_rules(rules);
    let (mut ada, _) = house.paired("Ada");
    ada.watch(None).unwrap();
    let asked = request("make all");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    let (entry, _) = next_of(&mut ada, "asked");
    assert!(told(&mut ada, button(&id, Action::Allow)).0);
    answer.join().unwrap().unwrap();
    let mut propose = |of: ProposalSource| {
        let decide = RuleDecision::Allow;
        ada.ask(DeskCommand::Propose { of, decide, seconds: Some(60) }, DEADLINE)
    };
    for of in [ProposalSource::Question(id), ProposalSource::Entry(entry.seq)] {
        let answer = propose(of).unwrap();
        let DeskAnswer::Proposed(rule) = answer else { panic!("{answer:?}") };
        assert_eq!(rule.name, r#"allow Bash {"command":"make all"} Some(60)"#);
        assert_eq!(rule.toml, "/home/ada/engine");
    }
    let error = propose(ProposalSource::Entry(1)).unwrap_err().to_string();
    assert!(error.contains("does not have the input of this call"), "{error}");
    let error = propose(ProposalSource::Entry(9_999)).unwrap_err().to_string();
    assert!(error.contains("has no such call"), "{error}");
}

#[test]
fn a_desk_without_rules_says_so() {
    let house = House::new();
    for command in [DeskCommand::Rules, DeskCommand::Suggest, backtest()] {
        let error = house.viewer().ask(command, DEADLINE).unwrap_err().to_string();
        assert!(error.contains("this desk has no rules"), "{error}");
    }
    let (rules, ..) = SlowRules::new();
    let house = House::with_rules(rules);
    let error = house.viewer().ask(DeskCommand::Rules, DEADLINE).unwrap_err().to_string();
    assert!(error.contains("look at its mode"), "{error}");
}
