//! The servers that a project names in its `.mcp.json`.
//!
//! Whoever can write into a project can name programs there. So the file is used only after a
//! person has agreed to exactly this content, which is kept as a digest; a changed file is asked
//! about again. A file that was refused, or about which nobody answered, is not used.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_link::text_file::read_regular;
use callgate_mask::mask_text;
use callgate_store::Sha256Hash;
use serde_json::{Value, json};

use super::server::{ToolServer, in_runtime};
use super::{MOST_SERVERS, McpServerSettings, ServerContext};
use crate::gate::{GateQuestion, ToolPermit};
use crate::tool::{TurnContext, raw_json};

const FILE: &str = ".mcp.json";
/// The name under which the gate is asked about the file.
const QUESTION: &str = "use_mcp_servers";
/// The largest file that is read, in bytes.
const LARGEST: u64 = 256 * 1024;
/// The prefix of the keys under which agreed files are kept.
const KEPT: &str = "mcp.project.";

pub(super) struct ProjectFile {
    context: Arc<ServerContext>,
    path: PathBuf,
    /// The names of the servers in the settings, which a project cannot replace.
    taken: HashSet<String>,
    /// The digest of the file as it was last looked at; held while a person is asked.
    seen: tokio::sync::Mutex<Option<String>>,
    servers: Mutex<Vec<Arc<ToolServer>>>,
}

impl ProjectFile {
    pub(super) fn new(context: Arc<ServerContext>, taken: HashSet<String>) -> Self {
        let path = context.around.folder.join(FILE);
        let (seen, servers) = (tokio::sync::Mutex::default(), Mutex::default());
        Self { context, path, taken, seen, servers }
    }

    pub(super) fn servers(&self) -> Vec<Arc<ToolServer>> {
        lock(&self.servers).clone()
    }

    /// Checks whether the file has changed, and asks about it if it has.
    pub(super) async fn check_for_change(&self, turn: TurnContext<'_>) {
        let mut seen = self.seen.lock().await;
        let content = self.read_content().await.inspect_err(|why| self.warn(why)).unwrap_or(None);
        let digest = content.as_deref().map(|content| Sha256Hash::hash_bytes(content).to_string());
        if *seen == digest {
            return;
        }
        // What was agreed to is no longer there.
        let old = std::mem::take(&mut *lock(&self.servers));
        for server in old {
            server.close().await;
        }
        // If this is given up while a person is asked, the next turn asks again.
        *seen = None;
        // Where nobody may be asked now, somebody may be later.
        let mut is_settled = turn.may_ask;
        if let (Some(content), Some(digest)) = (&content, &digest) {
            let servers = self.agreed_servers(content, digest, turn).await;
            is_settled |= !servers.is_empty();
            let start = |settings| ToolServer::new(settings, false, Arc::clone(&self.context));
            *lock(&self.servers) = servers.into_iter().map(start).collect();
        }
        *seen = digest.filter(|_| is_settled);
    }

    async fn agreed_servers(
        &self,
        content: &[u8],
        digest: &str,
        turn: TurnContext<'_>,
    ) -> Vec<McpServerSettings> {
        let parsed = self.parse(content).inspect_err(|why| self.warn(why));
        let Ok((form, servers)) = parsed else { return Vec::new() };
        // Nobody is asked about a file that starts nothing.
        if servers.is_empty() {
            return servers;
        }
        let key = self.key();
        match self.context.around.ledger.kept_value(&key).await {
            Ok(Some(kept)) if kept == digest => return servers,
            Ok(_) => {}
            Err(error) => {
                self.warn(&format!("it is unknown whether it may be used: {error}"));
                return Vec::new();
            }
        }
        if let Err(why) = self.ask(&form, turn).await {
            self.warn(&format!("it is not used: {why}"));
            return Vec::new();
        }
        if let Err(error) = self.context.around.ledger.keep_value(&key, digest).await {
            self.warn(&format!("it will be asked about again: {error}"));
        }
        servers
    }

    /// Returns the key under which the agreement to the file is kept.
    fn key(&self) -> String {
        format!("{KEPT}{}", Sha256Hash::hash_bytes(self.path.as_os_str().as_encoded_bytes()))
    }

    /// Returns the servers that the file names, and whether a person has agreed to it. Nobody is
    /// asked.
    pub(super) async fn named_servers(&self) -> (Vec<McpServerSettings>, bool) {
        let Ok(Some(content)) = self.read_content().await else { return (Vec::new(), false) };
        let servers = self.parse(&content).map(|(_, servers)| servers);
        let servers = servers.inspect_err(|why| self.warn(why)).unwrap_or_default();
        let digest = Sha256Hash::hash_bytes(&content).to_string();
        let kept = self.context.around.ledger.kept_value(&self.key()).await;
        (servers, kept.ok().flatten() == Some(digest))
    }

    async fn ask(&self, form: &Value, turn: TurnContext<'_>) -> Result<(), String> {
        let input = json!({ "file": self.path.display().to_string(), "mcpServers": form });
        let question = GateQuestion {
            tool_id: QUESTION.to_owned(),
            tool: QUESTION.into(),
            input: raw_json(&input),
            conversation: turn.conversation.to_owned(),
            may_ask: turn.may_ask,
            mirror: turn.mirror,
            refusal: None,
            fault: None,
            preview: None,
        };
        match turn.gate.decide_question(question).await {
            ToolPermit::Allowed { input: None, .. } => Ok(()),
            // What was agreed to would not be what is in the file.
            ToolPermit::Allowed { .. } => {
                Err("change the file itself, not the question".to_owned())
            }
            ToolPermit::Denied { because, .. } | ToolPermit::Futile { because } => Err(because),
        }
    }

    /// Returns the content of the file, or `None` if there is none. The disk may take its time.
    async fn read_content(&self) -> Result<Option<Vec<u8>>, String> {
        let path = self.path.clone();
        in_runtime(move || read_project_file(&path)).await
    }

    /// Reads the content of the file: the servers as they are written, and those that can be used.
    fn parse(&self, content: &[u8]) -> Result<(Value, Vec<McpServerSettings>), String> {
        let form: Value =
            serde_json::from_slice(content).map_err(|error| format!("it is not JSON: {error}"))?;
        let servers = form.get("mcpServers").and_then(Value::as_object);
        let servers = servers.ok_or("it has no object `mcpServers`")?;
        if servers.len() > MOST_SERVERS {
            return Err(format!("it has more than {MOST_SERVERS} servers"));
        }
        let variable = |name: &str| self.context.variable(name);
        let mut usable = Vec::new();
        for (name, form) in servers {
            // Rules that the user wrote for that server would count for the project's.
            if self.taken.contains(name) {
                self.warn(&format!("its server `{name}` is not used: the settings have one"));
                continue;
            }
            match McpServerSettings::from_json(name, form, &variable) {
                Ok(server) => usable.push(server),
                Err(why) => self.warn(&why),
            }
        }
        Ok((Value::Object(servers.clone()), usable))
    }

    fn warn(&self, what: &str) {
        let what = format!("{}: {what}", self.path.display());
        self.context.warn(&mask_text(&what).into_shown());
    }
}

/// Returns the content of the file, or `None` if there is none.
fn read_project_file(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match read_regular(path, LARGEST) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
