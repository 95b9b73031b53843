//! The choice of credentials that anybody may be shown, and what was revoked of them.

use std::sync::Arc;

use selfsame_anoncreds::format::{Message as _, PresentationRequest, RevocationStatusList};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_store::{Batch, TenantId};

use crate::error::refused;
use crate::held::{CREDENTIAL, HeldRecord};
use crate::matching::AskedReferent;
use crate::showcase::{KeptCredential, MayShow, Showcase};
use crate::view::ChosenCredentials;
use crate::wallet::AnonCreds;

/// Referents of a request that is answered without the controller, at most.
const REFERENTS_MAX: usize = 50;
/// Credentials that are looked at for one of them.
const LOOKED_AT_MAX: usize = 100;
/// Revoked ones among them after which no further one is looked at.
const REVOKED_MAX: usize = 5;

/// The revoked places of a revocation registry, as they are now.
#[derive(Clone, Debug)]
pub struct RevokedPlaces {
    /// The number of entries of the registry so far. While it stays, so do the places.
    pub version: u64,
    list: Arc<RevocationStatusList>,
}

impl RevokedPlaces {
    /// Whether a place is revoked. One that the registry does not have is.
    #[must_use]
    pub fn has(&self, index: u32) -> bool {
        self.list.revocation_list.is_revoked(index).unwrap_or(true)
    }
}

impl AnonCreds {
    /// Has some credentials shown to anybody. It is set once.
    pub fn set_showcase(&self, showcase: Arc<dyn Showcase>) {
        let _ = self.showcase.set(showcase);
    }

    /// A credential of the tenant, and who made it.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn kept(&self, tenant: &TenantId, id: &str) -> Result<KeptCredential> {
        let record = self.held(tenant, id).await?;
        self.told(&record).await
    }

    async fn told(&self, record: &HeldRecord) -> Result<KeptCredential> {
        let info = record.info.clone();
        Ok(KeptCredential {
            schema_id: self.qualified(&info.schema_id).await?,
            cred_def_id: self.qualified(&info.cred_def_id).await?,
            issuer_id: record.issuer_id.to_string(),
            schema_issuer_id: record.schema.issuer_id.to_string(),
            schema_name: record.schema.name.clone(),
            info,
        })
    }

    /// The writes of a credential that came, with those of who shows some credentials.
    pub(crate) async fn told_to_showcase(
        &self,
        tenant: &TenantId,
        record: &HeldRecord,
        writes: Batch,
    ) -> Result<Batch> {
        let Some(showcase) = self.showcase.get() else {
            return Ok(writes);
        };
        let kept = self.told(record).await?;
        Ok(match showcase.kept(tenant, &kept).await? {
            Some(further) => writes.and(further),
            None => writes,
        })
    }

    /// The writes that remove a credential, whether the tenant has it or not.
    #[must_use]
    pub fn removal(&self, tenant: &TenantId, id: &str) -> Batch {
        Batch::new(tenant.clone()).delete(CREDENTIAL, id)
    }

    /// The credentials with which the tenant answers a request of anybody; `None` if its controller is to answer.
    ///
    /// # Errors
    /// As [`Showcase::choice`].
    pub async fn public_choice(
        &self,
        tenant: &TenantId,
        request: &[u8],
    ) -> Result<Option<ChosenCredentials>> {
        match self.showcase.get() {
            Some(showcase) => showcase.choice(tenant, request).await,
            None => Ok(None),
        }
    }

    /// For each referent of a request a credential that anybody may be shown; `None` if there is none for one of them.
    ///
    /// # Errors
    /// `BadRequest` if the request is not one; the store's and the registry's.
    pub async fn choice_among(
        &self,
        tenant: &TenantId,
        request: &[u8],
        may: &dyn MayShow,
    ) -> Result<Option<ChosenCredentials>> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        let request = self.naming().request(request).await?;
        let all = AskedReferent::all(&request);
        if all.is_empty() || all.len() > REFERENTS_MAX {
            return Ok(None);
        }
        let mut taken = Vec::new();
        let mut chosen = ChosenCredentials::default();
        for asked in &all {
            match self.shown_answer(tenant, asked, &mut taken, may).await? {
                Some(cred_id) => asked.choose(cred_id, &mut chosen),
                None => return Ok(None),
            }
        }
        Ok(Some(chosen))
    }

    /// The credential that answers a referent: one that answers others too, or else the newest.
    async fn shown_answer(
        &self,
        tenant: &TenantId,
        asked: &AskedReferent<'_>,
        taken: &mut Vec<HeldRecord>,
        may: &dyn MayShow,
    ) -> Result<Option<String>> {
        for one in taken.iter() {
            if asked.is_answered_by(one)? && may.may_show(&one.info, &asked.names).await? {
                return Ok(Some(one.info.referent.clone()));
            }
        }
        let at = asked.interval.and_then(|interval| interval.to);
        let mut revoked = 0;
        for found in self.answers(tenant, asked, LOOKED_AT_MAX).await? {
            let info = &found.record.info;
            if revoked == REVOKED_MAX || !may.may_show(info, &asked.names).await? {
                continue;
            }
            if asked.interval.is_some() && self.is_revoked(info, at.map(UnixTime)).await? {
                revoked += 1;
                continue;
            }
            let id = info.referent.clone();
            taken.push(found.record);
            return Ok(Some(id));
        }
        Ok(None)
    }

    /// The revoked places of a revocation registry; `None` while it has no entry.
    ///
    /// # Errors
    /// `BadRequest` if there is no such registry; the registry's.
    pub async fn revoked_places(&self, rev_reg_id: &str) -> Result<Option<RevokedPlaces>> {
        let registry = self.known_registry(rev_reg_id).await?;
        let known = self.objects.list(&registry, None).await?;
        Ok(known.map(|known| RevokedPlaces {
            version: known.version,
            list: known.list,
        }))
    }
}
