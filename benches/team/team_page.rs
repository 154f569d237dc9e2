//! The page of a person of the team, as their browser reads it: its events over TLS, with a key.

use std::fs;
use std::net::SocketAddr;

use callgate_approval::viewer_token::token_identity;
use callgate_http::client_builder;
use callgate_store::{EntryDraft, Sha256Hash, Store};
use callgate_wire::HiddenText;
use callgate_wire::ledger::{
    AnswerChannel, LedgerEvent, MemberInvited, MemberJoined, MemberKind, ViewerPaired,
};
use memchr::memmem;
use reqwest::{Certificate, Response};

use crate::home::Home;

const KEY: &str = "2f0c6d5e9b8a47f3a1c4e7d2b5908f6e1d3a7c5b9e2f4a680c1b3d5f7a9e8c6d";

/// The open event stream of a page.
pub(crate) struct TeamPage {
    events: Response,
    arrived: Vec<u8>,
}

impl TeamPage {
    /// Records a person and the link of their page in the ledger of a desk that does not run yet.
    pub(crate) fn record_in(home: &Home, listen: SocketAddr) {
        let secret = Sha256Hash::hash_bytes(b"ada").to_string();
        let origin = format!("https://{listen}");
        let identity = token_identity(&HiddenText::new(KEY), Some(&origin));
        let name = || "ada".to_owned();
        let events = [
            LedgerEvent::Invited(MemberInvited {
                name: name(),
                member: Some(MemberKind::Person),
                owner: None,
                secret: secret.clone(),
                until_ms: None,
                by: "the benchmark".to_owned(),
            }),
            LedgerEvent::Joined(MemberJoined { name: name(), secret, token: None }),
            LedgerEvent::ViewerPaired(ViewerPaired {
                channel: Some(AnswerChannel::Viewer),
                by: "a browser".to_owned(),
                links: Some(vec![format!("viewer/{identity}")]),
                person: Some(name()),
            }),
        ];
        let entries = events.map(|event| EntryDraft::new(1, None, &event));
        Store::open(&home.ledger()).unwrap().append_entries(&entries).unwrap();
    }

    pub(crate) async fn open(home: &Home, listen: SocketAddr) -> Self {
        let authority = fs::read(home.ledger().with_file_name("team-authority.der")).unwrap();
        let authority = Certificate::from_der(&authority).unwrap();
        let client = client_builder().http1_only().tls_certs_only([authority]).build().unwrap();
        let request = client.get(format!("https://{listen}/api/events")).bearer_auth(KEY);
        let events = request.send().await.unwrap();
        assert_eq!(events.status(), 200);
        Self { events, arrived: Vec::new() }
    }

    /// Waits until the page has been told of a question.
    pub(crate) async fn wait_for_question(&mut self, id: &str) {
        while memmem::find(&self.arrived, id.as_bytes()).is_none() {
            let chunk = self.events.chunk().await.unwrap().expect("the stream goes on");
            self.arrived.extend_from_slice(&chunk);
        }
        self.arrived.clear();
    }
}
