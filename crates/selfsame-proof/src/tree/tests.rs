//! The tree.
