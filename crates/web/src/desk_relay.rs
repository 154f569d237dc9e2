//! `POST /api/desk`: carries one request to the desk, and its messages back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use callgate_client::DeskError;
use callgate_client::desk::DeskReplies;
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskRequest, MAX_LINE};

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
    let DeskRequest { id, command } =
        DeskRequest::decode(&body).map_err(|wrong| HttpRefusal::bad_request(wrong.to_string()))?;
    if !is_allowed(&session, &command).await? {
        let text = "a page cannot ask the desk for this";
        return Err(HttpRefusal::new(StatusCode::FORBIDDEN, text));
    }
    let mut replies = PageReplies { id, replies: session.desk.request(command).await? };
    // Waited for, because after the status has been sent no error can become one.
    let first = replies.next().await?;
    let (sender, body) = message_body::body_with_sender();
    let relay = DeskRelay { replies, sender, session };
    tokio::spawn(relay.send_messages(first));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// Returns true for what the page of a session may ask.
async fn is_allowed(session: &PageSession, command: &DeskCommand) -> Result<bool, HttpRefusal> {
    if session.person.is_none() {
        return Ok(is_allowed_for_page(command));
    }
    let is_own = match command {
        DeskCommand::Unpair { link } => session.has_link(link).await?,
        _ => true,
    };
    Ok(is_own && is_allowed_for_person(command))
}

/// Returns true for what a page may ask. Keys and codes are not made by pages, and entries have a
/// stream of their own.
fn is_allowed_for_page(command: &DeskCommand) -> bool {
    !matches!(
        command,
        DeskCommand::Watch { .. }
            | DeskCommand::Answer { .. }
            | DeskCommand::Unlock { .. }
            | DeskCommand::Pair { .. }
            | DeskCommand::Code { .. }
            | DeskCommand::Gate { .. }
    )
}

/// Returns true for what the page of a person of a team may ask: what is needed to answer, to see
/// what was decided and by which rules, and to care for their own links. Nothing of the desk's
/// owner can be changed or tried out.
fn is_allowed_for_person(command: &DeskCommand) -> bool {
    matches!(
        command,
        DeskCommand::Press { .. }
            | DeskCommand::Inbox
            | DeskCommand::Card { .. }
            | DeskCommand::History { .. }
            | DeskCommand::Figures { .. }
            | DeskCommand::Export { .. }
            | DeskCommand::Verify
            | DeskCommand::Rules
            | DeskCommand::Links
            | DeskCommand::Unpair { .. }
            | DeskCommand::Code { page: false }
    )
}

/// The messages of the desk for a request of a page, with the id that the page chose.
struct PageReplies {
    id: String,
    replies: DeskReplies,
}

impl PageReplies {
    /// Returns the next message; the last one is the answer, or an error of the desk. Returns
    /// `None` after that.
    async fn next(&mut self) -> Result<Option<DeskMessage>, DeskError> {
        let mut message = self.replies.next().await?;
        if let Some(
            DeskMessage::Answer { id, .. }
            | DeskMessage::Waiting { id, .. }
            | DeskMessage::Progress { id, .. }
            | DeskMessage::Error { id: Some(id), .. },
        ) = &mut message
        {
            self.id.clone_into(id);
        }
        Ok(message)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_make_no_keys_and_no_codes() {
        let is_allowed = |fields: &str| {
            let line = format!(r#"{{"id":"1",{fields}}}"#);
            is_allowed_for_page(&DeskRequest::decode(line.as_bytes()).unwrap().command)
        };
        assert!(is_allowed(r#""kind":"status""#) && is_allowed(r#""kind":"links""#));
        assert!(!is_allowed(r#""kind":"watch""#) && !is_allowed(r#""kind":"code""#));
        assert!(!is_allowed(r#""kind":"unlock","token":"t""#));
        assert!(!is_allowed(r#""kind":"pair","code":"c","name":"n""#));
    }
}
