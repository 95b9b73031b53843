//! Logos of clients, fetched from where a registration says.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selfsame_oidc::{ClientRegistration, Preset};
use selfsame_sign_in::SignIns;
use selfsame_sign_in::clients::{ChangedClient, WantedClient};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use url::Url;

use crate::world::{URI, beside, shared};

const SVG: &str =
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><path d='M0 0h8v8z'/></svg>";

/// A server of files, which counts its answers.
struct Files {
    base: Url,
    answered: Arc<AtomicUsize>,
}

impl Files {
    async fn serving(files: HashMap<&'static str, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap());
        let answered = Arc::new(AtomicUsize::new(0));
        let counted = answered.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap();
                let text = String::from_utf8_lossy(&request[..length]).into_owned();
                let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
                counted.fetch_add(1, Ordering::SeqCst);
                let head = |status: &str, length: usize| {
                    format!(
                        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                    )
                };
                let file = files.get(path.as_str());
                let mut answer = match file {
                    Some(file) => head("200 OK", file.len()).into_bytes(),
                    None => head("404 Not Found", 0).into_bytes(),
                };
                answer.extend(file.into_iter().flatten());
                let _ = stream.write_all(&answer).await;
            }
        });
        Self {
            base: base.parse().unwrap(),
            answered,
        }
    }

    fn count(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }
}

fn registration(logo: &Url) -> ClientRegistration {
    ClientRegistration {
        logo_uri: Some(logo.clone()),
        ..ClientRegistration::web(URI)
    }
}

fn wanted(id: &str, logo: &Url, fetches_logo: bool) -> WantedClient {
    WantedClient {
        client_id: Some(id.to_owned()),
        registration: registration(logo),
        preset: Preset::Strict,
        reads_tokens: false,
        fetches_logo,
    }
}

async fn held(provider: &SignIns, id: &str) -> Option<String> {
    provider.client(id).await.unwrap().logo
}

#[tokio::test]
async fn a_logo_is_fetched_once_and_held_until_its_address_changes() {
    let files = Files::serving(HashMap::from([
        ("/a.svg", SVG.as_bytes().to_vec()),
        ("/b.svg", SVG.replace("M0", "M1").into_bytes()),
    ]));
    let files = files.await;
    let provider = beside(&shared(vec![files.base.origin()]).await);
    let first = files.base.join("a.svg").unwrap();
    provider.register(wanted("rp", &first, true)).await.unwrap();
    let one = held(&provider, "rp").await.unwrap();
    assert!(one.starts_with("data:image/svg+xml;base64,"), "{one}");
    assert_eq!(files.count(), 1);
    let change = async |logo: &Url, fetches_logo| {
        let changed = ChangedClient {
            registration: ClientRegistration {
                client_name: Some("Another name".to_owned()),
                ..registration(logo)
            },
            fetches_logo,
        };
        provider.change_client("rp", changed).await.unwrap();
    };
    change(&first, true).await;
    assert_eq!(held(&provider, "rp").await.as_ref(), Some(&one));
    assert_eq!(files.count(), 1);
    let second = files.base.join("b.svg").unwrap();
    change(&second, true).await;
    let other = held(&provider, "rp").await.unwrap();
    assert_ne!(other, one);
    // A caller who is not known has nothing fetched, and the former logo is not shown for another address.
    change(&first, false).await;
    assert_eq!(held(&provider, "rp").await, None);
    provider
        .register(wanted("other", &first, false))
        .await
        .unwrap();
    assert_eq!(held(&provider, "other").await, None);
    assert_eq!(files.count(), 2);
}

#[tokio::test]
async fn what_is_no_safe_image_is_not_held_and_fails_no_registration() {
    let large = format!("{SVG}<!--{}-->", "x".repeat(24 * 1024));
    let files = Files::serving(HashMap::from([
        (
            "/script.svg",
            SVG.replace("<path", "<script>a</script><path").into_bytes(),
        ),
        (
            "/handler.svg",
            SVG.replace("<path", "<path onload='a()'").into_bytes(),
        ),
        (
            "/outside.svg",
            SVG.replace(
                "<path d='M0 0h8v8z'/>",
                "<image href='https://evil.example/x.png'/>",
            )
            .into_bytes(),
        ),
        ("/page.html", b"<!DOCTYPE html><script>a</script>".to_vec()),
        ("/large.svg", large.into_bytes()),
        ("/cut.png", b"\x89PNG\r\n\x1a\n".to_vec()),
        ("/empty", Vec::new()),
    ]));
    let files = files.await;
    let provider = beside(&shared(vec![files.base.origin()]).await);
    for path in [
        "script.svg",
        "handler.svg",
        "outside.svg",
        "page.html",
        "large.svg",
        "cut.png",
        "empty",
        "absent.svg",
    ] {
        let logo = files.base.join(path).unwrap();
        provider.register(wanted(path, &logo, true)).await.unwrap();
        assert_eq!(held(&provider, path).await, None, "{path}");
    }
    assert_eq!(files.count(), 8);
}

#[tokio::test]
async fn no_logo_is_fetched_from_private_addresses_or_for_a_registration_that_is_refused() {
    let files = Files::serving(HashMap::from([("/a.svg", SVG.as_bytes().to_vec())]));
    let files = files.await;
    let logo = files.base.join("a.svg").unwrap();
    // An instance that is not told of this address calls no private one.
    let provider = beside(&shared(Vec::new()).await);
    provider.register(wanted("rp", &logo, true)).await.unwrap();
    assert_eq!(held(&provider, "rp").await, None);
    let provider = beside(&shared(vec![files.base.origin()]).await);
    let mut refused = wanted("rp", &logo, true);
    refused.registration.redirect_uris = vec!["nonsense".to_owned()];
    assert!(provider.register(refused).await.is_err());
    assert_eq!(files.count(), 0);
}
