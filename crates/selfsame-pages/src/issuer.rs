//! The issuer's pages: types, a form made of claims, offers, and what was issued.

mod application;
mod get;
mod issued;
mod new;

use std::sync::Arc;

use askama::Template;
use selfsame_driver::paging::Listing;
use selfsame_openid::view::issuer::{
    Delegation, DelegationState, IssuedCredential, Offer, OfferState,
};
use selfsame_types::{CredentialType, TypeSet};

use crate::{Frame, WrongFields, qr, wallet};

use issued::IssuedRow;

pub use application::{ApplicationPage, ApplyPage};
pub use get::GetPage;
pub use issued::IssuedPage;
pub use new::{NewOfferPage, OfferForm, applied_claims, offer_of};

/// The types, and what was issued, offered and delegated.
#[derive(Template)]
#[template(path = "issuer.html")]
pub struct IssuerPage {
    frame: Frame,
    types: Vec<Arc<CredentialType>>,
    issued: Vec<IssuedRow>,
    next: Option<String>,
    offers: Vec<OfferLine>,
    older_offers: Option<String>,
    delegations: Vec<Delegation>,
    single_use: Vec<Arc<CredentialType>>,
    delegating: DelegationForm,
    has_approvals: bool,
}

/// What was typed into the form of a delegation, and what is wrong with it.
#[derive(Default)]
pub struct DelegationForm {
    /// The delegate's DID.
    pub to: String,
    /// What the delegate may do.
    pub action: String,
    /// The id of the type.
    pub type_id: String,
    /// The last day.
    pub until: String,
    /// What is wrong.
    pub wrong: WrongFields,
}

/// The lists of the issuer's page.
pub struct IssuerLists {
    /// What was issued.
    pub issued: Listing<IssuedCredential>,
    /// What was offered.
    pub offers: Listing<Offer>,
    /// What others may do on the issuer's behalf.
    pub delegations: Vec<Delegation>,
    /// Whether requests can wait for an approval.
    pub has_approvals: bool,
}

impl IssuerPage {
    /// The page with these lists, in the words of these types.
    pub fn of(frame: Frame, types: &TypeSet, lists: IssuerLists) -> Self {
        let IssuerLists {
            issued,
            offers,
            delegations,
            has_approvals,
        } = lists;
        let issued_rows = issued
            .items
            .into_iter()
            .map(|one| IssuedRow::of(one, types));
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
            delegations,
            single_use: types
                .issued()
                .filter(|one| one.single_use)
                .cloned()
                .collect(),
            delegating: DelegationForm::default(),
            has_approvals,
        }
    }

    /// The page again, with a delegation that was refused.
    pub fn refused(self, delegating: DelegationForm) -> Self {
        Self {
            frame: self.frame.failed("Issuer"),
            delegating,
            ..self
        }
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

/// An offer with its link and code.
#[derive(Template)]
#[template(path = "issuer_offer.html")]
pub struct OfferPage {
    frame: Frame,
    title: String,
    tx_code: Option<String>,
    qr: String,
    wallet_href: String,
    offer: Offer,
}

impl OfferPage {
    /// The page of an offer of the type with this title. It shows the transaction code if the offer still has it.
    pub fn of(frame: Frame, title: &str, mut offer: Offer) -> Self {
        Self {
            frame: frame.titled(title),
            title: title.to_owned(),
            tx_code: offer.tx_code.take(),
            qr: qr::svg(&offer.uri),
            wallet_href: wallet::link("/wallet/offer", &offer.uri),
            offer,
        }
    }

    fn is_open(&self) -> bool {
        self.offer.state == OfferState::Open
    }

    fn is_taken(&self) -> bool {
        self.offer.state == OfferState::Taken
    }

    /// How often it can still be accepted.
    fn uses(&self) -> String {
        match (self.offer.uses_left, &self.offer.accepted) {
            (1, None) => "can be accepted once".to_owned(),
            (left, None) => format!("can be accepted {left} times"),
            (1, Some(_)) => "can be accepted once more".to_owned(),
            (left, Some(_)) => format!("can be accepted {left} more times"),
        }
    }

    /// How it ended.
    fn ended(&self) -> &'static str {
        match self.offer.state {
            OfferState::Open => "The offer is open",
            OfferState::Taken => "Accepted",
            OfferState::Locked => "The offer is void: the transaction code was wrong too often",
            OfferState::Expired => "The offer has expired",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(state: OfferState, uses_left: u32, accepted: Option<&str>) -> String {
        let offer = Offer {
            id: "one".to_owned(),
            type_id: "immunization".to_owned(),
            format: "dc+sd-jwt".to_owned(),
            uri: "openid-credential-offer://?x".to_owned(),
            tx_code: Some("123456".to_owned()),
            state,
            uses_left,
            expires: "2026-03-02T10:00:00Z".to_owned(),
            accepted: accepted.map(str::to_owned),
            label: None,
            needs_approval: false,
        };
        let page = OfferPage::of(Frame::of_visitor(), "Record", offer);
        page.render().unwrap()
    }

    #[test]
    fn an_accepted_offer_says_when_and_has_nothing_to_scan_or_open() {
        let at = Some("2026-03-01T12:34:00Z");
        let taken = shown(OfferState::Taken, 0, at);
        assert!(taken.contains("Accepted at <time datetime=\"2026-03-01T12:34:00Z\">"));
        for gone in [
            "class=\"qr\"",
            "Open in my wallet",
            "times",
            "123456",
            "until",
        ] {
            assert!(!taken.contains(gone), "{gone}: {taken}");
        }
        let open = shown(OfferState::Open, 3, at);
        for there in [
            "class=\"qr\"",
            "Open in my wallet",
            "3 more times",
            "123456",
        ] {
            assert!(open.contains(there), "{there}: {open}");
        }
        assert!(shown(OfferState::Open, 1, None).contains("can be accepted once ·"));
        for over in [OfferState::Locked, OfferState::Expired] {
            let page = shown(over, 0, None);
            assert!(!page.contains("class=\"qr\"") && !page.contains("Accepted at"));
        }
    }
}
