//! The pages of requests that need an approval: their list, and the decision about one.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Redirect};
use selfsame_approvals::Decision;
use selfsame_approvals::view::{Approval, ApprovalState, WhichApprovals};
use selfsame_driver::Reason;
use selfsame_http::correction::{correctable, refused};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query};
use selfsame_issuer_pages::approvals::{
    ApprovalContent, ApprovalLine, ApprovalsContent, SaidClaim,
};
use selfsame_pages::Frame;
use selfsame_types::form::{self, FormContent, FormField};
use selfsame_types::{CredentialType, TypeSet};
use serde::Deserialize;

use crate::framed;
use crate::here::IssuerHere;

const TITLE: &str = "Requests for an approval";
/// The requests on a page.
const PAGE: usize = 50;
/// The most characters of a value that is shown.
const VALUE_MAX: usize = 300;

/// Which requests to list.
#[derive(Default, Deserialize)]
pub struct ApprovalsQuery {
    #[serde(default)]
    state: String,
    after: Option<String>,
}

/// The requests in a state; those that wait, unless another one is asked for.
pub async fn page(here: IssuerHere, frame: Frame, Query(asked): Query<ApprovalsQuery>) -> Handled {
    let issuer = here.issuer()?;
    let state = ApprovalState::named(&asked.state).unwrap_or(ApprovalState::Waiting);
    let which = WhichApprovals {
        state: Some(state),
        after: asked.after,
        limit: Some(PAGE),
    };
    let listed = issuer.approvals().list(&which).await?;
    let types = issuer.types().all().await?;
    let found = listed.items.into_iter().map(|one| line(one, &types));
    let content = ApprovalsContent {
        base: IssuerHere::base(&frame),
        state,
        found: found.collect(),
        next: listed.next,
    };
    framed(frame, TITLE, &content)
}

/// One request.
pub async fn one(here: IssuerHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let content = shown(&here, &frame, &id).await?;
    framed(frame, TITLE, &content)
}

async fn shown(here: &IssuerHere, frame: &Frame, id: &str) -> Handled<ApprovalContent> {
    let issuer = here.issuer()?;
    let (record, _) = issuer.approvals().record(id).await?;
    let types = issuer.types().all().await?;
    // Another version of the type can have other claims.
    let version = record.wanted.version;
    let asked_for = version.and_then(|version| types.at(&record.wanted.type_id, version));
    let one = record.view(id);
    Ok(ApprovalContent {
        base: IssuerHere::base(frame),
        claims: said(asked_for, &one)?,
        is_plain: asked_for.is_none(),
        line: line(one, &types),
        wrong: None,
    })
}

/// Approves a request.
pub async fn approve(here: IssuerHere, frame: Frame, Path(id): Path<String>) -> Handled {
    decided(&here, frame, &id, Ok(Decision::Approve)).await
}

/// Refuses a request.
pub async fn refuse(here: IssuerHere, frame: Frame, Path(id): Path<String>, form: Form) -> Handled {
    let decision = Decision::refusal(form.one("reason")).map_err(Problem::from);
    decided(&here, frame, &id, decision).await
}

/// Takes a decision. What can be corrected is said beside the forms.
async fn decided(
    here: &IssuerHere,
    frame: Frame,
    id: &str,
    decision: Handled<Decision>,
) -> Handled {
    let problem = match decision {
        Ok(decision) => match here.issuer()?.approvals().decide(id, &decision).await {
            Ok(_) => return Ok(Redirect::to("/issuer/approvals").into_response()),
            Err(error) => Problem::from(error),
        },
        Err(problem) => problem,
    };
    let (problem, _) = correctable(problem)?;
    let mut content = shown(here, &frame, id).await?;
    content.wrong = Some(Reason::clone(problem.reason()));
    Ok(refused(&problem, framed(frame, TITLE, &content)?))
}

fn line(one: Approval, types: &TypeSet) -> ApprovalLine {
    ApprovalLine {
        title: types.title(&one.type_id).to_owned(),
        one,
    }
}

/// What a credential will say, in the words of its type if that is there.
fn said(one: Option<&Arc<CredentialType>>, approval: &Approval) -> Handled<Vec<SaidClaim>> {
    let Some(one) = one.filter(|_| !approval.claims.is_empty()) else {
        let plain = approval.plain_claims().into_iter();
        let claims = plain.map(|claim| SaidClaim {
            label: claim.name,
            value: value(&claim.value),
        });
        return Ok(claims.collect());
    };
    let fields = form::of(one, FormContent::Claims(&approval.claims))?;
    let mut said = Vec::new();
    add(&mut said, fields);
    Ok(said)
}

fn add(said: &mut Vec<SaidClaim>, fields: Vec<FormField>) {
    for field in fields {
        if !field.value.is_empty() {
            let (label, value) = (field.label, value(&field.value));
            said.push(SaidClaim { label, value });
        }
        for entry in field.entries {
            add(said, entry.fields);
        }
    }
}

fn value(value: &str) -> String {
    match value.starts_with("data:") {
        true => "a picture".to_owned(),
        false => shortened(value),
    }
}

/// A value that fits on the page. Who decides sees where something was left out.
fn shortened(value: &str) -> String {
    let cut = value.char_indices().nth(VALUE_MAX);
    let shown = cut.and_then(|(end, _)| value.get(..end));
    shown.map_or_else(|| value.to_owned(), |shown| format!("{shown} …"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_where_it_can_be_seen() {
        assert_eq!(shortened("Ada"), "Ada");
        let fits = "ä".repeat(VALUE_MAX);
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&format!("{fits}b")), format!("{fits} …"));
    }
}
