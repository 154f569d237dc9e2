-- Version 2: the audit log, in a partition for each day of the server's clock.
CREATE TABLE callgate_team.chains (
    key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    machine     text COLLATE "C" NOT NULL UNIQUE,
    start_seq   bigint NOT NULL,
    start_hash  bytea NOT NULL,
    head_seq    bigint NOT NULL,
    head_hash   bytea NOT NULL,
    recorded_ms bigint NOT NULL
);

CREATE TABLE callgate_team.audit (
    chain       bigint NOT NULL,
    seq         bigint NOT NULL,
    recorded_ms bigint NOT NULL,
    at_ms       bigint NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    question    text COLLATE "C",
    project     text COLLATE "C",
    agent       text COLLATE "C",
    who         text COLLATE "C",
    decision    text COLLATE "C",
    body        text NOT NULL,
    hash        bytea NOT NULL,
    PRIMARY KEY (chain, seq, recorded_ms)
) PARTITION BY RANGE (recorded_ms);
CREATE INDEX audit_decisions ON callgate_team.audit (project, recorded_ms)
    WHERE decision IS NOT NULL;
CREATE INDEX audit_questions ON callgate_team.audit (question) WHERE question IS NOT NULL;

CREATE TABLE callgate_team.retention (
    id   int PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    days int NOT NULL CHECK (days > 0)
);
INSERT INTO callgate_team.retention (days) VALUES (400);

-- Makes the partitions of today and the next two days. Both functions run with the rights of the
-- owner, and take no argument: a desk cannot remove anything before its days are over.
CREATE FUNCTION callgate_team.make_partitions() RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    today bigint := callgate_team.now_ms() / 86400000;
    day bigint;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock(7021, 3);
    FOREACH day IN ARRAY ARRAY[today, today + 1, today + 2] LOOP
        name := 'audit_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD');
        IF to_regclass('callgate_team.' || name) IS NULL THEN
            EXECUTE format('CREATE TABLE callgate_team.%I PARTITION OF callgate_team.audit
                FOR VALUES FROM (%s) TO (%s)', name, day * 86400000, (day + 1) * 86400000);
        END IF;
    END LOOP;
END $$;

-- Removes the partitions whose days are over. Each chain begins after what was removed of it then.
CREATE FUNCTION callgate_team.drop_partitions() RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept_from bigint := callgate_team.now_ms() / 86400000
        - (SELECT days FROM callgate_team.retention);
    part record;
BEGIN
    PERFORM pg_advisory_xact_lock(7021, 3);
    FOR part IN
        SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid
        WHERE inhparent = 'callgate_team.audit'::regclass
        AND relname < 'audit_' || to_char(to_timestamp(kept_from * 86400) AT TIME ZONE 'UTC',
            'YYYYMMDD')
        ORDER BY relname
    LOOP
        EXECUTE format('UPDATE callgate_team.chains SET start_seq = gone.seq, start_hash = gone.hash
            FROM (SELECT each.key, last.seq, last.hash FROM callgate_team.chains each
                CROSS JOIN LATERAL (SELECT seq, hash FROM callgate_team.%I
                    WHERE chain = each.key ORDER BY seq DESC LIMIT 1) last) gone
            WHERE chains.key = gone.key AND chains.start_seq < gone.seq', part.relname);
        EXECUTE format('DROP TABLE callgate_team.%I', part.relname);
    END LOOP;
    -- The newest change stays, so that its number is not used again.
    DELETE FROM callgate_team.questions WHERE state <> 'open'
        AND closed_ms < kept_from * 86400000 AND changed < callgate_team.last_change();
END $$;

SELECT callgate_team.make_partitions();
