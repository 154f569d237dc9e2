//! One copy of a question: sent, and kept up to date.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::RequestId;
use tokio::sync::watch;
use tokio::time::Instant;

use super::api::Fault;
use super::gate::Lane;
use super::look::Look;
use super::{CALL, Line};
use crate::channel::{Copy, News};

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

/// Sends a copy and reports it. Returns its number and the version of its look. Faults that may
/// pass are waited out until `end`, which is when the question is given up.
pub(super) async fn show(
    line: &Line,
    question: &RequestId,
    newest: Newest,
    chat: i64,
    end: Instant,
) -> Option<(i64, u64)> {
    let send = || async {
        let look = Arc::clone(&newest.borrow());
        if look.last {
            return Ok(Sent::Needless);
        }
        let result = line.api.call("sendMessage", &look.params(chat, None), CALL).await?;
        let number = result["message_id"].as_i64().ok_or_else(nameless)?;
        Ok(Sent::There(number, look.version))
    };
    match line.retry_in_chat(chat, Lane::Show, end, send).await {
        Ok(Sent::There(message, version)) => {
            line.tell(News::Shown(Copy { question: question.clone(), chat, message })).await;
            Some((message, version))
        }
        Ok(Sent::Needless) => None,
        Err(fault) => {
            let why = fault.why().to_owned();
            line.tell(News::Unsendable { question: question.clone(), chat, why }).await;
            None
        }
    }
}

fn nameless() -> Fault {
    Fault::Refused { code: 200, why: "Telegram gave the message no number".to_owned() }
}

/// Gives a copy the newest look. Returns the version of the look that it has; `None` when it
/// cannot be changed any more.
pub(super) async fn edit(line: &Line, newest: Newest, chat: i64, message: i64) -> Option<u64> {
    let edit = || async {
        let look = Arc::clone(&newest.borrow());
        let params = look.params(chat, Some(message));
        match line.api.call("editMessageText", &params, CALL).await {
            Err(Fault::Refused { why, .. }) if why.contains("not modified") => Ok(look.version),
            edited => edited.map(|_| look.version),
        }
    };
    line.retry_in_chat(chat, Lane::Edit, Instant::now() + EDIT, edit).await.ok()
}
