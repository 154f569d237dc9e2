//! Documents of the team: small texts with a version, changed by compare-and-set.

use callgate_store::EntryDraft;
use callgate_wire::approval::RequestId;
use callgate_wire::words;
use serde_json::json;

use crate::audit::AuditLabels;
use crate::error::TeamStoreError;
use crate::limits::{check_name, check_object};

words! {
    pub enum DocumentKind {
        /// A machine or a person of the team.
        Member "member",
        /// A one-time invitation.
        Invitation "invitation",
        /// The team's rules.
        Policy "policy",
    }
}

/// The name of the policy that has the roles of the team. The store knows its version alone.
pub const ROLES: &str = "roles";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamDocument {
    pub kind: DocumentKind,
    pub name: String,
    /// How often it was changed, from 1. Removing it is a change too.
    pub version: u64,
    /// One JSON object, or `None` if the document was removed.
    pub body: Option<String>,
    pub edit: RequestId,
    pub by: String,
    /// When it was last edited, in milliseconds since 1970 by the clock of the store.
    pub edited_ms: i64,
    pub changed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentEdit {
    pub kind: DocumentKind,
    pub name: String,
    /// The version that is replaced, or 0 for a document that was never made.
    pub replaces: u64,
    /// The edit's own id, by which a repetition is recognised.
    pub id: RequestId,
    pub by: String,
    /// One JSON object, or `None` to remove the document.
    pub body: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditReceipt {
    Recorded(TeamDocument),
    /// The same edit was recorded before, and is still the last.
    Repeated(TeamDocument),
    /// The document has another version now, or none. Nothing was recorded.
    Stale(Option<TeamDocument>),
}

impl DocumentEdit {
    pub(crate) fn check(&self) -> Result<(), TeamStoreError> {
        check_name("the name of a document", &self.name)?;
        check_name("the author of a document", &self.by)?;
        self.body.as_deref().map_or(Ok(()), |body| check_object("a document", body))
    }

    /// Returns the version that is replaced, in the type of the databases.
    pub(crate) fn replaced_version(&self) -> i64 {
        // No document has this version, so the edit is stale.
        i64::try_from(self.replaces).unwrap_or(-1)
    }

    /// Returns the outcome of an edit that could not be recorded; `found` is the
    /// document as it is.
    pub(crate) fn receipt_for(&self, found: Option<TeamDocument>) -> EditReceipt {
        match found {
            Some(found) if found.edit == self.id && found.version == self.replaces + 1 => {
                EditReceipt::Repeated(found)
            }
            found => EditReceipt::Stale(found),
        }
    }
}

impl TeamDocument {
    /// Returns the entry that records the last change. It has the version and not the text, which
    /// may be long.
    pub(crate) fn audit_entry(&self) -> (AuditLabels, EntryDraft) {
        let body = json!({ "document": self.kind, "name": self.name, "version": self.version,
            "by": self.by, "removed": self.body.is_none() });
        // The documents of a team belong to no project and no agent.
        let labels = AuditLabels { who: Some(self.by.clone()), ..AuditLabels::default() };
        let kind = "team_edited".to_owned();
        (labels, EntryDraft { at_ms: self.edited_ms, kind, question: None, body: body.to_string() })
    }
}

/// Names the row of a document for a person.
pub(crate) fn document_name(kind: &str, name: &str) -> String {
    format!("the {kind} {name}")
}

stored_row! {
    DocumentRow {
        kind: String,
        name: String,
        version: i64,
        body: Option<String>,
        edit_id: String,
        edited_by: String,
        edited_ms: i64,
        changed: i64,
    }
}

impl DocumentRow {
    /// Reads the document, unless the row has something that no version of callgate writes.
    pub(crate) fn read(self) -> Result<TeamDocument, TeamStoreError> {
        self.try_read().ok_or(TeamStoreError::Damaged { what: "a document" })
    }

    fn try_read(self) -> Option<TeamDocument> {
        Some(TeamDocument {
            kind: DocumentKind::parse(&self.kind)?,
            name: self.name,
            version: u64::try_from(self.version).ok()?,
            body: self.body,
            edit: RequestId::parse(&self.edit_id)?,
            by: self.edited_by,
            edited_ms: self.edited_ms,
            changed: u64::try_from(self.changed).ok()?,
        })
    }
}
