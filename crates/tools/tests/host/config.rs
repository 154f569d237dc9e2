//! What agents are told about the bridge.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use callgate_tools::{Host, McpClient, blocking};
use serde_json::Value;

use crate::fixture::hello;

/// Set in the child that looks for the bridge on its `PATH`.
const CHILD: &str = "CALLGATE_TEST_FINDS_BRIDGE";

fn program(folder: &Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::write(&path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn each_client_gets_settings_it_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = program(folder.path(), "my \"call\\gate");
    let host = Host::new([hello()]).unwrap().folder(folder.path()).bridge(&bridge).connections(4);
    let session = blocking::start(&host.named("my-tools").unwrap()).unwrap();
    let command = session.bridge_command().unwrap();
    assert_eq!(command.program, bridge.to_str().unwrap());
    let paths = [session.socket_path().to_str().unwrap(), session.schema_path().to_str().unwrap()];
    assert_eq!(
        command.arguments,
        ["bridge", paths[0], paths[1], "--connections", "4", "--host-checks"]
    );

    let config = |client| session.mcp_config(client).unwrap();
    let claude: Value = serde_json::from_str(&config(McpClient::ClaudeCode)).unwrap();
    let server = &claude["mcpServers"]["my-tools"];
    assert_eq!(
        (&server["type"], &server["command"]),
        (&"stdio".into(), &command.program.clone().into())
    );
    assert_eq!(server["args"], serde_json::json!(command.arguments));
    let generic: Value = serde_json::from_str(&config(McpClient::Generic)).unwrap();
    assert_eq!(generic["mcpServers"]["my-tools"]["args"], server["args"]);
    let codex: toml::Table = config(McpClient::Codex).parse().unwrap();
    let codex = codex["mcp_servers"]["my-tools"].as_table().unwrap();
    assert_eq!(codex["command"].as_str(), Some(&*command.program));
    assert_eq!(codex["args"].as_array().unwrap().len(), 6);
    assert_eq!(codex["default_tools_approval_mode"].as_str(), Some("approve"));
}

#[test]
fn a_folder_given_as_a_relative_path_works_from_everywhere() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let relative = std::path::Path::new(folder.path().file_name().unwrap());
    let host = Host::new([hello()]).unwrap().folder(relative);
    let session = blocking::start(&host).unwrap();
    assert!(session.socket_path().is_absolute() && session.schema_path().is_absolute());
}

#[test]
fn names_that_no_settings_file_takes_are_refused() {
    let host = Host::new([hello()]).unwrap();
    for bad in ["", "a b", "a.b", &"x".repeat(65)] {
        assert!(host.clone().named(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_bridge_that_is_no_program_is_a_startup_error() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([hello()]).unwrap().folder(folder.path());
    for bad in [folder.path().join("missing"), folder.path().to_owned()] {
        let session = blocking::start(&host.clone().bridge(&bad)).unwrap();
        let error = session.mcp_config(McpClient::Generic).unwrap_err().to_string();
        assert!(error.starts_with("BridgeStartupError: "), "{error}");
        assert!(error.contains("is not an executable file"), "{error}");
    }
}

/// Runs [`child_looks_for_the_bridge`] in a process of its own, whose `PATH` and working folder are
/// ours to set.
fn found_on(path: &str, folder: &Path) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "config::child_looks_for_the_bridge", "--nocapture"]);
    let output = child.env(CHILD, "1").env("PATH", path).current_dir(folder).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let found = output.lines().find_map(|line| line.strip_prefix("found: "));
    found.unwrap_or_else(|| panic!("{output}")).to_owned()
}

#[test]
fn without_a_word_the_bridge_is_looked_for_on_the_path() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        found_on(folder.path().to_str().unwrap(), folder.path()),
        "BridgeStartupError: no program can serve as the bridge: call run_bridge_if_asked() first \
         in your main, install callgate on the PATH, or set its path with Host::bridge"
    );
    let bridge = program(folder.path(), "callgate");
    let path = folder.path().to_str().unwrap();
    assert_eq!(found_on(path, folder.path()), bridge.to_str().unwrap());
    // A relative folder is the project's in which an agent works, and what is there is not ours.
    for path in [".", "", "none:."] {
        let found = found_on(path, folder.path());
        assert!(found.starts_with("BridgeStartupError: no program"), "{path:?}: {found}");
    }
}

#[test]
fn child_looks_for_the_bridge() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let session = blocking::start(&Host::new([hello()]).unwrap().folder(folder.path())).unwrap();
    match session.bridge_command() {
        Ok(command) => println!("\nfound: {}", command.program),
        Err(error) => println!("\nfound: {error}"),
    }
}
