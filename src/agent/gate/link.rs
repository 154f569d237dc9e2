//! The link to the daemon's desk, by which the front end's answers are presses there.
//!
//! The runtime pairs itself once, as a viewer, and keeps the token in the database. Everybody who
//! is linked is told of that, as of any other link, and `callgate pair --list` shows it.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use callgate_approval::viewer::{PATIENCE, Viewer, ViewerError};
use callgate_store::{Store, StoreError};
use callgate_wire::approval::RequestId;
use callgate_wire::desk::{Answer, Command, Deed, Press, Secret};

use super::{SHELL, Warn};

/// Under which key the token is kept.
const KEPT: &str = "agent/viewer";
/// How often pairing is tried: somebody else who pairs at the same moment makes our code void.
const ATTEMPTS: usize = 3;

/// The link to the daemon's desk.
pub(super) struct Link {
    desk_socket: PathBuf,
    database: PathBuf,
    warn: Warn,
    /// Held while the runtime is paired, so that it is paired once.
    token: Mutex<Option<Secret>>,
}

impl Link {
    pub(super) fn new(desk_socket: PathBuf, database: PathBuf, warn: Warn) -> Self {
        Self { desk_socket, database, warn, token: Mutex::new(None) }
    }

    /// A connection that may look.
    pub(super) fn looking(&self) -> Result<Viewer, ViewerError> {
        Viewer::connect(&self.desk_socket)
    }

    /// A connection that may press.
    pub(super) fn pressing(&self) -> Result<Viewer, ViewerError> {
        let mut viewer = self.looking()?;
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.is_none() {
            *token = self.kept().unwrap_or_else(|error| self.complain(&error));
        }
        if let Some(known) = token.as_ref() {
            let (is_good, _) = viewer.told(Command::Unlock { token: known.clone() })?;
            if is_good {
                return Ok(viewer);
            }
        }
        let fresh = pair(&mut viewer)?;
        if let Err(error) = self.keep(&fresh) {
            self.complain(&error);
        }
        *token = Some(fresh);
        Ok(viewer)
    }

    /// Answers a question. Gives whether it counted, and what came of it.
    pub(super) fn press(&self, id: RequestId, deed: Deed) -> Result<(bool, String), ViewerError> {
        self.pressing()?.told(Command::Press(Press { request_id: id, deed }))
    }

    fn kept(&self) -> Result<Option<Secret>, StoreError> {
        Ok(Store::open(&self.database)?.kept(KEPT)?.map(Secret::new))
    }

    fn keep(&self, token: &Secret) -> Result<(), StoreError> {
        Store::open(&self.database)?.keep(KEPT, token.reveal())
    }

    /// Without a kept token the runtime is paired anew, which is no reason to stop.
    fn complain(&self, error: &StoreError) -> Option<Secret> {
        (self.warn)(&format!("the link to the desk cannot be kept: {error}"));
        None
    }
}

fn pair(viewer: &mut Viewer) -> Result<Secret, ViewerError> {
    let mut refused = String::new();
    for _ in 0..ATTEMPTS {
        let (code, _) = viewer.code()?;
        let command = Command::Pair { code, name: SHELL.to_owned() };
        match viewer.ask(command, PATIENCE)? {
            Answer::Paired { token } => return Ok(token),
            Answer::Told { text, .. } => refused = text,
            _ => return Err(ViewerError::Unexpected),
        }
    }
    Err(ViewerError::Refused(refused))
}
