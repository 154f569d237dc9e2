//! The files that a user attaches to a message: anywhere on the disk, since the user chose them, or
//! inline.

use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use callgate_link::text_file::open_regular;
use callgate_wire::session::{Attachment, UserMessage};
use rustix::fs::{FsWord, PROC_SUPER_MAGIC, fstatfs};

use crate::failure::RequestFailure;
use crate::message::picture;
use crate::message::{Block, MediaSource};

const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_FILES: usize = 100;

/// Decodes base64 with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// The name in errors of a file without a name.
const UNNAMED: &str = "unnamed";
/// The text before the name of an attached text file, for the model. Stored messages contain it,
/// and [`attached_text`] looks for it.
const TEXT_HEAD: &str = "The attached file ";
/// The text between the name of an attached text file and its content.
const TEXT_NECK: &str = ":\n\n";

/// The magic numbers of procfs and sysfs.
const OF_THE_SYSTEM: [FsWord; 2] = [PROC_SUPER_MAGIC, 0x6265_6572];

/// Returns the content of a user's message: the attached files, then the text. Relative paths begin
/// in `folder`.
pub(super) async fn message_content(
    said: &UserMessage,
    folder: &Path,
) -> Result<Vec<Block>, RequestFailure> {
    let mut content = read_attachments(&said.attachments, folder).await?;
    if !said.message.trim().is_empty() {
        content.push(Block::text(said.message.clone()));
    }
    if content.is_empty() {
        return Err(RequestFailure::permanent("refused", "the message is empty: write something"));
    }
    Ok(content)
}

async fn read_attachments(
    files: &[Attachment],
    folder: &Path,
) -> Result<Vec<Block>, RequestFailure> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let (files, folder) = (files.to_vec(), folder.to_owned());
    let read = tokio::task::spawn_blocking(move || read_all(&files, &folder)).await;
    read.unwrap_or_else(|_| Err("the attached files could not be read".to_owned()))
        .map_err(|reason| RequestFailure::permanent("attachment", reason))
}

fn read_all(files: &[Attachment], folder: &Path) -> Result<Vec<Block>, String> {
    if files.len() > MOST_FILES {
        return Err(format!("{} files are attached: attach at most {MOST_FILES}", files.len()));
    }
    let mut left = MOST_BYTES;
    files.iter().map(|file| attachment_block(file, folder, &mut left)).collect()
}

fn attachment_block(file: &Attachment, folder: &Path, left: &mut u64) -> Result<Block, String> {
    let (shown, mime) = match file {
        Attachment::File { path, mime } => (path.as_str(), mime),
        Attachment::Inline { name, mime, .. } => (name.as_deref().unwrap_or(UNNAMED), mime),
    };
    let failed = |reason: &str| format!("the attached file {shown:?} cannot be used: {reason}");
    let bytes = match file {
        Attachment::File { path, .. } => read_bytes(&folder.join(path), left),
        Attachment::Inline { data, .. } => decode_inline(data, left),
    };
    let bytes = bytes.map_err(|reason| failed(&reason))?;
    // A front end may send parameters, such as `; charset=utf-8`.
    let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if ["image/", "application/pdf"].iter().any(|kind| mime.starts_with(kind)) && bytes.is_empty() {
        return Err(failed("it is empty"));
    }
    // An SVG is read as the text that it is.
    if mime.starts_with("image/") && mime != "image/svg+xml" {
        let source = picture::any_size(&bytes).map_err(|reason| failed(&reason))?;
        return Ok(Block::Image { source });
    }
    if mime == "application/pdf" {
        let source = MediaSource::Base64 { media_type: mime, data: STANDARD.encode(&bytes) };
        return Ok(Block::Document { source, title: document_title(file) });
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| failed("it is neither text nor a picture nor a PDF"))?;
    Ok(Block::text(format!("{TEXT_HEAD}{shown:?}{TEXT_NECK}{text}")))
}

/// Splits the block of a text attachment into the name of the file and its content.
pub(super) fn attached_text(block: &str) -> Option<(String, &str)> {
    let (name, text) = block.strip_prefix(TEXT_HEAD)?.split_once(TEXT_NECK)?;
    // The name is written as a Rust string, which is JSON except for rare characters.
    let inner = name.strip_prefix('"')?.strip_suffix('"')?;
    Some((serde_json::from_str(name).unwrap_or_else(|_| inner.to_owned()), text))
}

/// Returns the name of a document, without the folders it lies in.
fn document_title(file: &Attachment) -> Option<String> {
    match file {
        Attachment::File { path, .. } => {
            let name = Path::new(path).file_name().unwrap_or_default();
            Some(name.to_string_lossy().into_owned())
        }
        Attachment::Inline { name, .. } => name.clone(),
    }
}

/// Returns the bytes of a file that came with the message, in base64 or as a `data:` URL.
fn decode_inline(data: &str, left: &mut u64) -> Result<Vec<u8>, String> {
    let data = match data.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,").map(|(_, data)| data),
        None => Some(data),
    };
    let not_base64 = "its `data` is not base64: encode the bytes of the file";
    let bytes = data.and_then(|data| BASE64.decode(data).ok()).ok_or(not_base64)?;
    spend_bytes(left, bytes.len())?;
    Ok(bytes)
}

fn spend_bytes(left: &mut u64, bytes: usize) -> Result<(), String> {
    let too_large = || format!("the files of a message may have {MOST_BYTES} bytes together");
    *left = left.checked_sub(bytes as u64).ok_or_else(too_large)?;
    Ok(())
}

fn read_bytes(path: &Path, left: &mut u64) -> Result<Vec<u8>, String> {
    let file = open_regular(path).map_err(|error| error.to_string())?;
    // Such a file may contain what a user does not expect, such as keys in a process's environment.
    if OF_THE_SYSTEM.contains(&fstatfs(&file).map_err(|error| error.to_string())?.f_type) {
        return Err("it belongs to the kernel and is not a file of yours".to_owned());
    }
    let mut bytes = Vec::new();
    // One byte more shows that the files are too large.
    file.take(*left + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    spend_bytes(left, bytes.len())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
