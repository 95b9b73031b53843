//! The verifier's pages: what to request, the link, and the verdict when it arrives.

use std::sync::Arc;

use askama::Template;
use axum::response::{IntoResponse as _, Redirect};
use http::HeaderMap;
use http::header::SET_COOKIE;
use selfsame_credential::single_use::HANDLE;
use selfsame_openid::view::verifier::{
    NewRequest, RequestState, SpendingState, VerificationStatus,
};
use selfsame_types::{CredentialType, TypeSet, text_of};
use serde::Deserialize;

use super::{Frame, ListPosition, qr};
use crate::cookie::{self, Jar};
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Query};
use crate::here::Here;

/// How long, in seconds, the browser that made a request can view a result that arrived at the last moment.
const RESULT_SECONDS: u64 = 3600;

#[derive(Template)]
#[template(path = "verifier.html")]
struct VerifierPage {
    frame: Frame,
    types: Vec<Arc<CredentialType>>,
    requests: Vec<RequestLine>,
    next: Option<String>,
}

/// The title of the request that is typical for a type.
pub fn asked(one: &CredentialType) -> String {
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

#[derive(Template)]
#[template(path = "verifier_new.html")]
struct NewPage {
    frame: Frame,
    one: Arc<CredentialType>,
    title: String,
    claims: Vec<ClaimChoice>,
    handle: &'static str,
    spender: String,
    /// Whether this verifier has a certificate to sign with.
    certificate: bool,
}

/// A claim that can be requested.
struct ClaimChoice {
    name: String,
    label: String,
    typical: bool,
}

#[derive(Template)]
#[template(path = "verifier_request.html")]
struct RequestPage {
    frame: Frame,
    view: RequestView,
}

/// The part of the request page that changes, for its script.
#[derive(Template)]
#[template(path = "verifier_result.html")]
struct ResultPart {
    frame: Frame,
    view: RequestView,
}

/// What the wallet returns.
#[derive(Deserialize)]
pub struct Came {
    response_code: String,
}

struct RequestView {
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
    /// Whether the handle was shown and has not been used: the credential can then be revoked on its issuer's behalf.
    fn revocable(&self) -> bool {
        let verdict = self.request.verdict.as_ref();
        let mut shown = verdict.iter().flat_map(|verdict| &verdict.credentials);
        let acted = self.request.spending.as_ref();
        acted.is_none_or(|acted| acted.state == SpendingState::Refused)
            && verdict.is_some_and(|verdict| super::verdict::holds(&verdict.outcome))
            && shown.any(|one| {
                one.claims
                    .as_ref()
                    .is_some_and(|all| all.get(HANDLE).is_some())
            })
    }

    fn of(request: VerificationStatus, types: Arc<TypeSet>) -> Self {
        Self {
            types,
            fetched: request.state == RequestState::Fetched,
            spending: request.state == RequestState::Spending,
            over: request.state == RequestState::Expired,
            qr: qr::svg(&request.uri),
            wallet_href: super::wallet::link("/wallet/request", &request.uri),
            returned: false,
            request,
        }
    }
}

/// The types that can be requested, and the requests made so far.
pub async fn page(server: Here, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    let verifier = server.verifier()?;
    let types = verifier.types().await?.issued().cloned().collect();
    let listed = verifier.requests(&at.into()).await?;
    let requests = listed.items.into_iter().map(RequestLine::of).collect();
    super::html(&VerifierPage {
        frame: frame.titled("Verifier"),
        types,
        requests,
        next: listed.next,
    })
}

/// The claims of one type, to choose from.
pub async fn new(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    let one = verifier.types().await?.find(&id)?.clone();
    let typical = one.typical_request();
    let asked = one.claims.iter().filter(|claim| claim.is_in_credential());
    let claims = asked.map(|claim| ClaimChoice {
        name: claim.path.join("/"),
        label: claim.name(),
        typical: typical.claims.contains(&claim.path),
    });
    let claims = claims.collect();
    let title = text_of(&typical.title).to_owned();
    super::html(&NewPage {
        frame: frame.titled(&title),
        one,
        title,
        claims,
        handle: HANDLE,
        spender: verifier.identity().did().to_string(),
        certificate: verifier.has_certificate(),
    })
}

/// Makes the request. The answer to a same-device request is bound to this browser.
pub async fn create(server: Here, form: Form) -> Handled {
    let made = server.verifier()?.create_request(&wanted(&form)?).await?;
    let mut response = Redirect::to(&format!("/verifier/view/{}", made.id)).into_response();
    let lifetime = server.app().config().verifier.request_lifetime;
    let result = format!("{}/verifier/results/{}", server.prefix, made.id);
    let jar = Jar::lax(server.cookies().binding())
        .of_page(&result, lifetime.saturating_add(RESULT_SECONDS));
    if let Some(binding) = made.browser_binding.as_deref()
        && let Some(cookie) = jar.value(binding, server.origin())
    {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The request that the form describes.
fn wanted(form: &Form) -> Handled<NewRequest> {
    let claims = form
        .all("claim")
        .iter()
        .map(|name| name.split('/').map(str::to_owned).collect())
        .collect();
    Ok(NewRequest {
        type_id: Some(form.needed("type")?.to_owned()),
        format: form.one("format").map(str::to_owned),
        claims: Some(claims),
        client_id_prefix: form.one("client_id_prefix").map(str::to_owned),
        same_device: form.checked("same_device"),
        purpose: form.one("purpose").map(str::to_owned),
        max_status_age: seconds(form)?,
        spend: form.checked("spend"),
        ..NewRequest::default()
    })
}

/// Maximum age of the status, in seconds; an empty choice means the configured default.
fn seconds(form: &Form) -> Handled<Option<u64>> {
    let chosen = form.one("max_status_age").map(str::parse).transpose();
    chosen.map_err(|_| Problem::bad_request("status-age-malformed"))
}

/// A request: its link while it is open, its verdict afterwards.
pub async fn request(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    let view = RequestView::of(verifier.request(&id).await?, verifier.types().await?);
    super::html(&RequestPage {
        frame: frame.titled(&view.request.title),
        view,
    })
}

/// Where a same-device wallet returns the person to: the result, only for the browser that made the request.
pub async fn same_device(
    server: Here,
    frame: Frame,
    Path(id): Path<String>,
    Query(Came { response_code }): Query<Came>,
    headers: HeaderMap,
) -> Handled {
    let browser = cookie::read(&headers, server.cookies().binding()).unwrap_or_default();
    let verifier = server.verifier()?;
    let result = verifier.same_device_result(&id, &response_code, &browser);
    let view = RequestView {
        returned: true,
        ..RequestView::of(result.await?, verifier.types().await?)
    };
    super::html(&RequestPage {
        frame: frame.titled(&view.request.title),
        view,
    })
}

/// The part of the page that changes.
pub async fn result(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    let view = RequestView::of(verifier.request(&id).await?, verifier.types().await?);
    super::html(&ResultPart { frame, view })
}

/// Verifies a presentation again, with its current status.
pub async fn recheck(server: Here, Path(id): Path<String>) -> Handled {
    server.verifier()?.recheck(&id).await?;
    Ok(Redirect::to(&format!("/verifier/view/{id}")).into_response())
}

/// Revokes the presented credential on its issuer's behalf.
pub async fn revoke(server: Here, Path(id): Path<String>) -> Handled {
    server.verifier()?.revoke(&id, None).await?;
    Ok(Redirect::to(&format!("/verifier/view/{id}")).into_response())
}

#[cfg(test)]
mod tests {
    use selfsame_app::config::Roles;
    use selfsame_credential::verdict::Outcome;
    use selfsame_driver::Reason;
    use selfsame_openid::view::verifier::{
        CredentialVerdict, PresentationVerdict, RefusedAnswers, RuleLine,
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
            created: "2026-01-01T00:00:00Z".to_owned(),
            verdict: Some(verdict),
            error: None,
            refused: None,
            spending: None,
            open_for: None,
        };
        let frame = Frame {
            operator,
            ..Frame::nobodys(Roles::ALL)
        };
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
    fn who_waits_for_a_result_follows_it_where_he_may_look() {
        let waiting = |returned: bool| {
            let (frame, mut view) = answered(returned, false);
            view.request.verdict = None;
            view.spending = true;
            RequestPage { frame, view }.render().unwrap()
        };
        let operators = waiting(false);
        assert!(operators.contains("data-result=\"/verifier/view/one\""));
        let anybodys = waiting(true);
        assert!(!anybodys.contains("/verifier/view/one"), "{anybodys}");
        assert!(anybodys.contains("data-result=\"\""), "{anybodys}");
        assert!(anybodys.contains("done. <a href=\"\">Reload</a>"));
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
