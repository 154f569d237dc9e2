//! A connection to the server that is made again when it was lost.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::{AsyncMessage, Client, Error, Statement};

use super::address::ServerAddress;
use super::faults::{FaultMoment, ServerFault};
use super::layout;
use crate::error::TeamStoreError;

/// How long to wait before the next attempt. A server that is starting refuses at once, so that
/// without a pause attempts would follow one another.
const PAUSE: Duration = Duration::from_millis(50);
/// How long the tables may take to be brought up to date. A migration that is given up begins anew
/// at the next attempt, and would never end.
const LONGEST_MIGRATION: Duration = Duration::from_mins(30);
/// How many rows that cannot be read are remembered until somebody asks for them.
const MOST_UNREAD: usize = 100;

/// Settings of a session. A desk that is cut off in a transaction holds up the others no longer
/// than the server waits for it. What was confirmed must not be lost: a database that confirms
/// before it has written (`off`), or before its standbys have (`local`), is made to wait.
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
    pub(super) is_listening: bool,
    /// The last change that this process has read or made.
    seen: Arc<AtomicU64>,
    /// The history of the database, if the server says.
    pub(super) history: Option<String>,
    /// The rows that lists have left out.
    pub(super) unread: Vec<String>,
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
    pub(super) fn mark_seen(&self, change: u64) {
        self.seen.fetch_max(change, Ordering::SeqCst);
    }

    /// Notes that a list has left out a row that cannot be read.
    pub(super) fn note_unread(&mut self, name: String) {
        if self.unread.len() < MOST_UNREAD {
            self.unread.push(name);
        }
    }

    pub(super) async fn listen(&mut self) -> Result<(), Error> {
        if !self.is_listening {
            self.client.batch_execute("LISTEN callgate_team").await?;
            self.is_listening = true;
        }
        Ok(())
    }
}

/// Work that may be done several times, and that keeps what it returns.
pub(super) trait SessionWork {
    fn run<'a>(&'a mut self, session: &'a mut ServerSession) -> WorkFuture<'a>;
}

type WorkFuture<'a> = Pin<Box<dyn Future<Output = Result<(), ServerFault>> + 'a>>;

/// A closure as [`SessionWork`], with what it has returned.
pub(super) struct SessionTask<T, F> {
    pub(super) work: F,
    pub(super) done: Option<T>,
}

impl<T, F> SessionWork for SessionTask<T, F>
where
    F: AsyncFnMut(&mut ServerSession) -> Result<T, ServerFault>,
{
    fn run<'a>(&'a mut self, session: &'a mut ServerSession) -> WorkFuture<'a> {
        Box::pin(async move {
            self.done = Some((self.work)(session).await?);
            Ok(())
        })
    }
}

/// A connection to the server that is made when it is needed.
pub(super) struct DatabaseLink {
    address: Arc<ServerAddress>,
    pub(super) session: Option<ServerSession>,
    /// The last change that any connection of this process has seen. A server that has less has
    /// lost something.
    seen: Arc<AtomicU64>,
    /// The host that is tried first: the last one that answered.
    first_host: usize,
}

impl DatabaseLink {
    pub(super) fn new(address: Arc<ServerAddress>) -> Self {
        Self { address, session: None, seen: Arc::default(), first_host: 0 }
    }

    /// Returns another link to the same server.
    pub(super) fn another(&self) -> Self {
        let (address, seen) = (Arc::clone(&self.address), Arc::clone(&self.seen));
        Self { address, session: None, seen, first_host: self.first_host }
    }

    /// Does `work`, which may be repeated: if the connection is lost, whether or not the server has
    /// done it already, it is done again over another one until the patience is over.
    pub(super) async fn run(
        &mut self,
        patience: Duration,
        work: &mut dyn SessionWork,
    ) -> Result<(), TeamStoreError> {
        let mut deadline = Instant::now() + patience;
        loop {
            let Err(fault) = self.attempt(&mut deadline, work).await else { return Ok(()) };
            // Whatever has failed, its transaction ends with its session.
            let moment = match &self.session {
                Some(_) => FaultMoment::Working,
                None => FaultMoment::Connecting,
            };
            self.session = None;
            if matches!(fault, ServerFault::Silence) {
                // The next attempt begins with another host, or it would wait for this one once
                // more.
                self.first_host += 1;
            }
            if !fault.is_passing() || Instant::now() + PAUSE >= deadline {
                return Err(fault.explain(moment));
            }
            sleep(PAUSE).await;
        }
    }

    async fn attempt(
        &mut self,
        deadline: &mut Instant,
        work: &mut dyn SessionWork,
    ) -> Result<(), ServerFault> {
        // A connection that the server has closed is dropped here, so that it costs no failed
        // attempt.
        if self.session.as_ref().is_some_and(|session| session.client.is_closed()) {
            self.session = None;
        }
        let session = match self.session.take() {
            Some(session) => session,
            None => self.open_session(deadline).await?,
        };
        within(*deadline, work.run(self.session.insert(session))).await
    }

    async fn open_session(&mut self, deadline: &mut Instant) -> Result<ServerSession, ServerFault> {
        let (client, hint) = self.reach_server(*deadline).await?;
        let is_current = within(*deadline, async {
            layout::check_server(&client).await?;
            client.batch_execute(HABITS).await?;
            layout::is_current(&client).await
        });
        if !is_current.await? {
            // The migration does not count against the patience.
            let begun = Instant::now();
            within(begun + LONGEST_MIGRATION, layout::migrate(&client)).await?;
            *deadline += begun.elapsed();
        }
        // Before the server is asked, which may have got more since.
        let seen = self.seen.load(Ordering::SeqCst);
        let (found, history) = within(*deadline, async {
            // This comes after the migration, for which the role of desks has no right.
            layout::take_role(&client).await?;
            layout::check_rights(&client).await?;
            client.batch_execute(layout::MAKE_MISSING).await?;
            let found: i64 = client.query_one("SELECT last_change()", &[]).await?.get(0);
            Ok((u64::try_from(found).unwrap_or_default(), layout::read_history(&client).await?))
        })
        .await?;
        if found < seen {
            return Err(TeamStoreError::Behind { seen, found }.into());
        }
        self.seen.fetch_max(found, Ordering::SeqCst);
        Ok(ServerSession {
            client,
            statements: HashMap::new(),
            hint,
            is_listening: false,
            seen: Arc::clone(&self.seen),
            history,
            unread: Vec::new(),
        })
    }

    /// Connects to the first host that is not a standby. One that hangs takes no longer than its
    /// own time.
    async fn reach_server(
        &mut self,
        deadline: Instant,
    ) -> Result<(Client, Arc<Notify>), ServerFault> {
        let ServerAddress { hosts, limit, tls } = &*self.address;
        let mut told: Option<ServerFault> = None;
        for turn in 0..hosts.len() {
            let host = (self.first_host + turn) % hosts.len();
            // The last host may take all the time that is left, because no other one waits for it.
            let is_last = turn + 1 == hosts.len();
            let end = if is_last { deadline } else { deadline.min(Instant::now() + *limit) };
            let connecting = async { Ok(hosts[host].connect(tls.clone()).await?) };
            match within(end, connecting).await {
                Ok((client, mut connection)) => {
                    self.first_host = host;
                    let hint = Arc::new(Notify::new());
                    let signal = Arc::clone(&hint);
                    tokio::spawn(async move {
                        while let Some(Ok(message)) =
                            poll_fn(|context| connection.poll_message(context)).await
                        {
                            if matches!(message, AsyncMessage::Notification(_)) {
                                // It keeps a permit, so that a hint that comes before anybody waits
                                // is not lost.
                                signal.notify_one();
                            }
                        }
                        // The end of the connection is a hint, too, because whoever waits has to
                        // make another one.
                        signal.notify_one();
                    });
                    return Ok((client, hint));
                }
                // An error that somebody has to correct is reported rather than one that may pass.
                Err(fault) => {
                    told = told.filter(|told| !told.is_passing()).or(Some(fault));
                }
            }
        }
        Err(told.unwrap_or(ServerFault::Silence))
    }
}

/// Fails with silence if `work` is not done at that time.
async fn within<T>(
    end: Instant,
    work: impl Future<Output = Result<T, ServerFault>>,
) -> Result<T, ServerFault> {
    timeout_at(end, work).await.unwrap_or(Err(ServerFault::Silence))
}
