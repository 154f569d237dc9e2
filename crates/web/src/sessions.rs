//! The sessions of pages: each has a connection to the desk while the page uses it.
//!
//! The desk asks people whom it can reach, and a viewer with a valid token counts as one. So a
//! connection lives only as long as a request runs or an event stream is open.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use callgate_client::DeskError;
use callgate_client::desk::DeskClient;
use callgate_link::sync::lock;
use callgate_wire::desk::{DeskAnswer, DeskCommand, HiddenText, LONGEST_SECRET, NamedLink};
use callgate_wire::ledger::{VIEWER_LINK, viewer_identity};
use sha2::{Digest, Sha256};

use crate::connections::BrowserSeat;
use crate::headers::bearer_token;
use crate::origin::{PageOrigin, foreign_site_refusal};
use crate::refusal::HttpRefusal;
use crate::team_people::TeamPeople;
use crate::wrong_attempts::WrongAttempts;

/// How many valid keys are remembered.
const MOST_KNOWN: usize = 64;

/// All sessions that are in use, and the limits on guessing.
#[derive(Debug)]
pub(crate) struct PageSessions {
    desk_socket: PathBuf,
    sessions: Mutex<KnownSessions>,
    /// Held while a key is tried, so that no two connections are made for one session, and no more
    /// wrong keys are tried at once than the limit allows.
    keys: tokio::sync::Mutex<WrongAttempts>,
    /// Held while a code is tried.
    codes: tokio::sync::Mutex<WrongAttempts>,
    /// The people of a team, if the sessions are theirs and not those of the desk's owner.
    people: Option<Arc<dyn TeamPeople>>,
}

#[derive(Debug, Default)]
struct KnownSessions {
    live: HashMap<KeyDigest, Weak<PageSession>>,
    /// The keys that were valid recently. They may be tried even while wrong keys are being
    /// limited.
    good: VecDeque<KeyDigest>,
}

type KeyDigest = [u8; 32];

/// The key that a request shows, and the origin that it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct SessionKey {
    token: HiddenText,
    origin: PageOrigin,
}

#[derive(Debug)]
pub(crate) struct PageSession {
    pub(crate) desk: DeskClient,
    /// The person whose session it is; `None` for the owner of the desk.
    pub(crate) person: Option<PersonSession>,
}

#[derive(Debug)]
pub(crate) struct PersonSession {
    pub(crate) name: String,
    pub(crate) link: String,
}

/// The session of a request that comes from the page and shows a key which the desk has checked. A
/// handler that takes one is run for no other request.
#[derive(Debug)]
pub(crate) struct PageAccess {
    pub(crate) key: SessionKey,
    pub(crate) session: Arc<PageSession>,
}

impl<S: Send + Sync> FromRequestParts<S> for PageAccess
where
    Arc<PageSessions>: FromRef<S>,
{
    type Rejection = HttpRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpRefusal> {
        // `origin::guard` has put it there.
        let origin = parts.extensions.get::<PageOrigin>().ok_or_else(foreign_site_refusal)?;
        let key = SessionKey::from_headers(&parts.headers, origin.clone())?;
        let session = Arc::<PageSessions>::from_ref(state).open_session(&key).await?;
        if let Some(seat) = parts.extensions.get::<BrowserSeat>() {
            // Only now: a connection of whoever has no key has to make room for others.
            seat.has_shown_key();
        }
        Ok(Self { key, session })
    }
}

impl SessionKey {
    /// Reads the key from a request's headers.
    pub(crate) fn from_headers(
        headers: &HeaderMap,
        origin: PageOrigin,
    ) -> Result<Self, HttpRefusal> {
        let token = bearer_token(headers);
        match token.filter(|token| !token.is_empty() && token.len() <= LONGEST_SECRET) {
            Some(token) => Ok(Self { token: HiddenText::new(token), origin }),
            None => Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, "the request has no key")),
        }
    }

    /// Returns the link under which the desk knows the key.
    fn link(&self) -> String {
        let hash = Sha256::digest(self.token.reveal());
        format!("{VIEWER_LINK}{}", viewer_identity(&hash, Some(&self.origin.0)))
    }

    fn digest(&self) -> KeyDigest {
        // The zero keeps an origin and a token from being read as a longer origin and a shorter
        // token.
        let hash = Sha256::new().chain_update(&self.origin.0).chain_update([0]);
        hash.chain_update(self.token.reveal()).finalize().into()
    }
}

impl PageSession {
    /// Returns true if a link is one of the person's own.
    pub(crate) async fn has_link(&self, link: &str) -> Result<bool, HttpRefusal> {
        let links = read_links(&self.desk).await?;
        let person = self.person.as_ref().map(|person| person.name.as_str());
        Ok(links.iter().any(|known| known.link == link && known.person.as_deref() == person))
    }
}

impl PageSessions {
    pub(crate) fn new(desk_socket: PathBuf, people: Option<Arc<dyn TeamPeople>>) -> Self {
        Self {
            desk_socket,
            people,
            sessions: Mutex::default(),
            keys: tokio::sync::Mutex::default(),
            codes: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the session of a key, which the desk has checked.
    pub(crate) async fn open_session(
        &self,
        key: &SessionKey,
    ) -> Result<Arc<PageSession>, HttpRefusal> {
        let digest = key.digest();
        if let Some(session) = self.find_live(&digest) {
            return Ok(session);
        }
        // A key that is looked up is not guessed, so wrong ones keep nobody out. People of a team
        // may all come from one address.
        if let Some(people) = &self.people
            && !people.has_link(&key.link()).await
        {
            return Err(self.wrong_key());
        }
        // Held while the desk is asked: keys are tried one after the other, and each counts.
        let mut wrong = self.keys.lock().await;
        // Another request may have opened it meanwhile.
        if let Some(session) = self.find_live(&digest) {
            return Ok(session);
        }
        // Wrong keys do not hold up a page whose key was good.
        if self.people.is_none() && !lock(&self.sessions).good.contains(&digest) {
            let waited = wrong.check_wait(Instant::now());
            waited.map_err(|wait| HttpRefusal::too_many(TOO_MANY_KEYS, wait))?;
        }
        let Some(session) = self.begin_session(key).await? else {
            wrong.add_attempt(Instant::now());
            // A key that was good before was unlinked, and is limited like any other wrong one from
            // now on.
            lock(&self.sessions).good.retain(|good| *good != digest);
            return Err(self.wrong_key());
        };
        let session = Arc::new(session);
        lock(&self.sessions).remember(digest, &session);
        Ok(session)
    }

    /// Begins the session of a key. Returns `None` if the key is not valid here.
    async fn begin_session(&self, key: &SessionKey) -> Result<Option<PageSession>, HttpRefusal> {
        let Some(desk) = self.unlock_desk(key).await? else { return Ok(None) };
        if self.people.is_none() {
            return Ok(Some(PageSession { desk, person: None }));
        }
        // A valid key is not enough, because the desk knows keys that are no person's.
        let link = key.link();
        let known = read_links(&desk).await?.into_iter().find(|known| known.link == link);
        let name = known.and_then(|known| known.person);
        Ok(name.map(|name| PageSession { desk, person: Some(PersonSession { name, link }) }))
    }

    pub(crate) async fn connect(&self, key: &SessionKey) -> Result<DeskClient, HttpRefusal> {
        self.unlock_desk(key).await?.ok_or_else(|| self.wrong_key())
    }

    fn wrong_key(&self) -> HttpRefusal {
        let text = match self.people {
            None => {
                "this page is not linked (any more): press o in the terminal of `callgate up`, or \
                 run `callgate open`, and use the new link"
            }
            Some(_) => "you are not signed in (any more)",
        };
        HttpRefusal::new(StatusCode::UNAUTHORIZED, text)
    }

    /// Connects to the desk and shows it the key. Returns `None` if the key is not valid.
    async fn unlock_desk(&self, key: &SessionKey) -> Result<Option<DeskClient>, HttpRefusal> {
        let desk = DeskClient::connect(&self.desk_socket)?;
        let (token, origin) = (key.token.clone(), Some(key.origin.0.clone()));
        match desk.ask(DeskCommand::Unlock { token, origin, name: None }).await? {
            DeskAnswer::Told { done, .. } => Ok(done.then_some(desk)),
            _ => Err(DeskError::Unexpected.into()),
        }
    }

    /// Asks the desk to pair a page by a code. Returns its key.
    pub(crate) async fn pair(
        &self,
        code: HiddenText,
        name: String,
        origin: PageOrigin,
    ) -> Result<HiddenText, HttpRefusal> {
        // Held while the desk is asked, so that codes cannot be tried all at once.
        let mut wrong = self.codes.lock().await;
        let waited = wrong.check_wait(Instant::now());
        waited.map_err(|wait| HttpRefusal::too_many(TOO_MANY_CODES, wait))?;
        let command = DeskCommand::Pair { code, name, origin: Some(origin.0) };
        match DeskClient::connect(&self.desk_socket)?.ask(command).await? {
            DeskAnswer::Paired { token } => Ok(token),
            DeskAnswer::Told { text, .. } => {
                wrong.add_attempt(Instant::now());
                Err(HttpRefusal::new(StatusCode::FORBIDDEN, text))
            }
            _ => Err(DeskError::Unexpected.into()),
        }
    }

    /// Returns the session of a key if it is in use, connected and not locked.
    fn find_live(&self, digest: &KeyDigest) -> Option<Arc<PageSession>> {
        let session = lock(&self.sessions).live.get(digest)?.upgrade()?;
        // A locked connection is no session any more, because the desk has removed its link.
        let is_good = !session.desk.is_closed() && !session.desk.is_locked();
        is_good.then_some(session)
    }
}

impl KnownSessions {
    fn remember(&mut self, digest: KeyDigest, session: &Arc<PageSession>) {
        // What has ended is cleared here, because nothing runs when a session does.
        self.live.retain(|_, session| session.strong_count() > 0);
        // It is held weakly, so that the connection to the desk ends with the last request or
        // stream that uses it.
        self.live.insert(digest, Arc::downgrade(session));
        self.good.retain(|good| *good != digest);
        self.good.push_back(digest);
        if self.good.len() > MOST_KNOWN {
            self.good.pop_front();
        }
    }
}

const TOO_MANY_KEYS: &str = "too many wrong keys were tried: wait a little";
const TOO_MANY_CODES: &str = "too many wrong codes were tried: wait a little";

async fn read_links(desk: &DeskClient) -> Result<Vec<NamedLink>, HttpRefusal> {
    match desk.ask(DeskCommand::Links).await? {
        DeskAnswer::Links { links } => Ok(links),
        _ => Err(DeskError::Unexpected.into()),
    }
}
