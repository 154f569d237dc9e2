//! The findings of `callgate doctor`, and how they are printed.

use callgate_mask::text::{counted_noun, one_line};
use serde::Serialize;
use serde_json::json;

use crate::terminal::width::wrapped_for_terminal;

callgate_wire::words! {
    pub(super) enum FindingLevel {
        Ok "ok",
        /// It works, but not as well as it could.
        Warning "warning",
        /// Something does not work.
        Problem "problem",
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    level: FindingLevel,
    about: &'static str,
    text: String,
    #[serde(rename = "do")]
    advice: Option<String>,
}

/// The results of all checks, in order.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add_ok(&mut self, about: &'static str, text: impl Into<String>) {
        let (level, text, advice) = (FindingLevel::Ok, text.into(), None);
        self.0.push(Finding { level, about, text, advice });
    }

    pub(super) fn add_warning(
        &mut self,
        about: &'static str,
        text: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let (level, text, advice) = (FindingLevel::Warning, text.into(), Some(advice.into()));
        self.0.push(Finding { level, about, text, advice });
    }

    pub(super) fn add_problem(
        &mut self,
        about: &'static str,
        text: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let (level, text, advice) = (FindingLevel::Problem, text.into(), Some(advice.into()));
        self.0.push(Finding { level, about, text, advice });
    }

    /// Returns how many findings have this level.
    pub(super) fn count(&self, level: FindingLevel) -> usize {
        self.0.iter().filter(|finding| finding.level == level).count()
    }

    /// Returns the findings as text for people.
    pub(super) fn text(&self) -> String {
        let line = |Finding { level, about, text, advice }: &Finding| {
            let told = format!("{:7}  {about:8}  {}", level.name(), one_line(text));
            let advice = advice.as_ref().map(|it| format!("{:21}do: {}", "", one_line(it)));
            let advice = advice.map(|it| wrapped_for_terminal(&it, 4) + "\n");
            wrapped_for_terminal(&told, 19) + "\n" + &advice.unwrap_or_default()
        };
        let (problems, warnings) =
            (self.count(FindingLevel::Problem), self.count(FindingLevel::Warning));
        let end = format!(
            "{}, {}\n",
            counted_or_none(problems, "problem"),
            counted_or_none(warnings, "warning")
        );
        self.0.iter().map(line).chain([end]).collect()
    }

    /// Returns the findings as JSON for programs.
    pub(super) fn json(&self) -> String {
        let (problems, warnings) =
            (self.count(FindingLevel::Problem), self.count(FindingLevel::Warning));
        json!({ "problems": problems, "warnings": warnings, "checks": self.0 }).to_string()
    }
}

fn counted_or_none(count: usize, what: &str) -> String {
    if count == 0 { format!("no {what}") } else { counted_noun(count, what) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn each_finding_says_how_bad_it_is_and_what_to_do() {
        let mut findings = Findings::default();
        assert!(findings.text().ends_with("no problem, no warning\n"));
        findings.add_ok("settings", "/a/config.toml");
        findings.add_problem("ledger", "a\u{202e}b is broken", "keep it");
        findings.add_warning("hooks", "one", "this");
        findings.add_warning("hooks", "other", "that");
        expect![[r"
            ok       settings  /a/config.toml
            problem  ledger    a⟨U+202E⟩b is broken
                                 do: keep it
            warning  hooks     one
                                 do: this
            warning  hooks     other
                                 do: that
            1 problem, 2 warnings
        "]]
        .assert_eq(&findings.text());
        let json: serde_json::Value = serde_json::from_str(&findings.json()).unwrap();
        assert_eq!((&json["problems"], &json["warnings"]), (&1.into(), &2.into()));
        let first =
            json!({ "level": "ok", "about": "settings", "text": "/a/config.toml", "do": null });
        assert_eq!(json["checks"][0], first);
        assert_eq!(json["checks"][1]["do"], "keep it");
    }
}
