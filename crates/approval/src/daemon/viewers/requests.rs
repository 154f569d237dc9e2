//! What becomes of a viewer's request: it is answered here, or the desk answers it.

use callgate_wire::desk::{Answer, Command, Link, Message, Request};

use super::Viewers;
use super::connection::{Said, error};
use super::seat::{Then, Unlocked};
use super::secrets;
use crate::asker::fresh_id;
use crate::channel::{Doing, News, Who};
use crate::daemon::letter::Letter;
use crate::desk::Input;

const NO_LEDGER: &str = "this could not be recorded, so it was not done: look at `callgate up`";
const TOO_MANY: &str = "too many of your requests are under way: wait for an answer";
const NO_RANDOM: &str = "the system gives no random numbers, so no code or token can be made";

/// Makes the desk's input, which names the act that it answers.
type MakeInput = Box<dyn FnOnce(Doing) -> Input + Send>;

impl Viewers {
    /// Handles a request. Returns what can be answered at once.
    pub(super) async fn request(&self, viewer: u64, request: Request) -> Option<Said> {
        let Request { id, command } = request;
        let answered = match command {
            Command::Watch { from } => return Some(Said::Watch { id, from }),
            Command::Status => Ok(Some(Answer::Status(self.status()))),
            Command::Links => self.links().map(Some),
            command => self.ask_desk(viewer, &id, command).await.map(|()| None),
        };
        let message = match answered {
            Ok(answer) => Message::answer(id, answer?),
            Err(text) => error(Some(id), text),
        };
        Some(Said::Message(message))
    }

    fn links(&self) -> Result<Answer, String> {
        let standing = self.standing().map_err(|error| error.to_string())?;
        let links = standing.into_iter().map(|(link, name)| Link { link, name });
        Ok(Answer::Links(links.collect()))
    }

    /// Gives the desk a request, which it answers in its own time.
    async fn ask_desk(&self, viewer: u64, id: &str, command: Command) -> Result<(), String> {
        // Without a seat the connection is about to end.
        let Some(who) = self.seats().get(&viewer).map(|seat| seat.who(viewer)) else {
            return Ok(());
        };
        let (then, input) = self.for_desk(who, command)?;
        let number = match self.seats().get_mut(&viewer) {
            Some(seat) => seat.expect(id, then).ok_or(TOO_MANY)?,
            None => return Ok(()),
        };
        let doing = Doing::Viewer { viewer, id: number.to_string() };
        if Letter::send_recorded(&self.to_desk, input(doing)).await {
            return Ok(());
        }
        // The desk may have answered meanwhile; nobody is answered twice.
        let is_unanswered = self.seats().get_mut(&viewer).is_some_and(|seat| seat.forget(number));
        if is_unanswered { Err(NO_LEDGER.to_owned()) } else { Ok(()) }
    }

    /// Returns what the desk is asked for a request, and what follows once it has agreed.
    fn for_desk(&self, who: Who, command: Command) -> Result<(Then, MakeInput), String> {
        Ok(match command {
            Command::Press { request_id: question, press } => {
                let copy = None;
                let news = move |doing| News::Pressed { who, question, press, doing, copy };
                (Then::Tell, Box::new(|doing| Input::News(news(doing))))
            }
            Command::Code => {
                let secret = secrets::code().map_err(|_| NO_RANDOM)?;
                let (code, id) = (secret.reveal().to_owned(), fresh_id());
                // The clerk finds out whether it is the first.
                let input = |doing| Input::NewCode { code, id, who, is_first: false, doing };
                (Then::Code(secret), Box::new(input))
            }
            Command::Pair { code, name } => {
                let token = secrets::token().map_err(|_| NO_RANDOM)?;
                let (token_hash, code) = (secrets::hash(&token), code.reveal().to_owned());
                let unlocked = Unlocked { hash: token_hash.clone(), name: name.clone() };
                let input = |doing| Input::PairViewer { code, name, token_hash, doing };
                (Then::Pair(token, unlocked), Box::new(input))
            }
            Command::Unlock { token } => {
                let token_hash = secrets::hash(&token);
                let mut standing = self.standing().map_err(|error| error.to_string())?;
                let name = standing.remove(&format!("viewer/{token_hash}"));
                let name = name.unwrap_or_else(|| "a viewer".to_owned());
                let then = Then::Unlock(Unlocked { hash: token_hash.clone(), name });
                (then, Box::new(|doing| Input::Unlock { token_hash, doing }))
            }
            Command::Unpair { link } => {
                (Then::Tell, Box::new(|doing| Input::Unpair { link, id: fresh_id(), who, doing }))
            }
            Command::Gate { value } => {
                let value = value.reveal().to_owned();
                (Then::Tell, Box::new(|doing| Input::Gate { value, who, doing }))
            }
            Command::Watch { .. } | Command::Links | Command::Status => {
                return Err("this needs no desk".to_owned());
            }
        })
    }
}
