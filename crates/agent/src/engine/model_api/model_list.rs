//! The models that a server lists, in the form that all compatible servers share.

use std::sync::Arc;
use std::time::Duration;

use callgate_http::read_body;
use callgate_wire::session::ModelListing;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use super::ApiLink;
use super::client::LazyClient;
use crate::engine::EngineError;

const LONGEST_LIST: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct ServerModels {
    data: Vec<ListedModel>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListedModel {
    pub(crate) id: String,
    display_name: Option<String>,
    /// The context window, as different servers name it.
    max_model_len: Option<u64>,
    context_length: Option<u64>,
    max_input_tokens: Option<u64>,
    meta: Option<Value>,
}

impl ListedModel {
    /// Returns the context window in tokens, if the server reports it.
    pub(crate) fn context_window(&self) -> Option<u64> {
        let trained = || self.meta.as_ref()?.get("n_ctx_train")?.as_u64();
        self.max_model_len.or(self.context_length).or(self.max_input_tokens).or_else(trained)
    }
}

impl From<ListedModel> for ModelListing {
    fn from(model: ListedModel) -> Self {
        let context_window = model.context_window();
        Self { id: model.id, title: model.display_name, context_window }
    }
}

pub(crate) async fn list_models(
    link: &Arc<ApiLink>,
    address: Url,
    headers: HeaderMap,
    within: Duration,
) -> Result<Vec<ListedModel>, EngineError> {
    let asked = async {
        let request = LazyClient::ready(link).await?.get(address).headers(headers);
        let mut response = request.send().await.map_err(|error| link.errors.network(error))?;
        let mut body = Vec::new();
        // A list that is too long or cut off is not JSON.
        read_body(&mut response, &mut body, LONGEST_LIST).await.ok();
        if !response.status().is_success() {
            return Err(link.errors.status(response.status(), response.headers(), &body));
        }
        let listed: ServerModels =
            serde_json::from_slice(&body).map_err(|error| link.errors.invalid_data(error))?;
        Ok(listed.data)
    };
    timeout(within, asked).await.unwrap_or_else(|_| Err(link.errors.stalled(within)))
}
