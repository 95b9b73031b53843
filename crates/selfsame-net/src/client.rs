//! The HTTP client: address guard, concurrency gate, connection pool, limits, redirects.

use std::error::Error as StdError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use url::{Origin, Url};

use crate::error::NetError;
use crate::gate::Gates;
use crate::guard::{self, Reach};
use crate::local::PerThread;
use crate::message::{Authorization, Body, Call, CallLimits, Method, Request, Response};
use crate::node::{NodeConnector, SecureNode};
use crate::resolver::{ResolveError, Resolver};
use crate::settings::Settings;
use crate::socket::{self, SocketHandshake};
use crate::traced;

const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 32 * 1024;
const USER_AGENT: &str = concat!("selfsame/", env!("CARGO_PKG_VERSION"));

type Pool = Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>;
type NodePool = Client<NodeConnector, Full<Bytes>>;

/// Makes outbound calls. Cheap to clone; all clones share connections and limits.
#[derive(Clone)]
pub struct Net(Arc<NetParts>);

struct NetParts {
    own: PerThread<Pool>,
    beside: PerThread<Pool>,
    public: PerThread<Pool>,
    /// Origins reached by connectors of their own instead of certificates.
    nodes: OnceLock<Vec<(Origin, PerThread<NodePool>)>>,
    settings: Settings,
    own_origins: Vec<Origin>,
    gates: Gates,
    limits: CallLimits,
    max_redirects: u8,
    requests: AtomicU64,
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net")
            .field("own_origins", &self.0.own_origins)
            .finish_non_exhaustive()
    }
}

impl Net {
    /// Creates the client. Reads the system's TLS roots if the settings require them.
    pub fn new(settings: Settings) -> Result<Self, NetError> {
        let tls = tls_config(&settings)?;
        let lower =
            |(name, addresses): (&String, &Vec<_>)| (name.to_ascii_lowercase(), addresses.clone());
        let hosts = Arc::new(settings.hosts.iter().map(lower).collect());
        let domain = |origin: &Origin| match origin {
            Origin::Tuple(scheme, host, _) if scheme == "https" => Some(host.clone()),
            _ => None,
        };
        let own_hosts = Arc::new(settings.own_origins.iter().filter_map(domain).collect());
        let pool = |reach| {
            let resolver = Resolver::new(reach, Arc::clone(&hosts), Arc::clone(&own_hosts));
            pool(&settings, tls.clone(), reach, resolver)
        };
        Ok(Self(Arc::new(NetParts {
            own: PerThread::new(|| pool(Reach::Own)),
            beside: PerThread::new(|| pool(Reach::Beside)),
            public: PerThread::new(|| pool(Reach::Public)),
            gates: Gates::new(settings.max_in_flight, settings.max_waiting),
            limits: settings.limits,
            max_redirects: settings.max_redirects,
            requests: AtomicU64::new(0),
            nodes: OnceLock::new(),
            own_origins: settings.own_origins.clone(),
            settings,
        })))
    }

    /// From now on, reaches these origins by their connectors only, not by certificates. Called once, after
    /// construction: resolving a node's DID may need this client.
    ///
    /// # Errors
    /// If an origin is not among [`Settings::own_origins`], or if this was called before.
    pub fn reach_nodes(&self, nodes: Vec<(Origin, Arc<dyn SecureNode>)>) -> Result<(), NetError> {
        let own = &self.0.own_origins;
        if !nodes.iter().all(|(origin, _)| own.contains(origin)) {
            let reason = "a node's origin is not among the instance's own origins";
            return Err(NetError::Setup(reason.to_owned()));
        }
        let settings = &self.0.settings;
        let pools = nodes.into_iter().map(|(origin, node)| {
            let connector = NodeConnector {
                node,
                hosts: Arc::new(settings.hosts.clone()),
                connect_timeout: settings.connect_timeout,
            };
            let pool = PerThread::new(|| pooled(settings, connector.clone()));
            (origin, pool)
        });
        let said = self.0.nodes.set(pools.collect());
        said.map_err(|_| NetError::Setup("the nodes were named before".to_owned()))
    }

    fn node(&self, url: &Url) -> Option<&NodePool> {
        let mut nodes = self.0.nodes.get()?.iter();
        let found = nodes.find(|(origin, _)| *origin == url.origin());
        found.map(|(_, pool)| pool.here())
    }

    /// Whether the client may call a URL. Resolves no names.
    pub fn check(&self, url: &Url) -> Result<Reach, NetError> {
        guard::check_url(url, &self.0.own_origins).map_err(NetError::Refused)
    }

    /// Fetches a URL.
    pub async fn get(&self, url: &Url, request: &Request<'_>) -> Result<Response, NetError> {
        self.call(Call {
            method: Method::Get,
            url,
            body: Body::Empty,
            authorization: Authorization::None,
            request: *request,
        })
        .await
    }

    /// Fetches a file of at most this many bytes; `None` if its host has none there.
    ///
    /// # Errors
    /// Those of the call, and `Malformed` for any other status than success.
    pub async fn file(&self, url: &Url, most: usize) -> Result<Option<Bytes>, NetError> {
        let request = Request {
            limits: Some(CallLimits {
                max_body: most,
                ..self.0.limits
            }),
            redirects: 2,
            ..Request::default()
        };
        let response = self.get(url, &request).await?;
        match response.status {
            _ if response.is_success() => Ok(Some(response.body)),
            404 | 410 => Ok(None),
            _ => Err(NetError::Malformed("its status is not a success")),
        }
    }

    /// Posts to a URL. Redirects are not followed.
    pub async fn post(
        &self,
        url: &Url,
        body: Body,
        authorization: Authorization,
    ) -> Result<Response, NetError> {
        self.call(Call {
            method: Method::Post,
            url,
            body,
            authorization,
            request: Request::default(),
        })
        .await
    }

    /// Sends one message on a WebSocket (`ws` or `wss`) of its own, within the limit on time.
    pub fn send_on_socket<'a>(
        &'a self,
        url: &'a Url,
        message: Vec<u8>,
    ) -> BoxFuture<'a, Result<(), NetError>> {
        let within = self.0.limits.total_timeout;
        Box::pin(async move {
            let sent = tokio::time::timeout(within, self.sent_on_socket(url, message)).await;
            sent.unwrap_or(Err(NetError::TimedOut))
        })
    }

    async fn sent_on_socket(&self, url: &Url, message: Vec<u8>) -> Result<(), NetError> {
        let url = socket::handshake_url(url)
            .ok_or(NetError::BadCall("the URL is not that of a WebSocket"))?;
        let reach = self.check(&url)?;
        let gate = format!("socket {}", url.origin().ascii_serialization());
        let _place = self.0.gates.enter(&gate).await?;
        let handshake = SocketHandshake::new();
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        handshake.ask(&mut headers)?;
        let outgoing = Outgoing {
            method: Method::Get,
            headers,
            body: Bytes::new(),
            limits: self.0.limits,
            max_in_flight: self.0.settings.max_in_flight,
        };
        let request = outgoing.request(&url)?;
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        let response = self.request(&url, reach, request).await?;
        handshake.check(response.status(), response.headers())?;
        let upgraded = hyper::upgrade::on(response).await;
        socket::send(upgraded.map_err(|_| NetError::Unreachable)?, message).await
    }

    async fn request(
        &self,
        url: &Url,
        reach: Reach,
        request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>, NetError> {
        let answer = match (self.node(url), reach) {
            (Some(pool), _) => pool.request(request).await,
            (None, Reach::Own) => self.0.own.here().request(request).await,
            (None, Reach::Beside) => self.0.beside.here().request(request).await,
            (None, Reach::Public) => self.0.public.here().request(request).await,
        };
        answer.map_err(|error| explain(&error))
    }

    /// The number of requests sent so far, including followed redirects.
    pub fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Makes a call within its limits on time and size. Boxed, since each crate that awaits an async function compiles it,
    /// and this one has all of the HTTP client in it.
    pub fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Response, NetError>> {
        Box::pin(self.called(call))
    }

    async fn called(&self, call: Call<'_>) -> Result<Response, NetError> {
        let limits = call.request.limits.unwrap_or(self.0.limits);
        let origin = call.url.origin().ascii_serialization();
        let span = traced::of(&call);
        let following = tokio::time::timeout(limits.total_timeout, self.follow(call, limits));
        let answer = match span.watch(following, traced::ended).await {
            Ok(answer) => answer,
            Err(_) => Err(NetError::TimedOut),
        };
        if let Err(error) = &answer {
            tracing::debug!(origin, %error, "outbound call failed");
        }
        answer
    }

    async fn follow(&self, call: Call<'_>, limits: CallLimits) -> Result<Response, NetError> {
        let mut redirects = allowed_redirects(&call, self.0.max_redirects);
        let headers = request_headers(&call)?;
        let (content_type, body) = call.body.encode()?;
        let mut outgoing = Outgoing {
            method: call.method,
            headers,
            body,
            limits,
            max_in_flight: call
                .request
                .max_in_flight
                .unwrap_or(self.0.settings.max_in_flight),
        };
        if let Some(content_type) = content_type {
            let value = HeaderValue::from_str(&content_type)
                .map_err(|_| NetError::BadCall("the content type is not a header value"))?;
            outgoing.headers.insert(header::CONTENT_TYPE, value);
        }
        let mut reach = self.check(call.url)?;
        let mut url = std::borrow::Cow::Borrowed(call.url);
        loop {
            let location = match self.exchange(&url, reach, &outgoing).await? {
                ClientAnswer::Final(response) => return Ok(*response),
                ClientAnswer::Redirect { status, location } => {
                    redirects = redirects
                        .checked_sub(1)
                        .ok_or(NetError::Redirected { status })?;
                    location
                }
            };
            let next = url
                .join(&location)
                .map_err(|_| NetError::Malformed("the redirect leads nowhere"))?;
            reach =
                guard::check_hop(reach, &next, &self.0.own_origins).map_err(NetError::Refused)?;
            url = std::borrow::Cow::Owned(next);
        }
    }

    async fn exchange(
        &self,
        url: &Url,
        reach: Reach,
        outgoing: &Outgoing,
    ) -> Result<ClientAnswer, NetError> {
        // GETs have a separate gate. A verifier checking what wallets post fetches lists and DIDs, perhaps from the
        // origin that receives all the posts, and must not wait for these to end.
        let repeatable = outgoing.method == Method::Get;
        let gate = format!("{repeatable} {}", url.origin().ascii_serialization());
        let max = outgoing.max_in_flight;
        let _place = self.0.gates.enter_at_most(&gate, max).await?;
        let mut request = outgoing.request(url)?;
        let mut traced = self.0.settings.traced_origins.iter();
        if reach == Reach::Own && traced.any(|origin| guard::is_own(origin, url)) {
            traced::tell(request.headers_mut());
        }
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        let response = self.request(url, reach, request).await?;
        let (head, body) = response.into_parts();
        if header_bytes(&head.headers) > MAX_HEADER_BYTES {
            return Err(NetError::Malformed("the headers are too long"));
        }
        let status = head.status.as_u16();
        if is_redirect(status) {
            return match head
                .headers
                .get(header::LOCATION)
                .and_then(|l| l.to_str().ok())
            {
                Some(location) => Ok(ClientAnswer::Redirect {
                    status,
                    location: location.to_owned(),
                }),
                None => Err(NetError::Redirected { status }),
            };
        }
        // Only `identity` is accepted, so any coding is a mistake or a decompression bomb.
        if head
            .headers
            .get(header::CONTENT_ENCODING)
            .is_some_and(|e| e != "identity")
        {
            return Err(NetError::Malformed(
                "the body is compressed though that was not offered",
            ));
        }
        let body = read(body, outgoing.limits.max_body).await?;
        let response = Response::new(status, &head.headers, body)?;
        Ok(ClientAnswer::Final(Box::new(response)))
    }
}

enum ClientAnswer {
    Final(Box<Response>),
    Redirect { status: u16, location: String },
}

struct Outgoing {
    method: Method,
    headers: HeaderMap,
    body: Bytes,
    limits: CallLimits,
    max_in_flight: usize,
}

impl Outgoing {
    fn request(&self, url: &Url) -> Result<http::Request<Full<Bytes>>, NetError> {
        let target = &url[..url::Position::AfterQuery];
        let uri: http::Uri = target
            .parse()
            .map_err(|_| NetError::BadCall("the URL does not fit HTTP"))?;
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = match self.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
            Method::Delete => http::Method::DELETE,
        };
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        Ok(request)
    }
}

/// Only GETs without authorization follow redirects.
fn allowed_redirects(call: &Call<'_>, most: u8) -> u8 {
    match (call.method, &call.authorization) {
        (Method::Get, Authorization::None) => call.request.redirects.min(most),
        _ => 0,
    }
}

fn request_headers(call: &Call<'_>) -> Result<HeaderMap, NetError> {
    let mut headers = HeaderMap::with_capacity(5);
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    // RFC 9110 §12.5.3: without this header, any coding would be acceptable.
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
    if let Some(accept) = call.request.accept {
        let value = HeaderValue::from_str(accept)
            .map_err(|_| NetError::BadCall("accept is not a header value"))?;
        headers.insert(header::ACCEPT, value);
    }
    for further in call.request.headers {
        let value = HeaderValue::from_str(further.value)
            .map_err(|_| NetError::BadCall("a header's value does not fit HTTP"))?;
        let name = HeaderName::from_bytes(further.name.as_bytes())
            .map_err(|_| NetError::BadCall("a header's name does not fit HTTP"))?;
        headers.insert(name, value);
    }
    let authorized = match &call.authorization {
        Authorization::None => None,
        Authorization::Bearer(token) => Some(("Bearer", token)),
        Authorization::Bound(token) => Some(("DPoP", token)),
    };
    if let Some((scheme, token)) = authorized {
        let mut value = HeaderValue::from_str(&format!("{scheme} {}", token.expose()))
            .map_err(|_| NetError::BadCall("the token is not a header value"))?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(headers)
}

/// The connection's buffer limits the memory; a single read that fills it may still exceed the limit on headers.
fn header_bytes(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len().saturating_add(value.len()))
        .fold(0, usize::saturating_add)
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 300..=303 | 305..=308)
}

async fn read(mut body: Incoming, limit: usize) -> Result<Bytes, NetError> {
    let too_large = NetError::TooLarge { limit };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large);
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| explain_body(&error))?.into_data() else {
            continue;
        };
        if data.len() > limit.saturating_sub(read.len()) {
            return Err(too_large);
        }
        if read.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

fn explain_body(error: &hyper::Error) -> NetError {
    match error.is_parse() {
        true => NetError::Malformed("the body is not proper HTTP"),
        false => NetError::Unreachable,
    }
}

/// Finds the cause of a failed exchange in its chain of errors.
fn explain(error: &hyper_util::client::legacy::Error) -> NetError {
    let mut cause: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(current) = cause {
        match known(current) {
            Some(NetError::TimedOut) if error.is_connect() => return NetError::Unconnected,
            Some(found) => return found,
            None => cause = current.source(),
        }
    }
    match error.is_connect() {
        true => NetError::Unconnected,
        false => NetError::Unreachable,
    }
}

fn known(error: &(dyn StdError + 'static)) -> Option<NetError> {
    if let Some(error) = error.downcast_ref::<ResolveError>() {
        return Some(match error {
            ResolveError::Unknown => NetError::UnknownHost,
            ResolveError::Refused(refusal) => NetError::Refused(*refusal),
        });
    }
    if let Some(error) = error.downcast_ref::<NetError>() {
        return Some(error.clone());
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(NetError::Tls(error.to_string()));
    }
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return error
            .is_parse()
            .then_some(NetError::Malformed("the answer is not proper HTTP"));
    }
    let error = error.downcast_ref::<std::io::Error>()?;
    if error.kind() == std::io::ErrorKind::TimedOut {
        return Some(NetError::TimedOut);
    }
    // `io::Error::source` skips the error it wraps.
    known(error.get_ref()?)
}

/// HTTP/1.1 only: one framing less to attack, and connections are pooled.
fn pool(settings: &Settings, tls: ClientConfig, reach: Reach, resolver: Resolver) -> Pool {
    let mut http = HttpConnector::new_with_resolver(resolver);
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(settings.connect_timeout));
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls);
    let connector = match reach {
        Reach::Own => builder.https_or_http().enable_http1().wrap_connector(http),
        Reach::Beside | Reach::Public => builder.https_only().enable_http1().wrap_connector(http),
    };
    pooled(settings, connector)
}

fn pooled<C>(settings: &Settings, connector: C) -> Client<C, Full<Bytes>>
where
    C: Connect + Clone,
{
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new())
        .pool_idle_timeout(settings.idle_timeout)
        .pool_max_idle_per_host(settings.max_idle)
        .http1_max_headers(MAX_HEADERS)
        .http1_max_buf_size(MAX_HEADER_BYTES)
        .build(connector)
}

fn tls_config(settings: &Settings) -> Result<ClientConfig, NetError> {
    let mut roots = RootCertStore::empty();
    if settings.native_roots {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a system TLS root could not be read");
        }
        let (added, ignored) = roots.add_parsable_certificates(found.certs);
        tracing::debug!(added, ignored, "system TLS roots");
    }
    for root in &settings.extra_roots {
        roots
            .add(root.clone().into())
            .map_err(|error| NetError::Setup(format!("an extra TLS root: {error}")))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| NetError::Setup(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
