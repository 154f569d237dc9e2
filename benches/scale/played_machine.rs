//! A developer's machine as the desks see it: its line, the calls of its ten agents, their
//! questions, and its ledger, of which every entry is sent when it is written.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use callgate_http::TeamService;
use callgate_store::{ChainHead, EntryDraft, LedgerEntry, Sha256Hash, now_ms};
use callgate_wire::approval::RequestId;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::ledger::LedgerEvent;
use callgate_wire::relay::{LINE_NUMBER, LINE_PATH, LINE_PROTOCOL, MAX_LINE, RelayOrder};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::agent_work::{AgentCallText, QuestionText};
use crate::figures::FigureBook;
use crate::machines::TeamOfMachines;

/// How often a machine shows that it lives.
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// How many bytes of entries a machine sends without a receipt.
const MOST_UNACKED: usize = 1024 * 1024;

/// A machine with a line. It ends with this.
pub(crate) struct PlayedMachine {
    number: usize,
    lines: mpsc::UnboundedSender<String>,
    ledger: Mutex<MachineLedger>,
    book: Arc<FigureBook>,
}

#[derive(Default)]
struct MachineLedger {
    head: Option<ChainHead>,
    /// The entries without a receipt: the number of each, its bytes, and when it was due.
    unacked: VecDeque<(u64, usize, Instant)>,
}

impl PlayedMachine {
    /// Opens a line and says what a machine without questions says.
    pub(crate) async fn connect(
        service: &TeamService,
        team: &TeamOfMachines,
        number: usize,
        book: Arc<FigureBook>,
    ) -> Arc<Self> {
        let line = service
            .open_line(LINE_PATH, LINE_PROTOCOL, team.token(number), (LINE_NUMBER, "1"))
            .await
            .unwrap();
        let (mut reading, mut writing) = tokio::io::split(line);
        let (lines_in, mut lines) = mpsc::unbounded_channel::<String>();
        let hello = json!({ "kind": "hello", "protocol": 1, "version": "1", "host": "h",
            "user": "ada", "home": "/home/ada" });
        let synced = json!({ "kind": "synced", "open": [] });
        writing.write_all(format!("{hello}\n{synced}\n").as_bytes()).await.unwrap();
        let machine = Arc::new(Self { number, lines: lines_in, ledger: Mutex::default(), book });
        let listener = Arc::downgrade(&machine);
        tokio::spawn(async move {
            let (mut read, mut decoder) = ([0; 4096], LineDecoder::new(MAX_LINE));
            while let Ok(count @ 1..) = reading.read(&mut read).await {
                decoder.push(&read[..count]);
                let Some(machine) = listener.upgrade() else { return };
                while let Some(line) = decoder.next_frame() {
                    let DecodedLine::Whole(line) = line else { panic!("a line is too long") };
                    machine.take_order(RelayOrder::decode(line).unwrap());
                }
            }
        });
        tokio::spawn(async move {
            loop {
                let line = match tokio::time::timeout(BEAT_EVERY, lines.recv()).await {
                    Ok(Some(line)) => line,
                    Ok(None) => return,
                    Err(_) => "{\"kind\":\"beat\"}\n".to_owned(),
                };
                // A line that has ended shows in the figures: what is sent has no receipt.
                if writing.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        machine
    }

    fn take_order(&self, order: RelayOrder) {
        match order {
            RelayOrder::Ack { seq } => {
                let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
                while let Some((_, _, due)) = ledger.unacked.pop_front_if(|(sent, ..)| *sent <= seq)
                {
                    self.book.note_accepted(due);
                }
            }
            RelayOrder::Answer { question, answer } => {
                if self.book.note_answered(&question) {
                    self.end_question(&question, &answer.by);
                }
            }
            RelayOrder::Error { text, .. } => {
                self.book.note_fault(format!("machine {}: {text}", self.number));
            }
            RelayOrder::Hello(_) | RelayOrder::Rules { .. } | RelayOrder::Beat => {}
        }
    }

    /// A rule has decided on a call that was due at this moment.
    pub(crate) fn check_call(&self, call: &AgentCallText, due: Instant) {
        self.record(None, &call.checked(), due);
    }

    /// The call has run.
    pub(crate) fn report_ran(&self, call: &AgentCallText, due: Instant) {
        self.record(None, &call.ran(), due);
    }

    /// An agent asks what no rule decides.
    pub(crate) fn ask(&self, id: &RequestId, question: &QuestionText, due: Instant) {
        let line = json!({ "kind": "question", "ruling": "ask", "seconds": 300,
            "request": question.request(id) });
        self.lines.send(format!("{line}\n")).unwrap();
        self.record(Some(id), &question.asked(id), due);
    }

    /// The answer has reached the agent, whose call runs.
    fn end_question(&self, id: &RequestId, by: &str) {
        let text = format!("Allowed by {by}");
        let told = json!({ "kind": "told", "question": id, "done": true, "text": text });
        let closed = json!({ "kind": "closed", "question": id, "decision": "allow", "by": by,
            "text": text });
        self.lines.send(format!("{told}\n{closed}\n")).unwrap();
        for event in QuestionText::ended(by) {
            self.record(Some(id), &event, Instant::now());
        }
    }

    /// Adds an entry to the ledger, and sends it.
    fn record(&self, question: Option<&RequestId>, event: &LedgerEvent, due: Instant) {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let question = question.map(|id| id.as_str().to_owned());
        let draft = EntryDraft::new(now_ms(), question, event);
        let head = ledger.head.unwrap_or(ChainHead::NONE);
        let entry = LedgerEntry::chain_draft(&head, draft);
        ledger.head = Some(entry.head());
        let LedgerEntry { seq, at_ms, kind, question, body, hash } = entry;
        let hash = Sha256Hash(hash);
        let question = question.map_or("null".to_owned(), |id| format!("\"{id}\""));
        let line = format!(
            "{{\"kind\":\"entry\",\"entry\":{{\"seq\":{seq},\"at_ms\":{at_ms},\"kind\":\"{kind}\",\
             \"question\":{question},\"hash\":\"{hash}\",\"body\":{body}}}}}\n"
        );
        ledger.unacked.push_back((seq, line.len(), due));
        let unacked: usize = ledger.unacked.iter().map(|(_, size, _)| size).sum();
        assert!(unacked < MOST_UNACKED, "a real machine would wait for a receipt here");
        self.book.note_sent();
        self.lines.send(line).unwrap();
    }
}
