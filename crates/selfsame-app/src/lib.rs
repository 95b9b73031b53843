//! Use cases: load, gather, step, commit, effects.
