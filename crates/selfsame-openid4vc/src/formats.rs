//! The formats and algorithms that both sides of a presentation know (OpenID4VP 1.0 §10.1, §11.1, Appendix B).

use selfsame_credential::Format;
use selfsame_credential::format::{Profile, ldp_vc};
use selfsame_crypto::Algorithm;

use crate::wire::client_metadata::{ClientMetadata, VpFormat};

/// The metadata of a party that knows every format and algorithm that this crate knows.
pub fn formats() -> ClientMetadata {
    // OpenID4VP 1.0 B.3.4 asks for fully specified names (RFC 9864); `EdDSA` is for wallets that know only that name.
    let listed = [
        Algorithm::Es256,
        Algorithm::EdDsa,
        Algorithm::Es256k,
        Algorithm::Es384,
    ];
    let names = listed.into_iter().flat_map(Algorithm::names);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let algorithms = || Some(names.clone());
    let sd_jwt = VpFormat {
        sd_jwt_alg_values: algorithms(),
        kb_jwt_alg_values: algorithms(),
        ..VpFormat::default()
    };
    let w3c = VpFormat {
        alg_values: algorithms(),
        ..VpFormat::default()
    };
    let numbers = || {
        let listed = [Algorithm::Es256, Algorithm::Es384, Algorithm::EdDsa];
        let numbers = listed.iter().flat_map(|one| one.cose_numbers());
        Some(numbers.copied().collect())
    };
    let mdoc = VpFormat {
        issuerauth_alg_values: numbers(),
        deviceauth_alg_values: numbers(),
        ..VpFormat::default()
    };
    let integrity = VpFormat {
        proof_type_values: Some(vec![ldp_vc::PROOF_TYPE.to_owned()]),
        cryptosuite_values: Some(ldp_vc::suite_names().map(str::to_owned).collect()),
        ..VpFormat::default()
    };
    let supported = |format: Format| match format.describe().profile {
        Profile::Mdoc => (format.to_string(), mdoc.clone()),
        Profile::SdJwtVc => (format.to_string(), sd_jwt.clone()),
        Profile::DataIntegrity => (format.to_string(), integrity.clone()),
        Profile::W3c | Profile::Compact => (format.to_string(), w3c.clone()),
    };
    ClientMetadata {
        vp_formats_supported: Format::of_people().map(supported).collect(),
        ..ClientMetadata::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_fully_specified_or_stands_beside_what_is() {
        for (format, listed) in formats().vp_formats_supported {
            let lists = [
                listed.alg_values,
                listed.sd_jwt_alg_values,
                listed.kb_jwt_alg_values,
            ];
            for names in lists.into_iter().flatten() {
                let expected = ["ES256", "Ed25519", "EdDSA", "ES256K", "ES384"];
                assert_eq!(names, expected, "{format}");
                assert!(names.iter().all(|name| name.parse::<Algorithm>().is_ok()));
            }
        }
    }
}
