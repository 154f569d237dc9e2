//! The end of the CLI's standard error, without secrets.

use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_link::tokio::keep_end;
use callgate_mask::SecretVariables;
use tokio::io::AsyncRead;
use tokio::task::JoinHandle;

/// How many bytes of the end are kept.
const KEPT: usize = 8 * 1024;

/// The CLI's standard error, read until this is dropped.
#[derive(Debug)]
pub(crate) struct CliStderr {
    kept: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl CliStderr {
    /// Starts to read the pipe, keeping the end of what it carries.
    pub(crate) fn collect(pipe: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Arc::default();
        let reading = tokio::spawn(keep_end(pipe, Arc::clone(&kept), KEPT));
        Self { kept, reading }
    }

    /// Waits until the pipe is closed.
    pub(crate) async fn read_to_its_end(&mut self) {
        (&mut self.reading).await.ok();
    }

    /// Returns what was kept, with the secrets masked.
    pub(crate) fn masked_text(&self, secrets: &SecretVariables) -> String {
        let kept = lock(&self.kept);
        let text = String::from_utf8_lossy(&kept).trim().to_owned();
        match text.as_str() {
            "" => "nothing".to_owned(),
            text => secrets.mask(text),
        }
    }
}

impl Drop for CliStderr {
    fn drop(&mut self) {
        // A process that the CLI has left may hold the pipe open.
        self.reading.abort();
    }
}

#[cfg(test)]
mod tests;
