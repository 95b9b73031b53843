use super::*;

#[test]
fn each_identifier_names_one_format_and_artefact() {
    for format in FORMATS {
        for artefact in Artefact::ALL {
            let found = find((format.id)(artefact)).unwrap();
            assert_eq!(found.format.name, format.name);
            let is_request =
                artefact == Artefact::ProposedProof && found.artefact == Artefact::ProofRequest;
            assert!(found.artefact == artefact || is_request);
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
    let written = FORMATS.iter().map(|format| {
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
    for format in FORMATS {
        assert_eq!(format.fits(Artefact::Offer, offer), Ok(true));
        assert_eq!(format.fits(Artefact::Request, offer), Ok(false));
        assert_eq!(format.fits(Artefact::Filter, b"[]"), Ok(false));
        assert!(format.fits(Artefact::Offer, b"{").is_err());
    }
}
