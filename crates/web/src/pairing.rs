//! `POST /api/pair`: a code becomes the key of a session.

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use callgate_wire::desk::{HiddenText, LONGEST_NAME, LONGEST_SECRET};
use serde::Deserialize;
use serde_json::json;

use crate::chat::json_response;
use crate::origin::PageOrigin;
use crate::refusal::HttpRefusal;
use crate::request_body;
use crate::state::PageState;

/// The most bytes of a request.
const LARGEST: usize = 4 * 1024;

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
    let body = request_body::read_within_limits(body, LARGEST, state.limits.body_within).await?;
    let PagePairing { code, name } =
        serde_json::from_slice(&body).map_err(|_| bad_pairing_refusal())?;
    if code.len() > LONGEST_SECRET || name.len() > LONGEST_NAME || name.trim().is_empty() {
        return Err(bad_pairing_refusal());
    }
    let token = state.sessions.pair(HiddenText::new(code), name, origin).await?;
    Ok(json_response(&json!({ "token": token.reveal() })))
}

fn bad_pairing_refusal() -> HttpRefusal {
    HttpRefusal::new(StatusCode::BAD_REQUEST, "the request must have a code and a short name")
}
