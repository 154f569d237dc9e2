//! Reads lines, reads and writes frames, keeps the end of a pipe, and waits for child processes, on
//! tokio.

use std::io;
use std::sync::{Arc, Mutex};

use callgate_wire::frame::{CutFrame, FrameDecoder, LineDecoder, OversizedFrame, length_prefix};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use tokio::time::sleep;

use crate::child::{LOOK, LeashedChild};
use crate::sync::lock;

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The announced frame is over the limit; nothing more can be read from the stream.
    #[error(transparent)]
    TooLarge(#[from] OversizedFrame),
    /// The stream ended inside a frame.
    #[error(transparent)]
    Cut(#[from] CutFrame),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads once into the decoder; returns 0 at the end of the stream. Dropping this future loses
/// nothing: what has arrived is in the decoder.
pub async fn fill_lines(
    input: &mut (impl AsyncRead + Unpin),
    lines: &mut LineDecoder,
) -> io::Result<usize> {
    let count = input.read(lines.space()).await?;
    lines.mark_filled(count);
    Ok(count)
}

/// Reads length-prefixed frames from a stream.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: R,
    frames: FrameDecoder,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Creates a reader of frames of at most `limit` bytes.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input, frames: FrameDecoder::new(limit) }
    }

    /// Waits for the next whole frame; `None` at the end of the stream. Dropping this future loses
    /// nothing: what has arrived stays in the decoder.
    pub async fn next(&mut self) -> Result<Option<&mut [u8]>, FrameError> {
        while !self.frames.is_ready()? {
            let count = self.input.read(self.frames.space()).await?;
            if count == 0 {
                self.frames.finish()?;
                return Ok(None);
            }
            self.frames.mark_filled(count);
        }
        Ok(self.frames.next_frame()?)
    }
}

/// Writes `payload` as one frame. If it is over `limit`, nothing is written. Dropping this future
/// may leave half of a frame on the stream, which then cannot be used any more.
pub async fn write_frame<W>(output: &mut W, payload: &[u8], limit: usize) -> Result<(), FrameError>
where
    W: AsyncWrite + Unpin,
{
    output.write_all(&length_prefix(payload.len(), limit)?).await?;
    output.write_all(payload).await?;
    Ok(output.flush().await?)
}

/// Keeps the last `most` bytes of what comes. All of it is read, because a program whose pipe is
/// full would block.
pub async fn keep_end(mut pipe: impl AsyncRead + Unpin, end: Arc<Mutex<Vec<u8>>>, most: usize) {
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        let mut end = lock(&end);
        end.extend_from_slice(&chunk[..count]);
        let surplus = end.len().saturating_sub(most);
        end.drain(..surplus);
    }
}

pub async fn child_ended(child: &LeashedChild) -> io::Result<()> {
    // If the kernel does not report the end, the child is polled.
    exit_reported(child).await.ok();
    while !child.has_ended()? {
        sleep(LOOK).await;
    }
    Ok(())
}

#[allow(deprecated, reason = "an `OwnedFd` keeps what the replacement's `unsafe` asks for")]
async fn exit_reported(child: &LeashedChild) -> io::Result<()> {
    let exit = AsyncFd::with_interest(child.exit_fd()?, Interest::READABLE)?;
    exit.readable().await?.retain_ready();
    Ok(())
}
