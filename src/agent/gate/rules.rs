//! Judges uses of tools by the rules of the desk. Where no rule decides, reading inside the roots
//! is allowed.

mod hidden;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use callgate_approval::daemon::Warn;
use callgate_approval::desk::Ruling;
use callgate_link::file::program_folders;
use callgate_policy::{LiveRules, RealDisk, RuleSurroundings, ruling_of};
use callgate_rules::{Act, CommandBounds, Disk, Policy, PolicyDefaults, disk, judge_act};
use callgate_surroundings::read_live_rules;
use rustix::fs::{Access, access};
use serde_json::json;

use super::AGENT;
use super::always::RepeatableAct;
use crate::config::Config;
use hidden::SearchJudge;

const READ: &str = "read_file";

#[derive(Debug)]
pub(super) struct ToolRuling {
    pub(super) ruling: Ruling,
    /// The act that a person may allow from now on, if any.
    pub(super) like: Option<RepeatableAct>,
    /// Why asking a person would be in vain.
    pub(super) fault: Option<String>,
}

impl ToolRuling {
    pub(super) fn denied(because: String) -> Self {
        Self { ruling: Ruling::Deny { because }, like: None, fault: None }
    }

    /// Returns the ruling on a call that asks a person something, if it `is_question`: no rule can
    /// answer in the person's place, and an answer to one question does not answer the next.
    pub(super) fn for_person_if(self, is_question: bool) -> Self {
        let ruling = match self.ruling {
            Ruling::Allow { because } if is_question => {
                Ruling::Ask { because: Some(because), is_guarded: false }
            }
            ruling => ruling,
        };
        Self { ruling, like: self.like.filter(|_| !is_question), fault: self.fault }
    }

    pub(super) fn has_to_ask(&self) -> bool {
        matches!(self.ruling, Ruling::Ask { .. } | Ruling::AtDesk { .. })
    }
}

/// The rules, read when the first question comes.
pub(super) struct RuntimeRules {
    config: Config,
    warn: Warn,
    disk: Arc<dyn Disk + Send + Sync>,
    ruler: OnceLock<LiveRules>,
}

impl RuntimeRules {
    pub(super) fn new(config: &Config, warn: Warn) -> Self {
        Self { config: config.clone(), warn, disk: Arc::new(RealDisk), ruler: OnceLock::new() }
    }

    /// Judges a use of a tool. If the rule files are unchanged this only checks their metadata.
    pub(super) fn judge_call(&self, tool: &str, input: &str) -> ToolRuling {
        let (policy, around) = self.current_policy();
        // A folder whose name is not UTF-8 makes an act that nothing allows.
        let folder = self.config.agent.folder().to_str().unwrap_or_default();
        let act = Act::from_call(tool, input, folder, AGENT, &around.home);
        let verdict = judge_act(&policy, &act, &*self.disk, &around.moment_for(&policy));
        let ruling = ruling_of(&verdict);
        let like = match &ruling {
            // Only where no rule has spoken, because what a rule wants asked is asked each time.
            Ruling::Ask { because: None, .. } => {
                RepeatableAct::from_act(&act, &act.path_targets(&*self.disk), input)
            }
            _ => None,
        };
        ToolRuling { ruling, like, fault: None }
    }

    /// Returns true if the rules let the model read this file without a question.
    pub(super) fn lets_read(&self, path: &str) -> bool {
        let input = json!({ "path": path }).to_string();
        matches!(self.judge_call(READ, &input).ruling, Ruling::Allow { .. })
    }

    /// Looks at another disk than that of this machine.
    #[cfg(test)]
    pub(super) fn look_at(&mut self, disk: Arc<dyn Disk + Send + Sync>) {
        self.disk = disk;
    }

    /// Returns the rules as they are now, to judge many files.
    pub(super) fn search_judge(&self) -> SearchJudge {
        let (policy, around) = self.current_policy();
        SearchJudge {
            policy: Policy::clone(&policy),
            folder: self.config.agent.folder().to_str().unwrap_or_default().to_owned(),
            home: around.home.clone(),
            now: around.moment_for(&policy),
        }
    }

    /// Returns the policy as it is now, and what else its rules depend on. No lock is held while it
    /// is used.
    fn current_policy(&self) -> (Arc<Policy>, &RuleSurroundings) {
        let ruler = self.ruler.get_or_init(|| self.read_rules());
        (ruler.policy_for_folder(self.config.agent.folder()), ruler.around())
    }

    /// Returns the folders in which commands may work, and where programs are.
    fn bounds(&self) -> CommandBounds {
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        let programs = program_folders(&std::env::var_os("PATH").unwrap_or_default());
        CommandBounds {
            roots: self.config.agent.roots.iter().filter_map(text).collect(),
            programs: programs.iter().filter_map(text).collect(),
            home: std::env::var_os("HOME").and_then(|home| home.into_string().ok()),
            is_root_writable: access("/", Access::WRITE_OK).is_ok(),
        }
    }

    fn read_rules(&self) -> LiveRules {
        // A root that is a link, or is behind one, has two names.
        let named = || self.config.agent.roots.iter().filter_map(|root| root.to_str());
        let real = named().filter_map(|root| disk::real_path(root, &RealDisk));
        let mut roots: Vec<String> = named().map(str::to_owned).chain(real).collect();
        roots.sort();
        roots.dedup();
        let defaults = PolicyDefaults::read_inside(roots.iter().map(String::as_str));
        read_live_rules(&self.config, self.warn.clone())
            .with_defaults(defaults)
            .with_bounds(self.bounds())
    }
}
