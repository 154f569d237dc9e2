-- Version 3: partitions come and go beside those who read the log for long, such as a backup. Whoever
-- waits for a lock that they prevent holds up everybody who writes.

-- Makes the partitions of today and the next week that are missing. A table that is attached needs no
-- lock that a reader has.
CREATE OR REPLACE FUNCTION callgate_team.make_partitions() RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    today bigint := callgate_team.now_ms() / 86400000;
    part record;
BEGIN
    FOR part IN
        SELECT day, 'audit_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD')
            AS name FROM generate_series(today, today + 7) AS day
    LOOP
        CONTINUE WHEN to_regclass('callgate_team.' || part.name) IS NOT NULL;
        PERFORM pg_advisory_xact_lock(7021, 3);
        -- Another desk may have made it meanwhile.
        CONTINUE WHEN to_regclass('callgate_team.' || part.name) IS NOT NULL;
        EXECUTE format('CREATE TABLE callgate_team.%I (LIKE callgate_team.audit)', part.name);
        EXECUTE format('ALTER TABLE callgate_team.audit ATTACH PARTITION callgate_team.%I
            FOR VALUES FROM (%s) TO (%s)', part.name, part.day * 86400000,
            (part.day + 1) * 86400000);
    END LOOP;
END $$;

-- Returns the number of the first day that is kept.
CREATE FUNCTION callgate_team.kept_from() RETURNS bigint LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT callgate_team.now_ms() / 86400000 - days FROM callgate_team.retention $$;

-- Removes the oldest partition if its days are over. Each chain begins after what was removed of it
-- then. Returns false if there is none, or if somebody uses the log: everybody else would wait for
-- them, so it waits no longer than a moment.
CREATE FUNCTION callgate_team.drop_oldest_partition() RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    part text;
BEGIN
    PERFORM pg_advisory_xact_lock(7021, 3);
    SELECT min(relname) INTO part FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid
        WHERE inhparent = 'callgate_team.audit'::regclass
        AND relname < 'audit_' || to_char(
            to_timestamp(callgate_team.kept_from() * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD');
    IF part IS NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('UPDATE callgate_team.chains SET start_seq = gone.seq, start_hash = gone.hash
        FROM (SELECT each.key, last.seq, last.hash FROM callgate_team.chains each
            CROSS JOIN LATERAL (SELECT seq, hash FROM callgate_team.%I
                WHERE chain = each.key ORDER BY seq DESC LIMIT 1) last) gone
        WHERE chains.key = gone.key AND chains.start_seq < gone.seq', part);
    EXECUTE format('DROP TABLE callgate_team.%I', part);
    RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    RETURN false;
END $$;

-- Removes closed questions whose days are over, as many as take a moment. Returns false if there are
-- no more. The newest change stays, so that its number is not used again.
CREATE FUNCTION callgate_team.remove_old_questions() RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM callgate_team.questions WHERE id IN (
        SELECT id FROM callgate_team.questions WHERE state <> 'open'
        AND closed_ms < callgate_team.kept_from() * 86400000
        AND changed < callgate_team.last_change() LIMIT 5000);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed = 5000;
END $$;

-- What a desk of the version before calls.
CREATE OR REPLACE FUNCTION callgate_team.drop_partitions() RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM callgate_team.remove_old_questions();
    PERFORM callgate_team.drop_oldest_partition();
END $$;

SELECT callgate_team.make_partitions();
