//! Links `callgate-hook` statically, at a fixed address, where the system's C library allows it.
//!
//! An agent starts the hook at every tool call and waits for it. Most of that time goes to the
//! dynamic linker, which a static program does without. Where the static C library is missing, or
//! for another target, the hook is linked like every other program.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    tell("cargo::rerun-if-changed=build.rs");
    let Some(folder) = env::var_os("OUT_DIR") else { return };
    let folder = Path::new(&folder).join("static");
    if can_be_static() && write_scripts(&folder).is_some() {
        for argument in [&format!("-L{}", folder.display())[..], "-static", "-no-pie"] {
            tell(&format!("cargo::rustc-link-arg-bin=callgate-hook={argument}"));
        }
    }
}

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn tell(line: &str) {
    println!("{line}");
}

/// Returns true if the program is for this machine's own glibc.
fn can_be_static() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_here = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    is_here
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && !features.split(',').any(|feature| feature == "crt-static")
}

/// Writes linker scripts under the names of the libraries that rustc asks for, each of which
/// leads to the static ones. rustc would have the linker take the shared ones.
fn write_scripts(folder: &Path) -> Option<()> {
    let [c, m, eh, gcc] = ["libc.a", "libm.a", "libgcc_eh.a", "libgcc.a"].map(library);
    let (c, m, eh, gcc) = (c?, m?, eh?, gcc?);
    fs::create_dir_all(folder).ok()?;
    fs::write(folder.join("libc.a"), format!("GROUP ( \"{c}\" \"{eh}\" \"{gcc}\" )\n")).ok()?;
    fs::write(folder.join("libgcc_s.a"), format!("GROUP ( \"{eh}\" \"{gcc}\" \"{c}\" )\n")).ok()?;
    fs::write(folder.join("libm.a"), format!("INPUT ( \"{m}\" )\n")).ok()
}

/// Returns where the C compiler has a library.
fn library(name: &str) -> Option<String> {
    let compiler = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // One that it does not know is printed as it was asked for.
    Path::new(&path).is_absolute().then_some(path)
}
