//! `callgate relay`: the end of a line at a box, on standard input and output.

mod box_desk;

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use callgate_relay::LinePort;

use crate::config::{DeskFlags, load_config};
use crate::failure::{Failure, write_error_line};
use crate::relay::{DeskEntrance, RelayDeskPlace, serve_line};

/// Serve a desk above over standard input and output
///
/// `callgate remote add` on another machine starts this command here over ssh. The desk of this
/// machine decides by its rules, and people at the desk above answer what is left. If no desk runs
/// here, one is started, which outlives the line.
#[derive(Debug, clap::Args)]
pub(crate) struct RelayArgs {
    /// Run the desk that a relay has started, with the key on standard input
    #[arg(long, hide = true, conflicts_with = "stop")]
    desk: bool,
    /// Stop the desk that a relay has started, if there is one
    #[arg(long, hide = true)]
    stop: bool,
}

impl RelayArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        if self.desk {
            return box_desk::run_box_desk(&config);
        }
        let place = RelayDeskPlace::new(&config, file);
        if self.stop {
            place.stop_own_desk()?;
            return Ok(ExitCode::SUCCESS);
        }
        let failed = |error: io::Error| Failure::Failed(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let port = LinePort::open(io::stdin(), io::stdout()).map_err(failed)?;
        let why = runtime.block_on(serve_line(
            DeskEntrance::Relay(place),
            port,
            Arc::new(write_error_line),
        ));
        // A desk that is just being started needs no more attention.
        runtime.shutdown_background();
        match why {
            Some(why) => Err(Failure::Failed(why)),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}
