//! The files of the page, which are part of the program.

use std::io::Read;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use crate::refusal::HttpRefusal;

/// A file of the page: its path below `/ui/`, and its content as the build has packed it.
struct EmbeddedFile {
    path: &'static str,
    brotli: &'static [u8],
    gzip: &'static [u8],
}

/// Embeds a file of the build under a path.
macro_rules! embedded {
    ($path:literal, $file:literal) => {
        EmbeddedFile {
            path: $path,
            brotli: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".br")),
            gzip: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".gz")),
        }
    };
}

/// The files that the page loads. The build has packed the modules and the style sheets of `ui/`.
static FILES: [EmbeddedFile; 6] = [
    embedded!("app.js", "app.js"),
    embedded!("index.html", "index.html"),
    embedded!("style.css", "style.css"),
    embedded!("style/dark.css", "dark.css"),
    embedded!("vendor/markdown-it/markdown-it.js", "markdown-it.js"),
    embedded!("desktop.js", "desktop.js"),
];

pub(crate) async fn serve_index_page(headers: HeaderMap) -> Response {
    file_response("index.html", &headers)
}

pub(crate) async fn serve_named_file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file_response(&name, &headers)
}

fn file_response(name: &str, headers: &HeaderMap) -> Response {
    // Compared with a list, so no path can lead out of it.
    let found = FILES.iter().find(|file| file.path == name);
    let (Some(file), Some(kind)) = (found, content_type(name)) else {
        return HttpRefusal::new(StatusCode::NOT_FOUND, "there is no such file").into_response();
    };
    let (content, coding) = match accepted_coding(headers) {
        Some("br") => (Bytes::from_static(file.brotli), Some("br")),
        Some(coding) => (Bytes::from_static(file.gzip), Some(coding)),
        None => (unpack_gzip(file.gzip), None),
    };
    // Of the packed bytes: two codings of one file are two contents.
    let tag = content_tag(&content);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag);
    let (status, body) = if is_known {
        (StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        (StatusCode::OK, Body::from(content))
    };
    let mut response = (status, body).into_response();
    let answer = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        answer.insert(header::ETAG, tag);
    }
    // A browser asks each time whether its copy is still good: another version of this program
    // may serve the next request.
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    answer.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(coding) = coding.filter(|_| !is_known) {
        answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

/// Returns the version of a content: the beginning of its hash.
fn content_tag(content: &[u8]) -> String {
    let hash: [u8; 32] = Sha256::digest(content).into();
    let tag = hash.iter().take(8).fold(0, |tag: u64, byte| tag << 8 | u64::from(*byte));
    format!("\"{tag:016x}\"")
}

fn unpack_gzip(gzip: &[u8]) -> Bytes {
    let mut content = Vec::new();
    // It was packed by the build, and reading from memory does not fail.
    let _ = GzDecoder::new(gzip).read_to_end(&mut content);
    content.into()
}

/// Returns the type of a file that the page may load, by its ending.
fn content_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => return None,
    })
}

/// Returns the best of the two codings that a request accepts.
fn accepted_coding(headers: &HeaderMap) -> Option<&'static str> {
    let lists =
        || headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    let accepts = |wanted: &str| {
        lists().flat_map(|list| list.split(',')).any(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
            let is_refused = weight.trim().trim_start_matches("q=").parse() == Ok(0.0);
            name.trim().eq_ignore_ascii_case(wanted) && !is_refused
        })
    };
    ["br", "gzip"].into_iter().find(|coding| accepts(coding))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::page_bundle::compact_style::compact_style;

    /// The most bytes that the page may need at its first load, compressed as quickly as for tests.
    /// The benchmark has the limit for what is shipped.
    const FIRST_LOAD: usize = 132_900;

    fn response(name: &str, headers: &[(header::HeaderName, &str)]) -> Response {
        let headers =
            headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        file_response(name, &headers)
    }

    async fn content(response: Response) -> Vec<u8> {
        axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
    }

    fn file(path: &str) -> &'static EmbeddedFile {
        let found = FILES.iter().find(|file| file.path == path);
        found.unwrap_or_else(|| panic!("{path} is not there"))
    }

    fn text(path: &str) -> String {
        String::from_utf8(unpack_gzip(file(path).gzip).to_vec()).unwrap()
    }

    #[test]
    fn every_module_and_style_sheet_is_packed() {
        let ui = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
        let (modules, style) = (text("app.js") + &text("desktop.js"), text("style.css"));
        let mut folders = vec![ui.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&ui).unwrap().to_str().unwrap().to_owned();
                let is_defined =
                    |name| modules.matches(&format!("defined$[{name:?}]=")).count() == 1;
                match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
                    // Tests and types are for those who change the page.
                    _ if path.is_dir() && (name == "tests" || name == "types") => {}
                    _ if path.is_dir() => folders.push(path),
                    _ if name == "desktop.js" => assert!(is_defined(&name)),
                    _ if FILES.iter().any(|file| file.path == name) => {}
                    "js" => assert!(is_defined(&name), "{name}"),
                    "css" => {
                        let sheet = compact_style(&fs::read_to_string(&path).unwrap()).unwrap();
                        assert!(style.contains(&sheet), "{name}");
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn the_first_load_is_small_and_takes_few_requests() {
        let index = text("index.html");
        let named = index.split("\"/ui/").skip(1).filter_map(|rest| rest.split('"').next());
        let mut loaded: Vec<&str> = named.collect();
        assert_eq!(loaded, ["style.css", "style/dark.css", "app.js"]);
        let own = text("app.js");
        let parser = "vendor/markdown-it/markdown-it.js";
        assert!(!own.contains("\nimport ") && own.contains(&format!("import(\"/ui/{parser}\")")));
        assert!(!own.contains("defined$[\"tauri_transport.js\"]"), "only the shell needs it");
        loaded.extend(["index.html", parser]);
        let all: usize = loaded.iter().map(|name| file(name).brotli.len()).sum();
        assert!(all <= FIRST_LOAD, "{all} bytes");
    }

    #[tokio::test]
    async fn a_file_is_sent_once_and_compressed_for_those_who_understand() {
        let plain = response("index.html", &[]);
        assert_eq!(plain.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(plain.headers()[header::CACHE_CONTROL], "no-cache");
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        let tag = plain.headers()[header::ETAG].to_str().unwrap().to_owned();
        let packed = response("index.html", &[(header::ACCEPT_ENCODING, "deflate, gzip;q=0.8")]);
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        let packed_tag = packed.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert_ne!(tag, packed_tag, "they are different bytes");
        assert_eq!(unpack_gzip(&content(packed).await), content(plain).await);
        let small = response("index.html", &[(header::ACCEPT_ENCODING, "gzip, deflate, br, zstd")]);
        assert_eq!(small.headers()[header::CONTENT_ENCODING], "br");
        assert_eq!(content(small).await, file("index.html").brotli);

        let again = response("index.html", &[(header::IF_NONE_MATCH, &tag)]);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(again.headers()[header::ETAG], tag);
        assert!(content(again).await.is_empty());
        let other = response("index.html", &[(header::IF_NONE_MATCH, &packed_tag)]);
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn only_listed_files_are_served() {
        for name in ["", "..", "../Cargo.toml", "types/page.d.ts", "nothing.js", "/index.html"] {
            assert_eq!(response(name, &[]).status(), StatusCode::NOT_FOUND, "{name}");
        }
    }

    #[test]
    fn a_coding_may_be_refused() {
        let coding = |value: &str| {
            let value: HeaderValue = value.parse().unwrap();
            accepted_coding(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]))
        };
        for value in ["gzip", "deflate, GZIP", "gzip;q=0.5", "br;q=0, gzip"] {
            assert_eq!(coding(value), Some("gzip"), "{value}");
        }
        for value in ["br", "gzip, br", "gzip;q=0, BR;q=0.1"] {
            assert_eq!(coding(value), Some("br"), "{value}");
        }
        for value in ["gzip;q=0", "gzip; q=0.0", "x-gzip", "zstd"] {
            assert_eq!(coding(value), None, "{value}");
        }
        assert_eq!(accepted_coding(&HeaderMap::new()), None);
    }
}
