//! The bytes of the calls: requests of the required sizes, and the host's answers to them.

/// The size of a tool's arguments, and of its result's text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) name: &'static str,
    pub(crate) bytes: usize,
}

pub(crate) const SIZES: [Size; 3] = [
    Size { name: "100 B", bytes: 100 },
    Size { name: "1 MB", bytes: 1_000_000 },
    Size { name: "9 MB", bytes: 9_000_000 },
];

/// The tool that is called; the schema file lists it among others.
pub(crate) const TOOL: &str = "echo";
/// How many tools the schema file lists.
const TOOLS: usize = 10;

/// All ids have the same number of digits, so that all requests of one size have one length.
const FIRST_ID: u64 = 10_000_000;
const ID_DIGITS: usize = 8;

/// Text as tools receive and return it: lines of ordinary length, their ends escaped.
const TEXT: &str = r"The quick brown fox jumps over the lazy dog, then looks back at it once.\n";

/// A `tools/call` line whose id can be changed in place.
pub(crate) struct Request {
    line: Vec<u8>,
    id_at: usize,
    id: u64,
}

impl Request {
    pub(crate) fn new(size: Size) -> Self {
        let around = r#"{"text":""}"#.len();
        let text = text(size.bytes - around);
        let params = format!(r#"{{"name":"{TOOL}","arguments":{{"text":"{text}"}}}}"#);
        let head = r#"{"jsonrpc":"2.0","id":"#;
        let line = format!("{head}{FIRST_ID},\"method\":\"tools/call\",\"params\":{params}}}\n");
        Self { line: line.into_bytes(), id_at: head.len(), id: FIRST_ID }
    }

    /// Returns the line with an unused id.
    pub(crate) fn next(&mut self) -> &[u8] {
        self.id += 1;
        let digits = self.id.to_string();
        assert_eq!(digits.len(), ID_DIGITS, "a benchmark makes fewer calls than there are ids");
        self.line[self.id_at..self.id_at + ID_DIGITS].copy_from_slice(digits.as_bytes());
        &self.line
    }
}

/// Returns the host's answer with a text of this size: a frame, including its prefix.
pub(crate) fn answer(size: Size) -> Vec<u8> {
    let text = text(size.bytes);
    let payload = format!(
        r#"{{"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}}}"#
    );
    let length = u32::try_from(payload.len()).expect("a frame's length fits its prefix");
    [&length.to_be_bytes(), payload.as_bytes()].concat()
}

/// Returns the content of a JSON string of exactly `size` bytes.
fn text(size: usize) -> String {
    let mut text = TEXT.repeat(size / TEXT.len());
    text.push_str(&"x".repeat(size - text.len()));
    text
}

/// Returns the schema file.
pub(crate) fn schema() -> String {
    let names = (1..TOOLS).map(|number| format!("tool_{number}"));
    let tools: Vec<_> =
        std::iter::once(TOOL.to_owned()).chain(names).map(|name| tool(&name)).collect();
    serde_json::Value::from(tools).to_string()
}

fn tool(name: &str) -> serde_json::Value {
    serde_json::json!({
        "name": name,
        "description": "Gives a text back.",
        "input_schema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text to give back."}},
            "required": ["text"],
        },
    })
}
