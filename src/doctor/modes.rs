//! Reports the mode in which each agent starts, and settings that keep hooks from running or change
//! what they see.

use std::path::Path;

use serde_json::Value;

use super::finding::Findings;
use crate::agents::CodingAgent;
use crate::agents::starting_mode::{StartingMode, claude_files, claude_settings};
use crate::config::{Config, Surroundings};

const ABOUT: &str = "modes";
/// Variables that lead an agent to other settings.
const REDIRECTS: [&str; 2] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME"];

/// Says in which mode the agent starts, what callgate does in it, and what the agent does if a hook
/// fails.
pub(super) fn look(
    agent: CodingAgent,
    config: &Config,
    around: &Surroundings,
    findings: &mut Findings,
) {
    findings.ok(ABOUT, StartingMode::of(agent, around).text(config.gate.unattended));
    let open = match agent {
        CodingAgent::Claude => {
            "Claude Code takes a hook that is missing, killed or out of time for \"go on\""
        }
        CodingAgent::Codex => {
            "Codex takes a hook that is missing, killed or out of time for \"go on\", and does not \
             ask before it types into a running program"
        }
    };
    findings.ok(ABOUT, format!("{open}: in a mode that asks nobody the call then runs"));
    if agent == CodingAgent::Claude {
        for file in claude_files(around) {
            if let Some(settings) = claude_settings(&file) {
                of_file(&file, &settings, findings);
            }
        }
    }
}

fn of_file(file: &Path, settings: &Value, findings: &mut Findings) {
    let file = file.display();
    if settings["allowManagedHooksOnly"] == true {
        let text = format!("`allowManagedHooksOnly` is true in {file}: our hooks do not run");
        findings.problem(ABOUT, text, "have callgate's hooks put into the managed settings");
    }
    let variables = settings["env"].as_object().into_iter().flatten().map(|(name, _)| name);
    for name in variables {
        if name.starts_with("CALLGATE_") {
            let text = format!(
                "`env` in {file} sets {name}; installed hooks do not read it, but it may be meant \
                 to lead them elsewhere"
            );
            findings.warning(ABOUT, text, "take it out, or make sure that it is yours");
        } else if REDIRECTS.contains(&name.as_str()) {
            let text =
                format!("`env` in {file} sets {name}: agents started there may not have our hooks");
            findings.warning(ABOUT, text, "take it out, or install there as well");
        }
    }
}
