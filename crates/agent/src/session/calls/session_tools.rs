//! The tools of a session: the built-in ones, and those of sources that may change.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_wire::session::McpServerStatus;

use crate::tool::{AgentTool, ToolSource, ToolSpec, TurnContext};

/// How long the sources may take to end what they have started.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

pub(in crate::session) type ToolMap = HashMap<Cow<'static, str>, Arc<dyn AgentTool>>;

pub(in crate::session) struct SessionTools {
    built_in: Vec<Arc<dyn AgentTool>>,
    sources: Vec<Arc<dyn ToolSource>>,
    current: Mutex<Arc<ToolSet>>,
}

#[derive(Default)]
pub(in crate::session) struct ToolSet {
    pub(in crate::session) by_name: ToolMap,
    /// Their descriptions, in a stable order. Another order would make the provider read the whole
    /// conversation again instead of its cache.
    pub(in crate::session) specs: Arc<[ToolSpec]>,
    /// The revisions of the sources, added up.
    revision: u64,
}

impl SessionTools {
    pub(in crate::session) fn new(
        built_in: Vec<Arc<dyn AgentTool>>,
        sources: Vec<Arc<dyn ToolSource>>,
    ) -> Self {
        let current = Mutex::new(Arc::new(ToolSet::from_sources(&built_in, &[], 0)));
        Self { built_in, sources, current }
    }

    /// Prepares the sources for a turn, all at once.
    pub(in crate::session) async fn prepare(&self, turn: TurnContext<'_>) {
        let mut waiting: Vec<_> =
            self.sources.iter().map(|source| source.prepare(turn.clone())).collect();
        // Not as tasks, because what the sources do borrows from the turn.
        std::future::poll_fn(|context| {
            waiting.retain_mut(|source| source.as_mut().poll(context).is_pending());
            if waiting.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }

    pub(in crate::session) fn current(&self) -> Arc<ToolSet> {
        // Each revision only grows, so their sum changes with any of them. Read before the tools:
        // what changes in between is collected the next time.
        let revision = self.sources.iter().map(|source| source.revision()).sum();
        let mut current = lock(&self.current);
        if current.revision != revision {
            *current = Arc::new(ToolSet::from_sources(&self.built_in, &self.sources, revision));
        }
        Arc::clone(&current)
    }

    pub(in crate::session) fn servers(&self) -> Vec<McpServerStatus> {
        self.sources.iter().flat_map(|source| source.servers()).collect()
    }

    /// Ends everything that the sources have started. Whatever takes too long ends with the
    /// process.
    pub(in crate::session) async fn close(&self) {
        let all = async {
            for source in &self.sources {
                source.close().await;
            }
        };
        tokio::time::timeout(CLOSE_WITHIN, all).await.ok();
    }
}

impl ToolSet {
    /// Collects the tools. Where two have the same name, the first one counts.
    fn from_sources(
        built_in: &[Arc<dyn AgentTool>],
        sources: &[Arc<dyn ToolSource>],
        revision: u64,
    ) -> Self {
        let (mut by_name, mut specs) = (ToolMap::new(), Vec::new());
        let provided = sources.iter().flat_map(|source| source.tools());
        for tool in built_in.iter().cloned().chain(provided) {
            let spec = tool.spec().clone();
            by_name.entry(spec.name.clone()).or_insert_with(|| {
                specs.push(spec);
                tool
            });
        }
        Self { by_name, specs: specs.into(), revision }
    }

    pub(in crate::session) fn get(&self, name: &str) -> Option<&Arc<dyn AgentTool>> {
        self.by_name.get(name)
    }
}

#[cfg(test)]
mod tests;
