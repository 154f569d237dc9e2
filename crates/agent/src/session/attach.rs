//! The files that a user attaches to a message. They may lie anywhere: the user chose them.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_wire::session::Attachment;
use rustix::fs::{FsWord, OFlags, PROC_SUPER_MAGIC, fstatfs};

use crate::event::Failure;
use crate::message::{Block, Source};

/// How many bytes all files of a message may have together.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How many files a message may have.
const MOST_FILES: usize = 100;
/// The pictures that a model can look at.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// How the file systems are marked by which the kernel tells of itself and of processes.
const OF_THE_SYSTEM: [FsWord; 2] = [PROC_SUPER_MAGIC, 0x6265_6572];

/// Reads each file once.
pub(super) async fn read(files: &[Attachment], folder: &Path) -> Result<Vec<Block>, Failure> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let (files, folder) = (files.to_vec(), folder.to_owned());
    let read = tokio::task::spawn_blocking(move || read_all(&files, &folder)).await;
    read.unwrap_or_else(|_| Err("the attached files could not be read".to_owned()))
        .map_err(|why| Failure::lasting("attachment", why))
}

fn read_all(files: &[Attachment], folder: &Path) -> Result<Vec<Block>, String> {
    if files.len() > MOST_FILES {
        return Err(format!("{} files are attached: attach at most {MOST_FILES}", files.len()));
    }
    let mut left = MOST_BYTES;
    files.iter().map(|file| block(file, folder, &mut left)).collect()
}

fn block(file: &Attachment, folder: &Path, left: &mut u64) -> Result<Block, String> {
    let path = folder.join(&file.path);
    let failed = |why: &str| format!("the attached file {:?} cannot be used: {why}", file.path);
    let bytes = bytes(&path, left).map_err(|why| failed(&why))?;
    let mime = file.mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let encoded = |mime: String| {
        let source = Source::Base64 { media_type: mime, data: STANDARD.encode(&bytes) };
        if bytes.is_empty() { Err(failed("it is empty")) } else { Ok(source) }
    };
    if mime.starts_with("image/") && mime != "image/svg+xml" {
        let mime = if mime == "image/jpg" { "image/jpeg".to_owned() } else { mime };
        if !PICTURES.contains(&mime.as_str()) {
            return Err(failed("a picture has to be PNG, JPEG, GIF or WebP"));
        }
        return Ok(Block::Image { source: encoded(mime)? });
    }
    if mime == "application/pdf" {
        return Ok(Block::Document { source: encoded(mime)?, title: Some(name(&path)) });
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| failed("it is neither text nor a picture nor a PDF"))?;
    Ok(Block::text(format!("The attached file {:?}:\n\n{text}", file.path)))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn bytes(path: &PathBuf, left: &mut u64) -> Result<Vec<u8>, String> {
    // A pipe or a device of that name must hold nobody up.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    // Such a file holds what a user does not see in it: keys in a process's environment.
    if OF_THE_SYSTEM.contains(&fstatfs(&file).map_err(|error| error.to_string())?.f_type) {
        return Err("it is no file of yours, but what the system tells of itself".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(*left + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let too_large = || format!("the files of a message may have {MOST_BYTES} bytes together");
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(too_large)?;
    Ok(bytes)
}
