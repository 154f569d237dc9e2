//! The types of settings: each says what its key holds, and how it is read.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use callgate_agent::budget::price::{self, ModelPrices, TokenPrices};
use callgate_agent::engine::{CacheLife, Effort};
use callgate_agent::mcp::{MOST_SERVERS, McpServerSettings};
use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
use callgate_wire::HiddenText;
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::AGENTS;
use serde_json::Value;

use crate::choices::{EngineSetting, ShellTheme, WhenAbsent, parse_log_level};
use crate::given::{SettingsCheck, VariableScope};
use crate::problem::Setting;
use crate::setting_key::{SettingKey, UNLIMITED};
use crate::token_source::TokenSource;
use crate::value::{SettingValue, ValueKind};

pub(crate) trait SettingType: Sized {
    /// What a key of this type holds, unless it says more.
    const KIND: ValueKind;

    /// Reads the value in effect. One that is wrong is reported, and this is then some value that
    /// nobody uses.
    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self;
}

/// `None` unless somebody sets it. A default is then only for the guide.
impl<T: SettingType> SettingType for Option<T> {
    const KIND: ValueKind = T::KIND;

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        check.given.is_set(key).then(|| T::read_setting(check, key))
    }
}

impl<T: SettingType> SettingType for Setting<T> {
    const KIND: ValueKind = T::KIND;

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        Self { value: T::read_setting(check, key), origin: check.given.origin(key) }
    }
}

/// The address of a server, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl(pub String);

impl Deref for ServerUrl {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A socket that an empty path turns off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionalSocket(pub Option<PathBuf>);

/// What becomes of calls of some agents that no rule denies while no desk can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentExceptions(pub Vec<(&'static AgentProfile, WhenAbsent)>);

/// Declares the types of values that are converted by a pattern and an expression. A value of
/// another kind, and none, becomes the last expression.
macro_rules! plain_values {
    ($($($value:ty),+: $kind:expr, $pattern:pat => $converted:expr, $otherwise:expr;)*) => {$($(
        impl SettingType for $value {
            const KIND: ValueKind = $kind;

            fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
                match check.value(key) {
                    Some($pattern) => $converted,
                    _ => $otherwise,
                }
            }
        }
    )+)*};
}

/// Declares the types of settings that are one of a few words.
macro_rules! choice_words {
    ($($($choice:ty),+: $parse:expr;)*) => {
        plain_values! {$($(
            $choice: ValueKind::Choice {
                words: &<$choice>::NAMES,
                is_valid: |word| $parse(word).is_some(),
            },
            SettingValue::Text(word) => $parse(&word).unwrap_or(Self::ALL[0]), Self::ALL[0];
        )+)*}
    };
}

const NUMBER: ValueKind = ValueKind::Whole(1, UNLIMITED);
const UNSPECIFIED: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
const TEXT: ValueKind = ValueKind::Text("text", |_| true);
const EFFORTS: [&str; 6] = ["default", "low", "medium", "high", "xhigh", "max"];

plain_values! {
    u16, u32, u64: NUMBER, SettingValue::Whole(number) => number.try_into().unwrap_or_default(), 0;
    Duration: NUMBER,
        SettingValue::Whole(seconds) => Self::from_secs(seconds.try_into().unwrap_or_default()),
        Self::ZERO;
    bool: ValueKind::Switch, SettingValue::Switch(is_on) => is_on, false;
    f64: ValueKind::Dollars,
        SettingValue::Dollars(millionths) => price::dollars_of_micro(millionths), 0.0;
    String: TEXT, SettingValue::Text(text) => text, Self::new();
    SocketAddr: TEXT,
        SettingValue::Text(text) => text.parse().unwrap_or(UNSPECIFIED), UNSPECIFIED;
    Vec<(String, TokenPrices)>: TEXT,
        SettingValue::Text(text) => ModelPrices::parse(&text).unwrap_or_default(), Self::new();
    ServerUrl: ValueKind::Url("token"),
        SettingValue::Text(url) => Self(url.trim_end_matches('/').to_owned()),
        Self(String::new());
    Vec<i64>: ValueKind::Ids(1), SettingValue::Ids(ids) => ids, Self::new();
    PathBuf: ValueKind::File, SettingValue::Path(path) => path, Self::new();
    Vec<PathBuf>: ValueKind::Folders, SettingValue::Paths(paths) => paths, Self::new();
    Option<Effort>:
        ValueKind::Choice { words: &EFFORTS, is_valid: |word| EFFORTS.contains(&word) },
        SettingValue::Text(word) => Effort::parse(&word), None;
    Option<HiddenText>: ValueKind::Secret,
        SettingValue::Secret(secret) => Some(secret).filter(|it| !it.reveal().is_empty()), None;
    ResumedConversation: ValueKind::SwitchOrId,
        given => match given {
            SettingValue::Switch(true) => Self::Last,
            SettingValue::Text(id) if !id.is_empty() => Self::Id(id),
            _ => Self::None,
        },
        Self::None;
}

choice_words! {
    Unattended, WhenAbsent, UnclearCommands, EngineSetting, CacheLife, ShellTheme: Self::parse;
    LogLevel: parse_log_level;
}

impl SettingType for OptionalSocket {
    const KIND: ValueKind = ValueKind::Socket;

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        let is_off = check.given.value(key) == Some(SettingValue::Path(PathBuf::new()));
        Self((!is_off).then(|| PathBuf::read_setting(check, key)))
    }
}

impl SettingType for Option<Setting<TokenSource>> {
    const KIND: ValueKind = ValueKind::Secret;

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        check.token(key.entry?)
    }
}

impl SettingType for Vec<u16> {
    const KIND: ValueKind = ValueKind::Ids(1);

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        let ports = Vec::<i64>::read_setting(check, key).into_iter().map(u16::try_from);
        ports.collect::<Result<_, _>>().unwrap_or_else(|_| {
            let text = format!("`{}` must hold ports, from 1 to 65535", key.name);
            check.add_problem_of_value(key, text);
            Self::new()
        })
    }
}

/// Reads each table of a key. What is wrong with one is reported, and the others are used.
fn read_tables<T>(
    check: &mut SettingsCheck,
    key: &SettingKey,
    mut read: impl FnMut(&str, &Value) -> Result<T, String>,
) -> Vec<T> {
    let Some(SettingValue::Tables(tables)) = check.value(key) else { return Vec::new() };
    let read = tables.iter_tables().map(|(name, table)| read(name, table));
    read.filter_map(|one| one.map_err(|text| check.add_problem_of_value(key, text)).ok()).collect()
}

impl SettingType for AgentExceptions {
    const KIND: ValueKind =
        ValueKind::Tables("a table for each agent, such as [gate.agents.gemini]");

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        let of = key.name;
        Self(read_tables(check, key, |name, table| {
            let agent = AgentProfile::find(name).ok_or_else(|| {
                let known = AGENTS.map(|agent| agent.word).join(", ");
                format!("`{of}`: there is no agent `{name}`, only {known}")
            })?;
            let word = table["when_absent"].as_str().unwrap_or_default();
            let is_alone = table.as_object().is_some_and(|table| table.len() == 1);
            let meaning = WhenAbsent::parse(word).filter(|_| is_alone);
            let wrong = || format!("`{of}.{name}` must have `when_absent`, agent or deny, alone");
            Ok((agent, meaning.ok_or_else(wrong)?))
        }))
    }
}

impl SettingType for Vec<McpServerSettings> {
    const KIND: ValueKind =
        ValueKind::Tables("a table for each server, such as [agent.mcp_servers.files]");

    fn read_setting(check: &mut SettingsCheck, key: &SettingKey) -> Self {
        // Only the runtime has the variables that they may need.
        if check.given.scope != VariableScope::Common {
            return Self::new();
        }
        let (of, around) = (key.name, &check.given.around);
        let variable = |name: &str| around.variable(name)?.into_string().ok();
        let mut wrong = Vec::new();
        let servers = read_tables(check, key, |name, form| {
            if let Some(member) = McpServerSettings::unknown_member(form) {
                wrong.push(format!("the server `{name}` has no `{member}`"));
            }
            McpServerSettings::from_json(name, form, &variable)
                .map_err(|why| format!("`{of}`: {why}"))
        });
        if servers.len() > MOST_SERVERS {
            wrong.push(format!("there may be {MOST_SERVERS} servers"));
        }
        for why in wrong {
            check.add_problem_of_value(key, format!("`{of}`: {why}"));
        }
        servers
    }
}
