//! The connection states of the machines whose questions are answered here, and of the desk above.

use std::collections::BTreeMap;
use std::sync::Mutex;

use callgate_link::sync::lock;
use callgate_store::now_ms;
use callgate_wire::desk::{RemoteState, RemoteView, TeamLineView};
use tokio::sync::watch;

/// The connection state of each remote, and of the team's desk. Whoever keeps the connections
/// writes it, and viewers read it.
#[derive(Debug, Default)]
pub struct RemoteBoard {
    views: Mutex<BTreeMap<String, RemoteView>>,
    team: Mutex<Option<TeamLineView>>,
    listening: Mutex<Option<String>>,
    wishes: watch::Sender<()>,
}

impl RemoteBoard {
    /// Returns the remotes, and has their list read again.
    pub(super) fn remotes(&self) -> Vec<RemoteView> {
        self.wish_for_look();
        lock(&self.views).values().cloned().collect()
    }

    /// Requests that the list of remotes, the members of the team and the membership of this
    /// machine are read again.
    pub fn wish_for_look(&self) {
        self.wishes.send_replace(());
    }

    /// Returns a channel that changes when somebody wants the list of remotes, the members of the
    /// team and the membership of this machine to be read again.
    pub fn wishes(&self) -> watch::Receiver<()> {
        self.wishes.subscribe()
    }

    /// Records the state of the line to the team's desk; `None` without a team.
    pub fn set_team(&self, view: Option<TeamLineView>) {
        *lock(&self.team) = view;
    }

    /// Notes where members of the team whose desk this is reach it.
    pub fn set_listening(&self, address: &str) {
        *lock(&self.listening) = Some(address.to_owned());
    }

    pub(super) fn listening(&self) -> Option<String> {
        lock(&self.listening).clone()
    }

    pub(super) fn team(&self) -> Option<TeamLineView> {
        lock(&self.team).clone()
    }

    pub fn set_state(&self, host: &str, state: RemoteState, text: Option<String>) {
        let mut views = lock(&self.views);
        let view = views.entry(host.to_owned()).or_insert_with(|| RemoteView {
            host: host.to_owned(),
            state,
            since_ms: now_ms(),
            text: None,
            user: None,
            home: None,
            copied: 0,
        });
        // The state is reported again and again, and the time is when it began.
        if view.state != state {
            view.since_ms = now_ms();
        }
        (view.state, view.text) = (state, text);
    }

    /// Notes whose agents ask there.
    pub fn set_user(&self, host: &str, user: &str, home: &str) {
        if let Some(view) = lock(&self.views).get_mut(host) {
            (view.user, view.home) = (Some(user.to_owned()), Some(home.to_owned()));
        }
    }

    /// Notes up to which entry the ledger of a remote was copied.
    pub fn set_copied(&self, host: &str, seq: u64) {
        if let Some(view) = lock(&self.views).get_mut(host) {
            view.copied = seq;
        }
    }

    pub fn remove(&self, host: &str) {
        lock(&self.views).remove(host);
    }
}
