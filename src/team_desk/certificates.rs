//! The certificates of the team's desk: those in the files of the settings, or those of an
//! authority that the desk makes for itself.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use callgate_link::file::{FileLock, create_private_folder, open_own, replace_private};
use callgate_link::text_file::{read_limited, read_regular};
use callgate_web::{TlsAuthority, TlsError, TlsIdentity};
use rustix::system::uname;

use crate::config::Config;

/// The files of the authority, beside the database.
const KEY_FILE: &str = "team-authority.key";
const CERTIFICATE_FILE: &str = "team-authority.der";
/// The largest file that is read, in bytes.
const LARGEST: u64 = 256 * 1024;

/// The certificates of the team's desk.
pub(crate) enum DeskCertificates {
    /// Files with the certificates and their key, which others renew.
    Files(PathBuf, PathBuf),
    Own(Box<TlsAuthority>),
}

impl DeskCertificates {
    /// Returns those of the settings, or those of the desk's own authority, which is made the first
    /// time.
    pub(crate) fn open(config: &Config) -> Result<Self, String> {
        if let Some((certificates, key)) = config.team.certificate_files() {
            return Ok(Self::Files(certificates.to_owned(), key.to_owned()));
        }
        let own = find_or_make_authority(&config.database);
        own.map(|own| Self::Own(Box::new(own)))
            .map_err(|why| format!("the team's desk has no certificate: {why}"))
    }

    /// Returns the authority that members trust, if it is the desk's own.
    pub(crate) fn authority(&self) -> Option<Vec<u8>> {
        match self {
            Self::Files(..) => None,
            Self::Own(authority) => Some(authority.certificate().to_vec()),
        }
    }

    /// Returns a certificate that is good now, for a desk with these names.
    pub(crate) fn identity(&self, names: &[String]) -> Result<TlsIdentity, TlsError> {
        match self {
            Self::Files(certificates, key) => {
                TlsIdentity::from_pem(&read_renewed(certificates)?, &read_renewed(key)?)
            }
            Self::Own(authority) => authority.issue(names.to_vec()),
        }
    }
}

fn find_or_make_authority(database: &Path) -> Result<TlsAuthority, String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let (key_file, certificate_file) =
        (database.with_file_name(KEY_FILE), database.with_file_name(CERTIFICATE_FILE));
    database.parent().map_or(Ok(()), create_private_folder).map_err(|error| failed(&error))?;
    // Two processes that make an authority at once would leave the key of one and the certificate
    // of the other.
    let lock = FileLock::try_lock(&key_file.with_extension("lock"));
    let _lock = lock
        .map_err(|error| failed(&error))?
        .ok_or("another callgate is making the authority; try again")?;
    let stored = match (read_file(&key_file), read_file(&certificate_file)) {
        (Ok(key), Ok(certificate)) => Some((key, certificate)),
        (Err(error), _) | (_, Err(error)) if error.kind() == ErrorKind::NotFound => None,
        (Err(error), _) | (_, Err(error)) => {
            return Err(format!("{}: {error}", key_file.display()));
        }
    };
    if let Some((key, certificate)) = stored {
        let stored = TlsAuthority::from_stored(&key, &certificate);
        return stored.map_err(|error| format!("{}: {error}", key_file.display()));
    }
    let made = TlsAuthority::generate().map_err(|error| failed(&error))?;
    // The key comes last: without one both are made anew, so a kill in between leaves no pair that
    // does not fit.
    replace_private(&certificate_file, made.certificate()).map_err(|error| failed(&error))?;
    replace_private(&key_file, made.key()).map_err(|error| failed(&error))?;
    Ok(made)
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(open_own(OpenOptions::new().read(true), path)?, LARGEST)
}

/// Reads a file that the settings name. Programs that renew certificates leave links to files of
/// another user.
fn read_renewed(path: &Path) -> Result<Vec<u8>, TlsError> {
    let named = |error| io::Error::other(format!("{}: {error}", path.display()));
    read_regular(path, LARGEST).map_err(|error| TlsError::Unread(named(error)))
}

/// Returns the host and the port by which members reach the desk that listens at this address.
pub(crate) fn reached_at(config: &Config, listen: SocketAddr) -> String {
    match &config.team.address {
        Some(address) => address.clone(),
        None if listen.ip().is_unspecified() => {
            format!("{}:{}", uname().nodename().to_string_lossy(), listen.port())
        }
        None => listen.to_string(),
    }
}

/// Returns the names for which the desk's own authority signs a certificate.
pub(crate) fn certificate_names(config: &Config, listen: SocketAddr) -> Vec<String> {
    let reached = reached_at(config, listen);
    let host = reached.rsplit_once(':').map_or(&*reached, |(host, _)| host);
    let mut names = vec![host.trim_matches(['[', ']']).to_owned()];
    let own = listen.ip().to_string();
    if !listen.ip().is_unspecified() && !names.contains(&own) {
        names.push(own);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_made_once_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("data/callgate.db");
        let made = find_or_make_authority(&database).unwrap();
        let again = find_or_make_authority(&database).unwrap();
        assert_eq!(made.certificate(), again.certificate());
        assert_eq!(made.key(), again.key());
        std::fs::write(database.with_file_name(KEY_FILE), b"nonsense").unwrap();
        let wrong = find_or_make_authority(&database).unwrap_err();
        assert!(wrong.contains("team-authority.key"), "{wrong}");
    }
    #[test]
    fn certificates_that_another_program_renews_are_read_through_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("new.pem"), b"a certificate").unwrap();
        std::os::unix::fs::symlink(at("new.pem"), at("live.pem")).unwrap();
        assert_eq!(read_renewed(&at("live.pem")).unwrap(), b"a certificate");
        let made = std::process::Command::new("mkfifo").arg(at("pipe.pem")).status().unwrap();
        assert!(made.success());
        // The beginning of a file is not that file.
        std::fs::write(at("long.pem"), vec![b'a'; 1 + usize::try_from(LARGEST).unwrap()]).unwrap();
        for wrong in [at("none.pem"), at("pipe.pem"), at("long.pem"), folder.path().to_owned()] {
            let why = read_renewed(&wrong).unwrap_err().to_string();
            assert!(why.starts_with(&*wrong.to_string_lossy()), "{why}");
        }
    }
}
