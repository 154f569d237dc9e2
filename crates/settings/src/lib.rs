//! The settings: all keys, how they are read and checked, and edits of the settings file. Pure: the
//! environment, and how a file is read, are passed in.
//!
//! A [`Key`] is read by its constant in [`keys`], so a misspelt one does not compile, and the value
//! has the type that the key names:
//!
//! ```
//! use callgate_settings::{Key, PlainValue, keys};
//!
//! fn value_of<T: PlainValue>(key: &Key<T>, text: &str) -> T {
//!     T::of_value(key.kind.read_text(text.as_ref(), false))
//! }
//!
//! let port: u16 = value_of(&keys::PAGE_PORT, "7421");
//! assert_eq!(port, 7421);
//! assert_eq!(keys::PAGE_PORT.variable().as_deref(), Some("CALLGATE_PAGE_PORT"));
//! ```
//!
//! ```compile_fail,E0425
//! let key = &callgate_settings::keys::PAGE_PROT;
//! ```

mod address_checks;
mod checks;
mod choices;
pub mod edit;
mod given;
mod key_names;
mod keyring_entry;
pub mod keys;
mod problem;
mod setting_key;
mod setting_type;
mod shortcut;
mod sources;
mod surroundings;
pub mod token_source;
mod typed_key;
mod value;

pub use checks::{AccountSettings, ChosenEngine, HookConfig, HookFlags};
pub use choices::{EffortSetting, EngineSetting, ShellTheme, WhenAbsent};
pub use given::{GivenSetting, RawConfig, SettingsCheck};
pub use key_names::no_such_key;
pub use keyring_entry::KeyringEntry;
pub use keys::{AgentSettings, Config, TeamSettings};
pub use problem::{ConfigProblem, ConfigProblems, ProblemScope, Setting, SettingOrigin};
pub use setting_key::{KeyFlag, SettingKey};
pub use setting_type::{OptionalSocket, PlainValue, ServerUrl};
pub use sources::{VariableScope, read_sources};
pub use surroundings::Surroundings;
pub use token_source::TokenSource;
pub use typed_key::Key;
pub use value::{HiddenTables, SettingValue, ValueKind};
