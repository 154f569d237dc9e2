//! What becomes of a viewer's request: answered here, or given to the desk.

use callgate_wire::approval::{Press, RequestId};
use callgate_wire::desk::{Answer, Command, Link, Message, Request, Secret};
use tokio::sync::oneshot;

use super::Viewers;
use super::connection::{Said, error};
use super::seat::{Then, Unlocked};
use super::secrets;
use crate::asker::fresh_id;
use crate::channel::{Doing, News, Who};
use crate::daemon::clerk::Letter;
use crate::desk::Input;

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
            Command::Code => self.code(viewer, &id).await,
            Command::Press { request_id, press } => {
                self.press(viewer, &id, request_id, press).await
            }
            Command::Unlock { token } => self.unlock(viewer, &id, &token).await,
            Command::Pair { code, name } => self.pair(viewer, &id, &code, name).await,
            Command::Unpair { link } => self.unpair(viewer, &id, link).await,
            Command::Gate { value } => self.gate(viewer, &id, &value).await,
        };
        let message = match answered {
            Ok(answer) => Message::answer(id, answer?),
            Err(text) => error(Some(id), text),
        };
        Some(Said::Message(message))
    }

    async fn code(&self, viewer: u64, id: &str) -> Result<Option<Answer>, String> {
        let Some(who) = self.who(viewer) else { return Ok(None) };
        let secret = secrets::code().map_err(|_| NO_CHANCE)?;
        let (code, question) = (secret.reveal().to_owned(), fresh_id());
        // The clerk finds out whether it is the first.
        let input = |doing| Input::NewCode { code, id: question, who, is_first: false, doing };
        self.to_desk(viewer, id, Then::Code(secret), input).await
    }

    async fn unpair(&self, viewer: u64, id: &str, link: String) -> Result<Option<Answer>, String> {
        let Some(who) = self.who(viewer) else { return Ok(None) };
        let input = |doing| Input::Unpair { link, id: fresh_id(), who, doing };
        self.to_desk(viewer, id, Then::Tell, input).await
    }

    async fn gate(&self, viewer: u64, id: &str, value: &Secret) -> Result<Option<Answer>, String> {
        let Some(who) = self.who(viewer) else { return Ok(None) };
        let value = value.reveal().to_owned();
        self.to_desk(viewer, id, Then::Tell, |doing| Input::Gate { value, who, doing }).await
    }

    fn links(&self) -> Result<Answer, String> {
        let standing = self.standing().map_err(|error| error.to_string())?;
        let links = standing.into_iter().map(|(link, name)| Link { link, name });
        Ok(Answer::Links(links.collect()))
    }

    /// Who a viewer is; nothing when its seat was taken away, and its connection is about to end.
    fn who(&self, viewer: u64) -> Option<Who> {
        self.seats().get(&viewer).map(|seat| seat.who(viewer))
    }

    async fn press(
        &self,
        viewer: u64,
        id: &str,
        question: RequestId,
        press: Press,
    ) -> Result<Option<Answer>, String> {
        let Some(who) = self.who(viewer) else { return Ok(None) };
        let copy = None;
        let input = |doing| Input::News(News::Pressed { who, question, press, doing, copy });
        self.to_desk(viewer, id, Then::Tell, input).await
    }

    async fn unlock(
        &self,
        viewer: u64,
        id: &str,
        token: &Secret,
    ) -> Result<Option<Answer>, String> {
        let token_hash = secrets::hash(token);
        let mut standing = self.standing().map_err(|error| error.to_string())?;
        let name = standing.remove(&format!("viewer/{token_hash}"));
        let name = name.unwrap_or_else(|| "a viewer".to_owned());
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
