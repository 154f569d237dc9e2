//! What applies where no rule decides.

use callgate_wire::tool_act::ToolKind;

use crate::act::{Act, ActClass};
use crate::place::{is_in, normal_path};

/// What applies where no rule decides: to ask, unless reading inside of roots is allowed.
///
/// Nothing is allowed by default that is not understood, that touches callgate itself, or that
/// names a path outside the roots.
#[derive(Debug, Clone, Default)]
pub struct PolicyDefaults {
    roots: Option<Vec<String>>,
}

impl PolicyDefaults {
    /// Returns the runtime's defaults: reading inside the roots is allowed, everything else asks.
    pub fn read_inside<'a>(roots: impl IntoIterator<Item = &'a str>) -> Self {
        Self { roots: Some(roots.into_iter().map(normal_path).collect()) }
    }

    pub(super) fn allow_reason(&self, act: &Act) -> Option<String> {
        let roots = self.roots.as_ref()?;
        let is_code = act.kind == ToolKind::Code;
        if is_code || act.class != ActClass::Read || act.doubt_reason().is_some() {
            return None;
        }
        // The paths of a command are unknown, so no root can contain them.
        let is_inside = |path: &String| roots.iter().any(|root| is_in(path, root));
        let holds = act.script.is_none() && act.paths.iter().all(is_inside);
        // Only a tool that is known to touch nothing may be without a path.
        (holds && (!act.paths.is_empty() || act.kind == ToolKind::Note)).then(|| {
            let (class, roots) = (act.class, roots.join(", "));
            format!("allowed by default: the class is {class}, inside of {roots}")
        })
    }
}
