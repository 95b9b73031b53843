//! The verification of presentations.

use selfsame_driver::{Error, Result};

use crate::wallet::AnonCreds;

/// What a verification found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProofVerdict {
    /// Whether the presentation is valid.
    pub is_valid: bool,
    /// What was found, as `verified_msgs` of ACA-Py's admin API: a code for each finding, such as
    /// `RMV_RFNT_NRI::attr1`.
    pub messages: Vec<String>,
}

impl AnonCreds {
    /// Verifies a presentation against its request. The objects that it names are read from the registry.
    ///
    /// # Errors
    /// The registry's, if it can't be asked. A presentation that is not valid is no error.
    pub async fn verify(&self, _request: &[u8], _presentation: &[u8]) -> Result<ProofVerdict> {
        Err(Error::internal("not yet"))
    }
}
