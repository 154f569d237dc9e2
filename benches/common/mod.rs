//! What the benchmarks share.

pub(crate) mod child;
pub(crate) mod kernel;
pub(crate) mod part;
pub(crate) mod peers;
pub(crate) mod series;
pub(crate) mod table;
pub(crate) mod watchdog;
