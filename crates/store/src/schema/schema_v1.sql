-- A file of version 1 as callgate leaves it: one entry was pruned, a question was asked and closed.
-- It is kept as it is; what opens it has to cope with it for good.
PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;
PRAGMA application_id = 0x43476c67;

CREATE TABLE entries (
    seq      INTEGER PRIMARY KEY CHECK (seq > 0),
    at_ms    INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    question TEXT,
    body     TEXT NOT NULL,
    hash     BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX entries_of_question ON entries (question, seq) WHERE question IS NOT NULL;
CREATE INDEX entries_asked ON entries (at_ms) WHERE kind = 'asked';
CREATE INDEX entries_closed ON entries (seq) WHERE kind = 'closed';
CREATE INDEX entries_anchor ON entries (seq) WHERE kind = 'anchor';

-- The last entry ever written: entries cut off at the end leave this behind.
CREATE TABLE head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    key  BLOB NOT NULL CHECK (length(key) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE kept (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO entries VALUES (2, 1793000001000, 'asked', '550e8400-e29b-41d4-a716-446655440000', '{"tool":"Bash","cwd":"/home/ada/engine"}', x'ffabc46ca144d348ab1cdd5d253c54fd5a67206758079372d5d2bd6bc05b459a');
INSERT INTO entries VALUES (3, 1793000009000, 'closed', '550e8400-e29b-41d4-a716-446655440000', '{"how":"delivered"}', x'633d28d5891ea6cbbbcda8cff4b75a9f14defc3b5728c711fd2d8609028078d6');
INSERT INTO entries VALUES (4, 1793000020000, 'anchor', NULL, '{"through":1,"hash":"a500ce727d422553d2bc1ac87b763da659826f49980d6ef3253b774e49306971","count":1,"from_ms":1793000000000,"to_ms":1793000000000}', x'11e32b216e6ed645d01653cdcf51e194ba1d3268e62aa6431901e57d71817054');
INSERT INTO head VALUES (1, 4, x'11e32b216e6ed645d01653cdcf51e194ba1d3268e62aa6431901e57d71817054');
INSERT INTO secrets VALUES ('digest', x'0707070707070707070707070707070707070707070707070707070707070707');
INSERT INTO kept VALUES ('paired', 'ada');
