//! The roles of a team as the database has them, and what they say of a question.

use callgate_approval::answer_roles::AnswerScope;
use callgate_mask::text::without_mark;
use callgate_rules::{RoleFile, RoleSubject};
use callgate_team_store::{DocumentKind, ROLES, TeamResult, TeamStore, TeamStoreError};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct RolesDocument {
    /// The file, in TOML; without one every person may answer everything.
    pub(super) roles: Option<String>,
}

/// Returns what a question is about, as roles tell questions apart; `home` is the folder of the
/// user here.
pub(super) fn subject_of_scope<'a>(scope: &'a AnswerScope, home: &'a str) -> RoleSubject<'a> {
    RoleSubject {
        machine: scope.machine.as_deref(),
        home: scope.home.as_deref().unwrap_or(home),
        project: &scope.project,
        agent: &scope.agent,
        tool: &scope.tool,
    }
}

/// Records what members of the team have decided, if the roles in the database let all of them
/// answer the question. `record` gets the version of the roles; it is called again if somebody has
/// changed them meanwhile, and they still let the members. Returns `None` if they do not. Without
/// roles everybody of the team may answer.
pub(crate) fn record_by_roles<T>(
    store: &mut dyn TeamStore,
    members: &[String],
    scope: &AnswerScope,
    mut record: impl FnMut(&mut dyn TeamStore, u64) -> TeamResult<T>,
) -> TeamResult<Option<T>> {
    loop {
        let Some(version) = covering_version(store, members, scope)? else { return Ok(None) };
        match record(store, version) {
            Err(TeamStoreError::OtherRoles) => {}
            recorded => return recorded.map(Some),
        }
    }
}

/// Returns the version of the roles, if they let all these members answer a question.
fn covering_version(
    store: &mut dyn TeamStore,
    members: &[String],
    scope: &AnswerScope,
) -> TeamResult<Option<u64>> {
    // Without a member only the owner of a desk has given it, to whom roles do not apply.
    if members.is_empty() {
        return Ok(Some(0));
    }
    let Some(known) = store.find_document(DocumentKind::Policy, ROLES)? else { return Ok(Some(0)) };
    let damaged = |_| TeamStoreError::Damaged { what: "the roles" };
    let document: Option<RolesDocument> =
        known.body.as_deref().map(serde_json::from_str).transpose().map_err(damaged)?;
    let Some(text) = document.and_then(|document| document.roles) else {
        return Ok(Some(known.version));
    };
    let file = RoleFile::from_toml(ROLES, without_mark(&text));
    let is_covered = members.iter().all(|member| file.covers(member, subject_of_scope(scope, "")));
    Ok(is_covered.then_some(known.version))
}

#[cfg(test)]
mod tests;
