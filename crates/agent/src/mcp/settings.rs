//! The description of a server, in the settings and in `.mcp.json`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use callgate_http::is_private;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::http_client::has_login;
use crate::tool::is_name_character;

/// The longest name of a server.
const LONGEST_NAME: usize = 32;
/// The members of a description.
const MEMBERS: [&str; 7] = ["type", "command", "args", "env", "url", "headers", "oauth"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerSettings {
    /// Its name, which is part of the names of its tools.
    pub name: String,
    pub transport: McpTransport,
}

#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that is started, and spoken to on its standard input and output.
    Command {
        /// The program: a name on PATH, or a path.
        command: String,
        args: Vec<String>,
        /// Variables that are added to its environment.
        env: Vec<(String, String)>,
    },
    /// A server on the network, by streamable HTTP.
    Http {
        url: String,
        /// Headers that are sent with every request.
        headers: Vec<(String, String)>,
        /// How a person signs in to it.
        oauth: OauthSettings,
    },
}

/// What a sign-in to a server needs that the server does not say.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthSettings {
    /// The name of callgate at an authorization server that registers nobody by itself.
    #[serde(alias = "clientId")]
    pub client_id: Option<String>,
    #[serde(alias = "clientSecret")]
    pub client_secret: Option<String>,
    /// The port to which the browser is sent, if that was registered; otherwise a free one.
    #[serde(alias = "callbackPort")]
    pub callback_port: Option<u16>,
    /// What the sign-in is to permit, besides what the server asks for.
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl McpTransport {
    /// Returns the variables or headers that the server gets.
    pub(super) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let (Self::Command { env: pairs, .. } | Self::Http { headers: pairs, .. }) = self;
        pairs.iter().map(|(name, value)| (name.into(), value.into()))
    }
}

impl fmt::Debug for McpTransport {
    /// Shows the names of variables and headers only: their values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            Self::Command { command, env, .. } => f
                .debug_struct("Command")
                .field("command", command)
                .field("env", &names(env))
                .finish_non_exhaustive(),
            Self::Http { url, headers, .. } => f
                .debug_struct("Http")
                .field("url", url)
                .field("headers", &names(headers))
                .finish_non_exhaustive(),
        }
    }
}

/// The JSON of a description.
#[derive(Deserialize)]
struct ServerForm {
    r#type: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    oauth: OauthSettings,
}

impl McpServerSettings {
    /// Reads a description. `variable` returns the variables that `${NAME}` may stand for. Returns
    /// what is wrong with the description; the text holds no value.
    pub fn from_json(
        name: &str,
        form: &Value,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        check_name(name)?;
        // The error itself could repeat a value, and values may be secret.
        let form: ServerForm = serde_json::from_value(form.clone()).map_err(|_| {
            format!(
                "the server `{name}` must have `command` with `args` and `env`, or `url` with \
                 `headers`, all of them text, and `oauth`"
            )
        })?;
        let text = |text: &str| expand_variables(name, text, variable);
        let pairs = |pairs: BTreeMap<String, String>| -> Result<Vec<_>, String> {
            pairs.into_iter().map(|(key, value)| Ok((key, text(&value)?))).collect()
        };
        let transport = match (form.command, form.url, form.r#type.as_deref()) {
            (Some(command), None, None | Some("stdio")) if !command.trim().is_empty() => {
                McpTransport::Command {
                    command: text(&command)?,
                    args: form.args.iter().map(|arg| text(arg)).collect::<Result<_, _>>()?,
                    env: pairs(form.env)?,
                }
            }
            (None, Some(url), None | Some("http" | "streamable-http")) => McpTransport::Http {
                // Checked with its variables, which may name another host.
                url: checked_url(name, text(&url)?)?,
                headers: pairs(form.headers)?,
                oauth: OauthSettings {
                    client_id: form.oauth.client_id.as_deref().map(text).transpose()?,
                    client_secret: form.oauth.client_secret.as_deref().map(text).transpose()?,
                    ..form.oauth
                },
            },
            (_, _, Some("sse")) => {
                return Err(format!(
                    "the server `{name}` is of the type `sse`, which the protocol has replaced: \
                     give its address for streamable HTTP"
                ));
            }
            _ => {
                return Err(format!(
                    "the server `{name}` must have either `command` or `url`, and no other `type`"
                ));
            }
        };
        Ok(Self { name: name.to_owned(), transport })
    }

    /// Returns the unknown member of a description, if there is one.
    pub fn unknown_member(form: &Value) -> Option<&str> {
        let members = form.as_object()?.keys().map(String::as_str);
        members.into_iter().find(|member| !MEMBERS.contains(member))
    }
}

/// Checks that the names of tools can be told apart, and rules written for them.
fn check_name(name: &str) -> Result<(), String> {
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(is_name_character)
        // This stands between the names of server and tool.
        && !name.contains("__")
        // Next to that, a `_` of the name would make `___`, which can be divided in two ways.
        && !name.starts_with('_')
        && !name.ends_with('_');
    is_name.then_some(()).ok_or_else(|| {
        format!(
            "{name:?} cannot be the name of a server: use at most {LONGEST_NAME} letters, digits, \
             `-` and single `_`"
        )
    })
}

/// Checks an address. What is sent to a server may be secret, so it goes unencrypted to this
/// machine only.
fn checked_url(name: &str, url: String) -> Result<String, String> {
    let failed = |why: &str| Err(format!("the address of the server `{name}` {why}"));
    let Ok(parsed) = Url::parse(&url) else { return failed("is not a URL") };
    if has_login(&parsed) {
        return failed("must not hold a password: use a header");
    }
    if !is_private(&parsed) {
        return failed("must begin with https://, or with http:// for this machine");
    }
    Ok(url)
}

/// Replaces `${NAME}` and `${NAME:-DEFAULT}` by the values of variables.
fn expand_variables(
    server: &str,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside, None),
        };
        let value = variable(name).or(default).ok_or_else(|| {
            format!("the server `{server}` needs the variable {name:?}, which it may not use or which is not set")
        })?;
        result.push_str(before);
        result.push_str(&value);
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn check(name: &str, form: &Value, expected: &Expect) {
        let variable = |name: &str| (name == "WHO").then(|| "ada".to_owned());
        let shown = match McpServerSettings::from_json(name, form, &variable) {
            Ok(McpServerSettings {
                transport: McpTransport::Command { command, args, env },
                ..
            }) => {
                format!("{command} {args:?} {env:?}")
            }
            Ok(McpServerSettings {
                transport: McpTransport::Http { url, headers, .. }, ..
            }) => {
                format!("{url} {headers:?}")
            }
            Err(why) => why,
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_server_is_a_program_or_an_address() {
        check(
            "files",
            &json!({"command": "npx", "args": ["-y", "${WHO}"], "env": {"A": "x${NONE:-d}y"}}),
            &expect![[r#"npx ["-y", "ada"] [("A", "xdy")]"#]],
        );
        check(
            "far",
            &json!({"type": "http", "url": "https://example.org/mcp", "headers": {"X-A": "b"}}),
            &expect![[r#"https://example.org/mcp [("X-A", "b")]"#]],
        );
        check(
            "here",
            &json!({"url": "http://[::1]:8000/mcp"}),
            &expect!["http://[::1]:8000/mcp []"],
        );
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let program = json!({"command": "x"});
        check(
            "a__b",
            &program,
            &expect![[
                r#""a__b" cannot be the name of a server: use at most 32 letters, digits, `-` and single `_`"#
            ]],
        );
        check(
            "a b",
            &program,
            &expect![[
                r#""a b" cannot be the name of a server: use at most 32 letters, digits, `-` and single `_`"#
            ]],
        );
        check(
            "_a",
            &program,
            &expect![[
                r#""_a" cannot be the name of a server: use at most 32 letters, digits, `-` and single `_`"#
            ]],
        );
        check(
            "a",
            &json!({"command": "x", "url": "https://a"}),
            &expect!["the server `a` must have either `command` or `url`, and no other `type`"],
        );
        check(
            "a",
            &json!({"command": " "}),
            &expect!["the server `a` must have either `command` or `url`, and no other `type`"],
        );
        check(
            "a",
            &json!({"command": "x", "args": [1]}),
            &expect![
                "the server `a` must have `command` with `args` and `env`, or `url` with `headers`, all of them text, and `oauth`"
            ],
        );
        check(
            "a",
            &json!({"url": "http://example.org"}),
            &expect![
                "the address of the server `a` must begin with https://, or with http:// for this machine"
            ],
        );
        check(
            "a",
            &json!({"url": "http://127.0.0.1.example.org"}),
            &expect![
                "the address of the server `a` must begin with https://, or with http:// for this machine"
            ],
        );
        check(
            "a",
            &json!({"url": "https://me:secret@example.org"}),
            &expect!["the address of the server `a` must not hold a password: use a header"],
        );
        check(
            "a",
            &json!({"type": "sse", "url": "https://a"}),
            &expect![
                "the server `a` is of the type `sse`, which the protocol has replaced: give its address for streamable HTTP"
            ],
        );
        check(
            "a",
            &json!({"command": "${TOKEN}"}),
            &expect![[
                r#"the server `a` needs the variable "TOKEN", which it may not use or which is not set"#
            ]],
        );
    }

    #[test]
    fn values_are_not_shown() {
        let form = json!({"command": "x", "args": ["s3cret"], "env": {"TOKEN": "s3cret"}});
        let server = McpServerSettings::from_json("a", &form, &|_| None).unwrap();
        let shown = format!("{server:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("s3cret"), "{shown}");
    }
}
