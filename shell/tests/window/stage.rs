//! A desktop with the shell in it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgate_testkit::browser::Browser;
use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::tools::repo_root;
use callgate_testkit::{page_chat, proc};
use serde_json::{Value, json};

use crate::test_desktop::TestDesktop;

/// The shell in its window, on a desktop of its own.
pub(crate) struct Stage {
    // Dropped first: the driver ends the shell.
    pub(crate) page: Browser,
    pub(crate) desktop: TestDesktop,
}

/// How the shell is started.
#[derive(Default)]
pub(crate) struct StageOptions<'a> {
    pub(crate) arguments: &'a [&'a str],
    /// Whether the shell is started without a folder; else it is the folder `work`.
    pub(crate) is_folderless: bool,
    pub(crate) variables: &'a [(&'a str, String)],
    /// The runtime, in place of the real one: the body of a shell script.
    pub(crate) runtime: Option<&'a str>,
    /// What the settings file has.
    pub(crate) settings: &'a str,
}

/// Returns the program that the tests are about: what Cargo has built, or what was installed.
fn shell() -> String {
    let named = std::env::var("CALLGATE_SHELL_PROGRAM");
    named.unwrap_or_else(|_| env!("CARGO_BIN_EXE_callgate-shell").to_owned())
}

/// Returns the program `callgate`, which `scripts/shell` builds beside.
pub(crate) fn callgate() -> PathBuf {
    let named = std::env::var_os("CALLGATE_PROGRAM").map(PathBuf::from);
    let built = named.unwrap_or_else(|| repo_root().join("target/debug/callgate"));
    assert!(built.is_file(), "{} is missing: run `cargo build`", built.display());
    built
}

impl Stage {
    /// Starts the shell on a new desktop, or returns `None` where a part of it is not installed.
    pub(crate) fn start(options: &StageOptions<'_>) -> Option<Self> {
        Self::start_on(TestDesktop::start()?, options)
    }

    /// Starts the shell on a desktop.
    pub(crate) fn start_on(desktop: TestDesktop, options: &StageOptions<'_>) -> Option<Self> {
        let home = desktop.home.path();
        if !options.settings.is_empty() {
            fs::write(home.join(".config/callgate/config.toml"), options.settings).unwrap();
        }
        let mut arguments = options.arguments.to_vec();
        if !options.is_folderless {
            arguments.push("work");
        }
        let page = Browser::start_web_view(Path::new(&shell()), &arguments, |driver| {
            driver.env_clear().envs(environment(&desktop, options)).current_dir(home);
            let log = OpenOptions::new().create(true).append(true).open(home.join("shell.log"));
            let log = log.unwrap();
            driver.stdout(log.try_clone().unwrap()).stderr(log);
        })?;
        let stage = Self { page, desktop };
        stage.page.wait_for(
            "the page",
            "return !!window.__TAURI__ && !!document.querySelector('#app > *')",
        );
        Some(stage)
    }

    /// Ends the shell as the driver does, and returns the desktop.
    pub(crate) fn end(self) -> TestDesktop {
        let Self { page, desktop } = self;
        drop(page);
        desktop
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.desktop.home.path().join(name)
    }

    /// Returns `callgate` as a command of this desktop.
    pub(crate) fn callgate(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(callgate());
        command.args(arguments).env_clear().envs(self.desktop.environment());
        command.current_dir(self.desktop.home.path());
        command
    }

    /// Starts the shell once more, as a user does who does not know that it runs.
    pub(crate) fn start_again(&self, arguments: &[&str]) {
        let mut command = Command::new(shell());
        command.args(arguments).env_clear().envs(self.desktop.environment());
        command.stdin(Stdio::null());
        let _ = run(command, DEADLINE).success();
    }

    /// Calls a command of the shell as the page does. Returns what it resolves to, or what it is
    /// rejected with.
    pub(crate) fn invoke(&self, command: &str, arguments: &Value) -> Result<Value, Value> {
        let answer = self.page.run_async(
            "const [command, args, done] = arguments;
            window.__TAURI__.core.invoke(command, args).then(
                (value) => done({ value: value ?? null }),
                (error) => done({ error }));",
            &json!([command, arguments]),
        );
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["value"].clone()),
        }
    }

    /// Returns the process of the shell.
    pub(crate) fn shell_pid(&self) -> u32 {
        let home = self.desktop.home.path().to_str().unwrap();
        let program = shell();
        let is_shell = |process: &proc::ProcessEntry| {
            proc::command_line(process.pid).starts_with(&program)
                && proc::environment(process.pid).contains(home)
        };
        proc::all().iter().find(|process| is_shell(process)).expect("the shell runs").pid
    }

    /// Returns the process of the runtime, once there is one.
    pub(crate) fn runtime_pid(&self) -> u32 {
        let shell = self.shell_pid();
        self.desktop.until("a runtime", || {
            let all = proc::all();
            let is_runtime = |process: &&proc::ProcessEntry| {
                process.parent == shell && proc::command_line(process.pid).ends_with(" agent")
            };
            all.iter().find(is_runtime).map(|process| process.pid)
        })
    }

    /// Opens the chat, and waits until its runtime is ready.
    pub(crate) fn begin_chat(&self) {
        let _ = self.page.run("location.hash = '#/chat'", &json!([]));
        self.page
            .wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
    }

    /// Sends a message, and waits until it is the last one on the page.
    pub(crate) fn say(&self, words: &str) {
        page_chat::say(&self.page, words);
    }

    /// Waits until the last answer is whole and has this in its text.
    pub(crate) fn wait_for_answer(&self, text: &str) {
        page_chat::wait_for_answer(&self.page, text);
    }
}

/// Returns the environment of the shell.
fn environment(desktop: &TestDesktop, options: &StageOptions<'_>) -> Vec<(String, String)> {
    let mut variables = desktop.environment();
    let program = match options.runtime {
        Some(script) => scripted(desktop.home.path(), script),
        None => callgate(),
    };
    variables.push(("CALLGATE_PROGRAM".to_owned(), program.to_str().unwrap().to_owned()));
    let more = options.variables.iter();
    variables.extend(more.map(|(name, value)| ((*name).to_owned(), value.clone())));
    variables
}

/// Writes a program that is the real one for everything but `agent`, which is this script.
fn scripted(home: &Path, script: &str) -> PathBuf {
    let file = home.join("scripted-callgate");
    let real = callgate();
    let text = format!(
        "#!/bin/bash\n[ \"$1\" = agent ] || exec {} \"$@\"\n{script}\n",
        real.to_str().unwrap()
    );
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}
