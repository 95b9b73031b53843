//! A wallet that keeps HAIP 1.0: what it must have itself, and what it takes from issuers and verifiers.

use selfsame_core::certificate::anchors;
use selfsame_credential::Held;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_haip::offered::{ConfigurationFacts, OfferFacts, ServerFacts};
use selfsame_haip::own::WalletFacts;
use selfsame_haip::received::SdJwtVcFacts;
use selfsame_haip::{HaipRule, WantedProfile, names_profiled};
use selfsame_oauth::ServerMetadata;
use selfsame_openid4vc::wire::metadata::{Configuration, IssuerMetadata};
use selfsame_openid4vc::wire::offer::CredentialOffer;

use crate::Wallet;
use crate::config::{WalletConfig, WantedMetadata};
use crate::known::OfferingIssuer;

impl WalletConfig {
    /// Gives the settings that a file does not name the values that the profile needs.
    pub fn complete(&mut self, is_set: impl Fn(&str) -> bool) {
        if self.profile.is_some() && !is_set("signed_metadata") {
            self.signed_metadata = WantedMetadata::Asked;
        }
    }

    /// Refuses a setting that contradicts the profile.
    ///
    /// # Errors
    /// `BadRequest`, with the rule and what to do.
    pub fn check(&self) -> Result<()> {
        if self.profile.is_none() {
            return Ok(());
        }
        // That they can be read is judged where they are used.
        let pem = self.certificate.clone();
        let chain = pem.and_then(|pem| anchors(&[pem]).ok());
        let facts = WalletFacts {
            chain: chain.as_deref(),
        };
        facts.broken().map_or(Ok(()), |fault| {
            let reason = Reason::rule_broken(&fault.to_string(), Some(fault.remedy));
            Err(Error::of(ErrorKind::BadRequest, reason))
        })
    }
}

impl Wallet {
    /// Refuses an offer of an issuer that does not keep the profile.
    pub(crate) fn check_offer(
        &self,
        offer: &CredentialOffer,
        known: &OfferingIssuer,
    ) -> Result<()> {
        if self.profile.is_none() {
            return Ok(());
        }
        let broken = offered(offer, &known.issuer).broken();
        match broken.or_else(|| serving(&known.server).broken()) {
            Some(rule) => Err(unkept(rule)),
            None => Ok(()),
        }
    }
}

/// The rule that a credential breaks, if it is an SD-JWT VC, and the wallet keeps the profile.
pub(crate) fn broken(
    profile: Option<WantedProfile>,
    held: &Held,
    anchors: &[Vec<u8>],
) -> Option<HaipRule> {
    profile.and(held.sd_jwt())?;
    let facts = SdJwtVcFacts {
        x5c: held.header().x5c.as_deref().unwrap_or_default(),
        anchors,
        claims: held.claims(),
    };
    facts.broken()
}

/// The refusal of what an issuer or its server does not keep.
pub(crate) fn unkept(rule: HaipRule) -> Error {
    let reason = Reason::rule_broken(&rule.to_string(), Some(rule.remedy));
    tracing::info!(rule = rule.name, %reason, "refused");
    Error::of(ErrorKind::Upstream, reason)
}

fn offered(offer: &CredentialOffer, issuer: &IssuerMetadata) -> OfferFacts {
    let configured = offer.credential_configuration_ids.iter();
    let configured = configured.filter_map(|id| issuer.configuration(id));
    let facts = |one: &Configuration| ConfigurationFacts {
        is_profiled: names_profiled(&one.format),
        has_scope: one.scope.is_some(),
        is_bound: one.cryptographic_binding_methods_supported.is_some(),
    };
    OfferFacts {
        has_code: offer.authorization_code().is_some(),
        has_nonces: issuer.nonce_endpoint.is_some(),
        configurations: configured.map(facts).collect(),
    }
}

fn serving(server: &ServerMetadata) -> ServerFacts<'_> {
    ServerFacts {
        is_pushed_to: server.pushed_authorization_request_endpoint.is_some(),
        challenges: &server.code_challenge_methods_supported,
        names_itself: server.authorization_response_iss_parameter_supported,
        proofs: &server.dpop_signing_alg_values_supported,
        methods: &server.token_endpoint_auth_methods_supported,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(settings: Value) -> WalletConfig {
        serde_json::from_value(settings).unwrap()
    }

    #[test]
    fn a_wallet_by_the_profile_needs_a_certificate_and_asks_for_signed_metadata() {
        let mut settings = read(json!({"profile": "haip"}));
        settings.complete(|_| false);
        assert_eq!(settings.signed_metadata, WantedMetadata::Asked);
        let refused = settings.check().unwrap_err().to_string();
        assert!(refused.contains("[wallet] certificate"), "{refused}");
        assert!(refused.contains("HAIP 1.0 §4.4.1"), "{refused}");
        let mut chosen = read(json!({"profile": "haip", "signed_metadata": "required"}));
        chosen.complete(|name| name == "signed_metadata");
        assert_eq!(chosen.signed_metadata, WantedMetadata::Required);
    }

    #[test]
    fn a_wallet_without_a_profile_needs_nothing() {
        let mut settings = read(json!({}));
        settings.complete(|_| false);
        assert_eq!(settings.signed_metadata, WantedMetadata::Off);
        settings.check().unwrap();
    }

    fn issuer(configuration: Value) -> IssuerMetadata {
        serde_json::from_value(json!({
            "credential_issuer": "https://issuer.example",
            "credential_endpoint": "https://issuer.example/credential",
            "nonce_endpoint": "https://issuer.example/nonce",
            "credential_configurations_supported": {"one": configuration}
        }))
        .unwrap()
    }

    fn offer(grants: Value) -> CredentialOffer {
        serde_json::from_value(json!({
            "credential_issuer": "https://issuer.example",
            "credential_configuration_ids": ["one"],
            "grants": grants
        }))
        .unwrap()
    }

    #[test]
    fn an_offer_and_its_issuers_metadata_are_judged_by_the_profile() {
        let right = json!({"format": "dc+sd-jwt", "vct": "urn:x", "scope": "x",
            "cryptographic_binding_methods_supported": ["jwk"],
            "proof_types_supported": {"jwt": {"proof_signing_alg_values_supported": ["ES256"]}}});
        let broken = |grants: Value, configuration: &Value| {
            let rule = offered(&offer(grants), &issuer(configuration.clone())).broken();
            rule.map(|rule| rule.name)
        };
        let code = || json!({"authorization_code": {}});
        assert_eq!(broken(code(), &right), None);
        let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
        let given = json!({grant: {"pre-authorized_code": "x"}});
        assert_eq!(broken(given, &right), Some("offered_code"));
        let mut unscoped = right.clone();
        unscoped.as_object_mut().unwrap().remove("scope");
        assert_eq!(broken(code(), &unscoped), Some("scopes"));
        let mut other = right;
        other["format"] = json!("vc+jwt");
        assert_eq!(broken(code(), &other), Some("formats_issued"));
    }

    #[test]
    fn the_metadata_of_a_server_are_judged_by_the_profile() {
        let metadata = json!({
            "issuer": "https://server.example",
            "authorization_endpoint": "https://server.example/authorize",
            "token_endpoint": "https://server.example/token",
            "pushed_authorization_request_endpoint": "https://server.example/par",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "dpop_signing_alg_values_supported": ["ES256"],
            "token_endpoint_auth_methods_supported": ["attest_jwt_client_auth"]
        });
        let broken = |metadata: Value| {
            let server: ServerMetadata = serde_json::from_value(metadata).unwrap();
            serving(&server).broken().map(|rule| rule.name)
        };
        assert_eq!(broken(metadata.clone()), None);
        for (member, rule) in [
            ("pushed_authorization_request_endpoint", "pushed_requests"),
            ("code_challenge_methods_supported", "code_challenge"),
            (
                "authorization_response_iss_parameter_supported",
                "server_named",
            ),
            ("dpop_signing_alg_values_supported", "bound_tokens"),
            (
                "token_endpoint_auth_methods_supported",
                "client_authentication",
            ),
        ] {
            let mut without = metadata.clone();
            without.as_object_mut().unwrap().remove(member);
            assert_eq!(broken(without), Some(rule));
        }
    }
}
