//! The addresses, by who may use them.

use axum::extract::FromRequestParts;
use selfsame_http::error::Problem;
use selfsame_http::route::{Route, described, get, post};
use selfsame_pages::Frame;

use crate::here::IssuerHere;
use crate::{
    api, applications, approvals, approvals_api, issued, list_files, lists, lists_api, offers,
};

pub use crate::lists::FORM_MAX;

/// The pages of those who work for the issuer.
pub fn pages<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    IssuerHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/issuer", offers::page),
        get("/issuer/new/{type}", offers::new),
        post("/issuer/new", offers::create),
        post("/issuer/applications", applications::begin),
        get("/issuer/applications/{id}", applications::page),
        get("/issuer/applications/{id}/form", applications::form),
        post("/issuer/applications/{id}", applications::offer),
        get("/issuer/lists", lists::page),
        get("/issuer/lists/example/{type}", lists::sample),
        get("/issuer/lists/{id}", lists::one),
        post("/issuer/lists/{id}/issue", lists::issue),
        post("/issuer/lists/{id}/cancel", lists::cancel),
        get("/issuer/approvals", approvals::page),
        get("/issuer/approvals/{id}", approvals::one),
        post("/issuer/approvals/{id}/approve", approvals::approve),
        post("/issuer/approvals/{id}/refuse", approvals::refuse),
        get("/issuer/view/{offer}", offers::offer),
        get("/issuer/issued", issued::page),
        post("/issuer/issued", issued::ask),
        post("/issuer/issued/status", issued::change),
        get("/issuer/issued/{credential}", offers::issued),
        post("/issuer/issued/{credential}/status", offers::set_status),
        post("/issuer/delegations", offers::delegate),
        post(
            "/issuer/delegations/{id}/withdraw",
            offers::withdraw_delegation,
        ),
    ]
}

/// The form that sends a file.
pub fn files<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    IssuerHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![post("/issuer/lists", lists::send)]
}

/// Lists, for the programs of the issuer; their files are sent in portions.
pub fn portions<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    IssuerHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(lists_api::__path_begin, lists_api::begin),
        described(lists_api::__path_list, lists_api::list),
        described(lists_api::__path_one, lists_api::one),
        described(lists_api::__path_receive, lists_api::receive),
        described(lists_api::__path_check, lists_api::check),
        described(lists_api::__path_issue, lists_api::issue),
        described(lists_api::__path_cancel, lists_api::cancel),
        described(lists_api::__path_results, lists_api::results),
    ]
}

/// What is fetched of lists, which takes as long as they are.
pub fn fetched<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    IssuerHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(list_files::__path_csv, list_files::csv),
        described(list_files::__path_ndjson, list_files::ndjson),
        described(list_files::__path_printed, list_files::printed),
        get("/issuer/lists/{id}/results.csv", list_files::csv),
        get("/issuer/lists/{id}/results.ndjson", list_files::ndjson),
        get("/issuer/lists/{id}/sheet.pdf", list_files::printed),
    ]
}

/// What credentials need, for anyone.
pub fn paths<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    IssuerHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![get("/get/{type}", applications::get)]
}

/// The API of applications and of approvals, for the programs of the issuer.
pub fn programs<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    IssuerHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_begin, api::begin),
        described(api::__path_list, api::list),
        described(api::__path_one, api::one),
        described(api::__path_offer, api::offer),
        described(approvals_api::__path_list, approvals_api::list),
        described(approvals_api::__path_one, approvals_api::one),
        described(approvals_api::__path_approve, approvals_api::approve),
        described(approvals_api::__path_refuse, approvals_api::refuse),
    ]
}
