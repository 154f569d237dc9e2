//! What becomes of a viewer's request: answered here, or given to the desk.

use callgate_wire::desk::{Answer, Command, Deed, Link, Message, Press, Request, Secret};
use tokio::sync::oneshot;

use super::Viewers;
use super::connection::{Said, error};
use super::seat::{Then, Unlocked};
use super::secrets;
use crate::channel::{self, Doing, News};
use crate::daemon::clerk::Letter;
use crate::desk::{CODE_LIFETIME, Input, KEPT_LINKS};

const NO_LEDGER: &str = "this could not be recorded, so it was not done: look at `callgate up`";
const TOO_MANY: &str = "too many of your requests are under way: wait for an answer";
const NO_CHANCE: &str = "the system gives no random numbers, so no code or token can be made";

impl Viewers {
    /// Deals with a request; what there is to say at once comes back.
    pub(super) async fn request(&self, viewer: u64, request: Request) -> Option<Said> {
        let Request { id, command } = request;
        let answered = match command {
            Command::Watch { from } => return Some(Said::Watch { id, from }),
            Command::Status => Ok(Some(Answer::Status(self.status()))),
            Command::Links => self.links().map(Some),
            Command::Code => self.code().await.map(Some),
            Command::Press(press) => self.press(viewer, &id, press).await,
            Command::Unlock { token } => self.unlock(viewer, &id, &token).await,
            Command::Pair { code, name } => self.pair(viewer, &id, &code, name).await,
            Command::Unpair { link } => {
                let input = |doing| Input::Unpair { link, doing };
                self.to_desk(viewer, &id, Then::Tell, input).await
            }
        };
        let message = match answered {
            Ok(answer) => Message::answer(id, answer?),
            Err(text) => error(Some(id), text),
        };
        Some(Said::Message(message))
    }

    async fn code(&self) -> Result<Answer, String> {
        let code = secrets::code().map_err(|_| NO_CHANCE)?;
        if !self.is_recorded(Input::NewCode(code.reveal().to_owned())).await {
            return Err(NO_LEDGER.to_owned());
        }
        Ok(Answer::Code { code, seconds: CODE_LIFETIME.as_secs() })
    }

    fn links(&self) -> Result<Answer, String> {
        let kept = self.kept(KEPT_LINKS).map_err(|error| error.to_string())?;
        let link = |(key, name): (String, String)| {
            Some(Link { link: key.strip_prefix(KEPT_LINKS)?.to_owned(), name })
        };
        Ok(Answer::Links(kept.into_iter().filter_map(link).collect()))
    }

    async fn press(&self, viewer: u64, id: &str, press: Press) -> Result<Option<Answer>, String> {
        let Some(who) = self.seats().get(&viewer).map(|seat| seat.who(viewer)) else {
            return Ok(None);
        };
        let Press { request_id: question, deed } = press;
        let press = match deed {
            Deed::Action(action) => channel::Press::Button(action),
            Deed::Words(words) => channel::Press::Words(words),
            Deed::Input(input) => channel::Press::Edited(input.get().to_owned()),
        };
        let input = |doing| Input::News(News::Pressed { who, question, press, doing });
        self.to_desk(viewer, id, Then::Tell, input).await
    }

    async fn unlock(
        &self,
        viewer: u64,
        id: &str,
        token: &Secret,
    ) -> Result<Option<Answer>, String> {
        let token_hash = secrets::hash(token);
        let kept = self.kept(&format!("{KEPT_LINKS}viewer/{token_hash}"));
        let kept = kept.map_err(|error| error.to_string())?;
        let name = kept.into_iter().next().map_or_else(|| "a viewer".to_owned(), |(_, name)| name);
        let then = Then::Unlock(Unlocked { hash: token_hash.clone(), name });
        self.to_desk(viewer, id, then, |doing| Input::Unlock { token_hash, doing }).await
    }

    async fn pair(
        &self,
        viewer: u64,
        id: &str,
        code: &Secret,
        name: String,
    ) -> Result<Option<Answer>, String> {
        let token = secrets::token().map_err(|_| NO_CHANCE)?;
        let (token_hash, code) = (secrets::hash(&token), code.reveal().to_owned());
        let unlocked = Unlocked { hash: token_hash.clone(), name: name.clone() };
        let input = |doing| Input::PairViewer { code, name, token_hash, doing };
        self.to_desk(viewer, id, Then::Pair(token, unlocked), input).await
    }

    /// Gives the desk something that it answers in its own time.
    async fn to_desk(
        &self,
        viewer: u64,
        id: &str,
        then: Then,
        input: impl FnOnce(Doing) -> Input,
    ) -> Result<Option<Answer>, String> {
        let number = match self.seats().get_mut(&viewer) {
            Some(seat) => seat.expect(id, then).ok_or(TOO_MANY)?,
            // Its seat was taken away, and the connection is about to end.
            None => return Ok(None),
        };
        let doing = Doing::Viewer { viewer, id: number.to_string() };
        if self.is_recorded(input(doing)).await {
            return Ok(None);
        }
        // The desk may have told it meanwhile; nobody is answered twice.
        let is_unanswered = self.seats().get_mut(&viewer).is_some_and(|seat| seat.forget(number));
        if is_unanswered { Err(NO_LEDGER.to_owned()) } else { Ok(None) }
    }

    async fn is_recorded(&self, input: Input) -> bool {
        let (recorded, is_recorded) = oneshot::channel();
        let letter = Letter::with_receipt(input, recorded);
        self.to_desk.send(letter).await.is_ok() && is_recorded.await.is_ok()
    }
}
