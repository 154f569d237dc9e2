//! The listener of `callgate up --listen` for the machines, jobs and people of a team. It has a
//! thread of its own: their handshakes hold up no verdict.

use std::sync::{Arc, mpsc};
use std::thread;

use callgate_approval::daemon::{DeskHandle, Warn};
use callgate_web::{
    AccountProvider, PageLimits, TeamHost, TeamHostOptions, TeamPageOptions, machine_routes,
    team_page_routes,
};
use tokio::sync::watch;

use super::cannot_open;
use crate::config::{Config, TokenSource, token_source};
use crate::failure::Failure;
use crate::machines::ledgers::MachineLedgers;
use crate::machines::session::SessionHome;
use crate::secrets::read_secret;
use crate::shared_questions::SharedQuestions;
use crate::team::find_proxy;
use crate::team_database::TeamDatabase;
use crate::team_desk::{
    CompanyAccounts, DeskCertificates, TeamDesk, certificate_names, reached_at,
};
use crate::terminal::width::wrapped_for_terminal;

/// How many connections may be open that carry no line yet: all machines of a team come at once
/// when its desk is back.
const MOST_STRANGERS: usize = 1024;

/// A listener that serves until this is dropped.
pub(super) struct ServedTeam {
    /// Where members reach the desk.
    pub(super) address: String,
    _serving: watch::Sender<()>,
}

impl ServedTeam {
    /// Says where the team reaches this desk.
    pub(super) fn greeting(&self) -> String {
        let text = format!(
            "The team's desk is at {}. To let somebody in: callgate team invite NAME\n",
            self.address
        );
        wrapped_for_terminal(&text, 2)
    }
}

/// Serves the team, if the settings say so.
pub(super) fn serve_team(
    config: &Config,
    mut sessions: SessionHome,
    desk: DeskHandle,
) -> Result<Option<ServedTeam>, Failure> {
    let Some(listen) = config.team.listen else { return Ok(None) };
    let database = TeamDatabase::open(config, Arc::clone(&sessions.warn));
    sessions.database = database.map_err(|why| cannot_open(&why))?;
    if let Some(database) = sessions.database.clone() {
        sessions.ledgers = MachineLedgers::OfTeam(database.clone());
        let (askers, warn) = (sessions.askers.clone(), Arc::clone(&sessions.warn));
        let shared = SharedQuestions::new(database, askers, config.database.clone(), warn);
        sessions.shared = Some(shared);
        // Members know all desks behind one address by one name.
        let address = reached_at(config, listen);
        let host = address.rsplit_once(':').map_or("", |(host, _)| host);
        host.clone_into(&mut sessions.desk_name);
    }
    let certificates = DeskCertificates::open(config).map_err(|why| cannot_open(&why))?;
    let names = certificate_names(config, listen);
    let (board, warn) = (Arc::clone(&sessions.board), Arc::clone(&sessions.warn));
    let desk = TeamDesk::new(config, sessions, desk);
    let page = team_page_routes(TeamPageOptions {
        desk_socket: config.desk_socket.value.clone(),
        // People may come by the name of the desk, and in its own network by its address.
        hosts: vec![reached_at(config, listen), listen.to_string()],
        limits: PageLimits::default(),
        people: Arc::clone(&desk) as Arc<_>,
        accounts: open_accounts(config, warn)?,
    });
    let options = TeamHostOptions {
        listen,
        // It is a function, because certificates end and are renewed while the desk runs.
        identity: Box::new(move || certificates.identity(&names)),
        limits: PageLimits { connections: MOST_STRANGERS, ..PageLimits::default() },
        routes: page.merge(machine_routes(Arc::clone(&desk) as Arc<_>, PageLimits::default())),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| cannot_open(&error))?;
    let (serving, mut ended) = watch::channel(());
    let (started_in, started) = mpsc::channel();
    let serve = async move {
        // The listener needs the runtime of this thread, so whether it has started comes back over
        // a channel.
        let host = match TeamHost::start(options) {
            Ok(host) => host,
            Err(error) => return drop(started_in.send(Err(error))),
        };
        started_in.send(Ok(host.address())).ok();
        tokio::select! {
            () = Arc::clone(&desk).follow_team() => {}
            () = desk.tend_database() => {}
            _ = ended.changed() => {}
        }
    };
    let spawned =
        thread::Builder::new().name("team".to_owned()).spawn(move || runtime.block_on(serve));
    spawned.map_err(|error| cannot_open(&error))?;
    let bound = started.recv().map_err(|error| cannot_open(&error))?;
    let bound = bound.map_err(|error| cannot_open(&error))?;
    let address = format!("https://{}", reached_at(config, bound));
    board.set_listening(&address);
    Ok(Some(ServedTeam { address, _serving: serving }))
}

/// Opens the provider of the company's accounts, if the settings name one.
fn open_accounts(config: &Config, warn: Warn) -> Result<Option<Arc<dyn AccountProvider>>, Failure> {
    let team = config.team.clone();
    let (Some(issuer), Some(client_id)) = (team.oidc_issuer, team.oidc_client_id) else {
        return Ok(None);
    };
    let read = |path| read_secret(&TokenSource::File(path), token_source::CLIENT);
    let client_secret = team.oidc_client_secret_file.map(read).transpose();
    let client_secret = client_secret.map_err(|why| cannot_open(&why))?;
    let proxy = find_proxy(config);
    Ok(Some(Arc::new(CompanyAccounts { issuer, client_id, client_secret, proxy, warn })))
}
