//! What a wallet takes an offer by: the offer, the issuer's metadata, and those of its authorization server.

use crate::HaipRule;

/// The method by which wallets are attested.
const ATTESTED: &str = "attest_jwt_client_auth";
/// The method of code challenges, and the algorithm that everybody has (§7).
const S256: &str = "S256";
const ES256: &str = "ES256";

/// An offer, and what the metadata of its issuer say of what it offers.
#[derive(Clone, Debug, Default)]
pub struct OfferFacts {
    /// Whether the offer has the grant `authorization_code`, or none, which leaves it to the wallet.
    pub has_code: bool,
    /// Whether the issuer has a nonce endpoint.
    pub has_nonces: bool,
    /// The configurations that are offered.
    pub configurations: Vec<ConfigurationFacts>,
}

/// A configuration of an issuer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigurationFacts {
    /// Whether the profile has its format.
    pub is_profiled: bool,
    /// Whether it has a scope.
    pub has_scope: bool,
    /// Whether its credentials are bound to keys.
    pub is_bound: bool,
}

/// The metadata of an authorization server.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerFacts<'a> {
    /// Whether requests can be pushed.
    pub is_pushed_to: bool,
    /// `code_challenge_methods_supported`.
    pub challenges: &'a [String],
    /// Whether its responses name it.
    pub names_itself: bool,
    /// `dpop_signing_alg_values_supported`.
    pub proofs: &'a [String],
    /// `token_endpoint_auth_methods_supported`.
    pub methods: &'a [String],
}

impl OfferFacts {
    /// The first rule that the offer or its issuer breaks.
    #[must_use]
    pub fn broken(&self) -> Option<HaipRule> {
        let all = &self.configurations;
        if !self.has_code {
            return Some(HaipRule::OFFERED_CODE);
        }
        if all.iter().any(|one| !one.is_profiled) {
            return Some(HaipRule::FORMATS_ISSUED);
        }
        if all.iter().any(|one| !one.has_scope) {
            return Some(HaipRule::SCOPES);
        }
        let needs_nonce = all.iter().any(|one| one.is_bound) && !self.has_nonces;
        needs_nonce.then_some(HaipRule::NONCE_ENDPOINT)
    }
}

impl ServerFacts<'_> {
    /// The first rule that the server breaks.
    #[must_use]
    pub fn broken(&self) -> Option<HaipRule> {
        let has = |listed: &[String], name: &str| listed.iter().any(|one| one == name);
        let rules = [
            (self.is_pushed_to, HaipRule::PUSHED_REQUESTS),
            (has(self.challenges, S256), HaipRule::CODE_CHALLENGE),
            (self.names_itself, HaipRule::SERVER_NAMED),
            (has(self.proofs, ES256), HaipRule::BOUND_TOKENS),
            (has(self.methods, ATTESTED), HaipRule::CLIENT_AUTHENTICATION),
        ];
        let mut rules = rules.into_iter();
        rules.find_map(|(is_kept, rule)| (!is_kept).then_some(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer() -> OfferFacts {
        let one = ConfigurationFacts {
            is_profiled: true,
            has_scope: true,
            is_bound: true,
        };
        OfferFacts {
            has_code: true,
            has_nonces: true,
            configurations: vec![one, one],
        }
    }

    #[test]
    fn an_offer_by_the_profile_is_taken_and_each_other_one_is_refused_by_its_rule() {
        assert_eq!(offer().broken(), None);
        let broken = |change: fn(&mut OfferFacts)| {
            let mut facts = offer();
            change(&mut facts);
            facts.broken()
        };
        assert_eq!(
            broken(|facts| facts.has_code = false),
            Some(HaipRule::OFFERED_CODE)
        );
        assert_eq!(
            broken(|facts| facts.configurations[1].is_profiled = false),
            Some(HaipRule::FORMATS_ISSUED)
        );
        assert_eq!(
            broken(|facts| facts.configurations[0].has_scope = false),
            Some(HaipRule::SCOPES)
        );
        assert_eq!(
            broken(|facts| facts.has_nonces = false),
            Some(HaipRule::NONCE_ENDPOINT)
        );
    }

    #[test]
    fn credentials_that_are_bound_to_no_key_need_no_nonce() {
        let mut facts = offer();
        facts.has_nonces = false;
        for one in &mut facts.configurations {
            one.is_bound = false;
        }
        assert_eq!(facts.broken(), None);
    }

    #[test]
    fn a_server_by_the_profile_is_used_and_each_other_one_is_refused_by_its_rule() {
        let list = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let (challenges, proofs) = (list(&["plain", "S256"]), list(&["EdDSA", "ES256"]));
        let methods = list(&["none", "attest_jwt_client_auth"]);
        let right = ServerFacts {
            is_pushed_to: true,
            challenges: &challenges,
            names_itself: true,
            proofs: &proofs,
            methods: &methods,
        };
        assert_eq!(right.broken(), None);
        let (plain, other, none) = (list(&["plain"]), list(&["EdDSA"]), list(&["none"]));
        for (wrong, rule) in [
            (
                ServerFacts {
                    is_pushed_to: false,
                    ..right
                },
                HaipRule::PUSHED_REQUESTS,
            ),
            (
                ServerFacts {
                    challenges: &plain,
                    ..right
                },
                HaipRule::CODE_CHALLENGE,
            ),
            (
                ServerFacts {
                    names_itself: false,
                    ..right
                },
                HaipRule::SERVER_NAMED,
            ),
            (
                ServerFacts {
                    proofs: &other,
                    ..right
                },
                HaipRule::BOUND_TOKENS,
            ),
            (
                ServerFacts {
                    methods: &none,
                    ..right
                },
                HaipRule::CLIENT_AUTHENTICATION,
            ),
        ] {
            assert_eq!(wrong.broken(), Some(rule));
        }
        // A server that lists no method of challenges has none by RFC 8414 §2.
        let silent = ServerFacts {
            challenges: &[],
            ..right
        };
        assert_eq!(silent.broken(), Some(HaipRule::CODE_CHALLENGE));
    }
}
