-- Prepares a PostgreSQL server (13 or later) for the desks of an organisation. Run it once, as an
-- administrator, in psql, with passwords of your own:
--
--     psql -v owner_password=… -v desk_password=… -f database.sql
--
-- The owner makes and updates the tables. The desks log in as `callgate_login`, which has the rights of
-- `callgate_desk` and nothing else: it cannot change or remove audit entries.
\set ON_ERROR_STOP on
CREATE ROLE callgate_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE callgate_desk NOLOGIN;
CREATE ROLE callgate_login LOGIN PASSWORD :'desk_password' IN ROLE callgate_desk;
CREATE DATABASE callgate OWNER callgate_owner ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE callgate FROM PUBLIC;
GRANT CONNECT ON DATABASE callgate TO callgate_desk;
