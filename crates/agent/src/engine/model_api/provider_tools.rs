//! Tools in the form that a provider accepts.
//!
//! A provider refuses a whole request because of one tool whose name, or the name of one of whose
//! properties, has other characters than `[a-zA-Z0-9_-]` or more than 64. So such names are
//! replaced in what is sent, and put back in what the model answers. A replacement depends on
//! nothing but the name, so it is the same in every request of a conversation, also after a
//! restart. A tool that is refused for another reason is left out from then on.

mod key_rewriter;
mod plain_name;
mod schema_keys;
mod tool_forms;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_store::Sha256Hash;

use crate::BoxFuture;
use crate::engine::{
    AnswerPiece, AnswerStream, EngineCall, EngineError, EngineErrorKind, NextPieces,
};
use crate::tool::ToolSpec;
use tool_forms::ToolForms;

/// How many tools are left out of one request at most. A provider names one at a time.
const MOST_REJECTED: usize = 8;

pub(crate) trait AskedProvider: Send + Sync {
    fn ask(self: Arc<Self>, call: EngineCall) -> Box<dyn AnswerStream>;

    /// Returns true if the provider wants requests for this model in another form from now on,
    /// which it has not said before.
    fn learns_from(&self, _model: &Arc<str>, _error: &EngineError) -> bool {
        false
    }
}

#[derive(Debug, Default)]
pub(crate) struct ProviderTools {
    state: Mutex<ProviderState>,
}

#[derive(Debug, Default)]
struct ProviderState {
    /// The last tools, and the form in which they are sent.
    known: Option<(Arc<[ToolSpec]>, Arc<ToolForms>)>,
    rejected: HashSet<Sha256Hash>,
    /// Whether the provider refuses odd names of tools in earlier calls too.
    is_strict: bool,
}

impl ProviderTools {
    /// Returns the answer to a call, which is asked for in the form that the provider accepts.
    pub(crate) fn answer(
        self: &Arc<Self>,
        call: EngineCall,
        provider: Arc<dyn AskedProvider>,
    ) -> Box<dyn AnswerStream> {
        let forms = self.forms(&call.tools);
        let is_strict = lock(&self.state).is_strict;
        // The call itself is kept, so that it can be asked again in another form.
        let inner = Arc::clone(&provider).ask(forms.sent_call(call.clone(), is_strict));
        let (tools, has_begun, rejected) = (Arc::clone(self), false, 0);
        Box::new(AdaptedAnswer { tools, provider, call, forms, inner, has_begun, rejected })
    }

    fn forms(&self, tools: &Arc<[ToolSpec]>) -> Arc<ToolForms> {
        let ProviderState { known, rejected, .. } = &mut *lock(&self.state);
        if let Some((of, forms)) = known
            && Arc::ptr_eq(of, tools)
        {
            return Arc::clone(forms);
        }
        let is_sent = |tool: &&ToolSpec| !rejected.contains(&tool_digest(tool));
        let forms = Arc::new(ToolForms::new(tools, is_sent));
        *known = Some((Arc::clone(tools), Arc::clone(&forms)));
        forms
    }

    fn reject(&self, tool: &ToolSpec) {
        let mut state = lock(&self.state);
        state.rejected.insert(tool_digest(tool));
        // The kept form still has the tool.
        state.known = None;
    }
}

/// Returns what identifies a tool. If its description changes, it is tried again.
fn tool_digest(tool: &ToolSpec) -> Sha256Hash {
    let ToolSpec { name, description, input_schema, .. } = tool;
    Sha256Hash::hash_bytes(format!("{name}\n{description}\n{input_schema}").as_bytes())
}

/// An answer in which the names are put back.
struct AdaptedAnswer {
    tools: Arc<ProviderTools>,
    provider: Arc<dyn AskedProvider>,
    call: EngineCall,
    forms: Arc<ToolForms>,
    inner: Box<dyn AnswerStream>,
    has_begun: bool,
    rejected: usize,
}

impl AdaptedAnswer {
    /// Asks again in another form, if the provider has refused the request because of a tool or has
    /// said which form it wants.
    fn ask_again(&mut self, error: &EngineError, into: &mut Vec<AnswerPiece>) -> bool {
        let is_refusal = error.kind == EngineErrorKind::Refused
            && matches!(error.status, Some(400 | 422))
            // What was handed on cannot be taken back.
            && !self.has_begun;
        if !is_refusal {
            return false;
        }
        if self.provider.learns_from(&self.call.model, error) {
            // The same request is written in another way.
        } else if self.rejected >= MOST_REJECTED {
            return false;
        } else if let Some(tool) = self.forms.named_in(&error.text, &self.call.tools) {
            self.rejected += 1;
            self.tools.reject(tool);
            let (tool, reason) = (tool.name.to_string(), error.text.clone());
            into.push(AnswerPiece::ToolRejected { tool, reason });
            self.forms = self.tools.forms(&self.call.tools);
        } else if !self.be_strict() {
            return false;
        }
        let is_strict = lock(&self.tools.state).is_strict;
        let call = self.forms.sent_call(self.call.clone(), is_strict);
        self.inner = Arc::clone(&self.provider).ask(call);
        true
    }

    /// Replaces odd names in earlier calls from now on. Returns false if there are none, or they
    /// were replaced already.
    fn be_strict(&self) -> bool {
        let mut state = lock(&self.tools.state);
        let is_new = !state.is_strict && self.forms.has_odd_calls(&self.call.messages);
        state.is_strict |= is_new;
        is_new
    }
}

impl AnswerStream for AdaptedAnswer {
    fn next<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> NextPieces<'a> {
        Box::pin(async move {
            let before = into.len();
            let next = self.inner.next(into).await;
            if let Err(error) = &next
                && self.ask_again(error, into)
            {
                // `has_begun` stays false: a rejected tool is no part of an answer, and more tools
                // may be rejected before it begins.
                return Ok(true);
            }
            self.has_begun |= into.len() > before;
            self.forms.put_back(into, before);
            next
        })
    }

    fn interrupt<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> BoxFuture<'a, ()> {
        self.inner.interrupt(into)
    }
}
