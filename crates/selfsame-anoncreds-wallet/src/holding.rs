//! Requests, and the credentials that a tenant holds.

use selfsame_anoncreds::format::{
    Credential, CredentialOffer, CredentialRequestMetadata, Message as _, Text as _,
};
use selfsame_anoncreds::verifier::Encoding;
use selfsame_anoncreds_roles::holder::{Awaited, AwaitedPlace, Requester, accept, request};
use selfsame_crypto::encoding::hex_encode;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, TenantId};
use serde_json::Value;

use crate::error::{refused, unknown};
use crate::held::{CREDENTIAL, HeldRecord, HeldSearch, info};
use crate::objects::KnownDefinition;
use crate::view::CredentialInfo;
use crate::wallet::AnonCreds;
use crate::wql;

/// Bytes that a controller's identifier of a credential may have.
const ID_BYTES: usize = 255;

/// A request for a credential.
pub struct RequestedCredential {
    /// Its JSON, for the issuer.
    pub request: Vec<u8>,
    /// The JSON of what the holder needs to finish the credential. Secret.
    pub metadata: String,
}

/// A credential that was accepted. It is not held until `writes` are committed.
pub struct StoredCredential {
    /// Its identifier in the wallet.
    pub id: String,
    /// What it is.
    pub info: CredentialInfo,
    /// What the commit of the exchange writes.
    pub writes: Batch,
}

impl AnonCreds {
    /// Requests an offered credential. The holder's DID goes into the request if the definition's identifier is an
    /// unqualified one; other issuers get random text.
    ///
    /// # Errors
    /// `BadRequest` if the offer is not one, its definition has expired, or its proof of the issuer's key is wrong; the
    /// registry's.
    pub async fn request(
        &self,
        tenant: &TenantId,
        offer: &[u8],
        holder_did: Option<&str>,
    ) -> Result<RequestedCredential> {
        let offer = CredentialOffer::from_json(offer).map_err(refused)?;
        let known = self
            .unexpired_definition(offer.cred_def_id.as_str())
            .await?;
        let (key_proofs, unverified) = (
            self.key_proofs.clone(),
            self.key_proofs.unverified(&offer).await?,
        );
        let secret = self.secrets.of(tenant).await?;
        let did = holder_did.filter(|_| offer.cred_def_id.is_legacy());
        let did = did.map(str::to_owned);
        let (prepared, ctx) = (self.objects.prepared.clone(), self.shared.clock.ctx());
        let requesting = move || {
            let requester = Requester {
                link_secret: &secret,
                did: did.as_deref(),
            };
            let definition = prepared.of(&known)?;
            if let Some(unverified) = unverified {
                let checked = definition.key().check_correctness(&unverified.proof);
                checked.map_err(refused)?;
                key_proofs.remember(unverified);
            }
            let open = request(requester, &definition, &offer, &ctx).map_err(refused)?;
            let metadata = open.metadata.to_json().map_err(refused)?;
            let request = open.request.to_json().map_err(refused)?.into_bytes();
            Ok(RequestedCredential {
                request,
                metadata: metadata.as_json().to_owned(),
            })
        };
        self.shared.work.run_in_turn(requesting).await?
    }

    /// Checks a credential that arrived, finishes it, and gives the writes that keep it, under this identifier or a new
    /// one.
    ///
    /// # Errors
    /// `BadRequest` if it is not the requested one, or the identifier is empty or long; the registry's and the store's.
    pub async fn accept(
        &self,
        tenant: &TenantId,
        credential: &[u8],
        metadata: &str,
        id: Option<&str>,
    ) -> Result<StoredCredential> {
        if id.is_some_and(|id| !(1..=ID_BYTES).contains(&id.len())) {
            return Err(Error::bad_request("anoncreds-credential-id").with("most", &ID_BYTES));
        }
        let credential = Credential::from_json(credential).map_err(refused)?;
        let metadata = CredentialRequestMetadata::from_json(metadata.as_bytes());
        let metadata = metadata.map_err(refused)?;
        let known = self
            .known_definition(credential.cred_def_id.as_str())
            .await?;
        let schema_id = credential.schema_id.as_str();
        let schema = self.objects.schema(schema_id).await?;
        let schema = schema.ok_or_else(|| unknown("the schema", schema_id))?;
        let place = match &credential.rev_reg_id {
            None => None,
            Some(id) => {
                let registry = self.known_registry(id.as_str()).await?;
                let tails = self.tails.of(&registry).await?;
                Some((registry, tails))
            }
        };
        let secret = self.secrets.of(tenant).await?;
        let (prepared, issuer_id) = (
            self.objects.prepared.clone(),
            known.definition.issuer_id.clone(),
        );
        let accepting = move || {
            let registry = place.as_ref().map(|(place, tails)| AwaitedPlace {
                registry: &place.definition,
                id: Some(&place.id),
                tails: Some(tails),
            });
            let definition = prepared.of(&known)?;
            let awaited = Awaited {
                metadata: &metadata,
                link_secret: &secret,
                definition: &definition,
                encoding: Encoding::Recommended,
                registry,
            };
            accept(&credential, &awaited).map_err(refused)
        };
        let held = self.shared.work.run_in_turn(accepting).await??;
        let id = id.map_or_else(|| self.new_id(), str::to_owned);
        let info = info(id.clone(), held.credential());
        let schema = schema.schema.as_ref().clone();
        let record = HeldRecord::new(info.clone(), schema, issuer_id, &held)?;
        let put = Put::new(CREDENTIAL, &id, encode(&record)?);
        let put = record.stored_tags().into_iter().fold(put, Put::tag);
        let writes = Batch::new(tenant.clone())
            .expect(CREDENTIAL, &id, Expect::Absent)
            .put(put);
        let writes = self.told_to_showcase(tenant, &record, writes).await?;
        Ok(StoredCredential { id, info, writes })
    }

    /// A credential of the tenant.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn credential(&self, tenant: &TenantId, id: &str) -> Result<CredentialInfo> {
        Ok(self.held(tenant, id).await?.info)
    }

    /// The tenant's credentials that a query in WQL fits, newest first.
    ///
    /// # Errors
    /// `BadRequest` for a query that is not valid; the store's.
    pub async fn credentials(
        &self,
        tenant: &TenantId,
        query: &Value,
        paging: &Paging,
    ) -> Result<Listing<CredentialInfo>> {
        let query = self.naming().query(&wql::parsed(query)?).await?;
        let search = HeldSearch {
            store: &self.shared.store,
            tenant,
            leads: wql::leads(&query),
            after: paging.cursor(),
        };
        // One more than shown, to know whether there is a next page.
        let most = paging.limit().saturating_add(1);
        let found = search.find(most, |record| Ok(wql::holds(&query, &record.tags())));
        let mut found = found.await?;
        let more = found.len() == most;
        found.truncate(paging.limit());
        let last = found.last().filter(|_| more);
        let next = last.map(|last| last.seq.to_string());
        let items = found.into_iter().map(|found| found.record.info).collect();
        Ok(Listing { items, next })
    }

    /// Removes a credential.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn remove_credential(&self, tenant: &TenantId, id: &str) -> Result<()> {
        self.held(tenant, id).await?;
        let batch = Batch::new(tenant.clone()).delete(CREDENTIAL, id);
        self.shared.store.commit(batch).await?;
        Ok(())
    }

    pub(crate) async fn held(&self, tenant: &TenantId, id: &str) -> Result<HeldRecord> {
        let stored = self.shared.store.read(tenant, CREDENTIAL, id).await?;
        let stored = stored.ok_or_else(|| Error::not_found("anoncreds-credential-absent"))?;
        decode(&stored.value)
    }

    pub(crate) async fn known_definition(&self, id: &str) -> Result<KnownDefinition> {
        let known = self.objects.definition(id).await?;
        known.ok_or_else(|| unknown("the credential definition", id))
    }

    /// A definition of the registry whose key is not refused yet.
    pub(crate) async fn unexpired_definition(&self, id: &str) -> Result<KnownDefinition> {
        let known = self.known_definition(id).await?;
        let now = self.shared.clock.now();
        match known.valid_until.filter(|end| *end <= now) {
            None => Ok(known),
            Some(end) => Err(Error::bad_request("anoncreds-definition-expired")
                .with("id", id)
                .with("end", &end.rfc3339())),
        }
    }

    /// A random UUID (RFC 9562 §5.4), by which controllers know a credential.
    fn new_id(&self) -> String {
        let mut bytes = self.shared.clock.ctx().random::<16>("credential id");
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex = hex_encode(&bytes);
        let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
        let parts = [
            part(0..8),
            part(8..12),
            part(12..16),
            part(16..20),
            part(20..32),
        ];
        parts.join("-")
    }
}
