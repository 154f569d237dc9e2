//! Settings in surroundings that a test wants.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use callgate_link::text_file::read_text_file;
use callgate_settings::{Config, Surroundings, VariableScope};
use jiff::tz::TimeZone;

use crate::RuleSurroundings;

pub(crate) fn test_surroundings(home: &Path, variables: &[(&str, &str)]) -> Surroundings {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).into());
    let variables: HashMap<String, OsString> = variables.iter().map(owned).collect();
    Surroundings {
        variable: std::rc::Rc::new(move |name| variables.get(name).cloned()),
        home: Some(home.to_owned()),
        here: Some("/here".into()),
        read_file: read_text_file,
    }
}

pub(crate) fn test_config(around: &Surroundings) -> Config {
    Config::load(None, &[], around, VariableScope::Common).unwrap()
}

pub(crate) fn rules_around(around: &Surroundings) -> RuleSurroundings {
    RuleSurroundings::new(around, || TimeZone::UTC)
}
