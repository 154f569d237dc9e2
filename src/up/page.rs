//! The page of `callgate up`, and the links that open it.

use std::env;

use callgate_approval::daemon::DeskHandle;
use callgate_web::{PageAddress, PageHost, PageLimits, PageOptions, RuntimeCommand};

use crate::config::{Config, SettingOrigin};
use crate::failure::write_error_line;
use crate::open::browser;

/// Serves the page, if the settings say so. A desk whose page cannot be served works without it.
pub(super) async fn serve_page(config: &Config, desk: &DeskHandle) -> Option<PageHost> {
    if !config.page.enabled {
        return None;
    }
    let options = PageOptions {
        desk_socket: config.desk_socket.value.clone(),
        port: config.page.port,
        limits: PageLimits::default(),
        runtime: runtime_command(config),
    };
    let started = PageHost::start(options);
    let page = started
        .inspect_err(|error| write_error_line(&format!("the page is not served: {error}")))
        .ok()?;
    // Keys of pages are bound to the address, so the desk has to know it before one is used.
    if !desk.page_served(page.address().origins().into()).await {
        write_error_line("the page is not served: the ledger cannot be written");
        return None;
    }
    Some(page)
}

/// Returns how the runtime of the chat is started: this program, with the settings of this desk.
fn runtime_command(config: &Config) -> Option<RuntimeCommand> {
    let program = env::current_exe().inspect_err(|error| {
        write_error_line(&format!(
            "the page has no chat, because the path of this program is unknown: {error}"
        ));
    });
    let mut args = vec!["agent".into()];
    // The usual file is found by the runtime itself, and may be made later.
    if let Some(file) = config.file.as_ref().filter(|file| file.origin != SettingOrigin::Default) {
        args.extend(["--config".into(), file.value.clone().into()]);
    }
    // These may come from the command line of this desk, which the settings file does not know.
    let variables = [
        ("CALLGATE_SOCKET", &config.socket.value),
        ("CALLGATE_DESK_SOCKET", &config.desk_socket.value),
        ("CALLGATE_DATABASE", &config.database),
        ("CALLGATE_RULES", &config.rules),
    ];
    let variables = variables.map(|(name, path)| (name.into(), path.clone().into())).to_vec();
    let home = env::home_dir().filter(|home| home.is_absolute());
    Some(RuntimeCommand { program: program.ok()?, args, env: variables, home })
}

/// Makes links that open the page, for whoever sits at the desk's terminal.
#[derive(Debug)]
pub(super) struct PageLinks {
    pub(super) address: PageAddress,
    pub(super) desk: DeskHandle,
    /// The name of whoever sits there.
    pub(super) name: String,
}

impl PageLinks {
    /// Returns a line with a new link. Waits until the desk has recorded its code.
    pub(super) fn blocking_line(&self) -> String {
        match self.desk.blocking_page_code(&self.name) {
            Some((code, lifetime)) => format!(
                "The page, for the next {} seconds and one browser:\n  {}\n",
                lifetime.as_secs(),
                self.address.pairing_link(code.reveal())
            ),
            None => "No link to the page could be made: the ledger cannot be written.\n".to_owned(),
        }
    }

    /// Opens the page for somebody who sees callgate for the first time. Returns what to print.
    pub(super) fn first_line(&self) -> String {
        let line = self.blocking_line();
        match browser::open_page(self.address) {
            Ok(()) => {
                format!("{line}Your browser opens it: type the code there, or use the link.\n")
            }
            // Without a browser the link is there.
            Err(_) => line,
        }
    }
}
