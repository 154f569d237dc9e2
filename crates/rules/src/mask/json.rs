//! Hides secrets in JSON, and leaves it JSON.
//!
//! Nothing is parsed into values: strings are found where they stand, their contents are searched
//! as text, and everything else stays byte for byte.

mod string;

use callgate_wire::raw::Json;

use self::string::decode;
use super::assign::label;
use super::judge::{is_random, is_reference};
use super::names::{Level, Role, role};
use super::runs::{self, Uses, is_more_than_a_word};
use super::span::{self, Span};
use super::{MOST_SPANS, Masked, SEVERAL_WORDS};

/// JSON that is deeper is hidden as a whole; nobody could read it.
const DEEPEST: usize = 512;

pub(super) fn mask(text: &str) -> Masked {
    if Json::read(text).is_err() {
        return super::text(text);
    }
    let mut walk = Walk {
        text,
        at: 0,
        frames: vec![Frame::default()],
        spans: Vec::new(),
        uses: Uses::find(text.as_bytes()),
        could_run: false,
    };
    if walk.run().is_none() {
        return Masked::whole_json(text);
    }
    Masked { could_run: walk.could_run, ..Masked::compose(text, &walk.spans) }
}

/// What is known of the strings below a member whose name means a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Below {
    #[default]
    Nothing,
    /// In an object such as `"password": {…}`, only the member called `value` is the secret.
    Value(Level),
    /// All of them are secrets.
    All(Level),
}

/// How the member is called whose value is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Member {
    /// Anything else.
    #[default]
    Other,
    /// `value`
    Value,
    /// `name` or `key`: it says what the `value` beside it is.
    Name,
}

/// An open array or object.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    is_object: bool,
    below: Below,
    /// What the member's name, or the element before, says about the next value.
    next: Option<Level>,
    member: Member,
    /// Whether the next value is the secrets of many.
    is_plural: bool,
    /// Whether the next value is what a tool runs.
    is_command: bool,
    /// What the string of a member called `name` or `key` says about `value` beside it.
    named: Option<Level>,
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    frames: Vec<Frame>,
    spans: Vec<Span>,
    /// The variables that its texts use.
    uses: Uses<'a>,
    /// Whether something hidden could be executed.
    could_run: bool,
}

impl Walk<'_> {
    /// Goes through all; `None` when it is too deep or has too many secrets.
    fn run(&mut self) -> Option<()> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            self.at += 1;
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => self.open(byte == b'{')?,
                b'}' | b']' => {
                    self.frames.pop();
                }
                b',' => self.forget(),
                _ => {}
            }
            if self.spans.len() > MOST_SPANS {
                return None;
            }
        }
        Some(())
    }

    fn frame(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// A member or an element ends. In an array, an option (`"--password"`) is about the next.
    fn forget(&mut self) {
        if let Some(frame) = self.frame().filter(|frame| frame.is_object) {
            (frame.next, frame.member) = (None, Member::Other);
        }
    }

    fn open(&mut self, is_object: bool) -> Option<()> {
        let parent = self.frames.last().copied().unwrap_or_default();
        let below = match (parent.below, parent.next) {
            (Below::All(level), _) => Below::All(level),
            (_, Some(level)) if !is_object || parent.is_plural => Below::All(level),
            (_, Some(level)) => Below::Value(level),
            _ => Below::Nothing,
        };
        let is_command = parent.is_command && !is_object;
        self.frames.push(Frame { is_object, below, is_command, ..Frame::default() });
        (self.frames.len() <= DEEPEST).then_some(())
    }

    /// A string, whose opening quote is just passed.
    fn string(&mut self) {
        let start = self.at;
        let end = string::end(self.text, start);
        self.at = end + 1;
        let raw = &self.text[start..end];
        let decoded = decode(raw);
        let rest = self.text[self.at..].trim_ascii_start();
        let is_key =
            self.frames.last().is_some_and(|frame| frame.is_object) && rest.starts_with(':');
        let level = if is_key { None } else { self.secret(&decoded) };
        if is_key {
            self.key(&decoded);
        }
        let spans = self.hidden(raw, &decoded, level);
        self.spans.extend(spans.into_iter().map(|span| Span {
            start: span.start + start,
            end: span.end + start,
            ..span
        }));
    }

    fn key(&mut self, key: &str) {
        let is_used = self.uses.has(key.as_bytes());
        let level = match role(key.as_bytes()).filter(|_| !is_used) {
            Some(Role::Secret(level)) => Some(level),
            Some(Role::Authorization | Role::Cookie) => Some(Level::Strong),
            None => None,
        };
        let Some(frame) = self.frame() else { return };
        frame.next = level;
        frame.member = match key {
            "value" | "Value" | "secretValue" | "plain" | "raw" => Member::Value,
            "name" | "Name" | "key" | "Key" | "variable" => Member::Name,
            _ => Member::Other,
        };
        frame.is_plural = key.ends_with('s');
        frame.is_command = matches!(key, "command" | "cmd" | "script" | "args" | "argv" | "code");
    }

    /// Whether the value `text` is a secret as a whole, by what stands before it.
    fn secret(&mut self, text: &str) -> Option<Level> {
        let frame = self.frame()?;
        let level = frame.next.or(match frame.below {
            Below::All(level) => Some(level),
            Below::Value(level) if frame.member == Member::Value => Some(level),
            _ => frame.named.filter(|_| frame.member == Member::Value),
        });
        if frame.member == Member::Name || !frame.is_object {
            let is_name = frame.member == Member::Name || text.starts_with("--");
            let named =
                match role(text.as_bytes()).filter(|_| is_name && !text.contains(['=', ' '])) {
                    Some(Role::Secret(level)) if level != Level::Weak => Some(level),
                    _ => None,
                };
            if frame.is_object {
                frame.named = named;
            } else {
                frame.next = named;
            }
        }
        level
    }

    /// What is hidden of a string with this text.
    fn hidden(&mut self, raw: &str, text: &str, level: Option<Level>) -> Vec<Span> {
        /// Nothing shorter is found in a text.
        const SHORTEST: usize = 5;
        let whole = level.filter(|level| is_whole(text, *level));
        if whole.is_none() && text.len() < SHORTEST {
            return Vec::new();
        }
        let uses = Uses::within(text.as_bytes(), &self.uses);
        let found = span::all(text, &uses);
        let covers = |span: &Span| span.start == 0 && span.end == text.len();
        if let Some(level) = whole.filter(|_| !found.first().is_some_and(covers)) {
            let is_more = is_more_than_a_word(text.as_bytes());
            self.could_run |= is_more;
            let label = if is_more { SEVERAL_WORDS } else { label(level) };
            return vec![Span::new(0, raw.len(), label)];
        }
        let is_command = self.frames.last().is_some_and(|frame| frame.is_command);
        let could_run = |span: &Span| runs::could_run(text.as_bytes(), span, &uses, is_command);
        self.could_run |= found.iter().any(could_run);
        string::place(raw, text, &found)
    }
}

/// Whether a string is hidden because of its member's name.
fn is_whole(text: &str, level: Level) -> bool {
    let bytes = text.as_bytes();
    let is_random = level != Level::Weak || (bytes.len() >= 16 && is_random(bytes));
    !bytes.is_empty() && !is_reference(bytes) && is_random
}
