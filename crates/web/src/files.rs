//! The files of the page, which are part of the program.

use std::io::Write;
use std::sync::OnceLock;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::refusal::HttpRefusal;

/// A file of the page: its path below `/ui/`, and its content.
type EmbeddedFile = (&'static str, &'static [u8]);

/// What a response for a file contains besides its content.
struct PreparedFile {
    /// Its version: the beginning of its hash.
    tag: String,
    /// Its content, compressed. Empty for a file that is compressed by itself.
    gzip: Bytes,
}

/// The files that the page loads. The build has packed the modules and the style sheets of `ui/`.
const FILES: &[EmbeddedFile] = &[
    ("app.js", include_bytes!(concat!(env!("OUT_DIR"), "/app.js"))),
    ("index.html", include_bytes!(concat!(env!("OUT_DIR"), "/index.html"))),
    ("style.css", include_bytes!(concat!(env!("OUT_DIR"), "/style.css"))),
    ("style/dark.css", include_bytes!(concat!(env!("OUT_DIR"), "/dark.css"))),
    (LATER, include_bytes!(concat!(env!("OUT_DIR"), "/markdown-it.js"))),
];

/// The module that the page loads after it is drawn.
const LATER: &str = "vendor/markdown-it/markdown-it.js";

/// The prepared form of each file, made when it is first requested.
static PREPARED: [OnceLock<PreparedFile>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Serves the page.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    serve("index.html", &headers)
}

/// Serves another file of the page.
pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    serve(&name, &headers)
}

fn serve(name: &str, headers: &HeaderMap) -> Response {
    let mut files = FILES.iter().zip(&PREPARED);
    let found = files.find(|((known, _), _)| *known == name);
    let (Some(((_, content), prepared)), Some(kind)) = (found, content_type(name)) else {
        return HttpRefusal::new(StatusCode::NOT_FOUND, "there is no such file").into_response();
    };
    let PreparedFile { tag, gzip } = prepared.get_or_init(|| prepare(content, kind));
    let is_packed = !gzip.is_empty() && accepts_gzip(headers);
    let tag = format!("\"{tag}{}\"", if is_packed { "-gzip" } else { "" });
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag);
    let (status, body) = match (is_known, is_packed) {
        (true, _) => (StatusCode::NOT_MODIFIED, Body::empty()),
        (false, true) => (StatusCode::OK, Body::from(gzip.clone())),
        (false, false) => (StatusCode::OK, Body::from(Bytes::from_static(content))),
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
    if is_packed && !is_known {
        answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn prepare(content: &[u8], kind: &str) -> PreparedFile {
    let hash: [u8; 32] = Sha256::digest(content).into();
    let tag = format!(
        "{:016x}",
        hash.iter().take(8).fold(0, |tag: u64, byte| tag << 8 | u64::from(*byte))
    );
    // Writing to memory does not fail; if it did, the file would be sent as it is.
    let gzip = if is_text(kind) { compress(content).unwrap_or_default() } else { Vec::new() };
    PreparedFile { tag, gzip: gzip.into() }
}

fn compress(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
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

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/") || kind == "image/svg+xml"
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let is_refused = weight.trim().trim_start_matches("q=").parse() == Ok(0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use super::*;

    /// The most bytes that the page may need at its first load, compressed.
    const FIRST_LOAD: usize = 120 * 1024;

    fn response(name: &str, headers: &[(header::HeaderName, &str)]) -> Response {
        let headers =
            headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        serve(name, &headers)
    }

    async fn content(response: Response) -> Vec<u8> {
        axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
    }

    fn embedded(name: &str) -> &'static str {
        let found = FILES.iter().find(|(known, _)| *known == name);
        std::str::from_utf8(found.unwrap_or_else(|| panic!("{name} is not there")).1).unwrap()
    }

    #[test]
    fn every_module_and_style_sheet_is_packed() {
        let ui = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
        let (app, style) = (embedded("app.js"), embedded("style.css"));
        let mut folders = vec![ui.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&ui).unwrap().to_str().unwrap().to_owned();
                match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
                    // Tests and types are for those who change the page.
                    _ if path.is_dir() && (name == "tests" || name == "types") => {}
                    _ if path.is_dir() => folders.push(path),
                    _ if FILES.iter().any(|(known, _)| *known == name) => {}
                    "js" => assert!(app.contains(&format!("defined$[{name:?}] = ")), "{name}"),
                    "css" => assert!(style.contains(&fs::read_to_string(&path).unwrap()), "{name}"),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn the_first_load_is_small_and_takes_few_requests() {
        let index = embedded("index.html");
        let named = index.split("\"/ui/").skip(1).filter_map(|rest| rest.split('"').next());
        let mut loaded: Vec<&str> = named.collect();
        assert_eq!(loaded, ["style.css", "style/dark.css", "app.js"]);
        let own = embedded("app.js");
        assert!(!own.contains("\nimport ") && own.contains(&format!("import(\"/ui/{LATER}\")")));
        loaded.push("index.html");
        let packed = |name: &&str| {
            prepare(embedded(name).as_bytes(), content_type(name).unwrap()).gzip.len()
        };
        let all: usize = loaded.iter().map(packed).sum();
        assert!(all <= FIRST_LOAD, "{all} bytes");
    }

    #[tokio::test]
    async fn a_file_is_sent_once_and_compressed_for_those_who_understand() {
        let plain = response("index.html", &[]);
        assert_eq!(plain.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(plain.headers()[header::CACHE_CONTROL], "no-cache");
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        let tag = plain.headers()[header::ETAG].to_str().unwrap().to_owned();
        let packed = response("index.html", &[(header::ACCEPT_ENCODING, "br, gzip;q=0.8")]);
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        let packed_tag = packed.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert_ne!(tag, packed_tag, "they are different bytes");
        let mut unpacked = Vec::new();
        let packed = content(packed).await;
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, content(plain).await);

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
    fn gzip_may_be_refused() {
        let accepts = |value: &str| {
            let value: HeaderValue = value.parse().unwrap();
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]))
        };
        assert!(accepts("gzip") && accepts("deflate, GZIP") && accepts("gzip;q=0.5"));
        assert!(!accepts("gzip;q=0") && !accepts("gzip; q=0.0") && !accepts("br"));
        assert!(!accepts("x-gzip") && !accepts_gzip(&HeaderMap::new()));
    }
}
