//! The address of the database: a URL that is never shown.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use callgate_wire::HiddenText;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::tls::TlsMaker;
use crate::error::TeamStoreError;

/// How long one host may take until it has accepted the login.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// After how long a silent connection is checked.
const SILENCE: Duration = Duration::from_secs(10);

/// How the server is reached. Neither `Debug` nor any error shows a part of it.
pub(super) struct ServerAddress {
    /// One for each host.
    pub(super) hosts: Vec<Config>,
    /// How long one of them may take until it has accepted the login.
    pub(super) limit: Duration,
    pub(super) tls: TlsMaker,
}

impl ServerAddress {
    /// Parses a URL with the parameters of libpq that tokio-postgres knows, and `sslrootcert`.
    pub(super) fn parse(url: &HiddenText) -> Result<Self, TeamStoreError> {
        let (url, roots) = take_parameter(url.reveal(), "sslrootcert");
        let (url, mode) = take_strict_mode(url);
        // tokio-postgres also takes the form `host=… password=…`, in which nothing would find
        // `sslrootcert`.
        let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
        let mut config: Config = url.parse().map_err(|_| TeamStoreError::BadAddress)?;
        if !is_url || config.get_hosts().is_empty() {
            return Err(TeamStoreError::BadAddress);
        }
        // Otherwise the server would refuse the login as one with a wrong password.
        let password = config.get_password().and_then(|password| str::from_utf8(password).ok());
        if password.is_some_and(stringprep::needs_normalising) {
            let what = "the password in the address of the team's database";
            let why = "it has characters that PostgreSQL replaces, such as accents apart from \
                       their letters, ligatures or wide letters: give the login another one";
            return Err(TeamStoreError::Refused { what, why });
        }
        if mode.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        // A server that does not offer TLS could be somebody in between.
        if config.get_ssl_mode() == SslMode::Prefer {
            let is_here = (0..config.get_hosts().len()).all(|index| is_local(&config, index));
            config.ssl_mode(if is_here { SslMode::Disable } else { SslMode::Require });
        }
        let why = "the file of `sslrootcert` has no certificate that can be read";
        let tls = TlsMaker::new(roots.map(PathBuf::from).as_deref())
            .map_err(|_| TeamStoreError::NotTrusted { why })?;
        let limit = config.get_connect_timeout().copied().unwrap_or(CONNECT_LIMIT);
        let count = config.get_hosts().len();
        config.connect_timeout(limit);
        let hosts = (0..count).map(|index| config_of_host(&config, index)).collect();
        Ok(Self { hosts, limit, tls })
    }
}

/// Returns what a config says about one of its hosts, so that one that hangs takes no time of the
/// others.
fn config_of_host(all: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match all.get_hosts().get(index) {
        Some(Host::Tcp(name)) => one.host(name),
        Some(Host::Unix(path)) => one.host_path(path),
        None => &mut one,
    };
    if let Some(address) = all.get_hostaddrs().get(index) {
        one.hostaddr(*address);
    }
    let ports = all.get_ports();
    if let Some(port) = ports.get(index).or(ports.first()) {
        one.port(*port);
    }
    all.get_user().map(|user| one.user(user));
    all.get_password().map(|password| one.password(password));
    all.get_dbname().map(|name| one.dbname(name));
    all.get_options().map(|options| one.options(options));
    one.ssl_mode(all.get_ssl_mode()).channel_binding(all.get_channel_binding());
    // A server that is gone without a word is noticed in 20 s, and not after the two hours of the
    // system.
    one.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 2).keepalives_retries(2);
    // Keepalives are sent only over an idle connection, and not while data waits to be confirmed.
    one.tcp_user_timeout(SILENCE);
    all.get_connect_timeout().map(|limit| one.connect_timeout(*limit));
    // Of several hosts, the one that is not a standby.
    one.target_session_attrs(TargetSessionAttrs::ReadWrite);
    one.application_name("callgate");
    one
}

/// Takes the modes of libpq in which the certificate is checked, as it is here in any.
fn take_strict_mode(url: String) -> (String, Option<String>) {
    let (without, mode) = take_parameter(&url, "sslmode");
    match mode.as_deref() {
        Some("verify-full" | "verify-ca") => (without, mode),
        _ => (url, None),
    }
}

/// Returns true if a host is on this machine.
fn is_local(config: &Config, index: usize) -> bool {
    // The address counts if there is one: the name is then only the one that a certificate is for.
    if let Some(address) = config.get_hostaddrs().get(index) {
        return address.is_loopback();
    }
    match config.get_hosts().get(index) {
        Some(Host::Unix(_)) => true,
        Some(Host::Tcp(name)) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        None => false,
    }
}

fn take_parameter(url: &str, name: &str) -> (String, Option<String>) {
    let Some((before, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (taken, kept): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|pair| pair.split('=').next() == Some(name));
    let value = taken.first().and_then(|pair| pair.split_once('=')).map(|(_, value)| decode(value));
    (format!("{before}?{}", kept.join("&")), value)
}

/// Decodes `%2F` and the like.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let (b'%', Some(byte)) = (first, byte) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_taken_out_and_decoded() {
        let check = |url, left: &str, value: Option<&str>| {
            assert_eq!(take_parameter(url, "sslrootcert"), (left.into(), value.map(str::to_owned)));
        };
        check("postgres://a/b", "postgres://a/b", None);
        check("postgres://a?x=1&sslrootcert=%2Fc%2fd&y=2", "postgres://a?x=1&y=2", Some("/c/d"));
        check("postgres://a?sslrootcert=100%", "postgres://a?", Some("100%"));
    }

    #[test]
    fn a_password_that_is_compared_in_another_form_is_refused_and_not_shown() {
        let parse = |password: &str| {
            let url = format!("postgres://a:{password}@127.0.0.1/d");
            ServerAddress::parse(&HiddenText::new(url)).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(parse("na%C3%AFve"), Ok(()));
        let told = parse("nai%CC%88ve").unwrap_err();
        assert!(told.contains("give the login another one") && !told.contains("ve-"), "{told}");
        assert!(!told.contains("nai"), "{told}");
    }

    #[test]
    fn another_host_is_reached_by_tls_alone() {
        let mode = |url: &str| {
            let parsed = ServerAddress::parse(&HiddenText::new(url)).map_err(|e| e.to_string());
            parsed.unwrap().hosts[0].get_ssl_mode()
        };
        assert_eq!(mode("postgres://a@127.0.0.1/d"), SslMode::Disable);
        assert_eq!(mode("postgres://a@127.0.0.1/d?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example/d"), SslMode::Require);
        assert_eq!(mode("postgres://a@127.0.0.1,db.example/d?sslmode=prefer"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example/d?sslmode=disable"), SslMode::Disable);
        // The connection goes to the address, whatever the name is.
        assert_eq!(mode("postgres://a@localhost/d?hostaddr=10.0.0.5"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example/d?hostaddr=127.0.0.1"), SslMode::Disable);
        // The modes of libpq in which the certificate is checked.
        assert_eq!(mode("postgres://a@127.0.0.1/d?sslmode=verify-full"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example/d?user=b&sslmode=verify-ca"), SslMode::Require);
    }

    #[test]
    fn each_host_has_a_config_of_its_own() {
        let url = "postgres://ada:pass@one:1,two:2/d?options=-c%20x%3Dy&connect_timeout=7";
        let parsed = ServerAddress::parse(&HiddenText::new(url)).map_err(|error| error.to_string());
        let ServerAddress { hosts, limit, .. } = parsed.unwrap();
        assert_eq!(limit, Duration::from_secs(7));
        let [one, two] = &hosts[..] else { panic!("two hosts") };
        for (config, name, port) in [(one, "one", 1), (two, "two", 2)] {
            assert_eq!(config.get_hosts(), [Host::Tcp(name.to_owned())]);
            assert_eq!((config.get_ports(), config.get_user()), (&[port][..], Some("ada")));
            assert_eq!((config.get_dbname(), config.get_options()), (Some("d"), Some("-c x=y")));
            assert_eq!(config.get_password(), Some(&b"pass"[..]));
        }
        let parsed = ServerAddress::parse(&HiddenText::new("postgres://a@one,two:6/d"));
        let hosts = parsed.map_err(|error| error.to_string()).unwrap().hosts;
        assert_eq!(hosts.iter().map(|it| it.get_ports()[0]).collect::<Vec<_>>(), [5432, 6]);
    }
}
