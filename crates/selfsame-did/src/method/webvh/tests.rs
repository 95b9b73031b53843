use super::*;

/// The SCID of the specification's example.
const SCID: &str = "QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE";

fn did(place: &str) -> Did {
    Did::parse(&format!("did:webvh:{SCID}:{place}")).unwrap()
}

fn log(place: &str) -> Result<String, WebvhError> {
    url(&did(place)).map(String::from)
}

#[test]
fn the_specifications_examples_become_their_urls() {
    for (place, expected) in [
        ("example.com", "https://example.com/.well-known/did.jsonl"),
        (
            "issuer.example.com",
            "https://issuer.example.com/.well-known/did.jsonl",
        ),
        (
            "example.com:dids:issuer",
            "https://example.com/dids/issuer/did.jsonl",
        ),
        (
            "example.com%3A3000:dids:issuer",
            "https://example.com:3000/dids/issuer/did.jsonl",
        ),
        (
            "jp%E7%B4%8D%E8%B1%86.%E4%BE%8B.jp:%E7%94%A8%E6%88%B7",
            "https://xn--jp-cd2fp15c.xn--fsq.jp/%E7%94%A8%E6%88%B7/did.jsonl",
        ),
        (
            "localhost%3a8080",
            "https://localhost:8080/.well-known/did.jsonl",
        ),
        (
            "example.com%3A443",
            "https://example.com/.well-known/did.jsonl",
        ),
    ] {
        assert_eq!(log(place), Ok(expected.to_owned()), "{place}");
    }
}

#[test]
fn the_witness_file_is_beside_the_log_and_files_are_outside_well_known() {
    let at_root = did("example.com");
    let below = did("example.com%3A3000:dids:issuer");
    let witness = |did: &Did| witness_url(&url(did).unwrap()).unwrap().to_string();
    assert_eq!(
        witness(&at_root),
        "https://example.com/.well-known/did-witness.json"
    );
    assert_eq!(
        witness(&below),
        "https://example.com:3000/dids/issuer/did-witness.json"
    );
    assert_eq!(
        files_url(&at_root).unwrap().as_str(),
        "https://example.com/"
    );
    assert_eq!(
        files_url(&below).unwrap().as_str(),
        "https://example.com:3000/dids/issuer/"
    );
}

#[test]
fn hosts_that_are_addresses_or_no_names_are_refused() {
    for place in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "example",
        "%5B%3A%3A1%5D",
        "a..example",
        "example.com.",
        "-a.example",
        "user%40example.com",
        "example.com%2Fpath",
        "example.com%253A80",
        "example.com%3A",
        "example.com%3A0",
        "example.com%3A65536",
        "example.com%3A80%3A80",
        "example.com%3A000080",
        "example.com%FF",
    ] {
        assert_eq!(log(place), Err(WebvhError::Host), "{place}");
    }
}

#[test]
fn segments_that_would_leave_the_path_are_refused() {
    for place in [
        "example.com::a",
        "example.com:.:a",
        "example.com:..:a",
        "example.com:%2E%2E:a",
        "example.com:a%2Fb",
        "example.com:a%5Cb",
        "example.com:a%00",
        "example.com:%20a",
        "example.com:a%FF",
    ] {
        assert_eq!(log(place), Err(WebvhError::Path), "{place}");
    }
    assert_eq!(
        log("example.com:%252E%252E").unwrap(),
        "https://example.com/%252E%252E/did.jsonl"
    );
}

#[test]
fn a_scid_is_a_multihash_of_sha_256() {
    assert_eq!(scid(&did("example.com")), Ok(SCID));
    assert_eq!(place(&did("example.com:a")), Ok("example.com:a"));
    for text in [
        "did:webvh:abc:example.com",
        "did:webvh:zQmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE:example.com",
        "did:webvh:1111111111111111111111111111111111111111111111:example.com",
    ] {
        assert_eq!(scid(&Did::parse(text).unwrap()), Err(WebvhError::Scid));
    }
    let web = Did::parse("did:web:example.com").unwrap();
    assert_eq!(scid(&web), Err(WebvhError::Method));
    let bare = Did::parse(&format!("did:webvh:{SCID}")).unwrap();
    assert_eq!(scid(&bare), Err(WebvhError::Host));
}

#[test]
fn a_draft_has_the_place_of_its_url_and_a_parallel_did_web() {
    let base = Url::parse("http://localhost:8080/dids/a1").unwrap();
    assert_eq!(
        draft_for(&base).unwrap(),
        "did:webvh:{SCID}:localhost%3A8080:dids:a1"
    );
    let parallel = parallel_web(&did("localhost%3A8080:dids:a1")).unwrap();
    assert_eq!(parallel.as_str(), "did:web:localhost%3A8080:dids:a1");
}
