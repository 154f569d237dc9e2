//! What a process reads of its environment: the variables, home and working folder that its
//! settings depend on, its time zone, and its own program. The other crates get these as values.
//!
//! It is a crate because two programs need it, `callgate` and `callgate-hook`.

use std::env;
use std::fs::File;
use std::io::Read;
use std::rc::Rc;

use callgate_approval::daemon::Warn;
use callgate_link::text_file::read_text_file;
use callgate_policy::{LiveRules, RuleSurroundings};
use callgate_rules::GuardedSet;
use callgate_settings::{Config, Surroundings};
use jiff::tz::TimeZone;

/// The largest description of a time zone that is read, in bytes.
const LONGEST_ZONE: u64 = 1024 * 1024;

/// Returns what the settings of this process depend on.
pub fn process_surroundings() -> Surroundings {
    Surroundings {
        variable: Rc::new(|name| env::var_os(name)),
        // A relative one would lead to another folder in each working folder.
        home: env::home_dir().filter(|home| home.is_absolute()),
        here: env::current_dir().ok(),
        read_file: read_text_file,
    }
}

/// Returns what rules depend on besides the settings.
pub fn rule_surroundings() -> RuleSurroundings {
    RuleSurroundings::new(&process_surroundings(), read_time_zone)
}

/// Returns what no rule can allow an agent to touch.
pub fn build_guarded(config: &Config) -> GuardedSet {
    let program = env::current_exe().ok();
    callgate_policy::build_guarded(config, &process_surroundings(), program.as_deref())
}

/// Returns the rules in force for these settings. Problems of a file are reported once, when it is
/// read.
pub fn read_live_rules(config: &Config, warn: Warn) -> LiveRules {
    LiveRules::new(config, build_guarded(config), rule_surroundings(), warn)
}

/// Returns the time zone of this machine. The file that describes it is read directly: to look it
/// up by name takes a walk through the files of all zones, at every start of a hook.
fn read_time_zone() -> TimeZone {
    let described = || {
        // A zone in `TZ` goes before that of the machine, and the library reads all its forms.
        if env::var_os("TZ").is_some() {
            return None;
        }
        let file = File::open("/etc/localtime").ok()?;
        let mut description = Vec::new();
        file.take(LONGEST_ZONE).read_to_end(&mut description).ok()?;
        TimeZone::tzif("", &description).ok()
    };
    described().unwrap_or_else(TimeZone::system)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn the_time_here_is_what_the_system_says() {
        let system = TimeZone::system();
        for second in [0, 1_700_000_000, 1_720_000_000, 1_800_000_000] {
            let at = Timestamp::from_second(second).unwrap();
            assert_eq!(read_time_zone().to_offset(at), system.to_offset(at), "{at}");
        }
    }
}
