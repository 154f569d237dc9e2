//! The copies of machines' ledgers: in the database of this desk, or in the audit log of the team,
//! if its desks share one.

use callgate_store::{ChainHead, CopyOutcome, LedgerEntry};
use callgate_team_store::{
    AuditCopy, AuditFilter, LedgerPart, MOST_COPIES, MOST_ROWS, TeamStoreError, chain_name,
    unknown_before,
};

use crate::machines::audit_labels::QuestionLabels;
use crate::machines::ledger_copies::LedgerCopies;
use crate::team_database::TeamDatabase;

#[derive(Clone)]
pub(crate) enum MachineLedgers {
    OfDesk(LedgerCopies),
    OfTeam(TeamDatabase),
}

pub(crate) struct MachineLedger {
    machine: String,
    place: MachineLedgers,
    chain: ChainPlace,
    labels: QuestionLabels,
}

/// The end of a machine's newest chain in the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ChainPlace {
    /// How many chains the machine has.
    count: usize,
    head: Option<ChainHead>,
}

impl MachineLedger {
    pub(crate) fn new(place: MachineLedgers, machine: &str) -> Self {
        let (chain, labels) = (ChainPlace::default(), QuestionLabels::default());
        Self { machine: machine.to_owned(), place, chain, labels }
    }

    /// Returns the last entry that was copied.
    pub(crate) async fn read_head(&mut self) -> Result<Option<ChainHead>, String> {
        match &self.place {
            MachineLedgers::OfDesk(copies) => copies.copied_through(&self.machine).await,
            MachineLedgers::OfTeam(database) => {
                let machine = self.machine.clone();
                let chains = database.run(move |store| store.chain_heads(Some(&machine))).await;
                let chains = chains.map_err(|error| error.to_string())?;
                let head = chains.last().map(|chain| chain.head);
                self.chain = ChainPlace { count: chains.len(), head };
                Ok(head)
            }
        }
    }

    /// Adds entries, all or none. If the ledger `begins_anew`, they are its first.
    pub(crate) async fn add_entries(
        &mut self,
        entries: Vec<LedgerEntry>,
        begins_anew: bool,
    ) -> Result<CopyOutcome, String> {
        match &self.place {
            MachineLedgers::OfDesk(copies) => {
                copies.copy_entries(&self.machine, entries, begins_anew).await
            }
            MachineLedgers::OfTeam(database) => {
                let (database, first) = (database.clone(), entries.first());
                let first = first.map_or(1, |entry| entry.seq);
                // A ledger that begins anew does not continue what was copied, so it gets a chain
                // of its own.
                let (number, after) = match self.chain.head {
                    Some(head) if !begins_anew => (self.chain.count, head),
                    _ => (self.chain.count + 1, unknown_before(first)),
                };
                self.find_labels(&database, &entries).await;
                let chain = chain_name(&self.machine, number);
                match copy_entries(&database, chain, after, self.label_entries(entries)).await {
                    Ok(head) => {
                        // Only now, because what was not copied is sent again and has to follow the
                        // same entry.
                        self.chain = ChainPlace { count: number, head: Some(head) };
                        Ok(CopyOutcome::Copied(head))
                    }
                    Err(TeamStoreError::NotAChain { seq } | TeamStoreError::Forked { seq }) => {
                        Ok(CopyOutcome::Broken(seq))
                    }
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    }

    /// Reads what the log says about questions that the machine has asked over another line.
    async fn find_labels(&mut self, database: &TeamDatabase, entries: &[LedgerEntry]) {
        for id in self.labels.unknown_among(entries) {
            let filter = AuditFilter {
                machine: Some(self.machine.clone()),
                question: Some(id.clone()),
                most: MOST_ROWS,
                ..AuditFilter::default()
            };
            let found = database.run(move |store| store.search_audit(&filter)).await;
            let asked = found.into_iter().flatten().find(|it| it.labels.project.is_some());
            // Labels help to find entries, and are no part of the chain.
            self.labels.remember(id, asked.map(|asked| asked.labels).unwrap_or_default());
        }
    }

    fn label_entries(&mut self, entries: Vec<LedgerEntry>) -> Vec<AuditCopy> {
        let label = |entry| AuditCopy { labels: self.labels.of_entry(&entry), entry };
        entries.into_iter().map(label).collect()
    }
}

async fn copy_entries(
    database: &TeamDatabase,
    chain: String,
    after: ChainHead,
    copies: Vec<AuditCopy>,
) -> Result<ChainHead, TeamStoreError> {
    let mut head = after;
    for copies in copies.chunks(MOST_COPIES) {
        let part = LedgerPart { chain: chain.clone(), after: head, copies: copies.to_vec() };
        head = database.copy_ledger(part).await?;
    }
    Ok(head)
}
