-- Version 1: questions and documents.
CREATE TABLE callgate_team.questions (
    id          text COLLATE "C" PRIMARY KEY,
    machine     text COLLATE "C" NOT NULL,
    project     text COLLATE "C" NOT NULL,
    agent       text COLLATE "C" NOT NULL,
    act         text NOT NULL,
    asked_ms    bigint NOT NULL,
    deadline_ms bigint NOT NULL,
    state       text NOT NULL DEFAULT 'open',
    closed_ms   bigint,
    closed_text text,
    last_words  text,
    -- The first of two allows.
    first_allow text,
    answer_id   text,
    answered_by text,
    decision    text,
    answer      text,
    -- What became of the answer.
    outcome     text,
    -- The number of the last change, of questions and documents together.
    changed     bigint NOT NULL UNIQUE
);
CREATE INDEX questions_pending ON callgate_team.questions (deadline_ms)
    WHERE state = 'open' OR (state = 'answered' AND outcome IS NULL);
CREATE INDEX questions_closed ON callgate_team.questions (closed_ms) WHERE state <> 'open';

CREATE TABLE callgate_team.documents (
    kind      text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    body      text,
    edit_id   text NOT NULL,
    edited_by text NOT NULL,
    edited_ms bigint NOT NULL,
    changed   bigint NOT NULL UNIQUE,
    PRIMARY KEY (kind, name)
);

-- The one clock of all desks.
CREATE FUNCTION callgate_team.now_ms() RETURNS bigint LANGUAGE sql STABLE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- The number of the last change. Whoever writes the next one holds the writers' lock.
CREATE FUNCTION callgate_team.last_change() RETURNS bigint LANGUAGE sql STABLE
    AS $$ SELECT greatest((SELECT max(changed) FROM callgate_team.questions),
        (SELECT max(changed) FROM callgate_team.documents), 0) $$;
