//! The rules in force on this machine, and what viewers of the desk ask about them.
//!
//! [`LiveRules`] reads the rule files whose paths it gets, and looks at the disk where a verdict
//! depends on it; both are what a verdict is about. It does not read the environment: settings,
//! home folder, time zone and the places to guard are passed in.

mod guarded;
mod ledger_suggestions;
mod live_rules;
mod local_clock;
mod past_questions;
mod real_disk;
mod rule_files;
mod served_rules;
mod team_file;

pub use guarded::build_guarded;
pub use ledger_suggestions::{MOST_BEYOND, suggest_from_ledger};
pub use live_rules::{LiveRules, ruling_of};
pub use local_clock::RuleSurroundings;
pub use past_questions::{read_turned_question, replay_ledger};
pub use real_disk::RealDisk;
pub use rule_files::{FileStamp, PROJECT_RULES, read_project_files, read_rule_file, roles_path};
pub use served_rules::{ServedRules, UserRulesFile};
pub use team_file::TeamFile;

#[cfg(test)]
mod tests;
