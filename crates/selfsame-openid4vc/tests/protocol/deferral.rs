//! Requests for credentials that take their time: their keys are proven at once, their credentials made later (OpenID4VCI
//! 1.0 §8.3, §9).

use selfsame_crypto::KeyType;
use selfsame_openid4vc::{
    Error,
    issuer::{
        Deferral, DeferralAsked, Issuance, IssuanceState, credential::CredentialAsked, defer, issue,
    },
    wire::{credential::CredentialRequest, deferred::KeptHolder},
};

use crate::world::{Driver, Issuer, NOW, Party, SD_JWT, W3C, at, credentials, request};

impl Issuer {
    fn defers(
        &self,
        state: &IssuanceState,
        request: &CredentialRequest,
        seconds: u64,
    ) -> Result<Deferral, Error> {
        let asked = DeferralAsked {
            request,
            settings: &self.settings,
        };
        let mut driver = Driver::new(&[&self.party]);
        driver.run(|evidence| defer(state, &asked, evidence, &at(seconds, 4)))
    }

    /// Makes the credentials of a request that was deferred.
    fn delivers(
        &self,
        state: &IssuanceState,
        request: &CredentialRequest,
        holders: &[KeptHolder],
        seconds: u64,
    ) -> Result<Issuance, Error> {
        let asked = CredentialAsked {
            request,
            content: &self.content,
            settings: &self.settings,
            proven: Some(holders),
        };
        let mut driver = Driver::new(&[&self.party]);
        driver.run(|evidence| issue(state, &asked, evidence, &at(seconds, 5)))
    }

    /// A token that lives for days, as one that is bound to a key does.
    fn lasting(&self, configuration_id: &str) -> IssuanceState {
        let mut granted = self.granted(configuration_id);
        granted.expires = NOW.plus(30 * 86_400);
        IssuanceState::Granted(granted)
    }
}

fn code<T>(result: Result<T, Error>) -> &'static str {
    let Err(error) = result else {
        panic!("this must be refused");
    };
    error.code().unwrap()
}

#[test]
fn a_key_that_was_proven_gets_its_credential_days_later() {
    let issuer = Issuer::new();
    for configuration in [SD_JWT, W3C] {
        let holders = [Party::new(KeyType::P256), Party::new(KeyType::P256)];
        let proofs = holders.each_ref().map(|holder| issuer.proof(holder));
        let request = request(configuration, &proofs);
        let deferral = issuer
            .defers(&issuer.lasting(configuration), &request, 0)
            .unwrap();
        assert!(!deferral.is_repeated);
        // Both proofs have the one nonce that the issuer gave.
        assert_eq!((deferral.holders.len(), deferral.spent.len()), (2, 1));
        let kept = serde_json::to_string(&deferral.holders).unwrap();
        let kept: Vec<KeptHolder> = serde_json::from_str(&kept).unwrap();
        // The proofs are too old by then, and their nonces have expired.
        let late = 3 * 86_400;
        assert_eq!(
            code(issuer.defers(&issuer.lasting(configuration), &request, late)),
            "invalid_proof"
        );
        let issuance = issuer
            .delivers(&deferral.state, &request, &kept, late)
            .unwrap();
        assert_eq!(credentials(&issuance).credentials.len(), 2);
        assert!(issuance.spent.is_empty());
        let again = issuer
            .delivers(&issuance.state, &request, &kept, late)
            .unwrap();
        assert!(again.issued.is_empty());
        assert_eq!(credentials(&again), credentials(&issuance));
    }
}

#[test]
fn the_same_request_is_deferred_once_and_another_one_with_its_token_is_refused() {
    let issuer = Issuer::new();
    let (one, two) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let first = request(SD_JWT, &[issuer.proof(&one)]);
    let deferral = issuer.defers(&issuer.lasting(SD_JWT), &first, 0).unwrap();
    let stored = serde_json::to_string(&deferral.state).unwrap();
    let stored: IssuanceState = serde_json::from_str(&stored).unwrap();
    let again = issuer.defers(&stored, &first, 400).unwrap();
    assert!(again.is_repeated && again.holders.is_empty() && again.spent.is_empty());
    let second = request(SD_JWT, &[issuer.proof(&two)]);
    let refused = issuer.defers(&stored, &second, 0);
    assert_eq!(code(refused), "credential_request_denied");
}

#[test]
fn a_request_that_proves_nothing_is_refused_at_once_and_not_kept() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let without = request(SD_JWT, &[]);
    let state = issuer.lasting(SD_JWT);
    assert_eq!(code(issuer.defers(&state, &without, 0)), "invalid_proof");
    let other = request(W3C, &[issuer.proof(&holder)]);
    assert_eq!(code(issuer.defers(&state, &other, 0)), "insufficient_scope");
    let good = request(SD_JWT, &[issuer.proof(&holder)]);
    let short = IssuanceState::Granted(issuer.granted(SD_JWT));
    assert_eq!(code(issuer.defers(&short, &good, 601)), "invalid_token");
    let offer = IssuanceState::Offered(issuer.offer(SD_JWT).state);
    assert!(matches!(
        issuer.defers(&offer, &good, 0),
        Err(Error::State(_))
    ));
}

#[test]
fn a_token_that_has_ended_gets_nothing_though_its_keys_were_proven() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let request = request(SD_JWT, &[issuer.proof(&holder)]);
    let short = IssuanceState::Granted(issuer.granted(SD_JWT));
    let deferral = issuer.defers(&short, &request, 0).unwrap();
    let late = issuer.delivers(&deferral.state, &request, &deferral.holders, 601);
    assert_eq!(code(late), "invalid_token");
}
