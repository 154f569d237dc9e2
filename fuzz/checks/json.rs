//! JSON that is only split.

use callgate_wire::raw::{Json, MOST_LEVELS, Members, check_exact};
use serde_json::Value;
use serde_json::value::RawValue;

/// Checks that the splitter and the parser agree on what is JSON and on where it begins and ends.
pub fn json_cut(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parsed = serde_json::from_str::<&RawValue>(text).ok();
    let cut = Json::from_text(text).ok();
    assert_eq!(cut.map(Json::get), parsed.map(RawValue::get), "another value");
    if cut.is_some() && check_exact(text, MOST_LEVELS - 1).is_ok() {
        let read = serde_json::from_str::<Value>(text);
        assert!(read.is_ok(), "what is exact can be read");
    }
    let members = Members::read_with(text, "a").ok();
    if let (Some((members, inner)), Ok(Value::Object(values))) =
        (members, serde_json::from_str(text))
    {
        assert!(values.keys().all(|name| members.get(name).is_some()), "a member is missing");
        assert!(members.0.iter().all(|(name, _)| values.contains_key(&**name)), "one too many");
        let is_inner_object = members.get("a").is_some_and(Json::is_object);
        assert_eq!(inner.is_some(), is_inner_object, "the inner object");
    }
}
