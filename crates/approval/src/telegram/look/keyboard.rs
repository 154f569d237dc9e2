//! The buttons under a question.

use callgate_mask::text::{self, Measure};
use callgate_wire::approval::{Action, Callback, RequestId};
use callgate_wire::desk::CardOffer;
use serde_json::{Value, json};

use super::LookCut;
use crate::card::Card;

/// The longest label that a phone shows in full, in UTF-16 units.
const LABEL: usize = 48;
/// The most answers shown as buttons: Telegram accepts a hundred buttons.
const MOST_PICKS: usize = 90;

pub(super) fn build_buttons(card: &Card, picks: &[Vec<u8>], cut: LookCut) -> Value {
    let id = &card.id;
    let (is_cut, is_whole) = (cut != LookCut::Nothing, cut != LookCut::Body);
    let mut rows = Vec::new();
    if card.blocked.is_some() {
        let mut row = vec![build_button(id, Action::Deny, "❌ No")];
        if is_whole {
            row.insert(0, build_button(id, Action::Allow, "✅ Yes, try again"));
        }
        let mut rows = vec![row];
        if is_cut {
            rows.push(vec![build_button(id, Action::More, "📄 Show in full")]);
        }
        return json!({ "inline_keyboard": rows });
    }
    let deny = build_button(id, Action::Deny, "❌ Deny");
    let answers: usize = card.pickers.iter().map(|picker| picker.choices.len()).sum();
    if card.pickers.is_empty() && is_whole {
        rows.push(vec![build_button(id, Action::Allow, "✅ Allow"), deny]);
    } else if card.pickers.is_empty() {
        // Nobody can allow what they have not seen in full.
        let full = build_button(id, Action::More, "📄 Show in full, to allow it");
        rows.extend([vec![full], vec![deny]]);
    } else {
        // Either all answers or none: a choice among some of them would mislead.
        if answers <= MOST_PICKS {
            rows.extend(picks_of(card, picks));
        }
        rows.push(vec![deny]);
    }
    let reply = if card.takes_words { "✍️ Reply with your answer" } else { "✍️ Reply" };
    let reply = (!card.refuses_words()).then(|| build_button(id, Action::Reply, reply));
    let stop = card.can_stop.then(|| build_button(id, Action::Stop, "⏹ Deny and stop"));
    let words: Vec<Value> = stop.into_iter().chain(reply).collect();
    if !words.is_empty() {
        rows.push(words);
    }
    // Like an allow, an "always" needs that all of it was seen.
    if card.pickers.is_empty() && is_whole {
        rows.extend(always_rows(id, &card.offers));
    }
    if is_cut && (is_whole || !card.pickers.is_empty()) {
        rows.push(vec![build_button(id, Action::More, "📄 Show in full")]);
    }
    json!({ "inline_keyboard": rows })
}

/// Returns true if the buttons cannot say everything that the offers mean.
pub(super) fn need_words(offers: &[CardOffer]) -> bool {
    match offers {
        [] => false,
        [offer] => text::measured_length(&single_offer_label(offer), Measure::Utf16) > LABEL,
        _ => true,
    }
}

pub(super) fn is_picked(picks: &[Vec<u8>], question: usize, option: usize) -> bool {
    picks.get(question).is_some_and(|chosen| chosen.iter().any(|at| usize::from(*at) == option))
}

fn always_rows(id: &RequestId, offers: &[CardOffer]) -> Vec<Vec<Value>> {
    let label = |at: usize, offer: &CardOffer| match offers.len() {
        1 => single_offer_label(offer),
        _ => format!("♾ Always {}: {}", at + 1, text::one_line(&offer.meaning)),
    };
    let row = |(at, offer)| {
        let action = Action::Always(u8::try_from(at).ok()?);
        Some(vec![build_button(id, action, &label(at, offer))])
    };
    offers.iter().enumerate().filter_map(row).collect()
}

fn single_offer_label(offer: &CardOffer) -> String {
    format!("♾ Always: {} · {}", text::one_line(&offer.meaning), text::one_line(&offer.lasts))
}

fn picks_of(card: &Card, picks: &[Vec<u8>]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for (at, picker) in card.pickers.iter().enumerate() {
        for (number, choice) in picker.choices.iter().enumerate() {
            let (Ok(question), Ok(option)) = (u8::try_from(at), u8::try_from(number)) else {
                continue;
            };
            let tick = if is_picked(picks, at, number) { "✓ " } else { "" };
            let which =
                if card.pickers.len() > 1 { format!("{}: ", at + 1) } else { String::new() };
            let label = format!("{tick}{which}{}", text::one_line(&choice.label));
            rows.push(vec![build_button(&card.id, Action::Pick { question, option }, &label)]);
        }
    }
    if card.pickers.iter().any(|picker| picker.many) {
        rows.push(vec![build_button(&card.id, Action::Done, "✅ Done")]);
    }
    rows
}

fn build_button(id: &RequestId, action: Action, label: &str) -> Value {
    let data = Callback { request_id: id.clone(), action }.to_data();
    json!({"text": shortened_label(label), "callback_data": data})
}

/// Shortens a label to what a phone shows. Telegram accepts no blank one.
fn shortened_label(label: &str) -> String {
    if label.trim().is_empty() {
        return "?".to_owned();
    }
    if text::measured_length(label, Measure::Utf16) <= LABEL {
        return label.to_owned();
    }
    format!("{}…", text::cut_to_length(label, LABEL - 1, Measure::Utf16).trim_end())
}
