//! The open store behind the history.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_store::{
    Addition, ConversationState, CostTotals, EngineSelection, FileIdentity, Settlement, Store,
    StoreError, now_ms,
};
use uuid::Uuid;

use super::error::HistoryError;
use super::fragments::JoinedFragments;
use super::lock::{ConversationLock, ConversationLocks};
use super::mender::Mender;
use super::reservation::{PricedUsage, Reservation, ReservationBook};
use super::stored_message;
use crate::message::ChatMessage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryLocation {
    /// Conversations and ledger in this file.
    File(PathBuf),
    /// Conversations in memory, and the ledger in this file.
    Ledger(PathBuf),
    /// Conversations and ledger in memory.
    Memory,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderScope {
    /// Its path. New conversations belong to it.
    pub folder: String,
    /// Whether the conversations of all folders are listed, and the last one of all continued.
    pub is_all: bool,
}

impl HistoryLocation {
    /// Returns a name that is unique among all histories of all processes. A ledger counts costs
    /// under it, so it must not depend on how the path is written.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) | Self::Ledger(path) => {
                canonical_path(path).to_string_lossy().into_owned()
            }
            Self::Memory => format!("memory {}", Uuid::new_v4()),
        }
    }
}

/// Returns the same path for all who open the file, even before it exists.
fn canonical_path(path: &Path) -> PathBuf {
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// The open files of a history.
pub(super) struct HistoryStore {
    pub(super) store: Store,
    /// The store of the ledger, if it is a separate file.
    ledger: Option<Store>,
    /// The file of the ledger, if it cannot be written. What is only read or said is then recorded
    /// in memory, and what changes something is refused.
    unwritable: Option<PathBuf>,
    pub(super) locks: ConversationLocks,
    reservations: ReservationBook,
    scope: Option<FolderScope>,
}

#[derive(Default)]
pub(super) struct LoadedConversation {
    pub(super) mender: Mender,
    pub(super) length: u64,
    pub(super) is_titled: bool,
    pub(super) engine: Option<EngineSelection>,
    pub(super) engine_state: Option<String>,
    /// Its state in the file, by which later changes are noticed; `None` if it is not in the file.
    pub(super) state: Option<ConversationState>,
}

/// A conversation as it was left. It need not be loaded again unless somebody changes it.
pub(super) struct RememberedConversation {
    pub(super) id: Arc<str>,
    pub(super) loaded: LoadedConversation,
}

impl HistoryStore {
    pub(super) fn open(
        place: &HistoryLocation,
        scope: Option<FolderScope>,
    ) -> Result<Self, HistoryError> {
        let open = match place {
            HistoryLocation::File(path) => {
                let store = Store::open(path)?;
                let locks = ConversationLocks::beside(store.path());
                locks.sweep(&store)?;
                let reservations = ReservationBook::beside(Some(store.path()));
                Self { store, ledger: None, unwritable: None, locks, reservations, scope: None }
            }
            HistoryLocation::Ledger(path) => match Store::open(path) {
                Ok(ledger) => Self::in_memory()?.with_ledger(ledger),
                // In a home that is read-only the runtime still answers and reads. What has to be
                // recorded is refused when it comes.
                Err(error) if error.is_unwritable() => {
                    Self { unwritable: Some(path.clone()), ..Self::in_memory()? }
                }
                Err(error) => return Err(error.into()),
            },
            HistoryLocation::Memory => Self::in_memory()?,
        };
        Ok(Self { scope, ..open })
    }

    fn in_memory() -> Result<Self, HistoryError> {
        let (store, locks, reservations) =
            (Store::in_memory()?, ConversationLocks::in_memory(), ReservationBook::beside(None));
        Ok(Self { store, ledger: None, unwritable: None, locks, reservations, scope: None })
    }

    fn with_ledger(self, ledger: Store) -> Self {
        let reservations = ReservationBook::beside(Some(ledger.path()));
        Self { ledger: Some(ledger), unwritable: None, reservations, ..self }
    }

    /// Returns the ledger in its file. If the file could not be written before, it is tried again.
    pub(super) fn lasting_ledger(&mut self) -> Result<&mut Store, HistoryError> {
        if let Some(path) = &self.unwritable {
            let ledger = Store::open(path)?;
            self.reservations = ReservationBook::beside(Some(ledger.path()));
            (self.ledger, self.unwritable) = (Some(ledger), None);
        }
        Ok(self.ledger())
    }

    /// Returns the folder whose conversations are listed, `None` for those of all folders.
    pub(super) fn listed_folder(&self) -> Option<&str> {
        self.scope.as_ref().filter(|scope| !scope.is_all).map(|scope| scope.folder.as_str())
    }

    /// Returns the ledger, with all that is spent.
    pub(super) fn ledger(&mut self) -> &mut Store {
        self.ledger.as_mut().unwrap_or(&mut self.store)
    }

    /// Returns the name under which the ledger counts what a conversation costs.
    pub(super) fn account<'a>(&self, conversation: &'a str) -> Cow<'a, str> {
        if self.ledger.is_some() {
            return Cow::Owned(format!("{}\n{conversation}", self.reservations.memory));
        }
        Cow::Borrowed(conversation)
    }

    /// Reserves the most that an answer may take, unless `check` objects.
    pub(super) fn reserve_cost<E>(
        &mut self,
        account: &str,
        since_ms: i64,
        most: Option<PricedUsage>,
        check: impl FnOnce(&CostTotals) -> Result<(), E>,
    ) -> Result<Result<Option<Reservation>, E>, HistoryError> {
        // A budget that is counted in memory would not hold for other processes.
        self.lasting_ledger()?;
        let account = self.account(account).into_owned();
        let ledger = self.ledger.as_mut().unwrap_or(&mut self.store);
        self.reservations.reserve(ledger, &account, now_ms(), since_ms, most, check)
    }

    /// Takes the lock of a conversation if it is free and the conversation is unchanged.
    pub(super) fn lock_again(&self, known: &RememberedConversation) -> Option<ConversationLock> {
        // An error is reported when the conversation is loaded.
        let token = self.locks.take_lock(&known.id).ok()??;
        // Compared under the lock: from here on nobody else changes it.
        self.is_as_left(known).then_some(token)
    }

    pub(super) fn is_as_left(&self, known: &RememberedConversation) -> bool {
        let state = self.state(&known.id);
        state.is_some() && state == known.loaded.state
    }

    /// Returns the state of a conversation, by which later changes are noticed.
    pub(super) fn state(&self, id: &str) -> Option<ConversationState> {
        // A conversation whose state cannot be read is loaded again the next time.
        self.store.conversation_state(id).ok().flatten()
    }

    pub(super) fn files(&self) -> Vec<FileIdentity> {
        [Some(&self.store), self.ledger.as_ref()]
            .into_iter()
            .filter_map(|store| store?.file().cloned())
            .collect()
    }

    pub(super) fn prepare_ledger(&self) {
        self.ledger.as_ref().unwrap_or(&self.store).prepare_statements();
    }

    /// Runs `work`, which is one transaction, without waiting for other processes. Fails as busy if
    /// it would have to, or if ledger and conversations cannot be written in one transaction.
    pub(super) fn at_once<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        if self.ledger.is_some() {
            return Err(StoreError::Busy(self.store.path().to_owned()).into());
        }
        self.store.set_patient(false)?;
        let done = work(self);
        // Whatever has become of the work: the thread, which uses the store next, waits for others.
        self.store.set_patient(true)?;
        done
    }

    /// Writes to a conversation, as said in the folder of this history, and to the ledger.
    /// Returns how many messages the conversation has then, and its state.
    pub(super) fn write_addition(
        &mut self,
        addition: &Addition<'_>,
    ) -> Result<(u64, Option<ConversationState>), HistoryError> {
        let folder = self.scope.as_ref().map(|scope| scope.folder.clone());
        let addition = &Addition { folder: folder.as_deref(), ..*addition };
        if self.ledger.is_none() {
            return Ok(self.store.add_and_look(addition)?);
        }
        let Addition { at_ms, reservation, spending, drafts, .. } = *addition;
        // Memory and file cannot be written in one transaction.
        if reservation.is_some() || spending.is_some() || !drafts.is_empty() {
            let account = &*self.account(addition.conversation).into_owned();
            let settlement = Settlement { account, at_ms, reservation, spending, drafts };
            // First: the file may fail, the memory does not, and what fails must not be done in
            // part.
            self.ledger().settle_reservation(&settlement)?;
        }
        let rest = Addition { reservation: None, spending: None, drafts: &[], ..*addition };
        Ok(self.store.add_and_look(&rest)?)
    }

    pub(super) fn write_fragments(
        &mut self,
        id: &str,
        fragments: &[String],
    ) -> Result<(), HistoryError> {
        let is_known = self.store.add_fragments(id, fragments)?;
        if is_known { Ok(()) } else { Err(HistoryError::Unknown(id.to_owned())) }
    }

    /// Makes messages of the fragments that a killed process has left. The caller holds the lock of
    /// the conversation.
    pub(super) fn recover(&mut self, id: &str) -> Result<(), HistoryError> {
        if !self.state(id).is_some_and(|state| state.has_fragments()) {
            return Ok(());
        }
        let mut joined = JoinedFragments::default();
        self.store.each_fragment(id, |body| {
            if let Some(body) = body {
                joined.add_fragment(body);
            }
        })?;
        let (messages, results) = joined.into_interrupted();
        let messages = stored_message::all_written(&messages, &results, false)?;
        let at_ms = now_ms();
        let addition =
            Addition { conversation: id, at_ms, messages: &messages, ..Addition::default() };
        self.write_addition(&addition).map(drop)
    }

    /// Like [`recover`](Self::recover), unless somebody works on the conversation.
    pub(super) fn recover_if_idle(&mut self, id: &str) -> Result<(), HistoryError> {
        if self.state(id).is_some_and(|state| state.has_fragments())
            && let Some(_token) = self.locks.take_lock(id)?
        {
            self.recover(id)?;
        }
        Ok(())
    }

    /// Loads the messages of a conversation for the model, before the number `below`.
    pub(super) fn load(
        &self,
        id: &str,
        below: Option<u64>,
    ) -> Result<LoadedConversation, HistoryError> {
        // Before the messages: what changes while they are read is noticed the next time.
        let state = self.state(id);
        let Some(known) = self.store.conversation(id)? else {
            return Ok(LoadedConversation::default());
        };
        let mut mender = Mender::default();
        if let Some(summary) = known.summary.as_deref() {
            match stored_message::parse_message(summary) {
                Some(read) => mender.begin_with_summary(known.summarized, read.message),
                None => mender.note_unreadable(),
            }
        }
        let below = below.unwrap_or(u64::MAX);
        self.store.each_message(id, known.summarized, |number, body| {
            if number < below {
                push_stored_message(&mut mender, number, body, number < known.aged);
            }
        })?;
        mender.close_tool_uses();
        let (length, is_titled) = (known.length.min(below), known.title.is_some());
        let (engine, engine_state) = (known.engine, known.engine_state);
        Ok(LoadedConversation { mender, length, is_titled, engine, engine_state, state })
    }

    /// Reads the message with this number, which exists.
    pub(super) fn message(
        &self,
        id: &str,
        number: u64,
    ) -> Result<Option<ChatMessage>, HistoryError> {
        let mut found = None;
        self.store.each_message_before(id, number.saturating_add(1), |_, body| {
            found = body.and_then(stored_message::parse_message).map(|read| read.message);
            false
        })?;
        Ok(found)
    }
}

fn push_stored_message(mender: &mut Mender, number: u64, body: Option<&str>, is_aged: bool) {
    let Some(read) = body.and_then(stored_message::parse_message) else {
        return mender.note_unreadable();
    };
    if !read.is_whole {
        mender.note_unreadable();
    }
    mender.push(number, read.message, is_aged);
}
