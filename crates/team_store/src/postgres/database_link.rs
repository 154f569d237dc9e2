//! A connection to the server that is made again when it was lost.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::{AsyncMessage, Client, Error, Statement};

use super::address::ServerAddress;
use super::faults::{self, FaultMoment, ServerFault};
use super::layout;
use crate::error::TeamStoreError;

/// How long to wait before the next attempt.
const PAUSE: Duration = Duration::from_millis(50);

/// Settings of a session. A desk that is cut off in a transaction holds up the others no longer than
/// the server waits for it.
const HABITS: &str = "SET search_path = callgate_team; SET timezone = 'UTC';
    SET client_min_messages = warning; SET lock_timeout = '2s'; SET statement_timeout = '60s';
    SET idle_in_transaction_session_timeout = '2s'; SET tcp_keepalives_idle = 10;
    SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2;
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local');";

pub(super) struct ServerSession {
    pub(super) client: Client,
    statements: HashMap<&'static str, Statement>,
    /// Is notified of changes, and of the end of the connection.
    pub(super) hint: Arc<Notify>,
    is_listening: bool,
    /// The last change that was read or made.
    seen: u64,
}

impl ServerSession {
    /// Returns a statement, which is prepared at its first use.
    pub(super) async fn prepare(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Notes that a change was read or made.
    pub(super) fn mark_seen(&mut self, change: u64) {
        self.seen = self.seen.max(change);
    }

    pub(super) async fn listen(&mut self) -> Result<(), Error> {
        if !self.is_listening {
            self.client.batch_execute("LISTEN callgate_team").await?;
            self.is_listening = true;
        }
        Ok(())
    }
}

/// A connection to the server that is made when it is needed.
pub(super) struct DatabaseLink {
    address: Arc<ServerAddress>,
    kept_days: i32,
    pub(super) session: Option<ServerSession>,
    /// The last change that was seen. A server that has less has lost something.
    seen: u64,
}

impl DatabaseLink {
    pub(super) fn new(address: Arc<ServerAddress>, kept_days: u32) -> Self {
        let kept_days = i32::try_from(kept_days).unwrap_or(i32::MAX);
        Self { address, kept_days, session: None, seen: 0 }
    }

    /// Returns a link to the same server that has seen as much.
    pub(super) fn another(&self) -> Self {
        let Self { kept_days, seen, .. } = *self;
        Self { address: Arc::clone(&self.address), kept_days, session: None, seen }
    }

    /// Does `work`, which may be repeated: if the connection is lost, whether or not the server has
    /// done it already, it is done again over another one until the patience is over.
    pub(super) async fn run<T>(
        &mut self,
        patience: Duration,
        mut work: impl AsyncFnMut(&mut ServerSession) -> Result<T, ServerFault>,
    ) -> Result<T, TeamStoreError> {
        let deadline = Instant::now() + patience;
        loop {
            let attempt = async {
                let session = self.connect().await?;
                work(session).await
            };
            let fault = match timeout_at(deadline, attempt).await {
                Ok(Ok(done)) => {
                    let seen = self.session.as_ref().map_or(0, |session| session.seen);
                    self.seen = self.seen.max(seen);
                    return Ok(done);
                }
                Ok(Err(fault)) => fault,
                Err(_) => {
                    self.session = None;
                    let why = "it does not answer in time".to_owned();
                    return Err(TeamStoreError::Unreachable { why });
                }
            };
            // Whatever has failed, its transaction ends with its session.
            let moment = match &self.session {
                Some(_) => FaultMoment::Working,
                None => FaultMoment::Connecting,
            };
            self.session = None;
            match fault {
                ServerFault::Told(error) => return Err(error),
                ServerFault::Server(error) => {
                    let is_passing = faults::is_passing(&error) || faults::lacks_partition(&error);
                    if !is_passing || Instant::now() + PAUSE >= deadline {
                        return Err(faults::explain(&error, moment));
                    }
                }
            }
            sleep(PAUSE).await;
        }
    }

    async fn connect(&mut self) -> Result<&mut ServerSession, ServerFault> {
        if self.session.as_ref().is_some_and(|session| session.client.is_closed()) {
            self.session = None;
        }
        let session = match self.session.take() {
            Some(session) => session,
            None => self.open_session().await?,
        };
        Ok(self.session.insert(session))
    }

    async fn open_session(&self) -> Result<ServerSession, ServerFault> {
        let ServerAddress { config, tls } = &*self.address;
        let (client, mut connection) = config.connect(tls.clone()).await?;
        let hint = Arc::new(Notify::new());
        let signal = Arc::clone(&hint);
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if matches!(message, AsyncMessage::Notification(_)) {
                    signal.notify_one();
                }
            }
            signal.notify_one();
        });
        layout::check_server(&client).await?;
        client.batch_execute(HABITS).await?;
        layout::migrate(&client).await?;
        layout::take_role(&client, self.kept_days).await?;
        layout::check_rights(&client).await?;
        client.batch_execute("SELECT make_partitions()").await?;
        let found: i64 = client.query_one("SELECT last_change()", &[]).await?.get(0);
        let found = u64::try_from(found).unwrap_or_default();
        if found < self.seen {
            return Err(TeamStoreError::Behind { seen: self.seen, found }.into());
        }
        Ok(ServerSession {
            client,
            statements: HashMap::new(),
            hint,
            is_listening: false,
            seen: found,
        })
    }
}
