//! People who answer: at each desk a viewer, as the page is one, that sees the questions of the
//! machines at the other desk, and presses "allow" a moment later.

use std::sync::Arc;
use std::time::Duration;

use callgate_client::desk::DeskClient;
use callgate_wire::approval::{Action, Press, RequestId};
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage};

use crate::figures::FigureBook;
use crate::home::Home;

/// How long somebody thinks: as many different times as there are, in turn.
const THOUGHTS: [Duration; 3] =
    [Duration::from_millis(900), Duration::from_millis(2100), Duration::from_secs(3)];

/// Somebody at a desk. They leave with this.
pub(crate) struct DeskPerson {
    _reader: tokio::task::JoinHandle<()>,
}

impl DeskPerson {
    /// Links somebody to the desk with this number, and has them answer from now on.
    pub(crate) async fn sit_down(home: &Home, desk: usize, book: Arc<FigureBook>) -> Self {
        let presser = Arc::new(DeskClient::connect(&home.desk_socket()).unwrap());
        let DeskAnswer::Code { code, .. } =
            presser.ask(DeskCommand::Code { page: false }).await.unwrap()
        else {
            panic!("there is no code for a viewer");
        };
        let pair = DeskCommand::Pair { code, name: format!("Person {desk}"), origin: None };
        let paired = presser.ask(pair).await.unwrap();
        assert!(matches!(paired, DeskAnswer::Paired { .. }), "{paired:?}");
        // On a connection of its own, which no answer to a press holds up.
        let reader = DeskClient::connect(&home.desk_socket()).unwrap();
        let mut watch = reader.watch(None).await.unwrap();
        let read = async move {
            let (_reader, mut thoughts) = (reader, THOUGHTS.iter().cycle());
            while let Ok(message) = watch.next().await {
                let DeskMessage::Entry(entry) = message else { continue };
                let id = entry.question.as_deref().and_then(RequestId::parse);
                let Some(id) = id.filter(|_| entry.kind == "asked") else { continue };
                if book.note_seen(&id, desk) {
                    let thought = *thoughts.next().unwrap();
                    tokio::spawn(press(Arc::clone(&presser), id, thought, Arc::clone(&book)));
                }
            }
        };
        Self { _reader: tokio::spawn(read) }
    }
}

async fn press(presser: Arc<DeskClient>, id: RequestId, thought: Duration, book: Arc<FigureBook>) {
    tokio::time::sleep(thought).await;
    book.note_pressed(&id);
    let press = Press::Button(Action::Allow);
    let press = DeskCommand::Press { request_id: id, press, confirm: None };
    let told = async { presser.request(press).await?.answer().await }.await;
    if !matches!(told, Ok(DeskAnswer::Told { done: true, .. })) {
        book.note_fault(format!("a press: {told:?}"));
    }
}
