//! `callgate up`: the desk, at which agents ask and people answer.

mod banner;
mod keys;
mod page;
mod service;
mod socket_folder;
mod team;

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use callgate_approval::daemon::{Claim, Daemon, DaemonOptions, Warn};
use callgate_approval::desk::{Authority, DeskSettings};
use callgate_approval::telegram;
use callgate_mask::text::{self, Measure};
use callgate_policy::ServedRules;
use callgate_store::{Store, StoreError};
use callgate_surroundings::read_live_rules;
use callgate_web::{PageAddress, PageHost};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio::sync::mpsc;

use crate::agents::starting_mode::gated_agents;
use crate::config::{
    Config, DeskFlags, SettingOrigin, load_config, process_surroundings, token_source,
};
use crate::failure::{Failure, write_error_line};
use crate::invocation;
use crate::left_open::left_open;
use crate::machines::session::SessionHome;
use crate::open::browser;
use crate::remote::RemoteKeeper;
use crate::rules::UserRules;
use crate::secrets::read_secret;
use crate::served_settings::ServedSettings;
use crate::team::{LiveRoles, TeamLineKeeper, follow_team_rules};
use crate::terminal::interruptions::Interruptions;
use crate::terminal::modes::has_terminal;
use crate::terminal::width::wrapped_for_terminal;
use banner::Answerers;
use keys::Keyboard;
use socket_folder::check_private;

/// How many orders, and how many warnings, may wait for the terminal.
const QUEUE: usize = 1024;
/// How long a page may take to be loaded again before it counts as gone.
const VIEWER_GRACE: Duration = Duration::from_secs(10);
/// The longest warning, in characters.
const LONGEST_WARNING: usize = 500;

/// Open the desk: agents ask, you answer
///
/// Agents with callgate's hook ask here before they do something risky. Questions appear in this
/// terminal, where a key answers them, and on your phone once Telegram is set up. Everything that
/// is asked, pressed and decided is kept in a ledger (see `callgate log`). It needs no
/// settings and runs until it is interrupted.
#[derive(Debug, clap::Args)]
pub(crate) struct UpArgs {
    /// Show no questions in this terminal
    #[arg(long)]
    no_terminal: bool,
    /// Run as a service of systemd's user manager, now and at every login
    #[arg(long)]
    service: bool,
    /// Stop the service and remove it
    #[arg(long, requires = "service")]
    remove: bool,
    // Last, because its heading in the help applies to whatever follows.
    #[command(flatten)]
    flags: DeskFlags,
}

impl UpArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        if self.service {
            return self.manage_service(file);
        }
        let failed = |error: io::Error| Failure::Failed(format!("cannot start: {error}"));
        // No process of the same user may read the bot's token, a code or a secret from our memory,
        // or press in our place: no core file, no ptrace, no /proc/PID/mem.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|error| failed(error.into()))?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        // A signal during the start leads to a proper end, too.
        let interruptions = {
            let _entered = runtime.enter();
            Interruptions::listen().map_err(failed)?
        };
        let config = load_config(file, &self.flags)?;
        let has_terminal = !self.no_terminal && has_terminal();
        runtime.block_on(serve_desk(&config, has_terminal, interruptions))?;
        // The desk's threads end with the process; they have nothing left to write.
        Ok(ExitCode::SUCCESS)
    }

    fn manage_service(&self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &self.flags)?;
        if self.remove {
            service::remove_unit()?;
        } else {
            let odd = || Failure::Failed("a setting on the command line is not UTF-8".to_owned());
            let words = self.flags.command_line_words(&process_surroundings()).ok_or_else(odd)?;
            service::install_unit(&config, &words)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn serve_desk(
    config: &Config,
    has_terminal: bool,
    mut interruptions: Interruptions,
) -> Result<(), Failure> {
    let (orders_in, orders) = mpsc::channel(QUEUE);
    // A second desk fails here, before anything is created.
    let claim = claim_sockets(config)?;
    let telegram = bot_settings(config)?;
    let store = Store::open(&config.database).map_err(|error| no_ledger(&error))?;
    let links = store.chained_links().map_err(|error| no_ledger(&error))?.standing;
    // This is read before the daemon starts, because the daemon records that it has started.
    let is_fresh = store.last_seq().map_err(|error| no_ledger(&error))? == 0;
    let warn = warn_on_stderr();
    let terminal = has_terminal.then_some(orders_in);
    let options = daemon_options(config, claim, store, telegram, terminal, Arc::clone(&warn));
    let daemon = Daemon::start(options).map_err(|error| cannot_open(&error))?;
    let sessions = SessionHome::of_desk(&daemon, &config.database, Arc::clone(&warn));
    let remotes = RemoteKeeper::new(config.database.clone(), sessions.clone());
    let remotes = tokio::spawn(remotes.keep_sessions());
    let served_team = team::serve_team(config, sessions, daemon.desk())?;
    let team_line = TeamLineKeeper::new(config, &daemon, Arc::clone(&warn));
    let page = page::serve_page(config, &daemon.desk()).await;
    let address = page.as_ref().map(PageHost::address);
    print_and_flush(&greeting_text(
        config,
        Answerers::from_links(config, has_terminal, &links),
        address,
    ))?;
    if let Some(team) = &served_team {
        print_and_flush(&team.greeting())?;
    }
    let opens_page = is_fresh && browser::has_display();
    let mut keyboard = if has_terminal {
        Keyboard::start(orders, daemon.desk(), address, opens_page).ok()
    } else {
        None
    };
    let ended = tokio::select! {
        () = interruptions.next() => Ok(()),
        // Waiting hooks find the next daemon, or fall back; a dead desk answers nobody.
        () = daemon.wait_for_end() => Err(
            "the desk ended because of a bug in callgate: start it again, and please report it".into()
        ),
        followed = follow_job_control(keyboard.as_mut()) => followed
            .map_err(|error| Failure::Failed(format!("cannot follow the terminal: {error}"))),
        // These two are only polled here: neither ends by itself.
        () = follow_team_rules(config, &warn) => Ok(()),
        () = team_line.keep_line() => Ok(()),
    };
    let open = keyboard.as_ref().map(Keyboard::open_questions).unwrap_or_default();
    // The terminal is restored before the last words are printed.
    drop(keyboard);
    drop(page);
    drop(served_team);
    remotes.abort();
    // The daemon goes last, because the page, the remotes and the team still use it while they end.
    drop(daemon);
    print_and_flush(&wrapped_for_terminal(&left_open(&open, config.grace_seconds), 0)).ok();
    ended
}

/// Hands the terminal to the shell while this program is stopped. Without a terminal there is
/// nothing to do.
async fn follow_job_control(keyboard: Option<&mut Keyboard>) -> io::Result<()> {
    match keyboard {
        Some(keyboard) => keyboard.follow_job_control().await,
        None => std::future::pending().await,
    }
}

fn no_ledger(error: &StoreError) -> Failure {
    Failure::Failed(format!("cannot keep the ledger: {error}"))
}

pub(crate) fn claim_sockets(config: &Config) -> Result<Claim, Failure> {
    for socket in [&config.socket, &config.desk_socket] {
        // Only the usual folder is checked, because a path of the user's own choice may be in a
        // folder that others can enter: the socket itself is private.
        if let (SettingOrigin::Default, Some(folder)) = (&socket.origin, socket.value.parent()) {
            check_private(folder).map_err(|why| cannot_open(&why))?;
        }
    }
    let claim = Claim::claim_sockets(&config.socket.value, &config.desk_socket.value);
    let claim = claim.map_err(|error| cannot_open(&error))?;
    Ok(claim.with_legacy(config.legacy_socket.0.clone()))
}

pub(crate) fn daemon_options(
    config: &Config,
    claim: Claim,
    store: Store,
    telegram: Option<telegram::BotSettings>,
    terminal: Option<mpsc::Sender<callgate_approval::channel::ChannelOrder>>,
    warn: Warn,
) -> DaemonOptions {
    let settings = DeskSettings {
        timeout: config.timeout_seconds,
        grace: config.grace_seconds,
        viewer_grace: VIEWER_GRACE,
        phone_after: config.phone_after_seconds,
        notify_on_stop: config.notify_on_stop,
        notify_on_wait: config.notify_on_wait,
        record_runs: config.record_runs,
        terminal: terminal.is_some(),
        phones: telegram.is_some(),
        unattended: config.gate.unattended,
        key: [0; 32],
    };
    let authority = Authority {
        chats: config.telegram.allowed_chats.value.iter().copied().collect(),
        users: config.telegram.allowed_users.value.iter().copied().collect(),
        ..Authority::default()
    };
    let ruler = Arc::new(read_live_rules(config, Arc::clone(&warn)));
    let rule_desk = ServedRules::new(config, Box::new(UserRules::new(config)), Arc::clone(&ruler));
    DaemonOptions {
        claim,
        store,
        settings,
        authority,
        roles: Some(Arc::new(LiveRoles::new(config, Arc::clone(&warn)))),
        ruler: Arc::new(move |request| ruler.judge_request(request)),
        rule_desk: Some(Arc::new(rule_desk)),
        settings_desk: Some(Arc::new(ServedSettings::new(config))),
        telegram,
        terminal,
        warn,
    }
}

fn bot_settings(config: &Config) -> Result<Option<telegram::BotSettings>, Failure> {
    let Some(token) = &config.telegram.token else { return Ok(None) };
    let token = read_secret(&token.value, token_source::BOT)?;
    let token = telegram::BotToken::new(token.reveal())
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let api_url = config.telegram.api_url.to_string();
    Ok(Some(telegram::BotSettings { api_url, ..telegram::BotSettings::new(token) }))
}

pub(crate) fn cannot_open(error: &dyn fmt::Display) -> Failure {
    Failure::Failed(format!("cannot open the desk: {error}"))
}

/// Returns the banner: what is served, who can answer, what callgate does in the modes in which
/// agents start, and what is still to be done.
fn greeting_text(config: &Config, who: Answerers, page: Option<PageAddress>) -> String {
    let socket = config.socket.value.display().to_string();
    let page = page.map(|address| address.to_string());
    let agents = gated_agents(config, &process_surroundings());
    let text = banner::render_banner(
        &socket,
        who,
        page.as_deref(),
        &agents,
        &invocation::shell_command(config),
    );
    wrapped_for_terminal(&text, 2)
}

fn print_and_flush(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    output.write_all(text.as_bytes())?;
    Ok(output.flush()?)
}

/// Returns a function that writes warnings to standard error. It never blocks: if nobody reads,
/// warnings are dropped.
pub(crate) fn warn_on_stderr() -> Warn {
    let (said_in, said) = std::sync::mpsc::sync_channel::<String>(QUEUE);
    thread::spawn(move || {
        for what in said {
            write_error_line(&what);
        }
    });
    Arc::new(move |what| {
        // A warning may contain names that an agent has chosen.
        let what = text::one_line(what);
        said_in
            .try_send(text::cut_to_length(&what, LONGEST_WARNING, Measure::Chars).to_owned())
            .ok();
    })
}
