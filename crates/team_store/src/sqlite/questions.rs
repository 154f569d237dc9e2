//! The changes of questions in SQLite. Each function runs in a transaction in which nobody else
//! writes.

use rusqlite::{Connection, Params, params};

use super::{NEXT, NOW, rows, select};
use crate::document::DocumentKind;
use crate::error::TeamResult;
use crate::limits::LONGEST_DELIVERY;
use crate::question::{
    AnswerReceipt, AskReceipt, DeliveryOutcome, QuestionChange, QuestionNote, StateWord,
    TeamAnswer, TeamAsk, TeamQuestion, allow_text,
};

pub(super) fn ask(connection: &Connection, desk: &str, ask: &TeamAsk) -> TeamResult<AskReceipt> {
    let TeamAsk { id, machine, project, agent, act, .. } = ask;
    if let Some(found) = rows::find_question(connection, id.as_str())? {
        return Ok(found.receipt_for(ask));
    }
    let insert = format!(
        "INSERT INTO questions (id, machine, project, agent, act, asked_ms, deadline_ms,
         changed) VALUES (?1, ?2, ?3, ?4, ?5, {NOW}, {NOW} + ?6, {NEXT})"
    );
    let values = params![id.as_str(), machine, project, agent, act, ask.wait_ms()];
    connection.prepare_cached(&insert)?.execute(values)?;
    let asked = rows::record_question(connection, desk, id.as_str(), QuestionChange::Asked)?;
    Ok(AskReceipt::Recorded(asked))
}

pub(super) fn answer(
    connection: &Connection,
    desk: &str,
    answer: &TeamAnswer,
) -> TeamResult<AnswerReceipt> {
    let TeamAnswer { id, question, by, members, decision, body } = answer;
    let update = format!(
        "UPDATE questions SET state = 'answered', closed_ms = {NOW}, answer_id = ?2,
         answered_by = ?3, decision = ?4, answer = ?5, changed = {NEXT}
         WHERE id = ?1 AND state = 'open' AND deadline_ms > {NOW}"
    );
    let values = params![question.as_str(), id.as_str(), by, decision.name(), body];
    if belong_to_team(connection, members)?
        && let Some(question) =
            change(connection, desk, question.as_str(), QuestionChange::Answered, &update, values)?
    {
        return Ok(AnswerReceipt::Recorded(question));
    }
    let found = rows::find_question(connection, question.as_str())?;
    Ok(found.map_or(AnswerReceipt::Unknown, |question| question.receipt_for_answer(answer)))
}

/// Returns true if all of these are members of the team.
fn belong_to_team<'a>(
    connection: &Connection,
    members: impl IntoIterator<Item = &'a String>,
) -> TeamResult<bool> {
    for name in members {
        let found = rows::find_document(connection, DocumentKind::Member, name)?;
        if found.is_none_or(|document| document.body.is_none()) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn withdraw(
    connection: &Connection,
    desk: &str,
    machine: &str,
    question: &str,
    text: &str,
) -> TeamResult<Option<TeamQuestion>> {
    let update = format!(
        "UPDATE questions SET state = ?3, closed_ms = {NOW}, closed_text = ?4, changed = {NEXT}
         WHERE id = ?1 AND machine = ?2 AND state = 'open'"
    );
    let values = [question, machine, StateWord::Withdrawn.name(), text];
    let changed = change(connection, desk, question, QuestionChange::Withdrawn, &update, values)?;
    if changed.is_some() {
        return Ok(changed);
    }
    let found = rows::find_question(connection, question)?;
    Ok(found.filter(|found| found.machine == machine))
}

pub(super) fn note(
    connection: &Connection,
    desk: &str,
    question: &str,
    note: &QuestionNote,
) -> TeamResult<Option<TeamQuestion>> {
    let kind = note.change();
    let write = |set: &str, when: &str, values: &dyn rusqlite::ToSql, before: Option<String>| {
        let update = format!(
            "UPDATE questions SET {set} = ?2, changed = {NEXT}
             WHERE id = ?1 AND {set} IS ?3 AND {when}"
        );
        change(connection, desk, question, kind, &update, params![question, values, before])
    };
    let changed = match note {
        QuestionNote::LastWords(words) => write("last_words", "state = 'open'", words, None)?,
        QuestionNote::FirstAllow { first, .. } if !belong_to_team(connection, &first.member)? => {
            None
        }
        QuestionNote::FirstAllow { first, replaces } => {
            let (first, before) = (allow_text(first), replaces.as_ref().map(allow_text));
            write("first_allow", "state = 'open' AND ?2 IS NOT ?3", &first, before)?
        }
        QuestionNote::Outcome(outcome) => {
            write("outcome", "state = 'answered'", &outcome.name(), None)?
        }
    };
    if changed.is_some() { Ok(changed) } else { rows::find_question(connection, question) }
}

/// Returns the questions whose time, or the time of whose answer, is over.
pub(super) fn find_due(connection: &Connection) -> TeamResult<Vec<String>> {
    let late = LONGEST_DELIVERY.as_millis();
    let due = format!(
        "SELECT id FROM questions WHERE state = 'open' AND deadline_ms <= {NOW}
         UNION ALL SELECT id FROM questions
         WHERE state = 'answered' AND outcome IS NULL AND deadline_ms <= {NOW} - {late}"
    );
    select(connection, &due, [], |row| row.get(0))
}

/// Closes those of these questions that are open, and gives up the answers to the others.
pub(super) fn expire(
    connection: &Connection,
    desk: &str,
    due: &[String],
) -> TeamResult<Vec<TeamQuestion>> {
    let update = format!(
        "UPDATE questions SET state = 'expired', closed_ms = {NOW}, changed = {NEXT}
         WHERE id = ?1 AND state = 'open'"
    );
    let lost = QuestionNote::Outcome(DeliveryOutcome::Lost);
    let mut expired = Vec::new();
    for id in due {
        let closed = change(connection, desk, id, QuestionChange::Expired, &update, [id])?;
        let given_up = match closed {
            None => note(connection, desk, id, &lost)?,
            closed => closed,
        };
        expired.extend(given_up);
    }
    Ok(expired)
}

/// Does an update of one question, and records the change. Returns `None` if it changed nothing.
fn change(
    connection: &Connection,
    desk: &str,
    question: &str,
    kind: QuestionChange,
    update: &str,
    values: impl Params,
) -> TeamResult<Option<TeamQuestion>> {
    if connection.prepare_cached(update)?.execute(values)? == 0 {
        return Ok(None);
    }
    rows::record_question(connection, desk, question, kind).map(Some)
}
