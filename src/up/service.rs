//! `callgate up --service`: the desk as a service of systemd's user manager.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::viewer::Viewer;
use callgate_link::socket::server_process;

use super::banner::{self, Answerers};
use crate::config::{Config, SettingOrigin, Surroundings, process_surroundings};
use crate::failure::Failure;
use crate::invocation;
use crate::program::{self, ProgramError};

const UNIT: &str = "callgate.service";
/// The first line of our unit file. A file that begins differently belongs to somebody else.
const MARK: &str = "# Written by `callgate up --service`";
/// How long `systemctl` may take. It waits until the service has started or ended.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the service may take until it answers.
const START: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);
/// Variables for folders that the user manager may not know. With others, the desk would have other
/// rules and another ledger than the hooks.
const FOLDERS: [&str; 2] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"];
/// The exit codes with which `systemctl is-active` says that a unit does not run.
const INACTIVE: [i32; 2] = [3, 4];

/// Writes the unit, and starts it now and at every login. `words` are the settings on the command
/// line, which the service gets, too.
pub(super) fn install_unit(config: &Config, words: &[String]) -> Result<(), Failure> {
    let around = process_surroundings();
    let path = unit_path(&around)?;
    // This fails without a user manager, before anything is written for one.
    let is_active = is_active()?;
    check_ours(&path)?;
    // A running service is no obstacle, because it is started anew below.
    if let Some(process) = server_process(&config.socket.value).filter(|_| !is_active) {
        return Err(Failure::Failed(format!(
            "`callgate up` runs already, as process {process}: stop it first with `kill {process}`, \
             then run this again"
        )));
    }
    let own = env::current_exe()?;
    let folders =
        FOLDERS.map(|name| Some((name, utf8_path(Path::new(&around.variable(name)?)).ok()?)));
    let folders: Vec<(&str, String)> = folders.into_iter().flatten().collect();
    let unit = render_unit(&utf8_path(&own)?, config, words, &folders)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(|error| unit_file_failure("make", folder, &error))?;
    fs::write(&path, unit).map_err(|error| unit_file_failure("write", &path, &error))?;
    call_systemctl(&["daemon-reload"])?;
    call_systemctl(&["enable", UNIT])?;
    // A service that runs already takes a new unit only with its next start.
    call_systemctl(&["restart", UNIT])?;
    report_service(config, &path, &own)
}

/// Stops the service and removes its unit.
pub(super) fn remove_unit() -> Result<(), Failure> {
    let path = unit_path(&process_surroundings())?;
    check_ours(&path)?;
    if !path.exists() {
        writeln!(io::stdout(), "callgate has no service: {} is absent", path.display())?;
        return Ok(());
    }
    call_systemctl(&["disable", "--now", UNIT])?;
    fs::remove_file(&path).map_err(|error| unit_file_failure("remove", &path, &error))?;
    call_systemctl(&["daemon-reload"])?;
    writeln!(io::stdout(), "The service was stopped, and {} was removed", path.display())?;
    Ok(())
}

/// Returns the folder with the user's units.
fn unit_path(around: &Surroundings) -> Result<PathBuf, Failure> {
    let none = || Failure::Failed("there is no home folder; set HOME".to_owned());
    let ours = around.config_folder().ok_or_else(none)?;
    Ok(ours.with_file_name("systemd").join("user").join(UNIT))
}

/// Fails if somebody else has written a unit of this name.
fn check_ours(path: &Path) -> Result<(), Failure> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unit_file_failure("read", path, &error)),
        Ok(unit) if unit.starts_with(MARK) => Ok(()),
        Ok(_) => Err(Failure::Failed(format!(
            "{} was not written by callgate and was left as it is: move it away first",
            path.display()
        ))),
    }
}

fn render_unit(
    program: &str,
    config: &Config,
    words: &[String],
    folders: &[(&str, String)],
) -> Result<String, Failure> {
    let mut command = vec![program.to_owned()];
    let named = config.file.as_ref().filter(|file| file.origin != SettingOrigin::Default);
    if let Some(file) = named {
        command.extend(["--config".to_owned(), utf8_path(&file.value)?]);
    }
    command.extend(["up".to_owned(), "--no-terminal".to_owned()]);
    command.extend(words.iter().cloned());
    let command: Vec<String> = command.iter().map(|word| systemd_quoted(word, true)).collect();
    let folders = folders.iter().map(|(name, folder)| {
        format!("Environment={}\n", systemd_quoted(&format!("{name}={folder}"), false))
    });
    Ok(format!(
        "{MARK}; `callgate up --service --remove` takes it away.\n\
         [Unit]\n\
         Description=callgate, the desk at which coding agents ask\n\n\
         [Service]\n\
         Type=exec\n\
         ExecStart={}\n\
         {}\
         Restart=on-failure\n\
         RestartSec=1\n\
         # Wrong settings or a wrong command line stay wrong.\n\
         RestartPreventExitStatus=64 78\n\n\
         [Install]\n\
         WantedBy=default.target\n",
        command.join(" "),
        folders.collect::<String>(),
    ))
}

/// Quotes a word for systemd, with its specifiers and, in a command, its variables escaped.
fn systemd_quoted(word: &str, is_command: bool) -> String {
    let mut quoted = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '%' => quoted.push_str("%%"),
            '$' if is_command => quoted.push_str("$$"),
            '\n' => quoted.push_str("\\n"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fn utf8_path(path: &Path) -> Result<String, Failure> {
    let odd = || Failure::Failed(format!("{} is not UTF-8: use another path", path.display()));
    path.to_str().map(str::to_owned).ok_or_else(odd)
}

fn unit_file_failure(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot {what} {}: {error}", path.display()))
}

/// Returns true if the service runs. Fails if there is no user manager to ask.
fn is_active() -> Result<bool, Failure> {
    match run_systemctl(&["is-active", UNIT]) {
        Ok(_) => Ok(true),
        Err(ProgramError::Failed(status)) if INACTIVE.map(Some).contains(&status.code()) => {
            Ok(false)
        }
        Err(ProgramError::NotStarted(error)) if error.kind() == ErrorKind::NotFound => {
            Err("there is no `systemctl` here: have `callgate up --no-terminal` started by \
                 whatever starts programs on this machine"
                .into())
        }
        Err(error) => Err(Failure::Failed(format!(
            "systemd's user manager does not answer: `systemctl --user is-active {UNIT}` {error}; \
             log in to a session of your own and run this again"
        ))),
    }
}

fn call_systemctl(arguments: &[&str]) -> Result<(), Failure> {
    let line = arguments.join(" ");
    let failed = |error: ProgramError| {
        Failure::Failed(format!(
            "`systemctl --user {line}` {error}: run it yourself to see why, or look into \
             `journalctl --user -u {UNIT}`"
        ))
    };
    run_systemctl(arguments).map(drop).map_err(failed)
}

fn run_systemctl(arguments: &[&str]) -> Result<String, ProgramError> {
    let mut command = Command::new("systemctl");
    command.arg("--user").args(arguments);
    program::run_for_output(command, PATIENCE, 64 * 1024)
}

/// Says what was done, and who can answer now.
fn report_service(config: &Config, path: &Path, own: &Path) -> Result<(), Failure> {
    let me = invocation::shell_command(config);
    let mut out = io::stdout().lock();
    let Some(who) = wait_for_answerers(config) else {
        return Err(Failure::Failed(format!(
            "the service is set up ({}), but it does not answer: see `journalctl --user -u {UNIT}` \
             and `{me} doctor`",
            path.display()
        )));
    };
    writeln!(out, "callgate runs as a service, now and at every login: {}", path.display())?;
    out.write_all(banner::describe_reach(who, &me).as_bytes())?;
    let variables = crate::config::set_variables();
    if !variables.is_empty() {
        writeln!(
            out,
            "The service does not have your environment: put what {} into the settings file.",
            match &variables[..] {
                [one] => format!("{one} says"),
                _ => format!("{} say", variables.join(", ")),
            }
        )?;
    }
    if let Some(folder) = invocation::build_folder(own) {
        let folder = folder.display();
        writeln!(out, "The program is in a build folder, {folder}, and vanishes with it.")?;
    }
    writeln!(out, "To have it run also while you are logged out: `loginctl enable-linger`")?;
    writeln!(out, "To remove it: `{} up --service --remove`", invocation::shell_program())?;
    Ok(out.flush()?)
}

/// Returns who can answer, as the service says; `None` if it does not respond.
fn wait_for_answerers(config: &Config) -> Option<Answerers> {
    let end = Instant::now() + START;
    loop {
        let ask = || {
            let mut viewer = Viewer::connect(&config.desk_socket.value).ok()?;
            Some((viewer.status().ok()?, viewer.links().ok()?))
        };
        if let Some((status, links)) = ask() {
            let links = links.into_iter().map(|link| (link.link, link.name)).collect();
            let who = Answerers::from_links(config, status.reach.terminal, &links);
            return Some(Answerers { bot: status.reach.telegram.is_some(), ..who });
        }
        // Waiting ends early for a service that has failed, because it would not answer.
        if Instant::now() > end || !is_active().unwrap_or(false) {
            return None;
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        let check = |word: &str, command: &str, value: &str| {
            assert_eq!(
                (systemd_quoted(word, true), systemd_quoted(word, false)),
                (command.into(), value.into())
            );
        };
        check("/usr/bin/callgate", "\"/usr/bin/callgate\"", "\"/usr/bin/callgate\"");
        check("/a b/100%", "\"/a b/100%%\"", "\"/a b/100%%\"");
        check("$HOME\\\"", r#""$$HOME\\\"""#, r#""$HOME\\\"""#);
        check("a\nb", "\"a\\nb\"", "\"a\\nb\"");
    }
}
