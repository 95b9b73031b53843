//! A W3C credential, as its holder sees it.

use std::sync::Arc;

use selfsame_crypto::{Jwk, jws};
use serde_json::{Map, Value};

use super::verify;
use crate::{
    format::view::{CredentialView, HeldError, ReadCredential, Subject},
    w3c::{Model, VcJwt},
};

pub(crate) fn hold(raw: &str, model: Model) -> Result<ReadCredential, HeldError> {
    let credential = VcJwt::parse(raw, model)?;
    Ok(ReadCredential {
        validity: credential.validity().map_err(|_| HeldError::Time)?,
        statuses: credential.statuses(),
        credential: Arc::new(HeldW3c(Arc::new(credential))),
    })
}

#[derive(Debug)]
struct HeldW3c(Arc<VcJwt>);

impl CredentialView for HeldW3c {
    fn weight(&self) -> usize {
        self.0.weight()
    }

    fn claims(&self) -> &Value {
        self.0.credential()
    }

    fn beside(&self) -> Option<&Map<String, Value>> {
        Some(self.0.beside())
    }

    fn header(&self) -> &jws::Header {
        &self.0.jwt().header
    }

    fn issuer(&self) -> Option<&str> {
        self.0.issuer()
    }

    fn types(&self) -> Vec<&str> {
        self.0.types()
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        self.0.confirmed_key()?.ok()
    }

    fn subject_id(&self) -> Option<&str> {
        self.0.subject()
    }

    fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(verify::BareCredential(self.0.clone()))
    }
}

/// Whether a text is a JWT with a credential in the claim `vc`.
pub(in crate::format) fn has_vc(raw: &str) -> bool {
    let jws = jws::Compact::parse(raw).ok();
    let claims = jws.and_then(|jws| jws.claims().ok());
    claims.is_some_and(|claims| claims.get("vc").is_some())
}
