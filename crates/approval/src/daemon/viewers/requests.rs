//! What becomes of a viewer's request: it is answered here, or the desk answers it.

use callgate_store::{Store, now_ms};
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskRequest, NamedLink};
use callgate_wire::ledger::{ChainedLinks, REMOTE_LINK, VIEWER_LINK};

use super::Viewers;
use super::reply::{ViewerReply, error_message};
use super::seat::{RequestOutcome, UnlockedToken};
use super::secrets;
use crate::asker::fresh_id;
use crate::channel::{ChannelReport, Person, ReplyTo};
use crate::desk::{CODE_LIFETIME, DeskInput, PAGE_CODE_LIFETIME};
use crate::viewer_token::{new_viewer_token, token_identity};

const NO_LEDGER: &str = "this could not be recorded, so it was not done: look at `callgate up`";
const TOO_MANY: &str = "too many of your requests are under way: wait for an answer";
const NO_RANDOM: &str = "the system gives no random numbers, so no code or token can be made";

/// Makes the desk's input, which names the act that it answers.
type MakeInput = Box<dyn FnOnce(ReplyTo) -> DeskInput + Send>;

impl Viewers {
    /// Handles a request. Returns what can be answered at once.
    pub(super) async fn handle_request(
        &self,
        viewer: u64,
        request: DeskRequest,
    ) -> Option<ViewerReply> {
        let DeskRequest { id, command } = request;
        let answered = match command {
            DeskCommand::Watch { from } => return Some(ViewerReply::Watch { id, from }),
            DeskCommand::Status => Ok(Some(DeskAnswer::Status { status: Box::new(self.status()) })),
            DeskCommand::Remotes => {
                Ok(Some(DeskAnswer::Remotes { remotes: self.pulse.remote_board().remotes() }))
            }
            DeskCommand::Links => self.list_links().map(Some),
            command => self.ask_desk(viewer, &id, command).await.map(|()| None),
        };
        let message = match answered {
            Ok(answer) => DeskMessage::answer(id, answer?),
            Err(text) => error_message(Some(id), text),
        };
        Some(ViewerReply::Message(message))
    }

    fn list_links(&self) -> Result<DeskAnswer, String> {
        let ChainedLinks { standing, mut team, .. } =
            self.read_ledger(Store::chained_links).map_err(|error| error.to_string())?;
        // Machines that only ask may not answer.
        let standing = standing.into_iter().filter(|(link, _)| !link.starts_with(REMOTE_LINK));
        let links = standing.map(|(link, name)| {
            let person = team.people.remove(&link);
            NamedLink { link, name, person }
        });
        Ok(DeskAnswer::Links { links: links.collect() })
    }

    /// Passes the desk a request, which it answers in its own time.
    async fn ask_desk(&self, viewer: u64, id: &str, command: DeskCommand) -> Result<(), String> {
        // Without a seat the connection is about to end.
        let Some(who) = self.seats().get(&viewer).map(|seat| seat.person_at(viewer)) else {
            return Ok(());
        };
        // Without the lock of the seats, because this may read the ledger.
        let (then, input) = self.for_desk(who, command)?;
        let number = match self.seats().get_mut(&viewer) {
            Some(seat) => seat.add_request(id, then).ok_or(TOO_MANY)?,
            None => return Ok(()),
        };
        let reply_to = ReplyTo::Viewer { viewer, id: number.to_string() };
        if self.to_desk.send_recorded(input(reply_to)).await {
            return Ok(());
        }
        // The desk may have answered meanwhile; nobody is answered twice.
        let is_unanswered =
            self.seats().get_mut(&viewer).is_some_and(|seat| seat.forget_request(number));
        if is_unanswered { Err(NO_LEDGER.to_owned()) } else { Ok(()) }
    }

    /// Returns what the desk is asked for a request, and what follows once it has agreed.
    fn for_desk(
        &self,
        who: Person,
        command: DeskCommand,
    ) -> Result<(RequestOutcome, MakeInput), String> {
        Ok(match command {
            DeskCommand::Press { request_id: question, press, confirm } => {
                let copy = None;
                let news = move |reply_to| ChannelReport::Pressed {
                    who,
                    question,
                    press,
                    confirm,
                    reply_to,
                    copy,
                };
                tell_outcome(|reply_to| DeskInput::News(news(reply_to)))
            }
            DeskCommand::Answer { request_id: question, answer } => {
                tell_outcome(|reply_to| DeskInput::Answered { who, question, answer, reply_to })
            }
            DeskCommand::Code { page: is_for_page } => {
                let secret = secrets::new_pairing_code().map_err(|_| NO_RANDOM)?;
                let (code, id) = (secret.reveal().to_owned(), fresh_id());
                let lifetime = if is_for_page { PAGE_CODE_LIFETIME } else { CODE_LIFETIME };
                // The clerk finds out whether it is the first.
                let is_first = false;
                let input = move |reply_to| DeskInput::NewCode {
                    code,
                    id,
                    who,
                    is_for_page,
                    is_first,
                    reply_to,
                };
                (RequestOutcome::Code(secret, lifetime), Box::new(input))
            }
            DeskCommand::Pair { code, name, origin } => {
                let token = new_viewer_token().map_err(|_| NO_RANDOM)?;
                let token_hash = token_identity(&token, origin.as_deref());
                let code = code.reveal().to_owned();
                let unlocked = UnlockedToken {
                    hash: token_hash.clone(),
                    name: name.clone(),
                    since_ms: now_ms(),
                };
                let input = |reply_to| DeskInput::PairViewer { code, name, token_hash, reply_to };
                (RequestOutcome::Pair(token, unlocked), Box::new(input))
            }
            DeskCommand::Unlock { token, origin, name: own_name } => {
                let token_hash = token_identity(&token, origin.as_deref());
                let links = self.read_ledger(Store::chained_links);
                let mut links = links.map_err(|error| error.to_string())?;
                let name = links.standing.remove(&format!("{VIEWER_LINK}{token_hash}"));
                // The name in the chain counts before the one that a viewer gives itself.
                let name = name.or(own_name).unwrap_or_else(|| "a viewer".to_owned());
                let unlocked = UnlockedToken { hash: token_hash.clone(), name, since_ms: now_ms() };
                let then = RequestOutcome::Unlock(unlocked);
                (then, Box::new(|reply_to| DeskInput::Unlock { token_hash, reply_to }))
            }
            DeskCommand::Unpair { link } => {
                tell_outcome(|reply_to| DeskInput::Unpair { link, id: fresh_id(), who, reply_to })
            }
            DeskCommand::Gate { value } => {
                let value = value.reveal().to_owned();
                tell_outcome(|reply_to| DeskInput::Gate { value, who, reply_to })
            }
            DeskCommand::Try => {
                tell_outcome(|reply_to| DeskInput::Try { id: fresh_id(), who, reply_to })
            }
            _ => return Err("this needs no desk".to_owned()),
        })
    }
}

fn tell_outcome(
    input: impl FnOnce(ReplyTo) -> DeskInput + Send + 'static,
) -> (RequestOutcome, MakeInput) {
    (RequestOutcome::Tell, Box::new(input))
}
