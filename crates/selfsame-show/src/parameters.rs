//! The parameters of links.

use std::collections::BTreeMap;

/// The parameters of a link. One that is repeated has its last value.
pub type LinkParameters = BTreeMap<String, String>;
