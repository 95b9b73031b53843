use super::*;

#[test]
fn each_identifier_names_one_format_and_artefact() {
    for format in FORMATS {
        for artefact in Artefact::ALL {
            let found = find((format.id)(artefact)).unwrap();
            assert_eq!(found.format.name, format.name);
            assert_eq!((format.id)(found.artefact), (format.id)(artefact));
        }
    }
    assert!(find("hlindy/cred@v3.0").is_none());
}

#[test]
fn a_filter_has_the_names_of_its_format() {
    let filter = CredentialFilter {
        issuer: Some("did:sov:4RW6QK2HZhHxa2tg7t1jqt".to_owned()),
        schema_name: Some("permit".to_owned()),
        ..CredentialFilter::default()
    };
    let written = [&hlindy::FORMAT, &anoncreds::FORMAT]
        .into_iter()
        .map(|format| {
            let bytes = (format.write_filter)(&filter);
            assert_eq!((format.read_filter)(&bytes), Ok(filter.clone()));
            String::from_utf8(bytes).unwrap()
        });
    let written: Vec<String> = written.collect();
    assert!(written[0].contains("\"issuer_did\"") && written[1].contains("\"issuer_id\""));
}

#[test]
fn an_attachment_fits_if_it_has_the_members_of_its_artefact() {
    let offer = br#"{"schema_id":"s","cred_def_id":"c","nonce":"1","key_correctness_proof":{}}"#;
    for format in [&hlindy::FORMAT, &anoncreds::FORMAT] {
        assert_eq!(format.fits(Artefact::Offer, offer), Ok(true));
        assert_eq!(format.fits(Artefact::Request, offer), Ok(false));
        assert_eq!(format.fits(Artefact::Filter, b"[]"), Ok(false));
        assert!(format.fits(Artefact::Offer, b"{").is_err());
    }
}

#[test]
fn a_credential_that_is_a_jwt_is_attached_in_its_own_format() {
    for format in selfsame_credential::Format::of_any_type() {
        let found = find(format.as_str()).unwrap();
        assert_eq!(found.format.name, "dif");
        assert_eq!(found.artefact, Artefact::Credential);
    }
}

#[test]
fn what_a_manifest_asks_for_is_kept_as_it_is() {
    let terms = br#"{"credential":{"schema":"allergies"},"issuer":"did:example:1"}"#;
    let filter = (dif::FORMAT.read_filter)(terms).unwrap();
    assert_eq!(filter.cred_def_id, None);
    assert_eq!((dif::FORMAT.write_filter)(&filter), terms);
    // A filter of AnonCreds says nothing in its place.
    let indy = (hlindy::FORMAT.read_filter)(br#"{"terms":{"a":1}}"#).unwrap();
    assert_eq!(indy, CredentialFilter::default());
}
