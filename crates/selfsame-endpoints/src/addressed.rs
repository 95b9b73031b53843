//! Finds which organisation a request calls, before it is routed: by its host, or by the beginning of its path.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::{IntoResponse as _, Redirect, Response};
use futures_util::future::{BoxFuture, Either};
use selfsame_core::organisation::Organisations;
use selfsame_http::error::{Face, Problem, write};
use selfsame_http::middleware::door::{authority, is_at_any_host};
use selfsame_http::origin::{CalledOrigin, Origin};
use tower::Service;

use crate::called::{Called, translate};

/// The routes, and what finds for each request which organisation it calls.
#[derive(Clone)]
pub struct Addressed<S> {
    routes: S,
    place: Arc<AddressedPlace>,
}

struct AddressedPlace {
    origin: Origin,
    organisations: Organisations,
}

impl<S> Addressed<S> {
    /// These routes, of the instance at this origin with these organisations.
    pub fn new(routes: S, origin: Origin, organisations: Organisations) -> Self {
        let place = AddressedPlace {
            origin,
            organisations,
        };
        Self {
            routes,
            place: Arc::new(place),
        }
    }
}

impl<S> Service<Request> for Addressed<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, BoxFuture<'static, Result<Response, Infallible>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.routes.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Some(host) = self.place.other_host(&request) else {
            return Either::Left(self.routes.call(translate(request)));
        };
        let (place, unready) = (self.place.clone(), self.routes.clone());
        // The service that is ready is the one that was polled.
        let mut routes = std::mem::replace(&mut self.routes, unready);
        Either::Right(Box::pin(async move {
            match place.called(host, request).await {
                Ok(request) => routes.call(request).await,
                Err(answer) => Ok(*answer),
            }
        }))
    }
}

impl AddressedPlace {
    /// The host of a request that is not to the instance's own, where an organisation may have it.
    fn other_host(&self, request: &Request) -> Option<String> {
        let asked = authority(request).filter(|asked| *asked != self.origin.authority())?;
        let host = self.origin.host_of(asked)?;
        (!is_at_any_host(request.uri().path())).then(|| host.to_owned())
    }

    /// The request to the organisation that has this host; unchanged if none has. The front page of each is that of the
    /// instance.
    async fn called(&self, host: String, mut request: Request) -> Result<Request, Box<Response>> {
        let found = match self.organisations.of_host(&host).await {
            Ok(Some(name)) => name,
            Ok(None) => return Ok(request),
            Err(error) => {
                let answer = Problem::from(error).into_response();
                return Err(Box::new(write(Face::Api, answer)));
            }
        };
        if request.uri().path() == "/" {
            let there = format!("{}/", self.origin.as_str());
            return Err(Box::new(Redirect::to(&there).into_response()));
        }
        let extensions = request.extensions_mut();
        extensions.insert(CalledOrigin(Arc::new(self.origin.beside(&host))));
        extensions.insert(Called::at_host(found));
        Ok(request)
    }
}
