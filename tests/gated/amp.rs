//! Amp, which runs its model for nobody without an account: it says itself what its rules, and the
//! program that callgate adds to them, make of a call.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::script::{copy_program, write_program};
use callgate_testkit::tools::{self, lasting_folder};
use callgate_wire::hook::agents::{AMP, CallFate};
use tempfile::TempDir;

const RULES: &str = "[[rule]]\nname = \"no\"\ndecide = \"deny\"\ncommand = \"touch denied\"\n\
                     reason = \"not on my watch\"\n\
                     [[rule]]\nname = \"yes\"\ndecide = \"allow\"\ncommand = \"touch allowed\"\n";

/// A home in which Amp asks callgate.
struct AmpHome(TempDir);

impl AmpHome {
    fn new(settings: &str) -> Self {
        let home = Self(lasting_folder("gated-"));
        let folder = home.0.path().join(".config/callgate");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("rules.toml"), RULES).unwrap();
        fs::write(folder.join("config.toml"), settings).unwrap();
        let program = home.0.path().join("callgate");
        copy_program(Path::new(env!("CARGO_BIN_EXE_callgate")), &program);
        copy_program(Path::new(env!("CARGO_BIN_EXE_callgate-hook")), &home.hook());
        let install = home.command(Command::new(program), &["install", "--agent", "amp"]);
        let _ = run(install, 2 * DEADLINE).success();
        home
    }

    fn hook(&self) -> PathBuf {
        self.0.path().join("callgate-hook")
    }

    fn command(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.0.path());
        command
    }

    /// Returns what Amp would do with a command, if it says so, and all that it says.
    fn decides(&self, command: &str) -> (Option<CallFate>, String) {
        let amp = amp().expect("it was looked for");
        let arguments = ["permissions", "test", "Bash", "--cmd", command];
        let said = run(self.command(amp, &arguments), 2 * DEADLINE);
        let text = said.stdout + &said.stderr;
        let fates =
            [("allow", CallFate::GoesOn), ("ask", CallFate::Asked), ("reject", CallFate::Denied)];
        let is_it = |(word, _): &(&str, _)| text.contains(&format!("action: {word}\n"));
        (fates.into_iter().find(is_it).map(|(_, fate)| fate), text)
    }
}

fn amp() -> Option<Command> {
    tools::large_program("amp", "@ampcode/cli-linux-x64/amp")
}

#[test]
fn amp_asks_callgate() {
    if amp().is_none() {
        return;
    }
    let home = AmpHome::new("");
    assert_eq!(home.decides("touch allowed").0, Some(CallFate::GoesOn));
    assert_eq!(home.decides("touch other").0, Some(CallFate::Asked));
    let (fate, said) = home.decides("touch denied");
    assert_eq!(fate, Some(CallFate::Denied));
    assert!(said.contains("not on my watch"), "{said}");
    let absent = AmpHome::new("[gate.agents.amp]\nwhen_absent = \"deny\"\n");
    let (fate, said) = absent.decides("touch other");
    assert_eq!(fate, Some(CallFate::Denied));
    assert!(said.contains("callgate is not running"), "{said}");
}

#[test]
fn amp_takes_failures_as_its_profile_says() {
    if amp().is_none() {
        return;
    }
    let home = AmpHome::new("");
    let failures = AMP.failures;
    for (does, fate) in [("exit 1", failures.exit), ("printf '{\"de'", failures.garbage)] {
        write_program(&home.hook(), &format!("#!/bin/sh\ncat >/dev/null\n{does}\n"));
        assert_eq!(home.decides("touch denied").0, Some(fate), "{does}");
    }
    // Without an exit code of the hook itself, it mostly ends without a word.
    write_program(&home.hook(), "#!/bin/sh\nkill -KILL $$\n");
    assert_ne!(home.decides("touch denied").0, Some(CallFate::GoesOn));
    fs::remove_file(home.hook()).unwrap();
    assert_ne!(home.decides("touch denied").0, Some(CallFate::GoesOn));
    let program = home.0.path().join(AMP.settings.folder).join(AMP.settings.files[1]);
    fs::remove_file(program).unwrap();
    assert_eq!(home.decides("touch denied").0, Some(failures.missing));
}
