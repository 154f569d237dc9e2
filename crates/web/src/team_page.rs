//! The page for the people of a team, over TLS: what it has in common with the page on this machine,
//! and how people come to a session.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use callgate_wire::desk::{DeskAnswer, DeskCommand, HiddenText, LONGEST_NAME, LONGEST_SECRET};
use serde::Deserialize;
use serde_json::json;

use crate::access::PageAccess;
use crate::chat::json_response;
use crate::host::{guard_routes, shared_routes};
use crate::origin::{PageHosts, PageOrigin, SIGN_IN_RETURN};
use crate::refusal::HttpRefusal;
use crate::request_body;
use crate::sessions::PageSessions;
use crate::state::{PageLimits, PageState, StreamPlaces};
use crate::team_people::{PageJoined, TeamPeople, WantedPage};
use crate::team_sign_in::{AccountProvider, TeamSignIns};

/// How many event streams people may have open. Each needs two of the desk's places for viewers.
const MOST_STREAMS: usize = 100;
/// The most bytes of a request to join.
const LARGEST: usize = 4 * 1024;

pub struct TeamPageOptions {
    pub desk_socket: PathBuf,
    /// The hosts under which browsers reach the page, each with its port.
    pub hosts: Vec<String>,
    pub limits: PageLimits,
    pub people: Arc<dyn TeamPeople>,
    /// The provider of the company's accounts, with which people can sign in.
    pub accounts: Option<Arc<dyn AccountProvider>>,
}

impl fmt::Debug for TeamPageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamPageOptions").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

struct TeamDoor {
    people: Arc<dyn TeamPeople>,
    sign_ins: Option<TeamSignIns>,
}

impl TeamDoor {
    /// Takes the end of a sign-in. Returns the fragment with which the page continues, or why the
    /// sign-in has failed, in a word.
    async fn finish_sign_in(
        &self,
        query: &str,
        origin: &PageOrigin,
    ) -> Result<String, &'static str> {
        let sign_ins = self.sign_ins.as_ref().ok_or("refused")?;
        let signed_in = sign_ins.finish(query, origin).await?;
        if !self.people.has_person(signed_in.account()).await {
            return Err("unknown");
        }
        let word = sign_ins.keep_for_page(signed_in).ok_or("failed")?;
        Ok(format!("join={word}"))
    }
}

pub fn team_page_routes(options: TeamPageOptions) -> Router {
    let TeamPageOptions { desk_socket, hosts, limits, people, accounts } = options;
    let state = PageState {
        limits,
        sessions: Arc::new(PageSessions::new(desk_socket, Some(Arc::clone(&people)))),
        chats: None,
        home: None,
        streams: StreamPlaces::new(MOST_STREAMS),
    };
    let sign_ins = accounts.map(TeamSignIns::new);
    let door = Arc::new(TeamDoor { people, sign_ins });
    let routes = shared_routes()
        .route("/api/team", get(describe_team))
        .route("/api/join", post(join_person))
        .route("/api/leave", post(leave_team_page))
        .route("/api/sign-in", post(begin_sign_in))
        .route(SIGN_IN_RETURN, get(finish_sign_in))
        .layer(Extension(door));
    guard_routes(routes, PageHosts::over_tls(&hosts)).with_state(state)
}

/// Says how people sign in, for a page that has no key.
async fn describe_team(Extension(door): Extension<Arc<TeamDoor>>) -> Response {
    json_response(&json!({ "sign_in": door.sign_ins.is_some() }))
}

/// What a page sends to join.
#[derive(Deserialize)]
struct PersonJoin {
    secret: String,
    name: String,
    /// That of the tab which has begun a sign-in.
    ticket: Option<String>,
}

/// Makes a session of an invitation, or of a sign-in.
async fn join_person(
    State(state): State<PageState>,
    Extension(door): Extension<Arc<TeamDoor>>,
    Extension(origin): Extension<PageOrigin>,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let bad = || {
        let text = "the request must have a secret and a short name";
        HttpRefusal::new(StatusCode::BAD_REQUEST, text)
    };
    let body = request_body::read_within_limits(body, LARGEST, state.limits.body_within).await?;
    let PersonJoin { secret, name, ticket } = serde_json::from_slice(&body).map_err(|_| bad())?;
    let secret = HiddenText::new(secret);
    let is_short = secret.reveal().len() <= LONGEST_SECRET && name.len() <= LONGEST_NAME;
    if !is_short || name.trim().is_empty() {
        return Err(bad());
    }
    let signed_in = door
        .sign_ins
        .as_ref()
        .and_then(|it| it.take_person(secret.reveal(), ticket.as_deref(), &origin));
    let page = WantedPage { origin: origin.0, name };
    let joined = match signed_in {
        Some(person) => door.people.link_person(&person, page).await,
        None => door.people.join_person(&secret, page).await,
    };
    let text = match joined.map_err(|why| HttpRefusal::no_desk(&why))? {
        PageJoined::Linked(token) => {
            return Ok(json_response(&json!({ "token": token.reveal() })));
        }
        PageJoined::Unknown => {
            "This invitation was used already, has expired or was taken back. Ask for another one."
        }
        PageJoined::TooMany => {
            "You are signed in at too many browsers: sign out at one of them, or ask the owner of \
             the desk to unlink those that are gone."
        }
    };
    Err(HttpRefusal::new(StatusCode::FORBIDDEN, text))
}

/// Ends the session of a page: its key is worth nothing afterwards.
async fn leave_team_page(
    PageAccess { session, .. }: PageAccess,
    Extension(door): Extension<Arc<TeamDoor>>,
) -> Result<Response, HttpRefusal> {
    let link = session.person.as_ref().map(|person| person.link.clone()).unwrap_or_default();
    let left = session.desk.ask(DeskCommand::Unpair { link }).await;
    door.people.page_left();
    match left? {
        DeskAnswer::Told { done, text } => {
            Ok(json_response(&json!({ "done": done, "text": text })))
        }
        _ => Err(HttpRefusal::no_desk(&"it does not understand")),
    }
}

/// `POST /api/sign-in`: where the person signs in, and the ticket of the tab.
async fn begin_sign_in(
    Extension(door): Extension<Arc<TeamDoor>>,
    Extension(origin): Extension<PageOrigin>,
) -> Result<Response, HttpRefusal> {
    let none = || HttpRefusal::new(StatusCode::NOT_FOUND, "people sign in by invitations here");
    let sign_ins = door.sign_ins.as_ref().ok_or_else(none)?;
    let unreachable = || {
        let text = "the provider of the accounts cannot be reached: try again later";
        HttpRefusal::new(StatusCode::BAD_GATEWAY, text)
    };
    let (address, ticket) = sign_ins.begin(&origin).await.ok_or_else(unreachable)?;
    Ok(json_response(&json!({ "address": address, "ticket": ticket })))
}

/// `GET /sign-in`: the browser comes back, and is sent on to the page.
async fn finish_sign_in(
    Extension(door): Extension<Arc<TeamDoor>>,
    Extension(origin): Extension<PageOrigin>,
    RawQuery(query): RawQuery,
) -> Response {
    let fragment = door.finish_sign_in(&query.unwrap_or_default(), &origin).await;
    let fragment = fragment.unwrap_or_else(|why| format!("sign-in={why}"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, format!("/#{fragment}"))]).into_response()
}
