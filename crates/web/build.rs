//! Packs the page, and each of its files in the two forms in which browsers take them.

mod page_bundle;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use page_bundle::{Outcome, pack_page};

fn main() -> Outcome<()> {
    let ui = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../ui").canonicalize()?;
    tell_cargo(&format!("cargo::rerun-if-changed={}", ui.display()));
    tell_cargo("cargo::rerun-if-changed=page_bundle.rs");
    tell_cargo("cargo::rerun-if-changed=page_bundle");
    for (path, text) in pack_page(&ui)? {
        write_packed(path.rsplit('/').next().unwrap_or(path), &text)?;
    }
    Ok(())
}

/// Writes a file compressed with Brotli, for browsers, and with gzip, from which everybody else is
/// served.
fn write_packed(name: &str, text: &str) -> Outcome<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The best compression takes its time, for a tenth less. What is not shipped does without.
    let quality = if env::var("PROFILE")? == "release" { 11 } else { 5 };
    let mut brotli = CompressorWriter::new(Vec::new(), 4096, quality, 22);
    brotli.write_all(text.as_bytes())?;
    fs::write(out.join(format!("{name}.br")), brotli.into_inner())?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(text.as_bytes())?;
    fs::write(out.join(format!("{name}.gz")), gzip.finish()?)?;
    Ok(())
}

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn tell_cargo(line: &str) {
    println!("{line}");
}
