//! The issuer's pages: types, a form made of claims, offers, and what was issued.

use axum::response::{IntoResponse as _, Redirect};
use selfsame_driver::paging::Paging;
use selfsame_http::correction::{correctable, refused};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query};
use selfsame_openid::view::issuer::{CredentialStatus, NewDelegation, Offer};
use selfsame_pages::issuer::{
    ApplyPage, DelegationForm, IssuedPage, IssuerLists, IssuerPage, NewOfferPage, OfferForm,
    OfferPage, offer_of,
};
use selfsame_pages::{Frame, WrongField};
use selfsame_types::CredentialType;
use selfsame_types::form::{FormContent, SentForm};
use serde::Deserialize;

use crate::here::IssuerHere;
use crate::html;

/// The values of a form.
pub(crate) struct Values<'a>(pub &'a Form);

impl SentForm for Values<'_> {
    fn one(&self, name: &str) -> Option<&str> {
        self.0.one(name)
    }
}

/// Pagination of both lists.
#[derive(Default, Deserialize)]
pub struct IssuerPosition {
    after: Option<String>,
    #[serde(default, deserialize_with = "selfsame_driver::paging::at_least_one")]
    limit: Option<usize>,
    offers: Option<String>,
}

impl IssuerPosition {
    /// The paging of issued credentials and of offers; it shows only a few offers.
    fn lists(self) -> (Paging, Paging) {
        let issued = Paging {
            after: self.after,
            limit: self.limit,
        };
        let offers = Paging {
            after: self.offers,
            limit: Some(10),
        };
        (issued, offers)
    }
}

/// Types, and what was issued.
pub async fn page(here: IssuerHere, frame: Frame, Query(at): Query<IssuerPosition>) -> Handled {
    html(&shown(&here, frame, at).await?)
}

async fn shown(here: &IssuerHere, frame: Frame, at: IssuerPosition) -> Handled<IssuerPage> {
    let issuer = here.issuer()?;
    let types = issuer.types().all().await?;
    let (issued, offers) = at.lists();
    let lists = IssuerLists {
        issued: issuer.issued(None, &issued).await?,
        offers: issuer.offers(&offers).await?,
        delegations: issuer.delegations(&Paging::longest()).await?.items,
        has_approvals: issuer.approval().is_some(),
    };
    Ok(IssuerPage::of(frame, &types, lists))
}

/// Whether the form is filled with sample data.
#[derive(Deserialize)]
pub struct NewOfferQuery {
    #[serde(default)]
    sample: bool,
}

/// The form of one type.
pub async fn new(
    here: IssuerHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(asked): Query<NewOfferQuery>,
) -> Handled {
    let one = here.issuer()?.types().all().await?.find(&id)?.clone();
    if one.prerequisites.is_some() {
        let needs = here.applications.needed(&id).await?;
        return html(&ApplyPage::of(frame, &one, needs));
    }
    let content = match asked.sample && here.has_samples {
        true => FormContent::Examples,
        false => FormContent::Empty,
    };
    let form = offer_form(&here, &one, content);
    html(&NewOfferPage::of(frame, one, &form)?)
}

fn offer_form<'a>(
    here: &'a IssuerHere,
    one: &CredentialType,
    content: FormContent<'a>,
) -> OfferForm<'a> {
    OfferForm {
        formats: &here.formats,
        has_samples: here.has_samples,
        has_sign_in: here.by_sign_in.contains(&one.id),
        approval: here.issuer().ok().and_then(|issuer| issuer.approval()),
        content,
    }
}

/// Makes the offer. An offer with a transaction code is shown at once, since the code is never shown again. What can be
/// corrected is said beside what was typed.
pub async fn create(here: IssuerHere, frame: Frame, form: Form) -> Handled {
    let types = here.issuer()?.types().all().await?;
    let one = types.find(form.needed("type")?)?;
    match made(&here, one, &form).await {
        Ok(offer) if offer.tx_code.is_none() => {
            Ok(Redirect::to(&format!("/issuer/view/{}", offer.id)).into_response())
        }
        Ok(offer) => html(&OfferPage::of(frame, one.name(), offer)),
        Err(problem) => {
            let (problem, _) = correctable(problem)?;
            let values = Values(&form);
            let shown = offer_form(&here, one, FormContent::Sent(&values));
            let page = NewOfferPage::of(frame, one.clone(), &shown)?.refused(problem.reason());
            Ok(refused(&problem, html(&page)?))
        }
    }
}

/// Makes the offer that a form describes.
async fn made(here: &IssuerHere, one: &CredentialType, form: &Form) -> Handled<Offer> {
    let new = offer_of(one, &Values(form))?;
    Ok(here.issuer()?.create_offer(&new).await?)
}

/// An offer with its link and code.
pub async fn offer(here: IssuerHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let issuer = here.issuer()?;
    let offer = issuer.offer(&id).await?;
    let title = issuer.types().all().await?.title(&offer.type_id).to_owned();
    html(&OfferPage::of(frame, &title, offer))
}

/// Lets another party use up or revoke credentials on the issuer's behalf. What can be corrected is said in the form.
pub async fn delegate(here: IssuerHere, frame: Frame, form: Form) -> Handled {
    let typed = |name| form.one(name).unwrap_or_default().trim().to_owned();
    let (to, action, type_id, until) =
        (typed("to"), typed("action"), typed("type"), typed("until"));
    let new = NewDelegation {
        to: to.clone(),
        action: action.clone(),
        types: vec![type_id.clone()],
        // A calendar day: the delegation is valid until the end of it.
        until: (!until.is_empty()).then(|| format!("{until}T23:59:59Z")),
    };
    let Err(error) = here.issuer()?.delegate(&new).await else {
        return Ok(Redirect::to("/issuer#delegations").into_response());
    };
    let (problem, _) = correctable(error)?;
    let page = shown(&here, frame, IssuerPosition::default()).await?;
    let wrong = wrong_delegation(&problem).into();
    let again = DelegationForm {
        to,
        action,
        type_id,
        until,
        wrong,
    };
    Ok(refused(&problem, html(&page.refused(again))?))
}

/// The field that an error is about.
fn wrong_delegation(problem: &Problem) -> WrongField {
    let field = match problem.reason().id() {
        "delegation-end-malformed" => "until",
        "delegation-to-other-method" | "delegation-to-other-network" => "to",
        _ => "",
    };
    let told = problem.told();
    let field = field.into();
    WrongField { field, told }
}

/// Withdraws a delegation.
pub async fn withdraw_delegation(here: IssuerHere, Path(id): Path<String>) -> Handled {
    here.issuer()?.withdraw_delegation(&id).await?;
    Ok(Redirect::to("/issuer#delegations").into_response())
}

/// The status to ask for.
#[derive(Deserialize)]
pub struct StatusQuery {
    to: Option<CredentialStatus>,
}

/// An issued credential, and the question whether its status shall change.
pub async fn issued(
    here: IssuerHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(asked): Query<StatusQuery>,
) -> Handled {
    let issuer = here.issuer()?;
    let types = issuer.types().all().await?;
    let one = issuer.issued_credential(&id).await?;
    html(&IssuedPage::of(frame, &types, one, asked.to))
}

/// Suspends, reinstates or revokes.
pub async fn set_status(here: IssuerHere, Path(id): Path<String>, form: Form) -> Handled {
    let status = match form.needed("status")? {
        "valid" => CredentialStatus::Valid,
        "suspended" => CredentialStatus::Suspended,
        "revoked" => CredentialStatus::Revoked,
        _ => return Err(Problem::bad_request("status-unknown")),
    };
    here.issuer()?.set_status(&id, status).await?;
    Ok(Redirect::to(&format!("/issuer/issued/{id}")).into_response())
}
