//! The verifier's pages: what to request, the link, and the verdict when it arrives.

pub mod ask;
mod asked;
mod new;
mod revoking;
pub mod saved;

use std::sync::Arc;

use askama::Template;
use selfsame_credential::verdict::Outcome;
use selfsame_driver::paging::Listing;
use selfsame_openid::view::saved::SavedRequest;
use selfsame_openid::view::verifier::{RequestState, SpendingState, VerificationStatus};
use selfsame_types::model::text_of;
use selfsame_types::{CredentialType, TypeSet};

use crate::{Frame, qr, verdict, wallet};

pub use new::{NewRequestPage, Requester, TypedRequest};
pub use revoking::RevokePage;

/// The types that can be requested, and the requests made so far.
#[derive(Template)]
#[template(path = "verifier.html")]
pub struct VerifierPage {
    frame: Frame,
    types: Vec<Arc<CredentialType>>,
    requests: Vec<RequestLine>,
    saved: Vec<SavedRequest>,
    next: Option<String>,
}

impl VerifierPage {
    /// The page with these types and requests.
    pub fn of(frame: Frame, types: &TypeSet, requests: Listing<VerificationStatus>) -> Self {
        Self {
            frame: frame.titled("Verifier"),
            types: types.issued().cloned().collect(),
            requests: requests.items.into_iter().map(RequestLine::of).collect(),
            saved: Vec::new(),
            next: requests.next,
        }
    }

    /// The page with these saved requests.
    pub fn with_saved(self, saved: Vec<SavedRequest>) -> Self {
        Self { saved, ..self }
    }
}

/// The title of the request that is typical for a type.
fn asked(one: &CredentialType) -> String {
    text_of(&one.typical_request().title).to_owned()
}

/// A line of the list of requests.
struct RequestLine {
    id: String,
    title: String,
    created: String,
    word: &'static str,
}

impl RequestLine {
    fn of(request: VerificationStatus) -> Self {
        let word = match (request.state, &request.verdict) {
            (_, Some(verdict)) => verdict.outcome.as_str(),
            (RequestState::Created, None) => "waiting",
            (RequestState::Fetched, None) => "being_decided",
            (RequestState::Spending, None) => "being_used_up",
            (RequestState::Answered, None) => "answered",
            (RequestState::Declined, None) => "declined",
            (RequestState::Expired, None) => "expired",
        };
        Self {
            id: request.id,
            title: request.title,
            created: request.created,
            word,
        }
    }
}

/// A request: its link while it is open, its verdict afterwards.
#[derive(Template)]
#[template(path = "verifier_request.html")]
pub struct RequestPage {
    frame: Frame,
    view: RequestView,
}

impl RequestPage {
    /// The page of this request.
    pub fn of(frame: Frame, view: RequestView) -> Self {
        Self {
            frame: frame.titled(&view.request.title),
            view,
        }
    }
}

/// The part of the request page that changes, for its script.
#[derive(Template)]
#[template(path = "verifier_result.html")]
pub struct ResultPart {
    /// What stands around the page of which it is a part.
    pub frame: Frame,
    /// The request.
    pub view: RequestView,
}

impl RequestPage {
    fn browser_action(&self) -> String {
        browser_action(&self.frame, &self.view)
    }
}

impl ResultPart {
    fn browser_action(&self) -> String {
        browser_action(&self.frame, &self.view)
    }
}

/// Where the page's script gets the request for the browser, and sends what the browser brings back.
fn browser_action(frame: &Frame, view: &RequestView) -> String {
    format!("{}/verifier/view/{}/browser", frame.here, view.request.id)
}

/// A request, as its page shows it.
#[derive(Clone)]
pub struct RequestView {
    request: VerificationStatus,
    fetched: bool,
    spending: bool,
    over: bool,
    qr: String,
    wallet_href: String,
    /// Whether the viewer was returned here by a wallet; they need not be the operator.
    returned: bool,
    /// The types by which claims have their labels and their order.
    types: Arc<TypeSet>,
}

impl RequestView {
    /// The request, with the claims of these types in their words and order.
    pub fn of(request: VerificationStatus, types: Arc<TypeSet>) -> Self {
        Self {
            types,
            fetched: request.state == RequestState::Fetched,
            spending: request.state == RequestState::Spending,
            over: request.state == RequestState::Expired,
            qr: qr::svg(&request.uri),
            wallet_href: wallet::link("/wallet/request", &request.uri),
            returned: false,
            request,
        }
    }

    /// The same for a viewer whom a wallet returned here, and who need not be the operator.
    pub fn for_returned(self) -> Self {
        Self {
            returned: true,
            ..self
        }
    }

    /// The DID that the issuer must authorise before it may use up the credential that was shown.
    fn unauthorised(&self) -> Option<&str> {
        let verdict = self.request.verdict.as_ref()?;
        let spending = self.request.spending.as_ref()?;
        (verdict.outcome == Outcome::NotAuthorised).then_some(spending.by.as_str())
    }

    /// Whether the handle was shown and has not been used: the credential can then be revoked on its issuer's behalf.
    fn revocable(&self) -> bool {
        let verdict = self.request.verdict.as_ref();
        let acted = self.request.spending.as_ref();
        acted.is_none_or(|acted| acted.state == SpendingState::Refused)
            && verdict.is_some_and(|verdict| verdict::holds(&verdict.outcome))
            && self.with_handle().is_some()
    }
}

#[cfg(test)]
mod tests {
    use selfsame_credential::single_use::HANDLE;
    use selfsame_driver::Reason;
    use selfsame_openid::view::verifier::{
        CredentialVerdict, NamedCredential, PresentationVerdict, RefusedAnswers, RuleLine,
        SpendingStatus,
    };

    use super::*;

    fn shown(returned: bool, operator: bool) -> String {
        let (frame, view) = answered(returned, operator);
        ResultPart { frame, view }.render().unwrap()
    }

    fn answered(returned: bool, operator: bool) -> (Frame, RequestView) {
        let verdict = PresentationVerdict {
            outcome: Outcome::Valid,
            reason: None,
            credentials: Vec::new(),
        };
        let request = VerificationStatus {
            id: "one".to_owned(),
            state: RequestState::Answered,
            uri: "openid4vp://".to_owned(),
            title: "A request".to_owned(),
            saved: None,
            reference: None,
            created: "2026-01-01T00:00:00Z".to_owned(),
            verdict: Some(verdict),
            error: None,
            refused: None,
            spending: None,
            open_for: None,
        };
        let frame = Frame::of_visitor().with_operator(operator);
        let view = RequestView {
            returned,
            ..RequestView::of(request, Arc::new(TypeSet::default()))
        };
        (frame, view)
    }

    #[test]
    fn who_waits_is_told_of_answers_that_were_refused_and_which_rules_the_last_one_breaks() {
        let (frame, mut view) = answered(false, true);
        let mut last = view.request.verdict.take().unwrap();
        last.reason = Some(Reason::text("nothing fits"));
        let rule = |name: &'static str, passed: bool, detail: &str| RuleLine {
            name: name.into(),
            passed: Some(passed),
            detail: detail.to_owned(),
            paragraph: "".into(),
        };
        last.credentials.push(CredentialVerdict {
            query: "one".to_owned(),
            outcome: Outcome::Untrusted,
            credential: None,
            rules: vec![
                rule("issuer_signature", true, "it holds"),
                rule("issuer_trusted", false, "did:web:x is not on the list"),
            ],
            status_as_of: None,
            claims: None,
        });
        view.request.refused = Some(RefusedAnswers { count: 2, last });
        let page = ResultPart { frame, view }.render().unwrap();
        assert!(page.contains("2 answers were refused") && page.contains("Nothing fits."));
        let why = "trusted: did:web:x is not on the list.";
        assert!(page.contains(why) && !page.contains("it holds"), "{page}");
    }

    #[test]
    fn a_verdict_names_the_credential_its_issuer_and_its_end_above_the_claims() {
        let named = |title: Option<&str>, name: Option<&str>| {
            let (frame, mut view) = answered(false, true);
            let verdict = view.request.verdict.as_mut().unwrap();
            verdict.credentials.push(CredentialVerdict {
                query: "one".to_owned(),
                outcome: Outcome::Valid,
                credential: Some(NamedCredential {
                    kind: "urn:example:rx".to_owned(),
                    title: title.map(str::to_owned),
                    issuer: Some("did:web:clinic.example".to_owned()),
                    issuer_name: name.map(str::to_owned),
                    valid_until: Some("2027-03-01T12:00:00Z".to_owned()),
                }),
                rules: Vec::new(),
                status_as_of: None,
                claims: Some(serde_json::json!({"dose": "two"})),
            });
            let page = ResultPart { frame, view }.render().unwrap();
            page.split("What was shown").next().unwrap().to_owned()
        };
        let known = named(Some("Drug prescription"), Some("Clinic"));
        for shown in [
            "<h2>Drug prescription</h2>",
            "Clinic",
            "did:web:clinic.example",
        ] {
            assert!(known.contains(shown), "{known}");
        }
        assert!(
            known.contains("1 Mar 2027") && !known.contains("urn:example:rx"),
            "{known}"
        );
        let unknown = named(None, None);
        assert!(unknown.contains("<h2>urn:example:rx</h2>"), "{unknown}");
        assert!(!known.contains("two"), "the claims come after it");
    }

    #[test]
    fn a_revocation_on_the_issuers_behalf_asks_and_names_the_credential_and_its_issuer() {
        let (frame, mut view) = answered(false, true);
        let page = RevokePage::of(frame, view.clone()).render().unwrap();
        assert!(page.contains("Nothing to revoke") && !page.contains("/one/revoke"));
        let verdict = view.request.verdict.as_mut().unwrap();
        verdict.credentials.push(CredentialVerdict {
            query: "one".to_owned(),
            outcome: Outcome::Valid,
            credential: Some(NamedCredential {
                kind: "urn:example:rx".to_owned(),
                title: Some("Drug prescription".to_owned()),
                issuer: Some("did:web:clinic.example".to_owned()),
                issuer_name: Some("Clinic".to_owned()),
                valid_until: None,
            }),
            rules: Vec::new(),
            status_as_of: None,
            claims: Some(serde_json::json!({"dose": "two", HANDLE: "x"})),
        });
        let (frame, _) = answered(false, true);
        let result = ResultPart {
            frame,
            view: view.clone(),
        };
        let result = result.render().unwrap();
        assert!(
            result.contains("href=\"/verifier/view/one/revoke\"")
                && !result.contains("action=\"/verifier/view/one/revoke\""),
            "{result}"
        );
        let (frame, _) = answered(false, true);
        let page = RevokePage::of(frame, view).render().unwrap();
        for said in [
            "Revoke <bdi>“Drug prescription” of Clinic</bdi>?",
            "can’t be undone",
            "action=\"/verifier/view/one/revoke\"",
            "two",
            "Cancel",
        ] {
            assert!(page.contains(said), "{said}: {page}");
        }
    }

    #[test]
    fn who_may_not_use_it_up_is_given_the_did_to_send_to_the_issuer() {
        let by = "did:selfsame:net:pharmacy";
        let (frame, mut view) = answered(false, true);
        let verdict = view.request.verdict.as_mut().unwrap();
        verdict.outcome = Outcome::NotAuthorised;
        view.request.spending = Some(SpendingStatus {
            action: "consume".to_owned(),
            state: SpendingState::Refused,
            by: by.to_owned(),
            at: None,
            seq_no: None,
            reason: Some(
                Reason::new("delegation-absent")
                    .with("by", by)
                    .with("action", "consume"),
            ),
        });
        let page = ResultPart { frame, view }.render().unwrap();
        let told = "Genuine, but you may not use it up: ask the issuer to authorise you.";
        assert!(page.contains(told), "{page}");
        assert!(
            page.contains(&format!("readonly>{by}</textarea>")),
            "{page}"
        );
        assert!(!page.contains("Try again"), "{page}");
    }

    #[test]
    fn who_waits_for_a_result_follows_it_where_he_may_look() {
        let waiting = |returned: bool| {
            let (frame, mut view) = answered(returned, false);
            view.request.verdict = None;
            view.spending = true;
            RequestPage { frame, view }.render().unwrap()
        };
        let operators = waiting(false);
        assert!(operators.contains("data-result=\"/verifier/view/one\""));
        let visitors = waiting(true);
        assert!(!visitors.contains("/verifier/view/one"), "{visitors}");
        assert!(visitors.contains("data-result=\"\""), "{visitors}");
        assert!(visitors.contains("done. <a href=\"\">Reload</a>"));
    }

    #[test]
    fn whom_a_wallet_brought_back_is_shown_no_button_that_only_the_operator_can_press() {
        let here = "/verifier/view/one";
        let anybody = shown(true, false);
        assert!(
            !anybody.contains("<form") && !anybody.contains(here),
            "{anybody}"
        );
        let operator = shown(true, true);
        assert!(!operator.contains("<form"), "{operator}");
        assert!(operator.contains(&format!("href=\"{here}\"")), "{operator}");
        assert!(shown(false, true).contains(&format!("action=\"{here}/recheck\"")));
    }
}
