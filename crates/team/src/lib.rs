//! What a team gives to its members. Pure: no I/O, no clock, no random numbers of its own.
//!
//! A team's rules travel as a [`RuleBundle`], which is signed with the team's key. A member trusts
//! one [`TeamKey`], and [`TeamRules`] takes a bundle only if that key has signed it and if it is
//! newer than the one before. An [`Invitation`] leads a machine, a job or a person to the team's
//! desk.

mod hex;
mod id_token;
mod invitation;
mod rule_bundle;
mod team_key;
mod team_rules;

pub use id_token::{ExpectedIdToken, IdTokenError, code_challenge, verify_id_token};
pub use invitation::{Invitation, InvitationError, LONGEST_MEMBER_NAME, check_member_name};
pub use rule_bundle::{BundleError, LARGEST_BUNDLE, LONGEST_TEAM_NAME, RuleBundle};
pub use team_key::{NotATeamKey, TeamKey, TeamSigner};
pub use team_rules::{BundleRefusal, TakenBundle, TeamRules};
