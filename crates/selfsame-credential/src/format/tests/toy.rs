//! A toy: a format in a folder, as the example of how to add one. It exists only in tests.
//!
//! A credential is a JWT with all claims at its top level, bound to the key in `cnf`. A presentation is a JWT of that
//! key around it.

mod describe;
mod hold;
mod issue;
mod present;
mod verify;

use crate::format::entry::Entry;

pub(in crate::format) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read_credential,
    read_presentation: verify::read_presentation,
    is_like: describe::is_like,
    bare: present::bare,
    too_much: verify::too_much,
    asked_types: None,
    w3c: None,
};

use selfsame_crypto::KeyType;
use serde_json::json;

use crate::{
    evidence::Evidence,
    format::Format,
    held::Held,
    testing::{NOW, Party},
    verdict::{Outcome, Policy, Trust, Verdict},
    verify::{Binding, Examination, Presented},
};

fn binding(nonce: &str) -> Binding {
    Binding {
        audience: "https://verifier.example".to_owned(),
        nonce: nonce.to_owned(),
        session: None,
    }
}

/// The verdict on a text, by a verifier who sent the nonce `n` and trusts any issuer.
fn judged(raw: &str) -> Verdict {
    let expected = binding("n");
    let presented = Presented {
        format: Format::Toy,
        raw,
        expected: Some(&expected),
    };
    let policy = Policy {
        trusted_issuers: Trust::Any,
        accept_did_issuers: true,
        ..Policy::default()
    };
    let examination = Examination::new(&presented).unwrap();
    examination.verify(&policy, &Evidence::default(), NOW).0
}

#[test]
fn a_credential_of_a_new_format_is_issued_held_presented_and_verified() {
    let (issuer, holder) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let claims = json!({ "kind": "toy", "colour": "red" });
    let credential = issuer.sign(issue::draft(
        &issuer.did,
        &holder.key,
        &claims,
        &issuer.signer(),
    ));

    assert_eq!(Format::guess(&credential), Format::Toy);
    let held = Held::parse(&credential, Format::Toy).unwrap();
    assert_eq!(held.types(), ["toy"]);
    assert_eq!(held.claims()["colour"], "red");
    assert!(held.is_holder_bound());

    let present = |nonce| holder.sign(present::draft(&held, &binding(nonce), &holder.signer()));
    assert_eq!(Format::Toy.bare(&present("n")), Some(credential.clone()));
    assert_eq!(judged(&present("n")).outcome, Outcome::Valid);
    assert_eq!(judged(&present("other")).outcome, Outcome::Invalid);
    let stolen = issuer.sign(present::draft(&held, &binding("n"), &issuer.signer()));
    assert_eq!(judged(&stolen).outcome, Outcome::Invalid);
}
