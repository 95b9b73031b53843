//! The endpoint where peers deliver envelopes, by POST or on a WebSocket (RFC 0025). Answers go back the same way if the
//! peer takes them there (RFC 0092).

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequest as _, FromRequestParts as _, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use selfsame_app::App;
use selfsame_didcomm::media;
use selfsame_http::error::{Face, Handled, Problem, write};
use selfsame_http::extract::Raw;
use selfsame_http::middleware::admission::Admission;
use selfsame_http::middleware::budget::GatePlace;
use selfsame_http::middleware::observe;
use selfsame_http::peer::Peer;

use crate::admin::admission;
use crate::socket::{self, SocketLimits, Sockets};

/// The largest envelope, in bytes: a presentation of many credentials, encrypted for a mediator too.
const ENVELOPE_MAX: usize = 4 << 20;

/// The endpoint of all agents of this application, at each path.
pub fn inbound(app: Arc<App>) -> Router {
    limited(app, SocketLimits::default())
}

/// The same, with these limits of sockets.
pub fn limited(app: Arc<App>, limits: SocketLimits) -> Router {
    let place = Arc::new(InboundPlace {
        app,
        admission: Arc::new(admission("agent_inbound", ENVELOPE_MAX)),
        sockets: Sockets::new(limits),
    });
    let taker = place.clone();
    let taking = move |request: Request| {
        let place = taker.clone();
        async move {
            place
                .answer(request, async |request| place.taken(request).await)
                .await
        }
    };
    let opening = move |request: Request| {
        let place = place.clone();
        async move {
            place
                .answer(request, async |request| place.opened(request).await)
                .await
        }
    };
    let refused = || async { write(Face::Text, refused().into_response()) };
    Router::new()
        .route("/", post(taking.clone()).get(opening.clone()))
        .route("/{*path}", post(taking).get(opening))
        .method_not_allowed_fallback(refused)
}

fn refused() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-refused")
}

struct InboundPlace {
    app: Arc<App>,
    admission: Arc<Admission>,
    sockets: Sockets,
}

impl InboundPlace {
    async fn answer(
        &self,
        request: Request,
        answer: impl AsyncFnOnce(Request) -> Handled<Response>,
    ) -> Response {
        let answer = async |request| match answer(request).await {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        };
        observe::request(request, async |request| {
            self.admission.admit(request, answer).await
        })
        .await
    }

    async fn taken(&self, request: Request) -> Handled<Response> {
        let kind = request.headers().get(CONTENT_TYPE).cloned();
        let name = kind.as_ref().and_then(|kind| kind.to_str().ok());
        if !name.is_some_and(media::may_be_envelope) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "envelope-expected"));
        }
        let place = request.extensions().get::<GatePlace>().cloned();
        let Raw(envelope) = Raw::from_request(request, &()).await?;
        let agents = self.app.agents();
        let mut line = agents.line(false);
        let answer = agents.receive_on(&mut line, envelope.to_vec()).await?;
        let answer = match answer {
            None if line.is_open() => {
                // Who waits for an answer keeps no place of those who work.
                place.unwrap_or_default().leave();
                line.soon().await?
            }
            answer => answer,
        };
        Ok(match answer {
            Some(answer) => {
                let same = kind.unwrap_or(HeaderValue::from_static(media::V1_ENVELOPE));
                ([(CONTENT_TYPE, same)], answer).into_response()
            }
            None => StatusCode::ACCEPTED.into_response(),
        })
    }

    async fn opened(&self, request: Request) -> Handled<Response> {
        let peer = request.extensions().get::<Peer>().copied();
        let (mut parts, _body) = request.into_parts();
        let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
        let upgrade = upgrade.map_err(|_| refused())?;
        let place = self
            .sockets
            .place(peer)
            .ok_or_else(|| Problem::new(StatusCode::TOO_MANY_REQUESTS, "busy").come_back_in(1))?;
        let talk = socket::Talk {
            agents: self.app.agents().clone(),
            admission: self.admission.clone(),
            limits: place.limits,
        };
        Ok(
            socket::bounded(upgrade, place.limits)
                .on_upgrade(move |socket| talk.run(socket, place)),
        )
    }
}
