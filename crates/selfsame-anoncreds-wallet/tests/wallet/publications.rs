//! What issuers publish.

use std::sync::atomic::Ordering;

use selfsame_anoncreds_wallet::{DefinitionFilter, NewCredentialDefinition, NewSchema};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind};
use selfsame_store::{Batch, Put};
use serde_json::Value;

use crate::world::{FakeRegistry, Party};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The only schema and the only definition of an issuer are found by what they are of.
async fn are_listed(issuer: &Party, schema_id: &str, cred_def_id: &str) {
    let (anoncreds, tenant) = (&issuer.anoncreds, &issuer.tenant);
    let all = DefinitionFilter::default();
    let schemas = async |of: &DefinitionFilter| anoncreds.created_schemas(tenant, of).await;
    let definitions = async |of: &DefinitionFilter| anoncreds.created_definitions(tenant, of).await;
    assert_eq!(schemas(&all).await.unwrap(), [schema_id]);
    assert_eq!(definitions(&all).await.unwrap(), [cred_def_id]);
    let of = DefinitionFilter {
        schema_id: Some(schema_id.to_owned()),
        schema_version: Some("1.0".to_owned()),
        ..DefinitionFilter::default()
    };
    assert_eq!(schemas(&of).await.unwrap(), [schema_id]);
    assert_eq!(definitions(&of).await.unwrap(), [cred_def_id]);
    let of = DefinitionFilter {
        schema_version: Some("2.0".to_owned()),
        ..of
    };
    assert!(schemas(&of).await.unwrap().is_empty());
    assert!(definitions(&of).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_again_gives_the_same_object_and_another_one_is_refused() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let (anoncreds, author) = (&issuer.anoncreds, &issuer.author);
    let attributes = names(&["name", "born"]);
    let schema = |attributes| NewSchema {
        name: "donor",
        version: "1.0",
        attributes,
    };
    let same = schema(&attributes);
    let first = anoncreds.create_schema(author, &same);
    let first = first.await.unwrap();
    assert_eq!((first.seq_no, first.attributes.len()), (1, 2));
    let again = anoncreds.create_schema(author, &same);
    assert_eq!(again.await.unwrap(), first);
    let others = names(&["name"]);
    let other = anoncreds.create_schema(author, &schema(&others)).await;
    assert_eq!(other.unwrap_err().kind, ErrorKind::Conflict);

    let new = |tag, registry_size| NewCredentialDefinition {
        schema_id: &first.id,
        tag,
        registry_size,
    };
    // Two at once make one key.
    let (one, two) = (new("a", None), new("a", None));
    let (one, two) = tokio::join!(
        anoncreds.create_definition(author, &one),
        anoncreds.create_definition(author, &two),
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one, two);
    assert_eq!((one.seq_no, one.schema_seq_no), (2, Some(1)));
    assert_eq!(registry.size(), 2);
    let revocable = new("a", Some(100));
    let revocable = anoncreds.create_definition(author, &revocable).await;
    assert_eq!(revocable.unwrap_err().kind, ErrorKind::Conflict);
    let small = new("b", Some(3));
    let small = anoncreds.create_definition(author, &small).await;
    assert_eq!(small.unwrap_err().reason.id(), "anoncreds-registry-size");
    let foreign = NewCredentialDefinition {
        schema_id: "did:x:y",
        ..new("a", None)
    };
    let foreign = anoncreds.create_definition(author, &foreign).await;
    assert_eq!(foreign.unwrap_err().reason.id(), "anoncreds-object-unknown");

    are_listed(&issuer, &first.id, &one.id).await;

    // Another process sees them in the registry, and has no key for them.
    let other = Party::new(&registry, "other").await;
    assert_eq!(other.anoncreds.schema(&first.id).await.unwrap(), first);
    let seen = other.anoncreds.credential_definition(&one.id).await;
    assert_eq!(seen.unwrap(), one);
    let absent = other.anoncreds.schema("did:x:y").await.unwrap_err();
    assert_eq!(absent.kind, ErrorKind::NotFound);
    let of = DefinitionFilter::default();
    let none = other.anoncreds.offer(&other.tenant, &of).await;
    assert_eq!(none.unwrap_err().reason.id(), "anoncreds-definition-none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_publishes_nothing_twice() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    registry.loses_answers.store(true, Ordering::SeqCst);
    let attributes = names(&["name"]);
    let schema = NewSchema {
        name: "donor",
        version: "1.0",
        attributes: &attributes,
    };
    let publishing = issuer.anoncreds.create_schema(&issuer.author, &schema);
    let late = tokio::time::timeout(std::time::Duration::from_secs(2), publishing).await;
    assert!(late.is_err(), "it waits for the answer");
    // It arrives in its time.
    for _ in 0..3_000 {
        if registry.size() > 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(registry.size(), 1);
    registry.loses_answers.store(false, Ordering::SeqCst);
    // The registry has it, and so the same again is answered at once.
    let again = issuer.anoncreds.create_schema(&issuer.author, &schema);
    assert_eq!(again.await.unwrap().seq_no, 1);
    assert_eq!(registry.size(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publication_of_before_tags_were_stored_is_found_and_issues() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let cred_def_id = issuer.defines(&["name"], None).await;
    let (store, tenant) = (&issuer.shared.store, &issuer.tenant);
    let page = selfsame_store::Page::first(10);
    let made = store.list(tenant, "anoncreds_publication", &page).await;
    let mut batch = Batch::new(tenant.clone());
    for record in made.unwrap() {
        let mut publication: Value = serde_json::from_slice(&record.value).unwrap();
        batch = batch.delete("anoncreds_publication", &record.id);
        if publication["definition_id"].is_null() {
            continue;
        }
        // As it was stored for a version of a type.
        let members = publication.as_object_mut().unwrap();
        members.remove("tag");
        members.remove("with_schema");
        members.insert("type_id".to_owned(), "donor".into());
        members.insert("version".to_owned(), 1.into());
        let value = serde_json::to_vec(&publication).unwrap();
        batch = batch.put(Put::new("anoncreds_publication", "donor.1", value));
        for kind in ["anoncreds_definition", "anoncreds_private_key"] {
            let made = store.read(tenant, kind, &record.id).await.unwrap().unwrap();
            batch = batch.put(Put::new(kind, "donor.1", made.value));
            batch = batch.delete(kind, &record.id);
        }
    }
    store.commit(batch).await.unwrap();

    let later = Party::on(&registry, "clinic", store.clone()).await;
    let holder = Party::new(&registry, "alice").await;
    let id = later
        .issues(&holder, &cred_def_id, &[("name", "Alice")])
        .await;
    assert!(
        holder
            .anoncreds
            .credential(&holder.tenant, &id)
            .await
            .is_ok()
    );
    let all = DefinitionFilter::default();
    let listed = later.anoncreds.created_schemas(tenant, &all).await.unwrap();
    assert_eq!(listed.len(), 1);
}

#[tokio::test]
async fn an_author_elsewhere_is_told_so() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let mut author = issuer.author.clone();
    author.did = selfsame_did::Did::parse("did:web:clinic.example").unwrap();
    let attributes = names(&["name"]);
    let schema = NewSchema {
        name: "donor",
        version: "1.0",
        attributes: &attributes,
    };
    let refused: Error = issuer
        .anoncreds
        .create_schema(&author, &schema)
        .await
        .unwrap_err();
    assert_eq!(refused.reason.id(), "anoncreds-did-elsewhere");
}
