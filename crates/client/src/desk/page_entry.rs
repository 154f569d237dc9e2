//! The ledger as it grows, in the form in which pages receive it.

use callgate_wire::desk::DeskMessage;
use serde_json::json;

use crate::PageEvent;

impl PageEvent {
    /// Returns the first event of every stream of entries: the number of the last entry there is.
    /// A page that is new to the ledger continues after it.
    pub fn watching(head: u64, is_new: bool) -> Self {
        let data = json!({ "head": head }).to_string();
        Self { event: "watching", id: is_new.then_some(head), data }
    }

    /// Returns the same for the page of a person of a team, who is named.
    pub fn watching_as(person: &str, head: u64, is_new: bool) -> Self {
        let data = json!({ "head": head, "person": person }).to_string();
        Self { data, ..Self::watching(head, is_new) }
    }

    /// Returns the event of a message that a watch of the desk yields, if it is one: an entry, or
    /// the notice that the page is no longer linked, which is the last event.
    pub fn from_desk(message: &DeskMessage) -> Option<Self> {
        let (event, id, data) = match message {
            DeskMessage::Entry(entry) => {
                ("entry", Some(entry.seq), serde_json::to_string(entry).ok()?)
            }
            DeskMessage::Locked { text } => ("locked", None, json!({ "text": text }).to_string()),
            _ => return None,
        };
        // A line end between the tokens of relayed JSON is equivalent to a space.
        Some(Self { event, id, data: data.replace(['\r', '\n'], " ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&str, Option<u64>, &str)>) {
        let event = PageEvent::from_desk(&DeskMessage::decode(line.as_bytes()).unwrap());
        let event = event.as_ref().map(|event| (event.event, event.id, event.data.as_str()));
        assert_eq!(event, expected);
    }

    #[test]
    fn entries_and_the_end_of_a_link_are_events() {
        let watching = PageEvent::watching(7, true);
        assert_eq!((watching.id, watching.data.as_str()), (Some(7), r#"{"head":7}"#));
        assert_eq!(PageEvent::watching(7, false).id, None);
        check(r#"{"kind":"locked","text":"Gone."}"#, Some(("locked", None, r#"{"text":"Gone."}"#)));
        // What was relayed between the tokens of an entry must not end a line of an event.
        let entry = "{\"kind\":\"entry\",\"entry\":{\"seq\":3,\"at_ms\":1,\"kind\":\"x\",\"question\":null,\
            \"hash\":\"h\",\"body\":{\r\"a\":1}}}";
        let data = "{\"seq\":3,\"at_ms\":1,\"kind\":\"x\",\"question\":null,\"hash\":\"h\",\"body\":{ \"a\":1}}";
        check(entry, Some(("entry", Some(3), data)));
        check(r#"{"id":"1","kind":"told","done":true,"text":"x"}"#, None);
    }
}
