//! Roles that keep HAIP 1.0: what the profile sets where the settings say nothing, which of them contradict it, and what it
//! demands of each offer, token and request.

use selfsame_attester::WantedAttestation;
use selfsame_core::certificate::anchors;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_haip::own::{IssuerFacts, OwnFault, VerifierFacts};
use selfsame_haip::{HaipRule, WantedProfile, invoking, is_profiled, names_profiled};
use selfsame_oauth::Code;
use selfsame_openid4vc::dcql::DcqlQuery;
use selfsame_openid4vc::wire::offer;
use selfsame_openid4vc::wire::request::{self, ClientId};

use crate::config::{
    ClientIdPrefix, IdentifyBy, IssuerConfig, ResponseMode, VerifierConfig, WantedApproval,
};

impl IssuerConfig {
    /// The settings of an issuer that keeps HAIP, as far as the profile sets them.
    #[must_use]
    pub fn haip() -> Self {
        let mut settings = Self {
            profile: Some(WantedProfile::Haip),
            ..Self::default()
        };
        settings.complete(|_| false);
        settings
    }

    /// Gives the settings that a file does not name the values that the profile needs. They are named as in the section,
    /// such as `attestation.wallets`.
    pub fn complete(&mut self, is_set: impl Fn(&str) -> bool) {
        if self.profile.is_none() {
            return;
        }
        if !is_set("formats") {
            self.formats.retain(|format| is_profiled(*format));
        }
        if !is_set("identify_by") {
            self.identify_by = IdentifyBy::X5c;
        }
        if !is_set("attestation.wallets") {
            self.attestation.wallets = WantedAttestation::Required;
        }
        if !is_set("attestation.keys") {
            self.attestation.keys = true;
        }
    }

    /// Refuses a setting that contradicts the profile.
    pub(crate) fn check_profile(&self) -> Result<()> {
        if self.profile.is_none() {
            return Ok(());
        }
        let chain = chain(self.certificate.as_deref());
        let attestation = &self.attestation;
        let attesters = &attestation.attesters;
        let facts = IssuerFacts {
            are_profiled: self.formats.iter().all(|format| is_profiled(*format)),
            has_code_flow: !self.by_sign_in.is_empty(),
            is_certified: self.identify_by == IdentifyBy::X5c,
            chain: chain.as_deref(),
            attests_wallets: attestation.wallets == WantedAttestation::Required,
            attests_keys: attestation.keys && attestation.types.is_empty(),
            knows_by_key: attesters.iter().any(|one| !one.keys.is_empty()),
            knows_by_certificate: attesters.iter().any(|one| !one.certificates.is_empty()),
        };
        kept(facts.broken())
    }

    /// Whether access tokens are bound to keys. One that is not lives five minutes (OpenID4VCI 1.0 §13.10), which is little
    /// for a person who decides; and HAIP 1.0 §4 has no others.
    pub(crate) fn binds_tokens(&self) -> bool {
        self.profile.is_some() || self.approval != WantedApproval::Off
    }

    /// Refuses a request for a token without a proof of possession, if it needs one.
    pub(crate) fn check_token(&self, proof: Option<&str>) -> Result<()> {
        match self.profile.is_some() && proof.is_none() {
            true => Err(unkept(HaipRule::BOUND_TOKENS).with_code(Code::InvalidDpopProof.as_str())),
            false => Ok(()),
        }
    }

    /// Refuses an access token that is presented without its key, where tokens are bound (RFC 9449 §7.1).
    ///
    /// # Errors
    /// `invalid_token`.
    pub fn check_presented(&self, is_dpop: bool) -> Result<()> {
        match self.profile.is_some() && !is_dpop {
            true => Err(Error {
                kind: ErrorKind::Unauthenticated,
                ..unkept(HaipRule::BOUND_TOKENS).with_code(Code::InvalidToken.as_str())
            }),
            false => Ok(()),
        }
    }

    /// The link of an offer, which calls a wallet of the profile.
    pub(crate) fn invoking(&self, link: &str) -> String {
        match self.profile {
            Some(WantedProfile::Haip) => invoking(link, offer::HAIP_SCHEME),
            None => link.to_owned(),
        }
    }
}

impl VerifierConfig {
    /// The settings of a verifier that keeps HAIP, as far as the profile sets them.
    #[must_use]
    pub fn haip() -> Self {
        let mut settings = Self {
            profile: Some(WantedProfile::Haip),
            ..Self::default()
        };
        settings.complete(|_| false);
        settings
    }

    /// Gives the settings that a file does not name the values that the profile needs.
    pub fn complete(&mut self, is_set: impl Fn(&str) -> bool) {
        if self.profile.is_none() {
            return;
        }
        if !is_set("client_id_prefix") {
            self.client_id_prefix = ClientIdPrefix::X509Hash;
        }
        if !is_set("response_mode") {
            self.response_mode = ResponseMode::DirectPostJwt;
        }
    }

    /// Refuses a setting that contradicts the profile.
    pub(crate) fn check_profile(&self) -> Result<()> {
        if self.profile.is_none() {
            return Ok(());
        }
        let chain = chain(self.certificate.as_deref());
        let facts = VerifierFacts {
            prefix: match self.client_id_prefix {
                ClientIdPrefix::X509Hash => "x509_hash",
                _ => "",
            },
            response_mode: match self.response_mode {
                ResponseMode::DirectPostJwt => "direct_post.jwt",
                ResponseMode::DirectPost => "direct_post",
            },
            chain: chain.as_deref(),
        };
        kept(facts.broken())
    }

    /// Refuses a request that contradicts the profile.
    pub(crate) fn check_request(
        &self,
        client: &ClientId,
        mode: ResponseMode,
        query: &DcqlQuery,
    ) -> Result<()> {
        if self.profile.is_none() {
            return Ok(());
        }
        let is_by_hash = matches!(client, ClientId::X509Hash(_));
        let mut asked = query.credentials().iter();
        let rules = [
            (is_by_hash, HaipRule::SIGNED_BY_HASH),
            (mode == ResponseMode::DirectPostJwt, HaipRule::RESPONSE_MODE),
            (
                asked.all(|one| names_profiled(&one.format)),
                HaipRule::FORMATS_ASKED,
            ),
        ];
        let broken = rules.into_iter().find(|(is_kept, _)| !is_kept);
        broken.map_or(Ok(()), |(_, rule)| Err(unkept(rule)))
    }

    /// The link of a request, which calls a wallet of the profile.
    pub(crate) fn invoking(&self, link: String) -> String {
        match self.profile {
            Some(WantedProfile::Haip) => invoking(&link, request::HAIP_SCHEME),
            None => link,
        }
    }
}

/// The certificates (DER) of a setting, if they can be read. That they can is judged where they are used.
fn chain(pem: Option<&str>) -> Option<Vec<Vec<u8>>> {
    anchors(&[pem?.to_owned()]).ok()
}

/// Refuses a setting that breaks a rule.
fn kept(broken: Option<OwnFault>) -> Result<()> {
    broken.map_or(Ok(()), |fault| {
        let reason = Reason::rule_broken(&fault.to_string(), Some(fault.remedy));
        Err(Error::of(ErrorKind::BadRequest, reason))
    })
}

/// The refusal of what somebody asks for.
pub(crate) fn unkept(rule: HaipRule) -> Error {
    let reason = Reason::rule_broken(&rule.to_string(), Some(rule.remedy));
    tracing::info!(rule = rule.name, %reason, "refused");
    Error::of(ErrorKind::BadRequest, reason)
}
