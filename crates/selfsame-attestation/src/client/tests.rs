use proptest::prelude::*;
use selfsame_crypto::PrivateKey;
use selfsame_crypto::ctx::Ctx;
use selfsame_oauth::Code;
use selfsame_oauth::jwt::VerificationKeys;
use serde_json::{Value, json};

use super::*;
use crate::made::{AttesterHeader, ClientAttestationDraft, PopDraft};
use crate::sample::{
    ATTESTER, Authority, CLIENT, NOW, SERVER, challenge, challenges, finished, jwk, key, signed,
    trusting, with, x5c,
};
use crate::trust::KnownAttester;

/// An attester and an instance of a wallet.
struct Pair {
    attester: PrivateKey,
    instance: PrivateKey,
}

impl Pair {
    fn new() -> Self {
        Self {
            attester: key(),
            instance: key(),
        }
    }

    fn attestation(&self) -> Value {
        json!({"iss": ATTESTER, "sub": CLIENT, "exp": NOW.0 + 600, "cnf": {"jwk": jwk(&self.instance)}})
    }

    fn judged(&self, attestation: &str, pop: &str) -> Result<AttestedClient, AttestationFault> {
        judged(&trusting(&self.attester), attestation, pop)
    }

    /// The result for an attestation with this change, and a proof with that one.
    fn changed(
        &self,
        attestation: (&str, Value),
        pop: (&str, Value),
    ) -> Result<AttestedClient, AttestationFault> {
        let header = json!({"typ": TYP, "alg": "ES256", "kid": "11"});
        let attestation = with(self.attestation(), attestation.0, attestation.1);
        let attestation = signed(&self.attester, &header, &attestation);
        let header = json!({"typ": POP_TYP, "alg": "ES256"});
        let pop = signed(&self.instance, &header, &with(proof(), pop.0, pop.1));
        self.judged(&attestation, &pop)
    }

    fn pop(&self) -> String {
        let header = json!({"typ": POP_TYP, "alg": "ES256"});
        signed(&self.instance, &header, &proof())
    }
}

fn proof() -> Value {
    json!({"iss": CLIENT, "aud": SERVER, "jti": "1", "iat": NOW.0, "challenge": challenge()})
}

fn judged(
    trusted: &TrustedAttesters,
    attestation: &str,
    pop: &str,
) -> Result<AttestedClient, AttestationFault> {
    let rules = ClientRules {
        trusted,
        server: SERVER,
        challenges: &challenges(),
        now: NOW,
    };
    judge(&AttestationHeaders { attestation, pop }, &rules)
}

/// No change.
fn same() -> (&'static str, Value) {
    ("other", json!("ignored"))
}

#[test]
fn a_client_is_attested_by_what_a_wallet_and_its_attester_make() {
    let pair = Pair::new();
    let draft = ClientAttestationDraft {
        attester: ATTESTER,
        client_id: CLIENT,
        instance: pair.instance.public(),
        wallet_name: Some("A wallet"),
        lifetime: 600,
    };
    let header = AttesterHeader {
        algorithm: pair.attester.algorithm(),
        kid: Some("11"),
        x5c: &[],
    };
    let attestation = finished(&pair.attester, draft.draft(&header, NOW));
    let pop = |seed| {
        let challenge = challenge();
        let draft = PopDraft {
            client_id: CLIENT,
            server: SERVER,
            challenge: Some(&challenge),
        };
        let ctx = Ctx::new(NOW, [seed; 32]);
        finished(&pair.instance, draft.draft(pair.instance.public(), &ctx))
    };
    let client = pair.judged(&attestation, &pop(1)).unwrap();
    assert_eq!((&*client.client_id, &*client.attester), (CLIENT, ATTESTER));
    assert_eq!(
        client.instance,
        base64url_encode(&pair.instance.public().thumbprint())
    );
    // The same proof is the same identifier, another one is another.
    let again = pair.judged(&attestation, &pop(1)).unwrap();
    assert_eq!(again.spent, client.spent);
    let other = pair.judged(&attestation, &pop(2)).unwrap();
    assert_ne!(other.spent.id, client.spent.id);
    assert!(client.spent.expires > NOW.plus(POP_AGE));
}

#[test]
fn an_attestation_lacks_no_claim_and_is_not_over() {
    let pair = Pair::new();
    assert!(pair.changed(same(), same()).is_ok());
    let private = with(jwk(&pair.instance), "d", json!("AAAA"));
    let encrypting = with(jwk(&pair.instance), "use", json!("enc"));
    for (change, fault) in [
        (("iss", Value::Null), AttestationFault::Claim),
        (
            ("iss", json!("https://other.example")),
            AttestationFault::Untrusted,
        ),
        (("sub", Value::Null), AttestationFault::Claim),
        (("sub", json!("")), AttestationFault::Claim),
        (
            ("sub", json!("https://other.example")),
            AttestationFault::OtherClient,
        ),
        (("exp", Value::Null), AttestationFault::Claim),
        (("exp", json!("soon")), AttestationFault::Claim),
        (("exp", json!(NOW.0 - 60)), AttestationFault::Stale),
        (("exp", json!(NOW.0 + 3 * LONGEST)), AttestationFault::Claim),
        (("nbf", json!(NOW.0 + 61)), AttestationFault::Early),
        (("iat", json!(NOW.0 + 61)), AttestationFault::Early),
        (("cnf", Value::Null), AttestationFault::Claim),
        (("cnf", json!({"kid": "1"})), AttestationFault::Claim),
        (("cnf", json!({"jwk": private})), AttestationFault::Key),
        (
            ("cnf", json!({"jwk": encrypting})),
            AttestationFault::Algorithm,
        ),
        (
            ("cnf", json!({"jwk": jwk(&key())})),
            AttestationFault::Signature,
        ),
    ] {
        let told = format!("{change:?}");
        assert_eq!(pair.changed(change, same()), Err(fault), "{told}");
    }
}

#[test]
fn a_proof_of_possession_is_for_this_server_this_client_and_this_moment() {
    let pair = Pair::new();
    let several = json!([SERVER, "https://rs.example"]);
    assert!(pair.changed(same(), ("aud", several)).is_ok());
    for (change, fault) in [
        (("iss", Value::Null), AttestationFault::OtherClient),
        (
            ("iss", json!("https://other.example")),
            AttestationFault::OtherClient,
        ),
        (("aud", Value::Null), AttestationFault::Audience),
        (
            ("aud", json!("https://as.example/token")),
            AttestationFault::Audience,
        ),
        (("jti", Value::Null), AttestationFault::Claim),
        (("jti", json!("")), AttestationFault::Claim),
        (
            ("jti", json!("j".repeat(MAX_JTI + 1))),
            AttestationFault::Claim,
        ),
        (("iat", Value::Null), AttestationFault::Claim),
        (("iat", json!(NOW.0 + 61)), AttestationFault::Early),
        (("iat", json!(NOW.0 - 360)), AttestationFault::Old),
        (("nbf", json!(NOW.0 + 61)), AttestationFault::Early),
        (("exp", json!(NOW.0 - 60)), AttestationFault::Old),
        (("challenge", Value::Null), AttestationFault::Challenge),
        (
            ("challenge", json!("AYjcyMzY3ZDhiNmJkNTZ")),
            AttestationFault::Challenge,
        ),
    ] {
        let told = format!("{change:?}");
        assert_eq!(pair.changed(same(), change), Err(fault), "{told}");
    }
}

#[test]
fn tokens_of_other_types_and_algorithms_attest_nothing() {
    let pair = Pair::new();
    let attested = |header: Value| signed(&pair.attester, &header, &pair.attestation());
    let judged = |attestation: &str| pair.judged(attestation, &pair.pop());
    assert!(judged(&attested(json!({"typ": TYP, "alg": "ES256"}))).is_ok());
    for typ in ["jwt", POP_TYP, "key-attestation+jwt"] {
        let refused = judged(&attested(json!({"typ": typ, "alg": "ES256"})));
        assert_eq!(refused, Err(AttestationFault::Type));
    }
    assert_eq!(
        judged(&attested(json!({"alg": "ES256"}))),
        Err(AttestationFault::Type)
    );
    // The signature of another algorithm does not fit the attester's key.
    let other = attested(json!({"typ": TYP, "alg": "EdDSA"}));
    assert_eq!(judged(&other), Err(AttestationFault::Untrusted));
    let weak = attested(json!({"typ": TYP, "alg": "RS256"}));
    assert_eq!(judged(&weak), Err(AttestationFault::Algorithm));
    for none in ["", "a.b.c", "eyJhbGciOiJub25lIn0.e30."] {
        assert_eq!(judged(none), Err(AttestationFault::Form), "{none}");
    }
    let attestation = attested(json!({"typ": TYP, "alg": "ES256"}));
    let pop = |header: Value| signed(&pair.instance, &header, &proof());
    let typ = pair.judged(&attestation, &pop(json!({"typ": TYP, "alg": "ES256"})));
    assert_eq!(typ, Err(AttestationFault::Type));
    let alg = pair.judged(&attestation, &pop(json!({"typ": POP_TYP, "alg": "RS256"})));
    assert_eq!(alg, Err(AttestationFault::Algorithm));
}

#[test]
fn an_unknown_attester_attests_nothing() {
    let (pair, stranger) = (Pair::new(), key());
    let header = json!({"typ": TYP, "alg": "ES256", "kid": "11"});
    let attestation = signed(&stranger, &header, &pair.attestation());
    let refused = pair.judged(&attestation, &pair.pop());
    assert_eq!(refused, Err(AttestationFault::Untrusted));
    let nobody = TrustedAttesters::default();
    let attestation = signed(&pair.attester, &header, &pair.attestation());
    assert!(nobody.is_empty());
    assert_eq!(
        judged(&nobody, &attestation, &pair.pop()),
        Err(AttestationFault::Untrusted)
    );
    let unknown = json!({"typ": TYP, "alg": "ES256", "kid": "12"});
    let attestation = signed(&pair.attester, &unknown, &pair.attestation());
    assert_eq!(
        pair.judged(&attestation, &pair.pop()),
        Err(AttestationFault::Untrusted)
    );
}

#[test]
fn certificates_lead_to_an_anchor_that_is_not_among_them() {
    let (pair, authority) = (Pair::new(), Authority::new("attesters"));
    let (signing, leaf) = authority.certify(2040);
    let trusted = TrustedAttesters::new(Vec::new(), vec![authority.der.clone()]);
    let judged = |key: &PrivateKey, chain: &[&[u8]]| {
        let header = json!({"typ": TYP, "alg": "ES256", "x5c": x5c(chain)});
        let attestation = signed(key, &header, &pair.attestation());
        judged(&trusted, &attestation, &pair.pop())
    };
    assert!(judged(&signing, &[&leaf]).is_ok());
    assert_eq!(
        judged(&signing, &[&leaf, &authority.der]),
        Err(AttestationFault::Anchor)
    );
    assert_eq!(judged(&key(), &[&leaf]), Err(AttestationFault::Untrusted));
    let (signing, leaf) = authority.certify(2021);
    assert_eq!(judged(&signing, &[&leaf]), Err(AttestationFault::Stale));
    let stranger = Authority::new("somebody else");
    let (signing, leaf) = stranger.certify(2040);
    assert_eq!(judged(&signing, &[&leaf]), Err(AttestationFault::Untrusted));
    // A certificate that signed itself.
    let own = rcgen::generate_simple_self_signed(vec!["attester.example".to_owned()]).unwrap();
    let signing = PrivateKey::from_pkcs8(&own.signing_key.serialize_der()).unwrap();
    assert_eq!(
        judged(&signing, &[own.cert.der()]),
        Err(AttestationFault::Untrusted)
    );
}

#[test]
fn the_attestation_of_the_specification_holds_and_its_proof_is_by_another_key() {
    let vector = include_str!("../../../../vectors/attestation/client.json");
    let vector: Value = serde_json::from_str(vector).unwrap();
    let text = |name: &str| vector[name].as_str().unwrap();
    let known = KnownAttester {
        issuer: text("issuer").to_owned(),
        keys: VerificationKeys::of(vec![Jwk::from_value(&vector["attester"]).unwrap()]),
    };
    let trusted = TrustedAttesters::new(vec![known], Vec::new());
    let challenges = challenges();
    let rules = ClientRules {
        trusted: &trusted,
        server: text("server"),
        challenges: &challenges,
        now: UnixTime(vector["now"].as_u64().unwrap()),
    };
    let attestation = read(text("attestation"), TYP).unwrap();
    trusted.verify(&attestation, rules.now).unwrap();
    let attested = attested(&attestation, rules.now).unwrap();
    assert_eq!(attested.client_id, text("client_id"));
    assert!(PublicKey::from_jwk(&attested.key).is_ok());
    // The proof of the example is signed by the attester, not by the key that the attestation confirms.
    let both = AttestationHeaders {
        attestation: text("attestation"),
        pop: text("pop"),
    };
    assert_eq!(judge(&both, &rules), Err(AttestationFault::Signature));
    let later = ClientRules {
        now: UnixTime(1_300_819_440),
        ..rules
    };
    assert_eq!(judge(&both, &later), Err(AttestationFault::Stale));
}

#[test]
fn a_server_answers_with_the_codes_of_the_draft() {
    for (fault, code) in [
        (AttestationFault::Missing, Code::InvalidClient),
        (AttestationFault::Challenge, Code::UseAttestationChallenge),
        (AttestationFault::Stale, Code::UseFreshAttestation),
        (AttestationFault::Untrusted, Code::InvalidClientAttestation),
    ] {
        let error = selfsame_oauth::Error::from(fault);
        assert_eq!((error.code, error.reason), (code, fault.reason()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_changed_byte_of_an_attestation_or_a_proof_is_overlooked(
        of_pop in any::<bool>(),
        place in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"ABCdef019-_.~".to_vec()),
    ) {
        let pair = Pair::new();
        let header = json!({"typ": TYP, "alg": "ES256", "kid": "11"});
        let attestation = signed(&pair.attester, &header, &pair.attestation());
        let mut texts = [attestation.into_bytes(), pair.pop().into_bytes()];
        let changed = &mut texts[usize::from(of_pop)];
        let place = place.index(changed.len());
        prop_assume!(changed[place] != byte);
        changed[place] = byte;
        let [attestation, pop] = texts.map(|text| String::from_utf8(text).unwrap());
        prop_assert!(pair.judged(&attestation, &pop).is_err());
    }
}
