//! What the use cases of an instance take and return.

pub mod instance;
pub mod node;
