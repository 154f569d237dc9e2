//! The end of the CLI's standard error, without secrets.

use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_mask::SecretVariables;
use tokio::io::{AsyncRead, AsyncReadExt};
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
        let reading = tokio::spawn(collect(pipe, Arc::clone(&kept)));
        Self { kept, reading }
    }

    /// Waits until the pipe is closed.
    pub(crate) async fn read_to_its_end(&mut self) {
        (&mut self.reading).await.ok();
    }

    /// Returns what was kept, with the secrets masked.
    pub(crate) fn text(&self, secrets: &SecretVariables) -> String {
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
        self.reading.abort();
    }
}

async fn collect(mut pipe: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = [0; 4096];
    while let Ok(count) = pipe.read(&mut chunk).await {
        if count == 0 {
            return;
        }
        let mut kept = lock(&kept);
        kept.extend_from_slice(&chunk[..count]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests;
