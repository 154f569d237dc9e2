//! The files for an organisation, `examples/organisation/`: they fit the schemas of those who read
//! them, and name settings that exist.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::tools;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/organisation").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(example(name)).unwrap()
}

/// Checks a file, and that the checker refuses the same file with one word replaced.
fn check(checker: &dyn Fn() -> Command, name: &str, (right, wrong): (&str, &str)) {
    let check_file = |path: &Path| {
        let mut command = checker();
        command.arg(path);
        run(command, 4 * DEADLINE)
    };
    let told = check_file(&example(name));
    assert!(told.status.success(), "{name}: {}{}", told.stdout, told.stderr);
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join(name);
    assert!(text(name).contains(right), "{name} has no {right}");
    fs::write(&broken, text(name).replacen(right, wrong, 1)).unwrap();
    assert!(!check_file(&broken).status.success(), "{wrong} in {name} passes");
}

#[test]
fn the_manifests_fit_the_schemas_of_kubernetes() {
    let Some(program) = tools::kubernetes_validate() else { return };
    let checker = || {
        let mut command = Command::new(&program);
        command.args(["--strict", "--kubernetes-version", "1.37"]);
        command
    };
    check(&checker, "kubernetes.yaml", ("readinessProbe:", "readynessProbe:"));
}

#[test]
fn the_compose_file_fits_its_specification() {
    let Some(program) = tools::check_jsonschema() else { return };
    let checker = || {
        let mut command = Command::new(&program);
        command.args(["--builtin-schema", "vendor.compose-spec"]);
        command
    };
    check(&checker, "compose.yaml", ("cap_drop:", "cap_drops:"));
}

#[test]
fn the_variables_of_the_files_are_settings() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/settings.md");
    let guide = fs::read_to_string(guide).unwrap();
    for name in ["compose.yaml", "kubernetes.yaml", "Containerfile"] {
        let text = text(name);
        let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
        let words = text.split(|letter: char| !is_part(letter));
        let variables: Vec<&str> = words.filter(|word| word.starts_with("CALLGATE_")).collect();
        assert!(!variables.is_empty(), "{name}");
        // The file's own variable is what its reader sets.
        for variable in variables.into_iter().filter(|it| *it != "CALLGATE_ADDRESS") {
            assert!(guide.contains(&format!("`{variable}`")), "{name}: {variable} is no setting");
        }
    }
}
