//! The connection of an author to its endorser, which is made at the start.

use selfsame_crypto::encoding::base64url_decode;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use serde_json::{Map, Value};
use url::Url;

use crate::endorsements::Endorsements;

/// The parameter of a link with an invitation (RFC 0434).
const INVITATION: &str = "oob";

impl Endorsements {
    /// Takes the invitation of the endorser that the settings name, unless there is a connection of its alias.
    ///
    /// # Errors
    /// `BadRequest` if it is no invitation of out-of-band; those of taking it.
    pub async fn meet_endorser(&self, tenant: &TenantId) -> Result<()> {
        let terms = self.terms(tenant);
        let (Some(link), Some(alias)) = (&terms.invitation, &terms.alias) else {
            return Ok(());
        };
        if !self.is_author(tenant) || self.usual_connection(tenant).await.is_ok() {
            return Ok(());
        }
        let invitation = invitation(link).ok_or_else(|| Error::bad_request("endorsement-link"))?;
        self.connections().invited(tenant, alias, invitation).await
    }
}

/// The invitation in a link.
fn invitation(link: &str) -> Option<Map<String, Value>> {
    let link = Url::parse(link).ok()?;
    let (_, text) = link.query_pairs().find(|(name, _)| name == INVITATION)?;
    let bytes = base64url_decode(text.trim_end_matches('=')).ok()?;
    match json::parse(&bytes, &Limits::default()) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    }
}
