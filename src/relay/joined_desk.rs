//! The relay's connections to the desk of its machine: what is open there, and what is recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_approval::desk::{RELAY_ORIGIN, TEAM_ORIGIN};
use callgate_approval::relay_source::{QuestionStanding, open_for_people, standing_of_question};
use callgate_client::DeskError;
use callgate_client::desk::{DeskClient, DeskWatch};
use callgate_relay::{LowerAct, LowerLine};
use callgate_store::Store;
use callgate_wire::HiddenText;
use callgate_wire::approval::{RelayedAnswer, RequestId};
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskStatus, WatchedEntry};
use callgate_wire::ledger::LedgerEvent;
use callgate_wire::relay::{CopiedThrough, RelayReport, UpperHello};
use tokio::sync::mpsc;

use super::desk_entrance::DeskEntrance;
use super::desk_place::RelayDeskPlace;

/// Connects to the desk of this machine in the name of a desk above.
pub(super) struct DeskJoiner {
    entrance: DeskEntrance,
    hello: UpperHello,
    reports: mpsc::Sender<RelayReport>,
}

/// The desk of this machine, in which this process may press.
pub(super) struct JoinedDesk {
    client: Arc<DeskClient>,
    /// The entries from now on, by which questions come and go.
    news: EntryStream,
    /// The entries that the desk above has no copy of.
    copies: Option<EntryStream>,
    store: Store,
    desk_socket: PathBuf,
    hello: UpperHello,
}

/// Entries on a connection of their own, because the copy stops while the desk above sends no
/// receipts, and the news of questions must not stop with it. A watch ends with its connection, so
/// the client is kept.
struct EntryStream {
    watch: DeskWatch,
    _client: DeskClient,
}

impl DeskJoiner {
    pub(super) fn new(
        entrance: DeskEntrance,
        hello: UpperHello,
        reports: mpsc::Sender<RelayReport>,
    ) -> Self {
        Self { entrance, hello, reports }
    }

    /// Joins the desk that runs. A relay starts one if there is none.
    pub(super) async fn join_desk(self) -> Result<JoinedDesk, String> {
        let (client, desk_socket) = match &self.entrance {
            DeskEntrance::Relay(place) => {
                let client = match DeskClient::connect(&place.desk_socket) {
                    Ok(client) => self.join_running(place, client).await?,
                    Err(DeskError::NoDesk(_)) => self.start_desk(place).await?,
                    Err(error) => return Err(error.to_string()),
                };
                (client, place.desk_socket.clone())
            }
            DeskEntrance::Team(entrance) => {
                let client = DeskClient::connect(&entrance.desk_socket);
                let client = client.map_err(|error| error.to_string())?;
                if !self.unlock(&client, &entrance.key, TEAM_ORIGIN).await? {
                    return Err("the desk here does not know the line to the team".to_owned());
                }
                (client, entrance.desk_socket.clone())
            }
        };
        let status = read_status(&client).await?;
        // This begins before the open questions are read, so that none between is missed; one that
        // comes both ways is sent once.
        let news = EntryStream::open(&desk_socket, None).await?;
        // The desk says where its ledger is, because it may have been started with other settings.
        let store = Store::open_read_only(&PathBuf::from(&status.database));
        Ok(JoinedDesk {
            client: Arc::new(client),
            news,
            copies: None,
            store: store.map_err(|error| error.to_string())?,
            desk_socket,
            hello: self.hello,
        })
    }

    async fn join_running(
        &self,
        place: &RelayDeskPlace,
        client: DeskClient,
    ) -> Result<DeskClient, String> {
        if let Some(token) = &self.hello.token
            && self.unlock(&client, token, RELAY_ORIGIN).await?
        {
            return Ok(client);
        }
        let status = read_status(&client).await?;
        if status.is_relay && status.relays.iter().all(|relay| relay.is_team) {
            // Whoever had started it is gone, and its key with them. Hooks that wait come back to
            // the next one, and so does a line to a team, which a desk keeps itself. Another relay
            // would lose its desk.
            drop(client);
            let own = place.clone();
            let stopped = tokio::task::spawn_blocking(move || own.stop_own_desk()).await;
            stopped.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            return self.start_desk(place).await;
        }
        self.pair(client).await
    }

    async fn start_desk(&self, place: &RelayDeskPlace) -> Result<DeskClient, String> {
        let own = place.clone();
        let token = tokio::task::spawn_blocking(move || own.start_desk()).await;
        let token = token.map_err(|error| error.to_string())??;
        let client = DeskClient::connect(&place.desk_socket);
        let client = client.map_err(|error| error.to_string())?;
        if !self.unlock(&client, &token, RELAY_ORIGIN).await? {
            return Err("the desk that was started does not know its relay".to_owned());
        }
        self.report(RelayReport::Granted { token }).await;
        Ok(client)
    }

    /// Links the desk above with the desk here, as any other viewer: the first link is made at
    /// once, and later ones need somebody's yes.
    async fn pair(&self, client: DeskClient) -> Result<DeskClient, String> {
        let failed = |error: DeskError| error.to_string();
        let mut replies =
            client.request(DeskCommand::Code { page: false }).await.map_err(failed)?;
        let code = loop {
            match replies.next().await.map_err(failed)? {
                Some(DeskMessage::Waiting { text, .. }) => {
                    self.report(RelayReport::Waiting { text }).await;
                }
                Some(DeskMessage::Answer { answer: DeskAnswer::Code { code, .. }, .. }) => {
                    break code;
                }
                Some(
                    DeskMessage::Answer { answer: DeskAnswer::Told { text, .. }, .. }
                    | DeskMessage::Error { text, .. },
                ) => return Err(text),
                Some(_) => {}
                None => return Err("the desk here returned no code".to_owned()),
            }
        };
        let pair = DeskCommand::Pair {
            code,
            name: self.hello.name.clone(),
            origin: Some(RELAY_ORIGIN.to_owned()),
        };
        match client.ask(pair).await.map_err(failed)? {
            DeskAnswer::Paired { token } => {
                self.report(RelayReport::Granted { token }).await;
                Ok(client)
            }
            DeskAnswer::Told { text, .. } => Err(text),
            _ => Err(DeskError::Unexpected.to_string()),
        }
    }

    /// Proves who this is. Returns false if the desk does not know the token.
    async fn unlock(
        &self,
        client: &DeskClient,
        token: &HiddenText,
        origin: &str,
    ) -> Result<bool, String> {
        let unlock = DeskCommand::Unlock {
            token: token.clone(),
            origin: Some(origin.to_owned()),
            name: Some(self.hello.name.clone()),
        };
        match client.ask(unlock).await.map_err(|error| error.to_string())? {
            DeskAnswer::Told { done, .. } => Ok(done),
            _ => Err(DeskError::Unexpected.to_string()),
        }
    }

    async fn report(&self, report: RelayReport) {
        // A line that has ended needs no report.
        self.reports.send(report).await.ok();
    }
}

async fn read_status(client: &DeskClient) -> Result<DeskStatus, String> {
    match client.ask(DeskCommand::Status).await.map_err(|error| error.to_string())? {
        DeskAnswer::Status { status } => Ok(*status),
        _ => Err(DeskError::Unexpected.to_string()),
    }
}

impl EntryStream {
    async fn open(desk_socket: &Path, from: Option<u64>) -> Result<Self, String> {
        let client = DeskClient::connect(desk_socket).map_err(|error| error.to_string())?;
        let watch = client.watch(from).await.map_err(|error| error.to_string())?;
        Ok(Self { watch, _client: client })
    }

    async fn next(&mut self) -> Result<WatchedEntry, String> {
        loop {
            let message = self.watch.next().await.map_err(|error| error.to_string())?;
            if let DeskMessage::Entry(entry) = message {
                return Ok(entry);
            }
        }
    }
}

impl JoinedDesk {
    /// Sends what is open, and begins to send entries.
    pub(super) async fn sync_questions(
        &mut self,
        lower: &mut LowerLine,
    ) -> Result<Vec<LowerAct>, String> {
        let failed = |error: callgate_store::StoreError| error.to_string();
        let mut open = open_for_people(&self.store).map_err(failed)?;
        // There may be more than there is room for above, where people see these already.
        open.sort_by_key(|question| !self.hello.held.contains(&question.request.request_id));
        let (mut closed, mut undelivered) = (Vec::new(), Vec::new());
        for id in &self.hello.held {
            match standing_of_question(&self.store, id).map_err(failed)? {
                // The question is among those that are sent.
                QuestionStanding::Open(_) => {}
                QuestionStanding::Settling => undelivered.push(id.clone()),
                QuestionStanding::Over(outcome) => closed.push(outcome),
            }
        }
        let mut acts = lower.sync_questions(open, closed, undelivered);
        if !self.hello.no_copy {
            acts.extend(self.begin_copies().await?);
        }
        Ok(acts)
    }

    /// Begins to send entries after the last one that was copied, or from the first one if that is
    /// not in this ledger.
    async fn begin_copies(&mut self) -> Result<Option<LowerAct>, String> {
        let status = read_status(&self.client).await?;
        let socket = &self.desk_socket;
        if let Some(CopiedThrough { seq, hash }) = self.hello.after.clone() {
            if seq <= status.head {
                // The stream begins with the last copied entry itself, so that its hash can be
                // compared.
                let mut copies = EntryStream::open(socket, Some(seq)).await?;
                let last = copies.next().await?;
                // A ledger that was replaced may have another entry with the same number.
                if last.seq == seq && last.hash == hash {
                    self.copies = Some(copies);
                    return Ok(None);
                }
            }
            self.copies = Some(EntryStream::open(socket, Some(1)).await?);
            let text = format!("its ledger was pruned or replaced: entry {seq} is not there");
            return Ok(Some(LowerAct::Send(RelayReport::Anew { text })));
        }
        self.copies = Some(EntryStream::open(socket, Some(1)).await?);
        Ok(None)
    }

    /// Waits until something happens at the desk.
    pub(super) async fn next_acts(
        &mut self,
        lower: &mut LowerLine,
    ) -> Result<Vec<LowerAct>, String> {
        let takes_entries = lower.takes_entries();
        tokio::select! {
            entry = self.news.next() => self.handle_news(lower, &entry?),
            entry = next_copy(&mut self.copies), if takes_entries => {
                Ok(vec![lower.report_entry(entry?)])
            }
        }
    }

    fn handle_news(
        &self,
        lower: &mut LowerLine,
        entry: &WatchedEntry,
    ) -> Result<Vec<LowerAct>, String> {
        if self.client.is_locked() {
            return Err(
                "the desk of this machine has removed the link of the desk above".to_owned()
            );
        }
        let Some(id) = entry.question.as_deref().and_then(RequestId::parse) else {
            return Ok(Vec::new());
        };
        let standing = || standing_of_question(&self.store, &id).map_err(|error| error.to_string());
        let act = match entry.event() {
            // What holds now is read again, because the entry may be older than an answer.
            LedgerEvent::Asked(_) | LedgerEvent::Closed(_) => match standing()? {
                QuestionStanding::Open(question) => lower.report_question(*question),
                QuestionStanding::Over(outcome) => lower.report_closed(outcome),
                QuestionStanding::Settling => None,
            },
            LedgerEvent::Said(said) => lower.report_words(&id, said.last_words),
            _ => None,
        };
        Ok(act.into_iter().collect())
    }

    /// Reports a question again, if it is open.
    pub(super) fn ask_again(
        &self,
        lower: &mut LowerLine,
        id: &RequestId,
    ) -> Result<Option<LowerAct>, String> {
        let standing = standing_of_question(&self.store, id).map_err(|error| error.to_string())?;
        Ok(match standing {
            QuestionStanding::Open(question) => lower.report_question(*question),
            // Its end is reported by its entry.
            QuestionStanding::Settling | QuestionStanding::Over(_) => None,
        })
    }

    /// Brings the desk an answer, and reports what comes of it.
    pub(super) fn bring_answer(
        &self,
        question: RequestId,
        answer: RelayedAnswer,
        reports: mpsc::Sender<RelayReport>,
    ) {
        // This is a task, so that the line goes on while the desk decides.
        let client = Arc::clone(&self.client);
        tokio::spawn(async move {
            let command = DeskCommand::Answer { request_id: question.clone(), answer };
            let (done, text) = match client.ask(command).await {
                Ok(DeskAnswer::Told { done, text }) => (done, text),
                Ok(_) => (false, DeskError::Unexpected.to_string()),
                // What became of it is known when the question is closed.
                Err(_) => return,
            };
            // A line that has ended needs no report.
            reports.send(RelayReport::Told { question, done, text }).await.ok();
        });
    }
}

async fn next_copy(copies: &mut Option<EntryStream>) -> Result<WatchedEntry, String> {
    match copies {
        Some(copies) => copies.next().await,
        None => std::future::pending().await,
    }
}
