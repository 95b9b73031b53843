//! The issuer's pages: templates, a form made of claims, offers, and what was issued.

mod fields;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_core::templates;
use selfsame_core::templates::Template as Kind;
use selfsame_core::view::CredentialUse;
use selfsame_credential::Format;
use selfsame_driver::paging::Paging;
use selfsame_openid::view::issuer::{
    CredentialStatus, Delegation, DelegationState, IssuedCredential, NewDelegation, NewOffer, Offer,
};
use serde::Deserialize;

use super::{Frame, qr};
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Query};
use crate::here::Here;
use crate::server::Server;
use fields::Field;

pub use fields::label;

#[derive(Template)]
#[template(path = "issuer.html")]
struct IssuerPage {
    frame: Frame,
    templates: &'static [Kind],
    issued: Vec<Row>,
    next: Option<String>,
    offers: Vec<OfferLine>,
    older_offers: Option<String>,
    delegations: Vec<Delegation>,
    single_use: Vec<&'static Kind>,
}

/// A line of the list of offers.
struct OfferLine {
    id: String,
    title: String,
    what: String,
    state: String,
}

impl OfferLine {
    fn of(offer: Offer) -> Self {
        let what = match &offer.label {
            Some(label) => format!("{} · {label}", offer.format),
            None => offer.format,
        };
        Self {
            id: offer.id,
            title: title(&offer.template),
            what,
            state: offer.state.as_str().to_owned(),
        }
    }
}

/// A template's name for people.
fn title(template: &str) -> String {
    templates::find(template).map_or_else(|_| template.to_owned(), |found| found.title.clone())
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
    fn of(one: IssuedCredential) -> Self {
        Self {
            title: title(&one.template),
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
        match self.status {
            "valid" => vec![SUSPEND, REVOKE],
            "suspended" => vec![REINSTATE, REVOKE],
            _ => Vec::new(),
        }
    }
}

#[derive(Template)]
#[template(path = "issuer_new.html")]
struct NewPage {
    frame: Frame,
    template: &'static Kind,
    fields: Vec<Field>,
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
    title: &'static str,
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

/// Templates, and what was issued.
pub async fn page(server: Here, frame: Frame, Query(at): Query<IssuerPosition>) -> Handled {
    let issuer = server.issuer()?;
    let (issued, offers) = at.lists();
    let issued = issuer.issued(None, &issued).await?;
    let offers = issuer.offers(&offers).await?;
    super::html(&IssuerPage {
        frame: frame.titled("Issuer"),
        templates: templates::all(),
        issued: issued.items.into_iter().map(Row::of).collect(),
        next: issued.next,
        offers: offers.items.into_iter().map(OfferLine::of).collect(),
        older_offers: offers.next,
        delegations: issuer.delegations().await?,
        single_use: templates::all()
            .iter()
            .filter(|one| one.single_use)
            .collect(),
    })
}

/// The form of one template, filled with its examples.
pub async fn new(State(server): State<Server>, frame: Frame, Path(id): Path<String>) -> Handled {
    let template = templates::find(&id)?;
    let fields = template.claims.iter().map(Field::of).collect();
    let formats = server.app().config().issuer.formats.iter();
    super::html(&NewPage {
        frame: frame.titled(&template.title),
        template,
        fields,
        formats: formats.map(|format| described(*format)).collect(),
    })
}

/// Makes the offer. An offer with a transaction code is shown at once, since the code is never shown again.
pub async fn create(server: Here, frame: Frame, form: Form) -> Handled {
    let template = templates::find(form.needed("template")?)?;
    let uses = form
        .needed("uses")?
        .parse()
        .map_err(|_| Problem::bad_request("uses-malformed"))?;
    let new = NewOffer {
        template: template.id.clone(),
        format: form.one("format").map(str::to_owned),
        claims: fields::read(&template.claims, &form)?,
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
    show(frame, &template.title, offer)
}

/// An offer with its link and code.
pub async fn offer(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let offer = server.issuer()?.offer(&id).await?;
    let title = &templates::find(&offer.template)?.title;
    show(frame, title, offer)
}

/// Lets another party use up or revoke credentials on the issuer's behalf.
pub async fn delegate(server: Here, form: Form) -> Handled {
    // A calendar day: the delegation is valid until the end of it.
    let until = form.one("until").map(|day| format!("{day}T23:59:59Z"));
    let new = NewDelegation {
        to: form.needed("to")?.trim().to_owned(),
        action: form.needed("action")?.to_owned(),
        templates: vec![form.needed("template")?.to_owned()],
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

fn show(frame: Frame, title: &'static str, mut offer: Offer) -> Handled {
    let tx_code = offer.tx_code.take();
    let qr = qr::svg(&offer.uri);
    let wallet_href = super::wallet::link("/wallet/offer", &offer.uri);
    super::html(&OfferPage {
        frame: frame.titled(title),
        title,
        tx_code,
        qr,
        wallet_href,
        offer,
    })
}
