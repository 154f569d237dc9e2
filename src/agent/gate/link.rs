//! The way to the daemon's desk, by which the front end's answers are presses there.
//!
//! The desk knows this process again that asked the question, and lets it answer its own questions
//! and no others. So the runtime needs no link, and keeps nothing by which anybody could press.

use std::path::PathBuf;

use callgate_approval::viewer::{Viewer, ViewerError};
use callgate_wire::approval::{Press, RequestId};
use callgate_wire::desk::Command;

/// The way to the daemon's desk.
pub(super) struct Link {
    desk_socket: PathBuf,
}

impl Link {
    pub(super) fn new(desk_socket: PathBuf) -> Self {
        Self { desk_socket }
    }

    /// Connects as one who looks.
    pub(super) fn looking(&self) -> Result<Viewer, ViewerError> {
        Viewer::connect(&self.desk_socket)
    }

    /// Answers a question of this process. Gives whether it counted, and what came of it.
    pub(super) fn press(
        &self,
        request_id: RequestId,
        press: Press,
    ) -> Result<(bool, String), ViewerError> {
        self.looking()?.told(Command::Press { request_id, press })
    }
}
