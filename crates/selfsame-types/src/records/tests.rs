use selfsame_crypto::seal::SealingKey;
use selfsame_store::{Memory, Vault};
use serde_json::{Value, json};

use super::*;
use crate::file::read_json;
use crate::project::integrity;

const NOW: UnixTime = UnixTime(1_800_000_000);

/// Nothing is written beside a version.
fn alone(_: &NewVersion<'_>) -> Result<Batch> {
    Ok(Batch::new(TenantId::parse("issuer")?))
}

/// The types of one instance, and an organisation on it.
struct World {
    types: Types,
    tenant: TenantId,
    base: Url,
}

impl World {
    async fn new() -> Self {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        Self {
            types: Types::new(store, Some("urn:selfsame:credential:")),
            tenant: TenantId::parse("issuer").unwrap(),
            base: "https://club.example/".parse().unwrap(),
        }
    }

    fn owner(&self) -> Owner<'_> {
        Owner {
            tenant: &self.tenant,
            base: &self.base,
            samples: true,
        }
    }

    fn own(&self) -> OwnTypes<'_> {
        self.types.of(self.owner())
    }

    async fn draft(&self, definition: &TypeDefinition) -> Result<TypeSummary> {
        self.own().replace(&definition.id, definition).await
    }

    async fn publish(&self, definition: &TypeDefinition) -> TypeSummary {
        self.draft(definition).await.unwrap();
        self.own()
            .publish(&definition.id, NOW, alone)
            .await
            .unwrap()
    }

    async fn set(&self) -> Arc<TypeSet> {
        self.own().all().await.unwrap()
    }
}

fn membership(title: &str) -> TypeDefinition {
    let file = json!({
        "id": "membership",
        "title": {"en": title},
        "claims": [{"path": ["number"], "kind": "text", "required": true}],
    });
    read_json(file.to_string().as_bytes()).unwrap()
}

#[tokio::test]
async fn a_draft_is_not_issued_before_it_is_published() {
    let world = World::new().await;
    let saved = world.draft(&membership("One")).await.unwrap();
    assert_eq!((saved.state, saved.version), (TypeState::Draft, None));
    assert_eq!(
        world
            .set()
            .await
            .find("membership")
            .unwrap_err()
            .reason
            .id(),
        "type-unknown"
    );
    let published = world.own().publish("membership", NOW, alone).await.unwrap();
    assert_eq!(
        (published.state, published.version),
        (TypeState::Published, Some(1))
    );
    let set = world.set().await;
    assert_eq!(
        set.find("membership").unwrap().vct,
        "https://club.example/types/membership/1"
    );
    assert_eq!(set.issued().count(), 11);
    let again = world.own().publish("membership", NOW, alone).await;
    assert_eq!(again.unwrap_err().reason.id(), "type-no-draft");
}

#[tokio::test]
async fn a_change_is_the_next_version_and_the_first_stays_as_it_was() {
    let world = World::new().await;
    world.publish(&membership("One")).await;
    let first = world.set().await.find("membership").unwrap().clone();
    let own = world.own();
    let metadata = || own.document("membership", 1, DocumentKind::Metadata);
    let before = metadata().await.unwrap();
    assert_eq!(
        first.served.as_ref().unwrap().integrity,
        integrity(&before.bytes)
    );
    world.publish(&membership("Two")).await;
    let set = world.set().await;
    assert_eq!(set.find("membership").unwrap().version, 2);
    assert_eq!(set.version("membership", Some(1)).unwrap().name(), "One");
    assert_eq!(metadata().await.unwrap(), before);
    // Wallets accept offers of the first version as long as an offer can last.
    let of_it = |now: UnixTime| set.listed(now).filter(|one| one.id == "membership").count();
    assert_eq!(of_it(NOW), 2);
    assert_eq!(of_it(NOW.plus(91 * 86_400)), 1);
}

#[tokio::test]
async fn nothing_is_issued_of_a_retired_type_and_its_documents_stay() {
    let world = World::new().await;
    world.publish(&membership("One")).await;
    let retired = world.own().retire("membership").await.unwrap();
    assert_eq!(retired.state, TypeState::Retired);
    let set = world.set().await;
    assert_eq!(set.find("membership").unwrap_err().kind, ErrorKind::Gone);
    assert_eq!(
        set.version("membership", Some(1)).unwrap_err().kind,
        ErrorKind::Gone
    );
    for kind in [
        DocumentKind::Metadata,
        DocumentKind::Schema,
        DocumentKind::Context,
    ] {
        assert!(world.own().document("membership", 1, kind).await.is_ok());
    }
    let logo = world
        .own()
        .document("membership", 1, DocumentKind::Logo)
        .await;
    assert_eq!(logo.unwrap_err().kind, ErrorKind::NotFound);
    let sample = world.own().retire("machine").await.unwrap_err();
    assert_eq!(sample.reason.id(), "type-sample");
}

#[tokio::test]
async fn an_id_is_taken_once_and_a_refused_definition_is_not_stored() {
    let world = World::new().await;
    let one = membership("One");
    world.own().create(&one).await.unwrap();
    let twice = world.own().create(&one).await.unwrap_err();
    assert_eq!(twice.reason.id(), "type-id-taken");
    let mut sample = one.clone();
    sample.id = "machine".to_owned();
    assert_eq!(
        world.draft(&sample).await.unwrap_err().reason.id(),
        "type-id-taken"
    );
    let mut wrong = one.clone();
    wrong.id = "wrong".to_owned();
    wrong.claims.clear();
    assert_eq!(
        world.draft(&wrong).await.unwrap_err().reason.id(),
        "type-claims-none"
    );
    assert!(world.own().one("wrong").await.is_err());
    let listed = world.own().list().await.unwrap();
    assert_eq!(listed.iter().filter(|one| one.has_draft).count(), 1);
    world.own().delete_draft("membership").await.unwrap();
    assert!(world.own().one("membership").await.is_err());
}

#[tokio::test]
async fn types_that_extend_each_other_are_refused() {
    let world = World::new().await;
    let extending = |id: &str, other: &str| TypeDefinition {
        id: id.to_owned(),
        vct: Some(format!("urn:club:{id}")),
        extends: Some(crate::model::Extends {
            vct: format!("urn:club:{other}"),
            integrity: None,
        }),
        ..membership("One")
    };
    world.publish(&extending("a", "b")).await;
    world.publish(&extending("b", "c")).await;
    let cycle = world.draft(&extending("c", "a")).await.unwrap_err();
    assert_eq!(cycle.reason.id(), "type-extends-cycle");
    assert!(world.draft(&extending("d", "a")).await.is_ok());
}

#[tokio::test]
async fn each_organisation_has_its_own_types() {
    let world = World::new().await;
    world.publish(&membership("One")).await;
    let other = TenantId::parse("other").unwrap();
    let owner = Owner {
        tenant: &other,
        base: &world.base,
        samples: true,
    };
    assert!(
        world
            .types
            .of(owner)
            .all()
            .await
            .unwrap()
            .find("membership")
            .is_err()
    );
    let own = world.types.of(owner);
    let document = own.document("membership", 1, DocumentKind::Metadata);
    assert_eq!(document.await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_set_is_read_again_only_after_a_change() {
    let world = World::new().await;
    world.publish(&membership("One")).await;
    let first = world.set().await;
    assert!(Arc::ptr_eq(&first, &world.set().await));
    world.draft(&membership("Two")).await.unwrap();
    assert!(
        Arc::ptr_eq(&first, &world.set().await),
        "a draft changes nothing"
    );
    world.own().publish("membership", NOW, alone).await.unwrap();
    assert!(!Arc::ptr_eq(&first, &world.set().await));
}

/// A type that needs credentials of others.
fn needing(id: &str, needs: Value) -> TypeDefinition {
    TypeDefinition {
        id: id.to_owned(),
        vct: Some(format!("urn:club:{id}")),
        prerequisites: Some(serde_json::from_value(needs).unwrap()),
        ..membership("One")
    }
}

#[tokio::test]
async fn what_a_needed_type_does_not_have_is_refused() {
    let world = World::new().await;
    world.publish(&membership("One")).await;
    let refused = async |need: Value| {
        let one = needing("badge", json!({"needs": [need]}));
        world
            .draft(&one)
            .await
            .err()
            .map(|error| error.reason.id().to_owned())
    };
    let unknown = json!({"name": "a", "type": "nothing"});
    assert_eq!(refused(unknown).await.as_deref(), Some("prerequisite-type"));
    let other = json!({"name": "a", "type": "membership", "conditions": [{"claim": ["shoe"]}]});
    assert_eq!(refused(other).await.as_deref(), Some("prerequisite-claim"));
    let fine = json!({"name": "a", "type": "membership"});
    assert_eq!(refused(fine).await, None);
}

#[tokio::test]
async fn types_that_need_each_other_in_a_circle_are_refused_also_by_their_vct() {
    let world = World::new().await;
    let by_vct =
        |id: &str| json!({"needs": [{"name": "a", "vct_values": [format!("urn:club:{id}")]}]});
    // Nothing is known of the type yet that the first one needs.
    world.publish(&needing("first", by_vct("second"))).await;
    let itself = world
        .draft(&needing("own", by_vct("own")))
        .await
        .unwrap_err();
    assert_eq!(itself.reason.id(), "prerequisite-circle");
    let circle = world
        .draft(&needing("second", by_vct("first")))
        .await
        .unwrap_err();
    assert_eq!(circle.reason.id(), "prerequisite-circle");
    let around = json!({
        "options": [["a"], ["b"]],
        "needs": [{"name": "a", "vct_values": ["urn:club:first"]}, {"name": "b", "vct_values": ["urn:other"]}],
    });
    assert!(world.draft(&needing("second", around)).await.is_ok());
}
