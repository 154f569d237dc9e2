//! A `PostgreSQL` server of the tests' own: Debian's programs, a temporary folder, a Unix socket
//! and a port on loopback.

use std::env;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::process::{Pid, Signal, kill_process};

use crate::certificates::{TestAuthority, run_command};
use crate::kept_port::KeptPort;
use crate::tools::postgres_program;
use crate::{proc, until};

/// The password of the administrator.
pub const PASSWORD: &str = "opensesame-7431";
/// Names the folder of the one server that all test programs of a run share. `scripts/test` sets
/// it, and ends the server.
const RUN_FOLDER: &str = "CALLGATE_TEST_POSTGRES";

/// A server. Its folder is removed and its processes end with the test program, however that ends,
/// or with the run.
pub struct PostgresServer {
    pub folder: PathBuf,
    pub port: u16,
    _kept_port: KeptPort,
    databases: AtomicU32,
    /// Ends the server when its standard input is closed; none for the server of a run.
    keeper: Option<Child>,
    /// Whoever kills the server waits until no other test uses it.
    used: RwLock<()>,
}

/// Returns the server that all tests share, or `None` if `PostgreSQL` is not installed.
pub fn shared_server() -> Option<&'static PostgresServer> {
    static SERVER: OnceLock<Option<PostgresServer>> = OnceLock::new();
    let start = || {
        if let Some(folder) = env::var_os(RUN_FOLDER) {
            return PostgresServer::of_run(folder.into());
        }
        let server = PostgresServer::create()?;
        server.make_certificate();
        server.start();
        Some(server)
    };
    SERVER.get_or_init(start).as_ref()
}

/// Returns the folder of the programs of `PostgreSQL`.
fn programs() -> Option<PathBuf> {
    Some(postgres_program()?.parent()?.to_owned())
}

/// Runs a program of `PostgreSQL` as a user that is not root.
pub fn postgres_command(program: &str) -> Command {
    let path = programs().unwrap().join(program);
    if !rustix::process::geteuid().is_root() {
        return Command::new(path);
    }
    let (user, group) = server_user();
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".into()]);
    command.arg(path);
    command
}

/// Returns the user of Debian's package, which exists where the programs do.
fn server_user() -> (u32, u32) {
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|line| line.starts_with("postgres:")).expect("a user postgres");
    let fields: Vec<&str> = line.split(':').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}

fn give_to_server(path: &Path) {
    if rustix::process::geteuid().is_root() {
        let (user, group) = server_user();
        chown(path, Some(user), Some(group)).unwrap();
    }
}

impl PostgresServer {
    /// Makes an empty cluster.
    pub fn create() -> Option<Self> {
        let server = Self::create_folder()?;
        server.init_cluster();
        Some(server)
    }

    /// Returns the server of the whole run, which the first test program makes and the others find.
    fn of_run(folder: PathBuf) -> Option<Self> {
        programs()?;
        let (databases, used) = (AtomicU32::new(0), RwLock::default());
        let kept = KeptPort::choose();
        let port = kept.number();
        let mut server = Self { folder, port, _kept_port: kept, databases, keeper: None, used };
        if !server.data().exists() {
            give_to_server(&server.folder);
            server.init_cluster();
            server.make_certificate();
        }
        let running = server.running();
        // It may have been started in another network namespace.
        let is_reached = |port: &u16| TcpStream::connect(("127.0.0.1", *port)).is_ok();
        if let Some(port) = running.map(|(_, port)| port).filter(is_reached) {
            server.port = port;
        } else {
            if running.is_some() {
                server.kill();
            }
            server.start();
        }
        Some(server)
    }

    fn init_cluster(&self) {
        let password = self.folder.join("password");
        fs::write(&password, PASSWORD).unwrap();
        give_to_server(&password);
        let mut init = postgres_command("initdb");
        init.arg("-D").arg(self.data()).args(["-U", "admin", "--no-sync", "--pwfile"]);
        init.arg(&password).args(["--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8"]);
        run_command(init);
    }

    /// Makes a folder for a cluster, with whoever ends its server.
    pub fn create_folder() -> Option<Self> {
        programs()?;
        let folder = tempfile::Builder::new().prefix("cg-pg").tempdir().unwrap().keep();
        give_to_server(&folder);
        let script = "cat >/dev/null; cd / \n\
            pid=$(head -n1 \"$0/data/postmaster.pid\" 2>/dev/null) && kill -QUIT $pid \n\
            while [ -n \"$pid\" ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done; rm -rf \"$0\"";
        let keeper = Command::new("setsid")
            .args(["sh", "-c", script])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let kept = KeptPort::choose();
        Some(Self {
            folder,
            port: kept.number(),
            _kept_port: kept,
            databases: AtomicU32::new(0),
            keeper: Some(keeper),
            used: RwLock::default(),
        })
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Makes an authority with a certificate for `localhost`, and turns TLS on.
    pub fn make_certificate(&self) {
        let (key, certificate) = (self.data().join("server.key"), self.data().join("server.crt"));
        TestAuthority::create(&self.folder).certify("DNS:localhost", &certificate, &key);
        rustix::fs::chmod(&key, rustix::fs::Mode::RUSR).unwrap();
        give_to_server(&key);
        give_to_server(&certificate);
        let settings = self.data().join("postgresql.conf");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("{text}\nssl = on\n")).unwrap();
    }

    /// Returns the certificate of the server's authority.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("ca.crt")
    }

    /// Starts the server, and waits until it accepts connections.
    pub fn start(&self) {
        // A killed process loses nothing that it has given to the kernel.
        self.start_with(&["-c", "fsync=off"]);
    }

    pub fn start_with(&self, options: &[&str]) {
        let options = format!(
            "-p {} -c unix_socket_directories={} -c max_connections=60 -c listen_addresses=127.0.0.1 {}",
            self.port,
            self.folder.display(),
            options.join(" ")
        );
        let mut start = postgres_command("pg_ctl");
        start.arg("-D").arg(self.data()).arg("-l").arg(self.data().join("log"));
        start.args(["-w", "-s", "-o", &options, "start"]);
        run_command(start);
    }

    /// Returns the id of the server's first process, the parent of all others.
    pub fn pid(&self) -> u32 {
        self.running().expect("the server runs").0
    }

    /// Returns the first process and the port of the server, if it runs.
    fn running(&self) -> Option<(u32, u16)> {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        let mut lines = file.lines();
        let (pid, port) = (lines.next()?.parse().ok()?, lines.nth(2)?.parse().ok()?);
        proc::is_running(pid).then_some((pid, port))
    }

    /// Sends a signal to all processes of the server, and returns them.
    pub fn signal(&self, signal: Signal) -> Vec<u32> {
        let parent = self.pid();
        let children = proc::all().into_iter().filter(|it| it.parent == parent).map(|it| it.pid);
        let all: Vec<u32> = std::iter::once(parent).chain(children).collect();
        for pid in &all {
            let pid = Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
            kill_process(pid, signal).ok();
        }
        all
    }

    /// Kills all processes of the server at once.
    pub fn kill(&self) {
        let (_, port) = self.running().expect("the server runs");
        let all = self.signal(Signal::KILL);
        until::until("the end of the server's processes", || {
            !all.iter().any(|pid| proc::is_running(*pid))
        });
        // A zombie that nobody has waited for yet would be taken for a running server.
        for lock in
            [self.data().join("postmaster.pid"), self.folder.join(format!(".s.PGSQL.{port}.lock"))]
        {
            fs::remove_file(lock).unwrap();
        }
    }

    /// Makes a standby on which every commit waits.
    pub fn make_standby(&self) -> Self {
        let standby = Self::create_folder().unwrap();
        let mut copy = postgres_command("pg_basebackup");
        copy.arg("-D").arg(standby.data()).args(["-R", "-X", "stream", "-c", "fast"]);
        copy.args(["-U", "admin", "-h"]).arg(&self.folder).args(["-p", &self.port.to_string()]);
        run_command(copy);
        standby.start();
        self.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.query("postgres", "SELECT pg_reload_conf()");
        until::until("the standby", || {
            self.query("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync"
        });
        standby
    }

    /// Goes on without its standby, which gets nothing more and does not run.
    pub fn leave_behind(&self, standby: &Self) {
        self.query("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
        self.query("postgres", "SELECT pg_reload_conf()");
        standby.kill();
    }

    /// Makes a standby the server that accepts writes.
    pub fn promote(&self) {
        let mut promote = postgres_command("pg_ctl");
        promote.args(["promote", "-D"]).arg(self.data());
        run_command(promote);
    }

    /// Runs a statement as the administrator.
    pub fn query(&self, database: &str, sql: &str) -> String {
        let output = self.try_query(database, sql);
        output.unwrap_or_else(|errors| panic!("{sql}: {errors}"))
    }

    pub fn try_query(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = postgres_command("psql");
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "admin", "-d", database, "-c", sql]);
        psql.arg("-h").arg(&self.folder).arg("-p").arg(self.port.to_string());
        let output = psql.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap().trim().to_owned();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }

    /// Makes an empty database, and returns its name.
    pub fn make_database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("team_{}_{number}", process::id());
        self.query("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// Returns the address of a database for the administrator.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://admin:{PASSWORD}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Keeps the server from being killed by another test.
    pub fn use_server(&self) -> RwLockReadGuard<'_, ()> {
        self.used.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until no other test uses the server.
    pub fn own_server(&self) -> RwLockWriteGuard<'_, ()> {
        self.used.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.keeper.is_some() && self.running().is_some() {
            self.kill();
        }
    }
}
