//! The endpoint that peers post envelopes to (RFC 0025).

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequest as _, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use selfsame_app::App;
use selfsame_didcomm::media;
use selfsame_http::error::{Face, Handled, Problem, write};
use selfsame_http::extract::Raw;
use selfsame_http::middleware::admission::Admission;
use selfsame_http::middleware::observe;

use crate::admin::admission;

/// The largest envelope, in bytes: a presentation of many credentials, encrypted for a mediator too.
const ENVELOPE_MAX: usize = 4 << 20;

/// The endpoint of all agents of this application, at each path.
pub fn inbound(app: Arc<App>) -> Router {
    let place = Arc::new(InboundPlace {
        app,
        admission: admission("agent_inbound", ENVELOPE_MAX),
    });
    let taking = move |request: Request| {
        let place = place.clone();
        async move { place.answer(request).await }
    };
    let refused = || async {
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-refused");
        write(Face::Text, problem.into_response())
    };
    Router::new()
        .route("/", post(taking.clone()))
        .route("/{*path}", post(taking))
        .method_not_allowed_fallback(refused)
}

struct InboundPlace {
    app: Arc<App>,
    admission: Admission,
}

impl InboundPlace {
    async fn answer(&self, request: Request) -> Response {
        let answer = async |request| match self.taken(request).await {
            Ok(()) => StatusCode::ACCEPTED.into_response(),
            Err(problem) => problem.into_response(),
        };
        let admission = &self.admission;
        observe::request(request, async |request| {
            admission.admit(request, answer).await
        })
        .await
    }

    async fn taken(&self, request: Request) -> Handled<()> {
        let headers = request.headers();
        let kind = headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(media::may_be_envelope) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "envelope-expected"));
        }
        let Raw(envelope) = Raw::from_request(request, &()).await?;
        self.app.agents().receive(envelope.to_vec()).await?;
        Ok(())
    }
}
