//! What applies where no rule decides.

use callgate_wire::tool_act::ToolKind;

use crate::act::{Act, Class};
use crate::place::{is_in, normal_path};
use crate::rule::RuleDecision;

/// What applies where no rule decides: to ask, unless a class is allowed.
///
/// Nothing is allowed by default that is not understood, that touches callgate itself, or, when
/// there are roots, that names a path outside them.
#[derive(Debug, Clone, Default)]
pub struct PolicyDefaults {
    allowed: Vec<Class>,
    roots: Option<Vec<String>>,
}

impl PolicyDefaults {
    /// Returns the runtime's defaults: reading inside the roots is allowed, everything else asks.
    pub fn read_inside<'a>(roots: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            allowed: vec![Class::Read],
            roots: Some(roots.into_iter().map(normal_path).collect()),
        }
    }

    /// Allows a class, or makes it ask again. A default cannot deny; a rule can.
    pub fn with_class(mut self, class: Class, decision: RuleDecision) -> Self {
        self.allowed.retain(|allowed| *allowed != class);
        if decision == RuleDecision::Allow {
            self.allowed.push(class);
        }
        self
    }

    pub(super) fn allow_reason(&self, act: &Act) -> Option<String> {
        let is_code = act.kind == ToolKind::Code;
        if is_code || !self.allowed.contains(&act.class) || act.doubt_reason().is_some() {
            return None;
        }
        let because = format!("allowed by default: the class is {}", act.class);
        let Some(roots) = &self.roots else { return Some(because) };
        // The paths of a command are unknown, so no root can contain them.
        let is_inside = |path: &String| roots.iter().any(|root| is_in(path, root));
        let holds = act.script.is_none() && act.paths.iter().all(is_inside);
        let is_about_paths =
            !matches!(act.class, Class::Read | Class::Write) || !act.paths.is_empty();
        (holds && (is_about_paths || act.kind == ToolKind::Note))
            .then(|| format!("{because}, inside of {}", roots.join(", ")))
    }
}
