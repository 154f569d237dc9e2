//! How a person comes to sign in to a server: with a message that would use its tools, or with a
//! call that it has refused.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_link::sync::lock;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::ToolServer;
use crate::mcp::oauth::{FinishedSignIn, PendingSignIn, ServerAccess};
use crate::mcp::server_state::{ServerState, how_to_sign_in};
use crate::tool::{PersonAsker, PersonReply, TurnContext, TurnStay, raw_json};

#[derive(Default)]
pub(super) struct SignInProgress {
    /// Whether a person is asked, or a browser is waited for.
    is_open: AtomicBool,
    /// Whether nobody is asked again: somebody has declined, or nobody could be asked.
    is_declined: AtomicBool,
    /// Ends what waits for a browser beside a turn.
    waiting: Mutex<Option<AbortHandle>>,
}

impl SignInProgress {
    /// Ends a sign-in that waits for its person.
    pub(super) fn end(&self) {
        if let Some(waiting) = lock(&self.waiting).take() {
            waiting.abort();
        }
    }
}

impl ToolServer {
    /// Returns true if it has refused a request, and a sign-in could help.
    pub(super) fn wants_sign_in(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.is_refused())
    }

    /// Asks a person to sign in, if the server needs that, beside the turn.
    pub(in crate::mcp) fn ask_to_sign_in(&self, turn: &TurnContext<'_>) {
        let (Some(server), Some(access)) = (self.this.upgrade(), self.access.clone()) else {
            return;
        };
        if !self.has_state(&ServerState::NeedsSignIn) {
            return;
        }
        if !turn.may_ask || self.sign_in.is_declined.load(Ordering::Relaxed) {
            return self.is_not_signed_in("nobody has signed in to it");
        }
        if self.sign_in.is_open.swap(true, Ordering::AcqRel) {
            let name = &self.settings.name;
            self.context
                .tell_front_end(format!("the MCP server `{name}` waits until you have signed in"));
            return;
        }
        let (asker, stay) = (turn.asker.clone(), turn.stay.clone());
        let waiting = tokio::spawn(async move {
            // Dropped even if the task is aborted, so that the next message can ask again.
            let _open = OpenSignIn(&server.sign_in);
            let ended = server.sign_in_by_question(&access, &asker, Some(stay)).await;
            server.sign_in_ended(ended).await;
        });
        *lock(&self.sign_in.waiting) = Some(waiting.abort_handle());
    }

    /// Notes how a sign-in beside a turn has ended, and connects after a successful one.
    async fn sign_in_ended(&self, ended: Result<FinishedSignIn, NotSignedIn>) {
        match ended {
            Ok(finished) => {
                // A failure has been reported. The person learns of the end when the tools are
                // there.
                let is_connected = self.connect().await.is_ok();
                finished.show(is_connected).await;
                if self.wants_sign_in() {
                    self.sign_in.is_declined.store(true, Ordering::Relaxed);
                    self.is_not_signed_in("it refuses this sign-in");
                }
            }
            Err(NotSignedIn::Withdrawn) => {}
            Err(NotSignedIn::Declined) => {
                self.sign_in.is_declined.store(true, Ordering::Relaxed);
                self.is_not_signed_in("nobody has signed in to it");
            }
            Err(NotSignedIn::Failed(why)) => self.is_not_signed_in(&why),
        }
    }

    /// Records and reports that the server cannot be used without a sign-in.
    fn is_not_signed_in(&self, why: &str) {
        let name = &self.settings.name;
        let why = self.failure_text(&format!("{why}; it {}", how_to_sign_in(name)));
        self.context.warn(&why);
        self.set_state(ServerState::Failed(why.clone()));
        self.context.tell_front_end(why);
    }

    pub(super) async fn sign_in_for_call(&self, asker: &PersonAsker) -> Result<(), String> {
        let name = &self.settings.name;
        let refused = |why: &str| self.failure_text(&format!("{why}; it {}", how_to_sign_in(name)));
        let Some(access) = &self.access else { return Err(refused("it has refused the call")) };
        if self.sign_in.is_open.swap(true, Ordering::AcqRel) {
            return Err(refused("it waits until you have signed in"));
        }
        let _open = OpenSignIn(&self.sign_in);
        match self.sign_in_by_question(access, asker, None).await {
            Ok(finished) => {
                finished.show(true).await;
                Ok(())
            }
            Err(NotSignedIn::Failed(why)) => Err(refused(&why)),
            Err(_) => Err(refused("nobody has signed in to it")),
        }
    }

    /// Asks a person to visit the address of the sign-in, and waits until that was done. With
    /// `stay`, the question ends with the turn, and the turn waits for it.
    async fn sign_in_by_question(
        &self,
        access: &ServerAccess,
        asker: &PersonAsker,
        stay: Option<TurnStay>,
    ) -> Result<FinishedSignIn, NotSignedIn> {
        let mut stay = stay;
        let pending = tokio::select! {
            pending = access.begin_sign_in() => pending.map_err(NotSignedIn::Failed)?,
            () = wait_for_turn_end(&mut stay) => return Err(NotSignedIn::Withdrawn),
        };
        let question = raw_json(&self.sign_in_question(&pending));
        let signed_in = pending.finish();
        tokio::pin!(signed_in);
        let early = tokio::select! {
            biased;
            // It was visited without an answer, which withdraws the question.
            done = &mut signed_in => Some(done),
            reply = asker.ask(question) => match reply {
                PersonReply::Answered(_) => None,
                PersonReply::Declined | PersonReply::Cancelled => {
                    return Err(NotSignedIn::Declined);
                }
            },
            () = wait_for_turn_end(&mut stay) => return Err(NotSignedIn::Withdrawn),
        };
        let done = if let Some(done) = early {
            done
        } else {
            // The person has agreed. The turn need not wait for the browser.
            drop(stay);
            signed_in.await
        };
        let finished = done.map_err(NotSignedIn::Failed)?;
        access.accept(&finished).await;
        Ok(finished)
    }

    /// Returns the question, as the gate knows those of servers.
    fn sign_in_question(&self, pending: &PendingSignIn) -> Value {
        let (name, host) = (&self.settings.name, pending.host());
        let message = format!(
            "The MCP server `{name}` wants you to sign in at {host}. Visit the address on this \
             machine."
        );
        json!({
            "mcp_server_name": name,
            "message": message,
            "mode": "url",
            "url": pending.address(),
        })
    }
}

enum NotSignedIn {
    /// The turn has ended before somebody answered.
    Withdrawn,
    /// Somebody did not want to, or nobody could be asked.
    Declined,
    Failed(String),
}

/// Notes the end of a sign-in when it is dropped.
struct OpenSignIn<'a>(&'a SignInProgress);

impl Drop for OpenSignIn<'_> {
    fn drop(&mut self) {
        self.0.is_open.store(false, Ordering::Release);
    }
}

async fn wait_for_turn_end(stay: &mut Option<TurnStay>) {
    match stay {
        Some(stay) => stay.wait_for_end().await,
        None => std::future::pending().await,
    }
}
