//! Takes over what the team's database has: members into the ledger of this desk, rules and roles
//! into their files.

use std::collections::BTreeSet;
use std::sync::Arc;

use callgate_approval::daemon::Warn;
use callgate_store::{EntryDraft, Store, StoreError, now_ms};
use callgate_team_store::{DocumentKind, TeamDocument, TeamResult, TeamStore, TeamStoreError};
use callgate_wire::ledger::{LedgerEvent, LinkRemoved, MemberMirrored, SharedMember};
use tokio::sync::watch;

use super::DeskRegister;
use crate::config::Config;
use crate::machines::ledger_copies::LedgerCopies;
use crate::machines::session::SessionHome;
use crate::team::{take_over_roles, take_over_rules};
use crate::team_database::{DatabaseState, TeamDatabase};
use crate::team_register::{MemberChange, change_in_database, member_edit, read_member};

/// What a running desk takes over from the team's database.
pub(super) struct TeamMirror {
    config: Arc<Config>,
    database: TeamDatabase,
    copies: LedgerCopies,
    register: DeskRegister,
    warn: Warn,
    documents: watch::Receiver<u64>,
    state: watch::Receiver<DatabaseState>,
    /// The members that cannot be read. Each is reported once.
    unread: BTreeSet<String>,
}

/// What the ledger has and the database does not.
#[derive(Default)]
struct MirrorReport {
    /// The pages that were unlinked at this desk, each with its person.
    unlinked: Vec<(String, String)>,
    /// The members that are in no document.
    unshared: Vec<(String, SharedMember)>,
}

impl TeamMirror {
    /// Returns `None` for a desk without a database.
    pub(super) fn new(
        config: &Arc<Config>,
        home: &SessionHome,
        register: &DeskRegister,
    ) -> Option<Self> {
        let database = home.database.clone()?;
        Some(Self {
            config: Arc::clone(config),
            documents: database.document_changes(),
            state: database.state(),
            database,
            copies: home.copies.clone(),
            register: register.clone(),
            warn: Arc::clone(&home.warn),
            unread: BTreeSet::new(),
        })
    }

    /// Waits until a document has changed, or the database answers again.
    pub(super) async fn wait_for_news(&mut self) {
        // The database outlives this, so neither wait can fail.
        tokio::select! {
            _ = self.documents.changed() => {}
            _ = self.state.changed() => {}
        }
    }

    /// Takes over everything that is different here. While the database does not answer, everything
    /// stays as it is.
    pub(super) async fn take_over(&mut self) -> Result<(), String> {
        if *self.state.borrow_and_update() != DatabaseState::Reachable {
            return Ok(());
        }
        // This comes before the reading, so that a change during it is news again.
        self.documents.borrow_and_update();
        let read = self.database.run(|store| {
            // Changes after this number are reported.
            let number = store.last_change()?;
            let members = store.list_documents(DocumentKind::Member)?;
            Ok((number, members, store.list_documents(DocumentKind::Policy)?))
        });
        let (number, members, policies) = read.await.map_err(|error| error.to_string())?;
        self.take_over_members(members).await?;
        // Only members are waited for, so a fault in the roles or the rules below keeps nobody
        // waiting.
        self.register.note_mirrored(number);
        // Roles and rules are both tried, whatever becomes of the other.
        let taken = take_over_roles(&self.config, &policies);
        let bundle = take_over_rules(&self.config, &self.database, &policies).await;
        let told = |told: Vec<String>| told.iter().for_each(|told| (self.warn)(told));
        taken.map(told).and(bundle.map(told))
    }

    async fn take_over_members(&mut self, documents: Vec<TeamDocument>) -> Result<(), String> {
        let mut members = Vec::new();
        for document in documents {
            match read_member(&document) {
                Ok(member) => members.extend(member.map(|member| (document, member))),
                // The others are taken over all the same.
                Err(error) if self.unread.insert(document.name.clone()) => {
                    (self.warn)(&format!("{}: {error}", document.name));
                }
                Err(_) => {}
            }
        }
        let report = self.copies.run(move |store| mirror_members(store, members)).await?;
        let desk = self.database.desk_name().to_owned();
        let gone = self.database.run(move |store| report.share(store, &desk)).await;
        let gone = gone.map_err(|error| error.to_string())?;
        self.copies.run(move |store| append_mirrored(store, gone)).await
    }
}

/// Makes the ledger have the members of the database. Returns what the database does not have.
fn mirror_members(
    store: &mut Store,
    members: Vec<(TeamDocument, SharedMember)>,
) -> Result<MirrorReport, StoreError> {
    let links = store.chained_links()?;
    let mut report = MirrorReport::default();
    let mut changed = Vec::new();
    let mut shared = BTreeSet::new();
    for (document, mut member) in members {
        let TeamDocument { name, by, .. } = document;
        for link in member.links.keys().filter(|link| !links.standing.contains_key(*link)) {
            // Whoever was unlinked here stays so, although the database does not know it yet.
            if store.was_unlinked(link)? {
                report.unlinked.push((name.clone(), link.clone()));
            }
        }
        for (_, link) in report.unlinked.iter().filter(|(person, _)| *person == name) {
            member.links.remove(link);
        }
        shared.insert(name.clone());
        // What is the same already makes no entry, or every look would fill the ledger.
        if links.shared_member(&name).as_ref() != Some(&member) {
            changed.push(MemberMirrored { name, member: Some(member), by });
        }
    }
    let unshared = links.team.members.keys().filter(|name| !shared.contains(*name));
    let unshared = unshared.filter_map(|name| Some((name.clone(), links.shared_member(name)?)));
    report.unshared = unshared.collect();
    append_mirrored(store, changed)?;
    Ok(report)
}

fn append_mirrored(store: &mut Store, members: Vec<MemberMirrored>) -> Result<(), StoreError> {
    let draft = |member| EntryDraft::new(now_ms(), None, &LedgerEvent::Mirrored(member));
    let drafts: Vec<EntryDraft> = members.into_iter().map(draft).collect();
    if drafts.is_empty() { Ok(()) } else { store.append_entries(&drafts).map(drop) }
}

impl MirrorReport {
    /// Brings into the database what happened at this desk alone: a page was unlinked, or a member
    /// is older than the database. Returns the members that were removed there.
    fn share(self, store: &mut dyn TeamStore, desk: &str) -> TeamResult<Vec<MemberMirrored>> {
        for (name, link) in self.unlinked {
            change_in_database(store, |roster| {
                // Another desk may have removed the link already.
                let is_linked = roster.person_of_link(&link) == Some(&name);
                let removed = LinkRemoved { link: link.clone(), by: desk.to_owned() };
                let events = vec![LedgerEvent::Unpaired(removed)];
                let (name, by) = (name.clone(), desk.to_owned());
                is_linked.then_some(MemberChange { name, by, events })
            })?;
        }
        let mut gone = Vec::new();
        for (name, member) in self.unshared {
            match store.find_document(DocumentKind::Member, &name) {
                // Of two desks that bring one name the first counts.
                Ok(None) => {
                    drop(store.edit_document(&member_edit(&name, 0, desk, Some(&member)))?);
                }
                Ok(Some(document)) if document.body.is_none() => {
                    gone.push(MemberMirrored { name, member: None, by: document.by });
                }
                // What cannot be read stays here as it was.
                Ok(Some(_)) | Err(TeamStoreError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(gone)
    }
}
