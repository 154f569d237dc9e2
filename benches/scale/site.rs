//! What an organisation runs: one `PostgreSQL`, two desks that share it, and one address before
//! them.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::time::{Duration, Instant};

use callgate_http::{ProxyChoice, ServiceError, TeamService};
use callgate_testkit::certificates::{TestAuthority, run_command};
use callgate_testkit::postgres_server::{PASSWORD, PostgresServer};
use callgate_wire::relay::{LINE_NUMBER, LINE_PATH, LINE_PROTOCOL};
use tempfile::TempDir;

use crate::address_balancer;
use crate::home::{Daemon, Home};
use crate::kernel;
use crate::machines::TeamOfMachines;
use crate::resource_gauge::{self, MeasuredProcesses};

/// How long the desks may take to serve.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// The server, the desks and their address. All of it ends with this.
pub(crate) struct TeamSite {
    desks: [Daemon; 2],
    pub(crate) homes: [Home; 2],
    pub(crate) server: PostgresServer,
    database: String,
    pub(crate) team: TeamOfMachines,
    /// The one address.
    pub(crate) service: TeamService,
    /// Each desk by itself.
    desk_services: [TeamService; 2],
    _certificates: TempDir,
}

impl TeamSite {
    /// Starts everything for a team of this many machines.
    pub(crate) fn start(machines: usize) -> Self {
        let server = PostgresServer::create().expect("PostgreSQL is installed");
        server.make_certificate();
        // As an administrator would run it: with fsync, and Debian's settings.
        server.start_with(&[]);
        let database = server.make_database();
        let certificates = tempfile::tempdir().unwrap();
        let authority = TestAuthority::create(certificates.path());
        let [certificate, key] = ["desk.crt", "desk.key"].map(|it| certificates.path().join(it));
        authority.certify("IP:127.0.0.1", &certificate, &key);
        // They may be taken between here and the desks' start, which then say so.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let listen = ports.map(|port| port.local_addr().unwrap());
        let address = address_balancer::balance(listen.to_vec());
        let homes = [Home::new(), Home::new()];
        // Both desks know all members before they share them.
        let [team, _] = homes.each_ref().map(|home| TeamOfMachines::record_in(home, machines));
        let url = format!(
            "postgres://admin:{PASSWORD}@localhost:{}/{database}?sslmode=require&sslrootcert={}",
            server.port,
            server.authority().display()
        );
        let desks = std::array::from_fn(|desk| {
            homes[desk].daemon_with(&[
                ("CALLGATE_TEAM_LISTEN", &listen[desk].to_string()),
                ("CALLGATE_TEAM_ADDRESS", &address.to_string()),
                ("CALLGATE_TEAM_CERTIFICATE", &certificate.display().to_string()),
                ("CALLGATE_TEAM_CERTIFICATE_KEY", &key.display().to_string()),
                ("CALLGATE_TEAM_DATABASE_URL", &url),
                ("CALLGATE_TEAM_DESK_NAME", &format!("desk-{}", desk + 1)),
                ("CALLGATE_PAGE_PORT", "0"),
            ])
        });
        let trusted = certificates.path().join("ca.der");
        let mut convert = Command::new("openssl");
        convert.args(["x509", "-outform", "DER", "-in"]).arg(&authority.certificate);
        convert.arg("-out").arg(&trusted);
        run_command(convert);
        let trusted = fs::read(trusted).unwrap();
        let service_at = |address: SocketAddr| {
            let address = format!("https://{address}");
            TeamService::new(&address, Some(&trusted), &ProxyChoice::default()).unwrap()
        };
        let (service, desk_services) = (service_at(address), listen.map(service_at));
        Self {
            desks,
            homes,
            server,
            database,
            team,
            service,
            desk_services,
            _certificates: certificates,
        }
    }

    /// Waits until both desks take machines in: until then they say so to any token.
    pub(crate) async fn wait_until_ready(&self) {
        let end = Instant::now() + READY_WITHIN;
        for service in &self.desk_services {
            loop {
                let refusal = service
                    .open_line(LINE_PATH, LINE_PROTOCOL, "none", (LINE_NUMBER, "1"))
                    .await
                    .err();
                if matches!(refusal, Some(ServiceError::Refused(it)) if it.status == 401) {
                    break;
                }
                assert!(Instant::now() < end, "a desk takes no machines in");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    pub(crate) fn processes(&self) -> MeasuredProcesses {
        let desks = self.desks.each_ref().map(Daemon::pid);
        MeasuredProcesses { desks, server: self.server.pid() }
    }

    /// Returns the memory of the desks and of the server, in megabytes.
    pub(crate) fn memory(&self) -> [f64; 3] {
        let [one, other] = self.processes().desks.map(|desk| kernel::memory(desk, "VmRSS:"));
        [one, other, resource_gauge::server_memory(self.server.pid())]
    }

    /// Returns the number of audit entries, the bytes that they take with their indexes, and the
    /// bytes of the write-ahead log so far.
    pub(crate) fn stored(&self) -> [f64; 3] {
        let query = "SELECT (SELECT count(*) FROM callgate_team.audit) || ' ' ||
            (SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0) FROM pg_inherits
                WHERE inhparent = 'callgate_team.audit'::regclass) || ' ' ||
            (SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'))";
        let row = self.server.query(&self.database, query);
        let mut numbers = row.split(' ').map(|number| number.parse().unwrap());
        [(); 3].map(|()| numbers.next().unwrap())
    }

    /// Returns how many processes of the server serve the desks.
    pub(crate) fn connections(&self) -> usize {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'callgate'";
        self.server.query(&self.database, query).parse().unwrap()
    }
}
