//! `callgate team join`: makes this machine a member of a team, by an invitation.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::DeskError;
use callgate_client::viewer::Viewer;
use callgate_link::text_file::read_limited_text;
use callgate_mask::text::one_line;
use callgate_policy::TeamFile;
use callgate_team::{Invitation, TeamRules};
use callgate_wire::HiddenText;
use callgate_wire::desk::RemoteState;
use callgate_wire::ledger::MemberKind;
use callgate_wire::relay::{JOIN_PATH, MachineJoined, MachineSecret};
use serde::Deserialize;

use super::BY;
use crate::config::{Config, process_surroundings};
use crate::failure::Failure;
use crate::install::install_found_agents;
use crate::relay::RelayDeskPlace;
use crate::remote::ask_remotes;
use crate::team::{MembershipFile, RULES_CHANGE, open_service, record_change};
use crate::terminal::typed_secret::read_typed_secret;

/// The variable that may contain the invitation.
const VARIABLE: &str = "CALLGATE_INVITATION";
/// The longest invitation that is read, in bytes.
const LONGEST: u64 = 64 * 1024;
/// How long the line may take to be connected.
const CONNECTED_WITHIN: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(50);

/// The answer to a secret that is refused.
#[derive(Deserialize)]
struct JoinRefusal {
    error: String,
}

/// Joins with an invitation: the one that is given, or the one in the environment, or the one on
/// standard input. If it `installs`, the agents of a machine get their hooks.
pub(super) fn join_team(
    config: &Config,
    file: Option<&Path>,
    given: Option<&str>,
    installs: bool,
) -> Result<(), Failure> {
    let invitation = read_invitation(given)?;
    let kept = MembershipFile::beside(&config.database);
    let is_job = match invitation.kind {
        MemberKind::Machine => false,
        MemberKind::Job => true,
        MemberKind::Person => {
            return Err("this invitation is a person's: open its address in a browser".into());
        }
    };
    match kept.read()? {
        // Each run of a job joins with the same invitation.
        Some(known) if is_job && known == invitation => {}
        Some(known) => {
            return Err(Failure::Failed(format!(
                "this machine belongs to the team of {} already, as {}; to leave it: callgate team \
                 leave",
                known.address, known.name
            )));
        }
        None => {
            check_key(config, &invitation)?;
            // A job exchanges nothing, because all its runs share one invitation, whose secret is
            // their token.
            let membership = if is_job { invitation } else { exchange_secret(config, invitation)? };
            keep_membership(config, &kept, &membership)?;
        }
    }
    // Whether the machine is connected or not, its agents are to ask.
    let installed = if installs && !is_job { install_found_agents(file) } else { Ok(()) };
    let said = connect(config, file, is_job)?;
    writeln!(io::stdout(), "{said}")?;
    installed
}

fn read_invitation(given: Option<&str>) -> Result<Invitation, Failure> {
    let of_environment = || process_surroundings().variable(VARIABLE)?.into_string().ok();
    // A secret of a job that is not set is an empty variable in many services.
    let of_environment = || of_environment().filter(|text| !text.is_empty());
    let text = match given.map(str::to_owned).or_else(of_environment) {
        Some(text) => text,
        None if io::stdin().is_terminal() => {
            let typed = read_typed_secret("The invitation")
                .map_err(|error| Failure::Failed(format!("cannot read the invitation: {error}")))?;
            typed.map(|text| text.reveal().to_owned()).unwrap_or_default()
        }
        None => read_limited_text(io::stdin().lock(), LONGEST)
            .map_err(|error| Failure::Failed(format!("cannot read the invitation: {error}")))?,
    };
    text.parse().map_err(|error| Failure::Failed(format!("cannot join: {error}")))
}

/// Returns an error if this machine trusts the rules of another team. The invitation is not used
/// up.
fn check_key(config: &Config, invitation: &Invitation) -> Result<(), Failure> {
    let kept = TeamFile::beside(&config.database).read()?;
    match (kept, invitation.rules_key) {
        (Some(rules), Some(key)) if rules.key() != key => Err(
            "this machine works under the rules of another team; to leave it: callgate team leave"
                .into(),
        ),
        _ => Ok(()),
    }
}

/// Exchanges the secret of an invitation, once, for the token by which the machine is known.
fn exchange_secret(config: &Config, invitation: Invitation) -> Result<Invitation, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::Failed(format!("cannot join: {why}"));
    let service = open_service(config, &invitation).map_err(|why| failed(&why))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(&error))?;
    let secret = MachineSecret { secret: invitation.secret.reveal().to_owned() };
    let body = serde_json::to_string(&secret).map_err(|error| failed(&error))?;
    let answer = runtime.block_on(service.post_json(JOIN_PATH, body));
    let answer = answer.map_err(|error| failed(&error))?;
    if !answer.status.is_success() {
        let why = serde_json::from_str(&answer.text).map(|refusal: JoinRefusal| refusal.error);
        let why = why.unwrap_or_else(|_| format!("the server answered {}", answer.status));
        return Err(failed(&one_line(&why)));
    }
    let joined: MachineJoined = serde_json::from_str(&answer.text)
        .map_err(|_| failed(&"the team's desk has answered something else"))?;
    Ok(Invitation { name: joined.name, secret: HiddenText::new(joined.token), ..invitation })
}

fn keep_membership(
    config: &Config,
    kept: &MembershipFile,
    membership: &Invitation,
) -> Result<(), Failure> {
    let Invitation { address, name, .. } = membership;
    let summary = format!("Joined the team of {address} as {name}");
    // Before anything takes effect, so that the ledger knows of it.
    record_change(config, RULES_CHANGE, BY, summary, 0, "")?;
    if let Some(key) = membership.rules_key {
        let trusted = TeamFile::beside(&config.database)
            .change(|rules| Ok(rules.unwrap_or_else(|| TeamRules::trusting(key))));
        trusted?;
    }
    // The membership comes last, because with it the line begins, over which rules come that need
    // the key.
    kept.write(membership).map_err(Failure::Failed)
}

/// Returns false while the rules of a team whose key is trusted have not come yet.
fn has_rules(config: &Config) -> Result<bool, Failure> {
    let kept = TeamFile::beside(&config.database).read()?;
    Ok(kept.is_none_or(|rules| rules.bundle().is_some()))
}

/// Tells the desk of this machine to connect, and waits for the team's rules. For a job, one is
/// started.
fn connect(config: &Config, file: Option<&Path>, is_job: bool) -> Result<String, Failure> {
    if let Err(DeskError::NoDesk(_)) = ask_remotes(config) {
        if !is_job {
            return Ok(
                "This machine has joined. Its questions come to the team's desk as soon as \
                       `callgate up` runs."
                    .to_owned(),
            );
        }
        // Its key is needed by nobody: it keeps its line itself.
        RelayDeskPlace::new(config, file).start_desk()?;
    }
    let end = Instant::now() + CONNECTED_WITHIN;
    loop {
        let status = Viewer::connect(&config.desk_socket.value)?.status()?;
        match status.team {
            // A job starts its agent next, which is to work under the rules of the team from the
            // first call on.
            Some(view) if view.state == RemoteState::Connected && has_rules(config)? => {
                return Ok(format!("Connected to {} as {}.", view.address, view.name));
            }
            Some(view) if Instant::now() > end => {
                let late = if view.state == RemoteState::Connected {
                    "its rules are late"
                } else {
                    "it takes too long"
                };
                let why = view.text.unwrap_or_else(|| late.to_owned());
                let text = format!("joined, and {} is not ready yet: {why}", view.address);
                return Err(Failure::Failed(one_line(&text).into_owned()));
            }
            None if Instant::now() > end => {
                return Err("the desk does not take it up: start `callgate up` again".into());
            }
            _ => thread::sleep(LOOK),
        }
    }
}
