//! The last line of the chat: what works, who answers, and what it has cost.

use callgate_wire::session::{
    ConversationEngine, ConversationMode, RuntimeStatus, TokenUsage, TurnEnd, UsageReport,
};

use crate::styled_text::{ChatPage, StyledText, TextStyle};

/// What the status line says besides the state of the answer.
#[derive(Debug, Default)]
pub(crate) struct ChatStatus {
    pub(crate) engine: Option<String>,
    engine_reason: Option<String>,
    model: Option<String>,
    pub(crate) mode: Option<ConversationMode>,
    usage: TokenUsage,
    /// The tokens that the running answer has used so far, and how full the context is.
    pub(crate) report: UsageReport,
    /// What all answers have cost, as far as the prices are known.
    cost: f64,
    is_cost_known: bool,
    /// Whether some answer has an unknown price.
    is_cost_partial: bool,
    /// The row as it was drawn last, and what it was drawn from: most frames have the same.
    drawn: Option<((Vec<String>, ChatPage), String)>,
}

impl ChatStatus {
    /// Updates the line with what the runtime reports about itself.
    pub(crate) fn set_runtime(&mut self, status: &RuntimeStatus) {
        self.engine.clone_from(&status.engine);
        self.engine_reason.clone_from(&status.engine_reason);
        self.model.clone_from(&status.model);
        self.mode = status.mode;
    }

    /// Updates the line with the engine that was chosen for the conversation.
    pub(crate) fn set_engine(&mut self, chosen: ConversationEngine) {
        self.engine = Some(chosen.engine);
        self.model = Some(chosen.model);
        self.engine_reason = None;
    }

    /// Adds the tokens and the cost of an answer.
    pub(crate) fn add_turn(&mut self, end: &TurnEnd) {
        self.usage = self.usage + end.usage;
        // The end of the turn has this cost, too, and the line adds both.
        self.report.cost = None;
        match end.cost {
            Some(cost) => {
                self.cost += cost;
                self.is_cost_known = true;
            }
            // Where no tokens were used no price is missing.
            None => self.is_cost_partial |= end.usage != TokenUsage::default(),
        }
    }

    /// Describes what was used, for `/cost`.
    pub(crate) fn cost_text(&self) -> String {
        let usage = &self.usage;
        let tokens = format!(
            "{} tokens in, {} out; {} read from the provider's cache, {} written to it",
            usage.input, usage.output, usage.cache_read, usage.cache_write
        );
        let cost = match (self.is_cost_known, self.is_cost_partial) {
            (true, false) => format!("${:.4}", self.cost),
            (true, true) => format!("${:.4}, and some answers whose price is not known", self.cost),
            (false, true) => "the price is not known".to_owned(),
            (false, false) => "nothing so far".to_owned(),
        };
        format!("This chat: {tokens}.\nCost: {cost}.")
    }

    /// Says which engine answers, and why, in a sentence without its full stop.
    pub(crate) fn engine_text(&self) -> Option<String> {
        let engine = self.engine.as_ref()?;
        let model = self.model.as_ref().filter(|model| *model != engine);
        let model = model.map(|model| format!(" with {model}")).unwrap_or_default();
        let reason = self.engine_reason.as_ref();
        let reason = reason.map(|reason| format!(", {reason}")).unwrap_or_default();
        Some(format!("The {engine} engine answers{model}{reason}"))
    }

    /// Draws the line. What does not fit is left out, the least important first.
    pub(crate) fn row(&mut self, state: &str, page: &ChatPage) -> String {
        let from = (self.parts(state), *page);
        if let Some((same, row)) = &self.drawn
            && *same == from
        {
            return row.clone();
        }
        let row = fitting_row(from.0.clone(), page);
        self.drawn = Some((from, row.clone()));
        row
    }

    /// Returns the parts of the line, the most important first.
    fn parts(&self, state: &str) -> Vec<String> {
        let mut parts = vec![state.to_owned()];
        // The usual mode is not worth the room.
        let mode = self.mode.filter(|mode| *mode != ConversationMode::Ask);
        parts.extend(mode.map(|mode| mode.name().to_owned()));
        parts.extend(self.model.clone().or_else(|| self.engine.clone()));
        if self.is_cost_known || self.report.cost.is_some() {
            parts.push(format!("${:.4}", self.cost + self.report.cost.unwrap_or_default()));
        }
        parts.extend(self.context());
        parts.extend(self.cached());
        let is_named = self.model.is_some() && self.model != self.engine;
        parts.extend(self.engine.clone().filter(|_| is_named));
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// Describes how much of what the model has read was in the provider's cache.
    fn cached(&self) -> Option<String> {
        let share = self.report.cached_share?.clamp(0.0, 1.0);
        Some(format!("cached {:.0} %", share * 100.0))
    }

    /// Describes how full the model's context is.
    fn context(&self) -> Option<String> {
        let tokens = Some(self.report.context_tokens).filter(|tokens| *tokens > 0)?;
        Some(match self.report.context_window {
            Some(window) if window > 0 => format!("context {} %", tokens * 100 / window),
            _ => format!("context {tokens}"),
        })
    }
}

/// Draws as many parts as fit.
fn fitting_row(mut parts: Vec<String>, page: &ChatPage) -> String {
    let text = |parts: &[String]| StyledText::new(&parts.join(" · "), TextStyle::DIM);
    while parts.len() > 1 && text(&parts).columns() > page.width {
        parts.pop();
    }
    text(&parts).row(page)
}
