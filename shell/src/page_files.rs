//! The files of the page, which are part of the program: `ui/`, packed as for browsers.

use std::borrow::Cow;

use tauri::utils::assets::{AssetKey, AssetsIter, CspHash};
use tauri::{App, Assets, Runtime};

/// The path at which the page asks for a file, and its content.
type EmbeddedPageFile = (&'static str, &'static str);

const FILES: &[EmbeddedPageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

pub(crate) struct PageFiles;

impl<R: Runtime> Assets<R> for PageFiles {
    fn setup(&self, _app: &App<R>) {}

    fn get(&self, key: &AssetKey) -> Option<Cow<'_, [u8]>> {
        let found = FILES.iter().find(|(path, _)| *path == key.as_ref());
        found.map(|(_, content)| Cow::Borrowed(content.as_bytes()))
    }

    fn iter(&self) -> Box<AssetsIter<'_>> {
        Box::new(
            FILES.iter().map(|(path, content)| (Cow::from(*path), Cow::from(content.as_bytes()))),
        )
    }

    fn csp_hashes(&self, _html_path: &AssetKey) -> Box<dyn Iterator<Item = CspHash<'_>> + '_> {
        // The page has no inline scripts.
        Box::new(std::iter::empty())
    }
}
