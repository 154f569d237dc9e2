//! A connection that is given up when its other end reads nothing for too long.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream whose writes fail once the other end has read nothing for some time.
#[derive(Debug)]
pub(crate) struct PatientStream<S> {
    stream: S,
    within: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientStream<S> {
    pub(crate) fn new(stream: S, within: Duration) -> Self {
        Self { stream, within, stalled: None }
    }

    /// Notes what became of a write. One that has waited for too long fails.
    fn check_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let within = self.within;
        // The time of one write that waits, not of all: a reader that is slow but reads is not
        // given up.
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(within)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PatientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Reading needs no limit here, because how long a head or a body may take is bounded where
        // it is read.
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        // Without this, hyper would copy head and body together.
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.check_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check_write(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_is_given_up_and_a_slow_one_is_not() {
        let within = Duration::from_secs(30);
        let (near, mut far) = tokio::io::duplex(4);
        let mut near = PatientStream::new(near, within);
        near.write_all(b"full").await.unwrap();
        let reader = tokio::spawn(async move {
            for _ in 0..4 {
                sleep(Duration::from_secs(29)).await;
                far.read_u8().await.unwrap();
            }
            far
        });
        near.write_all(b"slow").await.unwrap();
        let _far = reader.await.unwrap();
        let begun = Instant::now();
        let error = near.write_all(b"stop").await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed()), (io::ErrorKind::TimedOut, within));
    }
}
