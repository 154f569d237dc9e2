//! `POST /api/pair`: a code becomes the key of a session.

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use callgate_wire::desk::{HiddenText, LONGEST_NAME, LONGEST_SECRET};
use serde::Deserialize;
use serde_json::json;

use crate::origin::PageOrigin;
use crate::refusal::HttpRefusal;
use crate::request_body::{json_response, read_json};
use crate::state::PageState;

/// The most bytes of a request.
const LARGEST: usize = 4 * 1024;
const EXPECTED: &str = "the request must have a code and a short name";

#[derive(Deserialize)]
struct PagePairing {
    code: String,
    name: String,
}

pub(crate) async fn pair_page(
    State(state): State<PageState>,
    Extension(origin): Extension<PageOrigin>,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let within = state.limits.body_within;
    let PagePairing { code, name } = read_json(body, LARGEST, within, EXPECTED).await?;
    if code.len() > LONGEST_SECRET || name.len() > LONGEST_NAME || name.trim().is_empty() {
        return Err(HttpRefusal::bad_request(EXPECTED));
    }
    let token = state.sessions.pair(HiddenText::new(code), name, origin).await?;
    Ok(json_response(&json!({ "token": token.reveal() })))
}
