//! The input of a file tool.

use callgate_wire::raw::Members;
use serde_json::{Map, Value};

use super::name::shown_name;

/// The limit, in characters, of a member's name in an error.
const LONGEST_NAME: usize = 64;

/// The arguments of one call, and its conversation. A member that is `null` counts as absent.
pub(super) struct FileToolInput {
    pub(super) members: Map<String, Value>,
    pub(super) conversation: String,
}

impl FileToolInput {
    pub(super) fn from_json(json: &str, conversation: &str) -> Result<Self, String> {
        let members = Members::from_text(json)
            .map_err(|_| "the input is not a JSON object: give the arguments by name".to_owned())?;
        let mut names: Vec<_> = members.0.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        // The rules that judged the input may have read the other one.
        if let Some([name, ..]) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(format!("the input has `{name}` twice: give it once"));
        }
        let members = serde_json::from_str(json).map_err(|error| format!("the input: {error}"))?;
        Ok(Self { members, conversation: conversation.to_owned() })
    }

    /// Refuses unknown members: the rules that judged the input may have taken one for a path.
    pub(super) fn refuse_unknown(self, known: &[String]) -> Result<Self, String> {
        let Some(name) = self.members.keys().find(|name| !known.contains(name)) else {
            return Ok(self);
        };
        let short: String = name.chars().take(LONGEST_NAME).collect();
        Err(format!(
            "`{}` is unknown in the input: this tool takes {}",
            shown_name(short.as_bytes()),
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Returns a required string.
    pub(super) fn text(&self, name: &str) -> Result<&str, String> {
        self.optional_text(name)?
            .ok_or_else(|| format!("`{name}` is missing in the input: give it as a string"))
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&str>, String> {
        let wrong = || format!("`{name}` in the input is not a string: give it as a string");
        self.get(name).map(|value| value.as_str().ok_or_else(wrong)).transpose()
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        let wrong = || format!("`{name}` in the input has to be true or false");
        self.get(name).map_or(Ok(false), |value| value.as_bool().ok_or_else(wrong))
    }

    /// Returns a whole number of at least 1.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        whole_number(value)
            .filter(|count| *count > 0)
            .map(Some)
            .ok_or_else(|| format!("`{name}` in the input has to be a whole number of at least 1"))
    }
}

/// Returns `value` as a whole number; some models write `10.0` for 10.
fn whole_number(value: &Value) -> Option<u64> {
    let exact = |number: f64| number.fract() == 0.0 && (0.0..=9e15).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    value.as_u64().or_else(|| value.as_f64().filter(|n| exact(*n)).map(|number| number as u64))
}
