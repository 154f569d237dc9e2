//! What leaves the runtime.
