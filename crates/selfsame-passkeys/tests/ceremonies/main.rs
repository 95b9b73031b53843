//! Both ceremonies, with an authenticator of the test's and with the answers of the specification.

use selfsame_crypto::KeyType;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode, hex_decode};
use selfsame_crypto::json;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_passkeys::{
    Assertion, AssertionResponse, CHALLENGE_SECONDS, Creation, CreationOptions, NewPasskey,
    Passkey, PasskeyAlgorithm, PasskeyChallenge, PasskeyError, RegistrationResponse, RelyingParty,
    RequestOptions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

mod authenticator;

use authenticator::{Authenticator, flipped, text};

const HANDLE: &[u8] = b"sixteen letters!";
const NOW: UnixTime = UnixTime(1_800_000_000);

fn party() -> RelyingParty {
    let origin = Url::parse("https://id.example:8443/").unwrap();
    RelyingParty::at(&origin, "The clinic").unwrap()
}

fn authenticator(kind: KeyType) -> Authenticator {
    Authenticator::new(kind, "id.example", "https://id.example:8443")
}

fn key() -> SealingKey {
    SealingKey::from_bytes([3; 32])
}

fn challenge(seed: u8) -> PasskeyChallenge {
    PasskeyChallenge::new(&key(), b"a purpose", &Ctx::new(NOW, [seed; 32]))
}

fn read<T: DeserializeOwned>(answer: &Value) -> Result<T, PasskeyError> {
    json::value_as(answer.clone()).map_err(|_| PasskeyError::Malformed("answer"))
}

fn options(existing: &[Passkey], challenge: &PasskeyChallenge) -> Value {
    let new = NewPasskey {
        user_handle: HANDLE,
        account: "maja@example.org",
        existing,
    };
    serde_json::to_value(CreationOptions::of(&party(), &new, challenge)).unwrap()
}

fn request(challenge: &PasskeyChallenge) -> Value {
    serde_json::to_value(RequestOptions::of(&party(), challenge)).unwrap()
}

/// What the relying party makes of the answer to a first challenge.
fn registered(answer: &Value) -> Result<Passkey, PasskeyError> {
    let (response, challenge) = (read::<RegistrationResponse>(answer)?, challenge(1));
    party().registered(&Creation {
        challenge: challenge.bytes(),
        response: &response,
    })
}

/// What it makes of the answer to a second challenge.
fn proven(passkey: &Passkey, answer: &Value) -> Result<Passkey, PasskeyError> {
    let (response, challenge) = (read::<AssertionResponse>(answer)?, challenge(2));
    party().proven(&Assertion {
        challenge: challenge.bytes(),
        user_handle: HANDLE,
        passkey,
        response: &response,
    })
}

#[test]
fn a_passkey_of_each_kind_is_created_and_answers() {
    for (kind, algorithm) in [
        (KeyType::P256, PasskeyAlgorithm::Es256),
        (KeyType::Ed25519, PasskeyAlgorithm::EdDsa),
    ] {
        let mut authenticator = authenticator(kind);
        authenticator.flags |= 8;
        let answer = authenticator.create(&options(&[], &challenge(1)));
        let passkey = registered(&answer).unwrap();
        assert_eq!(passkey.algorithm, algorithm);
        assert_eq!(passkey.transports, ["hybrid", "internal"]);
        assert!(passkey.backup_eligible && !passkey.backed_up);
        authenticator.flags |= 16;
        let answer = authenticator.answer(&request(&challenge(2)));
        let again = proven(&passkey, &answer).unwrap();
        assert!(again.backed_up);
        // The record is kept as JSON.
        let kept = serde_json::to_vec(&again).unwrap();
        assert!(serde_json::from_slice::<Passkey>(&kept).unwrap() == again);
    }
}

#[test]
fn the_browser_is_asked_for_a_passkey_that_verifies_its_owner_and_is_found_without_a_name() {
    let mut authenticator = authenticator(KeyType::P256);
    let passkey = registered(&authenticator.create(&options(&[], &challenge(1)))).unwrap();
    let options = options(std::slice::from_ref(&passkey), &challenge(1));
    assert_eq!(
        options["rp"],
        json!({"id": "id.example", "name": "The clinic"})
    );
    assert_eq!(options["excludeCredentials"][0]["id"], passkey.id);
    assert_eq!(options["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(
        options["authenticatorSelection"]["userVerification"],
        "required"
    );
    let offered = options["pubKeyCredParams"].as_array().unwrap().iter();
    let offered: Vec<&Value> = offered.map(|params| &params["alg"]).collect();
    assert_eq!(offered, [-8, -7, -257]);
    let request = request(&challenge(2));
    assert_eq!(request["allowCredentials"], json!([]));
    assert_eq!(request["userVerification"], "required");
    let lenient = RequestOptions::of(&party().as_second_factor(), &challenge(2));
    let lenient = serde_json::to_value(lenient).unwrap();
    assert_eq!(lenient["userVerification"], "preferred");
}

#[test]
fn an_answer_for_another_site_ceremony_challenge_or_by_nobody_is_refused() {
    type Change = fn(&mut Authenticator);
    let changes: [(Change, PasskeyError); 8] = [
        (|one| one.rp_id = "example".into(), PasskeyError::OtherParty),
        (
            |one| one.origin = "https://id.example".into(),
            PasskeyError::Origin,
        ),
        (
            |one| one.origin = "https://id.example:8443/".into(),
            PasskeyError::Origin,
        ),
        (framed, PasskeyError::Origin),
        (
            |one| member(one, "topOrigin", "https://id.example:8443".into()),
            PasskeyError::Origin,
        ),
        (|one| one.flags &= !1, PasskeyError::NotPresent),
        (|one| one.flags &= !4, PasskeyError::NotVerified),
        (
            |one| one.flags |= 16,
            PasskeyError::Malformed("authenticator data"),
        ),
    ];
    for (number, (change, refusal)) in changes.into_iter().enumerate() {
        let mut one = authenticator(KeyType::P256);
        change(&mut one);
        let answer = one.create(&options(&[], &challenge(1)));
        assert_eq!(registered(&answer), Err(refusal), "change {number}");
        let mut one = authenticator(KeyType::P256);
        let passkey = registered(&one.create(&options(&[], &challenge(1)))).unwrap();
        change(&mut one);
        let answer = one.answer(&request(&challenge(2)));
        assert_eq!(proven(&passkey, &answer), Err(refusal), "change {number}");
    }
    let mut one = authenticator(KeyType::Ed25519);
    let other = one.create(&options(&[], &challenge(2)));
    assert_eq!(registered(&other), Err(PasskeyError::Challenge));
    let passkey = registered(&one.create(&options(&[], &challenge(1)))).unwrap();
    let other = one.answer(&request(&challenge(1)));
    assert_eq!(proven(&passkey, &other), Err(PasskeyError::Challenge));
    member(&mut one, "type", "webauthn.create".into());
    let other = one.answer(&request(&challenge(2)));
    assert_eq!(proven(&passkey, &other), Err(PasskeyError::OtherCeremony));
}

fn framed(one: &mut Authenticator) {
    member(one, "crossOrigin", true.into());
}

fn member(one: &mut Authenticator, name: &str, value: Value) {
    one.client_data.insert(name.to_owned(), value);
}

#[test]
fn an_answer_of_another_passkey_or_account_is_refused() {
    let mut one = authenticator(KeyType::P256);
    let passkey = registered(&one.create(&options(&[], &challenge(1)))).unwrap();
    let mut other = authenticator(KeyType::P256);
    other.create(&options(&[], &challenge(1)));
    let answer = other.answer(&request(&challenge(2)));
    assert_eq!(proven(&passkey, &answer), Err(PasskeyError::OtherPasskey));
    let mut named = answer.clone();
    for member in ["id", "rawId"] {
        named[member] = passkey.id.clone().into();
    }
    assert_eq!(proven(&passkey, &named), Err(PasskeyError::Signature));
    for handle in [json!("b3RoZXI"), json!(""), Value::Null] {
        let mut answer = one.answer(&request(&challenge(2)));
        answer["response"]["userHandle"] = handle;
        assert_eq!(proven(&passkey, &answer), Err(PasskeyError::OtherPasskey));
    }
    one.flags |= 8;
    let answer = one.answer(&request(&challenge(2)));
    assert!(matches!(
        proven(&passkey, &answer),
        Err(PasskeyError::Malformed(_))
    ));
}

#[test]
fn a_counter_that_does_not_grow_is_refused_unless_there_is_none() {
    let mut one = authenticator(KeyType::P256);
    let mut passkey = registered(&one.create(&options(&[], &challenge(1)))).unwrap();
    for (count, is_taken) in [
        (0, true),
        (7, true),
        (7, false),
        (6, false),
        (0, false),
        (8, true),
    ] {
        one.sign_count = count;
        match proven(&passkey, &one.answer(&request(&challenge(2)))) {
            Ok(counted) if is_taken => passkey = counted,
            Err(PasskeyError::Counter) if !is_taken => {}
            other => panic!("{count}: {other:?}"),
        }
    }
    assert_eq!(passkey.sign_count, 8);
}

#[test]
fn a_flipped_bit_of_an_answer_is_noticed() {
    let mut one = authenticator(KeyType::P256);
    let passkey = registered(&one.create(&options(&[], &challenge(1)))).unwrap();
    let answer = one.answer(&request(&challenge(2)));
    for member in ["authenticatorData", "clientDataJSON", "signature"] {
        let text = &answer["response"][member];
        let bits = text.as_str().unwrap().len() * 6 / 8 * 8;
        for bit in 0..bits {
            let mut changed = answer.clone();
            changed["response"][member] = flipped(text, bit);
            assert!(proven(&passkey, &changed).is_err(), "{member}, bit {bit}");
        }
    }
    // The attestation covers nothing, but what is read must be whole.
    let created = one.create(&options(&[], &challenge(1)));
    let text = &created["response"]["clientDataJSON"];
    for bit in 0..64 {
        let mut changed = created.clone();
        changed["response"]["clientDataJSON"] = flipped(text, bit);
        assert!(registered(&changed).is_err(), "bit {bit}");
    }
}

#[test]
fn statements_of_authenticators_about_themselves_are_read_over() {
    let mut one = authenticator(KeyType::P256);
    one.format = "fido-u2f";
    assert!(registered(&one.create(&options(&[], &challenge(1)))).is_ok());
    one.format = "a format with spaces";
    assert!(registered(&one.create(&options(&[], &challenge(1)))).is_err());
}

#[test]
fn a_challenge_serves_one_purpose_for_five_minutes() {
    let challenge = challenge(1);
    let open =
        |purpose: &[u8], bytes: &[u8], now| PasskeyChallenge::opened(&key(), purpose, bytes, now);
    let last = NOW.plus(CHALLENGE_SECONDS - 1);
    assert_eq!(
        open(b"a purpose", challenge.bytes(), last),
        Ok(challenge.clone())
    );
    let refused = Err(PasskeyError::Challenge);
    let after = NOW.plus(CHALLENGE_SECONDS);
    assert_eq!(open(b"a purpose", challenge.bytes(), after), refused);
    assert_eq!(open(b"another", challenge.bytes(), NOW), refused);
    assert_eq!(open(b"a purpose", &[], NOW), refused);
    let other = SealingKey::from_bytes([4; 32]);
    let forged = PasskeyChallenge::new(&other, b"a purpose", &Ctx::new(NOW, [1; 32]));
    assert_eq!(open(b"a purpose", forged.bytes(), NOW), refused);
    for bit in 0..challenge.bytes().len() * 8 {
        let mut bytes = challenge.bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(b"a purpose", &bytes, NOW), refused);
    }
}

#[test]
fn browsers_have_passkeys_at_domains_and_on_this_machine() {
    let at = |origin: &str| {
        let party = RelyingParty::at(&Url::parse(origin).unwrap(), "The clinic");
        party.map(|party| party.id)
    };
    assert_eq!(at("https://id.example").as_deref(), Some("id.example"));
    assert_eq!(at("http://localhost:8080").as_deref(), Some("localhost"));
    for none in [
        "http://id.example",
        "https://127.0.0.1",
        "http://[::1]:80",
        "http://127.0.0.1",
    ] {
        assert_eq!(at(none), None, "{none}");
    }
}

/// An answer of the specification as a browser sends it.
fn sent(id: &Value, members: &Value, names: &[&str]) -> Value {
    let text = |value: &Value| base64url_encode(&hex_decode(&text(value)).unwrap()).into();
    let id: Value = text(id);
    let mut answer = json!({"id": id, "rawId": id, "type": "public-key", "response": {}});
    for name in names {
        answer["response"][*name] = text(&members[*name]);
    }
    answer
}

/// What is expected of a case of the specification.
fn expected(case: &str) -> Option<PasskeyError> {
    match case {
        "none-es256-crossOrigin" | "none-es256-topOrigin" => Some(PasskeyError::Origin),
        "packed-es384" => Some(PasskeyError::Algorithm),
        _ => None,
    }
}

#[test]
fn the_answers_of_the_specification_are_taken_or_refused_by_its_rules() {
    let vectors = include_str!("../../../../vectors/webauthn/level3.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    let origin = Url::parse("https://example.org").unwrap();
    let strict = RelyingParty::at(&origin, "").unwrap();
    let lenient = strict.clone().as_second_factor();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() > 10);
    for case in cases {
        let (name, first, second) = (
            text(&case["name"]),
            &case["registration"],
            &case["authentication"],
        );
        let created = sent(
            &first["credential_id"],
            first,
            &["clientDataJSON", "attestationObject"],
        );
        let created: RegistrationResponse = read(&created).unwrap();
        let creation = Creation {
            challenge: &hex_decode(&text(&first["challenge"])).unwrap(),
            response: &created,
        };
        let passkey = match (lenient.registered(&creation), expected(&name)) {
            (Ok(passkey), None) => passkey,
            (Err(refusal), Some(expected)) if refusal == expected => continue,
            (other, _) => panic!("{name}: {other:?}"),
        };
        let is_verified = case["verified"]["registration"] == true;
        assert_eq!(strict.registered(&creation).is_ok(), is_verified, "{name}");
        let members = ["clientDataJSON", "authenticatorData", "signature"];
        let mut answered = sent(&first["credential_id"], second, &members);
        answered["response"]["userHandle"] = base64url_encode(HANDLE).into();
        let answered: AssertionResponse = read(&answered).unwrap();
        let assertion = Assertion {
            challenge: &hex_decode(&text(&second["challenge"])).unwrap(),
            user_handle: HANDLE,
            passkey: &passkey,
            response: &answered,
        };
        assert!(lenient.proven(&assertion).is_ok(), "{name}");
        let is_verified = case["verified"]["authentication"] == true;
        assert_eq!(strict.proven(&assertion).is_ok(), is_verified, "{name}");
    }
}

#[test]
fn the_answers_of_a_browser_are_taken_for_each_algorithm() {
    let vectors = include_str!("../../../../vectors/webauthn/chromium.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    let bytes = |value: &Value| base64url_decode(value.as_str().unwrap()).unwrap();
    for case in cases {
        let origin = Url::parse(&text(&case["origin"])).unwrap();
        let party = RelyingParty::at(&origin, "").unwrap();
        let (first, second) = (&case["registration"], &case["authentication"]);
        let created: RegistrationResponse = read(&first["response"]).unwrap();
        let creation = Creation {
            challenge: &bytes(&first["challenge"]),
            response: &created,
        };
        let passkey = party.registered(&creation).unwrap();
        assert_eq!(Some(passkey.algorithm.number()), case["algorithm"].as_i64());
        let answered: AssertionResponse = read(&second["response"]).unwrap();
        let assertion = Assertion {
            challenge: &bytes(&second["challenge"]),
            user_handle: &bytes(&case["handle"]),
            passkey: &passkey,
            response: &answered,
        };
        let proven = party.proven(&assertion).unwrap();
        assert!(proven.sign_count > passkey.sign_count);
    }
}
