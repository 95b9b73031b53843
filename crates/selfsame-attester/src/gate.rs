//! The gate of an instance's authorization servers: challenges, and the judgement of clients.

use std::sync::Arc;

use selfsame_attestation::ALGORITHMS;
use selfsame_attestation::challenge::{ChallengeAnswer, Challenges};
use selfsame_attestation::client::{AttestedClient, ClientRules, judge};
use selfsame_attestation::fault::AttestationFault;
use selfsame_attestation::headers::AttestationHeaders;
use selfsame_attestation::trust::TrustedAttesters;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_oauth::metadata::ATTESTED;
use selfsame_oauth::{Error as Refused, ServerMetadata};
use url::Url;

use crate::attester::Attester;
use crate::config::{AttestationConfig, WantedAttestation};

/// The purpose of the key that authenticates challenges.
const CHALLENGES: &str = "attestation challenges";
/// Seconds for which a challenge is accepted.
const CHALLENGE_LIFETIME: u64 = 300;

/// What a client's request says of itself.
#[derive(Clone, Copy, Debug)]
pub struct PresentedClient<'a> {
    /// Its attestation.
    pub headers: Option<AttestationHeaders<'a>>,
    /// The parameter `client_id`.
    pub client_id: Option<&'a str>,
    /// The identifier of the authorization server that it is sent to.
    pub server: &'a str,
}

/// What an instance's authorization servers demand of wallets.
pub struct WalletGate {
    wanted: WantedAttestation,
    trusted: Arc<TrustedAttesters>,
    challenges: Challenges,
}

impl WalletGate {
    /// The gate with these settings, which trusts the attester of the instance's own wallet too, and those with
    /// certificates of these anchors (DER).
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work; the store's.
    pub async fn open(
        own: &Attester,
        config: &AttestationConfig,
        anchors: Vec<Vec<u8>>,
    ) -> Result<Self> {
        let mut known = config.known()?;
        if config.is_used() {
            known.push(own.known().await?);
        }
        Ok(Self {
            wanted: config.wallets,
            trusted: Arc::new(TrustedAttesters::new(known, anchors)),
            challenges: Challenges {
                key: own.symmetric_key(CHALLENGES).await?,
                lifetime: CHALLENGE_LIFETIME,
            },
        })
    }

    /// The gate that trusts attesters by certificates alone (HAIP 1.0 §4.4.1, §4.5.1).
    #[must_use]
    pub fn by_certificates_alone(self) -> Self {
        Self {
            trusted: Arc::new(self.trusted.by_certificates_alone()),
            ..self
        }
    }

    /// The attesters that are trusted.
    #[must_use]
    pub fn trusted(&self) -> &Arc<TrustedAttesters> {
        &self.trusted
    }

    /// Whether wallets may authenticate by attestations.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.wanted != WantedAttestation::Off
    }

    /// A challenge of the authorization server with this identifier; `None` where attestations do not count.
    #[must_use]
    pub fn challenge(&self, server: &str, ctx: &Ctx) -> Option<ChallengeAnswer> {
        self.is_open().then(|| ChallengeAnswer {
            attestation_challenge: self.challenges.make(server, ctx),
        })
    }

    /// The client of a request to an endpoint that takes clients without a name too; `None` for one of those.
    ///
    /// # Errors
    /// `invalid_client` for one without an attestation where it must have one; those of [`Self::attested`].
    pub fn admitted(
        &self,
        client: &PresentedClient<'_>,
        now: UnixTime,
    ) -> std::result::Result<Option<AttestedClient>, Refused> {
        match (&client.headers, self.wanted) {
            (None, WantedAttestation::Required) => Err(AttestationFault::Missing.into()),
            // Where attestations do not count, they are what any unknown header is.
            (None, _) | (_, WantedAttestation::Off) => Ok(None),
            (Some(headers), _) => self.attested(headers, client, now).map(Some),
        }
    }

    /// The client of a request with these headers. The identifier of its proof must be accepted once only.
    ///
    /// # Errors
    /// The codes of draft -07 §6.2.
    pub fn attested(
        &self,
        headers: &AttestationHeaders<'_>,
        client: &PresentedClient<'_>,
        now: UnixTime,
    ) -> std::result::Result<AttestedClient, Refused> {
        let rules = ClientRules {
            trusted: &self.trusted,
            server: client.server,
            challenges: &self.challenges,
            now,
        };
        let attested = judge(headers, &rules)?;
        // Draft -07 §6.3: a named client is the attested one.
        match client
            .client_id
            .is_none_or(|named| named == attested.client_id)
        {
            true => Ok(attested),
            false => Err(AttestationFault::OtherClient.into()),
        }
    }

    /// The metadata of an authorization server that takes clients without a name, as it is with this gate.
    #[must_use]
    pub fn described(&self, mut server: ServerMetadata, challenge_endpoint: Url) -> ServerMetadata {
        if !self.is_open() {
            return server;
        }
        let algorithms = || ALGORITHMS.map(|one| one.as_str().to_owned()).to_vec();
        if self.wanted == WantedAttestation::Required {
            server.token_endpoint_auth_methods_supported.clear();
            server.anonymous_access_supported = false;
        }
        server
            .token_endpoint_auth_methods_supported
            .push(ATTESTED.to_owned());
        ServerMetadata {
            client_attestation_signing_alg_values_supported: algorithms(),
            client_attestation_pop_signing_alg_values_supported: algorithms(),
            challenge_endpoint: Some(challenge_endpoint),
            ..server
        }
    }
}
