//! Where an answer can come from, in words for people.

use std::time::Duration;

use callgate_client::viewer::Viewer;
use callgate_mask::text::one_line;
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskStatus, NamedLink};

use crate::config::Config;

/// How long the desk may take to say who can answer. The question waits in the meantime.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the places where an answer can come from, or `None` if the desk does not say so. It is
/// only used to tell the user what the question waits for, so failures are ignored.
pub(crate) fn answer_places(config: &Config) -> Option<Vec<String>> {
    let mut viewer = Viewer::connect(&config.desk_socket.value).ok()?;
    let Ok(DeskAnswer::Status { status }) = viewer.ask(DeskCommand::Status, PATIENCE) else {
        return None;
    };
    // The sockets are separate settings, so this may be another desk.
    if status.socket != config.socket.value.to_string_lossy() {
        return None;
    }
    let Ok(DeskAnswer::Links { links }) = viewer.ask(DeskCommand::Links, PATIENCE) else {
        return None;
    };
    Some(describe_places(&status, &links, &config.telegram.allowed_chats.value))
}

/// Returns the places where an answer can come from.
pub(crate) fn describe_places(
    status: &DeskStatus,
    links: &[NamedLink],
    allowed_chats: &[i64],
) -> Vec<String> {
    let DeskStatus { reach, relays, .. } = status;
    let mut places = Vec::new();
    if reach.terminal {
        places.push("in the terminal of `callgate up`".to_owned());
    }
    let chats = phone_names(links, allowed_chats);
    match &reach.telegram {
        Some(phones) if phones.trouble.is_none() && !chats.is_empty() => {
            places.push(format!("on Telegram from {}", chats.join(" or ")));
        }
        _ => {}
    }
    places.extend(relays.iter().map(|relay| {
        let name = one_line(&relay.name);
        if relay.is_team {
            "at the team's desk".to_owned()
        } else {
            format!("at the desk of {name}")
        }
    }));
    // A relay is a viewer that people at another desk are behind.
    match reach.viewers.paired.saturating_sub(relays.len() as u64) {
        0 => {}
        1 => places.push("in a linked viewer".to_owned()),
        count => places.push(format!("in one of {count} linked viewers")),
    }
    places
}

/// Returns the names of the linked chats, and the numbers of those that the settings allow.
fn phone_names(links: &[NamedLink], allowed_chats: &[i64]) -> Vec<String> {
    let linked = links.iter().filter(|link| link.link.starts_with("chat/"));
    let mut chats: Vec<String> =
        linked.clone().map(|link| format!("“{}”", one_line(&link.name))).collect();
    let is_linked = |chat: &i64| linked.clone().any(|link| link.link == format!("chat/{chat}"));
    chats.extend(
        allowed_chats.iter().filter(|chat| !is_linked(chat)).map(|chat| format!("chat {chat}")),
    );
    chats
}

#[cfg(test)]
mod tests {
    use callgate_wire::desk::{ConnectedRelay, DeskReach, PhoneStatus, ViewerCount};

    use super::*;

    #[test]
    fn everybody_who_can_answer_is_named() {
        let link = |link: &str, name: &str| NamedLink {
            link: link.to_owned(),
            name: name.to_owned(),
            person: None,
        };
        let links =
            [link("chat/7", "Ada"), link("user/8", "Bob"), link("viewer/2f0c", "The\u{1b} page")];
        let status = |reach: DeskReach, relays: &[(&str, bool)]| DeskStatus {
            reach,
            relays: relays
                .iter()
                .map(|&(name, is_team)| ConnectedRelay {
                    name: name.to_owned(),
                    since_ms: 0,
                    is_team,
                })
                .collect(),
            ..DeskStatus::default()
        };
        let check = |terminal: bool, phones: Option<Option<&str>>, paired: u64, expected: &str| {
            let telegram = phones.map(|trouble| PhoneStatus {
                bot: Some("bot".to_owned()),
                trouble: trouble.map(str::to_owned),
            });
            let viewers = ViewerCount { connected: 9, paired };
            let reach = DeskReach { terminal, telegram, viewers };
            let status = status(reach, &[]);
            assert_eq!(describe_places(&status, &links, &[7, 42]).join(" | "), expected);
        };
        check(false, None, 0, "");
        check(true, None, 1, "in the terminal of `callgate up` | in a linked viewer");
        check(false, Some(None), 0, "on Telegram from “Ada” or chat 42");
        check(false, Some(Some("no network")), 2, "in one of 2 linked viewers");
        let reach = DeskReach { telegram: Some(PhoneStatus::default()), ..DeskReach::default() };
        let places = describe_places(&status(reach, &[]), &links[1..], &[]);
        assert!(places.is_empty(), "no chat is linked");
        let viewers = ViewerCount { connected: 3, paired: 3 };
        let above = status(
            DeskReach { viewers, ..DeskReach::default() },
            &[("desk-1", true), ("lap", false)],
        );
        let places = describe_places(&above, &[], &[]);
        assert_eq!(places, ["at the team's desk", "at the desk of lap", "in a linked viewer"]);
    }
}
