//! For front ends: starts an agent runtime, keeps it alive and speaks the session protocol with it.
