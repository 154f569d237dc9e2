//! Which engine answers where, and what is told about the others.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::BoxFuture;
use crate::engine::offline::Offline;
use crate::engine::{AnswerStream, EngineCall, EngineError, EngineErrorKind};

/// An engine that is found, or not.
struct Found(Result<Vec<&'static str>, &'static str>);

impl Engine for Found {
    fn name(&self) -> &'static str {
        "found"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async { Ok(self.models().await?[0].id.as_str().into()) })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        let model = |id: &&str| ModelListing { id: (*id).to_owned(), ..ModelListing::default() };
        let models = self.0.clone().map(|models| models.iter().map(model).collect());
        let failed = |text: &str| EngineError {
            kind: EngineErrorKind::Network,
            status: None,
            retry_after: None,
            text: text.to_owned(),
        };
        Box::pin(async move { models.map_err(failed) })
    }

    fn found_place(&self) -> Option<String> {
        Some("a server".to_owned())
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        Offline.answer(call)
    }
}

fn if_found() -> DefaultEngine {
    DefaultEngine::IfFound {
        name: "found",
        otherwise: "offline",
        because: "there is no key".to_owned(),
        advice: "set one".to_owned(),
    }
}

fn registry(found: Result<Vec<&'static str>, &'static str>) -> EngineRegistry {
    EngineRegistry::new(if_found())
        .with_engine(Arc::new(Found(found)))
        .with_engine(Arc::new(Offline))
        .with_maker("broken", Arc::new(|| Err("it has no key".to_owned())))
}

fn chosen(engine: &str, model: Option<&str>) -> EngineSelection {
    EngineSelection { engine: engine.to_owned(), model: model.map(str::to_owned) }
}

async fn selected(registry: &EngineRegistry, chosen: Option<&EngineSelection>) -> String {
    match registry.select(chosen).await {
        Ok(SelectedEngine { engine, model, because }) => {
            format!("{} {model} {because}", engine.name())
        }
        Err(failure) => format!("{}: {}", failure.kind, failure.text),
    }
}

#[tokio::test]
async fn where_nothing_is_chosen_what_is_found_answers() {
    let found = registry(Ok(vec!["m", "n"]));
    let because = "because a server was found and there is no key";
    assert_eq!(selected(&found, None).await, format!("found m {because}"));
    let because = "because there is no key: set one";
    for nothing in [registry(Err("nobody is there")), registry(Ok(vec![]))] {
        assert_eq!(selected(&nothing, None).await, format!("offline offline {because}"));
    }
}

#[tokio::test]
async fn a_conversation_has_the_engine_and_the_model_that_were_chosen_for_it() {
    let registry = registry(Ok(vec!["m", "n"]));
    let because = "because it was chosen for this conversation";
    let with = |engine, model| chosen(engine, model);
    let told = selected(&registry, Some(&with("found", Some("x")))).await;
    assert_eq!(told, format!("found x {because}"));
    let told = selected(&registry, Some(&with("found", None))).await;
    assert_eq!(told, format!("found m {because}"));
    let told = selected(&registry, Some(&with("broken", None))).await;
    assert_eq!(told, "engine: the engine broken cannot be used: it has no key");
    let told = selected(&registry, Some(&with("none", None))).await;
    let names = "found, offline, broken";
    assert_eq!(told, format!("not_found: there is no such engine: use one of {names}"));
}

#[tokio::test]
async fn an_engine_is_created_once_and_not_before_it_is_used() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let maker: EngineMaker = Arc::new(move || match count.fetch_add(1, Ordering::SeqCst) {
        0 => Err("not yet".to_owned()),
        _ => Ok(Arc::new(Found(Ok(vec!["m"]))) as Arc<dyn Engine>),
    });
    let fixed = DefaultEngine::Fixed { name: "offline", because: String::new() };
    let registry =
        EngineRegistry::new(fixed).with_engine(Arc::new(Offline)).with_maker("found", maker);
    registry.select(None).await.map(drop).unwrap();
    assert_eq!(made.load(Ordering::SeqCst), 0);
    let wanted = chosen("found", None);
    assert!(registry.select(Some(&wanted)).await.is_err(), "a failure is not remembered");
    for _ in 0..2 {
        registry.select(Some(&wanted)).await.map(drop).unwrap();
    }
    assert_eq!(made.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_there_is_and_what_is_missing_is_listed() {
    let registry = registry(Ok(vec!["m"]));
    let listed = registry.list(None).await.unwrap();
    let shown: Vec<String> = listed
        .iter()
        .map(|engine| {
            let models: Vec<_> = engine.models.iter().map(|model| model.id.as_str()).collect();
            let EngineListing { name, is_available, reason, .. } = engine;
            format!("{name} {is_available} {} {models:?}", reason.as_deref().unwrap_or("-"))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "found true a server [\"m\"]",
            "offline true - [\"offline\"]",
            "broken false it has no key []",
        ]
    );
    assert_eq!(registry.list(Some("offline")).await.unwrap().len(), 1);
    assert_eq!(registry.list(Some("none")).await.unwrap_err().kind, "not_found");
}
