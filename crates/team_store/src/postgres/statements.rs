//! The statements for questions and documents.

/// The columns of a question and the time by the clock of the server.
macro_rules! read_question {
    () => {
        concat!(question_columns!(), ", now_ms()")
    };
}

/// The version of the roles. Whoever changes them holds the writers' lock.
macro_rules! roles_version {
    () => {
        "coalesce((SELECT version FROM documents WHERE kind = 'policy' AND name = 'roles'), 0)"
    };
}

/// The clock is read once: it goes on within a statement.
pub(super) const ASK: &str = concat!(
    "INSERT INTO questions (id, machine, project, agent, act, asked_ms, deadline_ms, changed)
     SELECT $1, $2, $3, $4, $5, now, now + $6, last_change() + 1 FROM now_ms() AS now
     ON CONFLICT (id) DO NOTHING RETURNING ",
    read_question!()
);

/// Answers a question at most once, if all whose answer it is belong to the team, and the roles are
/// those that let them.
pub(super) const ANSWER: &str = concat!(
    "UPDATE questions SET state = 'answered', closed_ms = now_ms(), answer_id = $2,
     answered_by = $3, decision = $4, answer = $5, changed = last_change() + 1
     WHERE id = $1 AND state = 'open' AND deadline_ms > now_ms() AND NOT EXISTS (
         SELECT FROM unnest($6::text[]) AS member WHERE NOT EXISTS (SELECT FROM documents
         WHERE kind = 'member' AND name = member AND body IS NOT NULL))
     AND (cardinality($6::text[]) = 0 OR $7 = ",
    roles_version!(),
    ") RETURNING ",
    read_question!()
);

/// A machine can withdraw its own questions only.
pub(super) const WITHDRAW: &str = concat!(
    "UPDATE questions SET state = 'withdrawn', closed_ms = now_ms(), closed_text = $3,
     changed = last_change() + 1 WHERE id = $1 AND machine = $2 AND state = 'open' RETURNING ",
    read_question!()
);

pub(super) const NOTE_WORDS: &str = concat!(
    "UPDATE questions SET last_words = $2, changed = last_change() + 1
     WHERE id = $1 AND state = 'open' AND last_words IS NULL RETURNING ",
    read_question!()
);

/// Two desks may note a first allow at the same time: only the one that has seen the allow before
/// counts.
pub(super) const NOTE_FIRST_ALLOW: &str = concat!(
    "UPDATE questions SET first_allow = $2, changed = last_change() + 1
     WHERE id = $1 AND state = 'open' AND first_allow IS NOT DISTINCT FROM $3
     AND $2 IS DISTINCT FROM $3 AND ($4::text IS NULL OR EXISTS (SELECT FROM documents
         WHERE kind = 'member' AND name = $4 AND body IS NOT NULL) AND $5 = ",
    roles_version!(),
    ") RETURNING ",
    read_question!()
);

/// Only the first outcome counts: an answer that was given up as lost stays lost.
pub(super) const NOTE_OUTCOME: &str = concat!(
    "UPDATE questions SET outcome = $2, changed = last_change() + 1
     WHERE id = $1 AND state = 'answered' AND outcome IS NULL RETURNING ",
    read_question!()
);

/// The conditions of [`DUE_QUESTIONS`] are repeated, because somebody may have answered since.
pub(super) const EXPIRE: &str = concat!(
    "UPDATE questions SET state = 'expired', closed_ms = now_ms(), changed = last_change() + 1
     WHERE id = $1 AND state = 'open' AND deadline_ms <= now_ms() RETURNING ",
    read_question!()
);

pub(super) const FIND_QUESTION: &str =
    concat!("SELECT ", read_question!(), " FROM questions WHERE id = $1");

/// The limit is [`MOST_PENDING`](crate::MOST_PENDING), here and below.
pub(super) const OPEN_QUESTIONS: &str = concat!(
    "SELECT ",
    read_question!(),
    " FROM questions WHERE state = 'open' ORDER BY changed LIMIT 10000"
);

pub(super) const PENDING_QUESTIONS: &str = concat!(
    "SELECT ",
    read_question!(),
    " FROM questions WHERE (state = 'open' OR (state = 'answered' AND outcome IS NULL))
     AND machine = coalesce($1::text, machine) ORDER BY changed LIMIT 10000"
);

/// The questions whose time, or the time of whose answer, is over; the parameter is the time for
/// the delivery of an answer.
pub(super) const DUE_QUESTIONS: &str = concat!(
    "SELECT ",
    read_question!(),
    " FROM questions WHERE (state = 'open' OR (state = 'answered' AND outcome IS NULL))
     AND deadline_ms <= now_ms() - CASE state WHEN 'open' THEN 0 ELSE $1::bigint END
     AND (deadline_ms, id) > ($2, $3) ORDER BY deadline_ms, id LIMIT 100"
);

/// The limit is [`MOST_ROWS`](crate::MOST_ROWS): `order_changes` relies on it.
pub(super) const CHANGED_QUESTIONS: &str = concat!(
    "SELECT ",
    read_question!(),
    " FROM questions WHERE changed > $1 ORDER BY changed LIMIT 1000"
);

/// A removed document keeps its row, so that its versions go on and no old edit fits again.
pub(super) const EDIT: &str = concat!(
    "INSERT INTO documents (kind, name, version, body, edit_id, edited_by, edited_ms, changed)
     SELECT $1, $2, $3::bigint + 1, $4, $5, $6, now_ms(), last_change() + 1
     WHERE $3::bigint = coalesce(
         (SELECT version FROM documents WHERE kind = $1 AND name = $2), 0)
     ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version, body = excluded.body,
         edit_id = excluded.edit_id, edited_by = excluded.edited_by,
         edited_ms = excluded.edited_ms, changed = excluded.changed
     RETURNING ",
    document_columns!()
);

pub(super) const FIND_DOCUMENT: &str =
    concat!("SELECT ", document_columns!(), " FROM documents WHERE kind = $1 AND name = $2");

pub(super) const LIST_DOCUMENTS: &str = concat!(
    "SELECT ",
    document_columns!(),
    " FROM documents WHERE kind = $1 AND body IS NOT NULL ORDER BY name"
);

/// The limit is that of [`CHANGED_QUESTIONS`].
pub(super) const CHANGED_DOCUMENTS: &str = concat!(
    "SELECT ",
    document_columns!(),
    " FROM documents WHERE changed > $1 ORDER BY changed LIMIT 1000"
);

/// Both return whether there is more.
pub(super) const REMOVE_QUESTIONS: &str = "SELECT remove_old_questions()";
pub(super) const DROP_PARTITION: &str = "SELECT drop_oldest_partition()";

/// The bytes of all tables, those of the audit log, the days for which it is kept, and whether the
/// login and the current role may change entries.
pub(super) const STATUS: &str = "
    WITH parts AS (SELECT relname, pg_total_relation_size(oid) AS bytes FROM pg_class
        WHERE relnamespace = 'callgate_team'::regnamespace AND relkind = 'r'),
    rights AS (SELECT name, bool_or(has_table_privilege(name, 'audit', may)) AS may
        FROM (VALUES (session_user), (current_user)) AS names (name),
            (VALUES ('UPDATE'), ('DELETE'), ('TRUNCATE')) AS kinds (may) GROUP BY name)
    SELECT (SELECT sum(bytes) FROM parts)::bigint,
        (SELECT coalesce(sum(bytes), 0) FROM parts WHERE relname LIKE 'audit\\_%')::bigint,
        (SELECT days FROM retention),
        (SELECT may FROM rights WHERE name = session_user),
        (SELECT may FROM rights WHERE name = current_user),
        (SELECT bytes FROM parts WHERE relname = 'audit_' || to_char(
            to_timestamp(now_ms() / 1000 - 86400) AT TIME ZONE 'UTC', 'YYYYMMDD'))";
