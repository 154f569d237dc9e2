//! A daemon in a folder of its own, without a terminal, and viewers of it.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use callgate_approval::asker::{self, NoAnswer};
use callgate_approval::daemon::{Claim, Daemon, DaemonOptions};
use callgate_approval::desk::{Authority, DeskSettings, Ruling};
use callgate_approval::rule_desk::RuleDesk;
use callgate_approval::telegram;
use callgate_client::viewer::Viewer;
use callgate_link::blocking::fill_lines;
use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_wire::approval::{
    Action, AllowDemands, ApprovalRequest, ApprovalResponse, Press, RequestId,
};
use callgate_wire::desk::{self, DeskAnswer, DeskCommand, DeskMessage, HiddenText, MAX_MESSAGE};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::parts::{self, desk_settings, one_worker};

pub(crate) use crate::parts::{DEADLINE, request};

pub(crate) struct House {
    pub(crate) folder: TempDir,
    /// The token of the first who was linked: whoever follows needs a yes.
    owner: Mutex<Option<HiddenText>>,
    rule_desk: Option<Arc<dyn RuleDesk>>,
    runtime: Runtime,
    daemon: Option<Daemon>,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(None)
    }

    pub(crate) fn with(telegram: Option<telegram::BotSettings>) -> Self {
        Self::over(tempfile::tempdir().unwrap(), telegram)
    }

    /// A daemon whose questions go to one chat and stay open for so long.
    pub(crate) fn asking(telegram: telegram::BotSettings, chat: i64, timeout: Duration) -> Self {
        let mut house = Self::bare(tempfile::tempdir().unwrap());
        let authority = Authority { chats: [chat].into(), ..Authority::default() };
        house.start_with(Some(telegram), authority, timeout);
        house
    }

    fn bare(folder: TempDir) -> Self {
        let (owner, runtime) = (Mutex::new(None), one_worker());
        Self { folder, owner, rule_desk: None, runtime, daemon: None }
    }

    /// A daemon that knows somebody who answers for the rules.
    pub(crate) fn with_rules(rules: Arc<dyn RuleDesk>) -> Self {
        let mut house = Self::bare(tempfile::tempdir().unwrap());
        house.rule_desk = Some(rules);
        house.start(None);
        house
    }

    /// A daemon over what is already in a folder.
    pub(crate) fn over(folder: TempDir, telegram: Option<telegram::BotSettings>) -> Self {
        let mut house = Self::bare(folder);
        house.start(telegram);
        house
    }

    pub(crate) fn start(&mut self, telegram: Option<telegram::BotSettings>) {
        self.start_with(telegram, Authority::default(), DEADLINE);
    }

    fn start_with(
        &mut self,
        telegram: Option<telegram::BotSettings>,
        authority: Authority,
        timeout: Duration,
    ) {
        let settings = DeskSettings { timeout, phones: telegram.is_some(), ..desk_settings() };
        let options = DaemonOptions {
            claim: Claim::claim_sockets(self.socket(), self.desk_socket()).unwrap(),
            store: Store::open(&self.database()).unwrap(),
            settings,
            authority,
            roles: None,
            ruler: Arc::new(|request| {
                if request.tool_input.get().contains("confirm") {
                    return Ruling::AtDesk {
                        because: "rule `careful`".to_owned(),
                        needs_word: true,
                        demands: AllowDemands::default(),
                    };
                }
                Ruling::Ask { because: None, is_guarded: false }
            }),
            rule_desk: self.rule_desk.clone(),
            settings_desk: None,
            telegram,
            terminal: None,
            warn: Arc::new(|_| {}),
        };
        let _entered = self.runtime.enter();
        self.daemon = Some(Daemon::start(options).unwrap());
    }

    pub(crate) fn stop(&mut self) {
        let _entered = self.runtime.enter();
        self.daemon = None;
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("ask.sock")
    }

    pub(crate) fn desk_socket(&self) -> PathBuf {
        self.folder.path().join("desk.sock")
    }

    pub(crate) fn database(&self) -> PathBuf {
        database(self.folder.path())
    }

    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::connect(&self.desk_socket()).unwrap()
    }

    /// A viewer that may press, and its token.
    pub(crate) fn paired(&self, name: &str) -> (Viewer, HiddenText) {
        let mut viewer = self.viewer();
        let mut owner = self.owner.lock().unwrap();
        let code = match owner.clone() {
            Some(token) => {
                let mut asking = self.viewer();
                assert!(
                    told(&mut asking, DeskCommand::Unlock { token, origin: None, name: None }).0
                );
                asking.code().unwrap().0
            }
            None => viewer.code().unwrap().0,
        };
        let token = pair_with(code, &mut viewer, name);
        owner.get_or_insert_with(|| token.clone());
        (viewer, token)
    }

    /// Asks as a hook does.
    pub(crate) fn ask(
        &self,
        request: ApprovalRequest,
    ) -> JoinHandle<Result<ApprovalResponse, NoAnswer>> {
        let settings =
            asker::AskerSettings { socket: self.socket(), timeout: DEADLINE, grace: DEADLINE };
        parts::ask(settings, request)
    }

    pub(crate) fn entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&self.database()).unwrap();
        store.entries_after(&EntryFilter::default(), 0, usize::MAX).unwrap()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn database(folder: &Path) -> PathBuf {
    folder.join("data/callgate.db")
}

/// Pairs a viewer with a fresh code.
pub(crate) fn pair(viewer: &mut Viewer, name: &str) -> HiddenText {
    let (code, _) = viewer.code().unwrap();
    pair_with(code, viewer, name)
}

fn pair_with(code: HiddenText, viewer: &mut Viewer, name: &str) -> HiddenText {
    let command = DeskCommand::Pair { code, name: name.to_owned(), origin: None };
    match viewer.ask(command, DEADLINE).unwrap() {
        DeskAnswer::Paired { token } => token,
        other => panic!("not paired: {other:?}"),
    }
}

pub(crate) fn press(id: &RequestId, press: Press) -> DeskCommand {
    DeskCommand::Press { request_id: id.clone(), press, confirm: None }
}

pub(crate) fn button(id: &RequestId, action: Action) -> DeskCommand {
    press(id, Press::Button(action))
}

/// What became of something that a viewer did.
pub(crate) fn told(viewer: &mut Viewer, command: DeskCommand) -> (bool, String) {
    match viewer.ask(command, DEADLINE).unwrap() {
        DeskAnswer::Told { done, text } => (done, text),
        other => panic!("nothing was told: {other:?}"),
    }
}

/// The next entry that a viewer is shown.
pub(crate) fn next(viewer: &mut Viewer) -> desk::WatchedEntry {
    match viewer.next(Instant::now() + DEADLINE).unwrap() {
        Some(DeskMessage::Entry(entry)) => entry,
        other => panic!("no entry came: {other:?}"),
    }
}

/// The next entry of this kind that a viewer is shown.
pub(crate) fn next_of(viewer: &mut Viewer, kind: &str) -> (desk::WatchedEntry, Value) {
    loop {
        let entry = next(viewer);
        if entry.kind == kind {
            let body = serde_json::from_str(entry.body.get()).unwrap();
            return (entry, body);
        }
    }
}

/// A connection without manners: it sends any bytes, and reads whatever comes.
pub(crate) struct Plain {
    pub(crate) stream: UnixStream,
    lines: LineDecoder,
}

impl Plain {
    pub(crate) fn connect(house: &House) -> Self {
        let stream = UnixStream::connect(house.desk_socket()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Self { stream, lines: LineDecoder::new(MAX_MESSAGE) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Vec<u8> {
        loop {
            if let Some(DecodedLine::Whole(line)) = self.lines.next_frame() {
                return line.to_vec();
            }
            assert_ne!(fill_lines(&mut self.stream, &mut self.lines).unwrap(), 0, "it has ended");
        }
    }
}
