//! Admits a request to the API: it comes from the page, and shows the key of a session.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::connections::BrowserSeat;
use crate::origin::{self, PageOrigin};
use crate::refusal::HttpRefusal;
use crate::sessions::{PageSession, SessionKey};
use crate::state::PageState;

/// The session of a request whose key the desk has checked. A handler that takes one is run for no
/// other request.
#[derive(Debug)]
pub(crate) struct PageAccess {
    pub(crate) key: SessionKey,
    pub(crate) session: Arc<PageSession>,
}

impl FromRequestParts<PageState> for PageAccess {
    type Rejection = HttpRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &PageState) -> Result<Self, HttpRefusal> {
        // `origin::guard` has put it there.
        let origin =
            parts.extensions.get::<PageOrigin>().ok_or_else(origin::foreign_site_refusal)?;
        let key = SessionKey::from_headers(&parts.headers, origin.clone())?;
        let session = state.sessions.open_session(&key).await?;
        if let Some(seat) = parts.extensions.get::<BrowserSeat>() {
            // Only now: a connection of whoever has no key has to make room for others.
            seat.has_shown_key();
        }
        Ok(Self { key, session })
    }
}
