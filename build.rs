//! Links `callgate-hook` statically, at a fixed address, where the system's C library allows it,
//! and `callgate` so that its processes take little memory.
//!
//! An agent starts the hook at every tool call and waits for it. Most of that time goes to the
//! dynamic linker, which a static program does without. Where the static C library is missing, or
//! for another target, the hook is linked like every other program.
//!
//! The functions of `callgate` that every bridge and every agent runtime uses are put side by side
//! (`link/order.ld`, written by `scripts/order`, by the names that `.cargo/config.toml` asks for):
//! the kernel maps 64 KB around each page that is touched. Like every program that is linked with
//! glibc, it needs the same glibc or a later one.
//!
//! `callgate doctor` learns from here with which profile it was built.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    print_for_cargo("cargo::rerun-if-changed=build.rs");
    print_for_cargo("cargo::rerun-if-changed=link/order.ld");
    let Some(folder) = env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    print_for_cargo(&format!("cargo::rustc-env=CALLGATE_PROFILE={}", profile_folder(&folder)));
    if let Some(root) = env::var_os("CARGO_MANIFEST_DIR").filter(|_| can_be_ordered()) {
        let order = Path::new(&root).join("link/order.ld");
        pass_to_linker("callgate", &format!("-Wl,-T,{}", order.display()));
    }
    if !is_for_this_system() {
        return;
    }
    if let Some(unwinder) = write_unwinder(&folder.join("unwinder")) {
        pass_to_linker("callgate", &format!("-L{}", unwinder.display()));
    }
    if packs_relocations() {
        pass_to_linker("callgate", "-Wl,-z,pack-relative-relocs");
    }
    if let Some(scripts) = write_scripts(&folder.join("static")) {
        for argument in [&format!("-L{}", scripts.display())[..], "-static", "-no-pie"] {
            pass_to_linker("callgate-hook", argument);
        }
    }
}

/// Returns the folder of the profile, which is the profile's name but for `dev` (`debug`).
/// `PROFILE` names one of cargo's own two profiles, and `dist` is neither.
fn profile_folder(out: &Path) -> String {
    // `target/dist/build/callgate-0123456789abcdef/out`
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    let name = build.and_then(Path::parent).and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Passes an argument to the linker of one program.
fn pass_to_linker(program: &str, argument: &str) {
    print_for_cargo(&format!("cargo::rustc-link-arg-bin={program}={argument}"));
}

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn print_for_cargo(line: &str) {
    println!("{line}");
}

/// Returns true if the build is optimised and linked by LLD: nobody needs the order of functions in
/// a build for tests, and GNU ld takes minutes for it.
fn can_be_ordered() -> bool {
    env::var("PROFILE").is_ok_and(|profile| profile == "release") && is_lld()
}

/// Returns true if LLD links the program: by rustc's default, unless a flag speaks of linkers.
fn is_lld() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_default = env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu");
    let is_told = ["link", "-fuse-ld"].iter().any(|word| flags.contains(word));
    flags.contains("lld") && !flags.contains("-lld") || is_default && !is_told
}

/// Returns true if the program is for this machine's own glibc.
fn is_for_this_system() -> bool {
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
fn write_scripts(folder: &Path) -> Option<&Path> {
    let [c, m, eh, gcc] = ["libc.a", "libm.a", "libgcc_eh.a", "libgcc.a"].map(find_library);
    let (c, m, eh, gcc) = (c?, m?, eh?, gcc?);
    fs::create_dir_all(folder).ok()?;
    fs::write(folder.join("libc.a"), format!("GROUP ( \"{c}\" \"{eh}\" \"{gcc}\" )\n")).ok()?;
    fs::write(folder.join("libgcc_s.a"), format!("GROUP ( \"{eh}\" \"{gcc}\" \"{c}\" )\n")).ok()?;
    fs::write(folder.join("libm.a"), format!("INPUT ( \"{m}\" )\n")).ok()?;
    Some(folder)
}

/// Writes a linker script under the name of the library that unwinds the stack, which leads to the
/// static one: one library less to be loaded at every start.
fn write_unwinder(folder: &Path) -> Option<&Path> {
    let (eh, gcc) = (find_library("libgcc_eh.a")?, find_library("libgcc.a")?);
    fs::create_dir_all(folder).ok()?;
    fs::write(folder.join("libgcc_s.so"), format!("GROUP ( \"{eh}\" \"{gcc}\" )\n")).ok()?;
    Some(folder)
}

/// Returns true if the C library reads packed relocations (glibc 2.36). The list of them is read
/// whole at every start; packed it takes 10 KB in place of 400.
fn packs_relocations() -> bool {
    let word = b"GLIBC_ABI_DT_RELR";
    let library =
        find_library("libc.so.6").and_then(|path| fs::read(path).ok()).unwrap_or_default();
    is_lld() && library.windows(word.len()).any(|bytes| bytes == word)
}

/// Returns where the C compiler has a library.
fn find_library(name: &str) -> Option<String> {
    let compiler = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // One that it does not know is printed as it was asked for.
    Path::new(&path).is_absolute().then_some(path)
}
