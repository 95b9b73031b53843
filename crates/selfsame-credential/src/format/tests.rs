//! The table of formats, and a toy in it.

pub(super) mod toy;

use super::*;

#[test]
fn every_format_reads_back_from_its_name() {
    for format in Format::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
        assert_eq!(
            serde_json::to_value(format).unwrap(),
            Value::from(format.as_str())
        );
    }
    assert_eq!("jwt_vc_json-ld".parse::<Format>(), Err(UnknownFormat));
}

#[test]
fn a_credential_is_known_by_its_look_and_what_looks_like_nothing_counts_as_the_newest() {
    let jwt = |claims: Value| {
        let header = serde_json::json!({"alg": "ES256"});
        selfsame_crypto::jws::Unsigned::new(&header, &claims).finish(&[0; 64])
    };
    let (old, new) = (serde_json::json!({"vc": {}}), serde_json::json!({}));
    assert_eq!(Format::guess(&(jwt(new.clone()) + "~")), Format::SdJwtVc);
    assert_eq!(Format::guess(&jwt(old)), Format::JwtVcJson);
    assert_eq!(Format::guess(&jwt(new)), Format::VcJwt);
    assert_eq!(Format::guess("rubbish"), Format::VcJwt);
}
