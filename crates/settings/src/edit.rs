//! Sets and removes keys in the text of a settings file, changing nothing else.
//!
//! Pure: text in, text out. The caller has to parse and check the result.

use std::ops::Range;

use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, TomlError, Value};

use crate::value::SettingValue;

/// Sets the key called `name`. The comments, the order and the form of everything else stay.
pub fn set_key(text: &str, name: &str, value: Value) -> Result<String, TomlError> {
    // Only a document that cannot be changed knows where its values are in the text.
    let document = Document::parse(text)?;
    if let Some((_, place)) = find_key_ranges(document.as_table(), name) {
        let mut text = text.to_owned();
        text.replace_range(place, value.to_string().trim());
        return Ok(text);
    }
    let mut document = document.into_mut();
    insert_key(&mut document, name, value);
    Ok(with_line_ends(text, &document))
}

/// Removes the key called `name`, together with a comment behind it on its line.
pub fn unset_key(text: &str, name: &str) -> Result<String, TomlError> {
    let document = Document::parse(text)?;
    let Some((key, value)) = find_key_ranges(document.as_table(), name) else {
        return Ok(text.to_owned());
    };
    if let Some(lines) = own_lines(text, key, value) {
        let mut text = text.to_owned();
        text.replace_range(lines, "");
        return Ok(text);
    }
    let mut document = document.into_mut();
    let (table, last) = split_at_first_dot(name);
    if let Some(holder) = table_like_mut(&mut document, table) {
        holder.remove(last);
    }
    Ok(with_line_ends(text, &document))
}

/// Returns a value in TOML; `None` if TOML cannot hold it, or if it can only be edited by hand.
pub fn toml_value(value: &SettingValue) -> Option<Value> {
    let texts = |texts: Vec<Option<&str>>| -> Option<Value> {
        texts.into_iter().collect::<Option<Array>>().map(Value::from)
    };
    match value {
        SettingValue::Path(path) => path.to_str().map(Value::from),
        SettingValue::Paths(paths) => texts(paths.iter().map(|path| path.to_str()).collect()),
        SettingValue::Text(text) => Some((&**text).into()),
        SettingValue::Secret(secret) => Some(secret.reveal().into()),
        SettingValue::Words(words) => texts(words.iter().map(|word| Some(&word[..])).collect()),
        SettingValue::Whole(number) => Some((*number).into()),
        SettingValue::Dollars(millionths) => {
            let decimals = format!("{:06}", millionths % 1_000_000);
            let decimals = format!("{:0<2}", decimals.trim_end_matches('0'));
            format!("{}.{decimals}", millionths / 1_000_000).parse().ok()
        }
        SettingValue::Switch(is_on) => Some((*is_on).into()),
        SettingValue::Ids(ids) => Some(Value::from(ids.iter().copied().collect::<Array>())),
        SettingValue::Tables(_) => None,
    }
}

/// Splits a name into its table, which may be empty, and the rest.
fn split_at_first_dot(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("", name))
}

fn table_like_mut<'a>(document: &'a mut DocumentMut, table: &str) -> Option<&'a mut dyn TableLike> {
    match table {
        "" => Some(document.as_table_mut()),
        table => document.get_mut(table)?.as_table_like_mut(),
    }
}

/// Returns where the key called `name` and its value are.
fn find_key_ranges(root: &Table, name: &str) -> Option<(Range<usize>, Range<usize>)> {
    let (table, last) = split_at_first_dot(name);
    let holder = match table {
        "" => root,
        table => root.get(table)?.as_table_like()?,
    };
    let (key, value) = holder.get_key_value(last)?;
    Some((key.span()?, value.as_value()?.span()?))
}

/// Returns the lines of a key and its value if nothing else is on them but a comment.
fn own_lines(text: &str, key: Range<usize>, value: Range<usize>) -> Option<Range<usize>> {
    let start = text[..key.start].rfind('\n').map_or(0, |newline| newline + 1);
    // A table may be named before a dot.
    if text[start..key.start].contains(['{', '[', ',', '=']) {
        return None;
    }
    let rest = &text[value.end..];
    let end = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
    let behind = rest[..end].trim();
    (behind.is_empty() || behind.starts_with('#')).then_some(start..value.end + end)
}

fn insert_key(document: &mut DocumentMut, name: &str, value: Value) {
    let (table, last) = split_at_first_dot(name);
    // Comments in a file without keys come before what is new.
    let above = if document.is_empty() { take_trailing(document) } else { String::new() };
    if table.is_empty() {
        document.insert(last, Item::Value(value));
        if let Some(mut key) = document.key_mut(last) {
            key.leaf_decor_mut().set_prefix(above);
        }
        return;
    }
    if document.get(table).is_none() {
        let mut new = Table::new();
        let is_first = document.is_empty() && above.is_empty();
        let gap = if is_first || above.ends_with("\n\n") { "" } else { "\n" };
        new.decor_mut().set_prefix(above + gap);
        document.insert(table, Item::Table(new));
    }
    if let Some(holder) = table_like_mut(document, table) {
        holder.insert(last, Item::Value(value));
    }
}

/// Takes what follows the last key.
fn take_trailing(document: &mut DocumentMut) -> String {
    let text = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

fn with_line_ends(old: &str, document: &DocumentMut) -> String {
    let text = document.to_string();
    // What toml_edit adds ends with a line feed alone.
    let has_only_crlf =
        old.contains('\n') && old.matches('\n').count() == old.matches("\r\n").count();
    if has_only_crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ValueKind;

    fn check_set(text: &str, name: &str, value: impl Into<Value>, expected: &str) {
        let changed = set_key(text, name, value.into()).unwrap();
        assert_eq!(changed, expected, "{text:?} {name}");
    }

    #[test]
    fn a_value_is_replaced_where_it_is() {
        check_set("a = 1", "a", 2, "a = 2");
        check_set("# x\n a  =  1 # y\nb=2\n", "a", 2, "# x\n a  =  2 # y\nb=2\n");
        check_set("[t]\r\na = \"x\" # y\r\n", "t.a", "z", "[t]\r\na = \"z\" # y\r\n");
        check_set("t.a = 1\n", "t.a", 2, "t.a = 2\n");
        check_set("t = { a = 1, b = 2 }\n", "t.a", 3, "t = { a = 3, b = 2 }\n");
        check_set("[t]\na = [\n  1, # one\n]\nb = 2\n", "t.a", 3, "[t]\na = 3\nb = 2\n");
        check_set("\"a\" = '''\nx'''\nb = 1\n", "a", 'y'.to_string(), "\"a\" = \"y\"\nb = 1\n");
    }

    #[test]
    fn a_new_key_joins_its_table() {
        check_set("", "a", 1, "a = 1\n");
        check_set("", "t.a", 1, "[t]\na = 1\n");
        check_set("# mine\n", "a", 1, "# mine\na = 1\n");
        check_set("# mine", "t.a", 1, "# mine\n\n[t]\na = 1\n");
        check_set("b = 1 # x\n", "a", 2, "b = 1 # x\na = 2\n");
        check_set("# top\n[t]\nb = 1\n# end\n", "a", 2, "a = 2\n# top\n[t]\nb = 1\n# end\n");
        check_set(
            "[t]\nb = 1\n\n# u\n[u]\nc = 1\n",
            "t.a",
            2,
            "[t]\nb = 1\na = 2\n\n# u\n[u]\nc = 1\n",
        );
        check_set("b = 1\n", "t.a", 2, "b = 1\n\n[t]\na = 2\n");
        check_set("[t]\n\n[u]\n", "t.a", 2, "[t]\na = 2\n\n[u]\n");
        check_set("t.b = 1\n", "t.a", 2, "t.b = 1\nt.a = 2\n");
        check_set("t = { b = 1 }\n", "t.a", 2, "t = { b = 1 , a = 2 }\n");
        check_set("b = 1\r\n# x\r\n", "t.a", 2, "b = 1\r\n\r\n[t]\r\na = 2\r\n# x\r\n");
    }

    /// A table may exist only through the tables within it.
    #[test]
    fn a_table_without_a_header_gets_one() {
        let changed = set_key("[t.x.y]\nb = 1\n", "t.a", 2.into()).unwrap();
        let read: toml::Table = changed.parse().unwrap();
        assert_eq!(read["t"]["a"].as_integer(), Some(2), "{changed}");
        assert_eq!(read["t"]["x"]["y"]["b"].as_integer(), Some(1), "{changed}");
    }

    #[test]
    fn a_key_is_removed_with_its_line() {
        let check = |text: &str, name: &str, expected: &str| {
            assert_eq!(unset_key(text, name).unwrap(), expected, "{text:?} {name}");
        };
        check("# x\na = 1 # y\nb = 2\n", "a", "# x\nb = 2\n");
        check("b = 1\n[t]\n# x\na = [\n1,\n] # y\n# z\n", "t.a", "b = 1\n[t]\n# x\n# z\n");
        check("t.a = 1\nt.b = 2", "t.b", "t.a = 1\n");
        check("t = { a = 1, b = 2 }\n", "t.a", "t = { b = 2 }\n");
        check("a = 1\r\nb = 2\r\n", "a", "b = 2\r\n");
        check("a = 1\n", "b", "a = 1\n");
        check("[t]\nb = 1\n", "t.a", "[t]\nb = 1\n");
    }

    #[test]
    fn values_have_the_form_that_people_write() {
        let check = |value: SettingValue, expected: &str| {
            assert_eq!(toml_value(&value).unwrap().to_string(), expected);
        };
        check(SettingValue::Dollars(2_500_000), "2.50");
        check(SettingValue::Dollars(3_000_000), "3.00");
        check(SettingValue::Dollars(1), "0.000001");
        check(SettingValue::Path("~/a b".into()), "\"~/a b\"");
        check(SettingValue::Paths(vec!["/a".into(), "~/b\"".into()]), "[\"/a\", '~/b\"']");
        check(SettingValue::Words(vec!["pass".into(), "x".into()]), "[\"pass\", \"x\"]");
        check(SettingValue::Ids(vec![1, -2]), "[1, -2]");
        check(SettingValue::Switch(true), "true");
        check(SettingValue::Whole(5), "5");
        let text = ValueKind::Text("text", |_| true).read_text(" x\n".as_ref(), false);
        check(text.unwrap(), "\"x\"");
    }
}
