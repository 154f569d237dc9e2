//! Asks Codex itself which hooks it knows and whether it would run them.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::program::{self, ProgramError};

/// How long Codex may take to answer. On an idle machine it takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most that it may print, in bytes. Nobody has that many hooks.
const MOST: usize = 8 << 20;
/// The number of the request that lists the hooks.
const LIST: u64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodexHook {
    /// The name under which its trust is kept.
    pub(crate) key: String,
    /// The event, in Codex's own spelling: `preToolUse`.
    pub(crate) event_name: String,
    pub(crate) command: Option<String>,
    /// The file that contains it.
    #[serde(default)]
    pub(crate) source_path: String,
    /// Whether the user has left it enabled.
    #[serde(default)]
    pub(crate) enabled: bool,
    /// The hash that has to be trusted.
    #[serde(default)]
    pub(crate) current_hash: String,
    /// `trusted`, `untrusted`, `modified` or `managed`.
    #[serde(default)]
    pub(crate) trust_status: String,
}

impl CodexHook {
    pub(crate) fn is_run_by_codex(&self) -> bool {
        self.enabled && matches!(self.trust_status.as_str(), "trusted" | "managed")
    }
}

/// Why Codex did not list its hooks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodexError {
    #[error("`codex app-server` {0}")]
    Program(#[from] ProgramError),
    #[error("`codex app-server` refused to list its hooks: {0}")]
    Refused(String),
}

impl CodexError {
    /// Returns true if there is no `codex` on PATH.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Program(ProgramError::NotStarted(error))
            if error.kind() == ErrorKind::NotFound)
    }
}

/// Starts `codex app-server` and returns the hooks that apply in `folder`.
pub(crate) fn hooks_in_folder(folder: &Path) -> Result<Vec<CodexHook>, CodexError> {
    let mut command = Command::new("codex");
    command.arg("app-server").current_dir(folder);
    let version = env!("CARGO_PKG_VERSION");
    let client = json!({ "name": "callgate", "title": "callgate", "version": version });
    let lines = [
        json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": LIST, "method": "hooks/list", "params": { "cwds": [folder] } }),
    ];
    // All at once, although the server has to be initialised first: it reads the lines one after
    // the other.
    let words = lines.map(|line| line.to_string()).join("\n") + "\n";
    program::ask_program(command, &words, PATIENCE, MOST, parse_hook_list)?
        .map_err(CodexError::Refused)
}

/// Reads the answer to the request for the list, if this line is that answer.
fn parse_hook_list(line: &str) -> Option<Result<Vec<CodexHook>, String>> {
    let answer: Value = serde_json::from_str(line).ok()?;
    if answer["id"] != LIST {
        return None;
    }
    if let Some(error) = answer["error"]["message"].as_str() {
        return Some(Err(error.to_owned()));
    }
    let Some(folders) = answer["result"]["data"].as_array() else {
        return Some(Err("its answer has no list".to_owned()));
    };
    let hooks = folders.iter().filter_map(|folder| folder["hooks"].as_array()).flatten();
    // A hook of an unknown shape is not ours.
    Some(Ok(hooks.filter_map(|hook| CodexHook::deserialize(hook).ok()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_known_by_its_number() {
        assert_eq!(parse_hook_list(r#"{"id":1,"result":{}}"#), None);
        assert_eq!(parse_hook_list(r#"{"method":"configWarning"}"#), None);
        assert_eq!(parse_hook_list("no JSON"), None);
        let refused =
            parse_hook_list(r#"{"id":2,"error":{"code":-32601,"message":"unknown method"}}"#);
        assert_eq!(refused, Some(Err("unknown method".to_owned())));
        assert_eq!(
            parse_hook_list(r#"{"id":2,"result":{}}"#),
            Some(Err("its answer has no list".into()))
        );
        let hook = r#"{"key":"/h.json:stop:0:0","eventName":"stop","command":"c","async":false,
            "sourcePath":"/h.json","enabled":true,"currentHash":"sha256:1","trustStatus":"untrusted"}"#;
        let line = format!(r#"{{"id":2,"result":{{"data":[{{"cwd":"/w","hooks":[{hook}]}}]}}}}"#);
        let hooks = parse_hook_list(&line).unwrap().unwrap();
        assert_eq!((hooks.len(), hooks[0].key.as_str()), (1, "/h.json:stop:0:0"));
        assert!(!hooks[0].is_run_by_codex());
        assert!(CodexHook { trust_status: "trusted".into(), ..hooks[0].clone() }.is_run_by_codex());
        let off = CodexHook { trust_status: "trusted".into(), enabled: false, ..hooks[0].clone() };
        assert!(!off.is_run_by_codex());
    }
}
