//! A dev container on the laptop, set up by the commands of docs/guide/team.md: a mount namespace
//! with a home, a `/tmp` and processes of its own, which sees what `docker run` mounts there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_testkit::process::{DEADLINE, Finished, Group, run};
use callgate_testkit::test_home::TestHome;
use callgate_testkit::until::until;
use rustix::process::geteuid;
use serde_json::Value;
use tempfile::TempDir;

use super::fixture::{Hook, House};

/// The folder of the project in a container that has it elsewhere.
const ELSEWHERE: &str = "/opt/elsewhere";

/// Hides everything that a container does not see, mounts the volumes, and waits.
const SET_UP: &str = r#"
set -e
mount -t tmpfs none /mnt
number=0
for volume in $VOLUMES; do
    number=$((number + 1))
    mkdir /mnt/$number
    mount --bind "${volume%%:*}" /mnt/$number
done
for hidden in /home /opt /root /run /tmp; do mount -t tmpfs none $hidden; done
number=0
for volume in $VOLUMES; do
    number=$((number + 1))
    mode=${volume##*:} inside=${volume#*:}
    inside=${inside%%:*}
    mkdir -p "$inside"
    mount --bind /mnt/$number "$inside"
    [ "$mode" != ro ] || mount -o remount,bind,ro "$inside"
done
umount --recursive --lazy /mnt
touch /home/dev/ready
exec sleep infinity
"#;

const RULES: &str = r#"
[[rule]]
name = "builds"
decide = "allow"
command = "make build"

[[rule]]
name = "no removing"
decide = "deny"
command = "rm *"

[[rule]]
name = "no secrets"
decide = "deny"
path = "**/secrets/**"
"#;

/// Returns the commands of the guide for containers, block by block.
fn guide_blocks() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/team.md");
    let guide = fs::read_to_string(path).unwrap();
    let (_, rest) = guide.split_once("### Containers\n").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let blocks = section.split("```sh\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a block of the guide on the laptop, in this folder, with callgate on the `PATH`.
fn run_on_laptop(house: &House, block: &str, folder: &Path) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_callgate")).parent().unwrap().display();
    // There is no docker; what it would be started with is printed.
    let script = format!(
        "set -e\nPATH={programs}:/usr/bin:/bin\ndocker() {{ printf '%s\\n' \"$@\"; }}\n{block}"
    );
    let mut shell = house.laptop.command("/bin/sh", &["-c", &script]);
    shell.current_dir(folder);
    run(shell, DEADLINE).success().stdout
}

struct Container {
    home: TestHome,
    project: TempDir,
    /// The variables that it was started with.
    variables: Vec<(String, String)>,
    /// Its first process, as the laptop numbers it.
    process: String,
    _keeper: Group,
}

impl Container {
    /// Starts a container with the words of the guide.
    fn start(house: &House, docker_run: &str) -> Self {
        let (home, project) = (TestHome::new(), tempfile::tempdir().unwrap());
        let words = run_on_laptop(house, docker_run, project.path());
        let words: Vec<&str> = words.lines().collect();
        let values = |flag: &str| {
            let of_flag = words.windows(2).filter(|pair| pair[0] == flag);
            of_flag.map(|pair| pair[1].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(values("--user"), [geteuid().as_raw().to_string()]);
        assert_eq!(values("-w"), [project.path().display().to_string()]);
        let mut volumes = values("-v");
        volumes.push(format!("{}:/home/dev", home.folder().display()));
        volumes.push(format!("{}:{ELSEWHERE}", project.path().display()));
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--mount-proc"]);
        command.args(["--kill-child", "sh", "-c", SET_UP]).stdin(Stdio::null());
        command.env("VOLUMES", volumes.join(" "));
        let keeper = Group::spawn(command);
        until("the container runs", || home.path("ready").exists());
        let children = format!("/proc/{0}/task/{0}/children", keeper.pid());
        let process = fs::read_to_string(children).unwrap().trim().to_owned();
        let variables = values("-e").into_iter().map(|variable| {
            let (name, value) = variable.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        });
        Self { home, project, variables: variables.collect(), process, _keeper: keeper }
    }

    /// Returns what runs a line of the shell in the container, in this folder.
    fn command(&self, folder: &str, line: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.process, "--all", "sh", "-c"]);
        command.arg(format!("cd '{folder}' && {line}"));
        command.env_clear().env("HOME", "/home/dev").env("USER", "dev");
        command.env("PATH", "/usr/bin:/bin").envs(self.variables.clone());
        command
    }

    fn run(&self, line: &str) -> Finished {
        run(self.command("/", line), DEADLINE)
    }

    fn project(&self) -> String {
        self.project.path().display().to_string()
    }

    /// An agent in the container asks for permission to run a command.
    fn ask_in(&self, command: &str, folder: &str) -> Hook {
        let settings = self.home.text(".claude/settings.json");
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let hook = &settings["hooks"]["PermissionRequest"][0]["hooks"][0]["command"];
        House::start_hook(self.command(folder, hook.as_str().unwrap()), command, folder.as_ref())
    }

    fn ask(&self, command: &str) -> Hook {
        self.ask_in(command, &self.project())
    }
}

#[test]
fn an_agent_in_a_container_asks_over_the_mounted_socket() {
    if !geteuid().is_root() {
        let reason = "only root can make the namespaces of a container";
        assert!(std::env::var_os("CI").is_none_or(|value| value != "true"), "{reason}");
        eprintln!("skipped: {reason}");
        return;
    }
    let [own_socket, docker_run, install] = &guide_blocks()[..] else { panic!("other steps") };
    let house = House::bare();
    house.laptop.write(".config/callgate/rules.toml", RULES);
    house.laptop.write(".claude/settings.json", "{}");
    run_on_laptop(&house, own_socket, house.laptop.folder());
    house.up();
    let container = Container::start(&house, docker_run);
    container.home.write(".claude/settings.json", "{}");
    assert!(container.run(install).success().stdout.contains("PermissionRequest"));

    // It sees the socket and its lock alone, and cannot put another in its place.
    let laptop = house.laptop.folder().display();
    assert!(!container.run(&format!("ls {laptop}")).status.success());
    let seen = container.run("ls -A /run/callgate").success().stdout;
    assert_eq!(seen, "ask.sock\nask.sock.0.lock\n");
    assert!(!container.run("rm -f /run/callgate/ask.sock").status.success());

    assert_eq!(container.ask("make build").decision()["behavior"], "allow");
    assert_eq!(container.ask("rm -rf build").decision()["behavior"], "deny");
    // A desk that is started again makes a new socket, which the container has at once.
    house.kill_desk();
    house.up();
    let mut ada = house.person("Ada");
    let hook = container.ask("git push");
    let row = ada.question(&house, "git push");
    assert_eq!((row.machine.as_deref(), &row.project), (None, &container.project()));
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    let hook = container.ask("git push --force");
    let row = ada.question(&house, "git push --force");
    assert!(ada.deny(&row).0);
    assert_eq!(hook.decision()["behavior"], "deny");

    // The desk sees what is in the project, also where a link leads.
    container.run(&format!("cd {} && mkdir secrets && ln -s secrets it", container.project()));
    assert_eq!(container.ask("cat it/key").decision()["behavior"], "deny");
    // Elsewhere it knows the name alone, which the card shows.
    assert_eq!(container.ask_in("cat secrets/key", ELSEWHERE).decision()["behavior"], "deny");
    let hook = container.ask_in("cat it/key", ELSEWHERE);
    let row = ada.question(&house, "cat it/key");
    assert_eq!(row.project, ELSEWHERE);
    assert!(ada.deny(&row).0);
    assert_eq!(hook.decision()["behavior"], "deny");
}
