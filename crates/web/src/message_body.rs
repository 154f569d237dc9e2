//! A response body that is sent piece by piece, as fast as the browser reads it.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::mpsc;

#[derive(Debug, Clone)]
pub(crate) struct BodySender(mpsc::Sender<Result<Bytes, CutBody>>);

/// A body that ends before everything was sent. The browser sees a failed request, not a short
/// answer.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the desk went away before its last message")]
pub(crate) struct CutBody;

/// The receiving half, which the server reads.
struct MessageBody(mpsc::Receiver<Result<Bytes, CutBody>>);

/// Makes a body and its sender. The sender waits while the browser does not read.
pub(crate) fn body_with_sender() -> (BodySender, Body) {
    // One piece: what a slow browser has not read waits at the desk, not here.
    let (sender, receiver) = mpsc::channel(1);
    (BodySender(sender), Body::new(MessageBody(receiver)))
}

impl BodySender {
    /// Sends a piece. Returns false if nobody reads any more.
    pub(crate) async fn send(&self, piece: impl Into<Bytes>) -> bool {
        self.0.send(Ok(piece.into())).await.is_ok()
    }

    /// Ends the body as one that is not whole.
    pub(crate) async fn end_incomplete(self) {
        // A browser that has gone needs no end.
        self.0.send(Err(CutBody)).await.ok();
    }

    pub(crate) async fn wait_for_close(&self) {
        self.0.closed().await;
    }
}

impl HttpBody for MessageBody {
    type Data = Bytes;
    type Error = CutBody;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutBody>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
