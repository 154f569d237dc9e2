//! The settings: all keys, how they are read and checked, and edits of the settings file. Pure: the
//! environment, and how a file is read, are passed in.
//!
//! A [`Key`] is read by its constant in [`keys`], so a misspelt one does not compile, and the value
//! has the type that the key names:
//!
//! ```
//! use callgate_settings::{Key, keys};
//!
//! const PORT: &Key<u16> = &keys::PAGE_PORT;
//! assert_eq!(PORT.variable().as_deref(), Some("CALLGATE_PAGE_PORT"));
//! ```
//!
//! ```compile_fail,E0425
//! let key = &callgate_settings::keys::PAGE_PROT;
//! ```

mod checks;
mod choices;
pub mod edit;
mod given;
mod key_names;
pub mod keys;
mod problem;
mod setting_key;
mod setting_type;
mod sources;
mod surroundings;
mod text_checks;
pub mod token_source;
mod typed_key;
mod value;

pub use checks::{HookConfig, HookFlags};
pub use choices::{EngineSetting, ShellTheme, WhenAbsent};
pub use given::{GivenSettings, VariableScope};
pub use key_names::no_such_key;
pub use keys::{AgentSettings, Config, TeamSettings};
pub use problem::{ConfigProblem, ConfigProblems, ProblemScope, Setting, SettingOrigin};
pub use setting_key::{KeyFlag, SettingKey};
pub use setting_type::{OptionalSocket, ServerUrl};
pub use surroundings::Surroundings;
pub use token_source::{KeyringEntry, TokenSource};
pub use typed_key::Key;
pub use value::{HiddenTables, SettingValue, ValueKind};
