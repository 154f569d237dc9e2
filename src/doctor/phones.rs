//! Checks Telegram: the token, the bot, and who is linked.

use callgate_approval::telegram::{self, BotToken};
use callgate_wire::desk::PhoneStatus;

use super::daemon::RunningDesk;
use super::finding::Findings;
use crate::config::{Config, TokenSource, token_source};
use crate::secrets::read_secret;

const ABOUT: &str = "telegram";

/// Checks the phones; calls Telegram itself only if asked to.
pub(super) fn check_telegram(
    config: &Config,
    running: Option<&RunningDesk>,
    is_called: bool,
    findings: &mut Findings,
) {
    let Some(source) = &config.telegram.token else {
        let text = "no bot is set up, so questions reach no phone";
        findings.add_ok(ABOUT, format!("{text} (to set one up: callgate pair)"));
        return;
    };
    // A keyring may ask for a password, and a program may do anything.
    let is_quiet = !matches!(source.value, TokenSource::Command(_) | TokenSource::Keyring(_));
    if is_quiet || is_called {
        match read_secret(&source.value, token_source::BOT) {
            Ok(token) if is_called => ask_telegram(config, token.reveal(), findings),
            Ok(_) => {}
            Err(error) => findings.add_problem(ABOUT, error, "then run this again"),
        }
    }
    if let Some(running) = running {
        report_status(config, running, findings);
    }
}

fn ask_telegram(config: &Config, token: &str, findings: &mut Findings) {
    let ask = || -> Result<String, String> {
        let token = BotToken::new(token).map_err(|error| error.to_string())?;
        let api_url = config.telegram.api_url.to_string();
        let settings = telegram::BotSettings { api_url, ..telegram::BotSettings::new(token) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(telegram::ask_bot_name(&settings))
    };
    match ask() {
        Ok(bot) => findings.add_ok(ABOUT, format!("Telegram knows the bot, @{bot}")),
        Err(why) => findings.add_problem(ABOUT, why, "then run `callgate doctor --telegram` again"),
    }
}

/// Reports what the daemon knows.
fn report_status(config: &Config, running: &RunningDesk, findings: &mut Findings) {
    match &running.status.reach.telegram {
        None => {
            let text = "`callgate up` was started before the bot was in the settings";
            return findings.add_problem(ABOUT, text, "start it again: callgate up");
        }
        Some(PhoneStatus { trouble: Some(why), .. }) => {
            findings.add_problem(ABOUT, why.clone(), "then look at what `callgate up` says");
        }
        Some(PhoneStatus { bot: Some(bot), .. }) => {
            findings.add_ok(ABOUT, format!("`callgate up` listens as @{bot}"));
        }
        Some(_) => {
            let text = "`callgate up` has not reached Telegram yet";
            findings.add_warning(ABOUT, text, "wait a moment and run this again");
        }
    }
    check_linked_chats(config, running, findings);
}

fn check_linked_chats(config: &Config, running: &RunningDesk, findings: &mut Findings) {
    let ids = |kind: &str, given: &[i64]| -> Vec<i64> {
        let links = running.links.iter().filter_map(|link| link.link.strip_prefix(kind));
        links.filter_map(|id| id.parse().ok()).chain(given.iter().copied()).collect()
    };
    let chats = ids("chat/", &config.telegram.allowed_chats.value);
    let users = ids("user/", &config.telegram.allowed_users.value);
    if chats.is_empty() {
        let text = "no chat is linked, so nobody is asked by phone";
        return findings.add_warning(ABOUT, text, "link yours: callgate pair");
    }
    findings.add_ok(ABOUT, format!("linked chats: {}", chats.len()));
    // Telegram gives groups numbers below zero.
    if chats.iter().any(|chat| *chat < 0) && users.is_empty() {
        let text = "a group is linked, but nobody may answer in it";
        let advice = "run `callgate pair` and send the code in the group, or set `allowed_users`";
        findings.add_warning(ABOUT, text, advice);
    }
}
