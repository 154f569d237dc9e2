//! The last words of the CLI, without secrets.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

/// How much of the end is kept, in bytes.
const KEPT: usize = 8 * 1024;
/// A shorter value is not worth masking: it would hit innocent words.
const SHORTEST_SECRET: usize = 8;
/// Names of variables that hold secrets have one of these in them.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// What the CLI writes on its standard error, read until this is dropped.
#[derive(Debug)]
pub(crate) struct Stderr {
    kept: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl Stderr {
    /// Reads to the end, keeping the last of it.
    pub(crate) fn collect(pipe: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Arc::default();
        let reading = tokio::spawn(collect(pipe, Arc::clone(&kept)));
        Self { kept, reading }
    }

    /// Waits until there is no more to come.
    pub(crate) async fn read_to_its_end(&mut self) {
        (&mut self.reading).await.ok();
    }

    /// The last words, with the secrets masked.
    pub(crate) fn text(&self, secrets: &[String]) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept).trim().to_owned();
        match text.as_str() {
            "" => "nothing".to_owned(),
            text => mask(text, secrets),
        }
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn collect(mut pipe: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = [0; 4096];
    while let Ok(count) = pipe.read(&mut chunk).await {
        if count == 0 {
            return;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..count]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}

/// The values of a command's variables that are secrets by their names.
pub(crate) fn secrets<'a>(
    variables: impl Iterator<Item = (&'a OsString, &'a OsString)>,
) -> Vec<String> {
    let is_secret = |name: &OsString| {
        let name = name.to_string_lossy().to_uppercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    };
    let values = variables.filter(|(name, _)| is_secret(name));
    let values = values.map(|(_, value)| value.to_string_lossy().into_owned());
    values.filter(|value| value.len() >= SHORTEST_SECRET).collect()
}

fn mask(text: &str, secrets: &[String]) -> String {
    let known = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"));
    mask_keys(&known)
}

/// Masks whatever looks like a key of the service, wherever it came from.
fn mask_keys(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("sk-") {
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let length = rest[start..].find(|c| !is_key(c)).unwrap_or(rest.len() - start);
        masked.push_str(&rest[..start]);
        masked.push_str(if length > 2 * SHORTEST_SECRET {
            "***"
        } else {
            &rest[start..start + length]
        });
        rest = &rest[start + length..];
    }
    masked + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_by_value_and_by_look() {
        let variables = [
            ("ANTHROPIC_API_KEY", "0123456789"),
            ("github_token", "ghp_abcdefgh"),
            ("MY_KEY", "short"),
            ("PATH", "/usr/bin:/bin"),
        ];
        let variables =
            variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let secrets = secrets(variables.iter().map(|(name, value)| (name, value)));
        assert_eq!(secrets, ["0123456789", "ghp_abcdefgh"]);
        assert_eq!(
            mask(
                "bad key 0123456789 and ghp_abcdefgh, sk-ant-api03-abcdef_GHI: task-1 sk-1",
                &secrets
            ),
            "bad key *** and ***, ***: task-1 sk-1"
        );
    }

    #[tokio::test]
    async fn only_the_end_is_kept() {
        let long = format!("{}the end\n", "x".repeat(100_000));
        let mut stderr = Stderr::collect(std::io::Cursor::new(long));
        stderr.read_to_its_end().await;
        let text = stderr.text(&[]);
        assert!(text.ends_with("the end") && text.len() < KEPT, "{}", text.len());
        let mut silent = Stderr::collect(std::io::Cursor::new(""));
        silent.read_to_its_end().await;
        assert_eq!(silent.text(&[]), "nothing");
    }
}
