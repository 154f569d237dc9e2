//! Asks one question at a desk, on a thread of its own, and waits for the outcome.

mod watch;

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use callgate_approval::asker::{Asker, AskerCancellation, AskerSettings, NoAnswer};
use callgate_approval::daemon::Warn;
use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision, RequestId};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::board::{Board, PostedQuestion};

/// How long to wait for the desk's words after its answer.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What the front end is shown of a question that was withdrawn.
const WITHDRAWN: &str = "It was withdrawn";

pub(super) struct QuestionToAsk {
    pub(super) settings: AskerSettings,
    pub(super) request: ApprovalRequest,
    pub(super) board: Arc<Board>,
    /// Where the daemon's desk says what becomes of the question; `None` for our own desk.
    pub(super) watched: Option<PathBuf>,
    pub(super) warn: Warn,
}

#[derive(Debug)]
pub(super) enum AskOutcome {
    Allowed {
        /// By whom, in the desk's words.
        text: String,
        /// The arguments as a person has changed them.
        input: Option<Box<RawValue>>,
        /// Whether the same is allowed from now on.
        always: bool,
    },
    Denied {
        text: String,
        /// Whether the turn ends.
        interrupt: bool,
    },
    /// The desk cannot be reached: nothing was asked.
    Unreached(NoAnswer),
}

/// A question that somebody waits for. Dropping it withdraws the question, unless it is closed.
struct WithdrawOnDrop {
    board: Arc<Board>,
    id: RequestId,
}

impl Drop for WithdrawOnDrop {
    fn drop(&mut self) {
        self.board.withdraw(&self.id, WITHDRAWN);
    }
}

/// Asks. The question is withdrawn when the future is dropped.
pub(super) async fn ask_question(asking: QuestionToAsk, posted: PostedQuestion) -> AskOutcome {
    let (board, id) = (Arc::clone(&asking.board), asking.request.request_id.clone());
    let may_press = posted.mirror.is_some();
    // Posted before it can be shown, so that it is not shown once it was withdrawn.
    board.post(&id, posted);
    let _waiting = WithdrawOnDrop { board, id };
    let started = || -> io::Result<_> {
        // The thread waits in system calls, and learns by the pipe that nobody waits for it any
        // more.
        let (gone, wanted) = io::pipe()?;
        let (answer_in, answer) = oneshot::channel();
        thread::Builder::new().name("ask".to_owned()).spawn(move || {
            let unwanted = AskerCancellation::default().when_closed(gone.as_fd());
            // If nobody waits any more, the answer is dropped.
            answer_in.send(asking.ask_and_wait(may_press, &unwanted)).ok();
        })?;
        Ok((wanted, answer))
    };
    let (wanted, answer) = match started() {
        Ok(started) => started,
        Err(error) => return denied_outcome(format!("nobody can be asked: {error}")),
    };
    let answered = answer.await;
    // While this was open the thread knew that somebody waits.
    drop(wanted);
    answered.unwrap_or_else(|_| {
        denied_outcome(
            "the question was lost because of a bug in callgate: please report it".to_owned(),
        )
    })
}

fn denied_outcome(text: String) -> AskOutcome {
    AskOutcome::Denied { text, interrupt: false }
}

impl QuestionToAsk {
    fn ask_and_wait(self, may_press: bool, unwanted: &AskerCancellation<'_>) -> AskOutcome {
        let Self { settings, mut request, board, watched, warn } = self;
        if let Some(context) = request.context.as_mut().filter(|_| may_press) {
            // Otherwise a desk that reaches nobody itself would send the question back at once.
            context.answers = Some(true);
        }
        let asker = match Asker::dial(&settings, unwanted) {
            Ok(asker) => asker,
            Err(error) => return AskOutcome::Unreached(error),
        };
        let id = request.request_id.clone();
        // The desk in this process notifies the board itself.
        let watching = watched.map(|socket| watch::start_watch(socket, &board, &id)).transpose();
        let watching = watching.inspect_err(|error| {
            warn(&format!("cannot see what the desk does: {error}"));
        });
        let answer = asker.ask(&request);
        let text = match (&answer, &watching) {
            // The desk's words are waited for, because they come with its entry in the ledger,
            // which may be later than the answer.
            (Ok(_), Ok(_)) => board.wait_for_end(&id, LAST_WORDS),
            _ => None,
        };
        drop(watching);
        close_question(&board, &id, answer, text, settings.timeout)
    }
}

/// Shows how the question ended, and returns it.
fn close_question(
    board: &Board,
    id: &RequestId,
    answer: Result<ApprovalResponse, NoAnswer>,
    text: Option<String>,
    timeout: Duration,
) -> AskOutcome {
    let response = match answer {
        Ok(response) => response,
        // It is closed already.
        Err(NoAnswer::Unwanted) => return denied_outcome(WITHDRAWN.to_owned()),
        Err(error) => {
            board.close(id, "timeout", &error.to_string());
            return denied_outcome(format!("nobody decided, so the tool did not run: {error}"));
        }
    };
    let decision = response.decision.name();
    match response.decision {
        Decision::Allow => {
            let text = text.unwrap_or_else(|| "Allowed at the desk".to_owned());
            board.close(id, decision, &text);
            let always = response.always_allow_suggestion.is_some();
            AskOutcome::Allowed { text, input: response.updated_input, always }
        }
        Decision::Deny => {
            let message = response.message.unwrap_or_else(|| "Denied at the desk.".to_owned());
            board.close(id, decision, text.as_deref().unwrap_or(&message));
            AskOutcome::Denied { text: message, interrupt: response.interrupt }
        }
        Decision::Timeout | Decision::Ask | Decision::None => {
            let seconds = timeout.as_secs();
            let text = text.unwrap_or_else(|| format!("Nobody answered within {seconds} s"));
            board.close(id, decision, &text);
            denied_outcome(format!("{text}: the tool did not run"))
        }
    }
}
