-- Version 1: questions and documents.
PRAGMA application_id = 0x4347746d;

CREATE TABLE questions (
    id          TEXT PRIMARY KEY,
    machine     TEXT NOT NULL,
    project     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    act         TEXT NOT NULL,
    asked_ms    INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    state       TEXT NOT NULL DEFAULT 'open',
    closed_ms   INTEGER,
    closed_text TEXT,
    last_words  TEXT,
    -- The first of two allows.
    first_allow TEXT,
    answer_id   TEXT,
    answered_by TEXT,
    decision    TEXT,
    answer      TEXT,
    -- What became of the answer.
    outcome     TEXT,
    -- The number of the last change, of questions and documents together.
    changed     INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX questions_pending ON questions (deadline_ms)
    WHERE state = 'open' OR (state = 'answered' AND outcome IS NULL);
CREATE INDEX questions_closed ON questions (closed_ms) WHERE state <> 'open';

CREATE TABLE documents (
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    version   INTEGER NOT NULL,
    body      TEXT,
    edit_id   TEXT NOT NULL,
    edited_by TEXT NOT NULL,
    edited_ms INTEGER NOT NULL,
    changed   INTEGER NOT NULL UNIQUE,
    PRIMARY KEY (kind, name)
) STRICT;
