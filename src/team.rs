//! What a member of a team keeps and follows: its line to the team's desk, the rules and the roles.

mod intake;
mod line;
mod membership;
mod recorded_change;
mod roles;
mod roles_file;
mod shared_policy;
mod shared_roles;
mod source;

pub(crate) use intake::{BundleIntake, describe_bundle};
pub(crate) use line::{TeamLineKeeper, open_service};
pub(crate) use membership::MembershipFile;
pub(crate) use recorded_change::{RULES_CHANGE, record_change};
pub(crate) use roles::{LiveRoles, NAME_OF_DESK, all_problems, read_roles};
pub(crate) use roles_file::write_roles;
pub(crate) use shared_policy::{put_bundle, put_roles, take_over_roles, take_over_rules};
pub(crate) use shared_roles::record_by_roles;
pub(crate) use source::{fetch_once, find_proxy, follow_team_rules, take_bundle};
