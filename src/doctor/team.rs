//! Checks that the database which the desks of a team share answers.

use callgate_team_store::{AuditProtection, TeamStoreStatus};

use super::finding::Findings;
use crate::config::Config;
use crate::team_database::open_store;

const ABOUT: &str = "team";

/// Connects to the database, if the settings name one.
pub(super) fn check_database(config: &Config, findings: &mut Findings) {
    let status = open_store(config).and_then(|store| {
        let status = store.map(|mut store| store.read_status()).transpose();
        status.map_err(|error| error.to_string())
    });
    match status {
        Ok(None) => {}
        Ok(Some(TeamStoreStatus { protection: AuditProtection::Nobody, .. })) => {
            let text = "this desk could change and remove entries of the team's audit log";
            let advice = "give it a login that has nothing but the role callgate_desk";
            findings.add_warning(ABOUT, text, advice);
        }
        Ok(Some(_)) => findings.add_ok(ABOUT, "the team's database answers"),
        Err(why) => {
            findings.add_problem(ABOUT, why, "then look at `callgate team status`");
        }
    }
}
