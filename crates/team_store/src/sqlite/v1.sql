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
    answer_id   TEXT,
    answered_by TEXT,
    decision    TEXT,
    answer      TEXT,
    -- The number of the last change, of questions and documents together.
    changed     INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX questions_open ON questions (deadline_ms) WHERE state = 'open';
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
