//! `POST /api/desk`: carries one request to the desk, and its messages back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use callgate_client::desk::{PageReplies, PageRequest};
use callgate_wire::desk::{DeskAnswer, DeskMessage, MAX_LINE};

use crate::message_body::{self, BodySender};
use crate::refusal::HttpRefusal;
use crate::request_body::read_within_limits;
use crate::sessions::{PageAccess, PageSession};
use crate::state::PageState;

/// Relays a request. The answer's status is sent with the desk's first message.
pub(crate) async fn relay_request(
    State(state): State<PageState>,
    PageAccess { session, .. }: PageAccess,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let body = read_within_limits(body, MAX_LINE, state.limits.body_within).await?;
    let request =
        PageRequest::decode(&body).map_err(|wrong| HttpRefusal::bad_request(wrong.to_string()))?;
    if !is_allowed(&session, &request).await? {
        let text = "a page cannot ask the desk for this";
        return Err(HttpRefusal::new(StatusCode::FORBIDDEN, text));
    }
    let mut replies = request.send(&session.desk).await?;
    // Waited for, because after the status has been sent no error can become one.
    let first = replies.next().await?;
    let (sender, body) = message_body::body_with_sender();
    let relay = DeskRelay { replies, sender, session };
    tokio::spawn(relay.send_messages(first));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// Returns true for what the page of a session may ask.
async fn is_allowed(session: &PageSession, request: &PageRequest) -> Result<bool, HttpRefusal> {
    if session.person.is_none() {
        return Ok(request.is_allowed());
    }
    let is_own = match request.removed_link() {
        Some(link) => session.has_link(link).await?,
        None => true,
    };
    Ok(is_own && request.is_allowed_for_person())
}

struct DeskRelay {
    replies: PageReplies,
    sender: BodySender,
    /// Also keeps the session's connection open.
    session: Arc<PageSession>,
}

impl DeskRelay {
    /// Sends the desk's messages up to the last, or until the browser has gone.
    async fn send_messages(mut self, first: Option<DeskMessage>) {
        let mut next = first;
        while let Some(message) = next {
            let message = self.session.shown_message(message);
            if !self.sender.send(message.to_line()).await {
                return;
            }
            let received = tokio::select! {
                received = self.replies.next() => received,
                () = self.sender.wait_for_close() => return,
            };
            next = match received {
                Ok(next) => next,
                // An end like any other would be read as a short answer.
                Err(_) => return self.sender.end_incomplete().await,
            };
        }
    }
}

impl PageSession {
    /// Returns a message as the page may see it: a person sees their own links only.
    fn shown_message(&self, mut message: DeskMessage) -> DeskMessage {
        if let Some(person) = &self.person
            && let DeskMessage::Answer { answer: DeskAnswer::Links { links }, .. } = &mut message
        {
            links.retain(|link| link.person.as_ref() == Some(&person.name));
        }
        message
    }
}
