//! Checks how this program was built.

use std::env;

use super::finding::Findings;

/// The profile with which callgate is shipped and measured.
const SHIPPED: &str = "dist";
/// The profile with which this program was built, as cargo names its folder.
const BUILT: &str = env!("CALLGATE_PROFILE");

/// Says which program this is, and warns if it was built with another profile than the shipped one.
pub(super) fn check_profile(findings: &mut Findings) {
    let program = env::current_exe().unwrap_or_else(|_| "callgate".into());
    report_profile(&program.to_string_lossy(), BUILT, findings);
}

fn report_profile(program: &str, built: &str, findings: &mut Findings) {
    if built == SHIPPED {
        return findings
            .add_ok("program", format!("{program}, built as it is measured ({SHIPPED})"));
    }
    let text = format!(
        "{program} was built with the profile `{built}`: it is slower and takes more memory than \
         what is measured"
    );
    let advice = "in the source folder, run `cargo install --path . --profile dist`";
    findings.add_warning("program", text, advice);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shipped_profile_is_well() {
        let told = |built: &str| {
            let mut findings = Findings::default();
            report_profile("/bin/callgate", built, &mut findings);
            findings.text()
        };
        let well = "ok       program   /bin/callgate, built as it is measured (dist)\n";
        assert!(told("dist").starts_with(well), "{}", told("dist"));
        for other in ["release", "debug"] {
            let warning =
                format!("warning  program   /bin/callgate was built with the profile `{other}`: ");
            assert!(told(other).starts_with(&warning), "{}", told(other));
            assert!(told(other).contains("run `cargo install --path . --profile dist`\n"));
        }
    }
}
