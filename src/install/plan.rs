//! What an installation for several agents would change: shown before it is done.

use std::io::{self, IsTerminal, Read, Write};

use super::agent_file::agent_files;
use super::edit::WantedHook;
use super::{change_settings_file, install_hooks};
use crate::agents::{CodingAgent, SettingsScope};
use crate::config::Surroundings;
use crate::failure::Failure;

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 64;

/// Shows which files would be changed. Somebody at a terminal is asked once. Returns true if the
/// changes are wanted.
pub(super) fn is_wanted(
    agents: &[(CodingAgent, Vec<WantedHook>)],
    scope: SettingsScope,
    around: &Surroundings,
    is_agreed: bool,
) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    let mut changes = 0;
    for (agent, wanted) in agents {
        for file in agent_files(agent, scope, around)? {
            // What cannot be changed is reported when it is tried.
            let is_changed = file.is_target
                && change_settings_file(&file.place, || install_hooks(&file, wanted, true))
                    .is_ok_and(|done| done.is_changed);
            if !is_changed {
                continue;
            }
            if changes == 0 {
                writeln!(out, "This puts callgate's hook into the settings of your agents:")?;
            }
            changes += 1;
            writeln!(out, "  {:14} {}", agent.name, file.place.path().display())?;
        }
    }
    if changes == 0 {
        return Ok(true);
    }
    let is_at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_agreed || !is_at_terminal {
        writeln!(out)?;
        return Ok(true);
    }
    write!(out, "Go on? [Y/n] ")?;
    out.flush()?;
    let is_yes = is_yes(&read_answer_line()?);
    if !is_yes {
        writeln!(out, "Nothing was changed. `--agent NAME` chooses one agent.")?;
    }
    Ok(is_yes)
}

fn read_answer_line() -> io::Result<String> {
    let mut line = Vec::new();
    // Byte by byte, because nothing limits a line that the standard library reads.
    for byte in io::stdin().lock().take(LONGEST_ANSWER).bytes() {
        match byte? {
            b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
            byte => line.push(byte),
        }
    }
    // The end of input is no agreement.
    Ok("n".to_owned())
}

/// Returns true for a yes; an empty line is one.
fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        for answer in ["", "y", "Y\r", " yes "] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["n", "no", "q", "\u{1b}", "what?"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
