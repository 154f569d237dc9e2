//! The desk that a relay starts where none runs: without terminal, page and phone.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;

use callgate_approval::daemon::Daemon;
use callgate_store::Store;
use callgate_wire::HiddenText;
use rustix::process::{DumpableBehavior, set_dumpable_behavior, setsid};

use crate::config::Config;
use crate::failure::Failure;
use crate::relay::{LONGEST_KEY, READY};
use crate::team::TeamLineKeeper;
use crate::terminal::interruptions::Interruptions;
use crate::up;

/// Runs the desk until it is stopped.
pub(super) fn run_box_desk(config: &Config) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("cannot start: {error}"));
    // It outlives the session in which it was started, unless it leads one of its own.
    setsid().ok();
    // Otherwise every process of the same user could read the key from our memory, and press with
    // it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| failed(error.into()))?;
    let key = io::read_to_string(io::stdin().take(LONGEST_KEY)).map_err(failed)?;
    let key = HiddenText::new(key.trim());
    // Whoever guesses the key may press, so a short one is refused.
    if key.reveal().len() < callgate_wire::desk::SHORTEST_GATE {
        let text = "`callgate relay --desk` is started by a relay: run `callgate up` instead";
        return Err(Failure::Usage(text.to_owned()));
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let mut interruptions = Interruptions::listen().map_err(failed)?;
        let claim = up::claim_sockets(config)?;
        let store = Store::open(&config.database)?;
        let warn = up::warn_on_stderr();
        let mut options = up::daemon_options(config, claim, store, None, None, Arc::clone(&warn));
        options.authority.add_relay(&key);
        let daemon = Daemon::start(options).map_err(|error| up::cannot_open(&error))?;
        // A CI job of a team has its desk started in this way, too, and no relay carries its line.
        let line = TeamLineKeeper::new(config, &daemon, warn);
        let mut output = io::stdout();
        // The relay connects when it has read this, so it is printed only now that the desk serves.
        writeln!(output, "{READY}")?;
        output.flush()?;
        tokio::select! {
            () = interruptions.next() => {}
            () = daemon.wait_for_end() => {}
            () = line.keep_line() => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}
