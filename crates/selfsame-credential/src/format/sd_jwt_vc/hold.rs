//! An SD-JWT VC, as its holder sees it.

use std::sync::Arc;

use selfsame_crypto::{Jwk, jws};
use serde_json::Value;

use super::{describe, verify::ReceivedSdJwt};
use crate::{
    format::view::{CredentialView, HeldError, ReadCredential, Subject},
    path::ClaimPath,
    sd_jwt::{Presentation, Processed, SdJwt},
    status::Reference,
    validity::Validity,
};

pub(super) fn hold(raw: &str) -> Result<ReadCredential, HeldError> {
    let sd_jwt = SdJwt::parse(raw)?;
    if sd_jwt.key_binding().is_some() {
        return Err(HeldError::KeyBinding);
    }
    let processed = sd_jwt.process()?;
    let claims = processed.claims.as_object();
    let validity = claims.map(Validity::of_jwt).transpose();
    let statuses = Reference::in_jwt_claims(&processed.claims);
    Ok(ReadCredential {
        validity: validity.map_err(|_| HeldError::Time)?.unwrap_or_default(),
        statuses: statuses.map(|reference| reference.into_iter().collect()),
        credential: Arc::new(HeldSdJwt {
            sd_jwt: Arc::new(sd_jwt),
            processed: Arc::new(processed),
        }),
    })
}

/// The SD-JWT, and its claims with every disclosure applied.
#[derive(Debug)]
struct HeldSdJwt {
    sd_jwt: Arc<SdJwt>,
    processed: Arc<Processed>,
}

impl CredentialView for HeldSdJwt {
    fn weight(&self) -> usize {
        self.sd_jwt.weight()
    }

    fn claims(&self) -> &Value {
        &self.processed.claims
    }

    fn sd_jwt(&self) -> Option<&SdJwt> {
        Some(&self.sd_jwt)
    }

    fn disclosing(&self, reveal: &[ClaimPath]) -> Option<String> {
        self.sd_jwt.present(reveal).ok().map(Presentation::unbound)
    }

    fn header(&self) -> &jws::Header {
        &self.sd_jwt.jwt().header
    }

    fn issuer(&self) -> Option<&str> {
        self.sd_jwt.payload().get("iss").and_then(Value::as_str)
    }

    fn types(&self) -> Vec<&str> {
        describe::types(&self.sd_jwt)
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        let cnf = self.sd_jwt.payload().get("cnf")?;
        Jwk::from_value(cnf.get("jwk")?).ok()
    }

    fn subject_id(&self) -> Option<&str> {
        self.processed.claims.get("sub").and_then(Value::as_str)
    }

    fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(ReceivedSdJwt {
            sd_jwt: self.sd_jwt.clone(),
            processed: Ok(self.processed.clone()),
        })
    }
}
