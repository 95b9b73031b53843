//! The nonce endpoint's response (OpenID4VCI 1.0 §7.2).

use serde::{Deserialize, Serialize};

/// A fresh challenge for key proofs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NonceResponse {
    /// The nonce.
    pub c_nonce: String,
}
