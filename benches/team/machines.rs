//! The machines of a team: as members in the ledger of its desk, and as lines to it.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use callgate_http::{ProxyChoice, TeamService};
use callgate_store::{EntryDraft, Sha256Hash, Store};
use callgate_wire::ledger::{LedgerEvent, MemberInvited, MemberJoined, MemberKind};
use callgate_wire::relay::{LINE_NUMBER, LINE_PATH, LINE_PROTOCOL};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::home::Home;

/// How often a machine shows that it lives.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// Machines that have joined, by their tokens.
pub(crate) struct TeamOfMachines {
    tokens: Vec<String>,
}

/// A machine with a line. It ends with this.
pub(crate) struct ConnectedMachine(mpsc::Sender<String>);

fn hash_text(text: &str) -> String {
    Sha256Hash::hash_bytes(text.as_bytes()).to_string()
}

impl TeamOfMachines {
    /// Records members in the ledger of a desk that does not run yet.
    pub(crate) fn record_in(home: &Home, count: usize) -> Self {
        let folder = home.ledger();
        callgate_link::file::create_private_folder(folder.parent().unwrap()).unwrap();
        let mut store = Store::open(&home.ledger()).unwrap();
        let tokens: Vec<String> = (0..count).map(|number| format!("{number:064}")).collect();
        let mut entries = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            let (name, secret) = (format!("machine-{number}"), hash_text(&format!("s{number}")));
            let invited = LedgerEvent::Invited(MemberInvited {
                name: name.clone(),
                member: Some(MemberKind::Machine),
                owner: None,
                secret: secret.clone(),
                until_ms: None,
                by: "the benchmark".to_owned(),
            });
            let token = Some(hash_text(token));
            let joined = LedgerEvent::Joined(MemberJoined { name, secret, token });
            entries.extend([invited, joined].map(|event| EntryDraft::new(1, None, &event)));
        }
        store.append_entries(&entries).unwrap();
        Self { tokens }
    }

    /// Returns the token of the machine with this number.
    pub(crate) fn token(&self, number: usize) -> &str {
        &self.tokens[number]
    }

    /// Returns the desk that listens at this address, which has made its authority.
    pub(crate) fn service_at(home: &Home, listen: SocketAddr) -> TeamService {
        let authority = fs::read(home.ledger().with_file_name("team-authority.der")).unwrap();
        let address = format!("https://{listen}");
        TeamService::new(&address, Some(&authority), &ProxyChoice::default()).unwrap()
    }
}

impl ConnectedMachine {
    /// Opens a line and says what a machine without questions says.
    pub(crate) async fn connect(
        service: &TeamService,
        team: &TeamOfMachines,
        number: usize,
    ) -> Self {
        let line = service
            .open_line(LINE_PATH, LINE_PROTOCOL, team.token(number), (LINE_NUMBER, "1"))
            .await
            .unwrap();
        let (mut reading, mut writing) = tokio::io::split(line);
        let (lines_in, mut lines) = mpsc::channel::<String>(4);
        let hello = json!({ "kind": "hello", "protocol": 1, "version": "1", "host": "h",
            "user": "ada", "home": "/home/ada" });
        let synced = json!({ "kind": "synced", "open": [] });
        writing.write_all(format!("{hello}\n{synced}\n").as_bytes()).await.unwrap();
        tokio::spawn(async move {
            let mut read = [0; 1024];
            while let Ok(1..) = reading.read(&mut read).await {}
        });
        tokio::spawn(async move {
            loop {
                let line = match tokio::time::timeout(BEAT_EVERY, lines.recv()).await {
                    Ok(Some(line)) => line,
                    Ok(None) => return,
                    Err(_) => "{\"kind\":\"beat\"}\n".to_owned(),
                };
                if writing.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        Self(lines_in)
    }

    /// Sends a question of this id.
    pub(crate) async fn ask(&self, id: &str) {
        let question = json!({ "kind": "question", "ruling": "ask", "seconds": 300, "request": {
            "request_id": id, "tool_name": "Bash", "tool_input": { "command": "make build" },
            "cwd": "/work", "session_id": "s" } });
        self.0.send(format!("{question}\n")).await.unwrap();
    }
}

/// Lets this process have as many connections as the kernel allows.
pub(crate) fn raise_descriptor_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}
