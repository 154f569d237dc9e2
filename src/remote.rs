//! `callgate remote`: other machines whose agents ask here.

mod box_setup;
mod keeper;
mod session;
mod ssh;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::DeskError;
use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_mask::text::{counted_entries, one_line, time_span};
use callgate_rules::DESK_MACHINE;
use callgate_store::{EntryDraft, Store, StoreError, now_ms};
use callgate_wire::desk::{DeskAnswer, DeskCommand, RemoteState, RemoteView};
use callgate_wire::ledger::{LedgerEvent, LinkRemoved, REMOTE_LINK, ViewerPaired};

use crate::config::{Config, DeskFlags, load_config};
use crate::failure::Failure;
use crate::team::NAME_OF_DESK;
use box_setup::BoxSetup;
use ssh::{PROGRAM_FOLDER, RemoteHost};

pub(crate) use keeper::RemoteKeeper;

/// How long a remote may take to be connected after it was added.
const CONNECTED_WITHIN: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(100);
/// Who adds and removes remotes, in the ledger.
const BY: &str = "callgate remote";

/// Answer here what agents on other machines ask
///
/// The machine keeps its own desk, rules and ledger, and decides by its rules on the spot. What is
/// left for people comes here over ssh, while `callgate up` runs.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    command: RemoteCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RemoteCommand {
    Add(RemoteAddArgs),
    List(RemoteListArgs),
    Remove(RemoteRemoveArgs),
}

/// Set up a machine over ssh, and answer its questions here
///
/// Copies this program to ~/.local/share/callgate/bin there and runs `callgate install`. It needs
/// nothing but a login by key: no root, no open port, no sftp. Run it again to bring the machine up
/// to date.
#[derive(Debug, clap::Args)]
struct RemoteAddArgs {
    /// The machine, as ssh knows it: HOST, USER@HOST, or a name in ~/.ssh/config
    #[arg(value_name = "HOST")]
    host: RemoteHost,
    /// A folder with `callgate` and `callgate-hook` for the machine, if it is of another kind
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
}

/// Show the machines, and whether they are connected
#[derive(Debug, clap::Args)]
struct RemoteListArgs {}

/// Take everything back that `add` has done
///
/// Removes the hooks and the program there, stops the desk that was started there, and no longer
/// asks its questions here. Its ledger stays there, and so does the copy here.
#[derive(Debug, clap::Args)]
struct RemoteRemoveArgs {
    /// The machine, as it was named to `add`
    #[arg(value_name = "HOST")]
    host: RemoteHost,
    /// Forget the machine although it cannot be reached
    #[arg(long)]
    force: bool,
}

impl RemoteArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        match self.command {
            RemoteCommand::Add(args) => args.add_remote(&config),
            RemoteCommand::List(RemoteListArgs {}) => list_remotes(&config),
            RemoteCommand::Remove(args) => args.remove_remote(&config),
        }
    }
}

impl RemoteAddArgs {
    fn add_remote(&self, config: &Config) -> Result<ExitCode, Failure> {
        let mut out = io::stdout();
        let mut store = Store::open(&config.database)?;
        let links = store.chained_links()?;
        if !links.team.is_empty() && self.host.as_str() == DESK_MACHINE {
            return Err(NAME_OF_DESK.into());
        }
        if links.team.members.contains_key(self.host.as_str()) {
            return Err(format!("{} is a member of the team already", self.host).into());
        }
        let setup = BoxSetup::look_at(&self.host, self.programs.as_deref())?;
        writeln!(out, "{}: {}, {}", self.host, setup.system, setup.home)?;
        setup.copy_programs()?;
        writeln!(out, "Copied callgate to {}/{PROGRAM_FOLDER}.", setup.home)?;
        out.write_all(setup.install_hooks()?.as_bytes())?;
        let link = format!("{REMOTE_LINK}{}", self.host);
        // The link comes last: a machine that could not be set up is not one that asks here.
        if !links.standing.contains_key(&link) {
            let links = Some(vec![link]);
            record_change(
                &mut store,
                &LedgerEvent::ViewerPaired(ViewerPaired {
                    channel: None,
                    by: BY.to_owned(),
                    links,
                    person: None,
                }),
            )?;
        }
        let said = wait_until_connected(config, self.host.as_str())?;
        writeln!(out, "{said}")?;
        Ok(ExitCode::SUCCESS)
    }
}

impl RemoteRemoveArgs {
    fn remove_remote(&self, config: &Config) -> Result<ExitCode, Failure> {
        let mut out = io::stdout();
        let link = format!("{REMOTE_LINK}{}", self.host);
        let mut store = Store::open(&config.database)?;
        if !store.chained_links()?.standing.contains_key(&link) {
            return Err(format!("{} was not added: see `callgate remote list`", self.host).into());
        }
        // The link is removed last, so that `remove` can be run again if the machine cannot be
        // reached.
        match box_setup::undo_setup(&self.host) {
            Ok(said) => out.write_all(said.as_bytes())?,
            Err(error) if self.force => writeln!(out, "{error}")?,
            Err(error) => {
                return Err(format!(
                    "{error}\nTo forget it all the same: callgate remote remove --force {}",
                    self.host
                )
                .into());
            }
        }
        let removed = LinkRemoved { link, by: BY.to_owned() };
        record_change(&mut store, &LedgerEvent::Unpaired(removed))?;
        // Without a desk there is nothing to disconnect.
        ask_remotes(config).ok();
        writeln!(out, "{} is no longer asked for. The copy of its ledger stays here.", self.host)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn record_change(store: &mut Store, event: &LedgerEvent) -> Result<(), StoreError> {
    store.append_entries(&[EntryDraft::new(now_ms(), None, event)]).map(drop)
}

pub(crate) fn ask_remotes(config: &Config) -> Result<Vec<RemoteView>, DeskError> {
    let mut viewer = Viewer::connect(&config.desk_socket.value)?;
    match viewer.ask(DeskCommand::Remotes, PATIENCE)? {
        DeskAnswer::Remotes { remotes } => Ok(remotes),
        _ => Err(DeskError::Unexpected),
    }
}

/// Waits until the desk has connected a remote that was just added.
fn wait_until_connected(config: &Config, host: &str) -> Result<String, Failure> {
    let end = Instant::now() + CONNECTED_WITHIN;
    loop {
        let remotes = match ask_remotes(config) {
            Ok(remotes) => remotes,
            Err(DeskError::NoDesk(_)) => {
                return Ok("Its questions come here as soon as `callgate up` runs.".to_owned());
            }
            Err(error) => return Err(error.into()),
        };
        let view = remotes.into_iter().find(|view| view.host == host);
        let is_final = |view: &RemoteView| view.state != RemoteState::Connecting;
        match view {
            Some(view) if is_final(&view) || Instant::now() > end => {
                return Ok(remote_line(&view, now_ms()));
            }
            None if Instant::now() > end => {
                return Err("the desk does not take it up: start `callgate up` again".into());
            }
            _ => thread::sleep(LOOK),
        }
    }
}

fn list_remotes(config: &Config) -> Result<ExitCode, Failure> {
    let mut out = io::stdout();
    let store = match Store::open_read_only(&config.database) {
        Err(StoreError::Missing(_)) => None,
        store => Some(store?),
    };
    let links = store.map(|store| store.chained_links()).transpose()?.unwrap_or_default();
    let views = ask_remotes(config);
    if links.remotes().next().is_none() {
        writeln!(out, "There are none. To add one: callgate remote add HOST")?;
    }
    for host in links.remotes() {
        let view = views.as_ref().ok().and_then(|all| all.iter().find(|view| view.host == host));
        match view {
            Some(view) => writeln!(out, "{}", remote_line(view, now_ms()))?,
            None => writeln!(out, "{host}: not connected, since `callgate up` does not run")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes the state of a remote on one line.
pub(crate) fn remote_line(view: &RemoteView, now_ms: i64) -> String {
    one_line(&format!("{}: {}", view.host, describe_standing(view, now_ms))).into_owned()
}

/// Describes the state of a machine whose questions are answered here.
pub(crate) fn describe_standing(view: &RemoteView, now_ms: i64) -> String {
    let RemoteView { state, since_ms, text, user, home, copied, .. } = view;
    let since = u64::try_from(now_ms.saturating_sub(*since_ms)).unwrap_or_default() / 1_000;
    let span = time_span(since);
    let who = match (user, home) {
        (Some(user), Some(home)) => format!(", {user} in {home}"),
        _ => String::new(),
    };
    let why = text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    match state {
        RemoteState::Connected => {
            format!("connected for {span}{who}, {} copied", counted_entries(*copied))
        }
        RemoteState::Connecting => format!("connecting{why}"),
        RemoteState::Waiting => format!("waits for somebody there{why}"),
        RemoteState::Failed => format!("not connected for {span}{why}"),
    }
}
