//! The bound on the work of telling blank nodes apart.

use crate::IntegrityError;

/// About as many bytes are copied or hashed, at most. Datasets of credentials take some thousands; a clique of ten
/// blank nodes would take billions.
const WORK_MAX: usize = 2_000_000;
/// How deep the search follows blank nodes.
const DEPTH_MAX: usize = 64;

pub(crate) struct RdfcBudget {
    work: usize,
    depth: usize,
}

impl RdfcBudget {
    pub fn new() -> Self {
        Self {
            work: WORK_MAX,
            depth: DEPTH_MAX,
        }
    }

    pub fn spend(&mut self, work: usize) -> Result<(), IntegrityError> {
        self.work = self.work.checked_sub(work).ok_or_else(exhausted)?;
        Ok(())
    }

    /// Another dataset begins; what is left of the work is for it.
    pub fn begin(&mut self) {
        self.depth = DEPTH_MAX;
    }

    /// One level deeper; [`RdfcBudget::leave`] comes back.
    pub fn enter(&mut self) -> Result<(), IntegrityError> {
        self.depth = self.depth.checked_sub(1).ok_or_else(exhausted)?;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_add(1);
    }
}

fn exhausted() -> IntegrityError {
    IntegrityError::Transformation("its blank nodes are too hard to tell apart")
}
