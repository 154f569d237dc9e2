//! Other machines whose questions are answered here: the session with each, and the copies of their
//! ledgers.

pub(crate) mod audit_labels;
pub(crate) mod ledger_copies;
pub(crate) mod ledgers;
pub(crate) mod session;
