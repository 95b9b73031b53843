//! The only crate that dials out: limits, address guard, cache.
