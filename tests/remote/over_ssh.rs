//! A box behind a real sshd: another user where root can make one, and a mount namespace that hides
//! the laptop's home.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_client::viewer::Viewer;
use callgate_testkit::kept_port::KeptPort;
use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::until::until;
use rustix::process::geteuid;
use serde_json::Value;
use tempfile::TempDir;

use super::fixture::{BOX, House, installed_hook};

/// The user of the box, if root can make one.
const NOBODY: u32 = 65534;
const PROGRAM: &str = ".local/share/callgate/bin/callgate";

pub(crate) struct Sshd {
    folder: TempDir,
    _server: Group,
    _kept_port: KeptPort,
}

/// The user of the box.
fn box_user() -> u32 {
    if is_root() { NOBODY } else { geteuid().as_raw() }
}

fn is_root() -> bool {
    geteuid().is_root()
}

impl Sshd {
    /// Starts an sshd on loopback whose logins end in the box's home, and lets `ssh` lead there.
    pub(crate) fn start(house: &House) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for key in ["host_key", "user_key"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]);
            assert!(run(keygen, DEADLINE).status.success());
        }
        // A restricted key forwards nothing and gets no terminal; and there is no sftp here.
        let key = fs::read_to_string(path("user_key.pub")).unwrap();
        fs::write(path("authorized_keys"), format!("restrict {key}")).unwrap();
        let home = house.machine.folder().display();
        let user = format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups ");
        let user = if is_root() { user } else { String::new() };
        let login = format!(
            "#!/bin/sh\ncd {home} && exec {user}env -i HOME={home} USER=bo PATH=/usr/bin:/bin sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
        );
        fs::write(path("login"), login).unwrap();
        fs::set_permissions(path("login"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if is_root() {
            fs::create_dir_all("/run/sshd").unwrap();
            let mut chown = Command::new("chown");
            chown.args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(house.machine.folder());
            assert!(run(chown, DEADLINE).status.success());
        }
        let kept_port = KeptPort::choose();
        let port = kept_port.number();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nForceCommand {}\n",
            path("host_key"),
            path("authorized_keys"),
            path("login"),
        );
        fs::write(path("sshd_config"), config).unwrap();
        let known = fs::read_to_string(path("host_key.pub")).unwrap();
        fs::write(path("known_hosts"), format!("[127.0.0.1]:{port} {known}")).unwrap();
        // What people have for sessions of their own. The port is taken, so a session that forwards
        // it ends.
        let people = format!(
            "ForwardAgent yes\n  ForwardX11 yes\n  LocalForward 127.0.0.1:{port} 127.0.0.1:1\n  ExitOnForwardFailure yes\n  ControlMaster auto\n  ControlPath {}\n  ControlPersist yes\n  RemoteCommand tmux new -A\n  RequestTTY yes\n  Tunnel yes\n",
            path("shared"),
        );
        let client = format!(
            "Host {BOX}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}\n  {people}",
            path("user_key"),
            path("known_hosts"),
        );
        fs::write(path("ssh_config"), client).unwrap();
        let ssh = format!("/usr/bin/ssh -F {}", path("ssh_config"));
        let options = house.laptop.path("ssh.options").display().to_string();
        house.write_ssh(&format!("{ssh} -G \"$@\" >{options}\nexec {ssh} \"$@\""));
        let serve = format!("exec /usr/sbin/sshd -D -e -f {}", path("sshd_config"));
        let mut server = if is_root() {
            let mut server = Command::new("unshare");
            let hide = format!("mount -t tmpfs none {} && ", house.laptop.folder().display());
            server.args(["--mount", "sh", "-c", &(hide + &serve)]);
            server
        } else {
            let mut server = Command::new("sh");
            server.args(["-c", &serve]);
            server
        };
        let log = fs::File::create(path("sshd.log")).unwrap();
        server.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let server = Group::spawn(server);
        until("sshd serves", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { folder, _server: server, _kept_port: kept_port }
    }
}

/// The paths of all files below a folder, from there.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut find = Command::new("find");
    find.arg(folder).args(["!", "-type", "d", "-printf", "%P\\n"]);
    run(find, DEADLINE).success().stdout.lines().map(str::to_owned).collect()
}

/// Whether a process of this user waits for connections over a network.
fn listens(user: u32) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap());
    tables.iter().flat_map(|table| table.lines().skip(1)).any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        (fields[3], fields[7]) == ("0A", user.to_string().as_str())
    })
}

/// The box's own callgate, as the box's user.
fn on_box(house: &House, arguments: &[&str]) -> Command {
    house.as_box_user(house.machine.command(house.machine.path(PROGRAM), arguments))
}

#[test]
fn a_machine_is_set_up_serves_its_questions_and_is_given_back() {
    let house = House::bare();
    house.machine.write(".claude/settings.json", "{\"theme\": \"dark\"}\n");
    let sshd = Sshd::start(&house);
    let before = files_below(house.machine.folder());
    house.up();
    let said = house.run_on_laptop(&["remote", "add", BOX]).success().stdout;
    assert!(said.contains(&format!("{BOX}: connected for ")), "{said}");
    let settings = || fs::read_to_string(house.machine.path(".claude/settings.json")).unwrap();
    assert!(settings().contains("callgate-hook"), "{said}");
    // The keys and ports of the laptop are not for the box, and no session of a person shares the
    // line.
    let options = house.laptop.text("ssh.options");
    for option in ["forwardagent no", "forwardx11 no", "clearallforwardings yes", "tunnel false"] {
        assert!(options.lines().any(|line| line == option), "{option}: {options}");
    }
    assert!(!sshd.folder.path().join("shared").exists(), "nothing is shared");

    // The box does not see the laptop's home.
    if is_root() {
        let mut look = house.laptop.command("sh", &["-c"]);
        let pid = house.laptop.path("ssh.pid").display().to_string();
        look.arg(format!("{} {BOX} cat {pid}", house.laptop.path("bin/ssh").display()));
        look.env("PATH", "/usr/bin:/bin");
        assert!(!run(look, DEADLINE).status.success());
    }
    assert!(!is_root() || !listens(NOBODY), "nothing listens there");
    let doctor = run(on_box(&house, &["doctor"]), DEADLINE).stdout;
    assert!(doctor.contains("its desk has been connected for"), "{doctor}");

    let mut ada = house.person("Ada");
    // The agent there starts what its settings say.
    let hook = house.as_box_user(installed_hook(&house.machine));
    let hook = House::start_hook(hook, "make", house.machine.folder());
    let row = ada.question(&house, "make");
    assert_eq!(row.machine.as_deref(), Some(BOX));
    // `ssh` is killed while the question is open; the answer finds its way all the same.
    house.kill_ssh();
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.until("its ledger is copied", || {
        let whole = run(on_box(&house, &["log", "--json"]), DEADLINE).success().stdout;
        let copy = house.run_on_laptop(&["log", "--json", "--machine", BOX]).success().stdout;
        whole.contains("\"delivered\"") && whole == copy
    });

    let said = house.run_on_laptop(&["remote", "remove", BOX]).success().stdout;
    assert!(said.contains("The copy of its ledger stays here"), "{said}");
    let left: Value = serde_json::from_str(&settings()).unwrap();
    assert_eq!(left, serde_json::json!({ "theme": "dark" }));
    assert!(!house.machine.path(".local/share/callgate/bin").exists());
    assert!(Viewer::connect(&house.box_desk_socket()).is_err(), "its desk has ended");
    let after = files_below(house.machine.folder());
    let left: Vec<_> = after.difference(&before).collect();
    let is_ledger = |file: &str| {
        let name = file.strip_prefix(".local/share/callgate/").unwrap_or_default();
        name.starts_with("callgate.db") || name == format!("ask.sock.{}.lock", box_user())
    };
    assert!(left.iter().all(|file| is_ledger(file)), "only its ledger stays: {left:?}");
    assert!(before.is_subset(&after), "{before:?} {after:?}");
    house.until("it is gone here", || house.remote().is_none());
    let list = house.run_on_laptop(&["remote", "list"]).success().stdout;
    assert_eq!(list, "There are none. To add one: callgate remote add HOST\n");
    let again = house.run_on_laptop(&["remote", "remove", BOX]);
    assert!(again.stderr.contains("was not added"), "{}", again.stderr);
}

#[test]
fn what_is_wrong_with_a_machine_is_said() {
    let house = House::bare();
    let sshd = Sshd::start(&house);
    let refused = |arguments: &[&str], expected: &str| {
        let done = house.run_on_laptop(arguments);
        assert!(!done.status.success() && done.stderr.contains(expected), "{}", done.stderr);
    };
    let folder = sshd.folder.path();
    let programs = folder.join("programs");
    fs::create_dir(&programs).unwrap();
    for name in ["callgate", "callgate-hook"] {
        fs::write(programs.join(name), "#!/bin/sh\necho callgate 0.0.1\n").unwrap();
    }
    let other = programs.display().to_string();
    refused(
        &["remote", "add", BOX, "--programs", &other],
        "is callgate 0.0.1, and this is callgate",
    );
    refused(&["remote", "add", "nowhere.invalid"], "ssh does not know nowhere.invalid");
    refused(&["remote", "add", "--", "-oProxyCommand=true"], "a machine as ssh knows it is needed");
    fs::write(folder.join("authorized_keys"), "").unwrap();
    refused(&["remote", "add", BOX], &format!("{BOX} refuses your key"));
    fs::write(folder.join("known_hosts"), "").unwrap();
    refused(&["remote", "add", BOX], &format!("the host key of {BOX} is not known"));
    house.write_ssh("echo Darwin arm64; echo /Users/bo");
    refused(&["remote", "add", BOX], "has Darwin arm64, and this program is for Linux");
    fs::remove_file(house.laptop.path("bin/ssh")).unwrap();
    let mut command = house.on_laptop(&["remote", "add", BOX]);
    command.env("PATH", house.laptop.path("bin"));
    let done = run(command, DEADLINE);
    assert!(done.stderr.contains("install OpenSSH's client"), "{}", done.stderr);
}

#[test]
fn a_home_with_a_blank_is_set_up_and_given_back() {
    let house = House::bare();
    house.machine.write("ada lovelace/.claude/settings.json", "{\"theme\": \"dark\"}\n");
    let home = house.machine.path("ada lovelace");
    house.write_ssh(&format!(
        "for last; do :; done\ncd '{0}' && exec env -i HOME='{0}' USER=bo PATH=/usr/bin:/bin sh -c \"$last\"",
        home.display()
    ));
    drop(house.run_on_laptop(&["remote", "add", BOX]).success());
    let settings = || fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    assert!(settings().contains("callgate-hook") && home.join(PROGRAM).exists());
    drop(house.run_on_laptop(&["remote", "remove", BOX]).success());
    let left: Value = serde_json::from_str(&settings()).unwrap();
    assert_eq!(left, serde_json::json!({ "theme": "dark" }));
    assert!(!home.join(PROGRAM).exists());
}

#[test]
fn what_a_machine_says_moves_no_cursor_here() {
    let house = House::bare();
    let escape = "\\033]52;c;cm0gLXJm\\007\\r\\342\\200\\256";
    let version = env!("CARGO_PKG_VERSION");
    let says = format!(
        "for last; do :; done\ncase \"$last\" in\n  *uname*) printf 'Linux {}\\n/home/bo{escape}\\n' ;;\n  *--version*) echo callgate {version} ;;\n  *cat*) cat >/dev/null ;;\n  *) printf 'Done.{escape}\\nNext.\\n' ;;\nesac",
        std::env::consts::ARCH
    );
    house.write_ssh(&says);
    for arguments in [["remote", "add", BOX], ["remote", "remove", BOX]] {
        let said = house.run_on_laptop(&arguments).success().stdout;
        assert!(said.contains("Done.⟨U+001B⟩]52;") && said.contains("\nNext.\n"), "{said:?}");
        let is_bad = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
        assert!(!said.contains(is_bad), "{said:?}");
    }
}
