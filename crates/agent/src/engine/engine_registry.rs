//! The engines of a runtime, and which of them answers in a conversation.
//!
//! An engine is created when it is first used. Which one answers where none was chosen may depend
//! on what is found on this machine; that is looked up once, at the first message or query.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use callgate_wire::session::{EngineListing, ModelListing};
use tokio::sync::OnceCell;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use crate::engine::Engine;
use crate::failure::RequestFailure;
use crate::history::EngineSelection;

/// The reason given for an engine that was chosen for the conversation.
pub(crate) const CHOSEN: &str = "because it was chosen for this conversation";

/// How long an engine may take to list its models. A little longer than the limits of the engines,
/// whose errors say more.
const LISTED_WITHIN: Duration = Duration::from_secs(5);

/// Creates an engine, or returns why that is not possible and what to do. It may block.
pub type EngineMaker = Arc<dyn Fn() -> Result<Arc<dyn Engine>, String> + Send + Sync>;

pub struct EngineRegistry {
    slots: Vec<Arc<EngineSlot>>,
    default: DefaultEngine,
    /// The default and the reason for it, once they are known.
    settled: OnceCell<(&'static str, String)>,
}

/// An engine that is created when it is first used.
struct EngineSlot {
    name: &'static str,
    maker: EngineMaker,
    created: OnceLock<Arc<dyn Engine>>,
}

/// The engine of conversations for which none was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultEngine {
    Fixed {
        name: &'static str,
        /// Why, in words that follow its name: "because …".
        because: String,
    },
    /// An engine that is only used if it is found, and another one otherwise.
    IfFound {
        name: &'static str,
        otherwise: &'static str,
        /// Why nothing better is used, in words that follow "because".
        because: String,
        /// What to do about it if nothing is found.
        advice: String,
    },
}

/// The engine and the model that answer in a conversation.
#[derive(Clone)]
pub struct SelectedEngine {
    pub engine: Arc<dyn Engine>,
    pub model: Arc<str>,
    /// Why this engine, in words that follow its name: "because …".
    pub because: String,
}

impl EngineRegistry {
    pub fn new(default: DefaultEngine) -> Self {
        Self { slots: Vec::new(), default, settled: OnceCell::new() }
    }

    /// Adds an engine that is created when it is first used.
    pub fn with_maker(mut self, name: &'static str, maker: EngineMaker) -> Self {
        self.slots.push(Arc::new(EngineSlot { name, maker, created: OnceLock::new() }));
        self
    }

    pub fn with_engine(mut self, engine: Arc<dyn Engine>) -> Self {
        let (name, created) = (engine.name(), OnceLock::from(Arc::clone(&engine)));
        let maker: EngineMaker = Arc::new(move || Ok(Arc::clone(&engine)));
        self.slots.push(Arc::new(EngineSlot { name, maker, created }));
        self
    }

    /// Returns the engine and the model for a conversation with this choice.
    pub async fn select(
        &self,
        chosen: Option<&EngineSelection>,
    ) -> Result<SelectedEngine, RequestFailure> {
        let (name, model, because) = if let Some(EngineSelection { engine, model }) = chosen {
            (engine.as_str(), model.as_deref(), CHOSEN.to_owned())
        } else {
            let (name, because) = self.default_engine().await;
            (name, None, because)
        };
        let engine = self.slot(name)?.open().await.map_err(|why| unavailable_engine(name, &why))?;
        let model = match model {
            Some(model) => model.into(),
            None => engine
                .default_model()
                .await
                .map_err(|error| RequestFailure::of_engine(error, false))?,
        };
        Ok(SelectedEngine { engine, model, because })
    }

    /// Returns the engine and the model for a choice, unless the engine surely cannot answer.
    pub async fn choose_usable(
        &self,
        chosen: &EngineSelection,
    ) -> Result<SelectedEngine, RequestFailure> {
        let selected = self.select(Some(chosen)).await?;
        selected
            .engine
            .check_usable()
            .map_err(|error| unavailable_engine(&chosen.engine, &error.text))?;
        Ok(selected)
    }

    /// Returns the name of the engine of conversations for which none was chosen, and why it is
    /// that one.
    pub async fn default_engine(&self) -> (&'static str, String) {
        self.settled.get_or_init(|| self.settle_default()).await.clone()
    }

    async fn settle_default(&self) -> (&'static str, String) {
        match &self.default {
            DefaultEngine::Fixed { name, because } => (name, because.clone()),
            DefaultEngine::IfFound { name, otherwise, because, advice } => {
                match self.find_place(name).await {
                    Some(place) => (name, format!("because {place} was found and {because}")),
                    None => (otherwise, format!("because {because}: {advice}")),
                }
            }
        }
    }

    async fn find_place(&self, name: &str) -> Option<String> {
        let engine = self.slot(name).ok()?.open().await.ok()?;
        // First, because a local server is looked for only when it is used.
        let models = engine.models().await.ok()?;
        engine.found_place().filter(|_| !models.is_empty())
    }

    pub async fn list(&self, only: Option<&str>) -> Result<Vec<EngineListing>, RequestFailure> {
        let slots = match only {
            Some(name) => vec![self.slot(name)?],
            None => self.slots.iter().collect(),
        };
        let mut listing = JoinSet::new();
        for (at, slot) in slots.into_iter().map(Arc::clone).enumerate() {
            // All at once, because a server that does not answer takes its whole time.
            listing.spawn(async move { (at, slot.list().await) });
        }
        let mut listed: Vec<_> = listing.join_all().await;
        // They end as their servers answer.
        listed.sort_by_key(|(at, _)| *at);
        Ok(listed.into_iter().map(|(_, engine)| engine).collect())
    }

    fn slot(&self, name: &str) -> Result<&Arc<EngineSlot>, RequestFailure> {
        self.slots.iter().find(|slot| slot.name == name).ok_or_else(|| {
            let names: Vec<_> = self.slots.iter().map(|slot| slot.name).collect();
            let text = format!("there is no such engine: use one of {}", names.join(", "));
            RequestFailure::permanent("not_found", text)
        })
    }
}

fn unavailable_engine(name: &str, why: &str) -> RequestFailure {
    RequestFailure::permanent("engine", format!("the engine {name} cannot be used: {why}"))
}

impl EngineSlot {
    /// Returns the engine. A failure is not remembered: its cause may have been removed.
    async fn open(self: &Arc<Self>) -> Result<Arc<dyn Engine>, String> {
        if let Some(engine) = self.created.get() {
            return Ok(Arc::clone(engine));
        }
        let maker = Arc::clone(&self.maker);
        let engine = spawn_blocking(move || maker()).await.map_err(|error| error.to_string())??;
        // Of two that were created at the same time everybody gets the first.
        Ok(Arc::clone(self.created.get_or_init(|| engine)))
    }

    async fn list(self: &Arc<Self>) -> EngineListing {
        let listed = timeout(LISTED_WITHIN, self.models()).await;
        let (models, reason, is_available) = match listed {
            Ok(Ok((models, place))) => (models, place, true),
            Ok(Err(why)) => (Vec::new(), Some(why), false),
            Err(_) => (Vec::new(), Some("it does not list its models in time".to_owned()), false),
        };
        EngineListing { name: self.name.to_owned(), is_available, reason, models }
    }

    async fn models(self: &Arc<Self>) -> Result<(Vec<ModelListing>, Option<String>), String> {
        let engine = self.open().await?;
        let models = engine.models().await.map_err(|error| error.text)?;
        Ok((models, engine.found_place()))
    }
}

#[cfg(test)]
mod tests;
