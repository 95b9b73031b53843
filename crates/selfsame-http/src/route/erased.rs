//! Handlers without their types. axum puts five generic layers around a handler, and the compiler proves for each of them
//! anew that everything the handler awaits may move between threads. Around an erased handler, it does so once.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;

/// What a handler returns: the future that makes the response.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler whose type is forgotten. `S` is the state of the handlers.
pub struct Erased<S>(Arc<dyn Fn(Request, S) -> HandlerFuture + Send + Sync>);

impl<S> Erased<S> {
    /// Forgets the type of a handler.
    pub fn of<H, T>(handler: H) -> Self
    where
        H: Handler<T, S, Future = HandlerFuture>,
    {
        Self(Arc::new(move |request, state| {
            handler.clone().call(request, state)
        }))
    }
}

impl<S> Clone for Erased<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: 'static> Handler<(), S> for Erased<S> {
    type Future = HandlerFuture;

    fn call(self, request: Request, state: S) -> HandlerFuture {
        (self.0)(request, state)
    }
}
