//! Why the mock identity system did not do something.

use selfsame_driver::Error;
use selfsame_store::StoreError;

/// A fault of the mock identity system.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MockFault {
    /// The request can't be met; this is the code for it.
    Refused(&'static str),
    /// This instance failed.
    Failed(Error),
}

impl MockFault {
    pub(super) const UNKNOWN_PERSON: Self = Self::Refused("invalid_individual_id");
    pub(super) const WRONG: Self = Self::Refused("auth_failed");
    pub(super) const NO_TRANSACTION: Self = Self::Refused("invalid_transaction");
    pub(super) const UNKNOWN_TOKEN: Self = Self::Refused("mock-ida-006");

    /// The code on the wire.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(code) => code,
            Self::Failed(_) => "unknown_error",
        }
    }
}

impl From<Error> for MockFault {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<StoreError> for MockFault {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}
