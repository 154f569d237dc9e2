//! What the parts of the shell share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex};

use callgate_client::{ChatRuntimes, ClientSettings};
use tokio::sync::{Mutex, OnceCell};

use crate::arguments::ShellArguments;
use crate::callgate_program::CallgateProgram;
use crate::desk_access::DeskAccess;
use crate::global_shortcut::{GlobalShortcut, ShortcutError};
use crate::notices::DesktopNotices;
use crate::page_watches::PageWatches;
use crate::placement::KeptPlacement;
use crate::shell_settings::CurrentChoices;
use crate::tray::ShellTray;

pub(crate) struct ShellState {
    pub(crate) arguments: ShellArguments,
    pub(crate) program: CallgateProgram,
    pub(crate) settings: CurrentChoices,
    pub(crate) desk: DeskAccess,
    pub(crate) chats: Arc<ChatRuntimes>,
    pub(crate) watches: PageWatches,
    pub(crate) placement: KeptPlacement,
    /// The folder that the user has named at the last start.
    pub(crate) folder: StdMutex<Option<PathBuf>>,
    /// Why the shortcut does not work, if it does not.
    pub(crate) shortcut_problem: StdMutex<Option<String>>,
    /// Locked while the user chooses a folder.
    pub(crate) dialog: Mutex<()>,
    /// The shortcut, or why this desktop has none.
    pub(crate) shortcut: OnceCell<Result<GlobalShortcut, ShortcutError>>,
    pub(crate) tray: OnceCell<ksni::Handle<ShellTray>>,
    pub(crate) notices: OnceCell<DesktopNotices>,
}

impl ShellState {
    pub(crate) fn new(arguments: ShellArguments, placement: KeptPlacement) -> Self {
        let program = CallgateProgram::find();
        // All extensions that a page can show, permissions included: there may be no desk.
        let runtime = ClientSettings::new(program.path()).arg("agent");
        Self {
            folder: StdMutex::new(arguments.folder.clone()),
            shortcut_problem: StdMutex::default(),
            arguments,
            settings: CurrentChoices::default(),
            desk: DeskAccess::new(program.clone()),
            // The runtime ends with the shell, so that a page that is loaded again or whose process
            // has died finds it.
            chats: Arc::new(ChatRuntimes::new(runtime, None)),
            program,
            watches: PageWatches::default(),
            placement,
            dialog: Mutex::default(),
            shortcut: OnceCell::new(),
            tray: OnceCell::new(),
            notices: OnceCell::new(),
        }
    }
}
