//! A W3C credential with Data Integrity proofs, as its holder sees it.

use std::sync::Arc;

use selfsame_crypto::{Jwk, jws};
use serde_json::{Map, Value};

use super::read::ReadLdp;
use super::verify::BareLdp;
use crate::budget::Budget;
use crate::format::view::{CredentialView, HeldError, ReadCredential, Subject};

pub(super) fn hold(raw: &str) -> Result<ReadCredential, HeldError> {
    let read = ReadLdp::parse(raw, &mut Budget::of(raw)).map_err(|_| HeldError::DataIntegrity)?;
    Ok(ReadCredential {
        validity: read.validity().map_err(|_| HeldError::Time)?,
        statuses: read.statuses(),
        credential: Arc::new(HeldLdp(Arc::new(read))),
    })
}

#[derive(Debug)]
struct HeldLdp(Arc<ReadLdp>);

impl CredentialView for HeldLdp {
    fn weight(&self) -> usize {
        self.0.weight()
    }

    fn claims(&self) -> &Value {
        &self.0.credential
    }

    fn beside(&self) -> Option<&Map<String, Value>> {
        Some(&self.0.beside)
    }

    fn header(&self) -> &jws::Header {
        &self.0.own.header
    }

    fn issuer(&self) -> Option<&str> {
        self.0.issuer()
    }

    fn types(&self) -> Vec<&str> {
        self.0.types()
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        None
    }

    fn subject_id(&self) -> Option<&str> {
        self.0.subject()
    }

    fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(BareLdp(self.0.clone()))
    }
}
