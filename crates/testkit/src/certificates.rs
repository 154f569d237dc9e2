//! Certificates for servers of the tests, made by OpenSSL.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An authority that is trusted by nobody but a test.
pub struct TestAuthority {
    key: PathBuf,
    /// Its certificate, in PEM.
    pub certificate: PathBuf,
}

impl TestAuthority {
    /// Makes an authority in a folder, as `ca.key` and `ca.crt`.
    #[must_use]
    pub fn create(folder: &Path) -> Self {
        let authority = Self { key: folder.join("ca.key"), certificate: folder.join("ca.crt") };
        let mut make = request_command("/CN=team");
        make.arg("-keyout").arg(&authority.key).arg("-out").arg(&authority.certificate);
        run_command(make);
        authority
    }

    /// Makes a certificate for a server, such as for `DNS:localhost` or `IP:127.0.0.1`.
    pub fn certify(&self, name: &str, certificate: &Path, key: &Path) {
        let mut make = request_command("/CN=localhost");
        make.args(["-addext", &format!("subjectAltName={name}")]);
        make.args(["-addext", "basicConstraints=critical,CA:FALSE", "-CA"]).arg(&self.certificate);
        make.arg("-CAkey").arg(&self.key).arg("-keyout").arg(key).arg("-out").arg(certificate);
        run_command(make);
    }
}

fn request_command(subject: &str) -> Command {
    let mut make = Command::new("openssl");
    make.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    make.args(["-nodes", "-days", "2", "-subj", subject]);
    make
}

/// Runs what has to succeed, and returns what it printed.
pub fn run_command(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}
