//! Sign-ins that are over, as those who work for the organisation see them.

use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_oidc::Preset;
use selfsame_sign_in::past::{PastSignIn, SignInOutcome};
use serde_json::json;

use crate::world::{OnePerson, World, alice, jwt};

async fn past(world: &World) -> Vec<PastSignIn> {
    let first = Paging::default();
    let listed = world.provider.past(&world.client_id, &first).await;
    listed.unwrap().items
}

#[tokio::test]
async fn each_sign_in_is_listed_with_the_subject_that_the_client_knows_and_nothing_secret() {
    let members = json!({"subject_type": "pairwise"});
    let mut world = World::with(OnePerson::default(), Preset::Strict, members).await;
    let tokens = world.tokens(&[]).await;
    let id_token = jwt(tokens.id_token.as_ref().unwrap());
    let listed = past(&world).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].outcome, SignInOutcome::SignedIn);
    assert_eq!(Some(listed[0].subject.as_str()), id_token.text("sub"));
    assert_eq!(listed[0].amr, ["otp"]);
    assert_eq!(listed[0].acr.as_deref(), Some("urn:selfsame:acr:otp"));
    let text = serde_json::to_string(&listed).unwrap();
    assert!(!text.contains("alice") && !text.contains("Alice"), "{text}");
    let secret = tokens.access_token.expose();
    assert!(!text.contains(secret));
}

#[tokio::test]
async fn a_person_who_declines_is_listed_only_after_they_proved_who_they_are() {
    let world = World::new(json!({})).await;
    let view = world.asking(&[]).await;
    world
        .provider
        .decline(&world.visitor(&view.id))
        .await
        .unwrap();
    assert!(past(&world).await.is_empty());
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    let proven = world.provider.authenticate(&visitor, alice("111111")).await;
    proven.unwrap();
    world.provider.decline(&visitor).await.unwrap();
    let listed = past(&world).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].outcome, SignInOutcome::Declined);
}

#[tokio::test]
async fn sign_ins_are_listed_by_client_newest_first_page_by_page_for_seven_days() {
    let mut world = World::new(json!({})).await;
    let mut times = Vec::new();
    for _ in 0..3 {
        let before = world.shared.clock.now().rfc3339();
        world.tokens(&[]).await;
        times.insert(0, (before, world.shared.clock.now().rfc3339()));
        world.shared.clock.advance(60);
    }
    let page = |after: Option<String>| {
        let paging = Paging {
            after,
            limit: Some(2),
        };
        let (provider, id) = (&world.provider, &world.client_id);
        async move { provider.past(id, &paging).await.unwrap() }
    };
    let first = page(None).await;
    let second = page(first.next.clone()).await;
    let all = first.items.iter().chain(&second.items);
    let all: Vec<&String> = all.map(|one| &one.at).collect();
    assert_eq!(all.len(), times.len());
    for (at, (before, after)) in all.into_iter().zip(&times) {
        assert!(before <= at && at <= after, "{before} {at} {after}");
    }
    assert_eq!(second.next, None);
    let unknown = world.provider.past("another", &Paging::default()).await;
    assert_eq!(unknown.unwrap_err().kind, ErrorKind::NotFound);
    world.shared.clock.advance(7 * 86_400 - 150);
    assert_eq!(past(&world).await.len(), 2);
    world.shared.clock.advance(120);
    assert!(past(&world).await.is_empty());
}
