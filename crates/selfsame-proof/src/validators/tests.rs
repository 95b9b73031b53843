//! The set of validators.
