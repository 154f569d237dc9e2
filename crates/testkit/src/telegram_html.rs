//! A strict reader of the HTML that Telegram's Bot API takes: what it refuses, Telegram refuses or
//! shows otherwise than it was meant.

/// A message as Telegram understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The text without tags, its entities decoded.
    pub text: String,
    /// The length of the text as Telegram counts it.
    pub utf16_len: usize,
}

/// The tags without attributes.
const PLAIN: [&str; 14] = [
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "code",
    "pre",
    "blockquote",
    "tg-spoiler",
    "span",
];

/// Reads `html` as Telegram does, and fails with the reason and the byte where it would refuse.
pub fn check(html: &str) -> Result<Parsed, String> {
    let mut reader = Reader { html, at: 0, open: Vec::new(), text: String::new() };
    while let Some(c) = reader.rest().chars().next() {
        match c {
            '<' if reader.rest().starts_with("</") => reader.close()?,
            '<' => reader.open()?,
            '>' => return Err(format!("byte {}: '>' is not escaped", reader.at)),
            '&' => reader.entity()?,
            _ => {
                reader.text.push(c);
                reader.at += c.len_utf8();
            }
        }
    }
    if let Some((tag, _)) = reader.open.last() {
        return Err(format!("the tag <{tag}> is not closed"));
    }
    let utf16_len = reader.text.encode_utf16().count();
    Ok(Parsed { text: reader.text, utf16_len })
}

struct Reader<'a> {
    html: &'a str,
    at: usize,
    /// The open tags, each with the length of the text at which it was opened.
    open: Vec<(&'a str, usize)>,
    text: String,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.html[self.at..]
    }

    /// Returns the text up to `end`, and skips both.
    fn until(&mut self, end: char) -> Result<&'a str, String> {
        let rest = self.rest();
        let len = rest.find(end).ok_or(format!("byte {}: no '{end}' follows", self.at))?;
        self.at += len + end.len_utf8();
        Ok(&rest[..len])
    }

    fn open(&mut self) -> Result<(), String> {
        let from = self.at;
        let tag = &self.until('>')?[1..];
        let (name, attribute) = tag.split_once(' ').map_or((tag, None), |(a, b)| (a, Some(b)));
        self.check_tag(name, attribute).map_err(|why| format!("byte {from}: <{tag}>: {why}"))?;
        self.open.push((name, self.text.len()));
        Ok(())
    }

    fn check_tag(&self, name: &str, attribute: Option<&str>) -> Result<(), String> {
        let parent = self.open.last().map(|(name, _)| *name);
        match (name, attribute) {
            ("a", Some(attribute)) => value(attribute, "href").map(drop)?,
            ("blockquote", Some("expandable")) | ("span", Some("class=\"tg-spoiler\"")) => {}
            ("code", Some(class)) if parent == Some("pre") => {
                let class = value(class, "class")?;
                class.strip_prefix("language-").ok_or("the class names no language")?;
            }
            ("tg-emoji", Some(attribute)) => value(attribute, "emoji-id").map(drop)?,
            ("span", None) => return Err("a span needs a class".into()),
            (name, None) if PLAIN.contains(&name) => {}
            _ => return Err("there is no such tag".into()),
        }
        let is_open = |tag: &str| self.open.iter().any(|(open, _)| *open == tag);
        if is_open("code") || (is_open("pre") && name != "code") {
            return Err("code holds no other tags".into());
        }
        if name == "blockquote" && is_open("blockquote") {
            return Err("quotations are not nested".into());
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let from = self.at;
        let tag = &self.until('>')?[2..];
        match self.open.pop() {
            Some((open, start)) if open == tag && start < self.text.len() => Ok(()),
            Some((open, _)) if open == tag => Err(format!("byte {from}: <{tag}> is empty")),
            Some((open, _)) => Err(format!("byte {from}: </{tag}> closes <{open}>")),
            None => Err(format!("byte {from}: </{tag}> closes nothing")),
        }
    }

    fn entity(&mut self) -> Result<(), String> {
        let from = self.at;
        let name = &self.until(';')?[1..];
        let c = entity(name).ok_or(format!("byte {from}: there is no entity &{name};"))?;
        self.text.push(c);
        Ok(())
    }
}

/// Returns the decoded value of the one attribute `name="…"`.
fn value(attribute: &str, name: &str) -> Result<String, String> {
    let inner = attribute
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix("=\""))
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|value| !value.is_empty() && !value.contains(['"', '<']))
        .ok_or(format!("it needs {name}=\"…\" and nothing else"))?;
    let mut out = String::new();
    let mut rest = inner;
    while let Some((text, after)) = rest.split_once('&') {
        let (name, after) = after.split_once(';').ok_or("an entity in it has no end")?;
        out.push_str(text);
        out.push(entity(name).ok_or(format!("there is no entity &{name};"))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| *c != '\0')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(html: &str, expected: &str) {
        let parsed = check(html).unwrap();
        assert_eq!(parsed.text, expected);
        assert_eq!(parsed.utf16_len, expected.encode_utf16().count());
    }

    #[test]
    fn what_telegram_takes_is_read() {
        check_text("", "");
        check_text("a &lt;b&gt; &amp;&quot;&#65;&#x1F600;", "a <b> &\"A😀");
        check_text("<b>x<i>y</i></b><u>1</u><s>2</s><tg-spoiler>3</tg-spoiler>", "xy123");
        check_text("<pre><code class=\"language-sh\">ls</code></pre><code>a</code>", "lsa");
        check_text("<a href=\"https://x.y/?a=1&amp;b=2\">z</a>", "z");
        check_text("<blockquote expandable><b>q</b></blockquote><blockquote>r</blockquote>", "qr");
    }

    fn check_refused(html: &str, why: &str) {
        let error = check(html).unwrap_err();
        assert!(error.contains(why), "{html}: {error}");
    }

    #[test]
    fn what_telegram_refuses_is_refused() {
        check_refused("<b>x", "not closed");
        check_refused("x</b>", "closes nothing");
        check_refused("<b><i>x</b></i>", "closes <i>");
        check_refused("<b", "no '>'");
        check_refused("a > b", "not escaped");
        check_refused("a & b", "no ';'");
        check_refused("a &nbsp; b", "no entity");
        check_refused("&#xD800;", "no entity");
        check_refused("<br>", "no such tag");
        check_refused("<B>x</B>", "no such tag");
        check_refused("<b class=\"x\">x</b>", "no such tag");
        check_refused("<a>x</a>", "no such tag");
        check_refused("<a href=\"\">x</a>", "href");
        check_refused("<a href=\"a\" b=\"c\">x</a>", "href");
        check_refused("<a href=\"a&b\">x</a>", "entity");
        check_refused("<code class=\"language-sh\">x</code>", "no such tag");
        check_refused("<pre><b>x</b></pre>", "no other tags");
        check_refused("<code><i>x</i></code>", "no other tags");
        check_refused("<blockquote>a<blockquote>b</blockquote></blockquote>", "nested");
        check_refused("<b></b>", "empty");
        check_refused("<span>x</span>", "class");
    }
}
