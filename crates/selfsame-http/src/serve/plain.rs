//! A listener without TLS beside the one with it: it answers an authority that asks whether a host is served here
//! (RFC 8555 §8.3), and leads everyone else to https.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{ALLOW, CONTENT_TYPE, HOST, LOCATION};
use http::{Method, StatusCode};
use tokio::net::TcpListener;

use super::further::FurtherListener;
use crate::origin::Origin;

/// What the path of an authority's question begins with (RFC 8555 §8.3).
const CHALLENGE: &str = "/.well-known/acme-challenge/";

/// What the listener answers. Clones share it.
#[derive(Clone, Default)]
pub struct PlainDoor(Arc<RwLock<Arc<PlainAnswers>>>);

/// The answers of a listener without TLS.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PlainAnswers {
    /// Key authorizations by their tokens (RFC 8555 §8.1).
    pub tokens: BTreeMap<String, String>,
    /// The hosts that are served over TLS, in lower case. Requests for others are refused.
    pub hosts: BTreeSet<String>,
}

/// What a request meets.
#[derive(Clone)]
struct PlainService {
    door: PlainDoor,
    origin: Origin,
}

impl PlainDoor {
    /// Answers so from now on.
    pub fn set(&self, answers: PlainAnswers) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(answers);
    }

    /// The listener with these answers. It leads to the origin's port.
    pub fn listener(&self, listener: TcpListener, origin: &Origin) -> FurtherListener {
        let service = PlainService {
            door: self.clone(),
            origin: origin.clone(),
        };
        FurtherListener {
            listener,
            router: router(service),
            is_proxied: false,
        }
    }

    fn now(&self) -> Arc<PlainAnswers> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn router(service: PlainService) -> Router {
    Router::new().fallback(answered).with_state(service)
}

async fn answered(State(service): State<PlainService>, request: Request) -> Response {
    let answers = service.door.now();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")]).into_response();
    }
    if let Some(token) = request.uri().path().strip_prefix(CHALLENGE) {
        return match answers.tokens.get(token) {
            Some(answer) => {
                let kind = [(CONTENT_TYPE, "application/octet-stream")];
                (kind, answer.clone()).into_response()
            }
            None => StatusCode::NOT_FOUND.into_response(),
        };
    }
    match host_of(&request).filter(|host| answers.hosts.contains(host)) {
        Some(host) => {
            let path = request.uri().path_and_query();
            let path = path.map_or("/", |path| path.as_str());
            let there = format!("{}{path}", service.origin.beside(&host).as_str());
            (StatusCode::PERMANENT_REDIRECT, [(LOCATION, there)]).into_response()
        }
        // To lead on to any host that a request names would lend this listener's name to others.
        None => StatusCode::MISDIRECTED_REQUEST.into_response(),
    }
}

/// The host that a request names, in lower case and without a port.
fn host_of(request: &Request) -> Option<String> {
    let named = request.headers().get(HOST)?.to_str().ok()?;
    let (host, _) = named.split_once(':').unwrap_or((named, ""));
    Some(host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use tower::ServiceExt as _;
    use url::Url;

    use super::*;

    struct Asked {
        status: u16,
        location: Option<String>,
        body: String,
    }

    async fn asked(method: &str, host: &str, path: &str) -> Asked {
        let door = PlainDoor::default();
        door.set(PlainAnswers {
            tokens: BTreeMap::from([("one".to_owned(), "one.thumbprint".to_owned())]),
            hosts: BTreeSet::from(["id.example".to_owned()]),
        });
        let url = Url::parse("https://id.example:8443/").unwrap();
        let origin = Origin::of(&url).unwrap();
        let request = Request::builder().method(method).uri(path);
        let request = request.header(HOST, host).body(Body::empty()).unwrap();
        let answer = router(PlainService { door, origin }).oneshot(request).await;
        let (head, body) = answer.unwrap().into_parts();
        let location = head.headers.get(LOCATION);
        let body = to_bytes(body, 1024).await.unwrap();
        Asked {
            status: head.status.as_u16(),
            location: location.map(|place| place.to_str().unwrap().to_owned()),
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    #[tokio::test]
    async fn an_authority_gets_the_key_authorization_of_its_token() {
        let path = "/.well-known/acme-challenge/one";
        let answer = asked("GET", "id.example", path).await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, "one.thumbprint")
        );
        for path in [
            "/.well-known/acme-challenge/",
            "/.well-known/acme-challenge/two",
            "/.well-known/acme-challenge/one/",
            "/.well-known/acme-challenge/../one",
        ] {
            assert_eq!(asked("GET", "id.example", path).await.status, 404, "{path}");
        }
    }

    #[tokio::test]
    async fn everyone_else_is_led_to_the_same_address_with_https_if_the_host_is_served_there() {
        for host in ["id.example", "ID.Example:80"] {
            let answer = asked("GET", host, "/a?b=c").await;
            let there = Some("https://id.example:8443/a?b=c".to_owned());
            assert_eq!((answer.status, answer.location), (308, there), "{host}");
        }
        for host in ["other.example", "id.example.other.example", ""] {
            let answer = asked("GET", host, "/").await;
            assert_eq!((answer.status, answer.location), (421, None), "{host}");
        }
    }

    #[tokio::test]
    async fn nothing_is_taken_without_tls() {
        for method in ["POST", "PUT", "DELETE"] {
            assert_eq!(
                asked(method, "id.example", "/").await.status,
                405,
                "{method}"
            );
        }
    }
}
