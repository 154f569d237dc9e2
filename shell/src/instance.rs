//! One shell for each user: a second start lets the first one show its window, in the folder that
//! the second one was given.

use std::path::Path;

use tauri::async_runtime::{Receiver, Sender, channel};
use zbus::connection::Builder;
use zbus::fdo::RequestNameFlags;
use zbus::{Connection, interface};

use crate::arguments::ShellArguments;
use crate::desktop_wish::DesktopWish;

/// The name that the first shell has on the session bus.
const NAME: &str = "dev.callgate.Shell";
const PATH: &str = "/dev/callgate/Shell";
const INTERFACE: &str = "dev.callgate.Shell";
/// How many wishes of other starts may wait.
const MOST_WAITING: usize = 8;

/// What a start finds.
pub(crate) enum ShellInstance {
    /// It is the first: its connection to the bus, and the wishes of later starts.
    First(Connection, Receiver<DesktopWish>),
    /// Another one runs, and was notified.
    Other,
}

/// The object that later starts call.
struct WishObject(Sender<DesktopWish>);

#[interface(name = "dev.callgate.Shell")]
impl WishObject {
    async fn show(&self) {
        // Nobody listens once the shell ends.
        self.0.send(DesktopWish::Show).await.ok();
    }

    async fn open(&self, folder: String) {
        self.0.send(DesktopWish::OpenFolder(folder)).await.ok();
    }

    async fn toggle(&self) {
        self.0.send(DesktopWish::Toggle { is_in_front: None }).await.ok();
    }
}

/// Becomes the first shell, or tells the first one what the user wants.
pub(crate) async fn claim_or_notify(arguments: &ShellArguments) -> zbus::Result<ShellInstance> {
    let (sender, wishes) = channel(MOST_WAITING);
    // The object comes before the name, so that a later start that finds the name finds the object,
    // too.
    let bus = Builder::session()?.serve_at(PATH, WishObject(sender))?.build().await?;
    // In a queue for the name this start would become the first one as soon as the other ends.
    match bus.request_name_with_flags(NAME, RequestNameFlags::DoNotQueue.into()).await {
        Ok(_) => Ok(ShellInstance::First(bus, wishes)),
        Err(zbus::Error::NameTaken) => {
            let folder = arguments.folder.as_deref().and_then(Path::to_str);
            let (to, of) = (Some(NAME), Some(INTERFACE));
            match folder {
                _ if arguments.is_toggle => bus.call_method(to, PATH, of, "Toggle", &()).await?,
                Some(folder) => bus.call_method(to, PATH, of, "Open", &folder).await?,
                None => bus.call_method(to, PATH, of, "Show", &()).await?,
            };
            Ok(ShellInstance::Other)
        }
        Err(error) => Err(error),
    }
}
