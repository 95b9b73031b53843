//! A compact credential, as its holder sees it.

use std::sync::Arc;

use super::codec::CoseSubject;
use selfsame_crypto::{Jwk, jws};
use serde_json::Value;

use super::read::{self, ReceivedCompact};
use super::verify::BareCompact;
use crate::format::view::{CredentialView, HeldError, ReadCredential, Subject};

pub(super) fn hold(raw: &str) -> Result<ReadCredential, HeldError> {
    let received = ReceivedCompact::new(read::message(raw)?);
    Ok(ReadCredential {
        validity: received.validity(),
        statuses: received.statuses(),
        credential: Arc::new(HeldCompact {
            header: received.header(),
            received: Arc::new(received),
        }),
    })
}

#[derive(Debug)]
struct HeldCompact {
    received: Arc<ReceivedCompact>,
    header: jws::Header,
}

impl CredentialView for HeldCompact {
    fn weight(&self) -> usize {
        self.received.weight()
    }

    fn claims(&self) -> &Value {
        &self.received.claims
    }

    fn header(&self) -> &jws::Header {
        &self.header
    }

    fn issuer(&self) -> Option<&str> {
        None
    }

    fn types(&self) -> Vec<&str> {
        self.received.content().all_types()
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        match &self.received.content().subject {
            CoseSubject::Key(key) => Some(key.to_jwk()),
            CoseSubject::Did(_) => None,
        }
    }

    fn subject_id(&self) -> Option<&str> {
        self.received.claims.get("sub").and_then(Value::as_str)
    }

    fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(BareCompact(self.received.clone()))
    }
}
