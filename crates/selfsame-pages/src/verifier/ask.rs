//! The pages of a saved request for those who open its link: what is asked, and the result without any claim.

use askama::Template;
use selfsame_asked::shown::RequestCheck;
use selfsame_credential::verdict::Outcome;
use selfsame_openid::view::saved::{SavedRequest, VisitorsRequest};
use selfsame_openid::view::verifier::RequestState;

use super::asked::{AskedGroup, groups};
use crate::look::OwnLook;
use crate::{Frame, qr, wallet};

/// What the address of a visit says.
#[derive(Default)]
pub struct VisitParts {
    /// The origin of the page that opened it, which is one that the saved request lists.
    pub from: Option<String>,
    /// The text of that page.
    pub reference: Option<String>,
}

/// What is asked, before a request is created.
#[derive(Template)]
#[template(path = "ask.html")]
pub struct AskPage {
    frame: Frame,
    verifier: String,
    name: String,
    title: String,
    purpose: String,
    asked: Vec<AskedGroup>,
    visit: VisitParts,
}

impl AskPage {
    /// The page of this request of this verifier.
    pub fn of(frame: Frame, asking: Asking, found: &RequestCheck, visit: VisitParts) -> Self {
        let definition = asking.saved.definition;
        Self {
            frame: frame
                .titled(&definition.title)
                .bare(&asking.verifier, &asking.look),
            verifier: asking.verifier,
            name: definition.name,
            title: definition.title,
            purpose: definition.purpose,
            asked: groups(found),
            visit,
        }
    }
}

/// A saved request and who asks.
pub struct Asking {
    /// The verifier's name.
    pub verifier: String,
    /// How its organisation looks.
    pub look: OwnLook,
    /// The saved request.
    pub saved: SavedRequest,
}

/// A request that a visitor has opened: its code while it is open, and its result.
#[derive(Template)]
#[template(path = "ask_request.html")]
pub struct AskedRequestPage {
    frame: Frame,
    verifier: String,
    name: String,
    title: String,
    request: VisitorsRequest,
    to: Option<String>,
    again: String,
    qr: String,
    wallet_href: Option<String>,
}

/// What the page shows of a request.
enum Shown {
    Result(Outcome),
    Ended(EndedWithout),
    Waiting(&'static str),
}

/// The end of a request without a result.
struct EndedWithout {
    state: &'static str,
    heading: &'static str,
}

impl AskedRequestPage {
    /// The page of this request; `to` is the origin that may be told the result.
    pub fn of(frame: Frame, asking: Asking, request: VisitorsRequest, to: Option<String>) -> Self {
        let definition = asking.saved.definition;
        let place = format!("{}/wallet/request", frame.instance);
        let link = || wallet::link(&place, &request.uri);
        let query = to.as_ref().map(|from| {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            query.append_pair("from", from);
            if let Some(reference) = &request.reference {
                query.append_pair("reference", reference);
            }
            format!("?{}", query.finish())
        });
        let query = query.unwrap_or_default();
        Self {
            again: format!("{}/ask/{}{query}", frame.here, definition.name),
            wallet_href: frame.roles.wallet.then(link),
            frame: frame
                .titled(&definition.title)
                .bare(&asking.verifier, &asking.look),
            verifier: asking.verifier,
            name: definition.name,
            title: definition.title,
            qr: qr::svg(&request.uri),
            request,
            to,
        }
    }

    /// Where the page's script gets the request for the browser, and sends what the browser brings back.
    fn browser_action(&self) -> String {
        let (here, name) = (&self.frame.here, &self.name);
        format!("{here}/ask/{name}/{}/browser", self.request.id)
    }

    /// Whether it can still be answered.
    fn is_open(&self) -> bool {
        let state = self.request.state;
        matches!(state, RequestState::Created | RequestState::Fetched)
            && !self.request.awaits_return
    }

    fn shown(&self) -> Shown {
        match (self.request.state, self.request.outcome) {
            (_, Some(outcome)) => Shown::Result(outcome),
            (RequestState::Declined, _) => Shown::Ended(EndedWithout {
                state: "declined",
                heading: "The wallet declined",
            }),
            (RequestState::Expired, _) => Shown::Ended(EndedWithout {
                state: "expired",
                heading: "The request has expired",
            }),
            (RequestState::Created, _) => Shown::Waiting("Waiting for a wallet."),
            (RequestState::Spending, _) => Shown::Waiting("The credential is being used up."),
            (RequestState::Fetched | RequestState::Answered, _) if self.request.awaits_return => {
                Shown::Waiting("Go back from your wallet to this browser to see the result.")
            }
            (RequestState::Fetched | RequestState::Answered, _) => {
                Shown::Waiting("A wallet has the request. Waiting for the person to decide.")
            }
        }
    }
}
