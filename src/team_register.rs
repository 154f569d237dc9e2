//! The members of a team as commands and desks change them: in the ledger of the one desk, or in
//! the database that several desks share.

use callgate_approval::asker::fresh_id;
use callgate_store::{EntryDraft, Store, StoreError, now_ms};
use callgate_team_store::{
    DocumentEdit, DocumentKind, EditReceipt, TeamDocument, TeamResult, TeamStore, TeamStoreError,
};
use callgate_wire::ledger::{ChainedLinks, LedgerEvent, SharedMember, TeamRoster, is_shared_link};

use crate::config::Config;
use crate::failure::Failure;
use crate::team_database::open_store;

/// How often a change is tried while other desks change the same document. A try fails only if
/// another desk has made a change, so some desk always gets on.
const MOST_TRIES: usize = 50;

pub(crate) struct MemberChange {
    pub(crate) name: String,
    pub(crate) by: String,
    /// What the ledger of a desk without a database records. In a database they are applied to the
    /// member.
    pub(crate) events: Vec<LedgerEvent>,
}

/// The members of the team, for a command.
pub(crate) enum TeamRegister {
    Ledger(Box<Config>),
    Database(Box<dyn TeamStore>),
}

impl TeamRegister {
    pub(crate) fn open(config: &Config) -> Result<Self, Failure> {
        let database = open_store(config)?;
        Ok(database.map_or_else(|| Self::Ledger(Box::new(config.clone())), Self::Database))
    }

    pub(crate) fn read_roster(&mut self) -> Result<TeamRoster, Failure> {
        match self {
            Self::Ledger(config) => read_ledger_roster(config),
            Self::Database(store) => Ok(read_documents(store.as_mut())?.1),
        }
    }

    /// Returns the time by which invitations end: all desks of a team have one clock.
    pub(crate) fn now_ms(&mut self) -> Result<i64, Failure> {
        match self {
            Self::Ledger(_) => Ok(now_ms()),
            Self::Database(store) => Ok(store.read_clock()?),
        }
    }

    /// Changes a member as `decide` says, which looks at the members. Returns the name of the
    /// member, or `None` if nothing was to be changed.
    pub(crate) fn change_member(
        &mut self,
        decide: impl FnMut(&TeamRoster) -> Option<MemberChange>,
    ) -> Result<Option<String>, Failure> {
        match self {
            Self::Ledger(config) => {
                Ok(change_in_ledger(&mut Store::open(&config.database)?, decide)?)
            }
            Self::Database(store) => {
                let changed = change_in_database(store.as_mut(), decide)?;
                Ok(changed.map(|document| document.name))
            }
        }
    }
}

/// Returns the members that the ledger of this desk has. Of members that are in a database that is
/// what the desk has taken over.
pub(crate) fn read_ledger_roster(config: &Config) -> Result<TeamRoster, Failure> {
    match Store::open_read_only(&config.database) {
        Err(StoreError::Missing(_)) => Ok(TeamRoster::default()),
        store => Ok(store?.chained_links()?.team),
    }
}

/// Changes a member in the ledger of the only desk. What other processes change comes before
/// `decide` is called, or after its events.
pub(crate) fn change_in_ledger(
    store: &mut Store,
    mut decide: impl FnMut(&TeamRoster) -> Option<MemberChange>,
) -> Result<Option<String>, StoreError> {
    let mut changed = None;
    // The look and the entries are one transaction: whoever was revoked in between would be linked
    // or let in.
    store.append_decided(|links| {
        let Some(change) = decide(&links.team) else { return Vec::new() };
        changed = Some(change.name);
        change.events.iter().map(|event| EntryDraft::new(now_ms(), None, event)).collect()
    })?;
    Ok(changed)
}

/// Changes a member in the database. `decide` is called again if another desk was faster. Returns
/// the document as it is then.
pub(crate) fn change_in_database(
    store: &mut dyn TeamStore,
    mut decide: impl FnMut(&TeamRoster) -> Option<MemberChange>,
) -> TeamResult<Option<TeamDocument>> {
    for _ in 0..MOST_TRIES {
        let (documents, roster) = read_documents(store)?;
        let Some(MemberChange { name, by, events }) = decide(&roster) else { return Ok(None) };
        let known = match documents.into_iter().find(|document| document.name == name) {
            Some(known) => Some(known),
            None => match store.find_document(DocumentKind::Member, &name)? {
                // It was made a moment ago.
                Some(document) if document.body.is_some() => continue,
                removed => removed,
            },
        };
        let mut links = ChainedLinks::default();
        let member = known.as_ref().map(read_member).transpose()?.flatten();
        links.set_shared_member(&name, member.as_ref());
        for event in &events {
            links.apply_event(event);
        }
        // A removed member has a document, too, and its version has to be replaced.
        let replaces = known.map_or(0, |document| document.version);
        let edit = member_edit(&name, replaces, &by, links.shared_member(&name).as_ref());
        match store.edit_document(&edit)? {
            EditReceipt::Recorded(document) | EditReceipt::Repeated(document) => {
                return Ok(Some(document));
            }
            EditReceipt::Stale(_) => {}
        }
    }
    Err(TeamStoreError::Unreachable { why: "other desks change the same member".to_owned() })
}

/// Returns the edit that makes a member what is given, or removes it.
pub(crate) fn member_edit(
    name: &str,
    replaces: u64,
    by: &str,
    member: Option<&SharedMember>,
) -> DocumentEdit {
    DocumentEdit {
        kind: DocumentKind::Member,
        name: name.to_owned(),
        replaces,
        id: fresh_id(),
        by: by.to_owned(),
        body: member.and_then(|member| serde_json::to_string(member).ok()),
    }
}

/// Reads all members in the database.
fn read_documents(store: &mut dyn TeamStore) -> TeamResult<(Vec<TeamDocument>, TeamRoster)> {
    let documents = store.list_documents(DocumentKind::Member)?;
    let mut links = ChainedLinks::default();
    for document in &documents {
        // The desk tells which cannot be read.
        links.set_shared_member(&document.name, read_member(document).ok().flatten().as_ref());
    }
    Ok((documents, links.team))
}

/// Reads a member, unless it was removed.
pub(crate) fn read_member(document: &TeamDocument) -> TeamResult<Option<SharedMember>> {
    let damaged = |_| TeamStoreError::Damaged { what: "a member of the team" };
    let Some(body) = &document.body else { return Ok(None) };
    let mut member: SharedMember = serde_json::from_str(body).map_err(damaged)?;
    member.links.retain(|link, _| is_shared_link(link));
    Ok(Some(member))
}

#[cfg(test)]
mod tests;
