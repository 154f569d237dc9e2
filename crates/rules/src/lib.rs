//! What callgate decides without asking a person. Pure: no I/O, no clock.
//!
//! An [`Act`] is what an agent is about to do, a [`Policy`] the rules of all files, a [`Verdict`]
//! what they say by [`judge`]:
//!
//! ```
//! use callgate_rules::{
//!     Act, Decision, Guarded, Moment, NoLinks, Policy, RuleFile, Trust, judge,
//! };
//!
//! let file = RuleFile::read(
//!     "rules.toml",
//!     r#"
//!     [[rule]]
//!     name = "builds"
//!     decide = "allow"
//!     command = ["make build", "cargo test *"]
//!     "#,
//!     Trust::User,
//! );
//! let policy = Policy::new(Guarded::new("/home/ada")).with(&file, None);
//! let decide = |command: &str| {
//!     let input = format!(r#"{{"command": "{command}"}}"#);
//!     let act = Act::of("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
//!     judge(&policy, &act, &NoLinks, &Moment::at(0, 0))
//! };
//! let verdict = decide("make build");
//! assert_eq!(verdict.decision, Decision::Allow);
//! assert_eq!(verdict.because, "allowed by rule `builds` (rules.toml:2): the command is `make build`");
//! assert_eq!(decide("make build; rm -rf /").decision, Decision::Ask);
//! ```

pub mod act;
pub mod disk;
pub mod file;
mod glob;
pub mod guard;
mod judge;
pub mod moment;
mod outside;
mod place;
pub mod policy;
pub mod rule;
pub mod shell;
mod steps;

pub use act::{Act, Class};
pub use disk::{Disk, Entry, NoLinks};
pub use file::{Case, Level, Problem, RuleFile, Trust};
pub use guard::{Guarded, Kind};
pub use judge::{explain, judge};
pub use moment::Moment;
pub use outside::Bounds;
pub use policy::{Backtest, Defaults, Explanation, Past, Policy, Turned, Verdict, run_cases};
pub use rule::{Decision, Rule};
