-- Version 2: the audit log.
CREATE TABLE chains (
    key         INTEGER PRIMARY KEY,
    machine     TEXT NOT NULL UNIQUE,
    start_seq   INTEGER NOT NULL,
    start_hash  BLOB NOT NULL,
    head_seq    INTEGER NOT NULL,
    head_hash   BLOB NOT NULL,
    recorded_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE audit (
    chain       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    recorded_ms INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    question    TEXT,
    project     TEXT,
    agent       TEXT,
    who         TEXT,
    decision    TEXT,
    body        TEXT NOT NULL,
    hash        BLOB NOT NULL,
    PRIMARY KEY (chain, seq)
) STRICT;
CREATE INDEX audit_recorded ON audit (recorded_ms);
CREATE INDEX audit_decisions ON audit (project, recorded_ms) WHERE decision IS NOT NULL;
CREATE INDEX audit_questions ON audit (question) WHERE question IS NOT NULL;

-- An entry may go only from the beginning of its chain, after the beginning was moved.
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit entries are never changed');
END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
    WHEN OLD.seq > (SELECT start_seq FROM chains WHERE key = OLD.chain)
BEGIN
    SELECT RAISE(ABORT, 'audit entries are removed from the beginning of a chain alone');
END;
