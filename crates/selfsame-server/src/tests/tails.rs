//! Tails files at the addresses of indy-tails-server.

use std::time::Duration;

use axum::body::to_bytes;
use http::{Method, Request, StatusCode};
use selfsame_anoncreds_wallet::{NewCredentialDefinition, NewSchema, RegistryStage, RegistryView};
use selfsame_core::dids::Author;
use tower::ServiceExt as _;

use super::instance::{HOST_NAME, Instance, call};

/// An instance whose issuer has published a revocation registry of ten places.
async fn issuing() -> (Instance, RegistryView) {
    let instance = Instance::start().await;
    instance.app.start().await.unwrap();
    let anoncreds = instance.app.anoncreds();
    let author = Author::of(instance.app.main().issuer().unwrap().identity());
    let schema = NewSchema {
        name: "donor",
        version: "1.0",
        attributes: &["name".to_owned()],
    };
    let schema = anoncreds.create_schema(&author, &schema).await.unwrap();
    let definition = NewCredentialDefinition {
        schema_id: &schema.id,
        tag: "default",
        registry_size: Some(10),
    };
    let made = anoncreds.create_definition(&author, &definition).await;
    let id = made.unwrap().id;
    for _ in 0..1_200 {
        let all = anoncreds
            .registries(&author.tenant, Some(&id))
            .await
            .unwrap();
        let ready = all
            .into_iter()
            .find(|one| one.stage == RegistryStage::Ready);
        if let Some(ready) = ready {
            return (instance, ready);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no registry is published");
}

/// The bytes under an address.
async fn bytes(instance: &Instance, path: &str) -> (StatusCode, Vec<u8>) {
    let asked = Request::get(path).header("host", HOST_NAME);
    let asked = asked.body(axum::body::Body::empty()).unwrap();
    let answer = instance.router.clone().oneshot(asked).await.unwrap();
    let status = answer.status();
    let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    (status, body.to_vec())
}

fn uploaded(file: &[u8]) -> Vec<u8> {
    let head = "--b\r\nContent-Disposition: form-data; name=\"genesis\"; filename=\"g\"\r\n\r\n{}\r\n\
        --b\r\nContent-Disposition: form-data; name=\"tails\"; filename=\"tails\"\r\n\r\n";
    [head.as_bytes(), file, b"\r\n--b--\r\n"].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn tails_files_are_served_to_anyone_and_kept_from_those_who_work_here() {
    let (instance, registry) = issuing().await;
    let hash = registry.tails_hash.unwrap();
    let by_hash = format!("/tails/hash/{hash}");
    let of_registry = format!("/tails/{}", registry.rev_reg_id);
    let encoded = format!("/tails/{}", registry.rev_reg_id.replace('/', "%2F"));
    let (status, file) = bytes(&instance, &by_hash).await;
    // The version, and two points for each place and one more.
    assert_eq!((status, file.len()), (StatusCode::OK, 2 + 21 * 128));
    for path in [&of_registry, &encoded] {
        assert_eq!(
            bytes(&instance, path).await,
            (StatusCode::OK, file.clone()),
            "{path}"
        );
    }
    let asked = Request::get(&by_hash).header("host", HOST_NAME);
    let asked = asked.body(axum::body::Body::empty()).unwrap();
    let answer = instance.router.clone().oneshot(asked).await.unwrap();
    assert_eq!(answer.headers()["etag"], format!("\"{hash}\""));
    let cached = answer.headers()["cache-control"].to_str().unwrap();
    assert!(cached.contains("immutable"), "{cached}");
    for unknown in ["/tails/hash/x", "/tails/did:x:y"] {
        let (status, _) = bytes(&instance, unknown).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{unknown}");
    }

    let put = |path: &str, file: &[u8]| call(Method::PUT, path).multipart(uploaded(file));
    for path in [&of_registry, &by_hash] {
        let refused = instance.call(put(path, &file)).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{path}");
        let token = &instance.token;
        let kept = instance.call(put(path, &file).bearer(token)).await;
        assert_eq!(
            (kept.status, kept.body.as_str()),
            (StatusCode::OK, hash.as_str())
        );
        let mut other = file.clone();
        other[100] ^= 1;
        let refused = instance.call(put(path, &other).bearer(token)).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{path}");
        let empty = instance
            .call(call(Method::PUT, path).bearer(token).multipart("--b--"))
            .await;
        assert_eq!(empty.status, StatusCode::BAD_REQUEST, "{path}");
    }
    let large = vec![0; 9_000_000];
    let large = put(&by_hash, &large).bearer(&instance.token);
    assert_eq!(
        instance.call(large).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
}
