//! The page for the people of a team, over TLS: what it has in common with the page on this
//! machine, and how people come to a session.

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
use tokio::sync::Semaphore;

use crate::host::{guard_routes, shared_routes};
use crate::origin::{PageHosts, PageOrigin, SIGN_IN_RETURN};
use crate::page_limits::PageLimits;
use crate::refusal::HttpRefusal;
use crate::request_body::{json_response, read_json};
use crate::sessions::{PageAccess, PageSessions};
use crate::state::{PageState, StreamPlaces};
use crate::team_people::{PageJoined, TeamPeople, WantedPage};
use crate::team_sign_in::{
    AccountProvider, LONGEST_SIGN_IN, SignInFailure, finish_sign_in, lead_back, redirect_of,
};

/// How many event streams people may have open. Each needs two of the desk's places for viewers.
const MOST_STREAMS: usize = 100;
/// How many sign-ins may be at the provider at once. Others wait for their turn, so that whoever
/// sends many wrong ones keeps nobody out.
const MOST_SIGN_INS: usize = 16;
/// The most bytes of a request to join.
const LARGEST: usize = 4 * 1024;
/// The most bytes of a request that ends a sign-in.
const LARGEST_SIGN_IN: usize = 3 * LONGEST_SIGN_IN;

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
    accounts: Option<Arc<dyn AccountProvider>>,
    /// Places at the provider of the accounts.
    sign_ins: Semaphore,
}

impl TeamDoor {
    fn provider(&self) -> Result<&dyn AccountProvider, HttpRefusal> {
        let none = || HttpRefusal::new(StatusCode::NOT_FOUND, "people sign in by invitations here");
        self.accounts.as_deref().ok_or_else(none)
    }
}

pub fn team_page_routes(options: TeamPageOptions) -> Router {
    let TeamPageOptions { desk_socket, hosts, limits, people, accounts } = options;
    let state = PageState {
        limits,
        sessions: Arc::new(PageSessions::new(desk_socket, Some(Arc::clone(&people)))),
        // There is no chat, because it would run programs as the owner of the desk.
        chats: None,
        home: None,
        streams: StreamPlaces::new(MOST_STREAMS),
    };
    let sign_ins = Semaphore::new(MOST_SIGN_INS);
    let door = Arc::new(TeamDoor { people, accounts, sign_ins });
    let routes = shared_routes()
        .route("/api/team", get(describe_team))
        .route("/api/join", post(join_person))
        .route("/api/leave", post(leave_team_page))
        .route("/api/sign-in", post(begin_sign_in))
        .route("/api/signed-in", post(join_by_account))
        .route(SIGN_IN_RETURN, get(come_back))
        .layer(Extension(door));
    guard_routes(routes, PageHosts::over_tls(&hosts)).with_state(state)
}

/// Says how people sign in, for a page that has no key.
async fn describe_team(Extension(door): Extension<Arc<TeamDoor>>) -> Response {
    json_response(&json!({ "sign_in": door.accounts.is_some() }))
}

/// What a page sends to join.
#[derive(Deserialize)]
struct PersonJoin {
    secret: String,
    name: String,
}

/// What a page sends to end a sign-in.
#[derive(Deserialize)]
struct AccountJoin {
    /// What the provider has sent with the browser.
    answer: String,
    /// The ticket of the tab that began the sign-in.
    ticket: String,
    name: String,
}

/// Makes a session of an invitation.
async fn join_person(
    State(state): State<PageState>,
    Extension(door): Extension<Arc<TeamDoor>>,
    Extension(origin): Extension<PageOrigin>,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let (within, expected) =
        (state.limits.body_within, "the request must have a secret and a short name");
    let PersonJoin { secret, name } = read_json(body, LARGEST, within, expected).await?;
    let secret = HiddenText::new(secret);
    // The name has a limit because it goes into the ledgers of all desks.
    let is_short = secret.reveal().len() <= LONGEST_SECRET && name.len() <= LONGEST_NAME;
    if !is_short || name.trim().is_empty() {
        return Err(HttpRefusal::bad_request(expected));
    }
    let page = WantedPage { origin: origin.0, name };
    let unknown =
        "This invitation was used already, has expired or was taken back. Ask for another one.";
    answer_joined(door.people.join_person(&secret, page).await, unknown)
}

/// Returns the answer to a page that wanted to join.
fn answer_joined(
    joined: Result<PageJoined, String>,
    unknown: &'static str,
) -> Result<Response, HttpRefusal> {
    let text = match joined.map_err(|why| HttpRefusal::no_desk(&why))? {
        PageJoined::Linked(token) => {
            return Ok(json_response(&json!({ "token": token.reveal() })));
        }
        PageJoined::Unknown => unknown,
        PageJoined::TooMany => {
            "You are signed in at too many browsers: sign out at one of them, or ask the owner of \
             the desk to unlink those that are gone."
        }
    };
    Err(HttpRefusal::new(StatusCode::FORBIDDEN, text))
}

/// `POST /api/signed-in`: makes a session of a sign-in.
async fn join_by_account(
    State(state): State<PageState>,
    Extension(door): Extension<Arc<TeamDoor>>,
    Extension(origin): Extension<PageOrigin>,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let provider = door.provider()?;
    let (within, expected) =
        (state.limits.body_within, "the request must have an answer, a ticket and a short name");
    let AccountJoin { answer, ticket, name } =
        read_json(body, LARGEST_SIGN_IN, within, expected).await?;
    let is_short = answer.len().max(ticket.len()) <= LONGEST_SIGN_IN && name.len() <= LONGEST_NAME;
    if !is_short || name.trim().is_empty() {
        return Err(HttpRefusal::bad_request(expected));
    }
    let place = door.sign_ins.acquire().await;
    let signed_in = finish_sign_in(provider, &answer, &ticket, &origin).await;
    // The place is given back at once, because what follows waits for our own ledger and not for
    // the provider.
    drop(place);
    let account = signed_in.map_err(|failure| {
        let text = match failure {
            SignInFailure::Refused => "The sign-in was not finished. Try again.",
            SignInFailure::Failed => {
                "The sign-in failed. The desk's owner finds the reason in the terminal of the desk."
            }
        };
        HttpRefusal::new(StatusCode::FORBIDDEN, text)
    })?;
    let page = WantedPage { origin: origin.0, name };
    let unknown = "This account belongs to nobody in the team. Ask the desk's owner to invite you \
                   by its e-mail address.";
    answer_joined(door.people.link_person(&account, page).await, unknown)
}

/// Ends the session of a page: its key is worth nothing afterwards.
async fn leave_team_page(
    PageAccess { session, .. }: PageAccess,
    Extension(door): Extension<Arc<TeamDoor>>,
) -> Result<Response, HttpRefusal> {
    let link = session.person.as_ref().map(|person| person.link.clone()).unwrap_or_default();
    let left = session.desk.ask(DeskCommand::Unpair { link }).await;
    // Before the result is looked at: the link may be gone although the desk's answer was lost.
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
    let provider = door.provider()?;
    let place = door.sign_ins.acquire().await;
    let begun = provider.begin_sign_in(&redirect_of(&origin)).await;
    drop(place);
    let begun = begun.map_err(|why| {
        provider.report_failure(&why);
        let text = "the provider of the accounts cannot be reached: try again later";
        HttpRefusal::new(StatusCode::BAD_GATEWAY, text)
    })?;
    Ok(json_response(&json!({ "address": begun.address, "ticket": begun.ticket.render() })))
}

/// `GET /sign-in`: the browser comes back, and is sent on to the page.
async fn come_back(RawQuery(query): RawQuery) -> Response {
    let place = lead_back(&query.unwrap_or_default());
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}
