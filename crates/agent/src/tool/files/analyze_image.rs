//! `analyze_image`: gives a picture to the model.

use serde_json::json;

use super::beneath::read_whole_file;
use super::error_text::cannot_text;
use super::input::FileToolInput;
use super::{CancelFlag, FileContext};
use crate::message::MediaSource;
use crate::message::picture::{LARGEST_PICTURE, parse_picture};
use crate::tool::CallOutcome;

pub(super) fn analyze_image(
    context: &FileContext,
    input: &FileToolInput,
    _: &CancelFlag,
) -> Result<CallOutcome, String> {
    let path = input.text("path")?;
    let image = read_image(context, path).map_err(|reason| cannot_text("read", path, reason))?;
    let MediaSource::Base64 { media_type, .. } = &image;
    let result = json!({ "path": path, "mediaType": media_type, "size": image.size() });
    let text = format!("The picture {path} follows.");
    Ok(CallOutcome { images: vec![image], ..CallOutcome::done(&result, text) })
}

fn read_image(context: &FileContext, path: &str) -> Result<MediaSource, String> {
    let (file, _) = context.locate_file(path)?.open_file()?;
    let most = context.limits.max_file.min(LARGEST_PICTURE as u64);
    let too_large = || format!("it has more than {most} bytes: make it smaller");
    parse_picture(&read_whole_file(file, most)?.ok_or_else(too_large)?)
}
