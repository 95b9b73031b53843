//! The issuer's pages: types, a form made of claims, offers, and what was issued.

use std::sync::Arc;

use askama::Template;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_core::view::CredentialUse;
use selfsame_credential::Format;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_openid::view::issuer::{
    CredentialStatus, Delegation, DelegationState, IssuedCredential, NewDelegation, NewOffer, Offer,
};
use selfsame_types::form::{FormField, SentForm};
use selfsame_types::{CredentialType, TypeSet};
use serde::Deserialize;

use super::{Frame, qr};
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Query};
use crate::here::Here;

#[derive(Template)]
#[template(path = "issuer.html")]
struct IssuerPage {
    frame: Frame,
    types: Vec<Arc<CredentialType>>,
    issued: Vec<Row>,
    next: Option<String>,
    offers: Vec<OfferLine>,
    older_offers: Option<String>,
    delegations: Vec<Delegation>,
    single_use: Vec<Arc<CredentialType>>,
}

impl IssuerPage {
    /// The page without delegations.
    fn of(
        frame: Frame,
        types: &TypeSet,
        issued: Listing<IssuedCredential>,
        offers: Listing<Offer>,
    ) -> Self {
        let issued_rows = issued.items.into_iter().map(|one| Row::of(one, types));
        let offer_lines = offers
            .items
            .into_iter()
            .map(|one| OfferLine::of(one, types));
        Self {
            frame: frame.titled("Issuer"),
            types: types.issued().cloned().collect(),
            issued: issued_rows.collect(),
            next: issued.next,
            offers: offer_lines.collect(),
            older_offers: offers.next,
            delegations: Vec::new(),
            single_use: types
                .issued()
                .filter(|one| one.single_use)
                .cloned()
                .collect(),
        }
    }
}

/// The values of a form.
struct Values<'a>(&'a Form);

impl SentForm for Values<'_> {
    fn one(&self, name: &str) -> Option<&str> {
        self.0.one(name)
    }
}

/// A line of the list of offers.
struct OfferLine {
    id: String,
    title: String,
    what: String,
    state: String,
}

impl OfferLine {
    fn of(offer: Offer, types: &TypeSet) -> Self {
        let what = match &offer.label {
            Some(label) => format!("{} · {label}", offer.format),
            None => offer.format,
        };
        Self {
            id: offer.id,
            title: types.title(&offer.type_id).to_owned(),
            what,
            state: offer.state.as_str().to_owned(),
        }
    }
}

/// A line of the list of issued credentials.
struct Row {
    id: String,
    title: String,
    format: String,
    index: u64,
    label: Option<String>,
    issued: String,
    expires: String,
    status: &'static str,
    published: bool,
    used: Option<CredentialUse>,
    /// Whether the type allows these changes.
    revocable: bool,
    suspendable: bool,
}

/// A possible change of a credential's status.
struct StatusChange {
    status: &'static str,
    label: &'static str,
    class: &'static str,
}

const REVOKE: StatusChange = StatusChange {
    status: "revoked",
    label: "Revoke",
    class: "bad",
};
const SUSPEND: StatusChange = StatusChange {
    status: "suspended",
    label: "Suspend",
    class: "",
};
const REINSTATE: StatusChange = StatusChange {
    status: "valid",
    label: "Reinstate",
    class: "",
};

impl Row {
    fn of(one: IssuedCredential, types: &TypeSet) -> Self {
        let known = types.newest(&one.type_id);
        Self {
            title: types.title(&one.type_id).to_owned(),
            revocable: known.is_none_or(|known| known.revocable),
            suspendable: known.is_none_or(|known| known.suspendable),
            id: one.id,
            format: one.format,
            index: one.status_index,
            label: one.label,
            issued: one.issued,
            expires: one.expires,
            status: match (one.status, &one.used) {
                (CredentialStatus::Valid, Some(used)) if used.action == "spent" => "spent",
                (CredentialStatus::Valid, Some(_)) | (CredentialStatus::Revoked, _) => "revoked",
                (CredentialStatus::Valid, None) => "valid",
                (CredentialStatus::Suspended, _) => "suspended",
            },
            published: one.published,
            used: one.used,
        }
    }

    fn changes(&self) -> Vec<StatusChange> {
        let suspend = self.suspendable.then_some(SUSPEND);
        let revoke = self.revocable.then_some(REVOKE);
        match self.status {
            "valid" => suspend.into_iter().chain(revoke).collect(),
            "suspended" => std::iter::once(REINSTATE).chain(revoke).collect(),
            _ => Vec::new(),
        }
    }
}

#[derive(Template)]
#[template(path = "issuer_new.html")]
struct NewPage {
    frame: Frame,
    one: Arc<CredentialType>,
    fields: Vec<FormField>,
    formats: Vec<(&'static str, &'static str)>,
}

/// A format, and its description for people.
fn described(format: Format) -> (&'static str, &'static str) {
    (format.as_str(), format.describe().summary)
}

#[derive(Template)]
#[template(path = "issuer_offer.html")]
struct OfferPage {
    frame: Frame,
    title: String,
    tx_code: Option<String>,
    qr: String,
    wallet_href: String,
    offer: Offer,
}

/// Pagination of both lists.
#[derive(Deserialize)]
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
pub async fn page(server: Here, frame: Frame, Query(at): Query<IssuerPosition>) -> Handled {
    let issuer = server.issuer()?;
    let types = issuer.types().all().await?;
    let (issued, offers) = at.lists();
    let issued = issuer.issued(None, &issued).await?;
    let offers = issuer.offers(&offers).await?;
    super::html(&IssuerPage {
        delegations: issuer.delegations().await?,
        ..IssuerPage::of(frame, &types, issued, offers)
    })
}

/// The form of one type, filled with its examples.
pub async fn new(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let one = server.issuer()?.types().all().await?.find(&id)?.clone();
    let fields = selfsame_types::form::of(&one)?;
    let formats = server.app().config().issuer.formats.iter().copied();
    let formats = formats
        .filter(|format| one.is_issued_as(*format))
        .map(described)
        .collect();
    super::html(&NewPage {
        frame: frame.titled(one.name()),
        one,
        fields,
        formats,
    })
}

/// Makes the offer. An offer with a transaction code is shown at once, since the code is never shown again.
pub async fn create(server: Here, frame: Frame, form: Form) -> Handled {
    let types = server.issuer()?.types().all().await?;
    let one = types.find(form.needed("type")?)?;
    let uses = form
        .needed("uses")?
        .parse()
        .map_err(|_| Problem::bad_request("uses-malformed"))?;
    let new = NewOffer {
        type_id: one.id.clone(),
        format: form.one("format").map(str::to_owned),
        claims: selfsame_types::form::read(&one.claims, &Values(&form))?,
        examples: false,
        uses: Some(uses),
        tx_code: form.checked("tx_code"),
        by_reference: form.checked("by_reference"),
        expires_in: None,
        label: form.one("label").map(str::to_owned),
    };
    let offer = server.issuer()?.create_offer(&new).await?;
    if offer.tx_code.is_none() {
        return Ok(Redirect::to(&format!("/issuer/view/{}", offer.id)).into_response());
    }
    show(frame, one.name(), offer)
}

/// An offer with its link and code.
pub async fn offer(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let issuer = server.issuer()?;
    let offer = issuer.offer(&id).await?;
    let title = issuer.types().all().await?.title(&offer.type_id).to_owned();
    show(frame, &title, offer)
}

/// Lets another party use up or revoke credentials on the issuer's behalf.
pub async fn delegate(server: Here, form: Form) -> Handled {
    // A calendar day: the delegation is valid until the end of it.
    let until = form.one("until").map(|day| format!("{day}T23:59:59Z"));
    let new = NewDelegation {
        to: form.needed("to")?.trim().to_owned(),
        action: form.needed("action")?.to_owned(),
        types: vec![form.needed("type")?.to_owned()],
        until,
    };
    server.issuer()?.delegate(&new).await?;
    Ok(Redirect::to("/issuer#delegations").into_response())
}

/// Withdraws a delegation.
pub async fn withdraw_delegation(server: Here, Path(id): Path<String>) -> Handled {
    server.issuer()?.withdraw_delegation(&id).await?;
    Ok(Redirect::to("/issuer#delegations").into_response())
}

/// Suspends, reinstates or revokes.
pub async fn set_status(server: Here, Path(id): Path<String>, form: Form) -> Handled {
    let status = match form.needed("status")? {
        "valid" => CredentialStatus::Valid,
        "suspended" => CredentialStatus::Suspended,
        "revoked" => CredentialStatus::Revoked,
        _ => return Err(Problem::bad_request("status-unknown")),
    };
    server.issuer()?.set_status(&id, status).await?;
    Ok(Redirect::to("/issuer#issued").into_response())
}

fn show(frame: Frame, title: &str, mut offer: Offer) -> Handled {
    let tx_code = offer.tx_code.take();
    let qr = qr::svg(&offer.uri);
    let wallet_href = super::wallet::link("/wallet/offer", &offer.uri);
    super::html(&OfferPage {
        frame: frame.titled(title),
        title: title.to_owned(),
        tx_code,
        qr,
        wallet_href,
        offer,
    })
}
