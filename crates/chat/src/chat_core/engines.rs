//! Engines and models: listing them, and choosing one for the conversation.

use callgate_wire::session::{EngineListing, ModelList, SessionCommand};

use super::{ChatCore, Errand};

impl ChatCore {
    /// Lists the models, or chooses one. A model that only another engine has chooses that engine.
    pub(super) fn model_command(&mut self, name: &str) {
        if name.is_empty() {
            return self.list_models();
        }
        let has = |engine: &&EngineListing| engine.models.iter().any(|model| model.id == name);
        let current = self.status.engine.clone();
        let listed = self.engines.iter().filter(has).map(|engine| engine.name.clone());
        let engines: Vec<String> = listed.collect();
        let engine = match (&current, engines.first()) {
            // Several engines may have a model of this name, and the current one keeps the
            // conversation.
            (Some(current), Some(_)) if engines.contains(current) => Some(current.clone()),
            (_, Some(only)) => Some(only.clone()),
            // The list may be old, or was never asked for: the engine knows whether it has the
            // model.
            (current, None) => current.clone(),
        };
        match engine {
            Some(engine) => self.set_engine(engine, Some(name.to_owned())),
            None => self.show_note("The engine is not known yet."),
        }
    }

    /// Lists the engines, or chooses one, with a model or without.
    pub(super) fn engine_command(&mut self, rest: &str) {
        let mut words = rest.split_whitespace();
        match words.next() {
            None => self.list_models(),
            Some(engine) => self.set_engine(engine.to_owned(), words.next().map(str::to_owned)),
        }
    }

    fn list_models(&mut self) {
        let command = SessionCommand::ListModels { engine: None };
        self.send_errand(Errand::Models, command);
    }

    fn set_engine(&mut self, engine: String, model: Option<String>) {
        let conversation_id = self.conversation.clone();
        let command = SessionCommand::SetEngine { conversation_id, engine, model, metadata: None };
        self.send_errand(Errand::SetEngine, command);
    }

    /// Shows the engines and models that there are.
    pub(super) fn models_came(&mut self, list: ModelList) {
        let model = list.model.map(|model| format!(" with {model}")).unwrap_or_default();
        let first = format!(
            "This conversation uses {}{model}. /engine NAME and /model NAME choose others.",
            list.engine
        );
        let mut lines = vec![first];
        for engine in &list.engines {
            lines.push(format!("{}{}", engine.name, describe_availability(engine)));
            for model in &engine.models {
                let title = model.title.as_ref().map(|title| format!(" ({title})"));
                lines.push(format!("  {}{}", model.id, title.unwrap_or_default()));
            }
        }
        self.engines = list.engines;
        self.show_note(&lines.join("\n"));
    }
}

fn describe_availability(engine: &EngineListing) -> String {
    let reason = engine.reason.as_deref().unwrap_or_default();
    match (engine.is_available, reason) {
        (true, "") => String::new(),
        (true, reason) => format!(": {reason}"),
        (false, "") => ": not available".to_owned(),
        (false, reason) => format!(": not available, {reason}"),
    }
}
