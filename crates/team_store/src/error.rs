//! The errors of the team's store. None of them contains the address of the database or a part of
//! it.

pub type TeamResult<T> = Result<T, TeamStoreError>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeamStoreError {
    #[error(
        "the address of the team's database is not a URL such as \
         postgres://USER:PASSWORD@HOST/DATABASE: set `team.database_url`"
    )]
    BadAddress,
    /// The server cannot be reached, or the connection was lost and could not be made again.
    #[error(
        "cannot reach the team's database: {why}; nothing is answered until it is back: look at \
         the server and at the network"
    )]
    Unreachable { why: String },
    #[error(
        "the certificate of the team's database is not accepted: {why}; name the authority with \
         `sslrootcert=FILE` in its address"
    )]
    NotTrusted { why: &'static str },
    #[error(
        "the team's database refuses the login: the user or the password is wrong, or the \
         server's pg_hba.conf does not admit this machine"
    )]
    LoginRefused,
    #[error("the team's database does not exist on the server: create it, or mend the address")]
    NoDatabase,
    #[error("the server of the team's database is PostgreSQL {found}: version {oldest} is needed")]
    TooOld { found: i32, oldest: i32 },
    /// The login may not do what the store needs.
    #[error(
        "the login of the team's database lacks rights: {what}; let an owner of the database start \
         once, or grant it the role callgate_desk"
    )]
    MissingRights { what: String },
    #[error(
        "the team's database was written by a newer callgate (its layout is version {found}, known \
         is {known}): update callgate"
    )]
    Newer { found: i32, known: i32 },
    /// The server has not what this process has seen, as after a failover to a standby that was
    /// behind.
    #[error(
        "the team's database has lost changes: {seen} were seen, the server has {found}; nothing \
         is answered from it: restore it, or accept the loss by a restart of this desk"
    )]
    Behind { seen: u64, found: u64 },
    /// A standby has taken over. It may have given the numbers of changes to other changes.
    #[error("another server has taken over the team's database: everything is read again")]
    Replaced,
    /// The roles were changed since they were read.
    #[error("the roles of the team have changed meanwhile: read them again")]
    OtherRoles,
    /// What was to be recorded is not valid.
    #[error("{what} is refused: {why}")]
    Refused {
        what: &'static str,
        /// What is wrong with it; never its content.
        why: &'static str,
    },
    /// Sent entries do not follow one another.
    #[error("entry {seq} of the sent ledger does not follow the one before it")]
    NotAChain { seq: u64 },
    /// Sent entries continue a chain of which the store has less.
    #[error("the sent ledger leaves entries out: send it from entry {expected} on")]
    Gap { expected: u64 },
    /// Sent entries contradict those that were copied before.
    #[error("entry {seq} of the sent ledger is not the one that was recorded: it was rewritten")]
    Forked { seq: u64 },
    /// The store has something that no version of callgate writes.
    #[error("{what} in the team's store cannot be read: somebody has changed it by hand")]
    Damaged { what: &'static str },
    /// PostgreSQL refused for another reason.
    #[error("the team's database refused ({code}): {message}")]
    Server { code: String, message: String },
}

impl TeamStoreError {
    /// Returns true if the same call may succeed later without anything being changed here.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Replaced)
    }
}
