//! What each answer to a question grants, in words.

use callgate_wire::desk::{CardContent, CardGrants};

pub(super) fn grants_of(body: &CardContent, is_blocked: bool, is_picked: bool) -> CardGrants {
    let allow = match body {
        _ if is_blocked => "Lets this call try again, once.",
        _ if is_picked => "Sends the agent what you choose.",
        CardContent::Command { .. } => "Runs this command once.",
        CardContent::Read { .. } => "Lets it look at this once.",
        CardContent::Write { .. } => "Writes this file once.",
        CardContent::Edit { .. } => "Makes this change once.",
        CardContent::Patch { .. } => "Makes these changes once.",
        CardContent::Notebook { .. } => "Changes this notebook once.",
        CardContent::Fetch { .. } => "Fetches this page once.",
        CardContent::Plan { .. } => "Lets the agent carry out this plan.",
        CardContent::Ask { .. } => "Answers yes.",
        CardContent::Todo { .. } | CardContent::Mcp { .. } | CardContent::Other { .. } => {
            "Lets this tool run once."
        }
    };
    let deny = match body {
        _ if is_blocked => "It stays blocked.",
        CardContent::Ask { .. } => "Answers no.",
        _ => "It does not run; the agent is told so and goes on.",
    };
    CardGrants { allow: allow.to_owned(), deny: deny.to_owned() }
}
