//! Loads and studies, driven through public interfaces only.
