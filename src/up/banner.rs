//! The banner of `callgate up`: where it serves, who can answer, what agents do, and what is still
//! to be done.

use std::collections::BTreeMap;

use callgate_mask::text::counted_noun;
use callgate_wire::ledger::VIEWER_LINK;

use crate::agents::starting_mode::GatedAgent;
use crate::config::Config;
use crate::team::MembershipFile;

/// Who can answer questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answerers {
    /// Whether questions are shown in this terminal.
    pub(super) terminal: bool,
    /// Whether a bot is set up.
    pub(super) bot: bool,
    /// How many chats are linked, or allowed by the settings.
    pub(super) chats: usize,
    /// How many viewers are linked. They can answer while they are connected.
    pub(super) viewers: usize,
    /// Whether this machine belongs to a team, whose desk answers too.
    pub(super) team: bool,
}

impl Answerers {
    /// Counts those that are linked and those that the settings allow.
    pub(super) fn from_links(
        config: &Config,
        terminal: bool,
        links: &BTreeMap<String, String>,
    ) -> Self {
        let count = |kind: &str| links.keys().filter(|link| link.starts_with(kind)).count();
        let allowed = &config.telegram.allowed_chats.value;
        // A chat that is both linked and allowed must count once.
        let is_new = |chat: &&i64| !links.contains_key(&format!("chat/{chat}"));
        Self {
            terminal,
            bot: config.telegram.token.is_some(),
            chats: count("chat/") + allowed.iter().filter(is_new).count(),
            viewers: count(VIEWER_LINK),
            team: MembershipFile::beside(&config.database).path().exists(),
        }
    }

    fn has_phone(self) -> bool {
        self.bot && self.chats > 0
    }

    /// Says who can answer.
    fn sentence(self) -> String {
        let has_own = self.terminal || self.has_phone() || self.viewers > 0;
        match (self.team, has_own) {
            (false, _) => self.own_sentence(),
            (true, false) => "Questions go to the team's desk while it is connected.".to_owned(),
            (true, true) => format!("{} The team's desk answers, too.", self.own_sentence()),
        }
    }

    fn own_sentence(self) -> String {
        let viewers = counted_noun(self.viewers, "linked viewer");
        match (self.terminal, self.has_phone(), self.viewers) {
            (true, true, _) => {
                "Questions appear here and on Telegram; a key or a button answers them.".to_owned()
            }
            (true, false, _) => "Questions appear here, and a key answers them.".to_owned(),
            (false, true, 0) => {
                format!("Questions go to Telegram ({}).", counted_noun(self.chats, "linked chat"))
            }
            (false, true, _) => format!(
                "Questions go to Telegram ({}), and to {viewers} while connected.",
                counted_noun(self.chats, "linked chat")
            ),
            (false, false, 0) => {
                "Nobody can answer yet: there is no terminal here, and no phone is linked."
                    .to_owned()
            }
            (false, false, _) => {
                format!("Only {viewers} can answer, while connected: no phone is linked.")
            }
        }
    }
}

/// Returns the banner. `page` is the address of the page, if it is served, and `me` is what starts
/// this program in a shell.
pub(super) fn render_banner(
    socket: &str,
    who: Answerers,
    page: Option<&str>,
    agents: &[GatedAgent],
    me: &str,
) -> String {
    let mut lines = vec![format!("callgate is up: agents ask at {socket}"), who.sentence()];
    if let Some(page) = page {
        let way = if who.terminal {
            "the key o prints a link that opens it".to_owned()
        } else {
            format!("`{me} open` opens it")
        };
        lines.push(format!("The page is at {page}: {way}."));
    }
    lines.extend(agents.iter().map(|agent| format!("{}.", agent.line)));
    for opening in agents.iter().filter_map(|agent| agent.opening.as_ref()) {
        lines.push(format!("Warning: {opening}. `{me} doctor` says what to do."));
    }
    let next = next_steps(who, agents, me);
    if !next.is_empty() {
        lines.push(format!("Next: {}.", next.join("; ")));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Returns what is still to be done.
fn next_steps(who: Answerers, agents: &[GatedAgent], me: &str) -> Vec<String> {
    let mut next = Vec::new();
    if agents.is_empty() {
        let place = if who.terminal { " in another terminal" } else { "" };
        next.push(format!("`{me} install`{place} lets your agents ask here"));
    }
    for agent in agents {
        if let Some(socket) = &agent.other_socket {
            let (name, word) = (agent.agent.name, agent.agent.word);
            next.push(format!("`{me} install --agent {word}`, because {name} asks at {socket}"));
        }
    }
    next.extend(next_phone(who, me));
    next
}

/// Returns what is still to be done for a phone. With a terminal a phone is optional.
fn next_phone(who: Answerers, me: &str) -> Option<String> {
    match (who.bot, who.has_phone()) {
        (true, false) => Some(format!("`{me} pair` links your phone")),
        (false, _) if !who.terminal && !who.team => {
            Some(format!("`{me} pair` says how to set up a phone, or run `{me} up` in a terminal"))
        }
        _ => None,
    }
}

/// Returns who can answer, and what to do if nobody can.
pub(super) fn describe_reach(who: Answerers, me: &str) -> String {
    let next = next_phone(who, me).map(|next| format!("Next: {next}.\n"));
    format!("{}\n{}", who.sentence(), next.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use callgate_wire::hook::agents::CLAUDE;

    fn check(who: Answerers, agents: &[GatedAgent], expected: &Expect) {
        expected.assert_eq(&render_banner("/s", who, None, agents, "callgate"));
    }

    fn claude(other_socket: Option<&str>) -> GatedAgent {
        GatedAgent {
            agent: &CLAUDE,
            line: "Claude Code starts in auto mode".to_owned(),
            other_socket: other_socket.map(str::to_owned),
            opening: None,
        }
    }

    #[test]
    fn settings_that_open_the_gate_are_told() {
        let who = Answerers { terminal: true, ..Answerers::default() };
        let opening = Some("/w/.claude/settings.json: `disableAllHooks` is true: no hook runs");
        let agent = GatedAgent { opening: opening.map(str::to_owned), ..claude(None) };
        check(
            who,
            &[agent],
            &expect![[r"
                callgate is up: agents ask at /s
                Questions appear here, and a key answers them.
                Claude Code starts in auto mode.
                Warning: /w/.claude/settings.json: `disableAllHooks` is true: no hook runs. `callgate doctor` says what to do.
            "]],
        );
    }

    #[test]
    fn only_what_is_still_to_be_done_is_named() {
        let fresh = Answerers { terminal: true, ..Answerers::default() };
        check(
            fresh,
            &[],
            &expect![[r"
                callgate is up: agents ask at /s
                Questions appear here, and a key answers them.
                Next: `callgate install` in another terminal lets your agents ask here.
            "]],
        );
        check(
            fresh,
            &[claude(None)],
            &expect![[r"
                callgate is up: agents ask at /s
                Questions appear here, and a key answers them.
                Claude Code starts in auto mode.
            "]],
        );
        check(
            fresh,
            &[claude(Some("/old"))],
            &expect![[r"
                callgate is up: agents ask at /s
                Questions appear here, and a key answers them.
                Claude Code starts in auto mode.
                Next: `callgate install --agent claude`, because Claude Code asks at /old.
            "]],
        );
        check(
            Answerers { bot: true, ..fresh },
            &[],
            &expect![[r"
                callgate is up: agents ask at /s
                Questions appear here, and a key answers them.
                Next: `callgate install` in another terminal lets your agents ask here; `callgate pair` links your phone.
            "]],
        );
        check(
            Answerers { bot: true, chats: 1, ..fresh },
            &[claude(None)],
            &expect![[r"
                callgate is up: agents ask at /s
                Questions appear here and on Telegram; a key or a button answers them.
                Claude Code starts in auto mode.
            "]],
        );
    }

    #[test]
    fn the_page_is_named_with_the_way_to_open_it() {
        let said = |terminal: bool| {
            let who = Answerers { terminal, ..Answerers::default() };
            let all = render_banner(
                "/s",
                who,
                Some("http://127.0.0.1:7420/"),
                &[claude(None)],
                "callgate",
            );
            all.lines().nth(2).map(str::to_owned)
        };
        let key = "The page is at http://127.0.0.1:7420/: the key o prints a link that opens it.";
        assert_eq!(said(true).as_deref(), Some(key));
        let command = "The page is at http://127.0.0.1:7420/: `callgate open` opens it.";
        assert_eq!(said(false).as_deref(), Some(command));
    }

    #[test]
    fn the_desk_of_a_team_answers_too() {
        let member = Answerers { team: true, ..Answerers::default() };
        assert_eq!(
            describe_reach(member, "callgate"),
            "Questions go to the team's desk while it is connected.\n"
        );
        let who = Answerers { terminal: true, ..member };
        assert_eq!(
            describe_reach(who, "callgate"),
            "Questions appear here, and a key answers them. The team's desk answers, too.\n"
        );
    }

    #[test]
    fn a_desk_without_a_terminal_says_who_can_answer() {
        let nobody = Answerers::default();
        check(
            nobody,
            &[claude(None)],
            &expect![[r"
                callgate is up: agents ask at /s
                Nobody can answer yet: there is no terminal here, and no phone is linked.
                Claude Code starts in auto mode.
                Next: `callgate pair` says how to set up a phone, or run `callgate up` in a terminal.
            "]],
        );
        let said = |who: Answerers| {
            let all = render_banner("/s", who, None, &[claude(None)], "/a/callgate");
            let lines: Vec<String> = all.lines().map(str::to_owned).collect();
            (lines[1].clone(), lines.get(3).cloned())
        };
        let bot = Answerers { bot: true, ..nobody };
        let link = Some("Next: `/a/callgate pair` links your phone.".to_owned());
        let nobody = "Nobody can answer yet: there is no terminal here, and no phone is linked.";
        assert_eq!(said(bot), (nobody.to_owned(), link.clone()));
        let viewers = "Only 2 linked viewers can answer, while connected: no phone is linked.";
        assert_eq!(said(Answerers { viewers: 2, ..bot }), (viewers.to_owned(), link));
        let phone = "Questions go to Telegram (1 linked chat).";
        assert_eq!(said(Answerers { chats: 1, ..bot }), (phone.to_owned(), None));
        let both =
            "Questions go to Telegram (2 linked chats), and to 1 linked viewer while connected.";
        assert_eq!(said(Answerers { chats: 2, viewers: 1, ..bot }), (both.to_owned(), None));
    }
}
