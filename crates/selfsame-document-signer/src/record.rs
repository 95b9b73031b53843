//! An authority and its signer as they are stored.

use serde::{Deserialize, Serialize};

use crate::made::MadeCertificate;

/// The kind and the id of the record.
pub const KIND: &str = "document_signer";
pub const KEPT: &str = "own";

/// An authority and its signer.
#[derive(Clone, Deserialize, Serialize)]
pub struct KeptSigner {
    /// The country that both certificates state.
    pub country: String,
    pub authority: MadeCertificate,
    pub signer: MadeCertificate,
}
