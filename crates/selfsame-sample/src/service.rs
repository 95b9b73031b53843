//! The service: its addresses, and what a browser does there.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};
use selfsame_crypto::encoding;
use selfsame_crypto::seal::random_seed;
use selfsame_driver::Error;
use selfsame_driver::clock::Clock;
use selfsame_http::cookie::{self, Jar};
use selfsame_http::limits::ConnectionLimits;
use selfsame_http::middleware::{around, door};
use selfsame_http::origin::Origin;
use selfsame_http::pulse::Pulse;
use selfsame_http::redirect;
use selfsame_http::serve::{Door, HttpService, serve};
use selfsame_http::shares::Shares;
use selfsame_identity::upstream::{ProviderClient, UpstreamAnswer, UpstreamConfig};
use selfsame_net::Net;
use selfsame_sign_in_pages::{Template, render};
use tokio::net::TcpListener;
use tokio::sync::watch;
use url::{Url, form_urlencoded};

use crate::files;
use crate::pages::Showing;
use crate::visits::{LearnedVisit, VisitState, Visits};

/// The parameter by which a person chooses the language of the pages.
const LANGUAGE: &str = "ui_locales";

/// What a service is made from.
pub struct SampleSettings {
    /// Its own origin.
    pub origin: Origin,
    /// What it is at the provider.
    pub client: UpstreamConfig,
    /// The name of the provider for people.
    pub provider: String,
    /// How it calls the provider.
    pub net: Net,
    /// Its time and randomness.
    pub clock: Clock,
}

/// The sample service. Clones share their state.
#[derive(Clone)]
pub struct SampleService(Arc<SampleParts>);

struct SampleParts {
    origin: Arc<Origin>,
    client: ProviderClient,
    provider: String,
    clock: Clock,
    visits: Visits,
}

impl SampleService {
    /// The service of these settings.
    #[must_use]
    pub fn new(settings: SampleSettings) -> Self {
        let SampleSettings {
            origin,
            client,
            provider,
            net,
            clock,
        } = settings;
        Self(Arc::new(SampleParts {
            origin: Arc::new(origin),
            client: ProviderClient::new(client, net, clock.clone()),
            provider,
            clock,
            visits: Visits::default(),
        }))
    }

    /// Serves it until `stop` is done.
    ///
    /// # Errors
    /// If no threads can be started.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let service = HttpService {
            router: self.router(),
            door: Door::Plain,
            limits: ConnectionLimits::default(),
            shares: Shares::default(),
            requests: Shares::default(),
            pulse: Pulse::default(),
            stopping: watch::Sender::new(false),
        };
        serve(listener, service, stop).await
    }

    /// Its addresses.
    pub fn router(self) -> Router {
        let origin = self.0.origin.clone();
        Router::new()
            .route("/", get(page))
            .route("/begin", get(begin))
            .route("/callback", get(callback))
            .route("/sign-out", post(sign_out))
            .route("/assets/{version}/{name}", get(files::serve))
            .layer(from_fn_with_state(origin.clone(), own_forms))
            .layer(from_fn_with_state(origin, around))
            .with_state(self)
    }

    fn showing<'a>(&'a self, headers: &'a HeaderMap, query: Option<&str>) -> Showing<'a> {
        Showing {
            provider: &self.0.provider,
            chosen: parameter(query, LANGUAGE).or_else(|| cookie::read(headers, &self.tongue())),
            headers,
        }
    }

    fn cookie(&self) -> String {
        format!("selfsame-sample-{}", self.0.origin.port())
    }

    /// The cookie of the language that was chosen, which lasts while the browser is elsewhere.
    fn tongue(&self) -> String {
        format!("selfsame-sample-language-{}", self.0.origin.port())
    }

    fn token(&self, headers: &HeaderMap) -> Option<String> {
        cookie::read(headers, &self.cookie())
    }

    /// The visit of the browser, as far as it has signed in.
    fn learned(&self, headers: &HeaderMap) -> Option<LearnedVisit> {
        let token = self.token(headers)?;
        match self.0.visits.get(&token, self.0.clock.now())? {
            VisitState::Learned(learned) => Some(learned),
            VisitState::Begun(_) => None,
        }
    }

    /// Redeems what the browser brought back.
    async fn learn(
        &self,
        headers: &HeaderMap,
        query: &str,
    ) -> Option<UpstreamAnswer<LearnedVisit>> {
        let token = self.token(headers)?;
        match self.0.visits.take(&token, self.0.clock.now())? {
            VisitState::Begun(begun) => Some(self.redeemed(&begun, query).await),
            VisitState::Learned(_) => None,
        }
    }

    async fn redeemed(
        &self,
        begun: &selfsame_identity::upstream::BegunAtProvider,
        query: &str,
    ) -> UpstreamAnswer<LearnedVisit> {
        let client = &self.0.client;
        let redeemed = client.redeem(begun, query).await?;
        let mut claims = client.userinfo(&redeemed).await?;
        for (name, value) in &redeemed.claims {
            claims.insert(name.clone(), value.clone());
        }
        Ok(LearnedVisit {
            token: redeemed.claims,
            claims,
            id_token: redeemed.id_token,
        })
    }

    /// A response that gives the browser a visit with a new name: an attacker who chose a name cannot use the visit.
    fn visiting(&self, mut response: Response, state: VisitState) -> Response {
        let token = encoding::base64url_encode(&random_seed());
        self.0.visits.put(&token, state, self.0.clock.now());
        let name = self.cookie();
        if let Some(cookie) = Jar::lax(&name).value(&token, &self.0.origin) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        response
    }
}

/// Refuses forms of pages of others.
async fn own_forms(State(origin): State<Arc<Origin>>, request: Request, next: Next) -> Response {
    match door::foreign_origin(&origin, &request) {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    }
}

/// The page, before and after the sign-in.
async fn page(
    State(service): State<SampleService>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let learned = service.learned(&headers);
    let showing = service.showing(&headers, query.as_deref());
    shown(StatusCode::OK, &showing.page(learned.as_ref()))
}

/// Leads to the provider.
async fn begin(
    State(service): State<SampleService>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let showing = service.showing(&headers, query.as_deref());
    match service.0.client.begin().await {
        Ok(mut sent) => {
            let language = showing.language().tag();
            sent.url.query_pairs_mut().append_pair(LANGUAGE, language);
            let mut led = Redirect::to(sent.url.as_str()).into_response();
            if let Some(chosen) = Jar::lax(&service.tongue()).value(language, &service.0.origin) {
                led.headers_mut().append(SET_COOKIE, chosen);
            }
            service.visiting(led, VisitState::Begun(sent.begun))
        }
        Err(_) => shown(
            StatusCode::BAD_GATEWAY,
            &showing.failed("error-unavailable"),
        ),
    }
}

/// Takes what the browser brings back from the provider.
async fn callback(
    State(service): State<SampleService>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let showing = service.showing(&headers, None);
    let query = query.unwrap_or_default();
    match service.learn(&headers, &query).await {
        Some(Ok(learned)) => service.visiting(
            Redirect::to("/").into_response(),
            VisitState::Learned(learned),
        ),
        Some(Err(_)) if parameter(Some(&query), "error").as_deref() == Some("access_denied") => {
            shown(StatusCode::OK, &showing.failed("error-declined"))
        }
        Some(Err(_)) | None => shown(StatusCode::BAD_REQUEST, &showing.failed("error-expired")),
    }
}

/// Forgets the person, and leads to the provider's sign-out.
async fn sign_out(State(service): State<SampleService>, headers: HeaderMap) -> Response {
    let parts = &service.0;
    let token = service.token(&headers);
    let visit = token.and_then(|token| parts.visits.take(&token, parts.clock.now()));
    let Some(VisitState::Learned(learned)) = visit else {
        return Redirect::to("/").into_response();
    };
    let Ok(here) = Url::parse(parts.origin.as_str()) else {
        return Redirect::to("/").into_response();
    };
    match parts.client.sign_out(&learned.id_token, &here).await {
        Ok(Some(there)) => redirect::onwards(there.as_str()),
        _ => Redirect::to("/").into_response(),
    }
}

fn shown(status: StatusCode, page: &impl Template) -> Response {
    match render(page) {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => selfsame_http::error::Problem::from(Error::internal(error)).into_response(),
    }
}

/// The first value of a parameter.
fn parameter(query: Option<&str>, wanted: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query?.as_bytes());
    let found = pairs.find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.into_owned())
}
