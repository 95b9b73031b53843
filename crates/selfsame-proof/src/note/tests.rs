//! Tests of notes, with the example of the specification.

use super::*;
use proptest::prelude::*;
use selfsame_crypto::PrivateKey;

const VKEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const NOTE: &str = include_str!("../../vectors/signed-note-example.txt");

fn note() -> &'static str {
    NOTE.split_once("----\n").unwrap().1
}

fn key(name: &str) -> (VerifierKey, PrivateKey) {
    let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
    (VerifierKey::new(name, private.public()).unwrap(), private)
}

fn signed(text: &str, by: &(VerifierKey, PrivateKey)) -> SignedNote {
    let mut note = SignedNote::new(text.to_owned()).unwrap();
    let signature = by.1.sign(note.signing_bytes()).unwrap();
    note.sign(&by.0, signature).unwrap();
    note
}

#[test]
fn the_example_of_the_specification_verifies_and_is_written_as_it_was_read() {
    let key: VerifierKey = VKEY.parse().unwrap();
    assert_eq!(key.to_string(), VKEY);
    let parsed = SignedNote::parse(note()).unwrap();
    assert_eq!(
        parsed.verify(std::slice::from_ref(&key)).unwrap(),
        "This is an example message.\n"
    );
    assert_eq!(parsed.to_string(), note());
    let tampered =
        SignedNote::parse(&note().replace("example message", "example massage")).unwrap();
    assert_eq!(tampered.verify(&[key]), Err(ProofError::BadSignature));
}

#[test]
fn what_is_signed_here_verifies_here() {
    let (first, second) = (key("a.example/1"), key("b.example/2"));
    let mut note = signed("one\n\ntwo\n", &first);
    let signature = second.1.sign(note.signing_bytes()).unwrap();
    note.sign(&second.0, signature).unwrap();
    let read = SignedNote::parse(&note.to_string()).unwrap();
    assert_eq!(read, note);
    for keys in [
        vec![first.0.clone()],
        vec![second.0.clone()],
        vec![first.0, second.0],
    ] {
        assert_eq!(read.verify(&keys).unwrap(), "one\n\ntwo\n");
    }
}

#[test]
fn unknown_keys_are_ignored_and_alone_not_enough() {
    let (signer, stranger) = (key("a.example"), key("a.example"));
    let note = signed("text\n", &signer);
    assert_eq!(note.verify(&[stranger.0]), Err(ProofError::Untrusted));
    assert_eq!(note.verify(&[]), Err(ProofError::Untrusted));
    let renamed = VerifierKey::new("b.example", signer.1.public()).unwrap();
    assert_eq!(note.verify(&[renamed]), Err(ProofError::Untrusted));
}

#[test]
fn one_bad_signature_of_a_known_key_spoils_the_note() {
    let (good, bad) = (key("good.example"), key("bad.example"));
    let mut note = signed("text\n", &good);
    note.signatures.push(Signature {
        name: bad.0.name.clone(),
        key_id: bad.0.key_id,
        bytes: vec![0; 64],
    });
    assert_eq!(
        note.verify(&[good.0.clone(), bad.0]),
        Err(ProofError::BadSignature)
    );
    assert!(
        note.verify(&[good.0]).is_ok(),
        "of an unknown key it is ignored"
    );
}

#[test]
fn a_key_that_shares_the_id_but_not_the_name_is_unknown() {
    let (signer, other) = (key("a.example"), key("b.example"));
    let note = signed("text\n", &signer);
    let colliding = VerifierKey {
        key_id: signer.0.key_id,
        ..other.0
    };
    assert_eq!(note.verify(&[colliding]), Err(ProofError::Untrusted));
}

#[test]
fn a_bad_signature_is_not_added() {
    let (key, _) = key("a.example");
    let mut note = SignedNote::new("text\n".to_owned()).unwrap();
    assert_eq!(note.sign(&key, vec![0; 64]), Err(ProofError::BadSignature));
}

#[test]
fn malformed_notes_are_refused() {
    let signature = note().lines().last().unwrap();
    let many = format!(
        "text\n\n{}",
        format!("{signature}\n").repeat(MAX_SIGNATURES + 1)
    );
    let most = format!(
        "text\n\n{}",
        format!("{signature}\n").repeat(MAX_SIGNATURES)
    );
    assert!(SignedNote::parse(&most).is_ok());
    let long = format!("{}\n\n{signature}\n", "a".repeat(MAX_NOTE_BYTES));
    let bad = [
        String::new(),
        "text\n".to_owned(),
        "text\n\n".to_owned(),
        format!("text\n\n{signature}"),
        format!("text\n{signature}\n"),
        format!("\n\n{signature}\n"),
        format!("te\txt\n\n{signature}\n"),
        format!("text\r\n\n{signature}\n"),
        format!("text\n\n{signature}\n\n"),
        format!("text\n\n{}\n", signature.replace('\u{2014}', "-")),
        format!(
            "text\n\n{}\n",
            signature.replace("example.com/foo", "example com")
        ),
        format!("text\n\n{}\n", signature.replace("example.com/foo", "a+b")),
        format!("text\n\n{}\n", signature.replace("example.com/foo", "")),
        format!("text\n\n{}\n", signature.trim_end_matches('=')),
        "text\n\n\u{2014} a UQ==\n".to_owned(),
        "text\n\n\u{2014} a Uw2QOg==\n".to_owned(),
        many,
        long,
    ];
    for bad in bad {
        assert!(
            matches!(SignedNote::parse(&bad), Err(ProofError::Note(_))),
            "{bad:.80?}"
        );
    }
    for bad in ["", "\n", "text", "a\u{0}\n"] {
        assert!(SignedNote::new(bad.to_owned()).is_err(), "{bad:?}");
    }
}

#[test]
fn malformed_verifier_keys_are_refused() {
    for bad in [
        "",
        "example.com/foo",
        "example.com/foo+530d903a",
        "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/fox+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903b+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903a+AukyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U",
        "example.com/foo+530d903a+",
    ] {
        assert!(
            matches!(bad.parse::<VerifierKey>(), Err(ProofError::VerifierKey(_))),
            "{bad}"
        );
    }
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    assert!(VerifierKey::new("a", p256.public()).is_err());
}

proptest! {
    #[test]
    fn any_text_is_a_note_in_one_form_or_refused(text in "(\\PC|\n|\u{2014} |a QUJDREVG){0,40}") {
        if let Ok(note) = SignedNote::parse(&text) {
            prop_assert_eq!(note.to_string(), text);
        }
    }
}

#[test]
fn a_witness_signs_the_time_with_the_text() {
    let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let key = VerifierKey::witness("witness.example/w1", private.public()).unwrap();
    assert_eq!(key.to_string().parse(), Ok(key.clone()));
    let time = UnixTime(1_679_315_147);
    let mut note = SignedNote::new("log.example\n7\n".to_owned()).unwrap();
    let message = cosigned(note.text(), time).unwrap();
    // C2SP tlog-cosignature, Ed25519 signed message.
    assert_eq!(
        message,
        b"cosignature/v1\ntime 1679315147\nlog.example\n7\n"
    );
    let signature = private.sign(&message).unwrap();
    let stamped = |time: u64| [&time.to_be_bytes()[..], &signature].concat();
    for bad in [
        stamped(time.0 + 1),
        stamped(u64::MAX),
        signature.clone(),
        vec![0; 7],
    ] {
        assert_eq!(note.sign(&key, bad), Err(ProofError::BadSignature));
    }
    assert!(cosigned(note.text(), UnixTime(1 << 63)).is_err());
    note.sign(&key, stamped(time.0)).unwrap();
    let keys = [key];
    let read = SignedNote::parse(&note.to_string()).unwrap();
    let signer = NoteSigner {
        key: &keys[0],
        time: Some(time),
    };
    assert_eq!(read.signers(&keys), Ok(vec![signer]));
    // A witness key does not verify signatures of a log, nor a log's key those of a witness.
    let log = VerifierKey::new("witness.example/w1", private.public()).unwrap();
    assert_eq!(read.signers(&[log]), Ok(vec![]));
}

#[test]
fn a_cosignature_of_the_specification_is_read() {
    let note = include_str!("../../vectors/cosignature-example.txt");
    let note = note.split_once("----\n").unwrap().1;
    let read = SignedNote::parse(note).unwrap();
    let witness = &read.signatures[1];
    assert_eq!(
        (witness.name.as_str(), witness.bytes.len()),
        ("witness.example.com/w1", 72)
    );
    let time = u64::from_be_bytes(witness.bytes[..8].try_into().unwrap());
    assert_eq!(time, 1_679_315_147);
}

#[test]
fn a_space_in_a_name_is_what_unicode_says() {
    for c in '\0'..=char::MAX {
        assert_eq!(is_space(c), c.is_whitespace(), "{c:?}");
    }
}
