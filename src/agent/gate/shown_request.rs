//! What the front end is shown of a question.

use callgate_agent::gate::GateQuestion;
use callgate_approval::card::Card;
use callgate_approval::desk::Ruling;
use callgate_mask::mask_json;
use callgate_store::now_ms;
use callgate_wire::approval::ApprovalRequest;
use callgate_wire::desk::CardContent;
use callgate_wire::session::PermissionRequest;
use serde_json::value::RawValue;

use super::rules::ToolRuling;

/// The longest input of a question that is sent with its card, which repeats the input. With a
/// card, a longer one would have to be left out of its line, because it would not fit.
const LONGEST_CARD: usize = 1024 * 1024;

/// Returns what the front end is shown of a question: masked, as at the desk. The deadline is
/// added when the desk has said it.
pub(super) async fn shown_request(
    question: &GateQuestion,
    request: &ApprovalRequest,
    ask: &ToolRuling,
) -> PermissionRequest {
    let masked = mask_json(request.tool_input.get()).into_shown();
    let mut card = Card::new(request, &masked, now_ms(), 0).shown;
    card.row.because = ask.ruling.because().map(str::to_owned);
    card.no_answer_denies = true;
    if let Ruling::AtDesk { demands, .. } = &ask.ruling {
        card.row.demands = *demands;
    }
    let input = RawValue::from_string(masked).unwrap_or_else(|_| RawValue::NULL.to_owned());
    // Only a front end that is shown the question needs a look at the file.
    let preview = match (&question.mirror, &question.preview) {
        (Some(_), Some(preview)) => preview(&question.input).await,
        _ => None,
    };
    let (diff, change) = preview.map(|preview| (preview.diff, preview.change)).unzip();
    if let CardContent::Write { path, .. } | CardContent::Edit { path, .. } = &card.body
        && let Some(change) = change.flatten()
    {
        card.body = CardContent::Edit { path: path.clone(), changes: vec![change] };
    }
    PermissionRequest {
        question: request.request_id.to_string(),
        tool_id: question.tool_id.clone(),
        tool_name: question.tool.to_string(),
        title: card.row.summary.clone(),
        input,
        reason: card.row.because.clone(),
        can_allow_always: Some(!request.permission_suggestions.is_empty()),
        deadline: None,
        diff,
        card: (card.input.len() <= LONGEST_CARD).then(|| Box::new(card)),
    }
}
