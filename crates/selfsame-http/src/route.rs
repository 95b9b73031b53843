//! A route: a method at an address, its handler and its description. Lists of routes make both the router and the
//! OpenAPI document.

mod erased;
pub mod openapi;

use std::any::type_name;

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::Method;
use utoipa::openapi::path::HttpMethod;

pub use erased::{Erased, HandlerFuture};
use openapi::{Described, Description, Specified, Typed};

/// One method at one address. `S` is the state of the handlers.
pub struct Route<S> {
    /// The method.
    pub method: Method,
    /// The address, as a pattern.
    pub path: String,
    /// The handler, for this method only.
    pub handler: MethodRouter<S>,
    /// Whether its requests wait for other hosts that their callers choose.
    pub abroad: Abroad,
    /// The name of its operation for programs, unless `#[utoipa::path]` states it as `operation_id`.
    pub name: &'static str,
    /// Its description; `None` for an address that programs do not use.
    pub description: Option<Description>,
}

/// Whether a request waits for other hosts that its caller chooses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Abroad {
    /// It never does.
    Never,
    /// It may.
    Maybe,
    /// It does if something in its body needs another host.
    ByBody,
}

/// A route that reads.
pub fn get<S, H, T>(path: &str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    let handler = on(MethodFilter::GET, Erased::of(handler));
    Route::new(Method::GET, path.to_owned(), handler)
}

/// A route that writes.
pub fn post<S, H, T>(path: &str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    let handler = on(MethodFilter::POST, Erased::of(handler));
    Route::new(Method::POST, path.to_owned(), handler)
}

/// A route for `PUT`.
pub fn put<S, H, T>(path: &str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    let handler = on(MethodFilter::PUT, Erased::of(handler));
    Route::new(Method::PUT, path.to_owned(), handler)
}

/// A route for `DELETE`.
pub fn delete<S, H, T>(path: &str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    let handler = on(MethodFilter::DELETE, Erased::of(handler));
    Route::new(Method::DELETE, path.to_owned(), handler)
}

/// A route for `PATCH`.
pub fn patch<S, H, T>(path: &str, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    let handler = on(MethodFilter::PATCH, Erased::of(handler));
    Route::new(Method::PATCH, path.to_owned(), handler)
}

/// A route whose method, address and description `#[utoipa::path]` states beside the handler. It states them as `P`,
/// which has the handler's name after `__path_`.
pub fn described<S, P, H, T>(_stated: P, handler: H) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    P: Described,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    // The names are for people, but both are written by the same compiler.
    debug_assert_eq!(
        type_name::<P>().replace("__path_", ""),
        type_name::<H>(),
        "this is the description of another handler"
    );
    let (method, filter) = match P::methods().first() {
        Some(HttpMethod::Post) => (Method::POST, MethodFilter::POST),
        Some(HttpMethod::Put) => (Method::PUT, MethodFilter::PUT),
        Some(HttpMethod::Patch) => (Method::PATCH, MethodFilter::PATCH),
        Some(HttpMethod::Delete) => (Method::DELETE, MethodFilter::DELETE),
        _ => (Method::GET, MethodFilter::GET),
    };
    Route {
        description: Some(Description::Typed(Typed::of::<P>())),
        ..Route::new(method, P::path(), on(filter, Erased::of(handler)))
    }
}

/// The routes of a list, whose descriptions have this tag unless they have another.
pub fn tagged<S>(tag: &'static str, routes: Vec<Route<S>>) -> Vec<Route<S>> {
    let tagged = |route: Route<S>| {
        route.specify(|specified| {
            if specified.tag.is_empty() {
                specified.tag = tag;
            }
        })
    };
    routes.into_iter().map(tagged).collect()
}

impl<S> Route<S> {
    fn new(method: Method, path: String, handler: MethodRouter<S>) -> Self {
        Self {
            method,
            path,
            handler,
            abroad: Abroad::Never,
            name: "",
            description: None,
        }
    }

    /// Names the operation by its tag and what it does, such as `issuance_token`. Clients have a function of this name.
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Marks the route as one that may wait for other hosts that its callers choose.
    pub fn abroad(mut self) -> Self {
        self.abroad = Abroad::Maybe;
        self
    }

    /// Marks the route as one that waits for such hosts only if something in the body needs one.
    pub fn abroad_by_body(mut self) -> Self {
        self.abroad = Abroad::ByBody;
        self
    }

    /// Describes the route: the content type of its response, and its summary.
    pub fn gives(mut self, gives: &'static str, what: &'static str) -> Self {
        let specified = Specified::new(gives, what);
        self.description = Some(Description::Specified(specified));
        self
    }

    /// Gives the description another tag than that of its list.
    pub fn tag(self, tag: &'static str) -> Self {
        self.specify(|specified| specified.tag = tag)
    }

    /// Says where its bodies are specified.
    pub fn by(self, by: &'static str) -> Self {
        self.specify(|specified| specified.by = by)
    }

    /// Describes the parameters of its query; a `?` marks the optional ones.
    pub fn asks(self, query: &'static [&'static str]) -> Self {
        self.specify(|specified| specified.query = query)
    }

    /// Describes the content type of its request.
    pub fn takes(self, takes: &'static str) -> Self {
        self.specify(|specified| specified.takes = Some(takes))
    }

    /// Describes other content types of its response.
    pub fn or(self, or: &'static [&'static str]) -> Self {
        self.specify(|specified| specified.or = or)
    }

    /// Says that its response has the status 201: it makes something.
    pub fn created(self) -> Self {
        self.specify(|specified| specified.is_created = true)
    }

    /// Describes the formats of its own errors, beside those of its audience.
    pub fn refuses(self, refuses: &'static [&'static str]) -> Self {
        self.specify(|specified| specified.refuses = refuses)
    }

    fn specify(mut self, change: impl FnOnce(&mut Specified)) -> Self {
        if let Some(Description::Specified(specified)) = &mut self.description {
            change(specified);
        }
        self
    }
}
