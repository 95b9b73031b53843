//! A toy, as its holder sees it.

use std::sync::Arc;

use selfsame_crypto::{Jwk, jws};
use serde_json::{Map, Value};

use super::verify::Received;
use crate::{
    budget::Budget,
    format::view::{CredentialView, HeldError, ReadCredential, Subject},
    sd_jwt::SdJwtError,
    validity::Validity,
};

pub(super) fn hold(raw: &str) -> Result<ReadCredential, HeldError> {
    let toy = Toy::read(raw, &mut Budget::of(raw)).ok_or(HeldError::SdJwt(SdJwtError::Form))?;
    Ok(ReadCredential {
        validity: Validity::of_jwt(toy.members()).map_err(|_| HeldError::Time)?,
        statuses: Ok(Vec::new()),
        credential: Arc::new(toy),
    })
}

/// The JWT and its claims.
#[derive(Clone, Debug)]
pub(super) struct Toy(pub Arc<(jws::Compact, Value)>);

impl Toy {
    pub fn read(raw: &str, budget: &mut Budget) -> Option<Self> {
        let jwt = jws::Compact::parse(raw).ok()?;
        let claims = jwt.claims().ok().filter(Value::is_object)?;
        budget.take(&claims)?;
        Some(Self(Arc::new((jwt, claims))))
    }

    pub fn jwt(&self) -> &jws::Compact {
        &self.0.0
    }

    pub fn members(&self) -> &Map<String, Value> {
        self.claims().as_object().unwrap()
    }
}

impl CredentialView for Toy {
    fn weight(&self) -> usize {
        self.jwt().weight()
    }

    fn claims(&self) -> &Value {
        &self.0.1
    }

    fn header(&self) -> &jws::Header {
        &self.jwt().header
    }

    fn issuer(&self) -> Option<&str> {
        self.claims()["iss"].as_str()
    }

    fn types(&self) -> Vec<&str> {
        self.claims()["kind"].as_str().into_iter().collect()
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        Jwk::from_value(&self.claims()["cnf"]["jwk"]).ok()
    }

    fn subject_id(&self) -> Option<&str> {
        None
    }

    fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(Received {
            toy: self.clone(),
            proof: None,
        })
    }
}
