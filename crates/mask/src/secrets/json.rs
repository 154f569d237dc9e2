//! Hides secrets in JSON, which stays valid.
//!
//! Nothing is parsed into values: strings are found in place, their contents are searched
//! as text, and everything else stays byte for byte.

mod string;

use callgate_wire::raw::Json;

use self::string::decode_string;
use super::candidate::{is_more_than_a_word, is_random, is_reference};
use super::execution::examine_command;
use super::names::{NameRole, NameStrength, role_of_name};
use super::search::secrets_in;
use super::span::SecretSpan;
use super::used_variables::{UsedVariables, could_run};
use super::value_search::label_of_strength;
use super::{MOST_SPANS, MaskedText, SEVERAL_WORDS, mask_text};

/// The deepest JSON that is masked string by string. Deeper JSON is hidden as a whole.
const DEEPEST: usize = 512;

/// Hides the secrets in a JSON value given as text: those in its strings, and the strings whose
/// member's name means a secret. The result is JSON too, and unchanged except for what is hidden.
/// Text that is not JSON is masked as by [`mask_text`].
pub fn mask_json(text: &str) -> MaskedText {
    if Json::from_text(text).is_err() {
        return mask_text(text);
    }
    let mut walk = JsonWalk {
        text,
        at: 0,
        frames: vec![JsonFrame::default()],
        spans: Vec::new(),
        uses: UsedVariables::find(text.as_bytes()),
        could_run: false,
        commands: Vec::new(),
        is_computed: false,
    };
    if walk.walk_text().is_none() {
        return MaskedText::whole_json(text);
    }
    MaskedText { could_run: walk.could_run(), ..MaskedText::compose(text, &walk.spans) }
}

/// What is known of the strings below a member whose name means a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SecretsBelow {
    #[default]
    Nothing,
    /// In an object such as `"password": {…}`, only the member called `value` is the secret.
    Value(NameStrength),
    All(NameStrength),
}

/// The name of the member whose value is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MemberRole {
    #[default]
    Other,
    /// `value`
    Value,
    /// `name` or `key`: it names the `value` beside it.
    Name,
}

/// An open array or object.
#[derive(Debug, Clone, Copy, Default)]
struct JsonFrame {
    is_object: bool,
    below: SecretsBelow,
    /// What the member's name, or the element before, indicates about the next value.
    next: Option<NameStrength>,
    member: MemberRole,
    /// Whether the member's name is a plural, such as `passwords`.
    is_plural: bool,
    /// Whether the next value is what a tool runs.
    is_command: bool,
    /// What the string of a member called `name` or `key` indicates about the `value` beside it.
    named: Option<NameStrength>,
}

struct JsonWalk<'a> {
    text: &'a str,
    at: usize,
    frames: Vec<JsonFrame>,
    spans: Vec<SecretSpan>,
    uses: UsedVariables<'a>,
    /// Whether something hidden could be executed.
    could_run: bool,
    /// The commands without secrets.
    commands: Vec<&'a str>,
    /// Whether a command with secrets executes something that it computes.
    is_computed: bool,
}

impl<'a> JsonWalk<'a> {
    /// Processes the whole text. Returns `None` if it is too deep or has too many secrets.
    fn walk_text(&mut self) -> Option<()> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            self.at += 1;
            match byte {
                b'"' => self.mask_string(),
                b'{' | b'[' => self.open_frame(byte == b'{')?,
                b'}' | b']' => {
                    self.frames.pop();
                }
                b',' => self.end_member(),
                _ => {}
            }
            if self.spans.len() > MOST_SPANS {
                return None;
            }
        }
        Some(())
    }

    /// Returns true if something hidden could be executed: where it is, or because a command
    /// executes something that it computes.
    fn could_run(&self) -> bool {
        // Also in commands that hide nothing, which may run what another string hides. They are
        // examined only now, because most inputs hide nothing at all.
        let is_computed =
            |raw: &&str| examine_command(decode_string(raw).as_bytes(), &[]).is_computed;
        let hides_something = !self.spans.is_empty();
        self.could_run
            || hides_something && (self.is_computed || self.commands.iter().any(is_computed))
    }

    fn frame(&mut self) -> Option<&mut JsonFrame> {
        self.frames.last_mut()
    }

    /// Ends a member or an element. In an array, an option (`"--password"`) describes the next.
    fn end_member(&mut self) {
        if let Some(frame) = self.frame().filter(|frame| frame.is_object) {
            (frame.next, frame.member) = (None, MemberRole::Other);
        }
    }

    fn open_frame(&mut self, is_object: bool) -> Option<()> {
        let parent = self.frames.last().copied().unwrap_or_default();
        let below = match (parent.below, parent.next) {
            (SecretsBelow::All(level), _) => SecretsBelow::All(level),
            // A list of passwords, or an object that has them by other names.
            (_, Some(level)) if !is_object || parent.is_plural => SecretsBelow::All(level),
            (_, Some(level)) => SecretsBelow::Value(level),
            _ => SecretsBelow::Nothing,
        };
        // A list under `command` has the words of one; an object has members with names of their
        // own.
        let is_command = parent.is_command && !is_object;
        self.frames.push(JsonFrame { is_object, below, is_command, ..JsonFrame::default() });
        (self.frames.len() <= DEEPEST).then_some(())
    }

    /// Masks the string whose opening quote has just been read.
    fn mask_string(&mut self) {
        let start = self.at;
        let end = string::closing_quote(self.text, start);
        self.at = end + 1;
        let raw = &self.text[start..end];
        let decoded = decode_string(raw);
        let rest = self.text[self.at..].trim_ascii_start();
        let is_key =
            self.frames.last().is_some_and(|frame| frame.is_object) && rest.starts_with(':');
        let level = if is_key { None } else { self.secret_strength(&decoded) };
        if is_key {
            self.handle_key(&decoded);
        }
        let spans = self.spans_to_hide(raw, &decoded, level);
        self.spans.extend(spans.into_iter().map(|span| SecretSpan {
            start: span.start + start,
            end: span.end + start,
            ..span
        }));
    }

    fn handle_key(&mut self, key: &str) {
        // The value of a variable that is used elsewhere in the text may be what runs.
        let is_used = self.uses.has(key.as_bytes());
        let level = match role_of_name(key.as_bytes()).filter(|_| !is_used) {
            Some(NameRole::Secret(level)) => Some(level),
            Some(NameRole::Authorization | NameRole::Cookie) => Some(NameStrength::Strong),
            None => None,
        };
        let Some(frame) = self.frame() else { return };
        frame.next = level;
        frame.member = match key {
            "value" | "Value" | "secretValue" | "plain" | "raw" => MemberRole::Value,
            "name" | "Name" | "key" | "Key" | "variable" => MemberRole::Name,
            _ => MemberRole::Other,
        };
        frame.is_plural = key.ends_with('s');
        frame.is_command = is_command_name(key);
    }

    /// Returns how strongly the text before the value `text` suggests that all of it is a secret.
    fn secret_strength(&mut self, text: &str) -> Option<NameStrength> {
        let frame = self.frame()?;
        let level = frame.next.or(match frame.below {
            SecretsBelow::All(level) => Some(level),
            SecretsBelow::Value(level) if frame.member == MemberRole::Value => Some(level),
            _ => frame.named.filter(|_| frame.member == MemberRole::Value),
        });
        if frame.member == MemberRole::Name || !frame.is_object {
            let is_name = frame.member == MemberRole::Name || text.starts_with("--");
            let named = match role_of_name(text.as_bytes())
                .filter(|_| is_name && !text.contains(['=', ' ']))
            {
                Some(NameRole::Secret(level)) if level != NameStrength::Weak => Some(level),
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

    /// Returns the spans to hide in a string with this text.
    fn spans_to_hide(
        &mut self,
        raw: &'a str,
        text: &str,
        level: Option<NameStrength>,
    ) -> Vec<SecretSpan> {
        /// No search finds anything shorter.
        const SHORTEST: usize = 5;
        let is_command = self.frames.last().is_some_and(|frame| frame.is_command);
        let whole = level.filter(|level| is_whole(text, *level));
        if whole.is_none() && text.len() < SHORTEST {
            self.commands.extend(is_command.then_some(raw));
            return Vec::new();
        }
        let uses = UsedVariables::within(text.as_bytes(), &self.uses);
        let found = secrets_in(text, &uses, &[]);
        let covers = |span: &SecretSpan| span.start == 0 && span.end == text.len();
        // A token that is all of the string keeps its own label.
        if let Some(level) = whole.filter(|_| !found.first().is_some_and(covers)) {
            let is_more = is_more_than_a_word(text.as_bytes());
            self.could_run |= is_more;
            let label = if is_more { SEVERAL_WORDS } else { label_of_strength(level) };
            return vec![SecretSpan::new(0, raw.len(), label)];
        }
        self.could_run |= found.iter().any(|span| could_run(text.as_bytes(), span, &uses));
        if is_command && found.is_empty() {
            self.commands.push(raw);
        } else if is_command {
            let execution = examine_command(text.as_bytes(), &found);
            self.could_run |= execution.runs_hidden;
            self.is_computed |= execution.is_computed;
        }
        string::spans_in_raw(raw, text, &found)
    }
}

/// Returns true if a tool may run the value of a member with this name: `command`, `shellCommand`,
/// `scripts`.
fn is_command_name(key: &str) -> bool {
    const ENDINGS: [&str; 6] = ["command", "cmd", "script", "arg", "argv", "code"];
    let key = key.strip_suffix('s').unwrap_or(key).as_bytes();
    ENDINGS.iter().any(|end| {
        let start = key.len().checked_sub(end.len());
        start.is_some_and(|start| key[start..].eq_ignore_ascii_case(end.as_bytes()))
    })
}

/// Returns true if a string is hidden because of its member's name.
fn is_whole(text: &str, level: NameStrength) -> bool {
    let bytes = text.as_bytes();
    let is_random = level != NameStrength::Weak || (bytes.len() >= 16 && is_random(bytes));
    !bytes.is_empty() && !is_reference(bytes) && is_random
}
