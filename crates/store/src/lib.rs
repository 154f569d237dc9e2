//! callgate's SQLite file and the chained ledger in it.
