//! The router of the admin API, from the table of operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequest as _, RawPathParams, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use http::{Method, StatusCode};
use selfsame_app::App;
use selfsame_bulk::Bulks;
use selfsame_http::error::{Face, Problem, write};
use selfsame_http::extract::Raw;
use selfsame_http::middleware::observe;

use crate::admin::Admin;
use crate::answer::{OperationError, OperationResult};
use crate::call::{OperationCall, PathParameter};
use crate::caller::{Caller, unauthorized};
use crate::listening;
use crate::operation::{AdminOperation, OperationAudience};
use crate::operations;
use crate::settings::AdminSettings;

/// The admin API of the agent with these settings. `bulks` has the orders of all agents of the application.
pub fn admin(app: Arc<App>, settings: AdminSettings, bulks: Bulks) -> Router {
    let operations = operations::all(&settings);
    let admin = Admin::new(app, settings, bulks);
    routed(&admin, operations).route("/ws", listening::route(admin))
}

fn routed(admin: &Admin, operations: Vec<AdminOperation>) -> Router {
    let mut paths: BTreeMap<&'static str, MethodRouter> = BTreeMap::new();
    for operation in operations {
        let (path, filter) = (operation.path, filter(&operation.method));
        let place = Arc::new(PathPlace {
            admin: admin.clone(),
            operation,
        });
        let answer = move |parameters: RawPathParams, request: Request| {
            let place = place.clone();
            async move { place.answer(&parameters, request).await }
        };
        let known = paths.remove(path).unwrap_or_default();
        paths.insert(path, known.merge(on(filter, answer)));
    }
    let unknown = || async { refused(Problem::new(StatusCode::NOT_FOUND, "address-unknown")) };
    let unfit = || async {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        refused(Problem::new(status, "method-refused"))
    };
    let routes = Router::new();
    let routes = paths.into_iter().fold(routes, |routes, (path, methods)| {
        routes.route(path, methods)
    });
    routes.fallback(unknown).method_not_allowed_fallback(unfit)
}

/// An operation with what it is called on.
struct PathPlace {
    admin: Admin,
    operation: AdminOperation,
}

impl PathPlace {
    async fn answer(&self, parameters: &RawPathParams, request: Request) -> Response {
        let parameter = |(name, value): (&str, &str)| PathParameter {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let path = parameters.iter().map(parameter).collect();
        let answer = async |request| match self.called(path, request).await {
            Ok(response) => response,
            Err(refusal) => refusal.into_response(),
        };
        let admission = self.admin.admission();
        observe::request(request, async |request| {
            admission.admit(request, answer).await
        })
        .await
    }

    async fn called(&self, path: Vec<PathParameter>, request: Request) -> OperationResult {
        let (parts, body) = request.into_parts();
        let caller = match self.operation.audience {
            OperationAudience::Everybody => None,
            OperationAudience::Wallets => Some(Caller::of(&self.admin, &parts).await?),
            OperationAudience::BaseWallet => {
                let caller = Caller::of(&self.admin, &parts).await?;
                let base = Some(caller).filter(|caller| caller.wallet.is_none());
                Some(base.ok_or_else(unauthorized)?)
            }
        };
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let request = Request::from_parts(parts, body);
        let Raw(body) = Raw::from_request(request, &())
            .await
            .map_err(OperationError::from)?;
        let call = OperationCall {
            admin: self.admin.clone(),
            caller,
            path,
            query,
            body,
        };
        (self.operation.handler)(call).await
    }
}

fn refused(problem: Problem) -> Response {
    write(Face::Text, problem.into_response())
}

fn filter(method: &Method) -> MethodFilter {
    match *method {
        Method::POST => MethodFilter::POST,
        Method::PUT => MethodFilter::PUT,
        Method::PATCH => MethodFilter::PATCH,
        Method::DELETE => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    }
}
