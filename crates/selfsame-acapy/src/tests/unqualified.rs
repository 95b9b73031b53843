//! Identifiers in the unqualified form of Indy's ledgers name the same objects as DID URLs.

use serde_json::json;

use super::study::{Published, issued, proven, published, request, three};

#[tokio::test]
async fn objects_are_shown_issued_and_proven_by_unqualified_identifiers() {
    let world = three().await;
    let [issuer, holder, verifier] = &world.agents[..] else {
        panic!("three agents");
    };
    let made = published(issuer, true).await;
    let path = format!("/schemas/{}", made.schema.replace('/', "%2F"));
    let schema = issuer.get(&path).await;
    let number = schema["schema"]["seqNo"].as_u64().unwrap();
    let public = issuer.get("/wallet/did/public").await;
    let did = public["result"]["did"].as_str().unwrap();
    let id = did.rsplit(':').next().unwrap();
    let unqualified = Published {
        schema: format!("{id}:2:vaccination:1.0"),
        definition: format!("{id}:3:CL:{number}:vaccination"),
    };
    let path = format!("/schemas/{}", unqualified.schema);
    let shown = verifier.get(&path).await;
    assert_eq!(shown["schema"]["id"], unqualified.schema);
    assert_eq!(shown["schema"]["seqNo"], number);
    let of_named = format!("{id}:3:CL:{}:vaccination", unqualified.schema);
    for definition in [&unqualified.definition, &of_named] {
        let path = format!("/credential-definitions/{definition}");
        let shown = verifier.get(&path).await;
        let shown = &shown["credential_definition"];
        assert_eq!(shown["id"], **definition);
        assert_eq!(shown["schemaId"], number.to_string());
    }
    for query in [
        format!("schema_id={}", unqualified.schema),
        format!("cred_def_id={}", unqualified.definition),
        format!("issuer_did={id}"),
        format!("issuer_did={did}"),
    ] {
        let path = format!("/credential-definitions/created?{query}");
        let found = issuer.get(&path).await;
        let found = &found["credential_definition_ids"];
        assert_eq!(*found, json!([made.definition]), "{query}");
    }
    let issued = issued(issuer, holder, &unqualified).await;
    let number_of = |id: &str| format!("{id}:4:{}:CL_ACCUM:1", unqualified.definition);
    let registry = number_of(id);
    let shown = issuer
        .get(&format!("/revocation/registry/{registry}"))
        .await;
    let qualified = &issued.stored["indy"]["rev_reg_id"];
    assert_eq!(shown["result"]["revoc_reg_id"], *qualified);
    let found = issuer.get(&format!("/ledger/did-verkey?did={id}")).await;
    assert_eq!(found["verkey"], public["result"]["verkey"]);

    let mut asked = request(&unqualified);
    for (referent, restrictions) in [
        ("attr1", json!([{ "cred_def_id": unqualified.definition }])),
        ("attr2", json!([{ "issuer_did": id }])),
        (
            "attr3",
            json!([{ "issuer_did": did, "schema_issuer_did": did }]),
        ),
    ] {
        asked["requested_attributes"][referent]["restrictions"] = restrictions;
    }
    let verdict = proven(verifier, holder, &asked).await;
    assert_eq!(verdict["verified"], "true", "{verdict}");
    let credentials = |value: &str| format!("/credentials?wql={{\"issuer_did\":\"{value}\"}}");
    for value in [id, did] {
        let path = credentials(value).replace('"', "%22");
        let held = holder
            .get(&path.replace('{', "%7B").replace('}', "%7D"))
            .await;
        assert_eq!(held["results"].as_array().unwrap().len(), 1, "{value}");
    }
}
