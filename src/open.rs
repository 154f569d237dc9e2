//! `callgate open`: opens the page in a browser.

pub(crate) mod browser;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::DeskError;
use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_web::{PageAddress, address_path};
use callgate_wire::desk::{DeskAnswer, DeskCommand};

use crate::config::{Config, DeskFlags, load_config};
use crate::failure::Failure;
use crate::pair::say_waiting;

/// How long the page may take to be served after the desk has started.
const STARTS_WITHIN: Duration = Duration::from_secs(3);
/// How often the address is looked for meanwhile.
const PAUSE: Duration = Duration::from_millis(20);

/// Open the page in your browser
///
/// Prints a link to the page of `callgate up`. The link contains a code that links one browser,
/// which may answer your agents' questions from then on. If anybody is or was linked before,
/// somebody has to allow it: on a linked phone, on the page, or in the terminal of `callgate up`,
/// where the key o prints such a link, too.
#[derive(Debug, clap::Args)]
pub(crate) struct OpenArgs {
    /// Print the link only
    #[arg(long)]
    no_browser: bool,
}

impl OpenArgs {
    /// Prints a link and opens the page.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        // A desk that does not run is reported as such, before its page is waited for.
        let mut viewer = Viewer::connect(&config.desk_socket.value)?;
        let address = page_address(&config)?;
        let (code, seconds) = request_page_code(&mut viewer)?;
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "Open this link in your browser, within {seconds} seconds:\n\n    {}",
            address.pairing_link(&code)
        )?;
        if !self.no_browser && browser::has_display() && browser::open_page(address).is_ok() {
            writeln!(out, "\nYour browser opens the page: the code is {code}")?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the address of the page. A desk that has just started serves it a moment later.
fn page_address(config: &Config) -> Result<PageAddress, Failure> {
    let socket = &config.desk_socket.value;
    let end = Instant::now() + STARTS_WITHIN;
    let read = loop {
        match PageAddress::read_for_desk(socket) {
            Ok(None) if config.page.enabled && Instant::now() < end => thread::sleep(PAUSE),
            read => break read,
        }
    };
    match read {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err("`callgate up` serves no page: set `page.enabled` to true, or see what it said when it \
             started".into()),
        Err(error) => {
            let path = address_path(socket);
            Err(Failure::Failed(format!("cannot read {}: {error}", path.display())))
        }
    }
}

/// Returns a code for a page, and how many seconds it can be used.
fn request_page_code(viewer: &mut Viewer) -> Result<(String, u64), Failure> {
    let command = DeskCommand::Code { page: true };
    match viewer.ask_people(command, PATIENCE, &mut say_waiting)? {
        DeskAnswer::Code { code, seconds } => Ok((code.reveal().to_owned(), seconds)),
        DeskAnswer::Told { text, .. } => Err(Failure::Failed(text)),
        _ => Err(DeskError::Unexpected.into()),
    }
}
