//! Credentials as JWTs: what is read from them, and what is refused.

use selfsame_credential::Signer;
use selfsame_credential::format::{sd_jwt_vc, w3c};
use selfsame_credential::sd_jwt::DigestAlgorithm;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use serde_json::json;

use super::*;
use crate::identity::ExpectedPeer;
use crate::testing::NOW;

struct World {
    issuer: PrivateKey,
    holder: PrivateKey,
}

const ISSUER: &str = "did:web:issuer.example";

impl World {
    fn new() -> Self {
        let key = || PrivateKey::generate(KeyType::Ed25519).unwrap();
        Self {
            issuer: key(),
            holder: key(),
        }
    }

    fn signer(&self) -> Signer {
        let handle = KeyHandle::of(self.issuer.public());
        Signer::with_kid(handle, self.issuer.algorithm(), format!("{ISSUER}#keys-1"))
    }

    fn holder_did(&self) -> Did {
        key::create(self.holder.public())
    }

    fn policy(&self) -> IdentityPolicy {
        let keys = vec![(format!("{ISSUER}#keys-1"), self.issuer.public().clone())];
        let issuer = TrustedIssuer {
            types: vec!["HostCredential".to_owned(), "urn:host".to_owned()],
            claims: vec!["dns".to_owned()],
            ..TrustedIssuer::new(Did::parse(ISSUER).unwrap(), keys)
        };
        IdentityPolicy::of_credentials(&["key"], vec![issuer], ExpectedPeer::Vouched)
    }

    fn w3c(&self, format: Format, change: impl FnOnce(&mut w3c::Issue)) -> String {
        let mut issue = w3c::Issue {
            format,
            issuer: ISSUER.to_owned(),
            subject: Some(self.holder_did().to_string()),
            types: vec!["HostCredential".to_owned()],
            contexts: Vec::new(),
            claims: json!({"dns": "a.example", "name": "A"})
                .as_object()
                .unwrap()
                .clone(),
            id: None,
            valid_from: NOW.minus(60),
            valid_until: Some(NOW.plus(3600)),
            status: None,
            token_status: None,
            cnf: None,
            further: Map::new(),
            signer: self.signer(),
        };
        change(&mut issue);
        let draft = issue.draft().unwrap();
        let signature = self.issuer.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    fn sd_jwt(&self, change: impl FnOnce(&mut sd_jwt_vc::Issue)) -> String {
        let mut issue = sd_jwt_vc::Issue {
            claims: json!({
                "iss": ISSUER, "vct": "urn:host", "nbf": NOW.0 - 60, "exp": NOW.0 + 3600,
                "dns": ["a.example"], "name": "A",
            })
            .as_object()
            .unwrap()
            .clone(),
            disclosable: Vec::new(),
            decoys: 0,
            cnf: Some(self.holder.public().to_jwk()),
            digest: DigestAlgorithm::Sha256,
            signer: self.signer(),
            label: "test".to_owned(),
        };
        change(&mut issue);
        let draft = issue.draft(&Ctx::new(NOW, [5; 32])).unwrap();
        let signature = self.issuer.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    fn accept(&self, format: VcFormat, text: &str) -> Result<Credential, Alert> {
        self.accept_by(format, text, &self.policy())
    }

    fn accept_by(
        &self,
        format: VcFormat,
        text: &str,
        policy: &IdentityPolicy,
    ) -> Result<Credential, Alert> {
        let bytes = text.as_bytes().to_vec();
        let accepted = Credential::accept(Vc { format, bytes }, policy, NOW);
        accepted.map_err(|refusal| refusal.alert)
    }
}

const W3C: [(VcFormat, Format); 2] = [
    (VcFormat::VC_JWT, Format::VcJwt),
    (VcFormat::JWT_VC_JSON, Format::JwtVcJson),
];

#[test]
fn a_jwt_of_either_data_model_says_what_its_issuer_signed() {
    let world = World::new();
    for (format, name) in W3C {
        let text = world.w3c(name, |_| {});
        let credential = world.accept(format, &text).unwrap();
        assert_eq!(credential.vc.bytes, text.as_bytes());
        assert_eq!(credential.issuer.as_str(), ISSUER);
        assert_eq!(credential.key_id, format!("{ISSUER}#keys-1"));
        assert_eq!(credential.subject, world.holder_did());
        assert_eq!(credential.validity.expires, Some(NOW.plus(3600)));
        assert_eq!(credential.types, ["VerifiableCredential", "HostCredential"]);
        let claims = json!({"dns": "a.example"});
        assert_eq!(Value::Object(credential.claims), claims);
        assert!(credential.statuses.is_empty());
    }
}

#[test]
fn an_sd_jwt_vc_is_of_the_key_it_is_bound_to() {
    let world = World::new();
    let text = world.sd_jwt(|issue| {
        let status = Reference::token("https://issuer.example/s", 3).to_value();
        issue.claims.insert("status".to_owned(), status);
    });
    let credential = world.accept(VcFormat::SD_JWT_VC, &text).unwrap();
    assert_eq!(credential.subject, world.holder_did());
    assert_eq!(credential.types, ["urn:host"]);
    let list = Reference::token("https://issuer.example/s", 3);
    assert_eq!(credential.statuses, [list]);
    let claims = json!({"dns": ["a.example"]});
    assert_eq!(Value::Object(credential.claims), claims);
}

#[test]
fn who_is_named_and_who_is_bound_have_to_be_the_same() {
    let world = World::new();
    let other = World::new();
    let sd_jwt = |sub: Did, cnf: Option<Jwk>| {
        let text = world.sd_jwt(|issue| {
            issue.claims.insert("sub".to_owned(), json!(sub));
            issue.cnf = cnf;
        });
        world.accept(VcFormat::SD_JWT_VC, &text).map(|_| ())
    };
    let bound = world.holder.public().to_jwk();
    assert_eq!(sd_jwt(world.holder_did(), Some(bound.clone())), Ok(()));
    assert_eq!(sd_jwt(world.holder_did(), None), Ok(()));
    let differ = Err(Alert::BadCertificate);
    assert_eq!(sd_jwt(other.holder_did(), Some(bound.clone())), differ);
    let nobody = world.sd_jwt(|issue| issue.cnf = None);
    let nobody = world.accept(VcFormat::SD_JWT_VC, &nobody);
    assert_eq!(nobody.map(|_| ()), differ);
    for (format, name) in W3C {
        let text = world.w3c(name, |issue| {
            issue.subject = Some(other.holder_did().to_string());
            issue.cnf = Some(bound.clone());
        });
        assert_eq!(world.accept(format, &text).map(|_| ()), differ);
        let nobody = world.w3c(name, |issue| issue.subject = None);
        assert_eq!(world.accept(format, &nobody).map(|_| ()), differ);
    }
}

#[test]
fn each_broken_rule_has_its_alert() {
    let world = World::new();
    let forger = World::new();
    for (format, name) in W3C {
        let alert = |text: &str| world.accept(format, text).unwrap_err();
        // Signed by another key under the issuer's name.
        assert_eq!(alert(&forger.w3c(name, |_| {})), Alert::BadCertificate);
        let foreign = world.w3c(name, |issue| issue.issuer = "did:web:b.example".to_owned());
        assert_eq!(alert(&foreign), Alert::UnknownCa);
        let unknown = |issue: &mut w3c::Issue| {
            issue.signer.kid = Some(format!("{ISSUER}#keys-2"));
        };
        assert_eq!(alert(&world.w3c(name, unknown)), Alert::UnknownCa);
        let of_other = |issue: &mut w3c::Issue| {
            issue.signer.kid = Some("did:web:b.example#keys-1".to_owned());
        };
        assert_eq!(alert(&world.w3c(name, of_other)), Alert::UnknownCa);
        let late = world.w3c(name, |issue| issue.valid_until = Some(NOW.minus(61)));
        assert_eq!(alert(&late), Alert::CertificateExpired);
        let early = world.w3c(name, |issue| issue.valid_from = NOW.plus(61));
        assert_eq!(alert(&early), Alert::CertificateExpired);
        let other_type = world.w3c(name, |issue| issue.types = vec!["Door".to_owned()]);
        assert_eq!(alert(&other_type), Alert::AccessDenied);
        let unknown_status = world.w3c(name, |issue| {
            issue.status = Some(json!({"id": "urn:a", "type": "SomeOtherList"}));
        });
        assert_eq!(alert(&unknown_status), Alert::UnsupportedCertificate);
        let good = world.w3c(name, |_| {});
        let mut payload = good.clone();
        let dot = payload.find('.').unwrap();
        payload.replace_range(dot + 10..dot + 11, "_");
        assert_eq!(alert(&payload), Alert::BadCertificate);
        assert_eq!(alert(&format!("{good}.")), Alert::BadCertificate);
        assert_eq!(alert(&good[..good.len() - 4]), Alert::BadCertificate);
        assert_eq!(alert(""), Alert::BadCertificate);
        let mut policy = world.policy();
        policy.max_vc = good.len() - 1;
        let long = world.accept_by(format, &good, &policy);
        assert_eq!(long.unwrap_err(), Alert::BadCertificate);
    }
}

#[test]
fn a_credential_is_not_taken_for_one_of_another_format() {
    let world = World::new();
    let texts = [
        (VcFormat::VC_JWT, world.w3c(Format::VcJwt, |_| {})),
        (VcFormat::JWT_VC_JSON, world.w3c(Format::JwtVcJson, |_| {})),
        (VcFormat::SD_JWT_VC, world.sd_jwt(|_| {})),
    ];
    for (own, text) in &texts {
        for format in VcFormat::ALL.into_iter().filter(|format| format != own) {
            let taken = world.accept(format, text);
            assert_eq!(
                taken.unwrap_err(),
                Alert::BadCertificate,
                "{own:?} as {format:?}"
            );
        }
        assert_eq!(
            world.accept(VcFormat(9), text).unwrap_err(),
            Alert::UnsupportedCertificate
        );
    }
}

#[test]
fn a_presentation_is_not_a_credential() {
    let world = World::new();
    let text = world.sd_jwt(|_| {});
    let parsed = SdJwt::parse(&text).unwrap();
    let claims = sd_jwt_vc::KeyBindingClaims {
        audience: "a".to_owned(),
        nonce: "b".to_owned(),
        issued_at: NOW,
        further: Map::new(),
    };
    let handle = KeyHandle::of(world.holder.public());
    let draft = parsed.present(&[]).unwrap();
    let draft = claims.bind(draft, handle, world.holder.algorithm());
    let signature = world.holder.sign(draft.signing_input()).unwrap();
    let bound = draft.finish(&signature);
    let taken = world.accept(VcFormat::SD_JWT_VC, &bound);
    assert_eq!(taken.unwrap_err(), Alert::BadCertificate);
}
