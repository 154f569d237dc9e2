//! Turns failures of the connection and of the server into errors for people, without any part of
//! the address.

use std::error::Error;
use std::io;

use tokio_postgres::error::SqlState;

use crate::error::TeamStoreError;

/// Why work failed: an error of the server, which may pass, or one that is reported as it is.
#[derive(Debug)]
pub(super) enum ServerFault {
    Server(tokio_postgres::Error),
    /// Nothing came in time.
    Silence,
    Told(TeamStoreError),
}

impl ServerFault {
    /// Returns true if the same may succeed with another connection.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            // A missing partition passes, because the next session makes it.
            Self::Server(error) => is_passing(error) || lacks_partition(error),
            Self::Silence => true,
            Self::Told(_) => false,
        }
    }

    pub(super) fn explain(self, moment: FaultMoment) -> TeamStoreError {
        match self {
            Self::Server(error) => explain(&error, moment),
            Self::Silence => {
                TeamStoreError::Unreachable { why: "it does not answer in time".to_owned() }
            }
            Self::Told(error) => error,
        }
    }
}

impl From<tokio_postgres::Error> for ServerFault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl From<TeamStoreError> for ServerFault {
    fn from(error: TeamStoreError) -> Self {
        Self::Told(error)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultMoment {
    /// Before the login was complete: the server's words name the user and the database.
    Connecting,
    /// Later: the server's words name tables of ours.
    Working,
}

fn is_passing(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else {
        return is_of_connection(error) && find_certificate_fault(error).is_none();
    };
    let class = code.code().get(..2).unwrap_or_default();
    // These classes of SQLSTATE pass: the connection, a rollback, a lack of resources, and an
    // intervention of the operator.
    matches!(class, "08" | "57" | "40" | "53")
        || [SqlState::LOCK_NOT_AVAILABLE, SqlState::READ_ONLY_SQL_TRANSACTION].contains(code)
        || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

fn explain(error: &tokio_postgres::Error, moment: FaultMoment) -> TeamStoreError {
    let unreachable = |why: &str| TeamStoreError::Unreachable { why: why.to_owned() };
    if let Some(why) = find_certificate_fault(error) {
        return TeamStoreError::NotTrusted { why };
    }
    let Some(fault) = error.as_db_error() else {
        if !is_of_connection(error) && moment == FaultMoment::Working {
            let (code, message) = ("client".to_owned(), error.to_string());
            return TeamStoreError::Server { code, message };
        }
        return TeamStoreError::Unreachable { why: name_connection_fault(error) };
    };
    let code = fault.code();
    let message = match moment {
        FaultMoment::Connecting => "it may not connect, or not make the tables",
        FaultMoment::Working => fault.message(),
    };
    match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            TeamStoreError::LoginRefused
        }
        SqlState::INVALID_CATALOG_NAME => TeamStoreError::NoDatabase,
        SqlState::INSUFFICIENT_PRIVILEGE => {
            TeamStoreError::MissingRights { what: message.to_owned() }
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => unreachable("the server is a standby"),
        SqlState::TOO_MANY_CONNECTIONS => unreachable("the server has no free connection"),
        SqlState::CANNOT_CONNECT_NOW => unreachable("the server is starting or stopping"),
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => {
            unreachable("the server was stopped")
        }
        SqlState::DISK_FULL => unreachable("the disk of the server is full"),
        SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED => {
            unreachable("the server is too busy to answer in time")
        }
        _ => TeamStoreError::Server { code: code.code().to_owned(), message: message.to_owned() },
    }
}

/// Returns true if the day of an entry has no partition yet.
fn lacks_partition(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|fault| {
        *fault.code() == SqlState::CHECK_VIOLATION && fault.message().contains("no partition")
    })
}

/// Returns true if the connection has failed, not what was sent over it.
fn is_of_connection(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || causes(error).any(<dyn Error>::is::<io::Error>)
}

/// Names what is wrong with a connection, without the words of the system, which may name hosts.
fn name_connection_fault(error: &tokio_postgres::Error) -> String {
    let io = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>());
    match io.map(io::Error::kind) {
        Some(io::ErrorKind::PermissionDenied) => "every server in its address is a standby".into(),
        Some(io::ErrorKind::NotFound) => "there is no socket".into(),
        Some(io::ErrorKind::InvalidData) => "the server does not speak TLS as it should".into(),
        Some(io::ErrorKind::ConnectionRefused) => "nothing listens there".into(),
        Some(kind) => kind.to_string(),
        None if error.is_closed() => "the connection was closed".to_owned(),
        None => "the connection failed".to_owned(),
    }
}

fn find_certificate_fault(error: &tokio_postgres::Error) -> Option<&'static str> {
    use rustls::CertificateError as Fault;
    let find = |cause: &(dyn Error + 'static)| {
        // An I/O error does not return what is wrapped in it as its source, but that one's source.
        let io = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let wrapped = io.and_then(|inner| inner.downcast_ref::<rustls::Error>()).cloned();
        wrapped.or_else(|| cause.downcast_ref::<rustls::Error>().cloned())
    };
    Some(match causes(error).find_map(find)? {
        rustls::Error::InvalidCertificate(
            Fault::NotValidForName | Fault::NotValidForNameContext { .. },
        ) => "it is for another host",
        rustls::Error::InvalidCertificate(Fault::Expired | Fault::ExpiredContext { .. }) => {
            "it has expired"
        }
        rustls::Error::InvalidCertificate(Fault::UnknownIssuer) => {
            "no authority that is trusted here has made it"
        }
        _ => "it or the TLS of the server is not valid",
    })
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| (*error).source())
}
