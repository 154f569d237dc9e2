//! Kilo.

use super::opencode::PROFILE;
use super::{AgentProfile, AgentSettingsPlace};

pub static KILO: AgentProfile = AgentProfile {
    word: "kilo",
    id: "kilo",
    name: "Kilo",
    programs: &["kilo"],
    settings: AgentSettingsPlace {
        folder: ".config/kilo",
        project_folder: Some(".kilo"),
        ..PROFILE.settings
    },
    next: "Kilo has to be restarted. At its next start it installs `@kilocode/plugin` by itself, which \
           needs the network once.",
    ..PROFILE
};
