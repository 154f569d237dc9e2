//! The commands of the page. Each is declared in the build script and granted by itself; whatever
//! they do is done elsewhere.

pub(crate) mod chat;
pub(crate) mod desk;
pub(crate) mod desktop;
pub(crate) mod settings;
