//! What the ledger holds of each thing that happens at the desk. Every text is masked.

use callgate_rules::mask;
use callgate_store::Draft;
use callgate_wire::approval::{Request, RequestId};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::question::{Decided, Ruling, With};
use super::{Now, Step};
use crate::card::Card;
use crate::channel::{Place, Who};
use crate::plain;

/// How much of a masked input goes into the ledger; of a longer one there is the beginning, and
/// the digest is over the whole.
pub(super) const LONGEST_INPUT: usize = 64 * 1024;

impl Step {
    /// Adds a record about a question.
    pub(super) fn record(&mut self, now: Now, kind: &str, question: &RequestId, body: &Value) {
        self.note(now, kind, Some(question), body);
    }

    /// Adds a record, of a question or of none.
    pub(super) fn note(&mut self, now: Now, kind: &str, of: Option<&RequestId>, body: &Value) {
        self.records.push(Draft {
            at_ms: now.wall_ms,
            kind: kind.to_owned(),
            question: of.map(|id| id.as_str().to_owned()),
            body: body.to_string(),
        });
    }

    /// Keeps a value beside the ledger.
    pub(super) fn keep(&mut self, key: String, value: String) {
        self.keeps.push((key, Some(value)));
    }

    /// Forgets a value kept beside the ledger.
    pub(super) fn forget(&mut self, key: String) {
        self.keeps.push((key, None));
    }
}

/// The request with everything in it masked, so that it may be written down.
pub(super) fn masked(request: &Request, input: &str) -> Request {
    let hidden = |text: &str| plain::hidden(text);
    let mut masked = request.clone();
    masked.tool_input = bounded(input);
    masked.cwd = hidden(&request.cwd);
    masked.session_id = hidden(&request.session_id);
    for suggestion in &mut masked.permission_suggestions {
        *suggestion = raw(mask::json(suggestion.get()).shown());
    }
    if let Some(words) = masked.context.as_mut().and_then(|context| context.last_words.as_mut()) {
        *words = hidden(words);
    }
    masked
}

fn bounded(input: &str) -> Box<RawValue> {
    if input.len() <= LONGEST_INPUT {
        return raw(input);
    }
    let end = input.floor_char_boundary(LONGEST_INPUT);
    raw(&json!({ "beginning": &input[..end], "bytes": input.len() }).to_string())
}

/// JSON that goes into the ledger as it is, if everybody can read it there. What only some can (too
/// deep, or with half of a surrogate pair in a text) is kept as a text.
fn raw(json: &str) -> Box<RawValue> {
    // Around it there are a few levels more.
    let is_readable = serde_json::from_str::<Value>(&format!("[[[[{json}]]]]")).is_ok();
    let kept = RawValue::from_string(json.to_owned()).ok().filter(|_| is_readable);
    kept.or_else(|| to_raw_value(&json!({ "text": json })).ok()).unwrap_or_default()
}

/// A question was asked.
pub(super) fn asked(masked: &Request, card: &Card, digest: &str, ruling: &Ruling) -> Value {
    let (ruling, because) = match ruling {
        Ruling::Ask { because, is_guarded: false } => ("ask", because.as_deref()),
        Ruling::Ask { because, is_guarded: true } => ("guard", because.as_deref()),
        Ruling::Allow { because } => ("allow", Some(because.as_str())),
        Ruling::Deny { because } => ("deny", Some(because.as_str())),
    };
    json!({
        "tool": card.tool,
        "summary": card.summary(),
        "cwd": card.project,
        "session": card.session,
        "agent": masked.agent,
        "ruling": ruling,
        "because": because,
        "digest": digest,
        "until_ms": card.until_ms,
        "request": masked,
    })
}

/// Somebody did something about a question.
pub(super) fn pressed(who: &Who, action: &str, outcome: &str) -> Value {
    let (place, chat, user) = match who.place {
        Place::Telegram { chat, user, .. } => ("telegram", Some(chat), Some(user)),
        Place::Terminal => ("terminal", None, None),
        Place::Viewer { .. } => ("viewer", None, None),
    };
    json!({
        "by": shown(&who.name),
        "channel": place,
        "chat": chat,
        "user": user,
        "action": action,
        "outcome": outcome,
    })
}

/// A question was decided.
pub(super) fn decided(decided: &Decided) -> Value {
    let Decided { decision, by, with, doing: _ } = decided;
    let With { message, offer, picks, words, edited, interrupt } = with;
    let hidden = |text: &Option<String>| text.as_deref().map(plain::hidden);
    json!({
        "decision": decision,
        "by": by,
        "message": hidden(message),
        "offer": offer,
        "picks": picks,
        "words": hidden(words),
        "edited": hidden(edited),
        "interrupt": interrupt,
    })
}

/// A name as people chose it, safe to show and not too long.
pub(super) fn shown(name: &str) -> String {
    let name = plain::line(name);
    let end = name.floor_char_boundary(80);
    if end == 0 { "somebody".to_owned() } else { name[..end].to_owned() }
}
