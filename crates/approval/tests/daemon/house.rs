//! A daemon in a folder of its own, with a terminal that the test reads and presses.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_approval::asker::{self, NoAnswer};
use callgate_approval::channel::{
    ChannelOrder, ChannelReport, Person, PersonPlace, QuestionMark, ReplyTo,
};
use callgate_approval::daemon::{Claim, Daemon, DaemonOptions, StartError};
use callgate_approval::desk::{Authority, DeskSettings, Ruling};
use callgate_store::{ChainReport, EntryFilter, LedgerEntry, Store};
use callgate_testkit::until::until_or;
use callgate_wire::approval::{Action, ApprovalRequest, ApprovalResponse, Press, RequestId};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::parts::{self, desk_settings, one_worker};

pub(crate) use crate::parts::{DEADLINE, request};

pub(crate) struct House {
    pub(crate) folder: TempDir,
    runtime: Runtime,
    daemon: Option<Daemon>,
    orders: Mutex<Receiver<ChannelOrder>>,
    seen: Mutex<VecDeque<ChannelOrder>>,
    pub(crate) warnings: Arc<Mutex<Vec<String>>>,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut house = Self {
            folder,
            runtime: one_worker(),
            daemon: None,
            orders: Mutex::new(channel().1),
            seen: Mutex::default(),
            warnings: Arc::default(),
        };
        house.start().unwrap();
        house
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("ask.sock")
    }

    /// The socket for clients that know no other.
    pub(crate) fn legacy(&self) -> PathBuf {
        self.folder.path().join("legacy.sock")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("data/callgate.db")
    }

    /// Rules that allow `rule-allow`, deny `rule-deny`, never decide about `rule-stuck`, and leave
    /// the rest to people.
    fn rule(request: &ApprovalRequest) -> Ruling {
        let input = request.tool_input.get();
        while input.contains("rule-stuck") {
            thread::park();
        }
        if input.contains("rule-allow") {
            Ruling::Allow { because: "rule `yes`".to_owned() }
        } else if input.contains("rule-deny") {
            Ruling::Deny { because: "rule `no`".to_owned() }
        } else {
            Ruling::Ask { because: None, is_guarded: false }
        }
    }

    pub(crate) fn start(&mut self) -> Result<(), StartError> {
        self.start_with(Store::open(&self.database()).unwrap())
    }

    /// Starts a daemon whose ledger takes a few more entries and then no more.
    pub(crate) fn start_on_full_disk(&mut self) -> Result<(), StartError> {
        let store = Store::open(&self.database()).unwrap();
        // Less than it has already counts as what it has.
        store.limit_size(64 * 1024).unwrap();
        self.start_with(store)
    }

    fn start_with(&mut self, store: Store) -> Result<(), StartError> {
        let (orders_in, mut orders) = tokio::sync::mpsc::channel(64);
        let (seen_in, seen) = channel();
        let warnings = Arc::clone(&self.warnings);
        let claim = Claim::claim_sockets(self.socket(), self.folder.path().join("desk.sock"))?;
        let options = DaemonOptions {
            claim: claim.with_legacy(Some(self.legacy())),
            store,
            settings: DeskSettings {
                grace: Duration::from_secs(15),
                terminal: true,
                ..desk_settings()
            },
            authority: Authority::default(),
            roles: None,
            ruler: Arc::new(Self::rule),
            rule_desk: None,
            settings_desk: None,
            telegram: None,
            terminal: Some(orders_in),
            warn: Arc::new(move |what| warnings.lock().unwrap().push(what.to_owned())),
        };
        let guard = self.runtime.enter();
        let daemon = Daemon::start(options)?;
        tokio::spawn(async move {
            while let Some(order) = orders.recv().await {
                seen_in.send(order).ok();
            }
        });
        drop(guard);
        self.orders = Mutex::new(seen);
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Ends the daemon; whoever waits is left to itself.
    pub(crate) fn stop(&mut self) {
        let guard = self.runtime.enter();
        self.daemon = None;
        drop(guard);
    }

    /// The first order that the test wants; others are kept for later.
    pub(crate) fn order<T>(&self, wanted: impl Fn(&ChannelOrder) -> Option<T>) -> T {
        let mut seen = self.seen.lock().unwrap();
        if let Some(at) = seen.iter().position(|order| wanted(order).is_some()) {
            return wanted(&seen.remove(at).unwrap()).unwrap();
        }
        loop {
            let order = self.orders.lock().unwrap().recv_timeout(DEADLINE).unwrap();
            if let Some(found) = wanted(&order) {
                return found;
            }
            seen.push_back(order);
        }
    }

    /// Waits until a question is shown.
    pub(crate) fn shown(&self, id: &RequestId) {
        self.order(|order| {
            matches!(order, ChannelOrder::Show { card, .. } if card.id == *id).then_some(())
        });
    }

    pub(crate) fn mark(&self, id: &RequestId) -> QuestionMark {
        self.order(|order| match order {
            ChannelOrder::Mark { card, mark, .. } if card.id == *id => Some(mark.clone()),
            _ => None,
        })
    }

    pub(crate) fn press(&self, id: &RequestId, action: Action) {
        self.press_with(id, Press::Button(action));
    }

    pub(crate) fn press_with(&self, id: &RequestId, press: Press) {
        let who = Person::new(PersonPlace::Terminal, "Ada");
        let reply_to = ReplyTo::Key;
        let news = ChannelReport::Pressed {
            who,
            question: id.clone(),
            press,
            confirm: None,
            reply_to,
            copy: None,
        };
        let desk = self.daemon.as_ref().unwrap().desk();
        assert!(self.runtime.block_on(desk.send_news(news)), "the press was not recorded");
    }

    pub(crate) fn settings(&self) -> asker::AskerSettings {
        let grace = Duration::from_secs(20);
        asker::AskerSettings { socket: self.socket(), timeout: DEADLINE, grace }
    }

    /// Asks on a thread, as a hook would.
    pub(crate) fn ask(
        &self,
        request: ApprovalRequest,
    ) -> JoinHandle<Result<ApprovalResponse, NoAnswer>> {
        parts::ask(self.settings(), request)
    }

    /// Sends bytes as an asker and reads until the daemon closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        // A daemon that has closed already does not want the rest.
        stream.write_all(bytes).ok();
        let mut answer = Vec::new();
        // A connection that is reset is closed too.
        stream.read_to_end(&mut answer).ok();
        answer
    }

    pub(crate) fn entries(&self, id: &RequestId) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&self.database()).unwrap();
        let filter =
            EntryFilter { question: Some(id.as_str().to_owned()), ..EntryFilter::default() };
        store.entries_after(&filter, 0, 1_000).unwrap()
    }

    pub(crate) fn kinds(&self, id: &RequestId) -> Vec<String> {
        self.entries(id).into_iter().map(|entry| entry.kind).collect()
    }

    /// Waits until the ledger has this kind of entry about a question.
    pub(crate) fn wait_for(&self, id: &RequestId, kind: &str) {
        let found = || self.kinds(id).iter().any(|found| found == kind);
        until_or(|| format!("{kind} in {:?}", self.kinds(id)), found);
    }

    pub(crate) fn assert_chain(&self) {
        let store = Store::open_read_only(&self.database()).unwrap();
        assert!(matches!(store.verify().unwrap(), ChainReport::Whole { .. }));
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop();
    }
}
