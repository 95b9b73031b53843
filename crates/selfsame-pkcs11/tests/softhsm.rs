//! Keys in SoftHSM: signatures, wrapped master keys, wrong PINs, lost sessions and tokens.

use std::sync::Arc;
use std::time::Duration;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use selfsame_crypto::{Algorithm, KeyType, SecretString};
use selfsame_driver::hsm::{Hsm as _, HsmKey};
use selfsame_driver::{Error, ErrorKind};
use selfsame_pkcs11::{HsmPool, Token, TokenUri, WrappedKey};
use selfsame_testkit::softhsm::{PIN, SoftHsm};

const ORDER: &str = "needs SoftHSM";

fn uri(hsm: &SoftHsm, key: &str) -> TokenUri {
    hsm.uri("clinic", key).parse().unwrap()
}

fn token(hsm: &SoftHsm) -> Token {
    Token::new(&uri(hsm, ""), None).unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

fn id<T>(result: Result<T, Error>) -> String {
    result.err().expect(ORDER).reason.id().to_owned()
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn a_key_of_each_type_signs_what_its_public_half_verifies() {
    SoftHsm::alone(
        "a_key_of_each_type_signs_what_its_public_half_verifies",
        |hsm| {
            hsm.make_token("clinic");
            let token = token(hsm);
            let state = token.state().unwrap();
            assert!(state.signs_p256 && state.signs_ed25519 && state.wraps);
            assert!(state.keys.is_empty());
            let pool = HsmPool::open(&token, 2).unwrap();
            run(async {
                for (label, kind) in [
                    ("p", KeyType::P256),
                    ("e", KeyType::Ed25519),
                    ("r", KeyType::Rsa),
                ] {
                    let made = pool.create(label, kind).await.unwrap();
                    assert_eq!(pool.find(label).await.unwrap(), made);
                    let key = HsmKey::new(label, made.clone());
                    for length in [0, 1, 5_000] {
                        let bytes = vec![7; length];
                        let signature = pool.sign(&key, &bytes).await.unwrap();
                        let algorithm = kind.default_algorithm();
                        made.verify(algorithm, &bytes, &signature).unwrap();
                    }
                    let again = pool.create(label, kind).await.unwrap_err();
                    assert_eq!(again.kind, ErrorKind::Conflict);
                }
                // One RSA key signs by both schemes.
                let key = HsmKey::new("r", pool.find("r").await.unwrap());
                for algorithm in [Algorithm::Rs256, Algorithm::Ps256] {
                    let signing = pool.sign_with(&key, algorithm, b"bytes");
                    let signature = signing.await.unwrap();
                    let verified = key.public().verify(algorithm, b"bytes", &signature);
                    verified.unwrap();
                }
                assert_eq!(id(pool.find("none").await), "hsm-key-absent");
                // Another key has the label than the one that the record names.
                let other = pool.find("e").await.unwrap();
                let swapped = HsmKey::new("p", pool.create("q", KeyType::P256).await.unwrap());
                assert_eq!(
                    id(pool.sign(&swapped, b"bytes").await),
                    "hsm-signature-wrong"
                );
                let kind = HsmKey::new("p", other);
                assert!(pool.sign(&kind, b"bytes").await.is_err());
            });
            let mut labels: Vec<_> = token.state().unwrap().keys;
            labels.sort_by(|a, b| a.label.cmp(&b.label));
            let labels: Vec<_> = labels.iter().map(|key| key.label.as_str()).collect();
            assert_eq!(labels, ["e", "p", "q", "r"]);
        },
    );
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn a_hundred_signatures_are_made_eight_at_once() {
    SoftHsm::alone("a_hundred_signatures_are_made_eight_at_once", |hsm| {
        hsm.make_token("clinic");
        let pool = HsmPool::open(&token(hsm), 4).unwrap();
        run(async {
            let public = pool.create("issuer", KeyType::P256).await.unwrap();
            let key = Arc::new(HsmKey::new("issuer", public.clone()));
            let workers = (0..8_u8).map(|worker| {
                let (pool, key) = (pool.clone(), key.clone());
                tokio::spawn(async move {
                    let mut made = Vec::new();
                    for round in 0..13_u8 {
                        let bytes = vec![worker, round];
                        made.push((pool.sign(&key, &bytes).await.unwrap(), bytes));
                    }
                    made
                })
            });
            let mut count = 0;
            for worker in workers.collect::<Vec<_>>() {
                for (signature, bytes) in worker.await.unwrap() {
                    let algorithm = KeyType::P256.default_algorithm();
                    public.verify(algorithm, &bytes, &signature).unwrap();
                    count += 1;
                }
            }
            assert_eq!(count, 104);
        });
    });
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn sessions_that_were_lost_are_opened_again() {
    SoftHsm::alone("sessions_that_were_lost_are_opened_again", |hsm| {
        hsm.make_token("clinic");
        let pool = HsmPool::open(&token(hsm), 1).unwrap();
        run(async {
            let public = pool.create("issuer", KeyType::P256).await.unwrap();
            let key = HsmKey::new("issuer", public);
            pool.sign(&key, b"before").await.unwrap();
            // The module forgets all sessions and logins of the process.
            let module = Pkcs11::new(SoftHsm::module()).unwrap();
            module.clone().finalize().unwrap();
            let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
            module.initialize(arguments).unwrap();
            pool.sign(&key, b"after").await.unwrap();
        });
    });
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn a_token_that_is_gone_is_an_error_that_passes_when_it_comes_back() {
    let name = "a_token_that_is_gone_is_an_error_that_passes_when_it_comes_back";
    SoftHsm::alone(name, |hsm| {
        hsm.make_token("clinic");
        let away = hsm.tokens().with_extension("away");
        std::fs::rename(hsm.tokens(), &away).unwrap();
        std::fs::create_dir(hsm.tokens()).unwrap();
        let token = token(hsm);
        let absent = token.state().unwrap_err();
        assert_eq!(absent.reason.id(), "hsm-token-absent");
        assert!(matches!(absent.kind, ErrorKind::Unavailable { .. }));
        std::fs::remove_dir(hsm.tokens()).unwrap();
        std::fs::rename(&away, hsm.tokens()).unwrap();
        // The module is asked to look again after a few seconds at the earliest.
        std::thread::sleep(Duration::from_secs(6));
        assert_eq!(token.state().unwrap().label, "clinic");
    });
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn a_wrong_pin_is_told_and_not_tried_again() {
    SoftHsm::alone("a_wrong_pin_is_told_and_not_tried_again", |hsm| {
        hsm.make_token("clinic");
        hsm.write_pin("000000");
        let wrong = token(hsm);
        assert_eq!(id(HsmPool::open(&wrong, 1).map(drop)), "hsm-pin-refused");
        assert_eq!(id(wrong.state()), "hsm-pin-refused");
        // A PIN of the environment counts only where the URI names no file.
        let mut named = uri(hsm, "");
        let pin = Some(SecretString::new(PIN.to_owned()));
        let still = Token::new(&named, pin.clone()).unwrap();
        assert_eq!(id(still.state()), "hsm-pin-refused");
        named.pin_source = None;
        assert_eq!(id(Token::new(&named, None).map(drop)), "hsm-pin-missing");
        let right = Token::new(&named, pin).unwrap();
        assert!(right.state().is_ok());
        // The token itself would take this PIN now that its user is logged in; the refused one is not even tried.
        assert_eq!(id(wrong.state()), "hsm-pin-refused");
        std::fs::remove_file(hsm.pin_file()).unwrap();
        assert_eq!(
            id(Token::new(&uri(hsm, ""), None).map(drop)),
            "secret-unreadable"
        );
    });
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn a_master_key_is_unwrapped_by_its_key_alone() {
    SoftHsm::alone("a_master_key_is_unwrapped_by_its_key_alone", |hsm| {
        hsm.make_token("clinic");
        let token = token(hsm);
        token.create_wrapping_key("master").unwrap();
        token.create_wrapping_key("other").unwrap();
        assert_eq!(id(token.create_wrapping_key("other")), "hsm-key-exists");
        let (master, other) = (uri(hsm, "master").key, uri(hsm, "other").key);
        let wrapped = WrappedKey::new(&token, &master).unwrap();
        let bytes = wrapped.to_bytes().unwrap();
        let read = WrappedKey::parse(&bytes).unwrap();
        let sealed = wrapped.open(&token, &master).unwrap();
        let sealed = sealed.seal([0; 12], b"", b"plain").unwrap();
        let again = read.open(&token, &master).unwrap();
        assert_eq!(again.open(b"", &sealed).unwrap(), b"plain");
        assert_eq!(
            id(read.open(&token, &other).map(drop)),
            "hsm-wrapped-by-other"
        );
        assert_eq!(
            id(read.open(&token, &uri(hsm, "none").key).map(drop)),
            "hsm-key-absent"
        );
        // Two are never the same, and none opens if a digit of it is another.
        assert_ne!(
            WrappedKey::new(&token, &master)
                .unwrap()
                .to_bytes()
                .unwrap(),
            bytes
        );
        let text = String::from_utf8(bytes).unwrap();
        let (before, digits) = text.split_once(r#""wrapped":""#).unwrap();
        let flipped = if digits.starts_with('0') { "1" } else { "0" };
        let text = format!(r#"{before}"wrapped":"{flipped}{}"#, &digits[1..]);
        let damaged = WrappedKey::parse(text.as_bytes()).unwrap();
        assert_eq!(
            id(damaged.open(&token, &master).map(drop)),
            "hsm-wrapped-by-other"
        );
        assert_eq!(
            id(WrappedKey::parse(b"{}").map(drop)),
            "hsm-wrapped-damaged"
        );
    });
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn tokens_of_one_name_are_told_apart_by_their_serial_number() {
    let name = "tokens_of_one_name_are_told_apart_by_their_serial_number";
    SoftHsm::alone(name, |hsm| {
        hsm.make_token("clinic");
        let mut uri = uri(hsm, "");
        let serial = Token::new(&uri, None).unwrap().state().unwrap().serial;
        let one = SoftHsm::in_folder(hsm.tokens().parent().unwrap());
        one.make_token("clinic");
        let module = Pkcs11::new(SoftHsm::module()).unwrap();
        module.clone().finalize().unwrap();
        let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
        module.initialize(arguments).unwrap();
        assert_eq!(
            id(Token::new(&uri, None).unwrap().state()),
            "hsm-token-ambiguous"
        );
        uri.token.serial = Some(serial.clone());
        let state = Token::new(&uri, None).unwrap().state().unwrap();
        assert_eq!(state.serial, serial);
    });
}

#[test]
fn a_module_that_is_not_there_or_none_is_named() {
    for module in ["/nonexistent.so", "/dev/null", "/usr/bin/env"] {
        let uri = format!("pkcs11:token=a?module-path={module}");
        let pin = Some(SecretString::new(PIN.to_owned()));
        let refused = Token::new(&uri.parse().unwrap(), pin);
        assert_eq!(id(refused.map(drop)), "hsm-module-unusable");
    }
}
