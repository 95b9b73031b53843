//! A mobile document, as its holder sees it.

use std::sync::Arc;

use selfsame_crypto::{Jwk, jws};
use selfsame_mdoc::held::IssuerSigned;
use serde_json::Value;

use super::present;
use super::read::{self, NotMdoc, ReadMdoc};
use super::verify::ReceivedMdoc;
use crate::format::view::{CredentialView, HeldError, ReadCredential, Subject};
use crate::path::ClaimPath;

pub(super) fn hold(raw: &str) -> Result<ReadCredential, HeldError> {
    let held = HeldMdoc::read(raw).map_err(|_| HeldError::Mdoc)?;
    Ok(ReadCredential {
        validity: held.read.validity,
        statuses: held.read.statuses(),
        credential: Arc::new(held),
    })
}

#[derive(Debug)]
struct HeldMdoc {
    bytes: Arc<[u8]>,
    read: Arc<ReadMdoc>,
}

impl HeldMdoc {
    fn read(raw: &str) -> Result<Self, NotMdoc> {
        let bytes = read::bytes_of(raw)?;
        let read = ReadMdoc::new(&IssuerSigned::parse(&bytes)?)?;
        Ok(Self {
            bytes: bytes.into(),
            read: Arc::new(read),
        })
    }
}

impl CredentialView for HeldMdoc {
    fn weight(&self) -> usize {
        self.read.weight().saturating_add(self.bytes.len())
    }

    fn claims(&self) -> &Value {
        &self.read.claims
    }

    fn disclosing(&self, reveal: &[ClaimPath]) -> Option<String> {
        let document = IssuerSigned::parse(&self.bytes).ok()?;
        let disclosed = document.disclose(&present::elements(reveal)?).ok()?;
        Some(read::text_of(&disclosed))
    }

    fn header(&self) -> &jws::Header {
        &self.read.header
    }

    fn issuer(&self) -> Option<&str> {
        None
    }

    fn types(&self) -> Vec<&str> {
        vec![&self.read.doc_type]
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        Some(self.read.device_key.to_jwk())
    }

    fn subject_id(&self) -> Option<&str> {
        None
    }

    fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(ReceivedMdoc::issued(self.bytes.clone(), self.read.clone()))
    }
}
