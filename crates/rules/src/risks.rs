//! What is unusual about a call, by the same analysis by which rules are applied.

use std::sync::LazyLock;

use callgate_wire::desk::{RiskKind, RiskNote};

use crate::act::Act;
use crate::act::url::host_of;
use crate::file::{RuleFile, Trust};
use crate::guard::Guarded;
use crate::moment::Moment;
use crate::shell::ShellWord;
use crate::steps;

/// The risks, as rules that are named after what they find.
const RISKS: &str = r#"
[[rule]]
name = "outside"
decide = "ask"
path = ["!**", "!/tmp/**", "!/dev/null"]

[[rule]]
name = "network"
decide = "ask"
command = ["curl", "wget", "aria2c", "http", "xh", "nc", "ncat", "socat", "telnet", "ftp", "ssh", "scp", "sftp", "rsync", "rclone", "git push", "git pull", "git fetch", "git clone", "npm install", "npm publish", "pip install", "cargo install", "cargo publish", "docker pull", "docker push", "gh"]

[[rule]]
name = "network tools"
decide = "ask"
class = "network"

[[rule]]
name = "deletes"
decide = "ask"
command = ["rm", "rmdir", "shred", "unlink", "truncate", "find * -delete", "git clean", "git reset --hard", "git branch -D", "dropdb", "kubectl delete", "docker rm", "docker rmi", "terraform destroy"]
"#;

static RISK_RULES: LazyLock<RuleFile> =
    LazyLock::new(|| RuleFile::read("risks", RISKS, Trust::User));

/// Returns what is unusual about a call: that it leaves its project, uses the network, deletes
/// something or touches what is guarded. Each kind occurs at most once.
#[must_use]
pub fn risks(act: &Act, guarded: &Guarded) -> Vec<RiskNote> {
    let find = || {
        let mut notes: Vec<RiskNote> = Vec::new();
        let without_addresses = without_addresses(act);
        for rule in &RISK_RULES.rules {
            let (kind, text, act) = match rule.name.as_str() {
                "outside" => {
                    (RiskKind::Outside, "It reaches outside of the project", &without_addresses)
                }
                "deletes" => (RiskKind::Deletes, "It deletes something", act),
                _ => (RiskKind::Network, "It uses the network", act),
            };
            if let Ok(reason) = rule.tightens(act, &Moment::at(0, 0))
                && notes.iter().all(|note| note.kind != kind)
            {
                notes.push(RiskNote { kind, text: format!("{text}: {reason}") });
            }
        }
        let gate = guarded.touches(act);
        notes.extend(gate.map(|reason| {
            let text = format!("It touches the gate: {reason}");
            RiskNote { kind: RiskKind::Gate, text }
        }));
        notes
    };
    steps::within(steps::JUDGING, find).0
}

/// Returns the act with a plain name in place of every address on the network. A rule takes an
/// address for a path, to be safe; a person who reads of a path outside expects one.
fn without_addresses(act: &Act) -> Act {
    let mut act = act.clone();
    let words = act.runs.commands.iter_mut().flat_map(|command| &mut command.words);
    for word in words.filter(|word| word.text().is_some_and(is_address)) {
        *word = ShellWord::known("address");
    }
    act
}

/// Returns true for a URL with a host, and for `user@host:path`.
fn is_address(text: &str) -> bool {
    if text.contains("://") {
        return host_of(text).is_some();
    }
    let host = text.split_once(':').map(|(host, _)| host);
    host.is_some_and(|host| host.contains('@') && !host.starts_with('-') && !host.contains('/'))
}

#[cfg(test)]
mod tests;
