//! The search of what was issued, and changes of many statuses after a question.

use axum::response::{IntoResponse as _, Redirect};
use selfsame_driver::Error;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Query};
use selfsame_issuer_pages::issued::{AskContent, IssuedContent, IssuedLine, IssuedSearch, Titled};
use selfsame_openid::view::issuer::{
    CredentialStatus, IssuedCredential, NewStatuses, WhichCredentials,
};
use selfsame_pages::Frame;
use selfsame_types::TypeSet;
use serde::Deserialize;

use crate::framed;
use crate::here::IssuerHere;

/// The credentials on a page; all of them can be chosen at once.
const PAGE: usize = 100;
const TITLE: &str = "Issued credentials";

/// What is searched for.
#[derive(Default, Deserialize)]
pub struct IssuedQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    status: String,
    #[serde(default, rename = "type")]
    type_id: String,
    after: Option<String>,
}

impl IssuedQuery {
    fn which(&self) -> WhichCredentials {
        WhichCredentials {
            offer: None,
            q: Some(self.q.clone()),
            status: status_of(&self.status),
            type_id: Some(self.type_id.clone()).filter(|id| !id.is_empty()),
            after: self.after.clone(),
            limit: Some(PAGE),
        }
    }
}

/// The search with what it found.
pub async fn page(here: IssuerHere, frame: Frame, Query(asked): Query<IssuedQuery>) -> Handled {
    let found = here.lists.issued(&here.roles, &asked.which()).await?;
    let types = here.issuer()?.types().all().await?;
    let listed = types.issued().map(|one| Titled {
        id: one.id.clone(),
        title: one.name().to_owned(),
    });
    let content = IssuedContent {
        base: IssuerHere::base(&frame),
        search: IssuedSearch {
            words: asked.q,
            status: asked.status,
            type_id: asked.type_id,
        },
        types: listed.collect(),
        found: lines(found.items, &types),
        next: found.next,
    };
    framed(frame, TITLE, &content)
}

/// Asks whether the statuses of the chosen credentials shall change.
pub async fn ask(here: IssuerHere, frame: Frame, form: Form) -> Handled {
    let status = wanted(&form)?;
    let issuer = here.issuer()?;
    let types = issuer.types().all().await?;
    let mut chosen = Vec::new();
    for id in form.all("id").iter().take(PAGE) {
        chosen.push(issuer.issued_credential(id).await?);
    }
    if chosen.is_empty() {
        return Ok(Redirect::to("/issuer/issued").into_response());
    }
    let within = chosen.iter().map(|one| one.status_ttl).max();
    let content = AskContent {
        base: IssuerHere::base(&frame),
        status: status.as_str(),
        within: within.unwrap_or_default().saturating_add(1),
        chosen: lines(chosen, &types),
    };
    framed(frame, TITLE, &content)
}

/// Changes the statuses of the chosen credentials: all of them or none.
pub async fn change(here: IssuerHere, form: Form) -> Handled {
    let new = NewStatuses {
        status: wanted(&form)?,
        ids: form.all("id").to_vec(),
    };
    let desk = here.statuses.as_ref();
    let desk = desk.ok_or_else(|| Error::internal("a page of operators without an operator"))?;
    desk.change(here.issuer()?, &new).await?;
    Ok(Redirect::to("/issuer/issued").into_response())
}

fn lines(found: Vec<IssuedCredential>, types: &TypeSet) -> Vec<IssuedLine> {
    let line = |one: IssuedCredential| IssuedLine {
        title: types.title(&one.type_id).to_owned(),
        one,
    };
    found.into_iter().map(line).collect()
}

fn wanted(form: &Form) -> Handled<CredentialStatus> {
    let named = form.needed("status")?;
    status_of(named).ok_or_else(|| Problem::bad_request("status-unknown"))
}

fn status_of(name: &str) -> Option<CredentialStatus> {
    [
        CredentialStatus::Valid,
        CredentialStatus::Suspended,
        CredentialStatus::Revoked,
    ]
    .into_iter()
    .find(|status| status.as_str() == name)
}
