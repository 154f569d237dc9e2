//! The roles of a team as the database has them, and what they say of a question.

use callgate_approval::answer_roles::AnswerScope;
use callgate_mask::text::without_mark;
use callgate_rules::{RoleFile, RoleSubject};
use callgate_team_store::{DocumentKind, TeamResult, TeamStore, TeamStoreError};
use serde::{Deserialize, Serialize};

/// The name of the document.
pub(super) const ROLES: &str = "roles";

#[derive(Serialize, Deserialize)]
pub(super) struct RolesDocument {
    /// The file, in TOML; without one every person may answer everything.
    pub(super) roles: Option<String>,
}

/// Returns what a question is about, as roles tell questions apart; `home` is the folder of the user
/// here.
pub(super) fn subject_of_scope<'a>(scope: &'a AnswerScope, home: &'a str) -> RoleSubject<'a> {
    RoleSubject {
        machine: scope.machine.as_deref(),
        home: scope.home.as_deref().unwrap_or(home),
        project: &scope.project,
        agent: &scope.agent,
        tool: &scope.tool,
    }
}

/// Returns true if the roles in the database let all these members answer a question. Without roles
/// there everybody of the team may.
pub(crate) fn roles_cover(
    store: &mut dyn TeamStore,
    members: &[String],
    scope: &AnswerScope,
) -> TeamResult<bool> {
    if members.is_empty() {
        return Ok(true);
    }
    let known = store.find_document(DocumentKind::Policy, ROLES)?;
    let Some(body) = known.and_then(|document| document.body) else { return Ok(true) };
    let damaged = |_| TeamStoreError::Damaged { what: "the roles" };
    let document: RolesDocument = serde_json::from_str(&body).map_err(damaged)?;
    let Some(text) = document.roles else { return Ok(true) };
    let file = RoleFile::from_toml(ROLES, without_mark(&text));
    Ok(members.iter().all(|member| file.covers(member, subject_of_scope(scope, ""))))
}
