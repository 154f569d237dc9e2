//! The settings: all keys with their types and checks, and edits of the settings file. Pure: what
//! reads files and the environment passes in their contents.
//!
//! A [`Key`] is read by its constant in [`keys`], so a misspelt one does not compile, and the value
//! has the type that the key names:
//!
//! ```
//! use callgate_settings::{Key, SettingType, keys};
//!
//! fn value_of<T: SettingType>(key: &Key<T>, text: &str) -> T {
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
mod choices;
pub mod edit;
mod key_names;
pub mod keys;
mod problem;
mod setting_key;
mod shortcut;
mod typed_key;
mod value;

pub use choices::{EffortSetting, EngineSetting, ShellTheme, WhenAbsent};
pub use key_names::no_such_key;
pub use problem::{ConfigProblem, ConfigProblems, ProblemScope, Setting, SettingOrigin};
pub use setting_key::{KeyFlag, SettingKey};
pub use typed_key::{ChoiceWord, Key, ServerUrl, SettingType, WholeNumber};
pub use value::{HiddenTables, SettingValue, ValueKind};
