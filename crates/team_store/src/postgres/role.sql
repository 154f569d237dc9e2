-- The role of desks, which can add audit entries and neither change nor remove them. A login that
-- may not make roles goes on without it, and is told so.
DO $$
BEGIN
    CREATE ROLE callgate_desk NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
    NULL;
END $$;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'callgate_desk') THEN
        GRANT USAGE ON SCHEMA callgate_team TO callgate_desk;
        GRANT SELECT ON ALL TABLES IN SCHEMA callgate_team TO callgate_desk;
        GRANT INSERT, UPDATE ON callgate_team.questions, callgate_team.documents TO callgate_desk;
        GRANT INSERT ON callgate_team.audit, callgate_team.chains TO callgate_desk;
        GRANT UPDATE (head_seq, head_hash, recorded_ms) ON callgate_team.chains TO callgate_desk;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA callgate_team FROM PUBLIC;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA callgate_team TO callgate_desk;
    END IF;
END $$;
DO $$
BEGIN
    IF NOT pg_has_role(session_user, 'callgate_desk', 'MEMBER') THEN
        EXECUTE format('GRANT callgate_desk TO %I', session_user);
    END IF;
EXCEPTION WHEN undefined_object OR insufficient_privilege THEN
    NULL;
END $$;
