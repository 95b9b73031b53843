//! The entrance.

use std::sync::Arc;

use selfsame_core::{Correspondent, Shared};

/// The AnonCreds of the tenants of one process. Clones are the same.
#[derive(Clone)]
pub struct AnonCreds {
    pub(crate) shared: Arc<Shared>,
}

impl AnonCreds {
    /// The AnonCreds on these parts of an instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The parts of the instance that these stand on.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The machines that get the registry's answers.
    #[must_use]
    pub fn correspondents(&self) -> Vec<Arc<dyn Correspondent>> {
        Vec::new()
    }
}
