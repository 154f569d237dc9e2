//! What machines and jobs of a team ask over HTTP: to join, and for a line that stays.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::refusal::HttpRefusal;

/// The protocol of a line, in the headers of its request.
const PROTOCOL: &str = "callgate-relay";
/// The header with the number of a line, by which it is known again after a cut.
const NUMBER: &str = "callgate-line";
/// The longest body of a request to join, in bytes.
const LONGEST_BODY: usize = 4096;
/// The longest token, and the longest number of a line, in bytes.
const LONGEST_TOKEN: usize = 128;
/// How long a body may take, and a line to begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that carries a line.
pub type LineStream = TokioIo<Upgraded>;

pub type LinePlace = Box<dyn FnOnce(LineStream) + Send>;

pub type DeskFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The desk that machines and jobs of a team reach.
pub trait MachineDesk: Send + Sync + 'static {
    /// Returns why this desk takes no lines of machines now, if it does not.
    fn find_ailment(&self) -> Option<&'static str>;

    /// Lets a machine join with the secret of its invitation. Returns `None` for a secret of no
    /// invitation, and an error if that cannot be found out.
    fn join_machine<'a>(
        &'a self,
        secret: &'a str,
    ) -> DeskFuture<'a, Result<Option<MachineJoined>, String>>;

    /// Returns the place of the line that a token opens, or why there is none for it now. Returns
    /// `None` for a token of nobody.
    fn admit_line<'a>(
        &'a self,
        token: &'a str,
        number: &'a str,
    ) -> DeskFuture<'a, Option<Result<LinePlace, &'static str>>>;
}

/// What a machine gets when it joins.
#[derive(Debug, Serialize)]
pub struct MachineJoined {
    pub name: String,
    /// The token by which it is known from now on.
    pub token: String,
    /// The name of the team, or of its desk.
    pub team: String,
}

#[derive(Deserialize)]
struct MachineSecret {
    secret: String,
}

pub fn machine_routes(desk: Arc<dyn MachineDesk>) -> Router {
    Router::new()
        .route("/team/join", post(join_machine))
        .route("/team/line", get(open_line))
        .route("/team/health", get(tell_health))
        .with_state(desk)
}

async fn join_machine(State(desk): State<Arc<dyn MachineDesk>>, body: Body) -> Response {
    let refuse = |status, text: &str| HttpRefusal::new(status, text.to_owned()).into_response();
    let read = timeout(PATIENCE, axum::body::to_bytes(body, LONGEST_BODY)).await;
    let Ok(Ok(body)) = read else {
        return refuse(StatusCode::BAD_REQUEST, "the body is too long, or takes too long");
    };
    let Ok(MachineSecret { secret }) = serde_json::from_slice(&body) else {
        return refuse(StatusCode::BAD_REQUEST, "the body has to be JSON with a `secret`");
    };
    match desk.join_machine(&secret).await {
        Ok(Some(joined)) => match serde_json::to_string(&joined) {
            Ok(json) => {
                let headers = [
                    (header::CONTENT_TYPE, "application/json"),
                    // The body has a token.
                    (header::CACHE_CONTROL, "no-store"),
                ];
                (headers, json).into_response()
            }
            Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the answer cannot be written"),
        },
        Ok(None) => refuse(
            StatusCode::UNAUTHORIZED,
            "this invitation was used already, has expired or was taken back: ask for another one",
        ),
        Err(why) => HttpRefusal::no_desk(&why).into_response(),
    }
}

/// Tells a load balancer whether machines can be sent here.
async fn tell_health(State(desk): State<Arc<dyn MachineDesk>>) -> Response {
    match desk.find_ailment() {
        None => "ok\n".into_response(),
        Some(why) => HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, why).into_response(),
    }
}

async fn open_line(State(desk): State<Arc<dyn MachineDesk>>, mut request: Request) -> Response {
    let refuse = |status, text: &'static str| HttpRefusal::new(status, text).into_response();
    let headers = request.headers();
    let token = named_text(headers, header::AUTHORIZATION.as_str());
    let Some(token) = token.and_then(|value| value.strip_prefix("Bearer ")) else {
        return refuse(StatusCode::UNAUTHORIZED, "a token is needed");
    };
    if named_text(headers, header::UPGRADE.as_str()) != Some(PROTOCOL) {
        return refuse(StatusCode::UPGRADE_REQUIRED, "this is for a line of the relay protocol");
    }
    let number = named_text(headers, NUMBER).unwrap_or_default();
    // The number has a limit because it is kept for as long as the line is.
    if token.len() > LONGEST_TOKEN || number.len() > LONGEST_TOKEN {
        return refuse(StatusCode::UNAUTHORIZED, "this token is too long");
    }
    // Before the upgrade, because a refusal needs a status.
    let place = match desk.admit_line(token, number).await {
        Some(Ok(place)) => place,
        Some(Err(why)) => return refuse(StatusCode::SERVICE_UNAVAILABLE, why),
        None => return refuse(StatusCode::UNAUTHORIZED, "this token is not valid, or was revoked"),
    };
    // The upgrade is complete only after the answer was sent, so a task waits for it.
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        // A line that does not begin concerns nobody but its machine.
        if let Ok(Ok(stream)) = timeout(PATIENCE, upgrade).await {
            place(TokioIo::new(stream));
        }
    });
    let headers = [(header::CONNECTION, "Upgrade"), (header::UPGRADE, PROTOCOL)];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn named_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
