//! A gate in a folder of its own, a front end that sees its questions, and a daemon beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callgate_agent::gate::{GateQuestion, PermissionGate, QuestionMirror, ToolPermit};
use callgate_approval::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, ReplyTo};
use callgate_approval::daemon::{Claim, Daemon, DaemonOptions};
use callgate_approval::desk::{Authority, DeskSettings};
use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_surroundings::read_live_rules;
use callgate_wire::approval::{Action, Press, RequestId};
use callgate_wire::ledger::LedgerKind;
use callgate_wire::session::{PermissionAnswer, PermissionRequest, SessionEvent};
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinHandle;

use super::super::Gatekeeper;
use crate::config::{Config, test_config, test_surroundings};

/// Long enough for any machine.
pub(super) const DEADLINE: Duration = Duration::from_mins(1);

/// A gate whose root is the folder `root`.
pub(super) struct Bench {
    pub(super) folder: TempDir,
    pub(super) config: Config,
    pub(super) gate: Arc<Gatekeeper>,
    pub(super) warnings: Arc<Mutex<Vec<String>>>,
    pub(super) runtime: Runtime,
}

impl Bench {
    /// With these rules of the user.
    pub(super) fn new(rules: &str) -> Self {
        Self::with(rules, &[])
    }

    /// With these variables, too.
    pub(super) fn with(rules: &str, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir(path("root")).unwrap();
        fs::write(path("rules.toml"), rules.replace("FOLDER", &path(""))).unwrap();
        let (socket, desk_socket) = (path("ask.sock"), path("desk.sock"));
        let (database, rules, root) = (path("data/callgate.db"), path("rules.toml"), path("root"));
        let mut all = vec![
            ("CALLGATE_SOCKET", socket.as_str()),
            ("CALLGATE_DESK_SOCKET", &desk_socket),
            ("CALLGATE_DATABASE", &database),
            ("CALLGATE_RULES", &rules),
            ("CALLGATE_AGENT_ROOTS", &root),
            ("CALLGATE_GRACE_SECONDS", "1"),
        ];
        all.extend(variables);
        let around = test_surroundings(folder.path(), &all);
        let config = test_config(&around);
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let gate = Arc::new(gate(&config, &warnings));
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { folder, config, gate, warnings, runtime }
    }

    /// Another gate of the same settings, as after a start.
    pub(super) fn restart(&mut self) {
        self.gate = Arc::new(gate(&self.config, &self.warnings));
    }

    pub(super) fn root(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    pub(super) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async { tokio::time::timeout(DEADLINE, work).await.unwrap() })
    }

    pub(super) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        // It makes its first steps now.
        let spawned = self.runtime.spawn(work);
        self.run(tokio::task::yield_now());
        spawned
    }

    /// What the gate says to a front end that takes no questions.
    pub(super) fn permit(&self, tool: &'static str, input: &Value) -> String {
        words(&self.run(self.gate.decide_question(question(tool, input, "c1"))))
    }

    /// Asks with a front end that takes questions.
    pub(super) fn ask(&self, question: GateQuestion) -> (JoinHandle<ToolPermit>, Screen) {
        let (shown, seen) = mpsc::unbounded_channel();
        // A test that has seen enough stops listening.
        let mirror: QuestionMirror = Arc::new(move |what| drop(shown.send(what)));
        let question = GateQuestion { mirror: Some(mirror), ..question };
        let gate = Arc::clone(&self.gate);
        let asked = self.runtime.spawn(async move { gate.decide_question(question).await });
        (asked, Screen { seen })
    }

    /// The front end answers.
    pub(super) fn answer(&self, id: &str, press: Press) -> Result<String, String> {
        self.run(self.gate.answer(PermissionAnswer { question: id.to_owned(), press }))
    }

    /// The ledger's entries about a question.
    pub(super) fn entries(&self, id: &str) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&self.config.database).unwrap();
        let filter = EntryFilter { question: Some(id.to_owned()), ..EntryFilter::default() };
        store.entries_after(&filter, 0, usize::MAX).unwrap()
    }

    pub(super) fn kinds(&self, id: &str) -> Vec<String> {
        self.entries(id).into_iter().map(|entry| entry.kind).collect()
    }

    /// Waits for the last entry about a question.
    pub(super) fn closed(&self, id: &str) -> Value {
        let start = Instant::now();
        loop {
            let closed = self.entries(id).into_iter().find(|entry| entry.kind == "closed");
            if let Some(closed) = closed {
                return serde_json::from_str(&closed.body).unwrap();
            }
            assert!(start.elapsed() < DEADLINE, "it was never closed");
            // The desk in this process works only while the runtime does.
            self.run(async { tokio::time::sleep(Duration::from_millis(5)).await });
        }
    }

    /// How often something of this kind is in the ledger.
    pub(super) fn count(&self, kind: LedgerKind) -> usize {
        let store = Store::open_read_only(&self.config.database).unwrap();
        let filter = EntryFilter { kinds: vec![kind], ..EntryFilter::default() };
        store.entries_after(&filter, 0, usize::MAX).unwrap().len()
    }
}

fn gate(config: &Config, warnings: &Arc<Mutex<Vec<String>>>) -> Gatekeeper {
    let warnings = Arc::clone(warnings);
    let warn = Arc::new(move |what: &str| warnings.lock().unwrap().push(what.to_owned()));
    Gatekeeper::new(config, warn)
}

pub(super) fn question(tool: &'static str, input: &Value, conversation: &str) -> GateQuestion {
    GateQuestion {
        tool_id: "toolu_1".to_owned(),
        tool: tool.into(),
        input: RawValue::from_string(input.to_string()).unwrap(),
        conversation: conversation.to_owned(),
        may_ask: true,
        mirror: None,
        refusal: None,
        fault: None,
        preview: None,
    }
}

/// A permit in one line.
pub(super) fn words(permit: &ToolPermit) -> String {
    match permit {
        ToolPermit::Allowed { because, input: None } => format!("allowed: {because}"),
        ToolPermit::Allowed { because, input: Some(input) } => {
            format!("allowed {input}: {because}")
        }
        ToolPermit::Futile { because } => format!("futile: {because}"),
        ToolPermit::Denied { because, interrupt: false } => format!("denied: {because}"),
        ToolPermit::Denied { because, interrupt: true } => format!("stopped: {because}"),
    }
}

/// What the front end sees of one question.
pub(super) struct Screen {
    seen: UnboundedReceiver<SessionEvent>,
}

impl Screen {
    /// Waits for the question: its id, its title, its input and its reason.
    pub(super) fn asked(&mut self, bench: &Bench) -> (String, String, String, Option<String>) {
        let PermissionRequest { question, title, input, reason, .. } = self.question(bench);
        (question, title, input.to_string(), reason)
    }

    /// Waits for the question, with all that is shown of it.
    pub(super) fn question(&mut self, bench: &Bench) -> PermissionRequest {
        match bench.run(self.seen.recv()).unwrap() {
            SessionEvent::PermissionRequest(asked) => asked,
            other => panic!("it was over before it was asked: {other:?}"),
        }
    }

    /// Waits until it is over: the decision and the text.
    pub(super) fn closed(&mut self, bench: &Bench, id: &str) -> (String, String) {
        match bench.run(self.seen.recv()).unwrap() {
            SessionEvent::PermissionResolved(end) => {
                assert_eq!(end.question, id);
                (end.decision, end.text)
            }
            other => panic!("it was asked twice: {other:?}"),
        }
    }

    /// How it ended, if that has been shown.
    pub(super) fn closed_already(&mut self) -> Option<(String, String)> {
        match self.seen.try_recv() {
            Ok(SessionEvent::PermissionResolved(end)) => Some((end.decision, end.text)),
            _ => None,
        }
    }

    /// Whether nothing more was shown, and nothing will be.
    pub(super) fn is_over(&mut self, bench: &Bench) -> bool {
        bench.run(self.seen.recv()).is_none()
    }
}

/// A daemon at the sockets of a bench, as `callgate up` has it.
pub(super) struct House {
    runtime: Runtime,
    daemon: Option<Daemon>,
    orders: Option<mpsc::Receiver<ChannelOrder>>,
}

impl House {
    /// With a terminal of its own, or without anybody to reach.
    pub(super) fn new(bench: &Bench, has_terminal: bool) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut house = Self { runtime, daemon: None, orders: None };
        house.start(bench, has_terminal);
        house
    }

    pub(super) fn start(&mut self, bench: &Bench, has_terminal: bool) {
        let config = &bench.config;
        let (orders_in, orders) = mpsc::channel(64);
        let ruler = read_live_rules(config, Arc::new(|_| {}));
        let options = DaemonOptions {
            claim: Claim::claim_sockets(&config.socket.value, &config.desk_socket.value).unwrap(),
            store: Store::open(&config.database).unwrap(),
            settings: DeskSettings {
                terminal: has_terminal,
                ..DeskSettings::plain(DEADLINE, DEADLINE)
            },
            authority: Authority::default(),
            roles: None,
            ruler: Arc::new(move |request| ruler.judge_request(request)),
            rule_desk: None,
            settings_desk: None,
            telegram: None,
            terminal: has_terminal.then_some(orders_in),
            warn: Arc::new(|_| {}),
        };
        let _entered = self.runtime.enter();
        self.daemon = Some(Daemon::start(options).unwrap());
        self.orders = Some(orders);
    }

    pub(super) fn stop(&mut self) {
        let _entered = self.runtime.enter();
        self.daemon = None;
    }

    /// Waits for a question at the daemon's terminal, while the gate goes on.
    pub(super) fn shown(&mut self, bench: &Bench) -> String {
        let orders = self.orders.as_mut().unwrap();
        loop {
            if let ChannelOrder::Show { card, .. } = bench.run(orders.recv()).unwrap() {
                return card.id.to_string();
            }
        }
    }

    /// Somebody presses at the daemon's terminal.
    pub(super) fn press(&self, id: &str, action: Action) {
        let question = RequestId::parse(id).unwrap();
        let who = Person::new(PersonPlace::Terminal, "Ada");
        let press = Press::Button(action);
        let news = ChannelReport::Pressed {
            who,
            question,
            press,
            confirm: None,
            reply_to: ReplyTo::Key,
            copy: None,
        };
        let desk = self.daemon.as_ref().unwrap().desk();
        assert!(self.runtime.block_on(desk.send_news(news)));
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(super) fn link(to: &Path, from: &Path) {
    std::os::unix::fs::symlink(to, from).unwrap();
}
