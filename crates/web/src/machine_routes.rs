//! What machines and jobs of a team ask over HTTP: to join, and for a line that stays.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use callgate_wire::relay::{
    JOIN_PATH, LINE_NUMBER, LINE_PATH, LINE_PROTOCOL, MachineJoined, MachineSecret,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::headers::bearer_token;
use crate::page_limits::PageLimits;
use crate::refusal::HttpRefusal;
use crate::request_body::{json_response, read_json};

/// The longest body of a request to join, in bytes.
const LONGEST_BODY: usize = 4096;
/// The longest token, and the longest number of a line, in bytes.
const LONGEST_TOKEN: usize = 128;
/// How long a line may take to begin.
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

pub fn machine_routes(desk: Arc<dyn MachineDesk>, limits: PageLimits) -> Router {
    Router::new()
        .route(JOIN_PATH, post(join_machine))
        .route(LINE_PATH, get(open_line))
        .route("/team/health", get(tell_health))
        .layer(Extension(limits))
        .with_state(desk)
}

async fn join_machine(
    State(desk): State<Arc<dyn MachineDesk>>,
    Extension(limits): Extension<PageLimits>,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let (within, expected) = (limits.body_within, "the body has to be JSON with a `secret`");
    let MachineSecret { secret } = read_json(body, LONGEST_BODY, within, expected).await?;
    let joined = desk.join_machine(&secret).await.map_err(|why| HttpRefusal::no_desk(&why))?;
    let unknown =
        "this invitation was used already, has expired or was taken back: ask for another one";
    let joined = joined.ok_or_else(|| HttpRefusal::new(StatusCode::UNAUTHORIZED, unknown))?;
    // The body has a token.
    Ok(([(header::CACHE_CONTROL, "no-store")], json_response(&joined)).into_response())
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
    let Some(token) = bearer_token(headers) else {
        return refuse(StatusCode::UNAUTHORIZED, "a token is needed");
    };
    if named_text(headers, header::UPGRADE.as_str()) != Some(LINE_PROTOCOL) {
        return refuse(StatusCode::UPGRADE_REQUIRED, "this is for a line of the relay protocol");
    }
    let number = named_text(headers, LINE_NUMBER).unwrap_or_default();
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
    let headers = [(header::CONNECTION, "Upgrade"), (header::UPGRADE, LINE_PROTOCOL)];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn named_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
