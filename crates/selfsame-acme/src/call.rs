//! The calls to an authority: by the instance's own HTTP client, with its limits and its rules for addresses.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{Method, Request};
use http_body_util::BodyExt as _;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use selfsame_net::{Authorization, Body, Call, CallLimits, Net, NetError, Response, Settings};
use url::Url;

use crate::failure::UnexplainedStatus;

/// The header with the nonce for the next request (RFC 8555 §6.5.1).
const REPLAY_NONCE: &str = "replay-nonce";
/// The longest wait that is passed on, in seconds. The protocol's library adds it to the time, which has an end.
const LONGEST_TOLD: u64 = 30 * 86_400;
/// The type of a problem document (RFC 7807 §6.1).
const PROBLEM: &str = "application/problem+json";
const LIMITS: CallLimits = CallLimits {
    max_body: 256 * 1024,
    total_timeout: Duration::from_secs(30),
};

/// The authority's directory and everything behind it. Clones share what was heard.
#[derive(Clone)]
pub(crate) struct DirectoryCalls {
    net: Net,
    /// Seconds that the last refusal asked for, and one more; 0 for none.
    wait: Arc<AtomicU64>,
}

impl DirectoryCalls {
    /// Calls to this directory, which the operator has named and which may be in a private network. With `roots` (DER), no
    /// other authority vouches for it.
    ///
    /// # Errors
    /// If a root is none.
    pub fn new(directory: &Url, roots: Vec<Vec<u8>>) -> Result<Self, NetError> {
        let net = Net::new(Settings {
            own_origins: vec![directory.origin()],
            native_roots: roots.is_empty(),
            extra_roots: roots,
            limits: LIMITS,
            max_redirects: 0,
            ..Settings::default()
        })?;
        Ok(Self {
            net,
            wait: Arc::default(),
        })
    }

    /// The seconds that the last refusal asked for; told once.
    pub fn take_wait(&self) -> Option<u64> {
        self.wait.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    async fn call(&self, request: Request<BodyWrapper<bytes::Bytes>>) -> Result<Heard, Error> {
        let (head, body) = request.into_parts();
        let url = Url::parse(&head.uri.to_string()).map_err(|error| Error::Other(error.into()))?;
        let is_post = head.method == Method::POST;
        let content = head.headers.get(CONTENT_TYPE);
        let content_type = content
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let sent = body.collect().await;
        let bytes = sent.unwrap_or_else(|never| match never {}).to_bytes();
        let body = match is_post {
            true => Body::Bytes {
                content_type: content_type.to_owned(),
                bytes: bytes.to_vec(),
            },
            false => Body::Empty,
        };
        let called = self.net.call(Call {
            // RFC 8555 §7.2: a GET gives a nonce as HEAD does.
            method: if is_post {
                selfsame_net::Method::Post
            } else {
                selfsame_net::Method::Get
            },
            url: &url,
            body,
            authorization: Authorization::None,
            request: selfsame_net::Request::default(),
        });
        let response = called
            .await
            .map_err(|error| Error::Other(Box::new(error)))?;
        Ok(Heard {
            response,
            is_head: head.method == Method::HEAD,
        })
    }

    /// What the protocol's library is told. An error without a problem document says nothing of what is wrong.
    fn answer(&self, heard: Heard) -> Result<BytesResponse, Error> {
        let Heard { response, is_head } = heard;
        let retry_after = response
            .retry_after
            .map(|seconds| seconds.min(LONGEST_TOLD));
        if response.status >= 400 {
            let wait = retry_after.map_or(0, |seconds| seconds.saturating_add(1));
            self.wait.store(wait, Ordering::Relaxed);
            if response.media_type().as_deref() != Some(PROBLEM) {
                return Err(Error::Other(Box::new(UnexplainedStatus(response.status))));
            }
        }
        // RFC 8555 §7.2: GET is answered with 204 where HEAD is with 200.
        let status = if is_head && response.status == 204 {
            200
        } else {
            response.status
        };
        let retry_after = retry_after.map(|seconds| seconds.to_string());
        let mut head = http::Response::builder().status(status);
        let told = [
            (REPLAY_NONCE, response.replay_nonce),
            (LOCATION.as_str(), response.location),
            (RETRY_AFTER.as_str(), retry_after),
        ];
        for (name, value) in told {
            if let Some(value) = value {
                head = head.header(name, value);
            }
        }
        let (parts, ()) = head.body(())?.into_parts();
        Ok(BytesResponse {
            parts,
            body: Box::new(response.body),
        })
    }
}

/// An answer, and whether its body was not wanted.
struct Heard {
    response: Response,
    is_head: bool,
}

impl HttpClient for DirectoryCalls {
    fn request(
        &self,
        request: Request<BodyWrapper<bytes::Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let calls = self.clone();
        Box::pin(async move {
            let heard = calls.call(request).await?;
            calls.answer(heard)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, content_type: Option<&str>) -> Response {
        Response {
            status,
            content_type: content_type.map(str::to_owned),
            cache_max_age: None,
            etag: None,
            retry_after: Some(7),
            challenge: None,
            dpop_nonce: None,
            attestation_challenge: None,
            replay_nonce: Some("nonce".to_owned()),
            location: Some("https://ca.example/order/1".to_owned()),
            body: bytes::Bytes::from_static(b"{}"),
        }
    }

    fn calls() -> DirectoryCalls {
        let directory = Url::parse("https://ca.example/directory").unwrap();
        DirectoryCalls::new(&directory, Vec::new()).unwrap()
    }

    #[test]
    fn a_nonce_that_was_asked_for_by_get_counts_as_if_by_head() {
        let heard = |is_head| Heard {
            response: response(204, None),
            is_head,
        };
        let status = |heard| calls().answer(heard).unwrap().parts.status.as_u16();
        assert_eq!((status(heard(true)), status(heard(false))), (200, 204));
        let parts = calls().answer(heard(true)).unwrap().parts;
        assert_eq!(parts.headers[REPLAY_NONCE], "nonce");
        assert_eq!(parts.headers[LOCATION], "https://ca.example/order/1");
    }

    #[test]
    fn the_wait_of_a_refusal_is_heard_once_and_a_page_of_html_is_no_problem_document() {
        let calls = calls();
        let heard = |status, kind| Heard {
            response: response(status, kind),
            is_head: false,
        };
        assert!(calls.answer(heard(429, Some(PROBLEM))).is_ok());
        assert_eq!((calls.take_wait(), calls.take_wait()), (Some(7), None));
        let unexplained = calls.answer(heard(502, Some("text/html"))).err().unwrap();
        assert!(unexplained.to_string().contains("502"));
        assert_eq!(calls.take_wait(), Some(7));
        assert!(calls.answer(heard(200, None)).is_ok());
        assert_eq!(calls.take_wait(), None, "a success asks for nothing");
    }

    #[test]
    fn a_wait_without_end_is_told_as_one_that_can_be_added_to_the_time() {
        let calls = calls();
        for status in [200, 429] {
            let heard = Heard {
                response: Response {
                    retry_after: Some(u64::MAX),
                    ..response(status, Some(PROBLEM))
                },
                is_head: false,
            };
            let parts = calls.answer(heard).unwrap().parts;
            assert_eq!(parts.headers[RETRY_AFTER], LONGEST_TOLD.to_string());
        }
        assert_eq!(calls.take_wait(), Some(LONGEST_TOLD));
    }

    #[tokio::test]
    async fn a_directory_is_not_called_without_tls() {
        let request = Request::builder()
            .uri("http://ca.example/directory")
            .body(BodyWrapper::default())
            .unwrap();
        let refused = calls().request(request).await.err().unwrap();
        assert!(refused.to_string().contains("https"), "{refused}");
    }
}
