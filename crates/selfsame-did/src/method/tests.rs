use selfsame_crypto::time::UnixTime;

use super::*;

fn planned(did: &str, options: &Options) -> Result<ResolutionPlan, ResolutionError> {
    Did::parse(did).unwrap().plan(options)
}

const KEY: &str = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";

#[test]
fn methods_that_carry_their_key_are_done_and_the_others_say_what_to_ask() {
    let options = Options::default();
    let Ok(ResolutionPlan::Done(resolution)) = planned(KEY, &options) else {
        panic!("not done")
    };
    assert_eq!(resolution.document().unwrap().id.as_str(), KEY);
    let Ok(ResolutionPlan::Fetch { url }) = planned("did:web:example.com", &options) else {
        panic!("no fetch")
    };
    assert_eq!(url.as_str(), "https://example.com/.well-known/did.json");
    let did = "did:selfsame:mfrggzdfmztwq2lk:4WJwSKNzJ3wiVcpBQKVkbe";
    assert!(matches!(
        planned(did, &options),
        Ok(ResolutionPlan::Registry { .. })
    ));
    let did = "did:cheqd:mainnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
    assert!(matches!(
        planned(did, &options),
        Ok(ResolutionPlan::Resolver(_))
    ));
    assert!(matches!(
        planned("did:example:1", &options),
        Ok(ResolutionPlan::Resolver(_))
    ));
}

#[test]
fn identifiers_that_their_method_does_not_have_are_invalid() {
    for did in [
        "did:key:z6Mk0",
        "did:key:abc",
        "did:jwk:e30",
        "did:web:127.0.0.1",
        "did:selfsame:x:y",
        "did:cheqd:mainnet:1",
        "did:cheqd:nowhere:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
    ] {
        assert_eq!(
            planned(did, &Options::default()),
            Err(ResolutionError::InvalidDid),
            "{did}"
        );
    }
    let p521 = "did:key:z2J9gaYxrKVpdoG9A4gRnmpnRCcxU6agDtFVVBVdn1JedouoZN7SzcyREXXzWgt3gGiwpoHq7K68X4m32D8HgzG8wv3sY5j7";
    assert_eq!(
        planned(p521, &Options::default()),
        Err(ResolutionError::FeatureNotSupported)
    );
}

#[test]
fn versions_are_asked_of_methods_that_have_them_only() {
    let at = Options {
        version_time: Some(UnixTime(1)),
        ..Options::default()
    };
    assert_eq!(planned(KEY, &at), Err(ResolutionError::FeatureNotSupported));
    assert_eq!(
        planned("did:web:example.com", &at),
        Err(ResolutionError::FeatureNotSupported)
    );
    let did = "did:selfsame:mfrggzdfmztwq2lk:4WJwSKNzJ3wiVcpBQKVkbe";
    let Ok(ResolutionPlan::Registry { options, .. }) = planned(did, &at) else {
        panic!("not the registry")
    };
    assert_eq!(options, at);
    let both = Options {
        version_id: Some("1".to_owned()),
        ..at
    };
    assert_eq!(planned(did, &both), Err(ResolutionError::InvalidOptions));
}
