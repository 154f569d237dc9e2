//! `callgate pair`: links a phone with a code, and removes links.

mod known_answerer;
mod qr;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::DeskError;
use callgate_client::viewer::Viewer;
use callgate_mask::text::one_line;
use callgate_wire::desk::{DeskMessage, PhoneStatus};
use callgate_wire::ledger::{LedgerEvent, PersonPress, ViewerPaired};
use rustix::termios::{Winsize, tcgetwinsize};

use crate::config::{Config, DeskFlags, load_config};
use crate::failure::Failure;
use crate::invocation;
pub(crate) use known_answerer::KnownAnswerer;
use qr::QrDrawing;

/// How long to wait for the bot's name just after the daemon has started.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(100);
/// How many rows are below the QR code: the text, and the row of the cursor.
const ROWS_BELOW: i32 = 5;

/// Link your phone with a code
///
/// Prints a code and what to do with it, and waits until it is used. Whoever sends the code to
/// your bot may answer your agents' questions from then on. If anybody is or was linked before,
/// somebody has to allow it: on a linked phone, or in the terminal of `callgate up`.
#[derive(Debug, clap::Args)]
pub(crate) struct PairArgs {
    /// Show who is linked
    #[arg(long)]
    list: bool,
    /// Remove a link, by its name or its id as --list shows them
    #[arg(long, value_name = "NAME|ID", conflicts_with = "list", allow_hyphen_values = true)]
    remove: Option<String>,
}

impl PairArgs {
    /// Pairs, lists or removes.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        let mut viewer = Viewer::connect(&config.desk_socket.value).map_err(pairing_failure)?;
        if !self.list && self.remove.is_none() {
            return pair_phone(&mut viewer, &config);
        }
        let known = KnownAnswerer::from_links(viewer.links().map_err(pairing_failure)?, &config);
        match &self.remove {
            Some(who) => remove_answerer(&mut viewer, &known, who),
            None => list_answerers(&known),
        }
    }
}

fn pairing_failure(error: DeskError) -> Failure {
    Failure::Failed(match error {
        DeskError::Closed(_) => "`callgate up` has ended, and the code with it: start it again, \
                                then run `callgate pair` again"
            .to_owned(),
        error => error.to_string(),
    })
}

fn list_answerers(known: &[KnownAnswerer]) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    if known.is_empty() {
        writeln!(out, "Nobody is linked. To link your phone: callgate pair")?;
    }
    let width = known.iter().map(|one| one.short_link().len()).max().unwrap_or_default();
    for one in known {
        writeln!(out, "{:width$}  {}", one.short_link(), one.name_or_setting())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn remove_answerer(
    viewer: &mut Viewer,
    known: &[KnownAnswerer],
    who: &str,
) -> Result<ExitCode, Failure> {
    let one = KnownAnswerer::find(known, who)?;
    let (done, text) = viewer.unpair(&one.link, &mut say_waiting).map_err(pairing_failure)?;
    if !done {
        return Err(Failure::Failed(text));
    }
    writeln!(io::stdout(), "{} ({}): {text}", one.name_or_setting(), one.short_link())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn say_waiting(text: &str) {
    // If it cannot be written, the answer still can.
    writeln!(io::stderr(), "{text}\nWaiting for somebody to allow it ...").ok();
}

fn pair_phone(viewer: &mut Viewer, config: &Config) -> Result<ExitCode, Failure> {
    // Without a bot nobody could use a code.
    let bot = wait_for_bot_name(viewer, config)?;
    let (code, lifetime) = viewer.code_when_allowed(&mut say_waiting).map_err(pairing_failure)?;
    // Nobody can use the code before it is shown, so no event is missed.
    viewer.watch(None).map_err(pairing_failure)?;
    let code = code.reveal();
    let mut out = io::stdout().lock();
    match &bot {
        Some(bot) => out.write_all(pairing_instructions(bot, code).as_bytes())?,
        None => writeln!(out, "Send this to your bot on Telegram:\n    /pair {code}")?,
    }
    let minutes = lifetime.as_secs() / 60;
    writeln!(
        out,
        "Waiting for it ... It can be used once, within {minutes} minutes, also in a group."
    )?;
    out.flush()?;
    let name = wait_for_link(viewer, Instant::now() + lifetime)?;
    writeln!(out, "Linked: {name}")?;
    Ok(ExitCode::SUCCESS)
}

/// Says how to use a code. The link is on a line of its own, where every terminal finds it.
fn pairing_instructions(bot: &str, code: &str) -> String {
    let link = format!("https://t.me/{bot}?start={code}");
    let way = |send: &str| {
        let how = format!("{send} this to @{bot} on Telegram, or open the link on your phone:");
        format!("{how}\n    /pair {code}\n    {link}\n")
    };
    let Some((size, drawing)) = terminal_size().zip(QrDrawing::from_text(&link)) else {
        return way("Send");
    };
    let QrDrawing { drawn, columns, rows } = &drawing;
    if drawing.fits(size.ws_col, size.ws_row, ROWS_BELOW) {
        return format!("Scan this with your phone and press Start.\n{drawn}{}", way("Or send"));
    }
    let rows = rows + ROWS_BELOW;
    format!(
        "A QR code does not fit: it needs a window of {columns} columns and {rows} rows.\n{}",
        way("Send")
    )
}

/// Returns the size of the terminal, if standard output is one that can show a QR code.
fn terminal_size() -> Option<Winsize> {
    let can_draw = io::stdout().is_terminal() && env::var_os("TERM").is_some_and(|it| it != "dumb");
    let size = can_draw.then(|| tcgetwinsize(io::stdout()).ok())??;
    (size.ws_col > 0 && size.ws_row > 0).then_some(size)
}

/// Returns the bot's name once it is known. Fails if there is no bot, or it does not work.
fn wait_for_bot_name(viewer: &mut Viewer, config: &Config) -> Result<Option<String>, Failure> {
    let end = Instant::now() + PATIENCE;
    loop {
        let phones = viewer.status().map_err(pairing_failure)?.reach.telegram;
        match phones.ok_or_else(|| Failure::Failed(no_bot(config)))? {
            PhoneStatus { bot: Some(bot), .. } => return Ok(Some(bot)),
            PhoneStatus { trouble: Some(why), .. } => {
                return Err(Failure::Failed(format!("Telegram does not work: {why}")));
            }
            _ if Instant::now() > end => return Ok(None),
            _ => thread::sleep(LOOK),
        }
    }
}

/// Explains how to set up a bot.
fn no_bot(config: &Config) -> String {
    if config.telegram.token.is_some() {
        return "`callgate up` was started before the bot was in the settings: start it again, \
                then run `callgate pair` again"
            .to_owned();
    }
    let me = invocation::shell_command(config);
    format!(
        "there is no Telegram bot yet, so there is nothing to link a phone to
  1. On Telegram, send /newbot to @BotFather. It gives you a token.
  2. Run `{me} config set telegram.token --stdin`, paste the token and press Enter.
  3. Start `{me} up` again, then run `{me} pair` again."
    )
}

/// Waits until somebody has used the code, and returns their name.
fn wait_for_link(viewer: &mut Viewer, end: Instant) -> Result<String, Failure> {
    loop {
        let Some(message) = viewer.next(end).map_err(pairing_failure)? else {
            return Err("the code has expired: run `callgate pair` for a new one".into());
        };
        let DeskMessage::Entry(entry) = message else { continue };
        match entry.event() {
            LedgerEvent::ChatPaired(PersonPress { by, .. })
            | LedgerEvent::ViewerPaired(ViewerPaired { by, .. }) => {
                return Ok(one_line(if by.is_empty() { "somebody" } else { &by }).into_owned());
            }
            // There is one code at a time, so the one that is shown here is void now.
            LedgerEvent::Code(_) => {
                return Err("a newer code has been made, so this one is void: use that one".into());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_code_that_nobody_has_used_in_time_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        let mut viewer = Viewer::connect(&path).unwrap();
        let error = wait_for_link(&mut viewer, Instant::now()).unwrap_err().to_string();
        assert_eq!(error, "the code has expired: run `callgate pair` for a new one");
    }
}
