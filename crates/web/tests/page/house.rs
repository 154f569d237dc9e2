//! A desk and its page in a folder of their own.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_approval::asker::{self, AskerCancellation, NoAnswer};
use callgate_approval::daemon::{Claim, Daemon, DaemonOptions};
use callgate_approval::desk::{Authority, DeskSettings, Ruling};
use callgate_client::desk::DeskClient;
use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_web::{PageHost, PageLimits, PageOptions, RuntimeCommand};
use callgate_wire::approval::{ApprovalRequest, ApprovalResponse};
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskStatus, HiddenText};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::browser::{Response, request, send};

/// Long enough for any machine.
const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    limits: PageLimits,
    /// What the daemon has warned of.
    warned: Arc<Mutex<String>>,
    /// The key of the first page: whoever follows needs a yes.
    owner: Mutex<Option<String>>,
    runtime: Runtime,
    daemon: Option<Daemon>,
    page: Option<PageHost>,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(PageLimits::default())
    }

    pub(crate) fn with(limits: PageLimits) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let mut house = Self {
            folder: tempfile::tempdir().unwrap(),
            port: 0,
            limits,
            warned: Arc::default(),
            owner: Mutex::new(None),
            runtime: runtime.worker_threads(1).enable_all().build().unwrap(),
            daemon: None,
            page: None,
        };
        house.start_desk();
        house.start_page();
        house
    }

    pub(crate) fn start_desk(&mut self) {
        let settings = DeskSettings::plain(DEADLINE, DEADLINE);
        let warned = Arc::clone(&self.warned);
        let options = DaemonOptions {
            claim: Claim::claim_sockets(self.socket(), self.desk_socket()).unwrap(),
            store: Store::open(&self.folder.path().join("callgate.db")).unwrap(),
            settings,
            authority: Authority::default(),
            roles: None,
            ruler: Arc::new(|_| Ruling::Ask { because: None, is_guarded: false }),
            rule_desk: None,
            settings_desk: None,
            telegram: None,
            terminal: None,
            warn: Arc::new(move |what| warned.lock().unwrap().push_str(what)),
        };
        let _entered = self.runtime.enter();
        self.daemon = Some(Daemon::start(options).unwrap());
    }

    /// Serves the page: on the same port as before, if there was one.
    pub(crate) fn start_page(&mut self) {
        let options = PageOptions {
            desk_socket: self.desk_socket(),
            port: self.port,
            limits: self.limits,
            runtime: Some(self.chat_runtime()),
        };
        let _entered = self.runtime.enter();
        let page = PageHost::start(options).unwrap();
        self.port = page.address().port();
        self.page = Some(page);
    }

    /// A runtime that answers every message with its beginning, and waits if it is told to. It
    /// writes its process id into the folder of the house, and again whenever it is asked for its
    /// status.
    fn chat_runtime(&self) -> RuntimeCommand {
        let script = r#"echo $$ >> "$HOUSE/runtimes"
            echo '{"type":"ready","version":"1.0.0","capabilities":["hello"],"timestamp":1}'
            while read -r line; do
                id=${line#*'"id":"'}; id=${id%%'"'*}
                end="{\"type\":\"done\",\"id\":\"$id\",\"timestamp\":2}"
                case "$line" in
                    *'"get_status"'*)
                        state=idle; [ -e "$HOUSE/busy" ] && state=busy
                        echo $$ >> "$HOUSE/asked"
                        end="{\"type\":\"status\",\"id\":\"$id\",\"data\":{\"state\":\"$state\",\"conversationLength\":0,\"uptime\":1},\"timestamp\":2}" ;;
                    *'"user_message"'*)
                        echo "{\"type\":\"token\",\"id\":\"$id\",\"token\":\"Hello.\",\"timestamp\":2}" ;;
                esac
                echo "$end"
            done"#;
        RuntimeCommand {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("HOUSE".into(), self.folder.path().into())],
            home: Some(self.folder.path().into()),
        }
    }

    /// Runs something in the house's runtime.
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(crate) fn stop_desk(&mut self) {
        let _entered = self.runtime.enter();
        self.daemon = None;
    }

    pub(crate) fn stop_page(&mut self) {
        if let Some(page) = self.page.take() {
            self.runtime.block_on(page.close());
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("ask.sock")
    }

    pub(crate) fn desk_socket(&self) -> PathBuf {
        self.folder.path().join("desk.sock")
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    /// Asks the desk, as another program would.
    pub(crate) fn ask_desk(&self, key: Option<&str>, command: DeskCommand) -> DeskAnswer {
        self.runtime.block_on(async {
            let desk = DeskClient::connect(&self.desk_socket()).unwrap();
            if let Some(key) = key {
                let (token, origin) = (HiddenText::new(key), Some(self.origin()));
                match desk.ask(DeskCommand::Unlock { token, origin, name: None }).await.unwrap() {
                    DeskAnswer::Told { done, .. } => assert!(done, "the key is good"),
                    other => panic!("{other:?}"),
                }
            }
            desk.ask(command).await.unwrap()
        })
    }

    /// Returns a code for a page.
    pub(crate) fn code(&self) -> String {
        let owner = self.owner.lock().unwrap().clone();
        match self.ask_desk(owner.as_deref(), DeskCommand::Code { page: true }) {
            DeskAnswer::Code { code, seconds } => {
                assert_eq!(seconds, 60);
                code.reveal().to_owned()
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn status(&self) -> DeskStatus {
        match self.ask_desk(None, DeskCommand::Status) {
            DeskAnswer::Status { status } => *status,
            other => panic!("{other:?}"),
        }
    }

    /// Returns what the ledger holds.
    pub(crate) fn entries(&self) -> Vec<LedgerEntry> {
        let store = Store::open_read_only(&self.folder.path().join("callgate.db")).unwrap();
        store.entries_after(&EntryFilter::default(), 0, usize::MAX).unwrap()
    }

    /// Asks as a hook does.
    pub(crate) fn ask(&self, command: &str) -> JoinHandle<Result<ApprovalResponse, NoAnswer>> {
        let request = json!({ "request_id": ASKED, "session_id": "s", "cwd": "/home/ada",
            "tool_name": "Bash", "tool_input": { "command": command } });
        let request = ApprovalRequest::decode(request.to_string().as_bytes()).unwrap();
        let settings =
            asker::AskerSettings { socket: self.socket(), timeout: DEADLINE, grace: DEADLINE };
        thread::spawn(move || asker::ask_desk(&settings, &request, &AskerCancellation::default()))
    }

    /// Pairs a page and returns its key.
    pub(crate) fn page(&self) -> String {
        self.page_named("A page")
    }

    pub(crate) fn page_named(&self, name: &str) -> String {
        let mut paired = self.pair_as(&self.code(), name);
        assert_eq!(paired.status, 200);
        let key = paired.json()["token"].as_str().unwrap().to_owned();
        self.owner.lock().unwrap().get_or_insert_with(|| key.clone());
        key
    }

    pub(crate) fn pair(&self, code: &str) -> Response {
        self.pair_as(code, "A page")
    }

    fn pair_as(&self, code: &str, name: &str) -> Response {
        let body = json!({ "code": code, "name": name }).to_string();
        let headers = [&self.host(), "Content-Type: application/json"];
        send(self.port, &request("POST /api/pair", &headers, &body))
    }

    /// Sends the desk a request from the page with this key.
    pub(crate) fn post(&self, key: &str, body: &Value) -> Response {
        let key = format!("Authorization: Bearer {key}");
        let headers = [&self.host(), &key, "Content-Type: application/json"];
        send(self.port, &request("POST /api/desk", &headers, &body.to_string()))
    }

    /// Opens an event stream and returns it with its head.
    pub(crate) fn events(&self, key: &str, after: Option<u64>) -> (Response, u64) {
        let (key, host) = (format!("Authorization: Bearer {key}"), self.host());
        let after = after.map(|after| format!("Last-Event-ID: {after}"));
        let headers: Vec<&str> = [Some(&host), Some(&key), after.as_ref()]
            .into_iter()
            .flatten()
            .map(|it| &**it)
            .collect();
        let mut stream = send(self.port, &request("GET /api/events", &headers, ""));
        assert_eq!(stream.status, 200);
        let (name, _, data) = stream.event().unwrap();
        assert_eq!(name, "watching");
        (stream, data["head"].as_u64().unwrap())
    }

    /// Asserts that nobody can read these texts from a file or a warning.
    pub(crate) fn assert_hidden(&self, secrets: &[&str]) {
        let files = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let contents: Vec<(PathBuf, Vec<u8>)> = files
            .filter(|path| path.is_file())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        assert!(contents.len() >= 2, "the ledger and the address");
        let warned = self.warned.lock().unwrap();
        for secret in secrets {
            for (path, content) in &contents {
                let is_in = content.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!is_in, "{} contains {secret}", path.display());
            }
            assert!(!warned.contains(secret), "{warned}");
        }
    }
}

/// The id of the question that [`House::ask`] asks.
pub(crate) const ASKED: &str = "550e8400-e29b-41d4-a716-446655440000";
