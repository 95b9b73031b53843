//! The settings of a role that keeps the profile: which of them contradicts it.

use std::fmt;

use crate::HaipRule;
use crate::certified::is_chain;

/// A setting that contradicts the profile.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OwnFault {
    /// The rule.
    pub rule: HaipRule,
    /// The section and the setting.
    pub setting: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for OwnFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.setting, self.rule)
    }
}

/// The settings of an issuer.
#[derive(Clone, Copy, Debug)]
pub struct IssuerFacts<'a> {
    /// Whether the profile has all its formats.
    pub are_profiled: bool,
    /// Whether people get some credentials by signing in.
    pub has_code_flow: bool,
    /// Whether SD-JWT VCs are signed by certificate.
    pub is_certified: bool,
    /// The certificates (DER); none if they are not set, or can't be read.
    pub chain: Option<&'a [Vec<u8>]>,
    /// Whether wallets must be attested.
    pub attests_wallets: bool,
    /// Whether the keys of all credentials must be attested.
    pub attests_keys: bool,
    /// Whether an attester is known by a key.
    pub knows_by_key: bool,
    /// Whether an attester is known by certificates.
    pub knows_by_certificate: bool,
}

/// The settings of a verifier.
#[derive(Clone, Copy, Debug)]
pub struct VerifierFacts<'a> {
    /// The client identifier prefix.
    pub prefix: &'a str,
    /// The response mode.
    pub response_mode: &'a str,
    /// The certificates (DER); none if they are not set, or can't be read.
    pub chain: Option<&'a [Vec<u8>]>,
}

/// The settings of a wallet.
#[derive(Clone, Copy, Debug)]
pub struct WalletFacts<'a> {
    /// The certificates (DER) of its attester; none if they are not set, or can't be read.
    pub chain: Option<&'a [Vec<u8>]>,
}

/// Whether certificates that are set are as the profile wants them. That there are some is for the role to say.
fn is_right(chain: Option<&[Vec<u8>]>) -> bool {
    chain.is_none_or(|chain| is_chain(chain, &[]))
}

/// The fault of a setting, unless it keeps the rule.
fn unless(
    is_kept: bool,
    rule: HaipRule,
    setting: &'static str,
    remedy: &'static str,
) -> Option<OwnFault> {
    (!is_kept).then_some(OwnFault {
        rule,
        setting,
        remedy,
    })
}

impl IssuerFacts<'_> {
    /// The first setting that contradicts the profile.
    #[must_use]
    pub fn broken(&self) -> Option<OwnFault> {
        let faults = [
            unless(
                self.are_profiled,
                HaipRule::FORMATS_ISSUED,
                "[issuer] formats",
                "leave `formats` out, or set it to \"dc+sd-jwt\", \"mso_mdoc\", or both",
            ),
            unless(
                self.has_code_flow,
                HaipRule::CODE_FLOW,
                "[issuer.by_sign_in]",
                "name the types that people get by signing in under [issuer.by_sign_in] (docs/haip.md)",
            ),
            unless(
                self.is_certified,
                HaipRule::ISSUER_CHAIN,
                "[issuer] identify_by",
                "leave `identify_by` out, or set it to \"x5c\"; `certificate` and `certificate_key` are needed with it",
            ),
            unless(
                is_right(self.chain),
                HaipRule::ISSUER_CHAIN,
                "[issuer] certificate",
                "name a certificate of an authority, and leave the root out of the file",
            ),
            unless(
                self.attests_wallets,
                HaipRule::CLIENT_AUTHENTICATION,
                "[issuer.attestation] wallets",
                "leave `wallets` out, or set it to \"required\"",
            ),
            unless(
                self.attests_keys,
                HaipRule::KEY_ATTESTATIONS,
                "[issuer.attestation] keys",
                "leave `keys` and `types` out",
            ),
            unless(
                !self.knows_by_key,
                HaipRule::ATTESTATION_CHAIN,
                "[[issuer.attestation.attesters]] keys",
                "name the attester's authority by `certificates` in place of `keys`",
            ),
            unless(
                self.knows_by_certificate,
                HaipRule::ATTESTATION_CHAIN,
                "[[issuer.attestation.attesters]] certificates",
                "name the authorities of those who attest wallets by `certificates`",
            ),
        ];
        faults.into_iter().flatten().next()
    }
}

impl VerifierFacts<'_> {
    /// The first setting that contradicts the profile.
    #[must_use]
    pub fn broken(&self) -> Option<OwnFault> {
        let faults = [
            unless(
                self.prefix == "x509_hash",
                HaipRule::SIGNED_BY_HASH,
                "[verifier] client_id_prefix",
                "leave `client_id_prefix` out, or set it to \"x509_hash\"; `certificate` and `certificate_key` are needed with it",
            ),
            unless(
                self.response_mode == "direct_post.jwt",
                HaipRule::RESPONSE_MODE,
                "[verifier] response_mode",
                "leave `response_mode` out, or set it to \"direct_post.jwt\"",
            ),
            unless(
                is_right(self.chain),
                HaipRule::REQUEST_CHAIN,
                "[verifier] certificate",
                "name a certificate of an authority, and leave the root out of the file",
            ),
        ];
        faults.into_iter().flatten().next()
    }
}

impl WalletFacts<'_> {
    /// The first setting that contradicts the profile.
    #[must_use]
    pub fn broken(&self) -> Option<OwnFault> {
        let is_kept = self.chain.is_some_and(|chain| is_chain(chain, &[]));
        unless(
            is_kept,
            HaipRule::ATTESTATION_CHAIN,
            "[wallet] certificate",
            "name a certificate of an authority, without the root, and its key as `certificate_key`",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Authority;

    #[test]
    fn an_issuer_by_the_profile_starts_and_a_setting_that_contradicts_it_is_named() {
        let authority = Authority::new("An authority");
        let (chain, root) = (
            [authority.leaf("An issuer")],
            [authority.certificate.clone()],
        );
        let right = IssuerFacts {
            are_profiled: true,
            has_code_flow: true,
            is_certified: true,
            chain: Some(&chain),
            attests_wallets: true,
            attests_keys: true,
            knows_by_key: false,
            knows_by_certificate: true,
        };
        assert_eq!(right.broken(), None);
        let unset = IssuerFacts {
            chain: None,
            ..right
        };
        assert_eq!(unset.broken(), None);
        let broken = |change: fn(&mut IssuerFacts<'_>)| {
            let mut facts = right;
            change(&mut facts);
            let fault = facts.broken().unwrap();
            assert!(fault.to_string().contains(": HAIP 1.0 §"), "{fault}");
            fault.setting
        };
        let formats = broken(|facts| facts.are_profiled = false);
        assert_eq!(formats, "[issuer] formats");
        let flow = broken(|facts| facts.has_code_flow = false);
        assert_eq!(flow, "[issuer.by_sign_in]");
        let identified = broken(|facts| facts.is_certified = false);
        assert_eq!(identified, "[issuer] identify_by");
        let wallets = broken(|facts| facts.attests_wallets = false);
        assert_eq!(wallets, "[issuer.attestation] wallets");
        let keys = broken(|facts| facts.attests_keys = false);
        assert_eq!(keys, "[issuer.attestation] keys");
        let known = broken(|facts| facts.knows_by_key = true);
        assert_eq!(known, "[[issuer.attestation.attesters]] keys");
        let unknown = broken(|facts| facts.knows_by_certificate = false);
        assert_eq!(unknown, "[[issuer.attestation.attesters]] certificates");
        let rooted = IssuerFacts {
            chain: Some(&root),
            ..right
        };
        let fault = rooted.broken().unwrap();
        assert_eq!(fault.setting, "[issuer] certificate");
    }

    #[test]
    fn a_verifier_by_the_profile_starts_and_a_setting_that_contradicts_it_is_named() {
        let authority = Authority::new("An authority");
        let (chain, root) = (
            [authority.leaf("A verifier")],
            [authority.certificate.clone()],
        );
        let right = VerifierFacts {
            prefix: "x509_hash",
            response_mode: "direct_post.jwt",
            chain: Some(&chain),
        };
        assert_eq!(right.broken(), None);
        let cases = [
            (
                VerifierFacts {
                    prefix: "decentralized_identifier",
                    ..right
                },
                HaipRule::SIGNED_BY_HASH,
            ),
            (
                VerifierFacts {
                    response_mode: "direct_post",
                    ..right
                },
                HaipRule::RESPONSE_MODE,
            ),
            (
                VerifierFacts {
                    chain: Some(&root),
                    ..right
                },
                HaipRule::REQUEST_CHAIN,
            ),
        ];
        for (facts, rule) in cases {
            assert_eq!(facts.broken().map(|fault| fault.rule), Some(rule));
        }
    }

    #[test]
    fn a_wallet_by_the_profile_has_an_attester_with_a_certificate_of_an_authority() {
        let authority = Authority::new("An authority");
        let broken = |chain: Option<&[Vec<u8>]>| {
            let facts = WalletFacts { chain };
            facts.broken().map(|fault| fault.setting)
        };
        assert_eq!(broken(Some(&[authority.leaf("An attester")])), None);
        let wrong = Some("[wallet] certificate");
        assert_eq!(broken(None), wrong);
        let root = std::slice::from_ref(&authority.certificate);
        assert_eq!(broken(Some(root)), wrong);
    }
}
