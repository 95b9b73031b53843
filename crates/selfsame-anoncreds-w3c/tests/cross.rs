//! Both forms exchanged with the published library: `cargo xtask cross anoncreds`.

#[path = "../../selfsame-anoncreds/tests/oracle/party.rs"]
mod party;
#[path = "../../selfsame-anoncreds/tests/oracle/rig.rs"]
mod rig;
#[path = "support/vectors.rs"]
mod vectors;

use selfsame_crypto::time::UnixTime;

mod wheel {
    use selfsame_anoncreds::format::{Credential, Message as _};
    use selfsame_anoncreds_w3c::presentation::{ToWrite, to_w3c};
    use selfsame_anoncreds_w3c::{IssuedBy, credential};
    use serde_json::json;

    use super::*;
    use crate::party::Party as _;
    use crate::rig::Wheel;
    use crate::vectors::{PRESENTATIONS, issuers, judged, read, text, tree};

    #[test]
    #[ignore = "needs the oracle: `cargo xtask test` runs it"]
    fn the_library_reads_our_form_of_a_credential_as_the_same_credential() {
        let mut library = Wheel::start();
        for flow in ["legacy", "qualified"] {
            let issuer = tree(&format!("{flow}/cred_def.json"))["issuerId"].clone();
            let own = text(&format!("{flow}/credential.json"));
            let form = credential::to_w3c(
                own.as_bytes(),
                IssuedBy {
                    issuer: issuer.as_str().unwrap(),
                    at: UnixTime(1_700_000_000),
                },
            );
            let arguments = json!({ "credential": form.unwrap().to_string() });
            let again = library.call("from_w3c", &arguments).unwrap();
            let again = Credential::from_json(again.as_str().unwrap().as_bytes());
            assert_eq!(again, Credential::from_json(own.as_bytes()), "{flow}");
        }
    }

    #[test]
    #[ignore = "needs the oracle: `cargo xtask test` runs it"]
    fn the_library_verifies_our_form_of_a_presentation() {
        let mut library = Wheel::start();
        for name in PRESENTATIONS {
            let own = read(name, &tree(&format!("w3c/{name}.json"))).unwrap();
            let form = to_w3c(&ToWrite {
                request: text(&format!("w3c/{name}.request.json")).as_bytes(),
                presentation: &own.json,
                issuers: &issuers(),
                at: UnixTime(1_700_000_000),
            });
            let given = judged(name, form.unwrap().to_string().as_bytes());
            assert_eq!(
                library.call("verify_w3c", &given),
                Ok(json!(true)),
                "{name}"
            );
        }
    }
}
