use serde_json::json;

use super::*;

const DID: &str = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
const ID: &str = "9ba3922e-d5f5-4f53-b265-fc0d4e988c77";
const OTHER: &str = "e733ebb7-c8dd-41ed-9d42-33bceea70952";

fn ask(rest: &str) -> Result<Option<WantedResource>, ResolutionError> {
    wanted(&DidUrl::parse(&format!("{DID}{rest}")).unwrap())
}

/// The metadata from the example of cheqd's resolver.
fn metadata(id: &str, next: Option<&str>) -> Value {
    json!({
        "resourceURI": format!("{DID}/resources/{id}"),
        "resourceId": id,
        "resourceName": "Demo Resource",
        "resourceType": "String",
        "mediaType": "application/json",
        "checksum": "e1dbc03b50bdb995961dc8843df6539b79d03bf49787ed6462189ee97d27eaf3",
        "previousVersionId": null,
        "nextVersionId": next,
    })
}

fn by_name() -> WantedResource {
    ask("?resourceName=Demo%20Resource&resourceType=String")
        .unwrap()
        .unwrap()
}

fn judged(value: &Value, wanted: &WantedResource) -> Result<String, ResolutionError> {
    read(value.to_string().as_bytes(), wanted).map(|resource| resource.id)
}

#[test]
fn a_resource_is_named_by_its_path_or_by_parameters() {
    assert_eq!(
        ask(&format!("/resources/{ID}")),
        Ok(Some(WantedResource::Id(ID.to_owned())))
    );
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        by_name(),
        WantedResource::Query(vec![
            pair("resourceName", "Demo Resource"),
            pair("resourceType", "String")
        ])
    );
    for rest in ["", "?versionId=1", "#key-1"] {
        assert_eq!(ask(rest), Ok(None), "{rest}");
    }
}

#[test]
fn a_url_that_names_a_resource_in_a_malformed_way_is_refused() {
    for rest in [
        "/resources/1",
        "/resources/",
        "/other",
        "/resources/9BA3922E-d5f5-4f53-b265-fc0d4e988c77",
        "/resources/9ba3922e-d5f5-4f53-b265-fc0d4e988c77/metadata",
        "/resources/9ba3922e-d5f5-4f53-b265-fc0d4e988c77?resourceName=x",
        "/resources/9ba3922e-d5f5-4f53-b265-fc0d4e988c77#x",
        "?resourceName=a&resourceName=b",
        "?resourceName=a&versionId=b",
    ] {
        assert_eq!(ask(rest), Err(ResolutionError::InvalidDidUrl), "{rest}");
    }
    // Other DID methods do not have these parameters.
    let other = DidUrl::parse("did:example:1?resourceName=x").unwrap();
    assert_eq!(wanted(&other), Ok(None));
    let other = DidUrl::parse(&format!("did:example:1/resources/{ID}")).unwrap();
    assert_eq!(wanted(&other), Err(ResolutionError::InvalidDid));
}

#[test]
fn the_metadata_is_found_where_each_version_of_the_resolver_has_it() {
    let id = WantedResource::Id(ID.to_owned());
    let both = json!([metadata(OTHER, None), metadata(ID, None)]);
    for value in [
        json!({"contentMetadata": metadata(ID, None)}),
        json!({"contentMetadata": {"linkedResourceMetadata": both}}),
        json!({"contentStream": {"linkedResourceMetadata": both}}),
        json!({"didDocumentMetadata": {"linkedResourceMetadata": both}}),
    ] {
        assert_eq!(judged(&value, &id), Ok(ID.to_owned()), "{value}");
    }
    let found = read(
        json!({"contentMetadata": metadata(ID, None)})
            .to_string()
            .as_bytes(),
        &id,
    )
    .unwrap();
    assert_eq!(found.media_type, "application/json");
    assert_eq!(found.checksum[..2], [0xe1, 0xdb]);
}

#[test]
fn of_several_versions_the_last_is_taken_and_of_several_resources_none() {
    let listed = |all: Value| json!({"didDocumentMetadata": {"linkedResourceMetadata": all}});
    let versions = listed(json!([metadata(OTHER, Some(ID)), metadata(ID, None)]));
    assert_eq!(judged(&versions, &by_name()), Ok(ID.to_owned()));
    let two = listed(json!([metadata(OTHER, None), metadata(ID, None)]));
    assert_eq!(
        judged(&two, &by_name()),
        Err(ResolutionError::InvalidDidUrl)
    );
    let mut renamed = metadata(ID, None);
    renamed["resourceName"] = json!("Another");
    assert_eq!(
        judged(&listed(json!([renamed])), &by_name()),
        Err(ResolutionError::NotFound)
    );
}

#[test]
fn errors_and_malformed_metadata_are_no_resource() {
    let id = WantedResource::Id(ID.to_owned());
    let mut bad = metadata(ID, None);
    bad["checksum"] = json!("e1db");
    for (value, error) in [
        (
            json!({"dereferencingMetadata": {"error": "notFound"}}),
            ResolutionError::NotFound,
        ),
        (
            json!({"dereferencingMetadata": {"error": "oops"}}),
            ResolutionError::InternalError,
        ),
        (json!({"contentMetadata": bad}), ResolutionError::NotFound),
        (
            json!({"contentMetadata": metadata(OTHER, None)}),
            ResolutionError::NotFound,
        ),
        (json!({}), ResolutionError::NotFound),
    ] {
        assert_eq!(judged(&value, &id), Err(error), "{value}");
    }
    assert_eq!(read(b"{", &id), Err(ResolutionError::InvalidDidDocument));
}
