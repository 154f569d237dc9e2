//! Forms with a file in them, as uploads send them.

use serde_json::{Map, Value};

use super::Document;
use super::call::Params;

/// Reads a form. Numbers and objects in it stand as text, so they are read as JSON where they are.
pub(super) fn read(content_type: &str, body: &[u8]) -> Option<Params> {
    let boundary = content_type.split("boundary=").nth(1)?.trim_matches('"');
    let mark = format!("--{boundary}").into_bytes();
    let mut params = Params { fields: Map::new(), file: None };
    let mut rest = after(body, &mark)?;
    while !rest.starts_with(b"--") {
        let part = rest.strip_prefix(b"\r\n")?;
        let end = find(part, &[b"\r\n", mark.as_slice()].concat())?;
        add(&part[..end], &mut params)?;
        rest = after(&part[end..], &mark)?;
    }
    Some(params)
}

fn add(part: &[u8], params: &mut Params) -> Option<()> {
    let end = find(part, b"\r\n\r\n")?;
    let head = std::str::from_utf8(&part[..end]).ok()?;
    let content = &part[end + 4..];
    let name = quoted(head, " name=")?;
    if let Some(file) = quoted(head, " filename=") {
        params.file = Some(Document { name: file.to_owned(), bytes: content.to_vec() });
        return Some(());
    }
    let text = std::str::from_utf8(content).ok()?;
    let is_text = matches!(name, "text" | "caption" | "parse_mode");
    let json = serde_json::from_str(text).ok().filter(|_| !is_text);
    params.fields.insert(name.to_owned(), json.unwrap_or_else(|| Value::from(text)));
    Some(())
}

fn quoted<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split(name).nth(1)?.strip_prefix('"')?.split('"').next()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn after<'a>(bytes: &'a [u8], what: &[u8]) -> Option<&'a [u8]> {
    find(bytes, what).map(|at| &bytes[at + what.len()..])
}
