//! What callgate decides without asking a person. Pure: no I/O, no clock.
//!
//! An [`Act`] is what an agent is about to do, a [`Policy`] the rules of all files, a [`Verdict`]
//! what they say by [`judge_act`]:
//!
//! ```
//! use callgate_rules::{
//!     Act, RuleDecision, GuardedSet, Moment, NoLinks, Policy, RuleFile, Trust, judge_act,
//! };
//!
//! let file = RuleFile::from_toml(
//!     "rules.toml",
//!     r#"
//!     [[rule]]
//!     name = "builds"
//!     decide = "allow"
//!     command = ["make build", "cargo test *"]
//!     "#,
//!     Trust::User,
//! );
//! let policy = Policy::new(GuardedSet::new("/home/ada")).with_file(&file, None);
//! let decide = |command: &str| {
//!     let input = format!(r#"{{"command": "{command}"}}"#);
//!     let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
//!     judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0))
//! };
//! let verdict = decide("make build");
//! assert_eq!(verdict.decision, RuleDecision::Allow);
//! assert_eq!(verdict.because, "allowed by rule `builds` (rules.toml:2): the command is `make build`");
//! assert_eq!(decide("make build; rm -rf /").decision, RuleDecision::Ask);
//! ```

pub mod act;
mod bare_repository;
mod certain;
pub mod disk;
pub mod file;
mod glob;
pub mod guard;
mod judge;
pub mod moment;
mod outside;
mod place;
pub mod policy;
mod proposal;
mod risks;
pub mod rule;
mod rule_test_run;
pub mod shell;
mod shown;
mod steps;
mod suggestions;

pub use act::{Act, ActClass, SELF_TEST_COMMAND};
pub use disk::{Disk, DiskEntry, FolderListing, NoLinks};
pub use file::{
    DESK_MACHINE, Problem, RoleFile, RoleSubject, RuleFile, RuleProblemLevel, RuleTest, TeamRole,
};
pub use guard::{GuardedKind, GuardedSet};
pub use judge::{explain_act, judge_act};
pub use moment::Moment;
pub use outside::CommandBounds;
pub use policy::{
    Backtest, ConsideredRule, Explanation, LevelVerdict, Policy, PolicyDefaults, TurnedVerdict,
    UnclearCommands, Verdict,
};
pub use proposal::{RuleProposal, propose_rule};
pub use risks::find_risks;
pub use rule::{Rule, RuleDecision, Trust};
pub use rule_test_run::{RuleTestResult, run_tests};
pub use suggestions::{DecidedCall, RuleSuggestion, suggest_rules};

/// The rules that `callgate rules init` writes.
pub const STARTER_RULES: &str = include_str!("starter.toml");
