//! One copy of a question: sent, and kept up to date.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::RequestId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Line;
use super::api::Fault;
use super::gate::{Lane, Pauses};
use super::look::Look;
use crate::channel::{Copy, News};

/// How long one call may take. Longer than a question may take to reach a chat: what arrives
/// late is known, not lost.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// For how long an edit is tried again.
const EDIT: Duration = Duration::from_mins(10);

/// The newest look of a question.
pub(super) type Newest = watch::Receiver<Arc<Look>>;

/// What has become of an attempt to send a copy.
enum Sent {
    /// It is there, with this number and this version of its look.
    There(i64, u64),
    /// The question was over before it could be sent.
    Needless,
}

/// Sends a copy and reports it. Gives its number and the version of its look. What is not there
/// at `end` is reported as unsendable, and tried no more; if the last attempt works after all, the
/// copy is reported too.
pub(super) async fn show(
    line: &Line,
    question: &RequestId,
    newest: Newest,
    chat: i64,
    end: Instant,
) -> Option<(i64, u64)> {
    let mut is_late = false;
    let sent = {
        let mut sending = std::pin::pin!(send(line, newest, chat, end));
        tokio::select! {
            biased;
            sent = &mut sending => sent,
            () = sleep_until(end) => {
                is_late = true;
                let why = format!("it did not reach the chat within {:?}", line.reach);
                line.tell(News::Unsendable { question: question.clone(), chat, why }).await;
                sending.await
            }
        }
    };
    match sent {
        Ok(Sent::There(message, version)) => {
            // Somebody may have pressed a button on it before we were told that it is there.
            if line.presses.is_new_copy(chat, message) {
                line.tell(News::Shown(Copy { question: question.clone(), chat, message })).await;
            }
            Some((message, version))
        }
        Ok(Sent::Needless) => None,
        Err(fault) => {
            if !is_late {
                let why = fault.why().to_owned();
                line.tell(News::Unsendable { question: question.clone(), chat, why }).await;
            }
            None
        }
    }
}

async fn send(line: &Line, newest: Newest, chat: i64, end: Instant) -> Result<Sent, Fault> {
    let gate = line.gates.of(chat);
    let mut pauses = Pauses::new(line.pause);
    let mut last = None;
    loop {
        let attempt = async {
            let look = Arc::clone(&newest.borrow());
            if look.last {
                return Ok(Sent::Needless);
            }
            let result = line.api.call("sendMessage", &look.params(chat, None), CALL).await?;
            let number = result["message_id"].as_i64().ok_or_else(nameless)?;
            Ok(Sent::There(number, look.version))
        };
        let fault = match gate.pass(Lane::Show, end, attempt).await {
            Some(Ok(sent)) => return Ok(sent),
            Some(Err(fault)) => fault,
            None => return Err(last.unwrap_or_else(crowded)),
        };
        let Fault::Passing { wait, .. } = &fault else { return Err(fault) };
        let next = Instant::now() + wait.unwrap_or_else(|| pauses.next());
        if let Some(wait) = wait {
            gate.keep_quiet(*wait);
        }
        if next >= end {
            return Err(fault);
        }
        sleep_until(next).await;
        last = Some(fault);
    }
}

fn nameless() -> Fault {
    Fault::Refused { code: 200, why: "Telegram gave the message no number".to_owned() }
}

fn crowded() -> Fault {
    let why = "Telegram wants quiet in this chat, or too much is on its way there".to_owned();
    Fault::Passing { why, wait: None }
}

/// Gives a copy the newest look. Gives the version of the look that it has; none when it cannot
/// be changed any more.
pub(super) async fn edit(line: &Line, mut newest: Newest, chat: i64, message: i64) -> Option<u64> {
    let gate = line.gates.of(chat);
    let end = Instant::now() + EDIT;
    let mut pauses = Pauses::new(line.pause);
    loop {
        let look = Arc::clone(&newest.borrow_and_update());
        let params = look.params(chat, Some(message));
        let attempt = line.api.call("editMessageText", &params, CALL);
        let wait = match gate.pass(Lane::Edit, end, attempt).await? {
            Ok(_) => return Some(look.version),
            Err(Fault::Refused { why, .. }) if why.contains("not modified") => {
                return Some(look.version);
            }
            Err(Fault::Passing { wait: Some(wait), .. }) => {
                gate.keep_quiet(wait);
                wait
            }
            Err(Fault::Passing { wait: None, .. }) => pauses.next(),
            Err(_) => return None,
        };
        sleep_until((Instant::now() + wait).min(end)).await;
        if Instant::now() >= end {
            return None;
        }
    }
}
