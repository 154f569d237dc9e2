//! Reports settings of Claude Code that silence our hooks or lead the agent elsewhere, and the
//! hooks that an administrator has installed for everybody.

use super::finding::Findings;
use crate::agents::starting_mode::{HazardousFile, claude_hazards};
use crate::config::Surroundings;
use crate::install::managed;
use callgate_hooks::claude_settings::{self, HazardLevel, MANAGED_FOLDER};
use callgate_wire::hook::agents::CODEX;

const ABOUT: &str = "settings";

/// Returns true if the administrator's settings have our hook, and reports it. Reports settings
/// that keep all other hooks from running.
pub(super) fn look_at_managed(findings: &mut Findings) -> bool {
    let mut files = Vec::new();
    let mut excludes_others = false;
    for file in claude_settings::managed_files() {
        match claude_settings::read_settings_file(&file) {
            Ok(None) => {}
            Ok(Some(settings)) => {
                excludes_others |= settings["allowManagedHooksOnly"] == true;
                files.extend(claude_settings::has_our_hook(&settings).then_some(file));
            }
            Err(error) => {
                let text = format!("cannot read {}: {error}", file.display());
                findings.add_problem(ABOUT, text, "have it corrected");
            }
        }
    }
    if managed::has_ours(&CODEX) {
        let path = managed::managed_file(&CODEX).place.path().display().to_string();
        findings.add_ok("hooks", format!("Codex has our hook for all users in {path}"));
    }
    for file in &files {
        let text = format!("Claude Code has our hook for all users in {}", file.display());
        findings.add_ok("hooks", text);
    }
    if excludes_others && files.is_empty() {
        let text =
            format!("`allowManagedHooksOnly` is true in {MANAGED_FOLDER}: our hooks do not run");
        findings.add_problem("hooks", text, "sudo callgate install --managed");
    }
    !files.is_empty()
}

/// Reports what works against the gate in the user's settings and in those of the working folder.
/// Hooks of the administrator run all the same.
pub(super) fn check_settings_hazards(
    is_managed: bool,
    around: &Surroundings,
    findings: &mut Findings,
) {
    for HazardousFile { path, hazards } in claude_hazards(around) {
        for hazard in hazards {
            let text = format!("{}: {}", path.display(), hazard.text);
            let advice = "take it out, or make sure that it is yours";
            match hazard.level {
                HazardLevel::OpensGate if !is_managed => {
                    let advice =
                        format!("{advice}; `sudo callgate install --managed` withstands it");
                    findings.add_problem(ABOUT, text, advice);
                }
                _ => findings.add_warning(ABOUT, text, advice),
            }
        }
    }
}
