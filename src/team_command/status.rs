//! `callgate team status`: the state of the team whose desk this is.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use callgate_client::viewer::Viewer;
use callgate_mask::text::{counted_noun, one_line};
use callgate_policy::{TeamFile, roles_path};
use callgate_team_store::{AuditProtection, TeamStoreError, TeamStoreStatus};
use callgate_wire::desk::RemoteState;
use callgate_wire::ledger::{MemberKind, TeamRoster};

use crate::config::Config;
use crate::failure::{Failure, write_error_line};
use crate::remote::ask_remotes;
use crate::team::{describe_bundle, read_roles};
use crate::team_database::{desk_name, open_store, set_kept_days};
use crate::team_register::{TeamRegister, read_ledger_roster};

/// Shows the status. The exit code is 1 if the database does not answer.
pub(super) fn show_status(config: &Config) -> Result<ExitCode, Failure> {
    let database = open_store(config).and_then(|store| {
        let Some(mut store) = store else { return Ok(None) };
        let explain = |error: TeamStoreError| error.to_string();
        if let Some(days) = config.team.keep_days
            && let Some(told) = set_kept_days(store.as_mut(), days).map_err(explain)?
        {
            write_error_line(&told);
        }
        let status = store.read_status().map_err(explain)?;
        let roster = TeamRegister::Database(store).read_roster();
        Ok(Some((status, roster.map_err(|error| error.to_string())?)))
    });
    let roster = match &database {
        Ok(Some((_, roster))) => roster.clone(),
        // Without an answer of the database, this is what the desk has taken over last.
        _ => read_ledger_roster(config)?,
    };
    let mut lines = vec![
        ("desk", describe_desk(config)),
        ("members", describe_roster(config, &roster)),
        ("rules", describe_rules(config)),
        ("roles", describe_roles(config)),
    ];
    match &database {
        Ok(None) => {}
        Ok(Some((status, _))) => lines.extend(describe_database(status)),
        Err(why) => lines.push(("database", format!("does not answer: {why}"))),
    }
    let mut out = io::stdout().lock();
    for (about, text) in lines {
        writeln!(out, "{about:9} {}", one_line(&text))?;
    }
    Ok(if database.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn describe_desk(config: &Config) -> String {
    let running = Viewer::connect(&config.desk_socket.value).and_then(|mut desk| desk.status());
    let name = desk_name(config);
    match running.map(|status| status.listening) {
        Ok(Some(address)) => format!("{name}, at {address}"),
        Ok(None) => format!("{name}, does not listen: see `callgate up --listen`"),
        Err(_) => format!("{name}, does not run: start `callgate up`"),
    }
}

fn describe_roster(config: &Config, roster: &TeamRoster) -> String {
    let count = |kind| roster.members.values().filter(|member| member.kind == kind).count();
    let views = ask_remotes(config).unwrap_or_default();
    let is_member = |host: &str| roster.members.contains_key(host);
    let is_connected = |state| state == RemoteState::Connected;
    let connected = views.iter().filter(|it| is_connected(it.state) && is_member(&it.host)).count();
    let people = match count(MemberKind::Person) {
        1 => "1 person".to_owned(),
        count => format!("{count} people"),
    };
    format!(
        "{}, {}, {people}; connected to this desk: {connected}",
        counted_noun(count(MemberKind::Machine), "machine"),
        counted_noun(count(MemberKind::Job), "job"),
    )
}

fn describe_rules(config: &Config) -> String {
    match TeamFile::beside(&config.database).read() {
        Ok(rules) => match rules.as_ref().and_then(|rules| rules.bundle()) {
            Some(bundle) => describe_bundle(bundle),
            None => "none".to_owned(),
        },
        Err(why) => format!("cannot be read: {why}"),
    }
}

fn describe_roles(config: &Config) -> String {
    match read_roles(&roles_path(config)) {
        None => "none: every person of the team may answer everything".to_owned(),
        Some(file) if file.has_errors() => "have errors: see `callgate team roles`".to_owned(),
        Some(file) => counted_noun(file.roles.len(), "role"),
    }
}

fn describe_database(status: &TeamStoreStatus) -> Vec<(&'static str, String)> {
    let TeamStoreStatus { bytes, audit_bytes, day_bytes, kept_days, protection } = *status;
    let mut size =
        format!("{}, of which the audit log {}", render_size(bytes), render_size(audit_bytes));
    if let Some(day) = day_bytes {
        let all = render_size(day.saturating_mul(u64::from(kept_days)));
        let day = render_size(day);
        // A text grows without end.
        write!(size, "; yesterday it grew by {day}, which makes {all} in {kept_days} days").ok();
    }
    let protection = match protection {
        AuditProtection::Login => "the login of this desk cannot change or remove audit entries",
        AuditProtection::Role => {
            "this desk works in a role that cannot change or remove audit entries; its login could"
        }
        AuditProtection::Nobody => "none: this desk could change and remove audit entries",
    };
    vec![
        ("database", "answers".to_owned()),
        ("size", size),
        ("kept", format!("audit entries and closed questions for {kept_days} days")),
        ("protected", protection.to_owned()),
    ]
}

/// Returns a number of bytes in the unit that is short to read.
fn render_size(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    let (mut size, mut unit) = (bytes.div_ceil(1024), 0);
    let mut tenths = 0;
    while size >= 1024 && unit + 1 < units.len() {
        tenths = size % 1024 * 10 / 1024;
        (size, unit) = (size / 1024, unit + 1);
    }
    let unit = units[unit];
    if tenths == 0 || size >= 100 {
        format!("{size} {unit}")
    } else {
        format!("{size}.{tenths} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_to_read() {
        let shown = [0, 1, 1024, 1_500_000, 9_230_000_000, 1 << 50].map(render_size);
        assert_eq!(shown, ["0 KB", "1 KB", "1 KB", "1.4 MB", "8.5 GB", "1024 TB"]);
    }

    #[test]
    fn a_day_is_projected_to_the_days_that_are_kept() {
        let status = TeamStoreStatus {
            bytes: 3 << 30,
            audit_bytes: 2 << 30,
            day_bytes: Some(100 << 20),
            kept_days: 400,
            protection: AuditProtection::Login,
        };
        let size = "3 GB, of which the audit log 2 GB; yesterday it grew by 100 MB, which makes \
                    39 GB in 400 days";
        assert_eq!(describe_database(&status)[1], ("size", size.to_owned()));
        let first = describe_database(&TeamStoreStatus { day_bytes: None, ..status });
        assert_eq!(first[1].1, "3 GB, of which the audit log 2 GB");
    }
}
