//! The author agreement of the registry, as agents accept it.

use selfsame_core::dids::ACCEPTANCE;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::network::{Acceptance, Agreement};
use selfsame_store::{Batch, Put, TenantId};

use super::App;

/// Seconds of a day. An acceptance is dated in days.
const DAY: u64 = 86_400;

/// The author agreement in force, as an agent sees it.
#[derive(Clone, Debug)]
pub struct AuthorAgreement {
    /// Its version.
    pub version: String,
    /// SHA-256 of its text, hexadecimal. The registry has no text.
    pub digest: String,
    /// The ways to accept it.
    pub mechanisms: Vec<String>,
    /// How the agent's organisation accepted it.
    pub accepted: Option<AcceptedAgreement>,
}

/// An acceptance of the author agreement in force.
#[derive(Clone, Debug)]
pub struct AcceptedAgreement {
    /// How it was accepted.
    pub mechanism: String,
    /// The beginning of the day on which it was accepted.
    pub day: UnixTime,
}

/// An acceptance as it is given.
#[derive(Clone, Debug)]
pub struct GivenAcceptance<'a> {
    /// The version of the agreement.
    pub version: &'a str,
    /// The text that was read; empty if the reader has compared its digest.
    pub text: &'a str,
    /// How it was accepted: one of the agreement's mechanisms.
    pub mechanism: &'a str,
}

impl App {
    /// The author agreement in force in the registry, and whether the organisation whose agent has this tenant has
    /// accepted it; `None` without an agreement, or without a registry.
    ///
    /// # Errors
    /// The store's and the registry's.
    pub async fn author_agreement(&self, tenant: &TenantId) -> Result<Option<AuthorAgreement>> {
        let Some(agreement) = self.agreement_to_accept().await? else {
            return Ok(None);
        };
        let identity = self.agent_identity(tenant).await?;
        let accepted = self.shared.acceptance(identity.tenant()).await?;
        let accepted = accepted.map(|one| AcceptedAgreement {
            mechanism: one.mechanism,
            day: UnixTime(one.day.saturating_mul(DAY)),
        });
        Ok(Some(AuthorAgreement {
            version: agreement.version,
            digest: hex_encode(&agreement.digest),
            mechanisms: agreement.mechanisms,
            accepted,
        }))
    }

    async fn agreement_to_accept(&self) -> Result<Option<Agreement>> {
        let Some(registry) = self.shared.own_registry().ok() else {
            return Ok(None);
        };
        let in_force = registry.agreement().await?;
        Ok(in_force.and_then(|one| one.agreement))
    }

    /// Accepts the agreement in force, as of today. From now on each transaction of the organisation says so.
    ///
    /// # Errors
    /// `Conflict` if another agreement is in force, `BadRequest` if none is, and for another text or mechanism; the
    /// store's and the registry's.
    pub async fn accept_agreement(
        &self,
        tenant: &TenantId,
        given: &GivenAcceptance<'_>,
    ) -> Result<()> {
        let none = || Error::bad_request("agent-agreement-absent");
        let Agreement {
            version,
            digest,
            mechanisms,
        } = self.agreement_to_accept().await?.ok_or_else(none)?;
        if version != given.version {
            return Err(Error::new(ErrorKind::Conflict, "agreement-not-in-force"));
        }
        if !given.text.is_empty() && sha256(given.text.as_bytes()) != digest {
            return Err(Error::bad_request("agreement-text-other").with("version", &version));
        }
        if !mechanisms.iter().any(|one| one == given.mechanism) {
            let all = mechanisms.join(", ");
            return Err(Error::bad_request("agreement-mechanism-other").with("all", &all));
        }
        let accepted = Acceptance {
            version,
            digest,
            mechanism: given.mechanism.to_owned(),
            day: self.clock().now().0 / DAY,
        };
        let identity = self.agent_identity(tenant).await?;
        let put = Put::new(ACCEPTANCE, "", accepted.to_bytes());
        let batch = Batch::new(identity.tenant().clone()).put(put);
        self.shared.store.commit(batch).await?;
        Ok(())
    }
}
