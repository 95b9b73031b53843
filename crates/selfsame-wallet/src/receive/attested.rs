//! The attestations of the wallet and of its keys, for issuers that want them.

use selfsame_core::machine::CallAttestation;
use selfsame_crypto::{Algorithm, Jwk, KeyHandle, KeyType};
use selfsame_driver::{Error, Result};
use selfsame_oauth::ServerMetadata;
use selfsame_openid4vc::wallet::ReceivingState;
use selfsame_openid4vc::wire::metadata::{Configuration, IssuerMetadata};
use selfsame_store::Batch;

use super::possession::PossessedKey;
use crate::Wallet;
use crate::view::Person;

/// The keys by which a server knows who sends a code.
#[derive(Default)]
pub(crate) struct SenderKeys {
    /// The key that the access token is bound to.
    pub possessed: Option<PossessedKey>,
    /// What the wallet is attested with.
    pub attested: Option<Box<CallAttestation>>,
}

impl SenderKeys {
    /// Each key once.
    pub fn handles(&self) -> Vec<KeyHandle> {
        let possessed = self.possessed.iter().map(|one| one.key.clone());
        let mut handles: Vec<KeyHandle> = possessed.collect();
        let attested = self.attested.iter().map(|one| one.key.clone());
        let further: Vec<KeyHandle> = attested.filter(|key| !handles.contains(key)).collect();
        handles.extend(further);
        handles
    }
}

impl Wallet {
    /// The keys of a sender: those of the code of a sign-in, which are kept from now on, or fresh ones, as the server wants.
    pub(super) async fn sender(
        &self,
        person: &Person,
        server: &ServerMetadata,
        given: Option<SenderKeys>,
        mut batch: Batch,
    ) -> Result<(SenderKeys, Batch)> {
        let keys = &self.shared.keys;
        if let Some(given) = given {
            for key in given.handles() {
                batch = keys.keep(&person.tenant, &key, batch).await?;
            }
            return Ok((given, batch));
        }
        let (possessed, batch) = self.possessed_at(person, server, batch)?;
        let mut sender = SenderKeys {
            possessed,
            attested: None,
        };
        if !server.wants_attestation() {
            return Ok((sender, batch));
        }
        let (key, batch) = match &sender.possessed {
            Some(possessed) => (possessed.key.clone(), batch),
            None => {
                let (_, key, batch) = keys.create(&person.tenant, KeyType::P256, batch)?;
                (key, batch)
            }
        };
        sender.attested = Some(self.attested_by(person, server, key).await?);
        Ok((sender, batch))
    }

    /// What the wallet is attested with at a server, by this key. It is of one offer, so that servers can't tell by it that
    /// two offers were accepted by one person.
    ///
    /// # Errors
    /// If the server takes no proofs of such a key, or gives challenges at an address that can't be used.
    pub(super) async fn attested_by(
        &self,
        person: &Person,
        server: &ServerMetadata,
        key: KeyHandle,
    ) -> Result<Box<CallAttestation>> {
        let public = self.shared.keys.public(&person.tenant, &key).await?;
        let algorithm = public.key_type().default_algorithm();
        let listed = &server.client_attestation_pop_signing_alg_values_supported;
        let is_this = |name: &String| name.parse::<Algorithm>().is_ok_and(|one| one == algorithm);
        let is_taken = listed.is_empty() || listed.iter().any(is_this);
        let endpoint = server.challenge_endpoint.as_ref();
        if !is_taken || endpoint.is_some_and(|url| !self.transport.allows(url)) {
            return Err(Error::upstream("authorization-server-unusable"));
        }
        let attestation = self.attester.attest_client(&self.client_id, &public);
        Ok(Box::new(CallAttestation {
            attestation: attestation.await?,
            key,
            client_id: self.client_id.clone(),
            server: server.issuer.clone(),
            challenge_endpoint: endpoint.cloned(),
        }))
    }

    /// Adds an attestation of its keys to each credential request whose issuer wants one.
    pub(super) async fn attest_keys(
        &self,
        state: &mut ReceivingState,
        issuer: &IssuerMetadata,
    ) -> Result<()> {
        let ReceivingState::Redeeming(redeeming) = state else {
            return Ok(());
        };
        for ask in &mut redeeming.plan.asks {
            let configuration = issuer.configuration(&ask.configuration_id);
            let proof = configuration.and_then(Configuration::jwt_proof);
            let is_wanted = proof.is_some_and(|one| one.key_attestations_required.is_some());
            if is_wanted && !ask.bindings.is_empty() {
                let keys: Vec<&Jwk> = ask.bindings.iter().map(|one| &one.jwk).collect();
                ask.key_attestation = Some(self.attester.attest_keys(&keys).await?);
            }
        }
        Ok(())
    }
}
