//! Turns a group of addresses into routes, with its gate, limits, error format and authentication.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{Method, StatusCode, Uri};
use selfsame_endpoints::Addressed;
use selfsame_endpoints::called::{self, Called, CalledPlace};
use selfsame_http::limits::Budget;
use selfsame_http::middleware::admission::Admission;
use selfsame_http::middleware::budget::{Gate, Passage};
use selfsame_http::middleware::turns::Turns;
use selfsame_http::middleware::{around, door};
use selfsame_http::negotiation::takes_json_alone;
use selfsame_http::origin::Origin;
use selfsame_http::route::Abroad;
use selfsame_http::shares::Shares;
use selfsame_operators::{Area, Needed};

use crate::audience::Audience;
use crate::auth;
use crate::error::{self, Face, Problem};
use crate::middleware::abroad::{abroad, abroad_for_proofs};
use crate::problem;
use crate::server::Server;

/// Addresses with one audience.
pub struct Routes {
    /// The audience of the addresses.
    pub audience: Audience,
    /// The addresses.
    pub routes: Vec<Route>,
    lane: Option<Lane>,
    /// Whether each organisation has these addresses.
    of_organisations: bool,
    /// Whether they are at the host of each organisation that has one, though not below its path.
    at_hosts: bool,
    /// Whether they answer when the organisation is erased too.
    outlives: bool,
    /// What those who work for an organisation need rights in, to use these addresses.
    area: Option<Area>,
    /// The largest body, in bytes.
    body_max: usize,
    /// Whether any right in the organisation is enough to read them.
    read_with_any: bool,
    /// Whether those who work for organisations alone need them.
    administers: bool,
}

/// Addresses with a gate of their own, so that other requests of their audience cannot delay them.
#[derive(Clone, Copy, Debug)]
pub enum Lane {
    /// Status lists.
    Lists,
    /// The registry's reads.
    Registry,
    /// Answers to a verifier's requests.
    Answers,
    /// Sign-ins, which wait for an identity system.
    SignIns,
}

/// One method at one address.
pub type Route = selfsame_http::route::Route<Server>;

impl Routes {
    /// A group.
    pub fn of(audience: Audience, routes: Vec<Route>) -> Self {
        Self {
            audience,
            routes,
            lane: None,
            of_organisations: false,
            at_hosts: false,
            outlives: false,
            area: None,
            body_max: audience.body_max(),
            read_with_any: false,
            administers: audience.works_here(),
        }
    }

    /// Lets only those in who have the right to read or to change this area, by the method of the request.
    pub fn needing(mut self, area: Area) -> Self {
        self.area = Some(area);
        self
    }

    /// Lets them receive bodies of this size.
    pub fn receiving(mut self, body_max: usize) -> Self {
        self.body_max = body_max;
        self
    }

    /// Lets everyone read who has any right in the organisation. To change something, the right to change the area is
    /// needed as before.
    pub fn read_by_all_who_work_here(mut self) -> Self {
        self.read_with_any = true;
        self
    }

    /// Serves them at the listener of `[admin]` alone, if there is one.
    pub fn administering(mut self) -> Self {
        self.administers = true;
        self
    }

    /// Whether the listener of `[admin]` alone serves them, if there is one.
    pub fn is_administering(&self) -> bool {
        self.administers
    }

    /// What one of its addresses needs.
    pub fn needed(&self, method: &Method) -> Option<Needed> {
        self.area
            .map(|area| needed(area, self.read_with_any, method))
    }

    /// Gives these addresses to each organisation, below its own.
    pub fn of_organisations(mut self) -> Self {
        self.of_organisations = true;
        self
    }

    /// Gives these addresses to each host, whatever organisation has it: they are the same everywhere.
    pub fn at_each_host(mut self) -> Self {
        self.at_hosts = true;
        self.outliving()
    }

    /// Lets them answer when the organisation is erased too.
    pub fn outliving(mut self) -> Self {
        self.outlives = true;
        self
    }

    /// Whether they answer when the organisation is erased too.
    #[cfg(test)]
    pub fn is_outliving(&self) -> bool {
        self.outlives
    }

    /// Whether each organisation has these addresses.
    #[cfg(test)]
    pub fn is_of_organisations(&self) -> bool {
        self.of_organisations
    }

    /// Puts the group into a lane of its own.
    pub fn along(mut self, lane: Lane) -> Self {
        self.lane = Some(lane);
        self
    }
}

/// What a request needs to do in an area what its method does.
fn needed(area: Area, read_with_any: bool, method: &Method) -> Needed {
    match *method {
        Method::GET | Method::HEAD if read_with_any => Needed::Any,
        Method::GET | Method::HEAD => Needed::Right(area.read()),
        _ => Needed::Right(area.write()),
    }
}

/// The gates: one budget for each kind of caller, whatever the group.
struct Gates {
    people: Gate,
    protocol: Gate,
    operator: Gate,
    public: Gate,
    streams: Gate,
    operator_streams: Gate,
    waits: Gate,
    supervisor: Gate,
    lists: Gate,
    registry: Gate,
    answers: Gate,
    sign_ins: Gate,
    people_abroad: Turns,
    anybody_abroad: Turns,
    proofs_abroad: Turns,
    answers_abroad: Turns,
    shares_of_streams: Shares,
}

impl Gates {
    fn of(server: &Server) -> Self {
        let limits = server.limits();
        let patience = limits.public.patience;
        let at_once = |running| Budget {
            running,
            waiting: 0,
            patience,
        };
        let abroad = |name| Turns::new(name, limits.abroad, limits.abroad_each);
        Self {
            people: Gate::new("people", limits.people),
            protocol: Gate::new("protocol", limits.protocol),
            operator: Gate::new("operator", limits.operator),
            public: Gate::new("public", limits.public),
            streams: Gate::new("streams", at_once(limits.streams)),
            // Separate gates, so that the public cannot shut the operator out.
            operator_streams: Gate::new("operator streams", at_once(limits.streams)),
            waits: Gate::new("waits", at_once(limits.connections.open)),
            supervisor: Gate::new(
                "supervisor",
                Budget {
                    running: 16,
                    waiting: 16,
                    patience,
                },
            ),
            lists: Gate::new("status lists", limits.lists),
            registry: Gate::new("registry", limits.registry),
            answers: Gate::new("answers", limits.answers),
            sign_ins: Gate::new("sign-ins", limits.sign_ins),
            people_abroad: abroad("people abroad"),
            anybody_abroad: abroad("anybody abroad"),
            proofs_abroad: abroad("proofs abroad"),
            answers_abroad: Turns::new("answers abroad", limits.answers, limits.answers_each),
            shares_of_streams: Shares::default(),
        }
    }

    fn before(&self, audience: Audience, lane: Option<Lane>) -> &Gate {
        match lane {
            Some(Lane::Lists) => return &self.lists,
            Some(Lane::Registry) => return &self.registry,
            Some(Lane::Answers) => return &self.answers,
            Some(Lane::SignIns) => return &self.sign_ins,
            None => {}
        }
        match audience {
            Audience::Supervisor => &self.supervisor,
            Audience::Public | Audience::PublicApi => &self.public,
            Audience::Stream => &self.streams,
            Audience::OperatorStream => &self.operator_streams,
            Audience::OperatorWait => &self.waits,
            Audience::Doorway | Audience::DoorwayApi | Audience::Person | Audience::PersonApi => {
                &self.people
            }
            Audience::Operator | Audience::OperatorApi => &self.operator,
            Audience::Protocol | Audience::Registrant | Audience::RegistrantPage => &self.protocol,
        }
    }
}

/// The groups as one router with all layers.
pub fn assemble(groups: Vec<Routes>, server: &Server, origin: &Origin) -> Router {
    let gates = Gates::of(server);
    let mut router = Router::new();
    for group in groups {
        router = router.merge(guarded(group, &gates, PlacedServer { server, origin }));
    }
    let router = router
        .fallback(nowhere)
        .layer(from_fn_with_state(Arc::new(origin.clone()), around))
        .with_state(server.clone());
    // Layers of a router see a request after it was routed, so what finds the organisation is around the whole.
    let organisations = server.app().organisations().clone();
    Router::new().fallback_service(Addressed::new(router, origin.clone(), organisations))
}

/// The checks in front of a group of addresses.
struct Guard {
    audience: Audience,
    /// Addresses that only receive forms.
    forms: Vec<String>,
    admission: Admission,
    server: Server,
    /// Where they are served.
    origin: Origin,
    of_organisations: bool,
    at_hosts: bool,
    outlives: bool,
    area: Option<Area>,
    read_with_any: bool,
}

impl Guard {
    /// Whether its addresses are where an organisation was called. What people work with, whose sessions belong to the
    /// instance's host, is there alone.
    fn is_at(&self, called: &Called) -> bool {
        match called.at() {
            CalledPlace::Path => self.of_organisations,
            CalledPlace::Host => {
                self.at_hosts || self.of_organisations && !self.audience.works_here()
            }
        }
    }

    /// For a visitor: the same page at the host of the organisation, if it has one.
    async fn moved(&self, called: Option<&Called>, method: &Method, uri: &Uri) -> Option<Response> {
        let called = called.filter(|_| self.audience == Audience::Doorway)?;
        let organisations = self.server.app().organisations();
        let moved = called.moved(organisations, method, uri).await;
        moved.unwrap_or_else(|error| Some(Problem::from(error).into_response()))
    }

    /// The refusal of a request to an organisation that is erased.
    async fn erased(&self, called: Option<&Called>) -> Option<Problem> {
        let called = called.filter(|_| !self.outlives)?;
        let standing = self.server.app().is_not_erased(called.name()).await;
        standing.err().map(Problem::from)
    }

    /// What this request needs.
    fn needed(&self, method: &Method) -> Option<Needed> {
        self.area
            .map(|area| needed(area, self.read_with_any, method))
    }

    /// The page to show when a browser opens the address of a form that was answered. It comes before any sign-in to
    /// continue there.
    fn page_instead(&self, request: &Request) -> Option<&'static str> {
        let path = request.extensions().get::<MatchedPath>()?.as_str();
        let pages = matches!(self.audience.face(), Face::Page(_));
        let opened = pages && request.method() == Method::GET;
        if !opened || !self.forms.iter().any(|form| form == path) {
            return None;
        }
        match (self.audience, way_back(path)) {
            (Audience::Doorway, Some(("/wallet", _))) => Some("/wallet/sign-in"),
            (_, Some((page, _))) => Some(page),
            (_, None) => Some("/operator"),
        }
    }
}

/// Checks number, time, size, origin and authentication of requests.
async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let Guard {
        audience,
        admission,
        server,
        ..
    } = &*guard;
    let called = Called::of(request.extensions()).cloned();
    if called.as_ref().is_some_and(|called| !guard.is_at(called)) {
        return nowhere(request).await;
    }
    if let Some(page) = guard.page_instead(&request) {
        return called::led(called.as_ref(), Redirect::to(page).into_response());
    }
    let answer = async |request: Request| {
        let needed = guard.needed(request.method());
        if let Some(refusal) = guard.erased(called.as_ref()).await {
            return refusal.into_response();
        }
        let (method, uri) = (request.method(), request.uri());
        if let Some(there) = guard.moved(called.as_ref(), method, uri).await {
            return there;
        }
        if *audience != Audience::Protocol
            && let Some(refusal) = door::foreign_origin(&guard.origin, &request)
        {
            return refusal.into_response();
        }
        let is_at_host = called
            .as_ref()
            .is_some_and(|called| called.at() == CalledPlace::Host);
        let back = way_back(request.uri().path()).filter(|_| !is_at_host);
        let mut response = match audience {
            Audience::Operator
            | Audience::OperatorApi
            | Audience::OperatorStream
            | Audience::OperatorWait => {
                let seated = auth::operator(server, needed, request, next);
                seated.await.into_response()
            }
            Audience::Person | Audience::PersonApi => {
                auth::person(server, request, next).await.into_response()
            }
            Audience::Doorway => auth::visitor(server, request, next).await.into_response(),
            _ => next.run(request).await,
        };
        if let (Some((page, label)), Some(problem)) =
            (back, response.extensions_mut().get_mut::<Problem>())
        {
            let own = called.as_ref().map(|called| called.path(page));
            problem.or_go_on(own.map_or(Cow::Borrowed(page), Cow::Owned), label);
        }
        response
    };
    called::led(called.as_ref(), admission.admit(request, answer).await)
}

/// Where people continue after a page failed: the part of the site that it belongs to.
fn way_back(path: &str) -> Option<(&'static str, &'static str)> {
    match path.split('/').nth(1)? {
        "issuer" => Some(("/issuer", "Issuer")),
        "types" => Some(("/types", "Credential types")),
        "wallet" => Some(("/wallet", "Your wallet")),
        "verifier" => Some(("/verifier", "Verifier")),
        "people" => Some(("/people", "People and keys")),
        "audit" => Some(("/audit", "Audit trail")),
        "registry" | "browse" => Some(("/registry", "Registry")),
        "organisation" => Some(("/organisation", "Organisation")),
        "organisations" => Some(("/organisations", "Organisations")),
        "webhooks" => Some(("/webhooks", "Webhooks")),
        "agent" => Some(("/agent", "Agent")),
        "wire" => Some(("/wire", "What happened on the wire")),
        _ => None,
    }
}

/// A server, and the origin at which it is called.
#[derive(Clone, Copy)]
struct PlacedServer<'a> {
    server: &'a Server,
    origin: &'a Origin,
}

fn guarded(group: Routes, gates: &Gates, placed: PlacedServer<'_>) -> Router<Server> {
    let PlacedServer { server, origin } = placed;
    let Routes {
        audience,
        routes,
        lane,
        of_organisations,
        at_hosts,
        outlives,
        area,
        body_max,
        read_with_any,
        administers: _,
    } = group;
    let forms = forms(&routes);
    let turns = match lane {
        Some(Lane::Answers) => &gates.answers_abroad,
        _ if audience.has_account() => &gates.people_abroad,
        _ => &gates.anybody_abroad,
    };
    let mut router = Router::new();
    for route in routes {
        let route = selfsame_wire_ui::watched(route, server);
        tracing::trace!(method = %route.method, path = route.path, ?audience, "route");
        let handler = match route.abroad {
            Abroad::Never => route.handler,
            Abroad::Maybe => route
                .handler
                .route_layer(from_fn_with_state(turns.clone(), abroad)),
            Abroad::ByBody => {
                let state = (gates.proofs_abroad.clone(), server.clone());
                let layer = from_fn_with_state(state, abroad_for_proofs);
                route.handler.route_layer(layer)
            }
        };
        router = router.route(&route.path, handler);
    }
    let limits = server.limits();
    let admission = Admission {
        bodies: server.bodies().clone(),
        body_max,
        passage: Passage {
            gate: gates.before(audience, lane).clone(),
            face: audience.face(),
            time: limits.request,
            lasting: matches!(audience, Audience::Stream | Audience::OperatorStream),
        },
        streams: gates.shares_of_streams.clone(),
        streams_each: (audience == Audience::Stream).then_some(limits.streams_each),
    };
    let before = Guard {
        audience,
        forms,
        admission,
        server: server.clone(),
        origin: origin.clone(),
        of_organisations,
        at_hosts,
        outlives,
        area,
        read_with_any,
    };
    router.route_layer(from_fn_with_state(Arc::new(before), guard))
}

fn forms(routes: &[Route]) -> Vec<String> {
    let opens = |path: &str| {
        let mut same = routes.iter().filter(|route| route.path == path);
        same.any(|route| route.method == Method::GET)
    };
    let paths = routes.iter().map(|route| &route.path);
    paths.filter(|path| !opens(path)).cloned().collect()
}

async fn nowhere(request: Request) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let face = if is_api || takes_json_alone(request.headers()) {
        Face::Api
    } else {
        Face::Page(problem::page)
    };
    let problem = Problem::new(StatusCode::NOT_FOUND, "address-unknown");
    error::write(face, problem.into_response())
}
