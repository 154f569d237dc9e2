//! The hooks in an agent's settings: which there are, where in the text, and which are ours.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use callgate_hooks::hook_command::{CommandOwner, build_command_line, command_owner};
use callgate_mask::text::line_and_column;
use callgate_wire::hook::agents::{AGENTS, JsonHooks};

use super::json::{self, JsonMember};

/// Why a settings file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct EditRefusal(pub(crate) String);

/// Returns true if we install a hook for this event, for any agent and any version.
pub(crate) fn is_installed(event: &str) -> bool {
    let mut events = AGENTS.iter().flat_map(|agent| agent.events);
    events.any(|known| known.name == event && known.limit.is_some())
}

/// The hooks in a settings file, and where in the text they are.
#[derive(Debug)]
pub(crate) struct FoundHooks {
    /// The whole object.
    pub(crate) root: Range<usize>,
    /// The members, each from its name to its end.
    pub(crate) members: Vec<Range<usize>>,
    /// The index of the member `hooks`.
    pub(crate) hooks: Option<usize>,
    pub(crate) hooks_value: Range<usize>,
    pub(crate) events: Vec<EventHooks>,
    /// What in the file disables all hooks.
    pub(crate) switch: Option<&'static str>,
}

/// An event and its entries. An event that we do not install may have any shape; then it has no
/// entries here.
#[derive(Debug)]
pub(crate) struct EventHooks {
    pub(crate) name: String,
    pub(crate) whole: Range<usize>,
    pub(crate) value: Range<usize>,
    pub(crate) entries: Vec<HookEntry>,
}

/// An entry of an event: what it matches, and its handlers.
#[derive(Debug)]
pub(crate) struct HookEntry {
    pub(crate) whole: Range<usize>,
    pub(crate) matcher: Option<String>,
    /// Whether it has nothing but handlers and a matcher.
    pub(crate) is_simple: bool,
    pub(crate) list: Range<usize>,
    pub(crate) handlers: Vec<HookHandler>,
}

/// One command to run.
#[derive(Debug)]
pub(crate) struct HookHandler {
    pub(crate) whole: Range<usize>,
    /// The members, each from its name to its end.
    pub(crate) members: Vec<Range<usize>>,
    pub(crate) owner: CommandOwner,
    /// The command line, and where the command is.
    pub(crate) command: Option<(String, Range<usize>)>,
    /// The index of the member with the arguments. If there is one, the agent starts the program
    /// itself; else it runs the command with a shell.
    pub(crate) args: Option<usize>,
    /// Whether it has nothing but what we write.
    pub(crate) is_simple: bool,
    /// Where the time limit is.
    pub(crate) timeout: Option<Range<usize>>,
}

impl FoundHooks {
    /// Reads a settings file in the form of Claude Code.
    pub(crate) fn parse_claude_text(text: &str) -> Result<Self, EditRefusal> {
        Self::read_as(&JsonHooks::CLAUDE, text)
    }

    /// Reads a settings file in this form.
    pub(crate) fn read_as(form: &JsonHooks, text: &str) -> Result<Self, EditRefusal> {
        let plain = if form.has_comments {
            // Blanks take the place of comments, so that the positions are those of the text with
            // comments.
            Cow::Owned(json::without_comments(text))
        } else {
            Cow::Borrowed(text)
        };
        Self::read_plain(form, &plain)
    }

    fn read_plain(form: &JsonHooks, text: &str) -> Result<Self, EditRefusal> {
        let root = json::check_syntax(text)
            .map_err(|error| EditRefusal(format!("it is not JSON: {error}")))?;
        if !json::has_first_char(text, &root, '{') {
            return Err(refusal_at_range(text, &root, "it is not a JSON object"));
        }
        let members = json::object_members(text, &root);
        let hooks = find_only_member(text, &members, "hooks")?;
        let hooks_value = hooks.map(|at| members[at].value.clone()).unwrap_or_default();
        if hooks.is_some() && !json::has_first_char(text, &hooks_value, '{') {
            return Err(refusal_at_range(text, &hooks_value, "`hooks` is not an object"));
        }
        Ok(Self {
            switch: find_off_switch(text, &members),
            events: if hooks.is_some() {
                parse_events(form, text, &hooks_value)?
            } else {
                Vec::new()
            },
            members: members.into_iter().map(|member| member.whole).collect(),
            root,
            hooks,
            hooks_value,
        })
    }

    pub(crate) fn event(&self, name: &str) -> Option<&EventHooks> {
        self.events.iter().find(|event| event.name == name)
    }

    /// Returns every handler with its event and the indices of event, entry and handler.
    pub(crate) fn handlers(&self) -> impl Iterator<Item = (&EventHooks, [usize; 3], &HookHandler)> {
        self.events.iter().enumerate().flat_map(|(at, event)| {
            event.entries.iter().enumerate().flat_map(move |(entry_at, entry)| {
                let number =
                    move |(handler_at, handler)| (event, [at, entry_at, handler_at], handler);
                entry.handlers.iter().enumerate().map(number)
            })
        })
    }

    pub(crate) fn has_ours(&self) -> bool {
        self.handlers().any(|(_, _, handler)| handler.owner == CommandOwner::Ours)
    }
}

/// Returns what in these settings disables all hooks.
fn find_off_switch(text: &str, members: &[JsonMember]) -> Option<&'static str> {
    let is = |members: &[JsonMember], name: &str, value: &str| {
        let member = members.iter().rfind(|member| is_called(member, name));
        member.is_some_and(|member| &text[member.value.clone()] == value)
    };
    let config = members.iter().rfind(|member| is_called(member, "hooksConfig"));
    let config = config.map(|config| json::object_members(text, &config.value)).unwrap_or_default();
    if is(members, "disableAllHooks", "true") {
        Some("`disableAllHooks` is true")
    } else {
        is(&config, "enabled", "false").then_some("`hooksConfig.enabled` is false")
    }
}

fn parse_events(
    form: &JsonHooks,
    text: &str,
    hooks: &Range<usize>,
) -> Result<Vec<EventHooks>, EditRefusal> {
    let members = json::object_members(text, hooks);
    for member in members.iter().filter(|member| is_installed(&member.name)) {
        // Events at which we install nothing may occur twice, because they are not edited.
        find_only_member(text, &members, &member.name)?;
    }
    let event = |member: JsonMember| {
        let JsonMember { name, whole, value } = member;
        let entries = match parse_entries(form, text, &name, &value) {
            Err(refusal) if is_installed(&name) => return Err(refusal),
            entries => entries.unwrap_or_default(),
        };
        Ok(EventHooks { name, whole, value, entries })
    };
    members.into_iter().map(event).collect()
}

fn parse_entries(
    form: &JsonHooks,
    text: &str,
    event: &str,
    list: &Range<usize>,
) -> Result<Vec<HookEntry>, EditRefusal> {
    if !json::has_first_char(text, list, '[') {
        return Err(refusal_at_range(text, list, &format!("`hooks.{event}` is not a list")));
    }
    if form.is_flat {
        let entry = |handler: HookHandler| {
            let (whole, list) = (handler.whole.clone(), list.clone());
            HookEntry { whole, matcher: None, is_simple: true, list, handlers: vec![handler] }
        };
        return Ok(parse_handlers(form, text, event, list)?.into_iter().map(entry).collect());
    }
    let entry = |whole: Range<usize>| {
        let odd = |at: &Range<usize>| {
            refusal_at_range(
                text,
                at,
                &format!("an entry of `hooks.{event}` has no list of `hooks`"),
            )
        };
        let members = json::object_members(text, &whole);
        let list = find_only_member(text, &members, "hooks")?.ok_or_else(|| odd(&whole))?;
        let list = members[list].value.clone();
        if !json::has_first_char(text, &list, '[') {
            return Err(odd(&list));
        }
        let matcher = members.iter().rfind(|member| is_called(member, "matcher"));
        let matcher = matcher.map(|member| text[member.value.clone()].to_owned());
        let is_simple = members.iter().all(|m| is_called(m, "hooks") || is_called(m, "matcher"));
        let handlers = parse_handlers(form, text, event, &list)?;
        Ok(HookEntry { whole, matcher, is_simple, list, handlers })
    };
    json::array_items(text, list).into_iter().map(entry).collect()
}

fn parse_handlers(
    form: &JsonHooks,
    text: &str,
    event: &str,
    list: &Range<usize>,
) -> Result<Vec<HookHandler>, EditRefusal> {
    let more = form.more.iter().map(|(name, _)| *name);
    let own: Vec<&str> = more.chain(["type", form.command, "args", form.timeout]).collect();
    let handler = |whole: Range<usize>| {
        if !json::has_first_char(text, &whole, '{') {
            let what = format!("a hook of `hooks.{event}` is not an object");
            return Err(refusal_at_range(text, &whole, &what));
        }
        let members = json::object_members(text, &whole);
        // If a name occurs twice the last one counts, as it does for the agents.
        let value = |name: &str| {
            let member = members.iter().rfind(|member| is_called(member, name))?;
            Some(member.value.clone())
        };
        let args = members.iter().rposition(|member| is_called(member, "args"));
        // Arguments beside the command are joined to it, so that both forms have one test of whose
        // hook it is.
        let arguments: Option<Vec<String>> =
            args.and_then(|at| json::decode_value(text, &members[at].value));
        let command = value(form.command).and_then(|at| {
            let command: String = json::decode_value(text, &at)?;
            let arguments = arguments.as_ref();
            Some((
                arguments
                    .map_or(command.clone(), |arguments| build_command_line(&command, arguments)),
                at,
            ))
        });
        let owner =
            command.as_ref().map_or(CommandOwner::Foreign, |(command, _)| command_owner(command));
        let timeout = value(form.timeout);
        let is_simple = members.iter().all(|member| own.contains(&member.name.as_str()));
        let members = members.into_iter().map(|member| member.whole).collect();
        Ok(HookHandler { whole, members, owner, command, args, is_simple, timeout })
    };
    json::array_items(text, list).into_iter().map(handler).collect()
}

fn is_called(member: &JsonMember, name: &str) -> bool {
    member.name == name
}

/// Returns the index of the member called `name`. Two of them are refused: an agent might read the
/// one that was not changed.
fn find_only_member(
    text: &str,
    members: &[JsonMember],
    name: &str,
) -> Result<Option<usize>, EditRefusal> {
    let mut seen = HashSet::new();
    let twice = members.iter().find(|member| is_called(member, name) && !seen.insert(name));
    match twice {
        Some(member) => {
            Err(refusal_at_range(text, &member.whole, &format!("`{name}` occurs twice")))
        }
        None => Ok(members.iter().position(|member| is_called(member, name))),
    }
}

fn refusal_at_range(text: &str, at: &Range<usize>, what: &str) -> EditRefusal {
    let (line, column) = line_and_column(text, at.start);
    EditRefusal(format!("{what} (line {line}, column {column})"))
}
